// The arithmetic of two operands: add, sub, mul, div, max, min, pow. Shapes
// and element types are equal; ONNX's broadcasting becomes broadcast nodes at
// import. ONNX's operators of many operands (Sum, Max, Min, Mean) become
// nested pairs, and PRelu is taken apart.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferBinary(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Numeric(0));
  RETURN_IF_ERROR(c.SameDType(0, 1));
  RETURN_IF_ERROR(c.SameShape(0, 1));
  return std::vector{c.in(0)};
}

template <class F>
ElementFn Pairwise(F f) {
  return Element([f](const auto& c) {
    return [&c, f](const auto& i) { return f(c.At(0, i), c.At(1, i)); };
  });
}

// An operator whose ONNX form is `onnx`; examples and axioms come after.
OpDef Binary(std::string name, std::string onnx, bool commutative,
             ElementFn element) {
  return {
      .name = name,
      .inputs = Inputs({"x", "y"}),
      .commutative = commutative,
      .infer = Infer([](auto& c) { return InferBinary(c); }),
      .element = std::move(element),
      .cases = {absl::StrCat(name, "(f32[2,3], f32[2,3])"),
                absl::StrCat(name, "(f16[4], f16[4])"),
                absl::StrCat(name, "(f64[], f64[])"),
                absl::StrCat(name, "(i64[3], i64[3])")},
      .onnx = {.from = {{onnx, ImportAs(name, /*broadcast=*/true)}},
               .to = EmitAs(onnx),
               .broadcasts = true},
  };
}

// x1 op x2 op ... of all inputs, after broadcasting; one input stays.
absl::StatusOr<Value> Nested(OnnxImport& c, absl::string_view op) {
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  if (in.empty()) return Invalid(c.node().op_type, ": has no inputs");
  ASSIGN_OR_RETURN(in, c.Broadcast(std::move(in)));
  if (in.size() == 1) return c.Add("identity", {in[0]});
  Value out = in[0];
  for (size_t k = 1; k < in.size(); ++k) {
    ASSIGN_OR_RETURN(out, c.Add(op, {out, in[k]}));
  }
  return out;
}

FromOnnx ImportNested(std::string op) {
  return [op = std::move(op)](OnnxImport& c) { return One(Nested(c, op)); };
}

// A constant of the type and shape of `like`.
absl::StatusOr<Value> Filled(OnnxImport& c, Value like, double value) {
  const TensorType type = c.type(like);
  ASSIGN_OR_RETURN(Value v, c.Scalar(type.dtype, value));
  return c.BroadcastTo(v, type.shape);
}

Imported FromMean(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value sum, Nested(c, "add"));
  const double n = static_cast<double>(c.node().inputs.size());
  if (n == 1) return One(sum);
  ASSIGN_OR_RETURN(Value count, Filled(c, sum, n));
  return One(c.Add("div", {sum, count}));
}

// max(x, 0) + slope * min(x, 0).
Imported FromPRelu(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(Value slope, c.In(1));
  const std::vector<int64_t> shape = c.type(x).shape;
  ASSIGN_OR_RETURN(slope, c.BroadcastTo(slope, shape));
  ASSIGN_OR_RETURN(Value zero, Filled(c, x, 0));
  ASSIGN_OR_RETURN(Value above, c.Add("max", {x, zero}));
  ASSIGN_OR_RETURN(Value below, c.Add("min", {x, zero}));
  ASSIGN_OR_RETURN(below, c.Add("mul", {slope, below}));
  return One(c.Add("add", {above, below}));
}

// The exponent may have a type of its own from opset 12 on; the result has the
// base's, computed in the floating-point type if one of them is.
Imported FromPow(OnnxImport& c) {
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  if (in.size() != 2) return Invalid("Pow: takes 2 inputs");
  const DType base = c.type(in[0]).dtype, exponent = c.type(in[1]).dtype;
  const DType type = IsFloat(base) || !IsFloat(exponent) ? base : exponent;
  for (Value& v : in) {
    if (c.type(v).dtype == type) continue;
    ASSIGN_OR_RETURN(v, c.Add("cast", {v}, {{"to", type}}));
  }
  ASSIGN_OR_RETURN(in, c.Broadcast(std::move(in)));
  ASSIGN_OR_RETURN(Value out, c.Add("pow", in));
  if (type != base) return One(c.Add("cast", {out}, {{"to", base}}));
  return One(out);
}

// Max and Min take integers from opset 12 on; before, a comparison chooses.
ToOnnx EmitExtreme(std::string op_type, bool larger) {
  return [op_type = std::move(op_type), larger](OnnxExport& c) -> Exported {
    const std::string x = c.In(0), y = c.In(1);
    if (IsFloat(c.out_type(0).dtype) || c.opset() >= 12) {
      return c.Emit(op_type, {x, y});
    }
    if (c.opset() < 9) {
      return Unsupported(op_type, ": integers need opset 9, the model has ",
                         c.opset());
    }
    const std::string less = c.Emit("Less", {x, y})[0];
    return larger ? c.Emit("Where", {less, y, x})
                  : c.Emit("Where", {less, x, y});
  };
}

