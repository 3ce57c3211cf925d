// Weights are views of one buffer, told apart by their names: what they hold
// does not matter to a search.
#include "bench/taso_graphs.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "graph/constant.h"
#include "ops/status.h"

namespace isomer::bench {

namespace {

using Ints = std::vector<int64_t>;

constexpr int64_t kLargestWeight = int64_t{24} << 20;  // bytes

class Builder {
 public:
  Builder() {
    // Floats from -2 to 2.
    std::string bytes(kLargestWeight, 0x3f);
    uint32_t random = 1;
    for (size_t i = 0; i < bytes.size(); i += 4) {
      random = random * 1664525 + 1013904223;
      bytes[i + 2] = static_cast<char>(random >> 16);
      bytes[i + 3] = static_cast<char>(0x3f | (random >> 24 & 0x80));
    }
    weights_ = SharedBytes::Own(std::move(bytes));
  }

  Value Input(Ints shape) {
    return graph_.AddInput("x", TensorType{DType::kF32, std::move(shape)});
  }
  Value Weight(Ints shape) {
    const TensorType type{DType::kF32, std::move(shape)};
    const size_t size = NumElements(type) * 4;
    ++count_;
    auto constant = ir::Constant::FromBytes(
        type, weights_.Part(weights_.view.substr(4 * count_, size)),
        absl::StrCat("w", count_));
    isomer::Check(constant.ok(), constant.status().ToString());
    return graph_.AddConstant(*std::move(constant));
  }
  Value Op(absl::string_view op, std::vector<Value> in, Attrs attrs = {}) {
    absl::StatusOr<Value> v = graph_.Add(op, in, attrs);
    isomer::Check(v.ok(), v.status().ToString());
    return *v;
  }
  int64_t Dim(Value v, int d) const { return graph_.type(v).shape[d]; }

  Value Add(Value a, Value b) { return Op("add", {a, b}); }
  Value Mul(Value a, Value b) { return Op("mul", {a, b}); }
  Value Relu(Value x) { return Op("relu", {x}); }
  Value Sigmoid(Value x) { return Op("sigmoid", {x}); }
  Value Tanh(Value x) { return Op("tanh", {x}); }
  Value Concat(std::vector<Value> in) {
    return Op("concat", std::move(in), {{"axis", int64_t{1}}});
  }
  Value Reshape(Value x, Ints shape) {
    return Op("reshape", {x}, {{"shape", std::move(shape)}});
  }
  Value Transpose(Value x, Ints perm) {
    return Op("transpose", {x}, {{"perm", std::move(perm)}});
  }
  Value Linear(Value x, int64_t width) {
    return Op("matmul", {x, Weight({Dim(x, 1), width})});
  }
  Value Bias(Value x) {
    const Ints shape = graph_.type(x).shape;
    return Add(x, Op("broadcast", {Weight({shape[1]})},
                     {{"shape", shape}, {"dims", Ints{1}}}));
  }

  // A convolution with a kernel of h x w; `same` pads so that stride 1 keeps
  // the size.
  Value Conv(Value x, int64_t filters, int64_t h, int64_t w, int64_t stride = 1,
             bool same = true, int64_t group = 1) {
    const int64_t p = same ? h / 2 : 0, q = same ? w / 2 : 0;
    return Op("conv2d", {x, Weight({filters, Dim(x, 1) / group, h, w})},
              {{"stride", Ints{stride, stride}},
               {"pad", Ints{p, q, p, q}},
               {"group", group}});
  }
  Value ConvRelu(Value x, int64_t filters, int64_t h, int64_t w,
                 int64_t stride = 1, bool same = true) {
    return Relu(Conv(x, filters, h, w, stride, same));
  }
  // Depthwise, then over the channels.
  Value Separable(Value x, int64_t filters, int64_t k, int64_t stride = 1) {
    const int64_t c = Dim(x, 1);
    return Conv(Conv(x, c, k, k, stride, true, c), filters, 1, 1);
  }
  Value Pool(absl::string_view kind, Value x, int64_t stride,
             bool same = true) {
    const int64_t p = same ? 1 : 0;
    return Op(kind, {x},
              {{"kernel", Ints{3, 3}},
               {"stride", Ints{stride, stride}},
               {"pad", Ints{p, p, p, p}}});
  }
  Value Avg(Value x, int64_t stride = 1) { return Pool("avg_pool", x, stride); }
  Value Max(Value x, int64_t stride, bool same = true) {
    return Pool("max_pool", x, stride, same);
  }

  ir::Graph Finish(Value out) {
    graph_.AddOutput("y", out);
    return std::move(graph_);
  }

