// The pointwise functions of one operand that have no parameters: one table,
// of which each row is an operator that differs from the others in its scalar
// function alone (ops/scalar.h). Those with parameters are in activation.cc.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

enum class Accepts { kFloat, kNumeric };

InferFn InferUnary(Accepts accepts) {
  return Infer([accepts](auto& c) -> Types<DimOf<decltype(c)>> {
    RETURN_IF_ERROR(accepts == Accepts::kFloat ? c.Float(0) : c.Numeric(0));
    return std::vector{c.in(0)};
  });
}

// ONNX defines some of the functions on integers too (Erf).
FromOnnx ImportUnary(std::string op, Accepts accepts) {
  return [op = std::move(op), accepts](OnnxImport& c) -> Imported {
    ASSIGN_OR_RETURN(Value x, c.In(0));
    if (accepts == Accepts::kFloat && !IsFloat(c.type(x).dtype)) {
      return Unsupported(c.node().op_type, ": elements of type ",
                         DTypeName(c.type(x).dtype));
    }
    return One(c.Add(op, {x}));
  };
}

// The ONNX operator that has the same name, where it exists.
ToOnnx EmitSince(std::string op_type, int since) {
  return [op_type = std::move(op_type), since](OnnxExport& c) -> Exported {
    if (c.opset() < since) {
      return Unsupported(op_type, ": opset ", c.opset(), " has none; it came ",
                         "with opset ", since);
    }
    return c.Emit(op_type, c.AllIn());
  };
}

// What the rows of the table differ in, beside the function.
struct Row {
  std::string name;
  std::string onnx;  // "" if ONNX has no such operator
  std::vector<std::string> examples;
  std::vector<std::string> axioms = {};
  Accepts accepts = Accepts::kFloat;
  int since = 7;  // the first opset that has the ONNX operator
  int flops = 1;  // per element, as engines count them
};

template <class F>
OpDef Unary(Row row, F f) {
  const int flops = row.flops;
  OpDef op{
      .name = row.name,
      .inputs = Inputs({"x"}),
      .infer = InferUnary(row.accepts),
      .element = Element([f](const auto& c) {
        return [&c, f](const auto& i) { return f(c.At(0, i)); };
      }),
      .axioms = std::move(row.axioms),
      .examples = std::move(row.examples),
      .cases = {absl::StrCat(row.name, "(f32[2,3])"),
                absl::StrCat(row.name, "(f16[4])"),
                absl::StrCat(row.name, "(f64[])")},
      .flops = [flops](auto, absl::Span<const TensorType> out,
                       const Attrs&) { return flops * NumElements(out[0]); },
  };
  if (row.accepts == Accepts::kNumeric) {
    op.cases.push_back(absl::StrCat(row.name, "(i64[3])"));
  }
  if (!row.onnx.empty()) {
    op.onnx = {.from = {{row.onnx, ImportUnary(row.name, row.accepts)}},
               .to = EmitSince(row.onnx, row.since)};
  }
  return op;
}

// Functions that keep integers integers.
void AppendOrder(std::vector<OpDef>& ops) {
  ops.push_back(Unary({.name = "relu",
                       .onnx = "Relu",
                       .examples = {"relu([-1 0 2.5]) = [0 0 2.5]",
                                    "relu([-3 4]:i64) = [0 4]:i64"},
                       .axioms = {"relu(relu(x)) => relu(x)"},
                       .accepts = Accepts::kNumeric},
                      [](const auto& x) { return Relu(x); }));
  ops.push_back(Unary({.name = "abs",
                       .onnx = "Abs",
                       .examples = {"abs([-1.5 0 2]) = [1.5 0 2]",
                                    "abs([-3 4]:i32) = [3 4]:i32"},
                       .axioms = {"abs(abs(x)) => abs(x)"},
                       .accepts = Accepts::kNumeric},
                      [](const auto& x) { return Abs(x); }));
  ops.push_back(
      Unary({.name = "neg",
             .onnx = "Neg",
             .examples = {"neg([1 -2]) = [-1 2]", "neg([5]:i64) = [-5]:i64"},
             .axioms = {"neg(neg(x)) => x"},
             .accepts = Accepts::kNumeric},
            [](const auto& x) { return -x; }));
  ops.push_back(Unary({.name = "sign",
                       .onnx = "Sign",
                       .examples = {"sign([-2.5 0 7]) = [-1 0 1]",
                                    "sign([-9 9]:i64) = [-1 1]:i64"},
                       .axioms = {"sign(sign(x)) => sign(x)"},
                       .accepts = Accepts::kNumeric,
                       .since = 9},
                      [](const auto& x) { return Sign(x); }));
}

