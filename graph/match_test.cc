// Matches as text, and against a matcher that tries everything: it gives the
// variables all values there are, builds the source, and looks whether that
// added anything to the graph.
#include "graph/match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/build_side.h"
#include "graph/graph.h"
#include "graph/rule.h"
#include "graph/text.h"

namespace isomer::ir {
namespace {

Rule MakeRule(absl::string_view text) {
  auto rules = ReadRuleBody(text);
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules->front();
}

Graph MakeGraph(absl::string_view text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *graph;
}

// A value as an expression over inputs.
std::string Term(const Graph& g, Value v) {
  const Node& n = g.node(v.node);
  if (n.kind == Node::Kind::kInput) return *n.name;
  if (n.kind == Node::Kind::kConstant) return "const";
  std::vector<std::string> parts;
  for (Value in : n.inputs) parts.push_back(Term(g, in));
  std::string s = absl::StrCat(n.op->name, "(", absl::StrJoin(parts, ","), ")");
  if (v.output != 0) absl::StrAppend(&s, ".", v.output);
  return s;
}

// The matches, one to a line: outputs, then variables.
std::string Matches(absl::string_view graph_text, absl::string_view rule_text) {
  const Graph g = MakeGraph(graph_text);
  const Rule rule = MakeRule(rule_text);
  std::string out;
  for (const Match& m : FindMatches(g, rule)) {
    std::vector<std::string> outputs, rest;
    for (Value v : m.outputs) outputs.push_back(Term(g, v));
    for (size_t i = 0; i < m.tensors.size(); ++i) {
      rest.push_back(
          absl::StrCat(rule.tensors()[i], "=", Term(g, m.tensors[i])));
    }
    for (size_t i = 0; i < m.attrs.size(); ++i) {
      if (!m.attrs[i] || rule.attrs()[i].name[0] == '$') continue;
      rest.push_back(absl::StrCat(rule.attrs()[i].name, "=",
                                  AttrText<int64_t>(*m.attrs[i])));
    }
    absl::StrAppend(&out, absl::StrJoin(outputs, ", "), ": ",
                    absl::StrJoin(rest, " "), "\n");
  }
  return out;
}

TEST(MatchTest, FindsNestedOperators) {
  EXPECT_EQ(Matches(R"(
    input a: f32[2,3]
    input b: f32[3,4]
    input c: f32[4,5]
    d = matmul(b, c)
    e = matmul(a, d)
    output e = e)",
                    "matmul(x, matmul(y, z)) => matmul(matmul(x, y), z)"),
            "matmul(a,matmul(b,c)): x=a y=b z=c\n");
}

TEST(MatchTest, TriesCommutativeOperandsBothWays) {
  constexpr absl::string_view kGraph = R"(
    input a: f32[2]
    input b: f32[2]
    r = relu(a)
    s = add(b, r)
    t = add(r, r)
    output s = s
    output t = t)";
  EXPECT_EQ(Matches(kGraph, "add(relu(x), y) => sub(relu(x), neg(y))"),
            "add(b,relu(a)): x=a y=b\n"
            "add(relu(a),relu(a)): x=a y=relu(a)\n");
  // The two ways of x and y are images of each other: one match each.
  EXPECT_EQ(Matches(kGraph, "add(x, y) => add(y, x)"),
            "add(b,relu(a)): x=b y=relu(a)\n"
            "add(relu(a),relu(a)): x=relu(a) y=relu(a)\n");
  // Here they differ in what the target does with them.
  EXPECT_EQ(Matches(kGraph, "add(x, y) => sub(x, neg(y))"),
            "add(b,relu(a)): x=b y=relu(a)\n"
            "add(b,relu(a)): x=relu(a) y=b\n"
            "add(relu(a),relu(a)): x=relu(a) y=relu(a)\n");
}

TEST(MatchTest, AVariableThatOccursTwiceMatchesOneValue) {
  EXPECT_EQ(Matches(R"(
    input a: f32[2]
    input b: f32[2]
    c = mul(a, a)
    d = mul(a, b)
    output c = c
    output d = d)",
                    "mul(x, x) => pow(x, 2)"),
            "mul(a,a): x=a\n");
}

