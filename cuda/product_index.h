// The index arithmetic of products: which element of a tensor, and which place
// in memory, belongs to a row, a column and a batch of a product.
#ifndef ISOMER_CUDA_PRODUCT_INDEX_H_
#define ISOMER_CUDA_PRODUCT_INDEX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/element_code.h"
#include "cuda/product.h"

namespace isomer::cuda {

// The indices of a product as symbols of an ElementCode.
struct Indices {
  DimExpr b, m, n, k;
};
Indices NewIndices(ElementCode& code, const Product& p);

const ir::Node& CoreOf(const ProductCall& call);
std::vector<int64_t> ShapeOf(const ProductCall& call, Value v);
// Code that knows where the inputs of the call lie.
ElementCode NewCode(const ProductCall& call);
// The input of the call that is this value, or null.
const Operand* Find(const ProductCall& call, Value v);

// The indices of dimensions that `linear` runs through, row by row.
std::vector<DimExpr> TakeApart(const DimExpr& linear,
                               const std::vector<int64_t>& sizes);

// The places of a convolution's output: batch, then space.
std::vector<int64_t> Places(const std::vector<int64_t>& out);

// The index of the core's output for row m and column n of batch b.
std::vector<DimExpr> OutputIndex(const ProductCall& call, const Product& p,
                                 const DimExpr& b, const DimExpr& m,
                                 const DimExpr& n);

// The index of an operand of a plain product.
std::vector<DimExpr> FactorIndex(const ProductCall& call, const Product& p,
                                 int operand, const Indices& i);

// The coefficients of `symbols` and the constant, if the offset is affine.
std::optional<std::vector<int64_t>> Affine(
    const DimExpr& offset, const std::vector<std::string>& symbols);

// How an operand of a convolution lies: coefficients of its indices, and the
// offset.
absl::StatusOr<std::optional<std::vector<int64_t>>> ImageSteps(
    const ProductCall& call, int operand, std::string* pointer);

// The index of a view's output that shows element `index` of its operand; that
// of a pointwise operator's output.
absl::StatusOr<std::vector<DimExpr>> Forward(const ir::Graph& graph, NodeId id,
                                             const std::vector<DimExpr>& index,
                                             const Intervals& intervals);

// The nodes from the core to the output, the core not included.
std::vector<NodeId> Path(const ProductCall& call);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_PRODUCT_INDEX_H_
