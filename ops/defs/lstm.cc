// lstm(x, w, r, b, h, c, direction=d): a layer of long short-term memory. Each
// step computes four gates from its row of x and from what the step before gave
// (h, c at first), in the order i, o, f, g:
//
//   [i o f g] = x w^T + h r^T + b        c' = sigmoid(f) c + sigmoid(i) tanh(g)
//                                        h' = sigmoid(o) tanh(c')
//
//   x [steps, batch, in]    w [dirs, 4 n, in]    r [dirs, 4 n, n]
//   b [dirs, 8 n]: for x and for h               h, c [dirs, batch, n]
//
// and gives h' of all steps [steps, dirs, batch, n], and the last h' and c'
// [dirs, batch, n]. There are two directions where d is "bidirectional"; the
// second, or the one of "reverse", starts with the last step.
#include "absl/strings/match.h"
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

using Ints = std::vector<int64_t>;

constexpr char kReverse[] = "reverse", kBoth[] = "bidirectional";

int64_t DirectionsOf(const std::string& direction) {
  return direction == kBoth ? 2 : 1;
}

template <class D>
Types<D> InferLstm(InferContext<D>& c) {
  constexpr int kRanks[] = {3, 3, 3, 2, 3, 3};
  RETURN_IF_ERROR(c.Float(0));
  for (int i = 0; i < c.size(); ++i) {
    RETURN_IF_ERROR(c.SameDType(0, i));
    RETURN_IF_ERROR(c.Rank(i, kRanks[i]));
  }
  const std::vector<D>&x = c.in(0).shape, &w = c.in(1).shape;
  const std::vector<D>&r = c.in(2).shape, &b = c.in(3).shape;
  const D dirs(DirectionsOf(c.attrs().String("direction"))), n = r[2];
  RETURN_IF_ERROR(c.AtLeast(x[0], D(1), "there is no step"));
  for (int i = 1; i < c.size(); ++i) {
    RETURN_IF_ERROR(c.Equal(c.in(i).shape[0], dirs,
                            absl::StrCat("input ", i, "'s directions")));
  }
  RETURN_IF_ERROR(c.Equal(w[2], x[2], "w and x differ in width"));
  RETURN_IF_ERROR(c.Equal(w[1], D(4) * n, "w has other gates than r"));
  RETURN_IF_ERROR(c.Equal(r[1], D(4) * n, "r is not of four gates"));
  RETURN_IF_ERROR(c.Equal(b[1], D(8) * n, "b is not of two times four gates"));
  for (int i : {4, 5}) {
    const std::vector<D>& state = c.in(i).shape;
    RETURN_IF_ERROR(
        c.Equal(state[1], x[1], "a state's batch differs from x's"));
    RETURN_IF_ERROR(c.Equal(state[2], n, "a state's width differs from r's"));
  }
  TypeT<D> all = c.in(0), one = c.in(4);
  all.shape = {x[0], dirs, x[1], n};
  return std::vector{all, one, one};
}

// One layer in simpler operators.
class Lstm {
 public:
  Lstm(OpBuilder& builder, const std::vector<Value>& in)
      : b_(builder),
        in_(in),
        steps_(builder.type(in[0]).shape[0]),
        batch_(builder.type(in[0]).shape[1]),
        width_(builder.type(in[2]).shape[2]) {}