Exported ToPow(OnnxExport& c) {
  if (!IsFloat(c.out_type(0).dtype) && c.opset() < 12) {
    return Unsupported("Pow: integers need opset 12, the model has ",
                       c.opset());
  }
  return c.Emit("Pow", c.AllIn());
}

OpDef AddOp() {
  OpDef op =
      Binary("add", "Add", /*commutative=*/true,
             Pairwise([](const auto& x, const auto& y) { return x + y; }));
  op.axioms = {"add(x, y) <=> add(y, x)",
               "add(add(x, y), z) <=> add(x, add(y, z))"};
  op.examples = {"add([1 2], [3 -4]) = [4 -2]",
                 "add([250]:u8, [10]:u8) = [4]:u8"};
  op.onnx.from.push_back({"Sum", ImportNested("add")});
  op.onnx.from.push_back({"Mean", FromMean});
  op.onnx.from.push_back({"PRelu", FromPRelu});
  return op;
}

OpDef SubOp() {
  OpDef op =
      Binary("sub", "Sub", /*commutative=*/false,
             Pairwise([](const auto& x, const auto& y) { return x - y; }));
  op.examples = {"sub([1 2], [3 -4]) = [-2 6]", "sub(1, 1) = 0"};
  return op;
}

OpDef MulOp() {
  OpDef op =
      Binary("mul", "Mul", /*commutative=*/true,
             Pairwise([](const auto& x, const auto& y) { return x * y; }));
  op.axioms = {"mul(x, y) <=> mul(y, x)",
               "mul(mul(x, y), z) <=> mul(x, mul(y, z))"};
  op.examples = {"mul([1 2], [3 -4]) = [3 -8]",
                 "mul([100]:i8, [2]:i8) = [-56]:i8"};
  return op;
}

OpDef DivOp() {
  OpDef op =
      Binary("div", "Div", /*commutative=*/false, Element([](const auto& c) {
               const DType dtype = c.out_type().dtype;
               return [&c, dtype](const auto& i) {
                 return Quotient(dtype, c.At(0, i), c.At(1, i));
               };
             }));
  op.examples = {"div([1 -6], [4 4]) = [0.25 -1.5]",
                 "div([7 -7]:i64, [2 2]:i64) = [3 -3]:i64"};
  return op;
}

OpDef MaxOp() {
  OpDef op =
      Binary("max", "Max", /*commutative=*/true,
             Pairwise([](const auto& x, const auto& y) { return Max(x, y); }));
  op.axioms = {"max(x, y) <=> max(y, x)",
               "max(max(x, y), z) <=> max(x, max(y, z))", "max(x, x) => x"};
  op.examples = {"max([1 5], [3 -4]) = [3 5]",
                 "max([-1]:i64, [-2]:i64) = [-1]:i64"};
  op.onnx = {.from = {{"Max", ImportNested("max")}},
             .to = EmitExtreme("Max", /*larger=*/true),
             .broadcasts = true};
  return op;
}

OpDef MinOp() {
  OpDef op =
      Binary("min", "Min", /*commutative=*/true,
             Pairwise([](const auto& x, const auto& y) { return Min(x, y); }));
  op.axioms = {"min(x, y) <=> min(y, x)",
               "min(min(x, y), z) <=> min(x, min(y, z))", "min(x, x) => x"};
  op.examples = {"min([1 5], [3 -4]) = [1 -4]",
                 "min([-1]:i64, [-2]:i64) = [-2]:i64"};
  op.onnx = {.from = {{"Min", ImportNested("min")}},
             .to = EmitExtreme("Min", /*larger=*/false),
             .broadcasts = true};
  return op;
}

OpDef PowOp() {
  OpDef op =
      Binary("pow", "Pow", /*commutative=*/false,
             Pairwise([](const auto& x, const auto& y) { return Pow(x, y); }));
  op.examples = {"pow([2 9], [3 0.5]) = [8 3]",
                 "pow([-2]:i64, [3]:i64) = [-8]:i64"};
  op.onnx = {.from = {{"Pow", FromPow}}, .to = ToPow, .broadcasts = true};
  op.flops = [](auto, absl::Span<const TensorType> out, const Attrs&) {
    return 8 * NumElements(out[0]);
  };
  return op;
}

}  // namespace

std::vector<OpDef> DefineBinary() {
  return {AddOp(), SubOp(), MulOp(), DivOp(), MaxOp(), MinOp(), PowOp()};
}

}  // namespace isomer
