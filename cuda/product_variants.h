// Which kernels of our own a product is offered.
#ifndef ISOMER_CUDA_PRODUCT_VARIANTS_H_
#define ISOMER_CUDA_PRODUCT_VARIANTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/product.h"
#include "cuda/program.h"
#include "graph/graph.h"

namespace isomer::cuda {

// So many rows at most are few: warps multiply them.
inline constexpr int64_t kFewRows = 16;

struct OwnVariant {
  Variant variant;
  bool panels = false;  // wants b in them: see InPanels
};

// The likeliest first; none if no kernel computes it. The variants keep the
// graph that the call points at.
std::vector<OwnVariant> OwnVariants(
    const std::shared_ptr<const ir::Graph>& graph, const ProductCall& call,
    const Product& product, const ProgramOptions& options);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_PRODUCT_VARIANTS_H_
