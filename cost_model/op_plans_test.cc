// The table of operators covers the registry and nothing else.
#include "cost_model/op_plans.h"

#include "gtest/gtest.h"
#include "ops/registry.h"

namespace isomer::cost {
namespace {

TEST(OpPlansTest, EveryOperatorHasAnEntry) {
  for (const OpDef* op : Ops().all()) {
    EXPECT_TRUE(FindOpPlan(op->name)) << op->name;
  }
}

TEST(OpPlansTest, AnUnknownOperatorIsACoreOfItsOwn) {
  EXPECT_FALSE(FindOpPlan("no_such_operator"));
  EXPECT_FALSE(FindOpPlan(""));
  const OpPlan plan = OpPlanOf("no_such_operator");
  EXPECT_EQ(plan.op_class, OpClass::kCore);
  EXPECT_EQ(plan.family, Family::kOther);
}

TEST(OpPlansTest, NamesReadBack) {
  for (int i = 0; i < kNumOpClasses; ++i) {
    const OpClass c = static_cast<OpClass>(i);
    EXPECT_EQ(*ParseOpClass(OpClassName(c)), c);
  }
  for (int i = 0; i < kNumFamilies; ++i) {
    const Family f = static_cast<Family>(i);
    EXPECT_EQ(*ParseFamily(FamilyName(f)), f);
  }
}

TEST(OpPlansTest, UnknownNamesAreErrorsThatListThem) {
  EXPECT_EQ(ParseOpClass("conv").status().message(),
            "there is no class of operators 'conv'; there are pointwise, cast, "
            "reshape, transpose, slice, broadcast, index, concat, generate, "
            "core");
  EXPECT_EQ(ParseFamily("gemm").status().message(),
            "there is no family of kernels 'gemm'; there are pointwise, copy, "
            "matmul, conv, reduce, norm, softmax, attention, pool, scatter, "
            "sort, collective, other");
}

}  // namespace
}  // namespace isomer::cost