TEST(MatchTest, SeveralOutputsAreFoundAlongUsers) {
  constexpr absl::string_view kGraph = R"(
    input x: f32[2,3]
    input y: f32[3,4]
    input z: f32[3,5]
    input w: f32[2,3]
    a = matmul(x, y)
    b = matmul(x, z)
    c = matmul(w, z)
    output a = a
    output b = b
    output c = c)";
  constexpr absl::string_view kMerge =
      "matmul(x, y), matmul(x, z) => let m = matmul(x, concat(y, z, axis=-1)) "
      "in slice(m, axis=-1, from=0, to=dim(y, -1)), "
      "slice(m, axis=-1, from=dim(y, -1), to=end)";
  EXPECT_EQ(Matches(kGraph, kMerge), "matmul(x,y), matmul(x,z): x=x y=y z=z\n");
  EXPECT_EQ(Matches(kGraph,
                    "matmul(x, z), matmul(y, z) => "
                    "let m = matmul(concat(x, y, axis=0), z) in "
                    "slice(m, axis=0, from=0, to=dim(x, 0)), "
                    "slice(m, axis=0, from=dim(x, 0), to=end)"),
            "matmul(x,z), matmul(w,z): x=x z=z y=w\n");
}

TEST(MatchTest, AttributesBindAndAreSolvedFor) {
  constexpr absl::string_view kGraph = R"(
    input a: f32[4,6]
    b = slice(a, axes=[1], from=[1], to=[5])
    c = slice(b, axes=[1], from=[0], to=[2])
    d = slice(b, axes=[0], from=[0], to=[2])
    output c = c
    output d = d)";
  EXPECT_EQ(Matches(kGraph,
                    "slice(slice(x, axis=a, from=f, to=t), axis=a, from=g, "
                    "to=h) => slice(x, axis=a, from=f + g, to=f + h)"),
            "slice(slice(a)): x=a a=1 f=1 t=5 g=0 h=2\n");
  EXPECT_EQ(Matches(kGraph,
                    "slice(x, axis=-1, from=2 * f + 1, to=t) => "
                    "slice(x, axis=-1, from=2 * f + 1, to=t)"),
            "slice(a): x=a t=5 f=0\n");
  EXPECT_EQ(Matches(kGraph,
                    "slice(x, axis=a, from=0, to=dim(x, a) - k) => "
                    "slice(x, axis=a, from=0, to=dim(x, a) - k)"),
            "slice(slice(a)): x=slice(a) a=1 k=2\n"
            "slice(slice(a)): x=slice(a) a=0 k=2\n");
  EXPECT_EQ(Matches(kGraph,
                    "slice(x, axis=a, from=2 * f, to=t) => "
                    "slice(x, axis=a, from=2 * f, to=t) "
                    "where f + t == 2, a != 0"),
            "slice(slice(a)): x=slice(a) a=1 t=2 f=0\n");
}

TEST(MatchTest, AttributesThatAreLeftOutHaveTheirDefault) {
  constexpr absl::string_view kGraph = R"(
    input x: f32[1,2,5,5]
    input w: f32[2,2,3,3]
    a = conv2d(x, w)
    b = conv2d(x, w, stride=2)
    c = conv2d(x, w, pad=1)
    output a = a
    output b = b
    output c = c)";
  EXPECT_EQ(Matches(kGraph, "conv2d(x, w) => conv2d(x, w, pad=0)"),
            "conv2d(x,w): x=x w=w\n");
  EXPECT_EQ(Matches(kGraph,
                    "conv2d(x, w, stride=s, pad=1) => "
                    "conv2d(x, w, stride=s, pad=[1 1 1 1])"),
            "conv2d(x,w): x=x w=w s=[1 1]\n");
}

