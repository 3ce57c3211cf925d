// Other systems' rules: the files at hand are read whole, a few of their rules
// are compared with their known text, and all of them with their meaning: both
// sides run in the field on random instances. Files that are wrong are refused
// with the rule and the reason. The rule files are not part of the project:
// they are looked for in $ISOMER_SHARED/data/rule_files.
#include "graph/foreign_rules.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "graph/foreign_wire.h"
#include "graph/instance.h"
#include "graph/rule.h"
#include "gtest/gtest.h"

namespace isomer::ir {
namespace {

constexpr char kShipped[] = "taso_shipped_133";
constexpr char kGenerated[] = "taso_generator_full_depth3_619";
constexpr char kUnity[] = "unity_640";

std::string RuleFile(const std::string& name) {
  const char* shared = std::getenv("ISOMER_SHARED");
  std::ifstream in(absl::StrCat(shared == nullptr ? "../shared" : shared,
                                "/data/rule_files/", name, ".pb"),
                   std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

#define SKIP_WITHOUT(bytes)                                          \
  if ((bytes).empty()) {                                             \
    GTEST_SKIP() << "SKIPPED: no rule files in $ISOMER_SHARED/data/" \
                    "rule_files";                                    \
  }

std::vector<ForeignRule> Read(const std::string& bytes) {
  auto rules = ReadForeignRules(bytes);
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules.ok() ? *std::move(rules) : std::vector<ForeignRule>();
}

// The rules of a file, read once for all tests.
const std::vector<ForeignRule>& RulesOf(const std::string& file) {
  static auto& cache = *new std::map<std::string, std::vector<ForeignRule>>();
  auto it = cache.find(file);
  if (it == cache.end()) it = cache.emplace(file, Read(RuleFile(file))).first;
  return it->second;
}

std::vector<RuleSyntax> Imported(const std::vector<ForeignRule>& rules) {
  std::vector<RuleSyntax> out;
  for (const ForeignRule& r : rules) {
    if (r.rule) out.push_back(*r.rule);
  }
  return out;
}

// ---- The files

struct Expected {
  const char* file;
  size_t rules, rejected;
};

class ForeignFileTest : public testing::TestWithParam<Expected> {};

TEST_P(ForeignFileTest, EveryRuleIsImportedOrHasAReason) {
  const std::string bytes = RuleFile(GetParam().file);
  SKIP_WITHOUT(bytes);
  EXPECT_TRUE(IsForeignRules(bytes));
  const std::vector<ForeignRule>& rules = RulesOf(GetParam().file);
  EXPECT_EQ(rules.size(), GetParam().rules);
  size_t rejected = 0;
  for (const ForeignRule& r : rules) {
    EXPECT_EQ(r.rule.has_value(), r.rejected.empty());
    if (r.rule) {
      const std::string text = PrintRule(*r.rule);
      auto parsed = ParseRuleFile(text);
      ASSERT_TRUE(parsed.ok()) << parsed.status() << "\n" << text;
      EXPECT_EQ(std::get<RuleSyntax>(parsed->items[0]), *r.rule) << text;
      continue;
    }
    ++rejected;
    EXPECT_TRUE(absl::StrContains(r.rejected, "which the source does not bind"))
        << r.index << ": " << r.rejected;
  }
  EXPECT_EQ(rejected, GetParam().rejected);
}

INSTANTIATE_TEST_SUITE_P(Files, ForeignFileTest,
                         testing::Values(Expected{kShipped, 133, 0},
                                         Expected{kGenerated, 619, 0},
                                         Expected{kUnity, 640, 112}));

// ---- Meaning

std::map<std::string, Tensor> RandomInputs(const Graph& graph,
                                           std::mt19937_64& random) {
  std::map<std::string, Tensor> out;
  for (NodeId id : graph.inputs()) {
    const TensorType& type = graph.type({id, 0});
    std::vector<double> values(NumElements(type));
    for (double& v : values) v = (static_cast<int>(random() % 33) - 16) / 4.0;
    out.emplace(*graph.node(id).name,
                FromDoubles(type, values, Interp::kField));
  }
  return out;
}

enum class Verdict { kNone, kAgrees, kDiffers };

Verdict Compare(const Rule& rule, uint64_t seed) {
  std::mt19937_64 random(seed);
  Verdict verdict = Verdict::kNone;
  const size_t stride = std::max<size_t>(1, rule.cases().size() / 4);
  for (size_t i = 0; i < rule.cases().size(); i += stride) {
    for (int n = 0; n < 4; ++n) {
      auto instance = MakeInstance(rule, rule.cases()[i], random);
      if (!instance.ok()) break;
      const auto inputs = RandomInputs(instance->source, random);
      auto x = Evaluate(instance->source, inputs, {.interp = Interp::kField});
      auto y = Evaluate(instance->target, inputs, {.interp = Interp::kField});
      EXPECT_TRUE(x.ok()) << rule.name() << ": " << x.status();
      EXPECT_TRUE(y.ok()) << rule.name() << ": " << y.status();
      if (!x.ok() || !y.ok()) return Verdict::kNone;
      for (size_t k = 0; k < x->size(); ++k) {
        if ((*x)[k].data != (*y)[k].data) return Verdict::kDiffers;
      }
      verdict = Verdict::kAgrees;
    }
  }
  return verdict;
}

// The rules whose sides differ, and how many were compared.
std::set<int> Differing(const char* file, int* compared) {
  std::set<int> differing;
  for (const ForeignRule& r : RulesOf(file)) {
    if (!r.rule) continue;
    auto rule = Rule::Create(*r.rule);
    EXPECT_TRUE(rule.ok()) << rule.status();
    if (!rule.ok()) continue;
    const Verdict verdict = Compare(*rule, 7 + r.index);
    if (verdict == Verdict::kNone) {
      std::printf("%s: no instance of rule %d\n%s", file, r.index,
                  PrintRule(*r.rule).c_str());
    }
    *compared += verdict != Verdict::kNone;
    if (verdict == Verdict::kDiffers) differing.insert(r.index);
  }
  std::printf("%s: %d rules compared, %zu differ:", file, *compared,
              differing.size());
  for (int i : differing) std::printf(" %d", i);
  std::printf("\n");
  return differing;
}

TEST(ForeignMeaningTest, ShippedRules) {
  SKIP_WITHOUT(RuleFile(kShipped));
  int compared = 0;
  EXPECT_EQ(Differing(kShipped, &compared), (std::set<int>{99, 100, 130, 131}));
  EXPECT_EQ(compared, 133);
}

TEST(ForeignMeaningTest, GeneratedRules) {
  SKIP_WITHOUT(RuleFile(kGenerated));
  int compared = 0;
  EXPECT_EQ(
      Differing(kGenerated, &compared),
      (std::set<int>{150, 386, 387, 440, 441, 442, 443, 487, 488, 494, 495}));
  EXPECT_EQ(compared, 619);
}

TEST(ForeignMeaningTest, UnitysRules) {
  SKIP_WITHOUT(RuleFile(kUnity));
  int compared = 0;
  EXPECT_EQ(Differing(kUnity, &compared),
            (std::set<int>{273, 420, 427, 436, 444, 502, 561}));
  EXPECT_EQ(compared, 528);
}

// ---- Texts

std::string Body(const RuleSyntax& rule) {
  RuleSyntax unnamed = rule;
  unnamed.name.clear();
  return PrintRule(unnamed);
}

// The file's rule, and ours in any layout, agree as trees.
void ExpectRule(const char* file, int index, const char* text) {
  const ForeignRule& r = RulesOf(file)[index];
  ASSERT_TRUE(r.rule) << index << ": " << r.rejected;
  auto expected = ParseRuleBody(text);
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(Body(*r.rule), Body(*expected)) << index;
}

TEST(ForeignTextTest, ShippedRules) {
  SKIP_WITHOUT(RuleFile(kShipped));
  ExpectRule(kShipped, 0,
             "matmul(matmul(x1, w1), w2) => matmul(x1, matmul(w1, w2))");
  ExpectRule(kShipped, 2,
             "matmul(concat(w1, matmul(x1, w1), axis=0), w2) => "
             "let t0 = matmul(w1, w2) in concat(t0, matmul(x1, t0), axis=0) "
             "where rank(x1) == 2, rank(w2) == 2");
  ExpectRule(kShipped, 23,
             "add(x3, add(x3, add(x1, x2))) => add(add(x1, x3), add(x2, x3))");
  ExpectRule(kShipped, 36,
             "mul(x1, add(x2, x3)) => "
             "add(mul(x1, x2), mul(x1, x3))");
  ExpectRule(kShipped, 64,
             "relu(conv2d(i1, w4, pad=[1 1 1 1])) => "
             "relu(conv2d(i1, w4, pad=[1 1 1 1])) "
             "where dim(w4, 2) == 3, dim(w4, 3) == 3");
  ExpectRule(kShipped, 70,
             "relu(x1), relu(x2) => let t0 = relu(concat(x1, x2, axis=1)) in "
             "slice(t0, axis=1, from=0, to=dim(x1, 1)), "
             "slice(t0, axis=1, from=dim(x1, 1), to=end) "
             "where rank(x1) == 2");
  ExpectRule(kShipped, 73,
             "add(matmul(x1, w1), matmul(x2, w2)) => "
             "matmul(concat(x1, x2, axis=1), concat(w1, w2, axis=0)) "
             "where rank(x1) == 2, rank(w1) == 2");
  ExpectRule(kShipped, 98,
             "add(conv2d(i1, w4, pad=[1 1 1 1]), "
             "conv2d(i2, w5, pad=[1 1 1 1])) => "
             "conv2d(concat(i1, i2, axis=1), concat(w4, w5, axis=1), "
             "pad=[1 1 1 1]) where dim(w4, 2) == 3, dim(w4, 3) == 3, "
             "dim(w5, 2) == 3, dim(w5, 3) == 3");
  ExpectRule(kShipped, 99,
             "concat(conv2d(i1, w4, pad=[1 1 1 1]), "
             "conv2d(i2, w5, pad=[1 1 1 1]), axis=1) => "
             "conv2d(concat(i1, i2, axis=1), concat(w4, w5, axis=0), "
             "pad=[1 1 1 1], group=(dim(i1, 1) + dim(i2, 1)) / dim(w4, 1)) "
             "where dim(w4, 2) == 3, dim(w4, 3) == 3, dim(w5, 2) == 3, "
             "dim(w5, 3) == 3");
  ExpectRule(kShipped, 127,
             "conv2d(i1, w4, pad=[1 1 1 1]), conv2d(i1, w5, pad=[1 1 1 1]) => "
             "let t0 = conv2d(i1, concat(w4, w5, axis=0), pad=[1 1 1 1]) in "
             "slice(t0, axis=1, from=0, to=dim(w4, 0)), "
             "slice(t0, axis=1, from=dim(w4, 0), to=end) "
             "where dim(w4, 2) == 3, dim(w4, 3) == 3, dim(w5, 2) == 3, "
             "dim(w5, 3) == 3");
}

TEST(ForeignTextTest, GeneratedRules) {
  SKIP_WITHOUT(RuleFile(kGenerated));
  ExpectRule(kGenerated, 115,
             "avg_pool(i1, kernel=[3 3], pad=[1 1 1 1], count_include_pad=1) "
             "=> conv2d(i1, div(fill(value=1, shape=[dim(i1, 1) 1 3 3]), "
             "fill(value=9, shape=[dim(i1, 1) 1 3 3])), pad=[1 1 1 1], "
             "group=dim(i1, 1))");
  ExpectRule(kGenerated, 152,
             "add(x1, matmul(x1, w1)) => "
             "matmul(x1, add(w1, eye(shape=[dim(w1, 0) dim(w1, 0)]))) "
             "where rank(x1) == 2");
  ExpectRule(kGenerated, 159,
             "conv2d(i1, w7, pad=[0 1 0 1]) => "
             "conv2d(i1, pad(w7, begin=[0 0 1 0], end=[0 0 1 0]), "
             "pad=[1 1 1 1]) where dim(w7, 2) == 1, dim(w7, 3) == 3");
  ExpectRule(kGenerated, 203,
             "matmul(x1, mul(eye(shape=[n0 n0]), broadcast(s0, dims=[]))) => "
             "mul(x1, broadcast(s0, dims=[])) where rank(x1) == 2");
  ExpectRule(kGenerated, 388,
             "relu(conv2d(i1, pad(reshape(eye(shape=[n0 n0]), "
             "shape=[n0 n0 1 1]), begin=[0 0 1 1], end=[0 0 1 1]), "
             "pad=[1 1 1 1])) => relu(i1)");
}

TEST(ForeignTextTest, UnitysRules) {
  SKIP_WITHOUT(RuleFile(kUnity));
  ExpectRule(kUnity, 0, "identity(identity(identity(v1))) => identity(v1)");
  ExpectRule(kUnity, 112,
             "tile(tile(tile(v1, repeats=[2 1 1]), repeats=[1 2 1]), "
             "repeats=[1 1 2]) => tile(tile(tile(v1, repeats=[1 1 2]), "
             "repeats=[2 1 1]), repeats=[1 2 1])");
  ExpectRule(kUnity, 448,
             "concat(matmul(slice(v1, axis=0, from=0, to=1), "
             "transpose(slice(v4, axis=0, from=0, to=1), perm=[0 2 1])), "
             "matmul(slice(v2, axis=0, from=0, to=1), "
             "transpose(slice(v4, axis=0, from=0, to=1), perm=[0 2 1])), "
             "axis=1) => matmul(slice(concat(v1, v2, axis=1), axis=0, from=0, "
             "to=1), transpose(slice(v4, axis=0, from=0, to=1), "
             "perm=[0 2 1]))");
  ExpectRule(kUnity, 544,
             "add(relu(v1), relu(v2)) => "
             "let t0 = relu(concat(v1, v2, axis=0)) in "
             "reduce_sum(reshape(t0, shape=[2 (dim(t0, 0) / 2) dim(t0, 1) "
             "dim(t0, 2)]), axes=[0]) where rank(v1) == 3");
  const ForeignRule& r = RulesOf(kUnity)[16];
  ASSERT_EQ(r.parallel.size(), 4u);
  EXPECT_EQ(r.parallel[0].kind, ParallelStep::Kind::kPartition);
  EXPECT_EQ(r.parallel[1].kind, ParallelStep::Kind::kCombine);
  EXPECT_EQ(r.parallel[1].dim, 1);
  EXPECT_FALSE(r.parallel[1].target);
  EXPECT_EQ(r.parallel[3].dim, 2);
  EXPECT_EQ(r.parallel[3].degree, 2);
  EXPECT_TRUE(r.parallel[3].target);
}

// ---- Rules made by hand

using Key = WireKey;

std::vector<WireParameter> Window(int kernel, int stride, int valid, int acti) {
  return {{Key::kKernelH, kernel}, {Key::kKernelW, kernel},
          {Key::kStrideH, stride}, {Key::kStrideW, stride},
          {Key::kPad, valid},      {Key::kActivation, acti}};
}

WireOp Concat(std::vector<WireTensor> parts, int axis, int rank) {
  const int n = static_cast<int>(parts.size());
  return {12,
          std::move(parts),
          {{Key::kNumInputs, n}, {Key::kAxis, axis}, {Key::kNumDim, rank}}};
}

WireOp Split(WireTensor x, int axis) {
  return {13, {x}, {{Key::kNumOutputs, 2}, {Key::kAxis, axis}}};
}

WireOp Parallel(int type, WireTensor x, int dim, int degree) {
  return {
      type, {x}, {{Key::kParallelDim, dim}, {Key::kParallelDegree, degree}}};
}

// The rule as text, or why it is rejected, or the file's error.
std::string TextOf(const WireRule& rule,
                   ForeignDialect dialect = ForeignDialect::kDetect) {
  auto rules = ReadForeignRules(SerializeWire({rule}), dialect);
  if (!rules.ok()) return std::string(rules.status().message());
  return (*rules)[0].rule ? Body(*(*rules)[0].rule) : (*rules)[0].rejected;
}

// A rule from the operator to itself.
WireRule Same(WireOp op) { return {{op}, {op}, {{{0, 0}, {0, 0}}}}; }

TEST(ForeignReadTest, ParametersBecomeAttributes) {
  EXPECT_EQ(TextOf(Same({3, {{-1, 0}, {-4, 0}}, Window(2, 2, 1, 3)})),
            "tanh(conv2d(x1, w1, stride=[2 2], pad=[0 0 0 0]))\n"
            "=> tanh(conv2d(x1, w1, stride=[2 2], pad=[0 0 0 0]))\n"
            "where dim(w1, 2) == 2, dim(w1, 3) == 2");
  EXPECT_EQ(TextOf(Same({6, {{-7, 0}}, Window(5, 1, 0, 1)})),
            "sigmoid(max_pool(i1, kernel=[5 5], pad=[2 2 2 2]))\n"
            "=> sigmoid(max_pool(i1, kernel=[5 5], pad=[2 2 2 2]))");
  EXPECT_EQ(
      TextOf(Same({15, {{-21, 0}}, {{Key::kNumDim, 3}, {Key::kPerm, 7}}})),
      "transpose(v21, perm=[0 2 1]) => transpose(v21, perm=[0 2 1])");
}

TEST(ForeignReadTest, SplitsUndoTheLastConcat) {
  EXPECT_EQ(TextOf({{Concat({{-1, 0}, {-2, 0}, {-3, 0}}, 0, 1),
                     Split({0, 0}, 0),
                     Split({1, 0}, 0),
                     {8, {{2, 1}}, {}}},
                    {{8, {{-2, 0}}, {}}},
                    {{{3, 0}, {0, 0}}}}),
            "let t0 = concat(x1, x2, x3, axis=0) in\n"
            "relu(slice(slice(t0, axis=0, from=0, to=dim(x1, 0) + dim(x2, 0)), "
            "axis=0, from=dim(x1, 0), to=end))\n"
            "=> relu(x2)\n"
            "where rank(x1) == 1");
}

TEST(ForeignReadTest, OperatorsMayComeInAnyOrder) {
  EXPECT_EQ(TextOf({{{8, {{1, 0}}, {}}, {9, {{-1, 0}}, {}}},
                    {{9, {{-1, 0}}, {}}},
                    {{{0, 0}, {0, 0}}}}),
            "relu(sigmoid(x1)) => sigmoid(x1)");
}

TEST(ForeignReadTest, NumbersMeanWhatTheirSystemMeans) {
  const WireOp op{28, {{-1, 0}, {-2, 0}}, {}};
  EXPECT_EQ(TextOf(Same(op)), "sub(x1, x2) => sub(x1, x2)");
  EXPECT_EQ(TextOf(Same(op), ForeignDialect::kUnity),
            "REPLICATE takes 1 operands, given 2");
  const WireOp replicate = Parallel(28, {-1, 0}, 1, 3);
  EXPECT_EQ(TextOf(Same(replicate)),
            "tile(v1, repeats=[1 3 1]) => tile(v1, repeats=[1 3 1])");
  EXPECT_EQ(TextOf(Same(replicate), ForeignDialect::kTaso),
            "EW_SUB takes 2 operands, given 1");
}

TEST(ForeignReadTest, RejectionsSayWhy) {
  EXPECT_EQ(TextOf(Same({11, {{-1, 0}}, {}})),
            "operator number 11 has no reading");
  EXPECT_EQ(TextOf(Same({16, {{-1, 0}}, {}})),
            "EW_ADD takes 2 operands, given 1");
  EXPECT_EQ(TextOf(Same({3, {{-1, 0}, {-4, 0}}, Window(3, 2, 0, 0)})),
            "CONV2D: SAME with kernel 3 and stride 2 pads by an amount that "
            "depends on sizes");
  EXPECT_EQ(TextOf(Same({3, {{-1, 0}, {-4, 0}}, Window(3, 1, 0, 4)})),
            "CONV2D: parameter 9 is 4, which is not in [0, 3]");
  EXPECT_EQ(TextOf(Same({3, {{-1, 0}, {-4, 0}}, {}})),
            "CONV2D lacks parameter 4");
  EXPECT_EQ(TextOf(Same({15, {{-1, 0}}, {{Key::kNumDim, 2}, {Key::kPerm, 3}}})),
            "TRANSPOSE: 3 codes no permutation of 2 dimensions");
  EXPECT_EQ(TextOf({{Concat({{-1, 0}, {-2, 0}}, 0, 2)},
                    {Concat({{-1, 0}, {-2, 0}}, 2, 2)},
                    {{{0, 0}, {0, 0}}}}),
            "CONCAT: parameter 11 is 2, which is not in [0, 1]");
  EXPECT_EQ(TextOf({{{8, {{-1, 0}}, {}}},
                    {{16, {{-1, 0}, {-2, 0}}, {}}},
                    {{{0, 0}, {0, 0}}}}),
            "the target uses input x2, which the source does not bind");
  EXPECT_EQ(TextOf({{Concat({{-1, 0}, {-2, 0}}, 0, 2), Split({0, 0}, 1)},
                    {{8, {{-1, 0}}, {}}},
                    {{{1, 0}, {0, 0}}}}),
            "SPLIT along dimension 1 of what no concat joined there");
  EXPECT_EQ(TextOf({{Concat({{-1, 0}, {-2, 0}}, 0, 2),
                     {3, {{0, 0}, {-3, 0}}, Window(3, 1, 0, 0)}},
                    {{8, {{-1, 0}}, {}}},
                    {{{1, 0}, {0, 0}}}}),
            "one tensor has rank 2 and rank 4");
  EXPECT_EQ(TextOf({{{8, {{-1, 0}}, {}}},
                    {{8, {{-1, 0}}, {}}, {8, {{0, 1}}, {}}},
                    {{{0, 0}, {1, 0}}}}),
            "RELU has no output 1");
  EXPECT_EQ(
      TextOf({{Concat({{-1, 0}, {-2, 0}}, 0, 4)},
              {{24, {}, {}}, {24, {}, {}}, Concat({{0, 0}, {1, 0}}, 0, 4)},
              {{{0, 0}, {2, 0}}}}),
      "nothing tells the size of a constant or part in the target");
}

// ---- Files that are wrong

TEST(ForeignFileErrorTest, NamesTheRuleAndTheReason) {
  const std::string good = SerializeWire({Same({8, {{-1, 0}}, {}})});
  auto error = [](const std::string& bytes) {
    auto rules = ReadForeignRules(bytes);
    return rules.ok() ? "no error" : std::string(rules.status().message());
  };
  EXPECT_EQ(error(good), "no error");
  EXPECT_EQ(error(""), "substitution file: it is empty");
  EXPECT_EQ(error("hello"),
            "substitution file: rule 0: byte 0 does not begin a rule");
  EXPECT_EQ(error(good + good.substr(0, good.size() - 1)),
            "substitution file: rule 1: the file ends inside it");
  EXPECT_EQ(error(good + "\x0a\x03"
                         "abc"),
            "substitution file: rule 1: the bytes are not those of a rule");
  EXPECT_EQ(error(good + std::string("\x0a\x00", 2)),
            "substitution file: rule 1: it has no source operators");
  EXPECT_EQ(error(good + "\x0a\x02\x20\x01"),
            "substitution file: rule 1: it has fields that the format does not "
            "have");
}

TEST(ForeignFileErrorTest, ReferencesMustExist) {
  EXPECT_EQ(TextOf(Same({8, {{7, 0}}, {}})),
            "substitution file: rule 0: source operator 0: an operand is "
            "operator 7, and there are 1");
  EXPECT_EQ(TextOf(Same({8, {{-2147483647 - 1, 0}}, {}})),
            "substitution file: rule 0: source operator 0: an operand is "
            "operator -2147483648, and there are 1");
  EXPECT_EQ(TextOf(Same({8, {{-1, 5}}, {}})),
            "substitution file: rule 0: source operator 0: an operand is "
            "output 5 of operator -1");
  EXPECT_EQ(TextOf({{{8, {{1, 0}}, {}}, {8, {{0, 0}}, {}}},
                    {{8, {{-1, 0}}, {}}},
                    {{{0, 0}, {0, 0}}}}),
            "substitution file: rule 0: source: operator 0 depends on itself");
  EXPECT_EQ(TextOf({{{8, {{-1, 0}}, {}}}, {}, {{{0, 0}, {3, 0}}}}),
            "substitution file: rule 0: an operand is operator 3, and there "
            "are 0");
  EXPECT_EQ(TextOf({{{8, {{-1, 0}}, {}}}, {}, {{{-1, 0}, {-1, 0}}}}),
            "substitution file: rule 0: an output of the source is an input");
  EXPECT_EQ(TextOf({{{8, {{-1, 0}}, {}}}, {}, {}}),
            "substitution file: rule 0: it has no outputs");
  EXPECT_EQ(TextOf(Same({8, {{-1, 0}}, {{9, 0}, {9, 1}}})),
            "substitution file: rule 0: source operator 0: parameter 9 is "
            "given twice");
}

// Whatever the bytes, reading ends with rules or an error.
TEST(ForeignFileErrorTest, DamagedFilesDoNotCrash) {
  const WireOp conv{3, {{-7, 0}, {-10, 0}}, Window(3, 1, 0, 2)};
  const std::string good = SerializeWire(
      {Same(conv),
       {{Concat({{-1, 0}, {-2, 0}}, 1, 2), Split({0, 0}, 1)},
        {{8, {{-1, 0}}, {}}},
        {{{1, 0}, {0, 0}}}},
       {{{17, {{-1, 0}, {-2, 0}}, {}}, {19, {{0, 0}, {-20, 0}}, {}}},
        {{22, {}, {}}, {18, {{-1, 0}, {0, 0}}, {{9, 0}}}},
        {{{1, 0}, {1, 0}}}}});
  std::mt19937_64 random(3);
  int errors = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string bytes = good;
    for (int n = 1 + random() % 3; n > 0; --n) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    for (ForeignDialect d : {ForeignDialect::kTaso, ForeignDialect::kUnity}) {
      errors += !ReadForeignRules(bytes, d).ok();
    }
  }
  EXPECT_GT(errors, 100);
  EXPECT_LT(errors, 2900);
}

// ---- Writing

TEST(ForeignWriteTest, ReadingGivesBackWhatWasWritten) {
  for (const char* file : {kShipped, kGenerated}) {
    SKIP_WITHOUT(RuleFile(file));
    const std::vector<RuleSyntax> rules = Imported(RulesOf(file));
    std::vector<std::string> not_expressible;
    auto written = WriteForeignRules(rules, &not_expressible);
    ASSERT_TRUE(written.ok()) << written.status();
    EXPECT_EQ(not_expressible, std::vector<std::string>());
    const std::vector<RuleSyntax> again = Imported(Read(*written));
    ASSERT_EQ(again.size(), rules.size());
    for (size_t i = 0; i < rules.size(); ++i) {
      EXPECT_EQ(PrintRule(again[i]), PrintRule(rules[i]));
    }
  }
}

std::vector<RuleSyntax> Parsed(std::vector<std::string> texts) {
  std::vector<RuleSyntax> out;
  for (const std::string& text : texts) {
    auto rule = ParseRuleBody(text);
    EXPECT_TRUE(rule.ok()) << rule.status();
    out.push_back(*std::move(rule));
    out.back().name = absl::StrCat("r", out.size());
  }
  return out;
}

TEST(ForeignWriteTest, RulesInOurOwnNames) {
  std::vector<std::string> left_out;
  auto written = WriteForeignRules(
      Parsed({"matmul(a, add(b, c)) <=> add(matmul(a, b), matmul(a, c))",
              "let m = relu(concat(p, q, axis=0)) in m => "
              "concat(relu(p), relu(q), axis=0) where rank(p) == 3"}),
      &left_out);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(left_out, std::vector<std::string>());
  std::vector<std::string> texts;
  for (const RuleSyntax& r : Imported(Read(*written))) {
    texts.push_back(Body(r));
  }
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "matmul(v21, add(v22, v23)) => "
                       "add(matmul(v21, v22), matmul(v21, v23))",
                       "add(matmul(v21, v22), matmul(v21, v23)) => "
                       "matmul(v21, add(v22, v23))",
                       "relu(concat(v21, v22, axis=0))\n=> "
                       "concat(relu(v21), relu(v22), axis=0)\n"
                       "where rank(v21) == 3"}));
}

