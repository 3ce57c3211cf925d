// The operator table.
#include "ops/registry.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

TEST(RegistryTest, FindsOperatorsByName) {
  ASSERT_NE(Ops().Find("matmul"), nullptr);
  EXPECT_EQ(Ops().Find("matmul")->name, "matmul");
  EXPECT_EQ(Ops().Find("MatMul"), nullptr);
  EXPECT_EQ(Ops().Find(""), nullptr);
}

TEST(RegistryTest, IsSortedByName) {
  const std::vector<const OpDef*>& all = Ops().all();
  ASSERT_FALSE(all.empty());
  for (size_t i = 1; i < all.size(); ++i) {
    EXPECT_LT(all[i - 1]->name, all[i]->name);
  }
}

TEST(RegistryTest, EveryOperatorCanBeTypedAndRun) {
  for (const OpDef* op : Ops().all()) {
    EXPECT_TRUE(op->infer.numbers && op->infer.symbols) << op->name;
    EXPECT_TRUE(op->element || op->eval || op->is_composite()) << op->name;
    EXPECT_FALSE(op->element && op->eval)
        << op->name << " has two definitions of its meaning";
    EXPECT_TRUE(!op->commutative || op->inputs.names.size() == 2) << op->name;
  }
}

TEST(RegistryDeathTest, TwoOperatorsOfOneNameAreABug) {
  OpDef op;
  op.name = "f";
  EXPECT_DEATH(Registry({op, op}), "operator 'f' is defined twice");
}

}  // namespace
}  // namespace isomer