TEST(MatchTest, LiteralsMatchFilledValues) {
  constexpr absl::string_view kGraph = R"(
    input x: f32[2,2]
    const c: f32[2,2] = 0.5
    const s: f32[] = 0.5
    const d: f32[2,2] = 0.25
    f = fill(value=0.5, shape=[2 2])
    g = broadcast(s, shape=[2 2], dims=[])
    p = mul(x, c)
    q = mul(f, x)
    r = mul(x, g)
    t = mul(x, d)
    output p = p
    output q = q
    output r = r
    output t = t)";
  EXPECT_EQ(Matches(kGraph, "mul(x, 0.5) => div(x, 2)"),
            "mul(x,const): x=x\nmul(fill(),x): x=x\n"
            "mul(x,broadcast(const)): x=x\n");
  EXPECT_EQ(Matches(kGraph, "mul(x, 0.1) => div(x, 10)"), "");
}

TEST(MatchTest, ConditionsAreChecked) {
  constexpr absl::string_view kGraph = R"(
    input x: f32[2,3]
    const w: f32[2,3] = 2
    const n: f32[2,3] = -1
    v = relu(w)
    a = mul(x, v)
    b = mul(x, n)
    output a = a
    output b = b)";
  EXPECT_EQ(Matches(kGraph, "mul(x, y) => mul(y, x) where const(y)"),
            "mul(x,relu(const)): x=x y=relu(const)\nmul(x,const): x=x "
            "y=const\n");
  EXPECT_EQ(Matches(kGraph, "mul(x, y) => mul(y, x) where positive(y)"), "");
  EXPECT_EQ(Matches(kGraph, "relu(x) => max(x, 0) where positive(x)"),
            "relu(const): x=const\n");
  EXPECT_EQ(Matches(kGraph, "relu(x) => max(x, 0) where dim(x, 0) > 2"), "");
  EXPECT_EQ(Matches(kGraph,
                    "relu(x) => max(x, 0) where 2 divides dim(x, 0), "
                    "rank(x) == 2"),
            "relu(const): x=const\n");
}

TEST(MatchTest, FloatRulesDoNotMatchIntegers) {
  constexpr absl::string_view kGraph = R"(
    input a: i64[4]
    input b: i64[4]
    c = div(a, b)
    d = mul(c, b)
    e = slice(a, axes=[0], from=[0], to=[4])
    output d = d
    output e = e)";
  EXPECT_EQ(Matches(kGraph, "mul(div(x, y), y) => x"), "");
  // Moving elements is the same for every type.
  EXPECT_EQ(Matches(kGraph, "slice(x, axis=a, from=0, to=end) => x"),
            "slice(a): x=a a=0\n");
}

TEST(MatchTest, InfiniteConstantsTakePartInExactRulesOnly) {
  constexpr absl::string_view kGraph = R"(
    input x: f32[2]
    const c: f32[2] = inf
    m = mul(x, c)
    s = slice(c, axes=[0], from=[0], to=[2])
    output m = m
    output s = s)";
  EXPECT_EQ(Matches(kGraph, "mul(x, y) => mul(y, x)"), "");
  EXPECT_EQ(Matches(kGraph, "slice(x, axis=a, from=0, to=end) => x"),
            "slice(const): x=const a=0\n");
}

TEST(MatchTest, ShortFormsMatchWhateverTheShape) {
  constexpr absl::string_view kGraph = R"(
    input x: f32[2,3]
    s = reduce_sum(x, axes=[1])
    b = broadcast(s, shape=[2 3], dims=[0])
    d = div(x, b)
    output d = d)";
  EXPECT_EQ(Matches(kGraph,
                    "div(x, broadcast(reduce_sum(x, axes=[a]), axes=[a])) => "
                    "mul(x, reciprocal(broadcast(reduce_sum(x, axes=[a]), "
                    "axes=[a])))"),
            "div(x,broadcast(reduce_sum(x))): x=x a=1\n");
  EXPECT_EQ(Matches(kGraph,
                    "broadcast(x, axes=[-1]) => broadcast(x, dims=[0])"
                    " where rank(x) == 1"),
            "broadcast(reduce_sum(x)): x=reduce_sum(x)\n");
}

TEST(MatchTest, MatchesLieWithinTheCasesOfTheRule) {
  const Graph g =
      MakeGraph("input x: f32[1,1,1,1,1,2]\ny = relu(x)\noutput y = y");
  const Rule rule = MakeRule("relu(x) => max(x, 0)");
  EXPECT_EQ(FindMatches(g, rule).size(), 0u);  // rank 6 was not checked
  EXPECT_EQ(FindMatches(g, rule, {.beyond_cases = true}).size(), 1u);
}

