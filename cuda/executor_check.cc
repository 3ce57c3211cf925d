// Whether a library computes what it is asked for. It has more ways than anyone
// can test beforehand, and some are wrong: what a way computes of noise has to
// be what a kernel of our own does, or it is not taken.
//
// The noise is written late, by a kernel that lets the next one start early. Of
// cuDNN 9.14 there are convolutions that start early and do not wait for the
// tensor that they add.
#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_replace.h"
#include "cuda/executor_choice.h"
#include "ops/dtype.h"
#include "ops/status.h"
#include "runtime/compare.h"

namespace isomer::cuda {

namespace {

// How much slower than the fastest a variant may be alone to be tried.
constexpr double kNearly = 1.25;
// What is compared of a result: so many pieces of it, evenly spread.
constexpr int64_t kPieces = 16, kPieceBytes = 16 << 10;
constexpr int kNotWritten = 0xFF;  // bytes that are no number

// Buffers that the kernel fills, each with its elements and their bytes; of two
// bytes, `brain` are bfloat16. One block of eight does all of it, after a
// while; on the multiprocessors of the others the next kernel can start.
constexpr int kFilled = 4;
constexpr char kNoiseText[] = R"(
typedef unsigned long long u64;

__device__ void fill(u64 at, u64 count, u64 bytes, u64 brain) {
  u64 blocks = (gridDim.x + 7) / 8;
  for (u64 i = blockIdx.x / 8 * blockDim.x + threadIdx.x; i < count;
       i += blocks * blockDim.x) {
    unsigned h = (unsigned)(i ^ at >> 8) * 2654435761u;
    h = (h ^ h >> 15) * 2246822519u;
    h ^= h >> 13;
    float value = (float)(h >> 8) / 8388608.0f - 1.0f;
    unsigned short half;
    if (brain) {
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(value));
    } else {
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    }
    if (bytes == 2) ((unsigned short*)at)[i] = half;
    if (bytes == 4) ((float*)at)[i] = value;
    if (bytes == 8) ((double*)at)[i] = value;
  }
}

extern "C" __global__ void ENTRY(
    u64 a, u64 a_count, u64 a_bytes, u64 a_brain, u64 b, u64 b_count,
    u64 b_bytes, u64 b_brain, u64 c, u64 c_count, u64 c_bytes, u64 c_brain,
    u64 d, u64 d_count, u64 d_bytes, u64 d_brain) {
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (blockIdx.x % 8) return;
  u64 start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < 10000);
  fill(a, a_count, a_bytes, a_brain);
  fill(b, b_count, b_bytes, b_brain);
  fill(c, c_count, c_bytes, c_brain);
  fill(d, d_count, d_bytes, d_brain);
}
)";

// The buffers of what a step computes. What a library hands to a kernel that
// follows it is not among them.
std::vector<int> ResultsOf(const Step& step) {
  std::vector<int> out(step.arguments.begin() + step.reads,
                       step.arguments.end());
  for (const Variant& v : step.variants) {
    if (v.library && v.source) std::erase(out, v.out);
  }
  return out;
}

bool AreNear(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (runtime::RelativeError(got[i], want[i]) >
        runtime::DefaultTolerance(want[i].type.dtype)) {
      return false;
    }
  }
  return true;
}

}  // namespace

absl::Status Executor::LoadNoise(const KernelCache* cache) {
  noise_.source.text = absl::StrReplaceAll(kNoiseText, {{"ENTRY", kEntry}});
  noise_.source.grid = {device_->units(), 1, 1};
  noise_.source.block = 512;
  ASSIGN_OR_RETURN(const Compiler compiler, Compiler::Open());
  ASSIGN_OR_RETURN(const std::string code,
                   CompileCached(compiler, noise_.source.text,
                                 device_->architecture(), cache));
  ASSIGN_OR_RETURN(noise_.function, device_->Load(code, noise_.source));
  return absl::OkStatus();
}

std::vector<int> Executor::NoisyOf(const Step& step) const {
  std::vector<int> out;
  for (int i = 0; i < step.reads; ++i) {
    const Buffer& b = program_.buffers[step.arguments[i]];
    if (b.kind == Buffer::Kind::kConstant || !IsFloat(b.dtype)) continue;
    out.push_back(step.arguments[i]);
  }
  return out;
}

