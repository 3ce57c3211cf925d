// Elements with what follows from the ranges of indices folded away: guards
// that always or never hold, and quotients of an index by more than it can
// reach. Guards of a padding of 0 vanish this way, and so does the arithmetic
// of a reshape that leaves a dimension alone.
#ifndef ISOMER_OPS_ELEM_SIMPLIFY_H_
#define ISOMER_OPS_ELEM_SIMPLIFY_H_

#include <map>
#include <set>
#include <string>

#include "ops/dim.h"
#include "ops/elem.h"

namespace isomer {

// What is known about symbols: an index lies in [0, extent), a size is at
// least 1. Nothing is known about the others.
struct Ranges {
  std::map<std::string, DimExpr> indices;
  std::set<std::string> sizes;
};

// True if `e` is shown to be at least 0; false may mean that it is not known.
bool NonNegative(const DimExpr& e, const Ranges& ranges);

// Returns an equal element; bound variables of `e` get their own ranges.
Elem Simplify(const Elem& e, const Ranges& ranges);

}  // namespace isomer

#endif  // ISOMER_OPS_ELEM_SIMPLIFY_H_
