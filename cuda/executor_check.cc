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
#include "cuda/executor_choice.h"
#include "cuda/noise_kernel.h"
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

bool AreNear(const std::vector<Tensor>& got, const std::vector<Tensor>& want,
             bool tf32) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (runtime::RelativeError(got[i], want[i]) >
        runtime::DefaultTolerance(want[i].type.dtype, tf32)) {
      return false;
    }
  }
  return true;
}

}  // namespace

absl::Status Executor::LoadNoise(const KernelCache* cache) {
  noise_.source = NoiseKernel(device_->units());
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

std::vector<int> Executor::NoisyInputs() const {
  std::vector<int> out;
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const Buffer& b = program_.buffers[i];
    if (b.kind != Buffer::Kind::kInput || !IsFloat(b.dtype)) continue;
    out.push_back(static_cast<int>(i));
  }
  return out;
}

absl::Status Executor::LaunchNoise(const std::vector<int>& buffers) const {
  std::vector<NoisyBuffer> all;
  for (int i : buffers) {
    const Buffer& b = program_.buffers[i];
    all.push_back({PointerOf(i), b.dtype, b.bytes});
  }
  for (size_t i = 0; i < all.size(); i += kNoisyBuffers) {
    const auto some = absl::MakeConstSpan(all).subspan(i, kNoisyBuffers);
    RETURN_IF_ERROR(device_->Launch(noise_.function, noise_.source,
                                    NoiseArguments(some), {},
                                    lanes_[0].stream));
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
                     RETURN_IF_ERROR(LaunchNoise(NoisyOf(step)));
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
      const Variant& v = step.variants[t.kernel.place];
      if (!AreNear(got, *want, v.library && v.library->tf32)) continue;
    }
    out.push_back(std::move(t));
  }
  return out;
}

absl::Status Executor::ForgetNoise(const Step& step) const {
  RETURN_IF_ERROR(Fill(NoisyOf(step), 0));
  return Fill(ResultsOf(step), 0);
}

}  // namespace isomer::cuda
