// Attention as cuDNN takes it: a product of queries and keys, scaled by a
// number, a softmax of its rows and a product with values, over tensors of
// batches, heads, rows and columns.
#ifndef ISOMER_CUDA_DNN_ATTENTION_H_
#define ISOMER_CUDA_DNN_ATTENTION_H_

#include <optional>

#include "absl/status/statusor.h"
#include "cuda/attention_kernel.h"
#include "cuda/dnn_product.h"

namespace isomer::cuda {

// The attention in that form, if it has it: without a mask, and with keys and
// values in one place each.
absl::StatusOr<std::optional<DnnProduct>> AsDnnAttention(
    const AttentionCall& call, const Attention& attention);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_DNN_ATTENTION_H_