 private:
  ir::Graph graph_;
  SharedBytes weights_;
  int count_ = 0;
};

// ---- Transformers

constexpr int64_t kTokens = 64, kHeads = 16, kHeadWidth = 64;

// [tokens, width] as [heads, tokens, width of a head], or with the last two
// the other way round.
Value Heads(Builder& b, Value x, bool turned) {
  const Value split = b.Reshape(x, {kTokens, kHeads, kHeadWidth});
  return b.Transpose(split, turned ? Ints{1, 2, 0} : Ints{1, 0, 2});
}

Value Joined(Builder& b, Value x) {
  return b.Reshape(b.Transpose(x, {1, 0, 2}), {kTokens, kHeads * kHeadWidth});
}

// ---- NasNet

Value Squeeze(Builder& b, Value x, int64_t filters) {
  return b.ConvRelu(x, filters, 1, 1);
}

Value Fit(Builder& b, Value like, Value x) {
  const int64_t filters = b.Dim(like, 1);
  return b.Dim(x, 2) == b.Dim(like, 2) ? Squeeze(b, x, filters)
                                       : b.ConvRelu(x, filters, 3, 3, 2);
}

Value NormalCell(Builder& b, Value before, Value now, int64_t filters) {
  now = Squeeze(b, now, filters);
  before = Fit(b, now, before);
  auto sep = [&](Value x) { return b.Separable(x, filters, 3); };
  return b.Concat({b.Add(sep(now), now), b.Add(sep(before), sep(now)),
                   b.Add(b.Avg(now), before),
                   b.Add(b.Avg(before), b.Avg(before)),
                   b.Add(sep(before), sep(before))});
}

Value ReductionCell(Builder& b, Value before, Value now, int64_t filters) {
  now = Squeeze(b, now, filters);
  before = Fit(b, now, before);
  auto sep = [&](Value x, int64_t k) { return b.Separable(x, filters, k, 2); };
  const Value first = b.Add(sep(before, 7), sep(now, 5));
  const Value second = b.Add(b.Max(now, 2), sep(before, 7));
  return b.Concat({first, second, b.Add(b.Avg(now, 2), sep(before, 5)),
                   b.Add(b.Max(now, 2), b.Separable(first, filters, 3)),
                   b.Add(b.Avg(first), second)});
}

// ---- Inception

Value InceptionA(Builder& b, Value x, int64_t pooled) {
  return b.Concat(
      {b.ConvRelu(x, 64, 1, 1), b.ConvRelu(b.ConvRelu(x, 48, 1, 1), 64, 5, 5),
       b.ConvRelu(b.ConvRelu(b.ConvRelu(x, 64, 1, 1), 96, 3, 3), 96, 3, 3),
       b.ConvRelu(b.Avg(x), pooled, 1, 1)});
}

Value InceptionB(Builder& b, Value x) {
  const Value deep = b.ConvRelu(b.ConvRelu(x, 64, 1, 1), 96, 3, 3);
  return b.Concat({b.ConvRelu(x, 384, 3, 3, 2, false),
                   b.ConvRelu(deep, 96, 3, 3, 2, false), b.Max(x, 2, false)});
}

Value InceptionC(Builder& b, Value x, int64_t c) {
  Value two = b.ConvRelu(b.ConvRelu(x, c, 1, 1), c, 1, 7);
  Value three = b.ConvRelu(b.ConvRelu(x, c, 1, 1), c, 7, 1);
  three = b.ConvRelu(b.ConvRelu(three, c, 1, 7), c, 7, 1);
  return b.Concat({b.ConvRelu(x, 192, 1, 1), b.ConvRelu(two, 192, 7, 1),
                   b.ConvRelu(three, 192, 1, 7),
                   b.ConvRelu(b.Avg(x), 192, 1, 1)});
}

Value InceptionD(Builder& b, Value x) {
  const Value one = b.ConvRelu(x, 192, 1, 1);
  Value two = b.ConvRelu(b.ConvRelu(x, 192, 1, 1), 192, 1, 7);
  two = b.ConvRelu(two, 192, 7, 1);
  return b.Concat({b.ConvRelu(one, 320, 3, 3, 2, false),
                   b.ConvRelu(two, 192, 3, 3, 2, false), b.Max(x, 2, false)});
}

Value InceptionE(Builder& b, Value x) {
  const Value two = b.ConvRelu(x, 384, 1, 1);
  const Value three = b.ConvRelu(b.ConvRelu(x, 448, 1, 1), 384, 3, 3);
  return b.Concat({b.ConvRelu(x, 320, 1, 1), b.ConvRelu(two, 384, 1, 3),
                   b.ConvRelu(two, 384, 3, 1), b.ConvRelu(three, 384, 1, 3),
                   b.ConvRelu(three, 384, 3, 1),
                   b.ConvRelu(b.Avg(x), 192, 1, 1)});
}

}  // namespace

ir::Graph Bert(int layers) {
  Builder b;
  const int64_t width = kHeads * kHeadWidth;
  Value x = b.Relu(b.Input({kTokens, width}));
  for (int i = 0; i < layers; ++i) {
    const Value q = Heads(b, b.Linear(x, width), false);
    const Value k = Heads(b, b.Linear(x, width), true);
    const Value v = Heads(b, b.Linear(x, width), false);
    const Value mixed = b.Op("matmul", {b.Op("matmul", {q, k}), v});
    x = b.Linear(Joined(b, mixed), width);
  }
  return b.Finish(x);
}

ir::Graph NasRnn() {
  Builder b;
  const int64_t width = 512;
  const Value x = b.Input({1, width});
  Value h = b.Weight({1, width});
  for (int step = 0; step < 5; ++step) {
    std::vector<Value> t;
    for (int gate = 0; gate < 8; ++gate) {
      t.push_back(b.Add(b.Linear(x, width), b.Linear(h, width)));
    }
    const Value m0 = b.Add(b.Relu(t[0]), b.Sigmoid(t[3]));
    const Value m1 = b.Add(b.Sigmoid(t[1]), b.Tanh(t[2]));
    const Value m2 = b.Mul(b.Sigmoid(t[4]), b.Tanh(t[5]));
    const Value m3 = b.Mul(b.Sigmoid(t[6]), b.Relu(t[7]));
    const Value m4 = b.Add(b.Sigmoid(m1), b.Tanh(m2));
    const Value m5 = b.Mul(b.Tanh(m0), b.Tanh(m3));
    h = b.Tanh(b.Mul(b.Tanh(m4), b.Tanh(m5)));
  }
  return b.Finish(h);
}

ir::Graph ResNext50() {
  Builder b;
  Value x = b.ConvRelu(b.Input({1, 3, 224, 224}), 64, 7, 7, 2);
  x = b.Max(x, 2);
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{128} << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      Value y = b.ConvRelu(x, width, 1, 1);
      y = b.Relu(b.Conv(y, width, 3, 3, stride, true, 32));
      y = b.Conv(y, 2 * width, 1, 1);
      if (stride > 1 || b.Dim(x, 1) != 2 * width) {
        x = b.ConvRelu(x, 2 * width, 1, 1, stride);
      }
      x = b.Relu(b.Add(y, x));
    }
  }
  return b.Finish(x);
}

