// Products and convolutions with what follows them, as cuDNN takes them: one
// product and pointwise operations, and what makes it attention, over tensors
// with a step for each dimension. Results in between are floats and never in
// memory.
#ifndef ISOMER_CUDA_DNN_PRODUCT_H_
#define ISOMER_CUDA_DNN_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/product.h"
#include "ops/dtype.h"

namespace isomer::cuda {

// Dimensions of an image or of filters: batch, channels, space; of a matrix:
// batch, heads if it is one of attention, rows, columns. A dimension along
// which it is repeated has size 1.
struct DnnTensor {
  std::string pointer = {};
  std::vector<int64_t> shape = {}, steps = {};
  int64_t offset = 0;  // in elements
};

// An operation on the result of another: 0 is the product, i + 1 operation i.
struct DnnOperation {
  enum class Kind { kAdd, kSub, kMul, kRelu, kGelu, kSigmoid, kTanh };
  Kind kind = Kind::kAdd;
  int x = 0;
  // The second operand, if it has one: a result, a tensor or a number.
  int result = -1, tensor = -1;
  std::optional<double> number = {};
  std::optional<double> limit = {};  // kRelu: what is more is this
};

struct DnnProduct {
  DType dtype = DType::kF16;
  bool convolution = false;
  // What comes of the operations are scores: the softmax of their rows is
  // multiplied by the last of the tensors, the values. Fewer heads of keys and
  // values are shared by neighbours.
  bool attention = false;
  std::vector<int64_t> stride = {}, dilation = {};
  std::vector<int64_t> pad_begin = {}, pad_end = {};
  std::vector<DnnOperation> operations = {};
  // The two factors, the output, and what operations read.
  std::vector<DnnTensor> tensors = {};
};

// All that there is to say of it: equal products have equal texts.
std::string DnnText(const DnnProduct& product);

// True if it can be read and written 16 bytes at a time.
bool IsAligned(const DnnTensor& tensor, DType dtype);

// The product in that form with all that comes after it, if it has it. A tensor
// without a pointer is zeros.
absl::StatusOr<std::optional<DnnProduct>> AsDnnProduct(const ProductCall& call,
                                                       const Product& product);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_DNN_PRODUCT_H_