  // What one direction gives: [steps, 1, batch, n] and [1, batch, n] twice.
  absl::StatusOr<std::vector<Value>> Run(int64_t direction, bool backwards) {
    ASSIGN_OR_RETURN(const Value x, Inputs(direction));
    ASSIGN_OR_RETURN(const Value bias, Bias(direction));
    ASSIGN_OR_RETURN(const Value weights, Turned(2, direction));
    ASSIGN_OR_RETURN(Value h, Of(4, direction));
    ASSIGN_OR_RETURN(Value c, Of(5, direction));
    std::vector<Value> all(steps_);
    for (int64_t i = 0; i < steps_; ++i) {
      const int64_t t = backwards ? steps_ - 1 - i : i;
      ASSIGN_OR_RETURN(Value gates, b_.Add("matmul", {h, weights}));
      ASSIGN_OR_RETURN(Value row, Part(x, 0, t * batch_, batch_));
      ASSIGN_OR_RETURN(row, b_.Add("add", {row, bias}));
      ASSIGN_OR_RETURN(gates, b_.Add("add", {row, gates}));
      ASSIGN_OR_RETURN(const Value keep, Gate(gates, 2, "sigmoid"));
      ASSIGN_OR_RETURN(const Value kept, b_.Add("mul", {keep, c}));
      ASSIGN_OR_RETURN(const Value take, Gate(gates, 0, "sigmoid"));
      ASSIGN_OR_RETURN(Value taken, Gate(gates, 3, "tanh"));
      ASSIGN_OR_RETURN(taken, b_.Add("mul", {take, taken}));
      ASSIGN_OR_RETURN(c, b_.Add("add", {kept, taken}));
      ASSIGN_OR_RETURN(const Value show, Gate(gates, 1, "sigmoid"));
      ASSIGN_OR_RETURN(h, b_.Add("tanh", {c}));
      ASSIGN_OR_RETURN(h, b_.Add("mul", {show, h}));
      ASSIGN_OR_RETURN(all[t], b_.Reshape(h, {1, 1, batch_, width_}));
    }
    std::vector<Value> out(3);
    ASSIGN_OR_RETURN(out[0], b_.Add("concat", all, {{"axis", int64_t{0}}}));
    ASSIGN_OR_RETURN(out[1], b_.Reshape(h, {1, batch_, width_}));
    ASSIGN_OR_RETURN(out[2], b_.Reshape(c, {1, batch_, width_}));
    return out;
  }

 private:
  absl::StatusOr<Value> Part(Value v, int64_t axis, int64_t from,
                             int64_t size) {
    return b_.Add("slice", {v},
                  {{"axes", Ints{axis}},
                   {"from", Ints{from}},
                   {"to", Ints{from + size}}});
  }

  // An input's part for one direction.
  absl::StatusOr<Value> Of(int input, int64_t direction) {
    const Ints shape = b_.type(in_[input]).shape;
    ASSIGN_OR_RETURN(const Value v, Part(in_[input], 0, direction, 1));
    return b_.Reshape(v, Ints(shape.begin() + 1, shape.end()));
  }
  absl::StatusOr<Value> Turned(int input, int64_t direction) {
    ASSIGN_OR_RETURN(const Value v, Of(input, direction));
    return b_.Add("transpose", {v}, {{"perm", Ints{1, 0}}});
  }

  // What the gates of all steps take from x: [steps * batch, 4 n].
  absl::StatusOr<Value> Inputs(int64_t direction) {
    ASSIGN_OR_RETURN(
        const Value rows,
        b_.Reshape(in_[0], {steps_ * batch_, b_.type(in_[0]).shape[2]}));
    ASSIGN_OR_RETURN(const Value weights, Turned(1, direction));
    return b_.Add("matmul", {rows, weights});
  }

  // What they take besides, in each step: [batch, 4 n].
  absl::StatusOr<Value> Bias(int64_t direction) {
    ASSIGN_OR_RETURN(const Value both, Of(3, direction));
    ASSIGN_OR_RETURN(Value bias, Part(both, 0, 0, 4 * width_));
    ASSIGN_OR_RETURN(const Value other, Part(both, 0, 4 * width_, 4 * width_));
    ASSIGN_OR_RETURN(bias, b_.Add("add", {bias, other}));
    return b_.Add("broadcast", {bias},
                  {{"shape", Ints{batch_, 4 * width_}}, {"dims", Ints{1}}});
  }

  absl::StatusOr<Value> Gate(Value gates, int64_t which,
                             absl::string_view function) {
    ASSIGN_OR_RETURN(const Value v, Part(gates, 1, which * width_, width_));
    return b_.Add(function, {v});
  }

  OpBuilder& b_;
  const std::vector<Value>& in_;
  int64_t steps_, batch_, width_;
};

