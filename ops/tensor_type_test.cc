// Types as text, both ways.
#include "ops/tensor_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isomer {
namespace {

using ::testing::HasSubstr;

std::string Read(absl::string_view text) {
  absl::StatusOr<TensorType> t = ParseType(text);
  return t.ok() ? TypeText(*t) : std::string(t.status().message());
}

TEST(TensorTypeTest, PrintsWhatItReads) {
  for (const char* text :
       {"f32[]", "f16[2]", "bool[2,3]", "i64[0]", "bf16[1,2,3,4,5]",
        "f32[2]@{m:4}", "u8[]@{a:1,b:2}"}) {
    EXPECT_EQ(Read(text), text);
  }
  EXPECT_EQ(Read(" f32 [ 2 , 3 ] @ { b:2 , a:3 } "), "f32[2,3]@{a:3,b:2}");
}

TEST(TensorTypeTest, RejectsWhatIsNoType) {
  EXPECT_THAT(Read(""), HasSubstr("type ''"));
  EXPECT_THAT(Read("q32[2]"), HasSubstr("q32"));
  EXPECT_EQ(Read("f32"), "type 'f32': expected '[' at column 4");
  EXPECT_EQ(Read("f32[2"), "type 'f32[2': expected ']' at column 6");
  EXPECT_EQ(Read("f32[2,]"), "type 'f32[2,]': expected a size at column 7");
  EXPECT_EQ(Read("f32[-1]"), "type 'f32[-1]': expected a size at column 5");
  EXPECT_EQ(Read("f32[n]"), "type 'f32[n]': expected a size at column 5");
  EXPECT_EQ(Read("f32[2]x"), "type 'f32[2]x': unexpected text at column 7");
  EXPECT_EQ(Read("f32[2]@{}"),
            "type 'f32[2]@{}': expected the name of a device axis at column 9");
  EXPECT_EQ(Read("f32[2]@{m:0}"),
            "type 'f32[2]@{m:0}': size 0 is below 1 at column 11");
  EXPECT_EQ(Read("f32[2]@{m:2,m:3}"),
            "type 'f32[2]@{m:2,m:3}': device axis 'm' comes twice at column "
            "14");
  EXPECT_THAT(Read("f32[99999999999999999999]"), HasSubstr("expected a size"));
  EXPECT_THAT(Read("f32[4294967296,4294967296]"),
              HasSubstr("more than 2^63 elements"));
  EXPECT_THAT(Read("f32[0,4294967296,4294967296]"),
              HasSubstr("more than 2^63 elements"));
}

TEST(TensorTypeTest, CountsElementsOnAllDevices) {
  EXPECT_EQ(NumElements(*ParseType("f32[2,3]@{m:4}")), 24);
  EXPECT_EQ(NumElements(*ParseType("f32[]")), 1);
  EXPECT_EQ(NumElements(*ParseType("f32[0,7]")), 0);
}

TEST(TensorTypeTest, SymbolicFormPrintsTheSame) {
  EXPECT_EQ(TypeText(ToSymbolic(*ParseType("f32[2,3]@{m:4}"))),
            "f32[2,3]@{m:4}");
}

}  // namespace
}  // namespace isomer