TEST(ForeignWriteTest, SaysWhatTheFormatCannotSay) {
  std::vector<std::string> left_out;
  auto written = WriteForeignRules(
      Parsed({"relu(x) => relu(x)", "erf(x) => erf(x)",
              "relu(concat(x, y, axis=0)) => "
              "concat(relu(x), relu(y), axis=0)",
              "relu(relu(x)) => relu(x) where rank(x) == 2",
              "relu(x) => choose e in 1..2: tile(relu(x), repeats=[e])",
              "conv2d(x, w, pad=[1 1 1 1]) => conv2d(x, w, pad=[1 1 1 1])"}),
      &left_out);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(Imported(Read(*written)).size(), 1u);
  ASSERT_EQ(left_out.size(), 5u);
  EXPECT_EQ(left_out[0], "r2: the format has no words for erf(x)");
  EXPECT_EQ(left_out[1],
            "r3: it would be read as relu(concat(x, y, axis=0))\n"
            "=> concat(relu(x), relu(y), axis=0)\nwhere rank(x) == 2");
  EXPECT_EQ(left_out[2], "r4: it would be read as relu(relu(x)) => relu(x)");
  EXPECT_EQ(left_out[3], "r5: the format has no choose");
  EXPECT_TRUE(absl::StrContains(left_out[4], "where dim(w, 2) == 3"));
  EXPECT_EQ(WriteForeignRules(Parsed({"erf(x) => erf(x)"}), &left_out)
                .status()
                .message(),
            "substitution file: none of 1 rules can be written");
}

}  // namespace
}  // namespace isomer::ir
