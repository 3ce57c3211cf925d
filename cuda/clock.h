// How fast the multiprocessors of a GPU run: a GPU that is hot, or that draws
// too much power, runs slower, and what is timed then says less.
#ifndef ISOMER_CUDA_CLOCK_H_
#define ISOMER_CUDA_CLOCK_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cuda/device.h"
#include "ops/status.h"

namespace isomer::cuda {

// For one thread.
class Clock {
 public:
  // Needs NVRTC.
  static absl::StatusOr<std::unique_ptr<Clock>> Create(
      std::shared_ptr<Device> device);
  ~Clock();
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  // Reads the clock: a kernel counts cycles for some microseconds.
  absl::Status Read();
  // Megahertz, when it was last read.
  double mhz() const { return mhz_; }

  // What `time` returns. If the clock is lower behind it than it has been, it
  // is called again after a rest, a few times; a clock that stays low is as
  // fast as the device is now.
  template <class F>
  auto Watch(const F& time) -> decltype(time()) {
    for (int left = kAgain;; --left) {
      auto out = time();
      if (!out.ok()) return out;
      RETURN_IF_ERROR(Read());
      if (mhz_ >= kFull * highest_mhz_) return out;
      if (left == 0) {
        highest_mhz_ = mhz_;
        return out;
      }
      absl::SleepFor(kRest);
    }
  }

 private:
  static constexpr int kAgain = 2;
  static constexpr double kFull = 0.98;
  static constexpr absl::Duration kRest = absl::Milliseconds(200);

  Clock() = default;

  std::shared_ptr<Device> device_;
  Device::Function function_ = nullptr;
  Stream stream_ = nullptr;
  DevicePointer counts_ = 0;
  double mhz_ = 0, highest_mhz_ = 0;
};

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_CLOCK_H_
