// Constants may be large and lie in a mapped file, so they are read in pieces.
#include "graph/constant_facts.h"

#include <algorithm>
#include <cmath>

#include "ops/dtype.h"

namespace isomer::ir {

const ConstantFacts::Facts& ConstantFacts::Of(
    const std::shared_ptr<const Constant>& c) {
  auto [it, added] = known_.try_emplace(c.get());
  Facts& facts = it->second;
  if (!added) return facts;
  facts.constant = c;
  constexpr size_t kPiece = 1 << 16;  // elements
  const DType dtype = c->type().dtype;
  const size_t step = kPiece * ByteSize(dtype);
  absl::string_view rest = c->bytes().view;
  while (!rest.empty() && (facts.finite || facts.positive)) {
    const absl::string_view piece = rest.substr(0, step);
    rest.remove_prefix(piece.size());
    const int64_t n = static_cast<int64_t>(piece.size()) / ByteSize(dtype);
    auto tensor = isomer::FromBytes(
        {dtype, {n}}, absl::MakeConstSpan(piece.data(), piece.size()),
        Interp::kReal);
    if (!tensor.ok()) {
      facts.finite = facts.positive = false;
      break;
    }
    for (double x : ToDoubles(*tensor)) {
      facts.finite = facts.finite && std::isfinite(x);
      facts.positive = facts.positive && x > 0;
    }
  }
  return facts;
}

}  // namespace isomer::ir
