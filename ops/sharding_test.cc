// Shardings of well-known operators, and of small ones made to tempt: each of
// those would be wrong if a condition of the derivation were dropped.
#include "ops/sharding.h"

#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "ops/example.h"
#include "ops/registry.h"

namespace isomer {
namespace {

std::string Join(const absl::StatusOr<std::vector<Sharding>>& list) {
  if (!list.ok()) return std::string(list.status().message());
  return absl::StrJoin(*list, "; ", [](std::string* out, const Sharding& s) {
    absl::StrAppend(out, ShardingText(s));
  });
}

std::string Of(absl::string_view text) {
  absl::StatusOr<TypedCall> call = ParseTypedCall(text);
  if (!call.ok()) return std::string(call.status().message());
  const OpDef* op = Ops().Find(call->op);
  if (op == nullptr) return "no such operator";
  return Join(LegalShardings(*op, call->inputs, call->attrs));
}

TEST(ShardingTest, Matmul) {
  EXPECT_EQ(Of("matmul(f32[4,6], f32[6,8])"), "0,- -> 0; -,1 -> 1; 1,0 -> sum");
  // Equal sizes are told apart.
  EXPECT_EQ(Of("matmul(f32[4,4], f32[4,4])"), "0,- -> 0; -,1 -> 1; 1,0 -> sum");
  EXPECT_EQ(Of("matmul(f32[2,4,6], f32[2,6,8])"),
            "0,0 -> 0; 1,- -> 1; -,2 -> 2; 2,1 -> sum");
  EXPECT_EQ(Of("matmul(f32[2,4,6], f32[6,8])"),
            "0,- -> 0; 1,- -> 1; -,1 -> 2; 2,0 -> sum");
}

TEST(ShardingTest, Convolution) {
  EXPECT_EQ(Of("conv2d(f32[2,4,8,8], f32[6,4,3,3], pad=[1 1 1 1])"),
            "0,- -> 0; -,0 -> 1; 1,1 -> sum");
  // The channels of a grouped convolution belong together.
  EXPECT_EQ(Of("conv2d(f32[2,4,8,8], f32[6,2,3,3], group=2)"), "0,- -> 0");
}

TEST(ShardingTest, MovingElements) {
  EXPECT_EQ(Of("concat(f32[4,2], f32[4,6], axis=1)"), "0,0 -> 0");
  EXPECT_EQ(Of("transpose(f32[4,6], perm=[1 0])"), "1 -> 0; 0 -> 1");
  EXPECT_EQ(Of("gather(f32[4,6], i64[2], axis=0)"), "-,0 -> 0; 1,- -> 1");
  EXPECT_EQ(Of("reshape(f32[4,6], shape=[4 2 3])"), "0 -> 0 with shape[0]");
}

TEST(ShardingTest, AnIllTypedCallIsAnError) {
  EXPECT_EQ(Of("matmul(f32[4,6], f32[5,8])"),
            "matmul: inner dimensions differ (6 and 5): f32[4,6] and f32[5,8]");
}

TEST(ShardingTest, SymbolicSizes) {
  const DimExpr n = DimExpr::Symbol("n"), m = DimExpr::Symbol("m");
  const std::vector<SymType> types = {{DType::kF32, {n, m}},
                                      {DType::kF32, {m, n}}};
  EXPECT_EQ(Join(LegalShardings(*Ops().Find("matmul"), types, {})),
            "0,- -> 0; -,1 -> 1; 1,0 -> sum");
}

// An operator on one vector, with this element function.
template <class F>
std::string Temptation(F element) {
  const OpDef op{.name = "tempt",
                 .inputs = Inputs({"x"}),
                 .infer = InferLikeFirst(),
                 .element = Element(element)};
  const std::vector<TensorType> types = {*ParseType("f32[4,4]")};
  return Join(LegalShardings(op, types, {}));
}

TEST(ShardingTest, OnlyPlainIndicesCount) {
  // The identity, to see that the frame is right.
  EXPECT_EQ(Temptation([](const auto& c) {
              return [&c](const auto& i) { return c.At(0, i); };
            }),
            "0 -> 0; 1 -> 1");
  // The rows in reverse.
  EXPECT_EQ(Temptation([](const auto& c) {
              return [&c](const auto& i) {
                auto at = i;
                at[0] = c.dim(0, 0) - 1 - i[0];
                return c.At(0, at);
              };
            }),
            "1 -> 1");
  // x plus its transpose: one input, two dimensions for each index.
  EXPECT_EQ(Temptation([](const auto& c) {
              return [&c](const auto& i) {
                auto at = i;
                std::swap(at[0], at[1]);
                return c.At(0, i) + c.At(0, at);
              };
            }),
            "");
  // The diagonal.
  EXPECT_EQ(Temptation([](const auto& c) {
              return [&c](const auto& i) {
                auto at = i;
                at[1] = i[0];
                return c.At(0, at);
              };
            }),
            "");
}

TEST(ShardingTest, SizesAndIndicesMustNotMatterOtherwise) {
  // Divided by the number of rows: the element is right, its value is not.
  EXPECT_EQ(Temptation([](const auto& c) {
              return [&c](const auto& i) {
                return c.At(0, i) / c.FromIndex(c.dim(0, 0));
              };
            }),
            "1 -> 1");
  // The first row doubled.
  EXPECT_EQ(Temptation([](const auto& c) {
              return [&c](const auto& i) {
                return c.If(
                    c.Eq(i[0], 0), [&] { return c.At(0, i) + c.At(0, i); },
                    [&] { return c.At(0, i); });
              };
            }),
            "1 -> 1");
  // A guard that always holds does not matter.
  EXPECT_EQ(Temptation([](const auto& c) {
              return [&c](const auto& i) {
                return c.If(
                    c.Lt(i[0], c.dim(0, 0)), [&] { return c.At(0, i); },
                    [&] { return c.Const(0); });
              };
            }),
            "0 -> 0; 1 -> 1");
}

// An operator from a matrix to a vector with one element per row.
template <class F>
std::string PerRow(F element) {
  const OpDef op{.name = "tempt",
                 .inputs = Inputs({"x"}),
                 .infer = Infer([](auto& c) -> Types<DimOf<decltype(c)>> {
                   auto out = c.in(0);
                   out.shape.pop_back();
                   return std::vector{out};
                 }),
                 .element = Element(element)};
  const std::vector<TensorType> types = {*ParseType("f32[4,4]")};
  return Join(LegalShardings(op, types, {}));
}

constexpr auto RowSum = [](const auto& c, const auto& i) {
  return c.Sum({c.dim(0, 1)}, [&](const auto& k) {
    auto at = i;
    at.push_back(k[0]);
    return c.At(0, at);
  });
};

TEST(ShardingTest, OnlyOutermostSumsAreCut) {
  EXPECT_EQ(PerRow([](const auto& c) {
              return [&c](const auto& i) { return RowSum(c, i); };
            }),
            "0 -> 0; 1 -> sum");
  EXPECT_EQ(PerRow([](const auto& c) {
              return [&c](const auto& i) { return Exp(RowSum(c, i)); };
            }),
            "0 -> 0");
  // A mean divides by the size that would be cut.
  EXPECT_EQ(PerRow([](const auto& c) {
              return [&c](const auto& i) {
                return RowSum(c, i) / c.FromIndex(c.dim(0, 1));
              };
            }),
            "0 -> 0");
}

}  // namespace
}  // namespace isomer