absl::StatusOr<std::vector<Value>> BuildLstm(OpBuilder& builder,
                                             const std::vector<Value>& in,
                                             const Attrs& attrs) {
  const std::string direction = attrs.String("direction");
  Lstm lstm(builder, in);
  if (direction != kBoth) return lstm.Run(0, direction == kReverse);
  ASSIGN_OR_RETURN(std::vector<Value> out, lstm.Run(0, false));
  ASSIGN_OR_RETURN(const std::vector<Value> other, lstm.Run(1, true));
  for (size_t k = 0; k < out.size(); ++k) {
    ASSIGN_OR_RETURN(out[k], builder.Add("concat", {out[k], other[k]},
                                         {{"axis", int64_t{k == 0}}}));
  }
  return out;
}

// True if the node's functions are those that it has where it names none.
bool AreUsual(const std::vector<std::string>& functions, int64_t directions) {
  constexpr absl::string_view kUsual[] = {"Sigmoid", "Tanh", "Tanh"};
  if (static_cast<int64_t>(functions.size()) != 3 * directions) return false;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (!absl::EqualsIgnoreCase(functions[i], kUsual[i % 3])) return false;
  }
  return true;
}

// The plain form: all rows are of all steps, no peepholes, no clipping, the
// usual functions.
absl::Status CheckPlain(const OnnxImport& c, int64_t directions) {
  const OnnxNode& node = c.node();
  if (c.opset() < 7) {
    return Unsupported("LSTM: operator set ", c.opset(), " is not modelled");
  }
  if (node.Has("activations") &&
      !AreUsual(node.Strings("activations"), directions)) {
    return Unsupported("LSTM: activations are not modelled");
  }
  for (const char* name : {"activation_alpha", "activation_beta", "clip"}) {
    if (node.Has(name)) return Unsupported("LSTM: ", name, " is not modelled");
  }
  for (const char* name : {"input_forget", "layout"}) {
    if (node.Int(name) == 0) continue;
    return Unsupported("LSTM: ", name, "=", node.Int(name), " is not modelled");
  }
  if (c.Has(4)) return Unsupported("LSTM: sequence_lens is not modelled");
  if (c.Has(7)) return Unsupported("LSTM: peepholes are not modelled");
  return absl::OkStatus();
}

Imported FromLstm(OnnxImport& c) {
  const std::string direction = c.node().String("direction", "forward");
  const int64_t directions = DirectionsOf(direction);
  RETURN_IF_ERROR(CheckPlain(c, directions));
  ASSIGN_OR_RETURN(const Value x, c.In(0));
  ASSIGN_OR_RETURN(const Value w, c.In(1));
  ASSIGN_OR_RETURN(const Value r, c.In(2));
  const TensorType &xs = c.type(x), &rs = c.type(r);
  if (xs.rank() != 3 || rs.rank() != 3) {
    return Invalid("LSTM: X is ", TypeText(xs), " and R ", TypeText(rs),
                   "; both must have rank 3");
  }
  const int64_t width = rs.shape[2];
  if (c.node().Int("hidden_size", width) != width) {
    return Invalid("LSTM: hidden_size is ", c.node().Int("hidden_size"),
                   ", and R is ", TypeText(rs));
  }
  // What is left out is zeros.
  auto given = [&](int i, const TensorType& type) -> absl::StatusOr<Value> {
    if (c.Has(i)) return c.In(i);
    ASSIGN_OR_RETURN(const Value zero, c.Scalar(type.dtype, 0));
    return c.BroadcastTo(zero, type.shape);
  };
  const TensorType state = {xs.dtype, {directions, xs.shape[1], width}};
  ASSIGN_OR_RETURN(const Value b,
                   given(3, {xs.dtype, {directions, 8 * width}}));
  ASSIGN_OR_RETURN(const Value h, given(5, state));
  ASSIGN_OR_RETURN(const Value last, given(6, state));
  ASSIGN_OR_RETURN(const Value y, c.Add("lstm", {x, w, r, b, h, last},
                                        {{"direction", direction}}));
  return std::vector<Value>{y, Value{y.node, 1}, Value{y.node, 2}};
}

