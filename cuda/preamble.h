// The CUDA C that generated kernels start with: element types and their
// conversions, careful functions, sums over threads, and the order of kernels
// on the device. It includes nothing, so that no toolkit is needed to run.
#ifndef ISOMER_CUDA_PREAMBLE_H_
#define ISOMER_CUDA_PREAMBLE_H_

#include "absl/strings/string_view.h"

namespace isomer::cuda {

absl::string_view Preamble();

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_PREAMBLE_H_
