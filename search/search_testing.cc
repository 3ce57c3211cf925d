#include "search/search_testing.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/constant.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "ops/status.h"
#include "ops/tensor.h"

namespace isomer::search {

namespace {

// Small dyadic numbers: exact in every type.
Tensor RandomTensor(const TensorType& type, std::mt19937_64& random,
                    Interp interp) {
  std::vector<double> values;
  for (int64_t i = 0; i < NumElements(type); ++i) {
    values.push_back((static_cast<double>(random() % 32) - 15.5) / 16);
  }
  return FromDoubles(type, values, interp);
}

class Maker {
 public:
  explicit Maker(std::mt19937_64& random) : random_(random) {
    for (int i = 0; i < 2; ++i) {
      vectors_.push_back(
          g_.AddInput(absl::StrCat("x", i), TensorType{DType::kF32, {2, 4}}));
      images_.push_back(g_.AddInput(absl::StrCat("i", i),
                                    TensorType{DType::kF32, {1, 4, 5, 5}}));
    }
  }

  ir::Graph Run(int nodes) {
    for (int i = 0; i < nodes; ++i) {
      if (Below(2) == 0) {
        GrowMatrix();
      } else {
        GrowImage();
      }
    }
    int outputs = 0;
    for (const auto* list : {&vectors_, &images_}) {
      for (Value v : *list) {
        if (g_.users(v.node).empty() && g_.node(v.node).op != nullptr) {
          g_.AddOutput(absl::StrCat("y", outputs++), v);
        }
      }
    }
    return std::move(g_);
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % n); }
  Value Pick(const std::vector<Value>& list) {
    // Late values more often, so that graphs are deep.
    const int n = static_cast<int>(list.size());
    return list[std::max(Below(n), Below(n))];
  }
  Value Weight(std::vector<int64_t> shape) {
    std::vector<Value>& known = weights_[shape];
    if (known.size() > 2 || (!known.empty() && Below(3) == 0)) {
      return known[Below(static_cast<int>(known.size()))];
    }
    const TensorType type{DType::kF32, std::move(shape)};
    known.push_back(g_.AddConstant(
        ir::Constant::FromTensor(RandomTensor(type, random_, Interp::kRun))));
    return known.back();
  }
  void Keep(std::vector<Value>& list, const absl::StatusOr<Value>& v) {
    if (v.ok()) list.push_back(*v);
  }
  std::vector<int64_t> Shape(Value v) const { return g_.type(v).shape; }

  void GrowMatrix() {
    const Value x = Pick(vectors_), y = Pick(vectors_);
    const int64_t width = Shape(x)[1];
    switch (Below(9)) {
      case 0:
      case 1:
        return Keep(vectors_,
                    g_.Add("matmul", {x, Weight({width, 2 + Below(4)})}));
      case 2:
        if (Shape(x) == Shape(y)) return Keep(vectors_, g_.Add("add", {x, y}));
        return;
      case 3:
        if (Shape(x) == Shape(y)) return Keep(vectors_, g_.Add("mul", {x, y}));
        return;
      case 4: {
        auto bias =
            g_.Add("broadcast", {Weight({width})},
                   {{"shape", Shape(x)}, {"dims", std::vector<int64_t>{1}}});
        if (!bias.ok()) return;
        return Keep(vectors_, g_.Add(Below(2) ? "add" : "mul", {x, *bias}));
      }
      case 5:
        return Keep(vectors_, g_.Add(Below(2) ? "relu" : "tanh", {x}));
      case 6:
        return Keep(vectors_, g_.Add("concat", {x, y}, {{"axis", int64_t{1}}}));
      case 7:
        return Keep(vectors_,
                    g_.Add("slice", {x},
                           {{"axes", std::vector<int64_t>{1}},
                            {"from", std::vector<int64_t>{0}},
                            {"to", std::vector<int64_t>{1 + Below(width)}}}));
      default:
        return Keep(vectors_, g_.Add("softmax", {x}, {{"axis", int64_t{1}}}));
    }
  }

  void GrowImage() {
    const Value x = Pick(images_), y = Pick(images_);
    const int64_t c = Shape(x)[1];
    switch (Below(7)) {
      case 0:
      case 1: {
        const int64_t k = Below(2);
        return Keep(images_,
                    g_.Add("conv2d", {x, Weight({4, c, 2 * k + 1, 2 * k + 1})},
                           {{"pad", std::vector<int64_t>(4, k)}}));
      }
      case 2:
        return Keep(images_, g_.Add("conv2d", {x, Weight({c, 1, 3, 3})},
                                    {{"pad", std::vector<int64_t>(4, 1)},
                                     {"group", c}}));
      case 3:
        if (Shape(x) == Shape(y)) return Keep(images_, g_.Add("add", {x, y}));
        return;
      case 4:
        return Keep(images_, g_.Add("relu", {x}));
      case 5:
        return Keep(images_, g_.Add("concat", {x, y}, {{"axis", int64_t{1}}}));
      default: {
        auto bias =
            g_.Add("broadcast", {Weight({c})},
                   {{"shape", Shape(x)}, {"dims", std::vector<int64_t>{1}}});
        if (!bias.ok()) return;
        return Keep(images_, g_.Add(Below(2) ? "add" : "mul", {x, *bias}));
      }
    }
  }