void AppendRounding(std::vector<OpDef>& ops) {
  ops.push_back(Unary({.name = "floor",
                       .onnx = "Floor",
                       .examples = {"floor([1.5 -1.5 2]) = [1 -2 2]"}},
                      [](const auto& x) { return Floor(x); }));
  ops.push_back(Unary({.name = "ceil",
                       .onnx = "Ceil",
                       .examples = {"ceil([1.5 -1.5 2]) = [2 -1 2]"}},
                      [](const auto& x) { return Ceil(x); }));
  ops.push_back(Unary({.name = "round",
                       .onnx = "Round",
                       .examples = {"round([0.5 1.5 -2.5 2.6]) = [0 2 -2 3]"},
                       .since = 11},
                      [](const auto& x) { return Round(x); }));
}

void AppendAlgebraic(std::vector<OpDef>& ops) {
  ops.push_back(Unary({.name = "reciprocal",
                       .onnx = "Reciprocal",
                       .examples = {"reciprocal([2 -4]) = [0.5 -0.25]"}},
                      [](const auto& x) {
                        using T = std::decay_t<decltype(x)>;
                        return FromInt<T>(1) / x;
                      }));
  ops.push_back(Unary({.name = "sqrt",
                       .onnx = "Sqrt",
                       .examples = {"sqrt([4 0 0.25]) = [2 0 0.5]"}},
                      [](const auto& x) { return Sqrt(x); }));
  OpDef rsqrt = Unary({.name = "rsqrt",
                       .onnx = "",
                       .examples = {"rsqrt([4 1 0.25]) = [0.5 1 2]"},
                       .flops = 2},
                      [](const auto& x) { return Rsqrt(x); });
  rsqrt.onnx.to = [](OnnxExport& c) -> Exported {
    return c.Emit("Reciprocal", c.Emit("Sqrt", {c.In(0)}));
  };
  ops.push_back(std::move(rsqrt));
}

void AppendTranscendental(std::vector<OpDef>& ops) {
  ops.push_back(Unary({.name = "exp",
                       .onnx = "Exp",
                       .examples = {"exp([0 1]) = [1 2.718281828]"},
                       .flops = 4},
                      [](const auto& x) { return Exp(x); }));
  ops.push_back(Unary({.name = "log",
                       .onnx = "Log",
                       .examples = {"log([1 2]) = [0 0.69314718]"},
                       .flops = 4},
                      [](const auto& x) { return Log(x); }));
  ops.push_back(
      Unary({.name = "erf",
             .onnx = "Erf",
             .examples = {"erf([0 1 -1]) = [0 0.84270079 -0.84270079]"},
             .since = 9,
             .flops = 8},
            [](const auto& x) { return Erf(x); }));
  ops.push_back(Unary({.name = "sin",
                       .onnx = "Sin",
                       .examples = {"sin([0 1]) = [0 0.84147098]"},
                       .flops = 4},
                      [](const auto& x) { return Sin(x); }));
  ops.push_back(Unary({.name = "cos",
                       .onnx = "Cos",
                       .examples = {"cos([0 1]) = [1 0.54030231]"},
                       .flops = 4},
                      [](const auto& x) { return Cos(x); }));
}

void AppendSmooth(std::vector<OpDef>& ops) {
  ops.push_back(Unary({.name = "sigmoid",
                       .onnx = "Sigmoid",
                       .examples = {"sigmoid([0 2]) = [0.5 0.88079708]",
                                    "sigmoid([-1000 1000]) = [0 1]"},
                       .flops = 6},
                      [](const auto& x) { return Sigmoid(x); }));
  ops.push_back(
      Unary({.name = "tanh",
             .onnx = "Tanh",
             .examples = {"tanh([0 1 -1]) = [0 0.76159416 -0.76159416]"},
             .flops = 6},
            [](const auto& x) { return Tanh(x); }));
  ops.push_back(Unary({.name = "softplus",
                       .onnx = "Softplus",
                       .examples = {"softplus([0 200]) = [0.69314718 200]"},
                       .flops = 8},
                      [](const auto& x) { return Softplus(x); }));
  ops.push_back(Unary({.name = "softsign",
                       .onnx = "Softsign",
                       .examples = {"softsign([1 -3]) = [0.5 -0.75]"},
                       .flops = 3},
                      [](const auto& x) { return Softsign(x); }));
}

}  // namespace

std::vector<OpDef> DefinePointwise() {
  std::vector<OpDef> ops;
  AppendOrder(ops);
  AppendRounding(ops);
  AppendAlgebraic(ops);
  AppendTranscendental(ops);
  AppendSmooth(ops);
  return ops;
}

}  // namespace isomer
