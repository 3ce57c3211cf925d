// CUDA C compiled to machine code by NVRTC, which needs no GPU.
#ifndef ISOMER_CUDA_COMPILER_H_
#define ISOMER_CUDA_COMPILER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace isomer::cuda {

class Compiler {
 public:
  // Opens NVRTC; NotFound where there is none.
  static absl::StatusOr<Compiler> Open();

  // The machine code of `source` for an architecture such as "sm_90a". Errors
  // hold what the compiler says. May be called from many threads.
  absl::StatusOr<std::string> Compile(const std::string& source,
                                      const std::string& architecture) const;

  // NVRTC's version, "13.0".
  std::string version() const;

 private:
  struct Api;
  std::shared_ptr<const Api> api_;
};

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_COMPILER_H_
