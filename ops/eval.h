// Running one operator. EvalContext<T> is what a kernel sees; EvalFn holds one
// kernel for every scalar, made from one generic function. Most operators give
// an element function instead (ops/element.h) and get both their kernels and
// their index semantics from it.
#ifndef ISOMER_OPS_EVAL_H_
#define ISOMER_OPS_EVAL_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ops/element.h"
#include "ops/status.h"
#include "ops/tensor.h"

namespace isomer {

// A kernel's inputs, attributes and outputs. Floating-point tensors hold T,
// the others int64_t. Outputs come allocated, filled with zeros.
template <class T>
struct EvalContext {
  using Scalar = T;
  absl::Span<const Tensor* const> inputs;
  const Attrs& attrs;
  absl::Span<Tensor> outputs;

  const TensorType& in_type(int k) const { return inputs[k]->type; }
  const TensorType& out_type(int k) const { return outputs[k].type; }
  // Element `at` of input k as T, whatever the input's type.
  T At(int k, int64_t at) const {
    if (auto* v = std::get_if<std::vector<int64_t>>(&inputs[k]->data)) {
      return FromInt<T>((*v)[at]);
    }
    return inputs[k]->as<T>()[at];
  }
  const std::vector<int64_t>& ints(int k) const {
    return inputs[k]->as<int64_t>();
  }
  bool is_int(int k) const { return inputs[k]->data.index() == 0; }
  // Stores element `at` of output k; integer outputs wrap to their type.
  void Set(int k, int64_t at, const T& value) {
    if constexpr (std::is_same_v<T, Int>) {
      if (auto* v = std::get_if<std::vector<int64_t>>(&outputs[k].data)) {
        (*v)[at] = WrapTo(out_type(k).dtype, value.value());
        return;
      }
    }
    outputs[k].as<T>()[at] = value;
  }
  void SetInt(int k, int64_t at, int64_t value) {
    outputs[k].as<int64_t>()[at] = WrapTo(out_type(k).dtype, value);
  }
};

// One kernel per scalar; an empty one means the operator has no meaning there.
struct EvalFn {
  std::function<absl::Status(EvalContext<float>&)> on_float;
  std::function<absl::Status(EvalContext<double>&)> on_double;
  std::function<absl::Status(EvalContext<Field>&)> on_field;
  std::function<absl::Status(EvalContext<Int>&)> on_int;
  std::function<absl::Status(EvalContext<Term>&)> on_term;

  explicit operator bool() const { return on_float != nullptr; }
};

// A kernel for all scalars.
template <class F>
EvalFn Eval(F f) {
  return {f, f, f, f, f};
}

// A kernel that needs an order on its elements, so not for symbols.
template <class F>
EvalFn EvalOrdered(F f) {
  return {f, f, f, f, nullptr};
}

// A kernel for floating-point numbers alone: the numerically careful form of
// an operator whose meaning is its expansion.
template <class F>
EvalFn EvalFloat(F f) {
  return {f, f, nullptr, nullptr, nullptr};
}

// An element function's two forms.
struct ElementFn {
  EvalFn eval;
  // The output element at `index`.
  std::function<Elem(const SymbolicContext&, const std::vector<DimExpr>& index)>
      index;

  explicit operator bool() const { return static_cast<bool>(eval); }
};

namespace internal {

template <class T, class Make>
absl::Status RunElements(const Make& make, EvalContext<T>& c) {
  ElementContext<T> context(c.inputs, c.out_type(0), c.attrs);
  auto element = make(context);
  const std::vector<int64_t>& shape = c.out_type(0).shape;
  const int64_t n = NumElements(shape);
  typename ElementContext<T>::Indices i(shape.size(), 0);
  for (int64_t at = 0; at < n; ++at) {
    context.MoveTo(i, at);
    auto value = element(i);
    if constexpr (std::is_integral_v<decltype(value)>) {  // int64_t or bool
      c.SetInt(0, at, value);
    } else {
      c.Set(0, at, value);
    }
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      if (++i[d] < shape[d]) break;
      i[d] = 0;
    }
  }
  return absl::OkStatus();
}

inline Elem AsElem(Elem e) { return e; }
inline Elem AsElem(DimExpr e) { return Elem::FromIndex(std::move(e)); }
inline Elem AsElem(ElemCond c) {
  return Elem::If(std::move(c), Elem(1.0), Elem(0.0));
}

}  // namespace internal

// The kernels and index semantics of a generic element function. It may return
// an element, an index (integer outputs) or a condition (boolean outputs).
template <class Make>
ElementFn Element(Make make) {
  auto run = [make](auto& c) { return internal::RunElements(make, c); };
  return {Eval(run),
          [make](const SymbolicContext& c, const std::vector<DimExpr>& index) {
            return internal::AsElem(make(c)(index));
          }};
}

// The same for a function that compares elements.
template <class Make>
ElementFn OrderedElement(Make make) {
  ElementFn f = Element(make);
  f.eval.on_term = nullptr;
  return f;
}

}  // namespace isomer

#endif  // ISOMER_OPS_EVAL_H_
