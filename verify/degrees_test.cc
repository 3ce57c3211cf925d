// Parallel degrees of rules made by hand.
#include "verify/degrees.h"

#include "gtest/gtest.h"

namespace isomer::verify {
namespace {

using Key = ir::WireKey;

constexpr int kRelu = 8, kAdd = 16, kLinear = 5, kPartition = 26, kCombine = 27,
              kReplicate = 28, kReduce = 29;

ir::WireOp Parallel(int type, ir::WireTensor x, int dim, int degree) {
  return {
      type, {x}, {{Key::kParallelDim, dim}, {Key::kParallelDegree, degree}}};
}

std::string Judge(std::vector<ir::WireOp> source,
                  std::vector<ir::WireOp> target) {
  const int s = static_cast<int>(source.size()) - 1;
  const int t = static_cast<int>(target.size()) - 1;
  return JudgeDegrees(
      {std::move(source), std::move(target), {{{s, 0}, {t, 0}}}});
}

TEST(DegreesTest, WhatIsUndoneIsKept) {
  EXPECT_EQ(Judge({{kRelu, {{-1, 0}}}}, {Parallel(kPartition, {-1, 0}, 1, 2),
                                         {kRelu, {{0, 0}}},
                                         Parallel(kCombine, {1, 0}, 1, 2)}),
            "kept");
  EXPECT_EQ(Judge({Parallel(kReplicate, {-1, 0}, 0, 4)},
                  {Parallel(kReplicate, {-1, 0}, 0, 2),
                   Parallel(kReplicate, {0, 0}, 0, 2)}),
            "kept");
}

TEST(DegreesTest, WhatIsNotUndoneIsChanged) {
  EXPECT_EQ(Judge({{kRelu, {{-1, 0}}}},
                  {Parallel(kPartition, {-1, 0}, 1, 2), {kRelu, {{0, 0}}}}),
            "changed: output 0 from {} to {1:2}");
  EXPECT_EQ(Judge({Parallel(kPartition, {-1, 0}, 0, 2)},
                  {Parallel(kPartition, {-1, 0}, 1, 2)}),
            "changed: output 0 from {0:2} to {1:2}");
  EXPECT_EQ(Judge({{kRelu, {{-1, 0}}}}, {Parallel(kReduce, {-1, 0}, 0, 3)}),
            "changed: output 0 from {} to {0:1/3}");
}

TEST(DegreesTest, WhatIsNotWrittenDownIsUnknown) {
  EXPECT_EQ(
      Judge({{kAdd, {{-1, 0}, {-2, 0}}}},
            {Parallel(kPartition, {-1, 0}, 1, 2), {kAdd, {{0, 0}, {-2, 0}}}}),
      "unknown: EW_ADD of operands with degrees {1:2} and {}");
  EXPECT_EQ(Judge({{kLinear, {{-1, 0}, {-2, 0}}}},
                  {Parallel(kReplicate, {-1, 0}, 0, 2),
                   {kLinear, {{0, 0}, {-2, 0}}}}),
            "unknown: LINEAR of an operand with degrees {0:2}");
  EXPECT_EQ(Judge({{kRelu, {{-1, 0}}}}, {{11, {{-1, 0}}}}),
            "unknown: operator number 11");
  EXPECT_EQ(Judge({{kRelu, {{-1, 0}}}}, {{kPartition, {{-1, 0}}}}),
            "unknown: PARTITION without a degree");
}

}  // namespace
}  // namespace isomer::verify
