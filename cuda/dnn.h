// Products, convolutions and attention by cuDNN, which is opened when it is
// first asked for. It has many ways to compute each: engines with settings,
// which it names by numbers. Some are compiled when they are first wanted,
// which takes a second or so; plans may be made in several threads at a time.
#ifndef ISOMER_CUDA_DNN_H_
#define ISOMER_CUDA_DNN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "cuda/device.h"
#include "cuda/dnn_product.h"

namespace isomer::cuda {

struct DnnApi;     // the functions of the library
struct DnnHandle;  // one thread at a time
// One way to compute a product, ready to run.
struct DnnPlan;

class Dnn {
 public:
  // NotFound where there is no cuDNN. `device` must be current.
  static absl::StatusOr<std::shared_ptr<const Dnn>> Open();
  ~Dnn();

  int64_t version() const { return version_; }  // 91400: 9.14.0

  // The memory that plans may use while they run.
  static constexpr int64_t kWorkspaceBytes = int64_t{32} << 20;

  // The ways to compute it, the likeliest first: "46 2=13 14=4" is engine 46
  // with settings 2 and 14. Those that lose precision or give other bits each
  // time are left out. At most so many, and so many that have to be compiled.
  absl::StatusOr<std::vector<std::string>> Ways(const DnnProduct& product,
                                                int most,
                                                int most_compiled) const;
  // Plans of equal products are made once.
  absl::StatusOr<std::shared_ptr<const DnnPlan>> Plan(
      const DnnProduct& product, const std::string& way) const;

  // Starts a plan on the product's tensors, by where their buffers start.
  absl::Status Run(const DnnPlan& plan,
                   const std::vector<DevicePointer>& tensors,
                   DevicePointer workspace, Stream stream) const;

 private:
  // One that no thread uses right now.
  absl::StatusOr<std::shared_ptr<DnnHandle>> FreeHandle() const;
  absl::StatusOr<std::shared_ptr<const DnnPlan>> MakePlan(
      const DnnProduct& product, const std::string& way) const;

  std::shared_ptr<const DnnApi> api_;
  int64_t version_ = 0;
  mutable absl::Mutex mutex_;
  mutable std::vector<std::shared_ptr<DnnHandle>> handles_
      ABSL_GUARDED_BY(mutex_);
  mutable std::map<std::string, std::shared_ptr<const DnnPlan>> plans_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_DNN_H_