ir::Graph NasNetA() {
  Builder b;
  Value x = b.ConvRelu(b.Input({1, 3, 224, 224}), 64, 7, 7, 2);
  x = b.Max(x, 2);
  int64_t filters = 128;
  for (int stage = 0; stage < 3; ++stage) {
    Value before = x, now = x;
    for (int cell = 0; cell < 5; ++cell) {
      before = std::exchange(now, NormalCell(b, before, now, filters));
    }
    filters *= 2;
    x = ReductionCell(b, before, now, filters);
  }
  return b.Finish(x);
}

ir::Graph InceptionV3() {
  Builder b;
  Value x = b.Input({1, 3, 299, 299});
  x = b.ConvRelu(x, 32, 3, 3, 2, false);
  x = b.ConvRelu(x, 32, 3, 3, 1, false);
  x = b.Max(b.ConvRelu(x, 64, 3, 3), 2, false);
  x = b.ConvRelu(x, 80, 1, 1);
  x = b.Max(b.ConvRelu(x, 192, 3, 3, 1, false), 2, false);
  for (int64_t pooled : {32, 64, 64}) x = InceptionA(b, x, pooled);
  x = InceptionB(b, x);
  for (int64_t c : {128, 160, 160, 192}) x = InceptionC(b, x, c);
  x = InceptionD(b, x);
  for (int i = 0; i < 2; ++i) x = InceptionE(b, x);
  return b.Finish(x);
}

std::vector<std::pair<std::string, ir::Graph>> TasoGraphs() {
  return {{"BERT-8", Bert(8)},
          {"NasRNN", NasRnn()},
          {"ResNeXt-50", ResNext50()},
          {"NasNet-A", NasNetA()},
          {"Inception-v3", InceptionV3()}};
}

ir::Graph Transformer(int layers) {
  Builder b;
  const int64_t width = kHeads * kHeadWidth;
  Value x = b.Input({kTokens, width});
  auto norm = [&](Value v) {
    return b.Op("layer_norm", {v, b.Weight({width}), b.Weight({width})},
                {{"axis", int64_t{1}}});
  };
  for (int i = 0; i < layers; ++i) {
    const Value q = Heads(b, b.Bias(b.Linear(x, width)), false);
    const Value k = Heads(b, b.Bias(b.Linear(x, width)), true);
    const Value v = Heads(b, b.Bias(b.Linear(x, width)), false);
    const Value scores =
        b.Op("softmax", {b.Op("matmul", {q, k})}, {{"axis", int64_t{2}}});
    const Value mixed = Joined(b, b.Op("matmul", {scores, v}));
    x = norm(b.Add(x, b.Bias(b.Linear(mixed, width))));
    const Value hidden = b.Op("gelu", {b.Bias(b.Linear(x, 4 * width))});
    x = norm(b.Add(x, b.Bias(b.Linear(hidden, width))));
  }
  return b.Finish(x);
}

}  // namespace isomer::bench
