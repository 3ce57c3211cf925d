// The graph is made of the operators that importing a transformer gives.
#include "bench/bench_graph_testing.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

constexpr int64_t kWidth = 16, kHeads = 2, kTokens = 8;

class Builder {
 public:
  Value Input() {
    return graph_.AddInput("x", TensorType{DType::kF32, {kTokens, kWidth}});
  }

  Value Weight(std::vector<int64_t> shape) {
    std::vector<double> values(NumElements(shape));
    for (double& v : values) v = static_cast<double>(++seed_ % 251) / 128 - 1;
    return graph_.AddConstant(
        Constant::FromTensor(FromDoubles({DType::kF32, shape}, values)));
  }
  Value Op(absl::string_view op, std::vector<Value> in, Attrs attrs = {}) {
    auto v = graph_.Add(op, in, attrs);
    Check(v.ok(), v.status().ToString());
    return *v;
  }
  Value Linear(Value in) {
    const Value bias = Op("broadcast", {Weight({kWidth})},
                          {{"shape", std::vector<int64_t>{kTokens, kWidth}},
                           {"dims", std::vector<int64_t>{1}}});
    return Op("add", {Op("matmul", {in, Weight({kWidth, kWidth})}), bias});
  }
  Value Heads(Value in) {
    const Value split =
        Op("reshape", {in},
           {{"shape", std::vector<int64_t>{kTokens, kHeads, kWidth / kHeads}}});
    return Op("transpose", {split}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
  }
  Value Attention(Value in) {
    const Value q = Heads(Linear(in)), k = Heads(Linear(in));
    const Value v = Heads(Linear(in));
    const Value keys =
        Op("transpose", {k}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
    const Value scores =
        Op("softmax", {Op("matmul", {q, keys})}, {{"axis", int64_t{2}}});
    const Value mixed = Op("transpose", {Op("matmul", {scores, v})},
                           {{"perm", std::vector<int64_t>{1, 0, 2}}});
    return Linear(Op("reshape", {mixed},
                     {{"shape", std::vector<int64_t>{kTokens, kWidth}}}));
  }
  Value Block(Value in) {
    const Value a = Op("add", {in, Attention(in)});
    const Value hidden =
        Op("concat", {Op("relu", {Linear(a)}), Op("tanh", {Linear(a)})},
           {{"axis", int64_t{1}}});
    const Value half = Op("slice", {hidden},
                          {{"axes", std::vector<int64_t>{1}},
                           {"from", std::vector<int64_t>{kWidth / 2}},
                           {"to", std::vector<int64_t>{3 * kWidth / 2}}});
    return Op("add", {a, Op("mul", {half, Linear(half)})});
  }
  Graph Take() { return std::move(graph_); }
  int size() const { return graph_.size(); }
  void Output(Value v) { graph_.AddOutput("y", v); }

 private:
  Graph graph_;
  int64_t seed_ = 0;
};

}  // namespace

Graph TransformerGraph(int nodes) {
  Builder b;
  Value v = b.Input();
  while (b.size() < nodes) v = b.Block(v);
  b.Output(v);
  return b.Take();
}

std::vector<Rule> HundredRules() {
  std::vector<std::string> texts = {
      "matmul(x, matmul(y, z)) <=> matmul(matmul(x, y), z)",
      "matmul(x, y), matmul(x, z) => let m = matmul(x, concat(y, z, axis=-1)) "
      "in slice(m, axis=-1, from=0, to=dim(y, -1)), slice(m, axis=-1, "
      "from=dim(y, -1), to=end)",
      "matmul(x, z), matmul(y, z) => let m = matmul(concat(x, y, axis=0), z) "
      "in slice(m, axis=0, from=0, to=dim(x, 0)), slice(m, axis=0, "
      "from=dim(x, 0), to=end)",
      "matmul(x, add(y, z)) <=> add(matmul(x, y), matmul(x, z))",
      "matmul(add(x, y), z) <=> add(matmul(x, z), matmul(y, z))",
      "add(matmul(x, y), matmul(z, w)) <=> matmul(concat(x, z, axis=-1), "
      "concat(y, w, axis=-2))",
      "add(add(x, y), z) <=> add(x, add(y, z))",
      "mul(mul(x, y), z) <=> mul(x, mul(y, z))",
      "add(mul(x, z), mul(y, z)) <=> mul(add(x, y), z)",
      "add(x, y) => add(y, x)",
      "mul(x, y) => mul(y, x)",
      "concat(concat(x, y, axis=a), z, axis=a) <=> concat(x, concat(y, z, "
      "axis=a), axis=a)",
      "slice(slice(x, axis=a, from=f, to=t), axis=a, from=g, to=h) => slice(x, "
      "axis=a, from=f + g, to=f + h)",
      "slice(concat(x, y, axis=a), axis=a, from=0, to=dim(x, a)) => x",
      "reshape(reshape(x, shape=s), shape=t) => reshape(x, shape=t)",
      "add(x, x) <=> mul(x, 2)",
      "sub(x, y) <=> add(x, neg(y))",
      "softmax(x, axis=a) => let e = exp(x) in div(e, broadcast(reduce_sum(e, "
      "axes=[a]), axes=[a]))",
  };
  for (const char* f : {"relu", "tanh", "exp", "sigmoid", "abs", "neg", "sqrt",
                        "erf", "sin", "cos"}) {
    texts.push_back(absl::StrCat("concat(", f, "(x), ", f, "(y), axis=a) <=> ",
                                 f, "(concat(x, y, axis=a))"));
    texts.push_back(absl::StrCat("slice(", f, "(x), axis=a, from=f, to=t) <=> ",
                                 f, "(slice(x, axis=a, from=f, to=t))"));
    texts.push_back(absl::StrCat("reshape(", f, "(x), shape=s) <=> ", f,
                                 "(reshape(x, shape=s))"));
    texts.push_back(absl::StrCat("transpose(", f, "(x), perm=[1 0]) <=> ", f,
                                 "(transpose(x, perm=[1 0]))"));
  }
  std::vector<Rule> rules;
  for (const std::string& text : texts) {
    auto read = ReadRuleBody(text);
    Check(read.ok(), read.status().ToString());
    for (Rule& r : *read) rules.push_back(std::move(r));
  }
  Check(rules.size() >= 100, "there are fewer than 100 rules");
  rules.erase(rules.begin() + 100, rules.end());
  return rules;
}

}  // namespace isomer::ir