absl::Status Executor::LaunchNoise(const Step& step) const {
  const std::vector<int> buffers = NoisyOf(step);
  for (size_t i = 0; i < buffers.size(); i += kFilled) {
    std::vector<DevicePointer> arguments;
    for (size_t k = i; k < i + kFilled; ++k) {
      if (k >= buffers.size()) {
        arguments.insert(arguments.end(), 4, 0);
        continue;
      }
      const Buffer& b = program_.buffers[buffers[k]];
      const int64_t size = ByteSize(b.dtype);
      arguments.push_back(PointerOf(buffers[k]));
      arguments.push_back(b.bytes / size);
      arguments.push_back(size);
      arguments.push_back(b.dtype == DType::kBF16);
    }
    RETURN_IF_ERROR(device_->Launch(noise_.function, noise_.source, arguments,
                                    {}, lanes_[0].stream));
  }
  return absl::OkStatus();
}

absl::Status Executor::Fill(const std::vector<int>& buffers, int value) const {
  for (int i : buffers) {
    RETURN_IF_ERROR(device_->FillAsync(
        PointerOf(i), value, program_.buffers[i].bytes, lanes_[0].stream));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> Executor::ResultsOfNoise(
    const Step& step, const Loaded& kernel) const {
  const Stream stream = lanes_[0].stream;
  const std::vector<int> results = ResultsOf(step);
  RETURN_IF_ERROR(Fill(NoisyOf(step), kNotWritten));
  RETURN_IF_ERROR(Fill(results, kNotWritten));
  ASSIGN_OR_RETURN(const Device::Graph graph,
                   device_->Capture(stream, [&](Stream) -> absl::Status {
                     RETURN_IF_ERROR(LaunchNoise(step));
                     return LaunchStep(step, kernel, {}, {}, lanes_[0]);
                   }));
  const absl::Cleanup free_graph = [&] { device_->FreeGraph(graph); };
  RETURN_IF_ERROR(device_->LaunchGraph(graph, stream));
  std::vector<Tensor> out;
  for (int i : results) {
    const Buffer& b = program_.buffers[i];
    const int64_t size = ByteSize(b.dtype);
    const int64_t piece = std::min(kPieceBytes, b.bytes);
    const int64_t count = std::min(kPieces, CeilDiv(b.bytes, piece));
    const int64_t last = std::max<int64_t>(count - 1, 1);
    std::string bytes(count * piece, '\0');
    absl::Status status;
    for (int64_t k = 0; k < count && status.ok(); ++k) {
      const int64_t at = (b.bytes - piece) / size * k / last * size;
      status = device_->ReadAsync(bytes.data() + k * piece, PointerOf(i) + at,
                                  piece, stream);
    }
    // What is being read to must stay until then, whatever comes.
    status.Update(device_->Wait(stream));
    RETURN_IF_ERROR(status);
    ASSIGN_OR_RETURN(Tensor t, FromBytes({b.dtype, {count * piece / size}},
                                         bytes, Interp::kRun));
    out.push_back(std::move(t));
  }
  return out;
}

absl::StatusOr<std::vector<Executor::Timed>> Executor::NearlyFastest(
    const Step& step, std::vector<Timed> all) const {
  absl::c_stable_sort(
      all, [](const Timed& a, const Timed& b) { return a.us < b.us; });
  const auto first = absl::c_find_if(
      all, [](const Timed& t) { return !t.kernel.IsOfLibrary(); });
  const std::optional<Loaded> ours =
      first == all.end() ? std::nullopt : std::optional<Loaded>(first->kernel);
  std::optional<std::vector<Tensor>> want;
  std::vector<Timed> out;
  for (Timed& t : all) {
    if (!out.empty() && t.us > kNearly * out[0].us) break;
    if (ours && t.kernel.IsOfLibrary()) {
      if (!want) {
        ASSIGN_OR_RETURN(want, ResultsOfNoise(step, *ours));
      }
      ASSIGN_OR_RETURN(const auto got, ResultsOfNoise(step, t.kernel));
      if (!AreNear(got, *want)) continue;
    }
    out.push_back(std::move(t));
  }
  if (want) {
    // Kernels that are timed later might take noise for indices.
    RETURN_IF_ERROR(Fill(NoisyOf(step), 0));
    RETURN_IF_ERROR(Fill(ResultsOf(step), 0));
  }
  return out;
}

}  // namespace isomer::cuda
