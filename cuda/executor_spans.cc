// When the steps of a program run: their kernels note that themselves, with the
// clock that all multiprocessors share.
#include <algorithm>
#include <array>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "cuda/executor.h"
#include "graph/for_all.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// As NotingText says.
using Notes = std::array<uint64_t, 6>;
constexpr int kStart = 0, kReady = 2, kEnd = 4;
constexpr uint64_t kNothing = ~uint64_t{0};

}  // namespace

absl::StatusOr<std::vector<std::optional<StepSpan>>> Executor::Spans(
    int times) {
  RETURN_IF_ERROR(device_->MakeCurrent());
  const Stream stream = lanes_[0].stream;
  const int steps = static_cast<int>(kernels_.size());
  std::vector<Notes> notes(steps);
  const auto bytes = static_cast<int64_t>(notes.size() * sizeof(Notes));
  ASSIGN_OR_RETURN(const DevicePointer at, device_->Allocate(bytes));
  const absl::Cleanup free_notes = [&] { device_->Free(at); };

  ASSIGN_OR_RETURN(const Compiler compiler, Compiler::Open());
  std::vector<absl::StatusOr<std::string>> codes(steps, std::string());
  ForAll(steps, [&](int64_t i) {
    if (kernels_[i].function == nullptr) return;
    codes[i] = compiler.Compile(
        NotingText(kernels_[i].source.text, at + i * sizeof(Notes)),
        device_->architecture());
  });
  std::vector<Loaded> noting = kernels_;
  for (int i = 0; i < steps; ++i) {
    RETURN_IF_ERROR(codes[i].status());
    if (codes[i]->empty()) continue;
    ASSIGN_OR_RETURN(noting[i].function,
                     device_->Load(*codes[i], noting[i].source));
  }
  std::swap(kernels_, noting);
  const absl::StatusOr<Device::Graph> recorded = Record(several_);
  std::swap(kernels_, noting);
  ASSIGN_OR_RETURN(const Device::Graph graph, recorded);
  const absl::Cleanup free_graph = [&] { device_->FreeGraph(graph); };

  std::vector<std::optional<StepSpan>> out(steps);
  for (int run = 0; run < times; ++run) {
    RETURN_IF_ERROR(device_->LaunchGraph(graph, stream));
    RETURN_IF_ERROR(device_->FillAsync(at, 0xff, bytes, stream));
    RETURN_IF_ERROR(device_->LaunchGraph(graph, stream));
    RETURN_IF_ERROR(device_->ReadAsync(notes.data(), at, bytes, stream));
    RETURN_IF_ERROR(device_->Wait(stream));
    uint64_t first = kNothing;
    for (const Notes& n : notes) first = std::min(first, n[kStart]);
    for (int i = 0; i < steps; ++i) {
      const Notes& n = notes[i];
      if (n[kStart] == kNothing || n[kEnd + 1] == kNothing) continue;
      auto us = [&](uint64_t ns) {
        return static_cast<double>(ns - first) / (1e3 * times);
      };
      if (!out[i]) out[i] = StepSpan();
      out[i]->start += us(n[kStart]);
      out[i]->ready += us(n[kReady] == kNothing ? n[kStart] : n[kReady]);
      out[i]->end += us(~n[kEnd + 1]);
    }
  }
  return out;
}

}  // namespace isomer::cuda
