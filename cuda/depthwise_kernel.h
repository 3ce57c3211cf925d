// The source of kernels for convolutions of 16-bit floats that convolve every
// channel by itself, where channels lie side by side: a thread takes eight
// channels of several neighbouring places.
#ifndef ISOMER_CUDA_DEPTHWISE_KERNEL_H_
#define ISOMER_CUDA_DEPTHWISE_KERNEL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "cuda/product.h"

namespace isomer::cuda {

// Places of a thread that are worth trying, the likeliest first; none if the
// product is not such a convolution.
std::vector<int> DepthwiseWidths(const Product& product, int units);

absl::StatusOr<KernelSource> DepthwiseKernel(const ProductCall& call,
                                             const Product& product, int width);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_DEPTHWISE_KERNEL_H_
