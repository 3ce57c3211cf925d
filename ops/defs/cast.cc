// cast(x, to=t): the same values in another element type. Floats round to
// nearest; floats become integers by truncation; integers wrap; bool is
// whether a value is not zero. A cast is the identity only where the new type
// holds every value of the old one.
#include <cmath>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

// The bits of magnitude that a type holds exactly.
int ExactBits(DType t) {
  switch (t) {
    case DType::kF64:
      return 53;
    case DType::kF32:
      return 24;
    case DType::kF16:
      return 11;
    case DType::kBF16:
      return 8;
    case DType::kBool:
      return 1;
    default:
      return BitWidth(t) - (IsSignedInteger(t) ? 1 : 0);
  }
}

bool Signed(DType t) { return IsFloat(t) || IsSignedInteger(t); }

// Whether `to` holds every value of `from`.
bool Widens(DType from, DType to) {
  if (from == to) return true;
  if (to == DType::kBool || (IsFloat(from) && !IsFloat(to))) return false;
  // f16 and bf16 trade range for digits; every other wider float has both.
  if (from == DType::kBF16 && to == DType::kF16) return false;
  if (Signed(from) && !Signed(to)) return false;
  return ExactBits(from) <= ExactBits(to);
}

double IntToReal(DType from, int64_t v) {
  return from == DType::kU64 ? static_cast<double>(static_cast<uint64_t>(v))
                             : static_cast<double>(v);
}

// An integer as a float of type `to`. Numbers round once, from the integer.
template <class T>
T IntToFloat(DType from, DType to, int64_t v) {
  if constexpr (kExact<T>) {
    const T x = FromInt<T>(v);
    return Widens(from, to) ? x : Narrow(to, x);
  } else {
    return static_cast<T>(RoundTo(to, IntToReal(from, v)));
  }
}

// A float as an integer, in the form tensors store. A double past the range of
// int64_t is one of u64.
absl::StatusOr<int64_t> FloatToInt(DType to, double x) {
  const double n = Narrow(to, x);
  if (n >= 0x1p64) return -1;
  if (n >= 0x1p63) return static_cast<int64_t>(static_cast<uint64_t>(n));
  return static_cast<int64_t>(n);
}
absl::StatusOr<int64_t> FloatToInt(DType to, float x) {
  return FloatToInt(to, double{x});
}
absl::StatusOr<int64_t> FloatToInt(DType to, Field x) {
  return Narrow(to, x).Signed();
}
absl::StatusOr<int64_t> FloatToInt(DType to, Int x) {
  const Int n = Narrow(to, x);
  if (n.ok()) return n.value();
  return Unsupported("cast: the value is no integer that ", DTypeName(to),
                     " holds");
}
absl::StatusOr<int64_t> FloatToInt(DType to, const Term& x) {
  return Unsupported("cast: the term ", x.ToString(), " has no value as ",
                     DTypeName(to));
}

// Stores a float; under kRun a double may go to a tensor of floats.
template <class T>
void StoreFloat(Tensor& out, int64_t at, const T& x) {
  if constexpr (std::is_same_v<T, double>) {
    if (auto* v = std::get_if<std::vector<float>>(&out.data)) {
      (*v)[at] = static_cast<float>(x);
      return;
    }
  }
  out.as<T>()[at] = x;
}

constexpr auto CastKernel = [](auto& c) -> absl::Status {
  using T = typename std::decay_t<decltype(c)>::Scalar;
  const DType from = c.in_type(0).dtype, to = c.out_type(0).dtype;
  const bool narrows = !Widens(from, to);
  const int64_t n = c.inputs[0]->size();
  for (int64_t at = 0; at < n; ++at) {
    if (!IsFloat(from) && !IsFloat(to)) {
      c.SetInt(0, at, c.ints(0)[at]);
    } else if (!IsFloat(from)) {
      StoreFloat(c.outputs[0], at, IntToFloat<T>(from, to, c.ints(0)[at]));
    } else if (!IsFloat(to)) {
      ASSIGN_OR_RETURN(const int64_t value, FloatToInt(to, c.At(0, at)));
      c.SetInt(0, at, value);
    } else {
      const T x = c.At(0, at);
      StoreFloat(c.outputs[0], at, narrows ? Narrow(to, x) : x);
    }
  }
  return absl::OkStatus();
};

Elem CastIndex(const SymbolicContext& c, const std::vector<DimExpr>& index) {
  const DType from = c.in_type(0).dtype, to = c.out_type().dtype;
  const Elem x = c.At(0, index);
  return Widens(from, to) ? x : Narrow(to, x);
}

Imported FromCast(OnnxImport& c) {
  ASSIGN_OR_RETURN(DType to,
                   FromOnnxDType(static_cast<int32_t>(c.node().Int("to"))));
  ASSIGN_OR_RETURN(Value x, c.In(0));
  return One(c.Add("cast", {x}, {{"to", to}}));
}

// CastLike(x, y) casts x to the type of y.
Imported FromCastLike(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(Value y, c.In(1));
  return One(c.Add("cast", {x}, {{"to", c.type(y).dtype}}));
}

Exported ToCast(OnnxExport& c) {
  return c.Emit("Cast", {c.In(0)},
                {{"to", int64_t{OnnxDType(c.attrs().Type("to"))}}});
}

}  // namespace

std::vector<OpDef> DefineCast() {
  return {{
      .name = "cast",
      .inputs = Inputs({"x"}),
      .attrs = {DTypeAttr("to").Samples(
          {DType::kF32, DType::kF16, DType::kI64, DType::kBool})},
      .infer = Infer([](auto& c) -> Types<DimOf<decltype(c)>> {
        TypeT<DimOf<decltype(c)>> out = c.in(0);
        out.dtype = c.attrs().Type("to");
        return std::vector{out};
      }),
      .element = {Eval(CastKernel), CastIndex},
      .examples = {"cast([1.7 -1.7], to=i64) = [1 -1]:i64",
                   "cast([0 2 -1]:i64, to=bool) = [false true true]",
                   "cast([2049], to=f16) = [2048]:f16",
                   "cast([300 -1]:i32, to=u8) = [44 255]:u8"},
      .cases = {"cast(f32[2,3], to=f16)", "cast(f16[2], to=f32)",
                "cast(f64[2], to=f32)", "cast(f32[2], to=f64)",
                "cast(i64[3], to=f32)", "cast(bool[3], to=f32)",
                "cast(f32[3], to=i64)", "cast(f16[3], to=bf16)"},
      .onnx = {.from = {{"Cast", FromCast}, {"CastLike", FromCastLike}},
               .to = ToCast},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer
