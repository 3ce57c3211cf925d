// The value of an index-semantics element at concrete sizes and indices: the
// bridge that lets tests hold an operator's kernel and its proofs' view of it
// against each other, and a prover look for counterexamples.
#ifndef ISOMER_OPS_ELEM_EVAL_H_
#define ISOMER_OPS_ELEM_EVAL_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/elem.h"
#include "ops/tensor.h"

namespace isomer {

// Returns the value of `e` over scalar T (float, double, Field, Int or Term).
// `symbols` gives a value to every size, attribute and index that `e` speaks
// of. Floating-point inputs hold T. An element outside an input, a symbol
// without a value and a function that T does not have are errors.
template <class T>
absl::StatusOr<T> EvalElem(const Elem& e,
                           absl::Span<const Tensor* const> inputs,
                           std::map<std::string, int64_t> symbols);

}  // namespace isomer

#endif  // ISOMER_OPS_ELEM_EVAL_H_
