// How the elements of a view lie in the memory of what it is a view of.
#ifndef ISOMER_COST_MODEL_LAYOUT_H_
#define ISOMER_COST_MODEL_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "cost_model/op_plans.h"
#include "graph/graph.h"

namespace isomer::cost {

// Element i lies at offset + sum over d of i[d] * stride[d].
struct Layout {
  std::vector<int64_t> size, stride;

  // One element after the other.
  static Layout Dense(absl::Span<const int64_t> shape);
  bool IsDense() const;
};

// The layout of the output of `view`, a node of the given class whose first
// operand lies as `operand` says; nothing if it is no view of it.
std::optional<Layout> ViewOf(const ir::Node& view, OpClass op_class,
                             const Layout& operand);

// The layout in which the first operand of `view` must be written so that the
// output lies as `output` says; nothing if there is none.
std::optional<Layout> WrittenThrough(const ir::Node& view, OpClass op_class,
                                     absl::Span<const int64_t> operand_shape,
                                     const Layout& output);

// True for families that read and write memory at regular steps; others compute
// every address by themselves.
bool IsStrided(Family family);

// True if kernels of a strided family can read operand `index` of their core,
// which has a right operand of rank `right_rank` if it is a product, from
// memory that lies so.
bool Reads(Family family, int index, int right_rank, const Layout& layout);

// True if kernels of a strided family can write the output of their core to
// memory that lies so.
bool Writes(Family family, int right_rank, const Layout& layout);

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_LAYOUT_H_
