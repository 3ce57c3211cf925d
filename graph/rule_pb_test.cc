// The binary form says what the text says, and refuses what the text cannot.
#include "graph/rule_pb.h"

#include <gtest/gtest.h>

#include <string>

#include "graph/rules.pb.h"

namespace isomer::ir {
namespace {

constexpr absl::string_view kText = R"(# A comment.
rule merge_matmuls:
  matmul(x, y), matmul(x, z)
  => let m = matmul(x, concat(y, z, axis=-1)) in
     slice(m, axis=-1, from=0, to=dim(y, -1)), slice(m, axis=-1, from=dim(y, -1), to=end)
  where rank(x) >= 2, const(y), 2 divides dim(y, 0)

# Another.
fold merge_matmuls

rule r:
  conv2d(x, w, pad=p, mode=word, eps=-0.5)
  => choose e in 1..2 * 3:
     conv2d(x, pad(w, [0 (e - 1)], axes=range(1, rank(x))), pad=-p + e, k=mod(e, 2) / 1).1

rule s: mul(x, -inf) <=> mul(real(floordiv(a, 2)), x)

# The end.
)";

TEST(RulePbTest, SaysWhatTheTextSays) {
  auto file = ParseRuleFile(kText);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string bytes = SerializeRules(*file);
  EXPECT_TRUE(IsRulesPb(bytes));
  auto again = DeserializeRules(bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(*again == *file);
  EXPECT_EQ(PrintRuleFile(*again), kText);
}

// The error for a file that `change` was done to.
template <class Change>
std::string Refused(Change change) {
  auto file = ParseRuleFile("rule r: f(x, a=1 + 2) => x where const(x)");
  EXPECT_TRUE(file.ok());
  rules_pb::RuleFile pb;
  EXPECT_TRUE(pb.ParseFromString(SerializeRules(*file)));
  change(pb);
  auto read = DeserializeRules(pb.SerializeAsString());
  return read.ok() ? "no error" : std::string(read.status().message());
}

TEST(RulePbTest, RefusesOtherFiles) {
  EXPECT_FALSE(IsRulesPb("rule r: f(x) => x"));
  EXPECT_FALSE(IsRulesPb(""));
  EXPECT_EQ(DeserializeRules("rule r").status().message(),
            "rules: the bytes are not a protobuf of rules");
  EXPECT_EQ(DeserializeRules("").status().message(),
            "rules: the file is not one of Isomer's rules");
  EXPECT_EQ(Refused([](auto& pb) { pb.set_version(2); }),
            "rules: the file has version 2; this program reads version 1");
  const std::string whole = SerializeRules(*ParseRuleFile(kText));
  EXPECT_FALSE(DeserializeRules(whole.substr(0, whole.size() / 2)).ok());
}

TEST(RulePbTest, RefusesTreesThatNoTextHas) {
  auto value = [](rules_pb::RuleFile& pb) {
    return pb.mutable_items(0)
        ->mutable_rule()
        ->mutable_source()
        ->mutable_outputs(0)
        ->mutable_attrs(0)
        ->mutable_value();
  };
  EXPECT_EQ(Refused([&](auto& pb) { value(pb)->clear_args(); }),
            "rules: a value of kind 3 has 2 arguments, not 0");
  EXPECT_EQ(Refused([&](auto& pb) {
              value(pb)->set_kind(static_cast<rules_pb::Value::Kind>(99));
            }),
            "rules: no kind of value has number 99");
  EXPECT_EQ(Refused([&](auto& pb) {
              value(pb)->mutable_args(0)->set_kind(rules_pb::Value::NAME);
              value(pb)->mutable_args(0)->set_name("a b");
            }),
            "rules: in the canonical text: 1:18: expected ',' or ')', found "
            "'b'");
  EXPECT_EQ(Refused([&](auto& pb) {
              value(pb)->mutable_args(0)->set_name("ignored");
            }),
            "rules: the tree is not one that a text can have");
  EXPECT_EQ(Refused([](auto& pb) {
              pb.mutable_items(0)->mutable_rule()->clear_target();
            }),
            "rules: in the canonical text: 1:27: expected an operator, a "
            "variable or a number; 'where' is a word of the language");
  EXPECT_EQ(Refused([](auto& pb) { pb.add_items()->set_fold("q"); }),
            "rules: in the canonical text: 3:6: no rule 'q' comes before its "
            "fold");
  EXPECT_EQ(Refused([](auto& pb) { pb.add_items(); }),
            "rules: an item is neither a rule nor a fold");
}

}  // namespace
}  // namespace isomer::ir
