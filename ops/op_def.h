// What one operator is. A file of ops/defs/ returns OpDefs that hold all that
// Isomer knows about its operators; nothing else names them.
#ifndef ISOMER_OPS_OP_DEF_H_
#define ISOMER_OPS_OP_DEF_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/attr.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/onnx_mapping.h"
#include "ops/op_builder.h"
#include "ops/tensor.h"

namespace isomer {

// How many inputs an operator takes, and their names.
struct Arity {
  std::vector<std::string> names;
  bool variadic = false;  // the last name stands for one or more inputs
};
inline Arity Inputs(std::vector<std::string> names) {
  return {std::move(names)};
}
inline Arity Variadic(std::string name) { return {{std::move(name)}, true}; }

struct OpDef {
  std::string name;
  Arity inputs;
  std::vector<AttrSpec> attrs = {};
  int outputs = 1;
  // The operands of a binary operator may change places.
  bool commutative = false;
  // The operator speaks of device axes itself (partition and its kin); all
  // others are lifted over the device axes of their operands.
  bool parallel = false;

  InferFn infer;
  // The meaning: an element function where there is one, else a kernel. A
  // composite's meaning is its expansion; its kernel is for numbers alone.
  ElementFn element = {};
  EvalFn eval = {};
  // A rule in text, from the operator to simpler ones:
  //   "silu(x) => mul(x, sigmoid(x))"
  std::string expansion = {};
  // The same where it depends on sizes, as a function that adds the simpler
  // ones and returns the outputs; no rule can open such an operator.
  std::function<absl::StatusOr<std::vector<Value>>(
      OpBuilder& builder, const std::vector<Value>& inputs, const Attrs& attrs)>
      build = nullptr;
  // Rules in text that hold for this operator alone.
  std::vector<std::string> axioms = {};

  // Worked examples: "concat([1 2], [3], axis=0) = [1 2 3]".
  std::vector<std::string> examples = {};
  // Typed calls that the operator test tries beside random ones, for
  // operators whose legal attributes are hard to hit by chance:
  //   "reshape(f32[2,3], shape=[3 2])"
  std::vector<std::string> cases = {};

  OnnxMapping onnx = {};
  // Floating-point operations of one call; by default one per output element.
  std::function<int64_t(absl::Span<const TensorType> inputs,
                        absl::Span<const TensorType> outputs,
                        const Attrs& attrs)>
      flops = nullptr;
  // How often in a row a call waits for what it has computed; by default never.
  std::function<int64_t(absl::Span<const TensorType> inputs)> waits = nullptr;

  bool is_composite() const { return !expansion.empty() || build; }
};

// The outcome of type inference: output types, attributes in canonical form,
// and what remains to be proved (over expressions only).
template <class D>
struct Inferred {
  std::vector<TypeT<D>> outputs;
  AttrsT<D> attrs;
  std::vector<Obligation> obligations;
};

// Checks arity and attributes, lifts over device axes, and infers.
absl::StatusOr<Inferred<int64_t>> InferOp(const OpDef& op,
                                          absl::Span<const TensorType> inputs,
                                          const Attrs& attrs);
absl::StatusOr<Inferred<DimExpr>> InferOp(const OpDef& op,
                                          absl::Span<const SymType> inputs,
                                          const SymAttrs& attrs,
                                          Errors errors = Errors::kExplained);

// Runs one operator, lifted over device axes. An operator that has no meaning
// of its own under `interp` (a composite, or an order on symbols) is an
// Unimplemented error.
absl::StatusOr<std::vector<Tensor>> EvalOp(
    const OpDef& op, absl::Span<const Tensor* const> inputs, const Attrs& attrs,
    Interp interp);

// The output element at `index`: inference must have succeeded on the types.
absl::StatusOr<Elem> IndexOp(const OpDef& op, absl::Span<const SymType> inputs,
                             const Inferred<DimExpr>& inferred,
                             const std::vector<DimExpr>& index);

}  // namespace isomer

#endif  // ISOMER_OPS_OP_DEF_H_