  std::mt19937_64& random_;
  ir::Graph g_;
  std::vector<Value> vectors_, images_;
  std::map<std::vector<int64_t>, std::vector<Value>> weights_;
};

// The largest difference relative to the largest element.
double Distance(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = ToDoubles(a), y = ToDoubles(b);
  double difference = 0, largest = 1e-30;
  for (size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, std::abs(x[i] - y[i]));
    largest = std::max(largest, std::abs(x[i]));
  }
  return difference / largest;
}

}  // namespace

ir::Graph MakeGraph(absl::string_view text) {
  std::mt19937_64 random(17);
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t at = line.find("= random");
    if (at == absl::string_view::npos) {
      lines.emplace_back(line);
      continue;
    }
    const size_t colon = line.find(": ");
    auto type = ParseType(
        absl::StripAsciiWhitespace(line.substr(colon + 2, at - colon - 2)));
    Check(type.ok(), type.status().ToString());
    lines.push_back(
        absl::StrCat(line.substr(0, at), "= ",
                     TensorText(RandomTensor(*type, random, Interp::kRun))));
  }
  auto graph = ir::ParseGraph(absl::StrJoin(lines, "\n"));
  Check(graph.ok(), graph.status().ToString());
  return *std::move(graph);
}

RuleBook MakeBook(absl::string_view rules) {
  auto set = ir::ReadRules(rules);
  Check(set.ok(), set.status().ToString());
  auto book = RuleBook::Create(*std::move(set));
  Check(book.ok(), book.status().ToString());
  return *std::move(book);
}

const RuleBook& AllRules() {
  static const RuleBook& book = *new RuleBook(MakeBook(BuiltInRules()));
  return book;
}

cost::CostModel MakeCost(absl::string_view target) {
  auto found = cost::Target::Named(target);
  Check(found.ok(), found.status().ToString());
  auto cost = cost::CostModel::Create(*std::move(found));
  Check(cost.ok(), cost.status().ToString());
  return *std::move(cost);
}

std::string Difference(const ir::Graph& a, const ir::Graph& b) {
  for (Interp interp : {Interp::kField, Interp::kRun}) {
    std::mt19937_64 random(5);
    std::map<std::string, Tensor> inputs;
    for (NodeId id : a.inputs()) {
      inputs.emplace(*a.node(id).name,
                     RandomTensor(a.type({id, 0}), random, interp));
    }
    auto x = ir::Evaluate(a, inputs, {.interp = interp});
    auto y = ir::Evaluate(b, inputs, {.interp = interp});
    if (!x.ok()) return absl::StrCat("the first: ", x.status().message());
    if (!y.ok()) return absl::StrCat("the second: ", y.status().message());
    if (x->size() != y->size()) return "the number of outputs differs";
    for (size_t i = 0; i < x->size(); ++i) {
      const Tensor &p = (*x)[i], &q = (*y)[i];
      if (p.type != q.type) return absl::StrCat("output ", i, ": type");
      const bool same =
          interp == Interp::kField ? p.data == q.data : Distance(p, q) < 1e-4;
      if (!same) {
        return absl::StrCat("output ", i, " differs in ",
                            interp == Interp::kField ? "the field" : "floats",
                            "\n", ir::PrintGraph(b, {.max_constant = 4}));
      }
    }
  }
  return "";
}

absl::Span<const absl::string_view> Traps() {
  static constexpr absl::string_view kTraps[] = {R"(
input x: f32[1,32,6,6]
const w1: f32[32,1,3,3] = random
const w2: f32[32,1,3,3] = random
a = conv2d(x, w1, pad=[1 1 1 1], group=32)
b = conv2d(x, w2, pad=[1 1 1 1], group=32)
c = concat(a, b, axis=1)
output y = c
)",
                                                 R"(
input x: f32[1,8,6,6]
input z: f32[1,8,6,6]
const w: f32[8,8,3,3] = random
a = conv2d(x, w, pad=[1 1 1 1])
b = mul(a, z)
output y = b
)",
                                                 R"(
input x: f32[1,16,6,6]
input z: f32[1,16,6,6]
const w: f32[48,16,3,3] = random
const v: f32[16,16,3,3] = random
a = conv2d(x, w, pad=[1 1 1 1])
b = conv2d(z, v, pad=[1 1 1 1])
c = concat(a, b, axis=1)
output y = c
)",
                                                 R"(
input x: f32[1,32,6,6]
input z: f32[1,32,6,6]
const w: f32[32,1,3,3] = random
const v: f32[32,1,3,3] = random
a = conv2d(x, w, pad=[1 1 1 1], group=32)
b = conv2d(z, v, pad=[1 1 1 1], group=32)
c = add(a, b)
output y = c
)"};
  return kTraps;
}

ir::Graph RandomGraph(std::mt19937_64& random, int nodes) {
  return Maker(random).Run(nodes);
}

}  // namespace isomer::search
