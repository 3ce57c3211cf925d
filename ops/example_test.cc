// Calls as text: what is read, and that errors say where.
#include "ops/example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_join.h"

namespace isomer {
namespace {

using ::testing::HasSubstr;

// Prints an example in a canonical form, or its error.
std::string Read(absl::string_view text) {
  absl::StatusOr<Example> e = ParseExample(text);
  if (!e.ok()) return std::string(e.status().message());
  auto tensors = [](const std::vector<Tensor>& list) {
    return absl::StrJoin(list, " & ", [](std::string* out, const Tensor& t) {
      absl::StrAppend(out, TypeText(t.type), " ", TensorText(t));
    });
  };
  return absl::StrCat(e->op, " | ", tensors(e->inputs), " | ",
                      AttrsText<int64_t>(e->attrs), " | ", tensors(e->outputs));
}

std::string ReadTyped(absl::string_view text) {
  absl::StatusOr<TypedCall> c = ParseTypedCall(text);
  return c.ok() ? TypedCallText(*c) : std::string(c.status().message());
}

TEST(ExampleTest, ReadsCalls) {
  EXPECT_EQ(Read("concat([1 2], [3], axis=0) = [1 2 3]"),
            "concat | f32[2] [1 2] & f32[1] [3] | axis=0 | f32[3] [1 2 3]");
  EXPECT_EQ(Read(" neg ( [[1] [2]]:i64 ) = [[-1] [-2]]:i64 "),
            "neg | i64[2,1] [[1] [2]] |  | i64[2,1] [[-1] [-2]]");
  EXPECT_EQ(Read("topk([3 1], k=1) = [3]; [0]:i64"),
            "topk | f32[2] [3 1] | k=1 | f32[1] [3] & i64[1] [0]");
  EXPECT_EQ(Read("iota(n=3) = 2"), "iota |  | n=3 | f32[] 2");
  EXPECT_EQ(Read("not([true false]) = [false true]"),
            "not | bool[2] [true false] |  | bool[2] [false true]");
}

TEST(ExampleTest, ReadsAttributes) {
  EXPECT_EQ(
      Read("f(1, a=-3, b=[1 -2], c=-0.5, d=[0.5 1], e=nearest, g=[]) = 1"),
      "f | f32[] 1 | a=-3, b=[1 -2], c=-0.5, d=[0.5 1], e=nearest, g=[] "
      "| f32[] 1");
  EXPECT_EQ(Read("f(1, low=-inf, eps=1e-05) = 1"),
            "f | f32[] 1 | low=-inf, eps=1e-05 | f32[] 1");
}

TEST(ExampleTest, ReadsTypedCalls) {
  EXPECT_EQ(ReadTyped("conv2d(f32[2,4,5,5], f32[6,2,3,3], group=2)"),
            "conv2d(f32[2,4,5,5], f32[6,2,3,3], group=2)");
  EXPECT_EQ(ReadTyped("reduce( f16[4]@{m:2} ,axis = m )"),
            "reduce(f16[4]@{m:2}, axis=m)");
  EXPECT_EQ(ReadTyped("fill(shape=[2 3], value=0.5)"),
            "fill(shape=[2 3], value=0.5)");
}

TEST(ExampleTest, ErrorsSayWhere) {
  EXPECT_EQ(Read(""), "call '': expected the name of an operator at column 1");
  EXPECT_EQ(Read("f"), "call 'f': expected '(' at column 2");
  EXPECT_EQ(Read("f([1 2) = 1"),
            "call 'f([1 2) = 1': expected ')' at column 12");
  EXPECT_EQ(Read("f(1,,2) = 1"),
            "call 'f(1,,2) = 1': expected an argument at column 5");
  EXPECT_EQ(Read("f(1)"),
            "call 'f(1)': expected '=' and the outputs at column 5");
  EXPECT_EQ(Read("f(1) ="), "call 'f(1) =': expected an output at column 7");
  EXPECT_EQ(Read("f(a=1, 2) = 1"),
            "call 'f(a=1, 2) = 1': an operand after an attribute at column 8");
  EXPECT_EQ(
      Read("f(1, a=1, a=2) = 1"),
      "call 'f(1, a=1, a=2) = 1': attribute 'a' comes twice at column 11");
  EXPECT_EQ(Read("f(1, 2=1) = 1"),
            "call 'f(1, 2=1) = 1': expected the name of an attribute at column "
            "6");
  EXPECT_THAT(Read("f(1, a=[1 x]) = 1"),
              HasSubstr("'[1 x]' is no attribute value"));
  EXPECT_THAT(Read("f([1 [2]]) = 1"), HasSubstr("a list where a number was"));
  EXPECT_THAT(ReadTyped("f(q8[2])"), HasSubstr("q8"));
  EXPECT_EQ(ReadTyped("f(f32[2]) = 1"),
            "call 'f(f32[2]) = 1': unexpected text after the call at column "
            "11");
}

}  // namespace
}  // namespace isomer
