// Whether a library computes what it is asked for. It has more ways than anyone
// can test beforehand, and some are wrong: what a way computes of noise has to
// be what a kernel of our own does, or it is not taken.
#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "cuda/executor_choice.h"
#include "graph/hashing.h"
#include "ops/dtype.h"
#include "ops/status.h"
#include "runtime/compare.h"

namespace isomer::cuda {

namespace {

// How much slower than the fastest a variant may be alone to be tried.
constexpr double kNearly = 1.25;
constexpr int64_t kNoise = 65521;  // elements, over and over
// What is compared of a result: so many pieces of it, evenly spread.
constexpr int64_t kPieces = 16, kPieceBytes = 16 << 10;
constexpr int kNotWritten = 0xFF;  // bytes that are no number

std::string Noise(DType dtype, uint64_t seed) {
  std::vector<double> values(kNoise);
  for (uint64_t i = 0; i < values.size(); ++i) {
    const uint64_t bits = ir::HashCombine(seed, i) >> 40;
    values[i] = static_cast<double>(bits) / (1 << 23) - 1;
  }
  return ToBytes(FromDoubles({dtype, {kNoise}}, values));
}

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

absl::Status Executor::WriteNoise(const Step& step) const {
  const Stream stream = lanes_[0].stream;
  for (int i = 0; i < step.reads; ++i) {
    const Buffer& b = program_.buffers[step.arguments[i]];
    if (b.kind == Buffer::Kind::kConstant || !IsFloat(b.dtype)) continue;
    const DevicePointer to = PointerOf(step.arguments[i]);
    const std::string noise = Noise(b.dtype, i);
    int64_t done = std::min<int64_t>(noise.size(), b.bytes);
    RETURN_IF_ERROR(device_->WriteAsync(to, noise.data(), done, stream));
    RETURN_IF_ERROR(device_->Wait(stream));
    while (done < b.bytes) {
      const int64_t more = std::min(done, b.bytes - done);
      RETURN_IF_ERROR(device_->CopyAsync(to + done, to, more, stream));
      done += more;
    }
  }
  return absl::OkStatus();
}

absl::Status Executor::ClearNoise(const Step& step) const {
  for (int argument : step.arguments) {
    const Buffer& b = program_.buffers[argument];
    if (b.kind == Buffer::Kind::kConstant) continue;
    RETURN_IF_ERROR(
        device_->FillAsync(PointerOf(argument), 0, b.bytes, lanes_[0].stream));
  }
  return absl::OkStatus();
}

absl::Status Executor::RunElsewhere(const Step& step,
                                    const Loaded& kernel) const {
  Moved moved;
  const absl::Cleanup free_moved = [&] {
    for (const auto& [buffer, to] : moved) device_->Free(to);
  };
  for (int i : ResultsOf(step)) {
    ASSIGN_OR_RETURN(moved[i], device_->Allocate(program_.buffers[i].bytes));
  }
  RETURN_IF_ERROR(LaunchStep(step, kernel, {}, moved, lanes_[0]));
  return device_->Wait(lanes_[0].stream);
}

absl::StatusOr<std::vector<Tensor>> Executor::Results(
    const Step& step, const Loaded& kernel) const {
  const Stream stream = lanes_[0].stream;
  const std::vector<int> buffers = ResultsOf(step);
  for (int i : buffers) {
    RETURN_IF_ERROR(device_->FillAsync(PointerOf(i), kNotWritten,
                                       program_.buffers[i].bytes, stream));
  }
  ASSIGN_OR_RETURN(const Device::Graph graph,
                   device_->Capture(stream, [&](Stream) {
                     return LaunchStep(step, kernel, {}, {}, lanes_[0]);
                   }));
  const absl::Cleanup free_graph = [&] { device_->FreeGraph(graph); };
  if (kernel.IsOfLibrary()) RETURN_IF_ERROR(RunElsewhere(step, kernel));
  RETURN_IF_ERROR(device_->LaunchGraph(graph, stream));
  std::vector<Tensor> out;
  for (int i : buffers) {
    const Buffer& b = program_.buffers[i];
    const int64_t size = ByteSize(b.dtype);
    const int64_t piece = std::min(kPieceBytes, b.bytes);
    const int64_t count = std::min(kPieces, CeilDiv(b.bytes, piece));
    std::string bytes(count * piece, '\0');
    absl::Status status;
    for (int64_t k = 0; k < count && status.ok(); ++k) {
      const int64_t last = std::max<int64_t>(count - 1, 1);
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
        RETURN_IF_ERROR(WriteNoise(step));
        ASSIGN_OR_RETURN(want, Results(step, *ours));
      }
      const auto got = Results(step, t.kernel);
      // Without memory to compare it in it is not taken.
      if (absl::IsResourceExhausted(got.status())) continue;
      RETURN_IF_ERROR(got.status());
      if (!AreNear(*got, *want)) continue;
    }
    out.push_back(std::move(t));
  }
  // Kernels that are timed later might take noise for indices.
  if (want) RETURN_IF_ERROR(ClearNoise(step));
  return out;
}

}  // namespace isomer::cuda
