// Cycles of one multiprocessor, over nanoseconds of the clock that all share.
#include "cuda/clock.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "cuda/compiler.h"
#include "cuda/kernel.h"

namespace isomer::cuda {

namespace {

using Counts = std::array<uint64_t, 2>;  // cycles, nanoseconds

// The shared clock ticks every 32 ns or more: counting starts with a tick.
constexpr char kSource[] = R"(
__device__ unsigned long long now() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns) :: "memory");
  return ns;
}

extern "C" __global__ void ENTRY(unsigned long long* counts) {
  unsigned long long start = now(), end = start;
  while (end == start) end = now();
  start = end;
  const long long first = clock64();
  while (end - start < 20000) end = now();
  counts[0] = clock64() - first;
  counts[1] = end - start;
}
)";

}  // namespace

absl::StatusOr<std::unique_ptr<Clock>> Clock::Create(
    std::shared_ptr<Device> device) {
  std::unique_ptr<Clock> out(new Clock);
  out->device_ = std::move(device);
  ASSIGN_OR_RETURN(const Compiler compiler, Compiler::Open());
  const std::string source = absl::StrReplaceAll(kSource, {{"ENTRY", kEntry}});
  ASSIGN_OR_RETURN(const std::string code,
                   compiler.Compile(source, out->device_->architecture()));
  ASSIGN_OR_RETURN(out->function_, out->device_->Load(code, KernelSource()));
  ASSIGN_OR_RETURN(out->stream_, out->device_->NewStream());
  ASSIGN_OR_RETURN(out->counts_, out->device_->Allocate(sizeof(Counts)));
  return out;
}

Clock::~Clock() {
  device_->FreeStream(stream_);
  device_->Free(counts_);
}

absl::Status Clock::Read() {
  Counts counts;
  RETURN_IF_ERROR(device_->MakeCurrent());
  RETURN_IF_ERROR(
      device_->Launch(function_, KernelSource(), {counts_}, {}, stream_));
  RETURN_IF_ERROR(
      device_->ReadAsync(counts.data(), counts_, sizeof(counts), stream_));
  RETURN_IF_ERROR(device_->Wait(stream_));
  if (counts[1] == 0) return absl::InternalError("CUDA: no time has passed");
  mhz_ = 1e3 * static_cast<double>(counts[0]) / static_cast<double>(counts[1]);
  highest_mhz_ = std::max(highest_mhz_, mhz_);
  return absl::OkStatus();
}

}  // namespace isomer::cuda