TEST(MatchTest, ChoicesEnumerateInOrder) {
  const Graph g = MakeGraph("input x: f32[3]\ny = relu(x)\noutput y = y");
  const Rule rule = MakeRule(
      "relu(x) => choose e in 1..dim(x, 0): choose f in e..e + 1: "
      "slice(pad(relu(x), begin=[e], end=[f]), axis=0, from=e, to=dim(x, 0) + "
      "e) where e + f != 3");
  std::vector<Match> matches = FindMatches(g, rule);
  ASSERT_EQ(matches.size(), 1u);
  std::string out;
  for (const Match& m : Choices(g, rule, matches[0])) {
    absl::StrAppend(&out, AttrText<int64_t>(*m.attrs[0]), ",",
                    AttrText<int64_t>(*m.attrs[1]), " ");
  }
  EXPECT_EQ(out, "1,1 2,2 2,3 3,3 3,4 ");
  EXPECT_EQ(Choices(g, rule, matches[0], 2).size(), 2u);
}

// ---- Against trying everything

using Key = std::tuple<std::vector<Value>, std::vector<Value>>;

// The least image of a match under the symmetries.
Key Least(const Rule& rule, const Key& key) {
  Key least = key;
  for (const Symmetry& s : rule.symmetries()) {
    Key image = key;
    for (size_t i = 0; i < s.outputs.size(); ++i) {
      std::get<0>(image)[s.outputs[i]] = std::get<0>(key)[i];
    }
    for (size_t i = 0; i < s.tensors.size(); ++i) {
      std::get<1>(image)[s.tensors[i]] = std::get<1>(key)[i];
    }
    least = std::min(least, image);
  }
  return least;
}

class BruteForce {
 public:
  BruteForce(const Graph& graph, const Rule& rule)
      : graph_(graph), rule_(rule), side_(rule.source()) {
    for (int32_t i = 0; i < graph.id_bound(); ++i) {
      if (!graph.Has({i})) continue;
      values_.push_back({{i}, 0});
      if (graph.node({i}).op == nullptr) continue;
      for (const auto& [name, value] : graph.node({i}).attrs->entries()) {
        pool_.insert(value);
        if (auto* list = std::get_if<std::vector<int64_t>>(&value)) {
          for (int64_t x : *list) pool_.insert(Attr(x));
        }
      }
    }
  }

  std::set<Key> Run() {
    Swaps(0);
    return found_;
  }

 private:
  // All ways to turn commutative operands round.
  void Swaps(size_t k) {
    if (k == side_.nodes.size()) return Tensors(0);
    Swaps(k + 1);
    RuleNode& n = side_.nodes[k];
    if (n.op == nullptr || !n.op->commutative) return;
    std::reverse(n.inputs.begin(), n.inputs.end());
    Swaps(k + 1);
    std::reverse(n.inputs.begin(), n.inputs.end());
  }
  void Tensors(size_t v) {
    if (v == rule_.tensors().size()) return Attributes(0);
    for (Value value : values_) {
      tensors_.push_back(value);
      Tensors(v + 1);
      tensors_.pop_back();
    }
  }
  void Attributes(size_t v) {
    if (v == rule_.attrs().size()) return Check();
    for (const Attr& a : pool_) {
      if (a.index() != static_cast<size_t>(rule_.attrs()[v].kind)) continue;
      attrs_.push_back(a);
      Attributes(v + 1);
      attrs_.pop_back();
    }
  }
  void Check() {
    std::vector<const TensorType*> types;
    for (Value v : tensors_) types.push_back(&graph_.type(v));
    SideTyping<int64_t> typing;
    if (!TypeSide<int64_t>(side_, types, attrs_, {}, typing).ok()) return;
    Graph copy = graph_;
    auto built = BuildSide(copy, side_, typing, tensors_, attrs_);
    if (!built.ok() || copy.size() != graph_.size()) return;
    for (size_t i = 0; i < built->outputs.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (built->outputs[i] == built->outputs[j]) return;
      }
    }
    found_.insert(Least(rule_, {built->outputs, tensors_}));
  }

  const Graph& graph_;
  const Rule& rule_;
  RuleSide side_;
  std::vector<Value> values_;
  std::set<Attr> pool_;
  std::vector<Value> tensors_;
  std::vector<std::optional<Attr>> attrs_;
  std::set<Key> found_;
};

