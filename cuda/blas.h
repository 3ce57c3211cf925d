// Products by cuBLASLt, which is opened when it is first asked for.
#ifndef ISOMER_CUDA_BLAS_H_
#define ISOMER_CUDA_BLAS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/device.h"
#include "cuda/product.h"

namespace isomer::cuda {

// A product that a library can compute, ready to run on given operands.
class BlasProduct;

class Blas {
 public:
  // NotFound where there is no cuBLASLt. `device` must be current.
  static absl::StatusOr<std::shared_ptr<const Blas>> Open();
  ~Blas();

  int64_t version() const { return version_; }  // 130100: 13.1.0

  // The memory that products may use while they run.
  static constexpr int64_t kWorkspaceBytes = int64_t{32} << 20;

  // The ways in which the library would compute it, the likeliest first.
  absl::StatusOr<std::vector<std::shared_ptr<const BlasProduct>>> Products(
      const LibraryProduct& product, int most) const;

  // Where the buffers of a product start; those that it has not are 0.
  struct Buffers {
    DevicePointer a = 0, b = 0, added = 0, bias = 0, out = 0;
  };
  // Starts the product.
  absl::Status Run(const BlasProduct& product, const Buffers& buffers,
                   DevicePointer workspace, Stream stream) const;

 private:
  struct Api;
  std::shared_ptr<const Api> api_;
  void* handle_ = nullptr;
  int64_t version_ = 0;
};

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_BLAS_H_
