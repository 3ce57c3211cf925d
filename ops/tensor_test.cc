// Tensors: text, memory and interpretations.
#include "ops/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isomer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Read(absl::string_view text) {
  absl::StatusOr<Tensor> t = ParseTensor(text);
  if (!t.ok()) return std::string(t.status().message());
  return absl::StrCat(TypeText(t->type), " ", TensorText(*t));
}

TEST(TensorTest, ReadsAndPrintsText) {
  EXPECT_EQ(Read("3"), "f32[] 3");
  EXPECT_EQ(Read("[1 2.5 -3]"), "f32[3] [1 2.5 -3]");
  EXPECT_EQ(Read("[[1 2] [3 4]]:i64"), "i64[2,2] [[1 2] [3 4]]");
  EXPECT_EQ(Read("[true false]"), "bool[2] [true false]");
  EXPECT_EQ(Read("[]"), "f32[0] []");
  EXPECT_EQ(Read("[[] []]"), "f32[2,0] [[] []]");
  EXPECT_EQ(Read(" [ 1e2  -inf ] : f64 "), "f64[2] [100 -inf]");
  EXPECT_EQ(Read("[0.1]:f16"), "f16[1] [0.099975586]");
}

TEST(TensorTest, RefusesWhatIsNoTensor) {
  EXPECT_EQ(Read(""), "tensor '': expected a number at column 1");
  EXPECT_EQ(Read("[1 x]"), "tensor '[1 x]': expected a number at column 4");
  EXPECT_EQ(Read("[1 2"), "tensor '[1 2': missing ] at column 5");
  EXPECT_EQ(Read("[1] 2"), "tensor '[1] 2': unexpected text at column 5");
  EXPECT_THAT(Read("[[1] [2 3]]"), HasSubstr("differ in length"));
  EXPECT_THAT(Read("[1 [2]]"), HasSubstr("a list where a number was"));
  EXPECT_THAT(Read("[[1] 2]"), HasSubstr("a number where a list was"));
  EXPECT_THAT(Read("[1]:f8"), HasSubstr("f8"));
  EXPECT_THAT(Read(std::string(30, '[')), HasSubstr("nested too deeply"));
}

TEST(TensorTest, BytesGoBothWays) {
  for (const char* text :
       {"[1 -2 0.5]", "[1 -2 0.5]:f16", "[1 -2 0.5]:bf16", "[1 -2 0.5]:f64",
        "[1 -2 3]:i8", "[1 -2 3]:i16", "[1 -2 3]:i32", "[1 -2 3]:i64",
        "[1 255]:u8", "[1 65535]:u16", "[1 4294967295]:u32", "[1 2]:u64",
        "[true false]"}) {
    const Tensor t = *ParseTensor(text);
    const std::string bytes = ToBytes(t);
    EXPECT_EQ(static_cast<int64_t>(bytes.size()),
              t.size() * ByteSize(t.type.dtype));
    absl::StatusOr<Tensor> back = FromBytes(t.type, bytes, Interp::kRun);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(TensorText(*back), TensorText(t)) << text;
  }
  EXPECT_EQ(ToBytes(*ParseTensor("[1]:f16")), std::string("\x00\x3c", 2));
  EXPECT_EQ(ToBytes(*ParseTensor("[258]:i32")), std::string("\2\1\0\0", 4));
}

TEST(TensorTest, WrongNumberOfBytesIsRefused) {
  EXPECT_EQ(FromBytes(*ParseType("f32[2]"), std::string(7, 0), Interp::kRun)
                .status()
                .message(),
            "tensor f32[2] needs 8 bytes, given 7");
}

TEST(TensorTest, InterpretationsHoldTheSameNumbers) {
  const Tensor t = *ParseTensor("[1.5 -2]");
  EXPECT_EQ(TensorText(*Reinterpret(t, Interp::kReal)), "[1.5 -2]");
  const Tensor field = *Reinterpret(t, Interp::kField);
  EXPECT_EQ(field.as<Field>()[0] + field.as<Field>()[0], Field::FromInt(3));
  const Tensor exact = *Reinterpret(t, Interp::kInteger);
  EXPECT_FALSE(exact.as<Int>()[0].ok());
  EXPECT_EQ(exact.as<Int>()[1].value(), -2);
  EXPECT_EQ(TensorText(*Reinterpret(t, Interp::kSymbolic)), "[3/2 -2]");
  // Integer tensors are integers under every interpretation.
  EXPECT_EQ(TensorText(*Reinterpret(*ParseTensor("[7]:i32"), Interp::kField)),
            "[7]");
}

TEST(TensorTest, WhatHoldsNoNumbersCannotBeReinterpreted) {
  const Tensor field = *Reinterpret(*ParseTensor("[1]"), Interp::kField);
  EXPECT_THAT(std::string(Reinterpret(field, Interp::kReal).status().message()),
              HasSubstr("does not hold numbers"));
}

TEST(TensorTest, RunningRoundsToTheType) {
  const std::vector<double> third = {1.0 / 3};
  const TensorType half{DType::kF16, {1}};
  EXPECT_EQ(ToDoubles(FromDoubles(half, third))[0], 0.333251953125);
  EXPECT_EQ(ToDoubles(FromDoubles(half, third, Interp::kReal))[0], 1.0 / 3);
  Tensor t{half, std::vector<float>{1.0f / 3}};
  RoundToType(t);
  EXPECT_EQ(t.as<float>()[0], 0.333251953125f);
}

TEST(TensorTest, DeviceAxesLeadInMemory) {
  const Tensor t = MakeTensor(*ParseType("f32[3]@{m:2}"), Interp::kRun);
  EXPECT_EQ(t.size(), 6);
  EXPECT_EQ(TensorText(t), "[[0 0 0] [0 0 0]]");
}

TEST(TensorTest, StridesAreRowMajor) {
  EXPECT_THAT(Strides({2, 3, 4}), ElementsAre(12, 4, 1));
  EXPECT_TRUE(Strides({}).empty());
}

}  // namespace
}  // namespace isomer