// A graph of the operators that the rule's source has.
Graph RandomGraph(const Rule& rule, std::mt19937_64& random) {
  Graph g;
  std::vector<Value> values;
  for (const char* name : {"a", "b"}) {
    values.push_back(g.AddInput(name, TensorType{DType::kF32, {2, 2}}));
  }
  std::vector<const OpDef*> ops;
  for (const RuleNode& n : rule.source().nodes) {
    if (n.op != nullptr) ops.push_back(n.op);
  }
  for (int tries = 0; tries < 60 && values.size() < 8; ++tries) {
    const OpDef& op = *ops[random() % ops.size()];
    const int64_t axis = random() % 2;
    Attrs attrs;
    if (op.name == "concat") attrs.Set("axis", axis);
    if (op.name == "transpose") {
      attrs.Set("perm", std::vector<int64_t>{axis, 1 - axis});
    }
    std::vector<Value> operands;
    const size_t count = op.inputs.variadic ? 2 : op.inputs.names.size();
    for (size_t i = 0; i < count; ++i) {
      operands.push_back(values[random() % values.size()]);
    }
    auto id = g.AddNode(op, operands, attrs);
    if (!id.ok()) continue;
    const Value v{*id, 0};
    if (std::find(values.begin(), values.end(), v) == values.end()) {
      values.push_back(v);
    }
  }
  for (Value v : values) g.AddOutput("o", v);
  return g;
}

TEST(MatchTest, FindsWhatTryingEverythingFinds) {
  const char* kRules[] = {
      "relu(relu(x)) => relu(x)",
      "add(x, y) => add(y, x)",
      "add(x, y) => sub(x, neg(y))",
      "add(add(x, y), z) => add(x, add(y, z))",
      "mul(add(x, y), x) => add(mul(x, x), mul(y, x))",
      "add(mul(x, y), mul(x, z)) => mul(x, add(y, z))",
      "matmul(x, y), matmul(x, z) => let m = matmul(x, concat(y, z, axis=-1)) "
      "in slice(m, axis=-1, from=0, to=dim(y, -1)), "
      "slice(m, axis=-1, from=dim(y, -1), to=end)",
      "relu(x), add(x, y) => let r = relu(x) in r, add(y, x)",
      "matmul(x, y), relu(matmul(x, y)) => let m = matmul(x, y) in m, "
      "max(m, 0)",
      "transpose(transpose(x, perm=p), perm=p) => x",
      "concat(relu(x), relu(y), axis=a) => relu(concat(x, y, axis=a))",
      "add(x, x) => mul(x, 2)",
      // Parts that share nothing.
      "relu(x), relu(y) => let r = relu(concat(x, y, axis=0)) in "
      "slice(r, axis=0, from=0, to=dim(x, 0)), "
      "slice(r, axis=0, from=dim(x, 0), to=end)",
  };
  std::mt19937_64 random(1);
  size_t total = 0;
  for (const char* text : kRules) {
    SCOPED_TRACE(text);
    const Rule rule = MakeRule(text);
    for (int i = 0; i < 8; ++i) {
      const Graph g = RandomGraph(rule, random);
      std::set<Key> found;
      const std::vector<Match> matches = FindMatches(g, rule);
      for (const Match& m : matches) {
        const Key key = {m.outputs, m.tensors};
        EXPECT_EQ(key, Least(rule, key));
        found.insert(key);
      }
      EXPECT_EQ(found.size(), matches.size());
      EXPECT_EQ(found, BruteForce(g, rule).Run()) << PrintGraph(g);
      total += matches.size();
    }
  }
  EXPECT_GT(total, 150u);
}

}  // namespace
}  // namespace isomer::ir
