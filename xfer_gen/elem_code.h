// What an element of an operator's output is, with its index expressions as
// code on numbered variables: the output's indices, then those of reductions.
#ifndef ISOMER_XFER_GEN_ELEM_CODE_H_
#define ISOMER_XFER_GEN_ELEM_CODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "ops/elem.h"
#include "ops/field.h"
#include "ops/tensor_type.h"
#include "xfer_gen/index_code.h"

namespace isomer::gen {

struct CondCode {
  ElemCond::Kind kind;
  IndexCode expr = {};
  std::vector<CondCode> parts = {};
};

// An element with its indices as code.
struct ElemCode {
  Elem::Kind kind;
  Field value = {};      // kConst
  IndexCode index = {};  // kIndex; kReduce: extent
  int input = 0;         // kInput
  IndexCode place = {};  // kInput: among its elements
  Elem::Fold fold = {};  // kReduce
  int variable = 0;      // kReduce
  // kReduce: of the nest that starts here, if all index expressions in it are
  // known for each of them, else -1.
  int64_t iterations = -1;
  Field (*function)(Field) = nullptr;  // kFn
  bool max = false, min = false;       // kFn
  std::vector<CondCode> cond = {};     // kIf: one
  std::vector<ElemCode> args = {};
};

// Calls `f` for all index expressions of an element.
template <class F>
void ForEachIndex(CondCode& c, const F& f) {
  f(c.expr);
  for (CondCode& part : c.parts) ForEachIndex(part, f);
}
template <class F>
void ForEachIndex(ElemCode& e, const F& f) {
  f(e.index);
  f(e.place);
  for (CondCode& c : e.cond) ForEachIndex(c, f);
  for (ElemCode& arg : e.args) ForEachIndex(arg, f);
}

// The reductions of one kind that lie directly in each other, outermost first.
// E is ElemCode, const or not.
template <class E>
absl::InlinedVector<E*, 4> NestOf(E& e) {
  absl::InlinedVector<E*, 4> nest = {&e};
  while (nest.back()->args[0].kind == Elem::Kind::kReduce &&
         nest.back()->args[0].fold == e.fold) {
    nest.push_back(&nest.back()->args[0]);
  }
  return nest;
}

// Calls `body` for all values of the variables of a nest, the last fastest.
template <class Nest, class F>
void Loop(const Nest& nest, size_t depth, std::vector<int64_t>& variables,
          const F& body) {
  if (depth == nest.size()) return body();
  const int64_t extent = Value(nest[depth]->index, variables);
  for (int64_t k = 0; k < extent; ++k) {
    variables[nest[depth]->variable] = k;
    Loop(nest, depth + 1, variables, body);
  }
}

// A factor in a reduction: an element of an input, or 0 where a condition does
// not hold.
struct FactorCode {
  const ElemCode* input = nullptr;
  const CondCode* cond = nullptr;
};

// Nothing if it is something else.
std::optional<FactorCode> FactorOf(const ElemCode& e);

// The code of an element whose indices are called `names`, of an operator on
// inputs of these types, and how many variables it has; nothing if it looks at
// the values of elements, or calls what is not a function of one.
struct CompiledElem {
  ElemCode code;
  size_t num_variables = 0;
};
std::optional<CompiledElem> CompileElem(const Elem& elem,
                                        std::vector<std::string> names,
                                        absl::Span<const TensorType> inputs);

// Finds the rests of index expressions in reductions once for all output
// elements, where they are sums of multiples of the reductions' own variables.
void FindRests(ElemCode& e, std::vector<int64_t>& variables);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_ELEM_CODE_H_
