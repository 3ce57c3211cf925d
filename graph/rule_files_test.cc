// The rules that come with Isomer: every file checks, prints back as it is
// written, survives the binary form, and holds on random instances.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "graph/evaluate.h"
#include "graph/instance.h"
#include "graph/rule.h"
#include "graph/rule_pb.h"
#include "graph/rule_syntax.h"
#include "graph/text.h"

namespace isomer::ir {
namespace {

std::string FileText(const std::string& name) {
  std::ifstream in("rules/" + name);
  EXPECT_TRUE(in.good()) << name;
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

// Largest difference of the outputs in double, on positive inputs so that
// roots and logarithms exist.
double Difference(const RuleInstance& instance, std::mt19937_64& random) {
  std::map<std::string, Tensor> inputs;
  for (NodeId id : instance.source.inputs()) {
    const TensorType& type = instance.source.type({id, 0});
    std::vector<double> values;
    for (int64_t i = 0; i < NumElements(type); ++i) {
      values.push_back(static_cast<double>(1 + random() % 16) / 8);
    }
    inputs.emplace(*instance.source.node(id).name,
                   FromDoubles(type, values, Interp::kReal));
  }
  EvaluateOptions options;
  options.interp = Interp::kReal;
  auto a = Evaluate(instance.source, inputs, options);
  auto b = Evaluate(instance.target, inputs, options);
  EXPECT_TRUE(a.ok()) << a.status();
  EXPECT_TRUE(b.ok()) << b.status();
  double worst = 0;
  for (size_t k = 0; a.ok() && b.ok() && k < a->size(); ++k) {
    const std::vector<double> x = ToDoubles((*a)[k]), y = ToDoubles((*b)[k]);
    for (size_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, std::abs(x[i] - y[i]) / (1 + std::abs(x[i])));
    }
  }
  return worst;
}

class RuleFilesTest : public testing::TestWithParam<const char*> {};

TEST_P(RuleFilesTest, ChecksAndHolds) {
  auto file = ParseRuleFile(FileText(GetParam()));
  ASSERT_TRUE(file.ok()) << file.status();
  auto binary = DeserializeRules(SerializeRules(*file));
  ASSERT_TRUE(binary.ok()) << binary.status();
  EXPECT_TRUE(*binary == *file);
  auto set = CheckRules(*file);
  ASSERT_TRUE(set.ok()) << set.status();
  std::mt19937_64 random(11);
  for (const Rule& rule : set->rules) {
    SCOPED_TRACE(PrintRule(rule.syntax()));
    int instances = 0;
    const size_t stride = 1 + rule.cases().size() / 8;
    for (size_t i = 0; i < rule.cases().size(); i += stride) {
      auto instance =
          MakeInstance(rule, rule.cases()[i], random, {.floats = DType::kF64});
      if (!instance.ok()) continue;
      ++instances;
      EXPECT_LT(Difference(*instance, random), 1e-10)
          << PrintGraph(instance->source) << PrintGraph(instance->target);
    }
    EXPECT_GT(instances, 0);
  }
}

TEST_P(RuleFilesTest, IsWrittenInCanonicalForm) {
  const std::string text = FileText(GetParam());
  auto file = ParseRuleFile(text);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(PrintRuleFile(*file), text);
}

INSTANTIATE_TEST_SUITE_P(Files, RuleFilesTest,
                         testing::Values("axioms.rules", "chosen.rules",
                                         "hand_written.rules"),
                         [](const auto& info) {
                           const std::string file = info.param;
                           return file.substr(0, file.find('.'));
                         });

}  // namespace
}  // namespace isomer::ir