Exported ToLstm(OnnxExport& c) {
  if (c.opset() < 7) {
    return Unsupported("LSTM: opset ", c.opset(), " has another; 7 is needed");
  }
  return c.Emit("LSTM",
                {c.In(0), c.In(1), c.In(2), c.In(3), "", c.In(4), c.In(5)},
                {{"direction", c.attrs().String("direction")},
                 {"hidden_size", c.in_type(2).shape[2]}},
                3);
}

int64_t LstmFlops(absl::Span<const TensorType> in, absl::Span<const TensorType>,
                  const Attrs&) {
  const Ints &x = in[0].shape, &w = in[1].shape, &r = in[2].shape;
  return 2 * x[0] * x[1] * w[0] * w[1] * (w[2] + r[2]);
}

int64_t LstmWaits(absl::Span<const TensorType> in) {
  return in[0].shape[0] - 1;
}

}  // namespace

std::vector<OpDef> DefineLstm() {
  return {{
      .name = "lstm",
      .inputs = Inputs({"x", "w", "r", "b", "h", "c"}),
      .attrs = {StringAttr("direction", {"forward", kReverse, kBoth})
                    .Default(std::string("forward"))},
      .outputs = 3,
      .infer = Infer([](auto& c) { return InferLstm(c); }),
      .build = BuildLstm,
      .examples =
          {"lstm([[[5]]], [[[0] [0] [0] [0]]], [[[0] [0] [0] [0]]], "
           "[[0 0 0 0 0 0 0 0]], [[[3]]], [[[2]]]) = "
           "[[[[0.3807971]]]]; [[[0.3807971]]]; [[[1]]]",
           "lstm([[[1]] [[-2]]], [[[1] [-1] [2] [0.5]]], "
           "[[[0.5] [1] [-1] [2]]], [[0.5 0 0 0 0 0.25 0 1]], [[[0.5]]], "
           "[[[-1]]]) = [[[[0.010057]]] [[[0.0037063]]]]; [[[0.0037063]]]; "
           "[[[0.0040931]]]",
           "lstm([[[1]] [[-2]]], [[[1] [-1] [2] [0.5]]], "
           "[[[0.5] [1] [-1] [2]]], [[0.5 0 0 0 0 0.25 0 1]], [[[0.5]]], "
           "[[[-1]]], direction=reverse) = "
           "[[[[0.2570307]]] [[[0.1478513]]]]; [[[0.2570307]]]; "
           "[[[0.9210176]]]",
           "lstm([[[1]] [[-2]]], [[[1] [-1] [2] [0.5]] [[0.5] [1] [-1] [2]]], "
           "[[[0.5] [1] [-1] [2]] [[1] [-1] [2] [0.5]]], "
           "[[0.5 0 0 0 0 0.25 0 1] [0 0 0 0 0 0 0 0]], [[[0.5]] [[0]]], "
           "[[[-1]] [[1]]], direction=bidirectional) = "
           "[[[[0.010057]] [[0.4755511]]] [[[0.0037063]] [[0.0650322]]]]; "
           "[[[0.0037063]] [[0.4755511]]]; [[[0.0040931]] [[0.7968138]]]"},
      .cases = {"lstm(f32[3,2,4], f32[1,12,4], f32[1,12,3], f32[1,24], "
                "f32[1,2,3], f32[1,2,3])",
                "lstm(f16[2,1,2], f16[1,8,2], f16[1,8,2], f16[1,16], "
                "f16[1,1,2], f16[1,1,2], direction=reverse)",
                "lstm(f64[2,2,1], f64[2,4,1], f64[2,4,1], f64[2,8], "
                "f64[2,2,1], f64[2,2,1], direction=bidirectional)"},
      .onnx = {.from = {{"LSTM", FromLstm}}, .to = ToLstm},
      .flops = LstmFlops,
      .waits = LstmWaits,
  }};
}

}  // namespace isomer
