// Values are 8 x 8 matrices or what a view makes of them; each step picks an
// operator and operands that fit.
#include "cost_model/random_graph_testing.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/status.h"

namespace isomer::cost {

namespace {

constexpr int64_t kSize = 8;

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed), products_(seed % 2 == 0) {
    for (int i = 0; i < 2; ++i) {
      squares_.push_back(
          g_.AddInput(absl::StrCat("x", i), TensorType{DType::kF32, {8, 8}}));
    }
    for (int i = 0; i < 2; ++i) {
      std::vector<double> values(kSize * kSize, 0.25);
      values[0] = i;
      squares_.push_back(g_.AddConstant(ir::Constant::FromTensor(
          FromDoubles({DType::kF32, {8, 8}}, values, Interp::kRun))));
    }
  }

  ir::Graph Make(int operators) {
    while (made_ < operators) Step();
    int outputs = 0;
    for (Value v : squares_) {
      const bool op = g_.node(v.node).kind == ir::Node::Kind::kOp;
      const bool unused = g_.users(v.node).empty();
      if (op && (unused || Pick(8) == 0)) {
        g_.AddOutput(absl::StrCat("y", outputs++), v);
      }
    }
    return std::move(g_);
  }

 private:
  size_t Pick(size_t n) { return random_() % n; }

  // Later values more often, so that graphs grow deep.
  Value Any() {
    const size_t n = squares_.size();
    return squares_[std::max(Pick(n), Pick(n))];
  }

  Value Add(absl::string_view op, std::vector<Value> inputs, Attrs attrs = {}) {
    auto v = g_.Add(op, inputs, attrs);
    Check(v.ok(), v.status().message());
    ++made_;
    return *v;
  }

  void Step() {
    using List = std::vector<int64_t>;
    Value v;
    switch (Pick(12)) {
      case 0:
      case 1:
        v = Add(products_ ? "matmul" : "sub", {Any(), Any()});
        break;
      case 2:
        v = Add("relu", {Any()});
        break;
      case 3:
        v = Add("sigmoid", {Any()});
        break;
      case 4:
      case 5:
        v = Add("add", {Any(), Any()});
        break;
      case 6:
        v = Add("mul", {Any(), Any()});
        break;
      case 7:
        v = Add("softmax", {Any()}, {{"axis", int64_t{1}}});
        break;
      case 8:
        v = Add("transpose", {Any()}, {{"perm", List{1, 0}}});
        break;
      case 9:
        v = Halves();
        break;
      case 10:
        v = Add("reshape", {Add("reshape", {Any()}, {{"shape", List{4, 16}}})},
                {{"shape", List{8, 8}}});
        break;
      default:
        v = Add("broadcast", {Add("reduce_sum", {Any()}, {{"axes", List{1}}})},
                {{"shape", List{8, 8}}, {"dims", List{0}}});
    }
    squares_.push_back(v);
  }

  // Parts of two values, one after the other.
  Value Halves() {
    using List = std::vector<int64_t>;
    const int64_t axis = static_cast<int64_t>(Pick(2));
    auto half = [&](int64_t from) {
      return Add(
          "slice", {Any()},
          {{"axes", List{axis}}, {"from", List{from}}, {"to", List{from + 4}}});
    };
    const Value a = half(0), b = half(4);
    return Add("concat", {a, Pick(2) ? Add("relu", {b}) : b}, {{"axis", axis}});
  }

  std::mt19937_64 random_;
  const bool products_;  // else the parts without a core are larger
  ir::Graph g_;
  std::vector<Value> squares_;
  int made_ = 0;
};

}  // namespace

ir::Graph RandomGraph(uint64_t seed, int operators) {
  return Maker(seed).Make(operators);
}

}  // namespace isomer::cost
