// Inference and evaluation of one operator: arity and attributes are checked,
// device axes taken off and put back, scalars chosen, results rounded.
#include "ops/op_def.h"

#include <utility>

#include "ops/status.h"

namespace isomer {

namespace {

absl::Status CheckArity(const OpDef& op, size_t given) {
  const size_t named = op.inputs.names.size();
  if (op.inputs.variadic ? given >= named : given == named) {
    return absl::OkStatus();
  }
  return Invalid(op.name, ": takes ", named,
                 op.inputs.variadic ? " or more" : "", " inputs, given ",
                 given);
}

// More elements than any machine holds; products of sizes below it are exact.
constexpr int64_t kMaxElements = int64_t{1} << 48;
// More elements than an evaluator should try to allocate.
constexpr int64_t kMaxEvaluated = int64_t{1} << 32;

absl::Status CheckSize(const OpDef& op, const TensorType& t) {
  int64_t n = 1;
  auto too_many = [&](int64_t d) {
    return d < 0 || __builtin_mul_overflow(n, d, &n) || n > kMaxElements;
  };
  bool bad = false;
  for (int64_t d : t.shape) bad |= too_many(d);
  for (const auto& a : t.device) bad |= too_many(a.size);
  if (!bad) return absl::OkStatus();
  return Invalid(op.name, ": output ", TypeText(t),
                 " has a negative size or more than 2^48 elements");
}

template <class D>
absl::StatusOr<Inferred<D>> InferImpl(
    const OpDef& op, const std::function<Types<D>(InferContext<D>&)>& infer,
    absl::Span<const TypeT<D>> inputs, const AttrsT<D>& attrs, Errors errors) {
  RETURN_IF_ERROR(CheckArity(op, inputs.size()));
  ASSIGN_OR_RETURN(AttrsT<D> complete, Complete<D>(op.attrs, attrs, op.name));
  std::vector<TypeT<D>> plain;
  std::vector<DeviceAxisT<D>> device;
  if (!op.parallel && !inputs.empty()) {
    device = inputs[0].device;
    for (const TypeT<D>& t : inputs) {
      if (!(t.device == device)) {
        return Invalid(op.name, ": device axes differ: ", TypeText(inputs[0]),
                       " and ", TypeText(t));
      }
    }
    if (!device.empty()) {
      plain.assign(inputs.begin(), inputs.end());
      for (TypeT<D>& t : plain) t.device.clear();
      inputs = plain;
    }
  }
  InferContext<D> context(op.name, inputs, std::move(complete), errors);
  ASSIGN_OR_RETURN(std::vector<TypeT<D>> outputs, infer(context));
  if (!op.parallel) {
    for (TypeT<D>& t : outputs) t.device = device;
  }
  if constexpr (std::is_same_v<D, int64_t>) {
    for (const TensorType& t : outputs) RETURN_IF_ERROR(CheckSize(op, t));
  }
  return Inferred<D>{std::move(outputs), context.TakeAttrs(),
                     context.TakeObligations()};
}

// Whether any tensor of a call has one of the types that `is` accepts.
bool AnyType(absl::Span<const Tensor* const> inputs,
             absl::Span<const Tensor> outputs, bool (*is)(DType)) {
  for (const Tensor* t : inputs) {
    if (is(t->type.dtype)) return true;
  }
  for (const Tensor& t : outputs) {
    if (is(t.type.dtype)) return true;
  }
  return false;
}

template <class T>
absl::Status RunKernel(const OpDef& op,
                       const std::function<absl::Status(EvalContext<T>&)>& fn,
                       absl::Span<const Tensor* const> inputs,
                       const Attrs& attrs, absl::Span<Tensor> outputs) {
  if (!fn) {
    return Unsupported(op.name, ": has no kernel for this kind of scalar");
  }
  EvalContext<T> context{inputs, attrs, outputs};
  return fn(context);
}

// Inputs whose floats are stored as another scalar than T, converted.
template <class T>
std::vector<Tensor> Converted(absl::Span<const Tensor* const> inputs,
                              std::vector<const Tensor*>& pointers) {
  std::vector<Tensor> store;
  store.reserve(inputs.size());
  for (const Tensor* t : inputs) {
    if (t->data.index() != 0 &&
        !std::holds_alternative<std::vector<T>>(t->data)) {
      std::vector<double> values = ToDoubles(*t);
      store.push_back({t->type, std::vector<T>(values.begin(), values.end())});
      t = &store.back();
    }
    pointers.push_back(t);
  }
  return store;
}

const EvalFn& KernelsOf(const OpDef& op) {
  return op.element ? op.element.eval : op.eval;
}

absl::Status RunPlain(const OpDef& op, absl::Span<const Tensor* const> inputs,
                      const Attrs& attrs, Interp interp,
                      absl::Span<Tensor> outputs) {
  const EvalFn& f = KernelsOf(op);
  if (!AnyType(inputs, outputs, IsFloat)) {
    return RunKernel<Int>(op, f.on_int, inputs, attrs, outputs);
  }
  std::vector<const Tensor*> pointers;
  switch (interp) {
    case Interp::kRun:
      if (!AnyType(inputs, outputs, [](DType t) { return t == DType::kF64; })) {
        return RunKernel<float>(op, f.on_float, inputs, attrs, outputs);
      }
      [[fallthrough]];
    case Interp::kReal: {
      std::vector<Tensor> store = Converted<double>(inputs, pointers);
      return RunKernel<double>(op, f.on_double, pointers, attrs, outputs);
    }
    case Interp::kField:
      return RunKernel<Field>(op, f.on_field, inputs, attrs, outputs);
    case Interp::kInteger:
      return RunKernel<Int>(op, f.on_int, inputs, attrs, outputs);
    case Interp::kSymbolic:
      return RunKernel<Term>(op, f.on_term, inputs, attrs, outputs);
  }
  return absl::OkStatus();
}

// Copies the part of `t` that lies on device number `at` (of `count`).
Tensor DevicePart(const Tensor& t, int64_t at, int64_t count) {
  Tensor part{{t.type.dtype, t.type.shape}, {}};
  std::visit(
      [&](const auto& v) {
        const int64_t n = static_cast<int64_t>(v.size()) / count;
        part.data = std::decay_t<decltype(v)>(v.begin() + at * n,
                                              v.begin() + (at + 1) * n);
      },
      t.data);
  return part;
}

void PutDevicePart(Tensor& t, const Tensor& part, int64_t at) {
  std::visit(
      [&](auto& v) {
        const auto& p = std::get<std::decay_t<decltype(v)>>(part.data);
        std::copy(p.begin(), p.end(), v.begin() + at * p.size());
      },
      t.data);
}

// Runs the operator once per device, on that device's part of each operand.
absl::Status RunLifted(const OpDef& op, absl::Span<const Tensor* const> inputs,
                       const Attrs& attrs, Interp interp,
                       absl::Span<Tensor> outputs) {
  int64_t devices = 1;
  for (const auto& a : inputs[0]->type.device) devices *= a.size;
  for (int64_t d = 0; d < devices; ++d) {
    std::vector<Tensor> parts;
    std::vector<const Tensor*> pointers;
    for (const Tensor* t : inputs) parts.push_back(DevicePart(*t, d, devices));
    for (const Tensor& t : parts) pointers.push_back(&t);
    std::vector<Tensor> results;
    for (const Tensor& t : outputs)
      results.push_back(DevicePart(t, d, devices));
    RETURN_IF_ERROR(
        RunPlain(op, pointers, attrs, interp, absl::MakeSpan(results)));
    for (size_t k = 0; k < results.size(); ++k) {
      PutDevicePart(outputs[k], results[k], d);
    }
  }
  return absl::OkStatus();
}

// The type with its device axes as first dimensions, which is how the operators
// that speak of them see it.
template <class D>
TypeT<D> WithDeviceDims(TypeT<D> t) {
  t.shape = AllDims(t);
  return t;
}

absl::Status RunWithDeviceDims(const OpDef& op,
                               absl::Span<const Tensor* const> inputs,
                               const Attrs& attrs, Interp interp,
                               absl::Span<Tensor> outputs) {
  std::vector<Tensor> flat;
  std::vector<const Tensor*> pointers;
  for (const Tensor* t : inputs) {
    flat.push_back({WithDeviceDims(t->type), t->data});
  }
  for (const Tensor& t : flat) pointers.push_back(&t);
  std::vector<TensorType> types;
  for (Tensor& t : outputs) {
    types.push_back(t.type);
    t.type = WithDeviceDims(t.type);
  }
  RETURN_IF_ERROR(RunPlain(op, pointers, attrs, interp, outputs));
  for (size_t k = 0; k < outputs.size(); ++k) {
    outputs[k].type = std::move(types[k]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Inferred<int64_t>> InferOp(const OpDef& op,
                                          absl::Span<const TensorType> inputs,
                                          const Attrs& attrs) {
  return InferImpl<int64_t>(op, op.infer.numbers, inputs, attrs,
                            Errors::kExplained);
}

absl::StatusOr<Inferred<DimExpr>> InferOp(const OpDef& op,
                                          absl::Span<const SymType> inputs,
                                          const SymAttrs& attrs,
                                          Errors errors) {
  return InferImpl<DimExpr>(op, op.infer.symbols, inputs, attrs, errors);
}

absl::StatusOr<std::vector<Tensor>> EvalOp(
    const OpDef& op, absl::Span<const Tensor* const> inputs, const Attrs& attrs,
    Interp interp) {
  std::vector<TensorType> types;
  for (const Tensor* t : inputs) types.push_back(t->type);
  ASSIGN_OR_RETURN(Inferred<int64_t> inferred, InferOp(op, types, attrs));
  if (!KernelsOf(op)) {
    return Unsupported(op.name, ": is defined by its expansion alone");
  }
  std::vector<Tensor> outputs;
  for (TensorType& t : inferred.outputs) {
    if (NumElements(t) > kMaxEvaluated) {
      return absl::ResourceExhaustedError(
          absl::StrCat(op.name, ": output ", TypeText(t),
                       " is too large to be computed on a CPU"));
    }
    outputs.push_back(MakeTensor(std::move(t), interp));
  }
  const bool lifted = !inputs.empty() && !inputs[0]->type.device.empty();
  const auto run = op.parallel ? RunWithDeviceDims
                   : lifted    ? RunLifted
                               : RunPlain;
  RETURN_IF_ERROR(
      run(op, inputs, inferred.attrs, interp, absl::MakeSpan(outputs)));
  if (interp == Interp::kRun) {
    for (Tensor& t : outputs) RoundToType(t);
  }
  return outputs;
}

absl::StatusOr<Elem> IndexOp(const OpDef& op, absl::Span<const SymType> inputs,
                             const Inferred<DimExpr>& inferred,
                             const std::vector<DimExpr>& index) {
  if (!op.element) return Unsupported(op.name, ": has no index semantics");
  if (!op.parallel) {
    SymbolicContext context(inputs, inferred.outputs[0], inferred.attrs);
    return op.element.index(context, index);
  }
  std::vector<SymType> flat;
  for (const SymType& t : inputs) flat.push_back(WithDeviceDims(t));
  const SymType out = WithDeviceDims(inferred.outputs[0]);
  SymbolicContext context(flat, out, inferred.attrs);
  return op.element.index(context, index);
}

}  // namespace isomer
