// Values that the parallel operators give: worked examples cannot be written
// as plain calls, because tensor literals have no device axes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/op_def.h"

namespace isomer {

std::vector<OpDef> DefineParallel();

namespace {

// Runs an operator on 0, 1, 2, ... of a type and prints the result's type and
// elements, or the error.
std::string Apply(absl::string_view op, const std::string& type,
                  const Attrs& attrs, Interp interp = Interp::kRun) {
  absl::StatusOr<TensorType> parsed = ParseType(type);
  if (!parsed.ok()) return parsed.status().ToString();
  std::vector<double> values(NumElements(*parsed));
  for (size_t i = 0; i < values.size(); ++i) values[i] = i;
  const Tensor x = FromDoubles(*parsed, values, interp);
  for (const OpDef& def : DefineParallel()) {
    if (def.name != op) continue;
    absl::StatusOr<std::vector<Tensor>> out = EvalOp(def, {&x}, attrs, interp);
    if (!out.ok()) return std::string(out.status().message());
    return absl::StrCat(TypeText((*out)[0].type), " ", TensorText((*out)[0]));
  }
  return "no such operator";
}

Attrs Cut(int64_t dim, int64_t degree) {
  return {{"dim", dim}, {"axis", std::string("m")}, {"degree", degree}};
}
Attrs Combine(int64_t dim) {
  return {{"dim", dim}, {"axis", std::string("m")}};
}
Attrs Axis() { return {{"axis", std::string("m")}}; }
Attrs Copies(int64_t n) { return {{"axis", std::string("m")}, {"degree", n}}; }

TEST(ParallelTest, PartitionCutsADimension) {
  EXPECT_EQ(Apply("partition", "f32[4]", Cut(0, 2)),
            "f32[2]@{m:2} [[0 1] [2 3]]");
  EXPECT_EQ(Apply("partition", "i64[2,4]", Cut(-1, 2)),
            "i64[2,2]@{m:2} [[[0 1] [4 5]] [[2 3] [6 7]]]");
}

TEST(ParallelTest, DeviceAxesAreSortedByName) {
  EXPECT_EQ(Apply("partition", "f32[4]@{z:2}", Cut(0, 2)),
            "f32[2]@{m:2,z:2} [[[0 1] [4 5]] [[2 3] [6 7]]]");
  EXPECT_EQ(Apply("partition", "f32[4]@{a:2}", Cut(0, 2)),
            "f32[2]@{a:2,m:2} [[[0 1] [2 3]] [[4 5] [6 7]]]");
}

TEST(ParallelTest, CombineIsTheInverse) {
  EXPECT_EQ(Apply("combine", "f32[2]@{m:2}", Combine(0)), "f32[4] [0 1 2 3]");
  EXPECT_EQ(Apply("combine", "f32[2,2]@{m:2}", Combine(1)),
            "f32[2,4] [[0 1 4 5] [2 3 6 7]]");
  EXPECT_EQ(Apply("combine", "f32[1]@{m:2,z:2}", Combine(0)),
            "f32[2]@{z:2} [[0 2] [1 3]]");
}

TEST(ParallelTest, ReplicateCopiesAndReduceAdds) {
  EXPECT_EQ(Apply("replicate", "f32[2]", Copies(2)),
            "f32[2]@{m:2} [[0 1] [0 1]]");
  EXPECT_EQ(Apply("replicate", "f32[1]@{a:2}", Copies(2)),
            "f32[1]@{a:2,m:2} [[[0] [0]] [[1] [1]]]");
  EXPECT_EQ(Apply("reduce", "f32[2]@{m:2}", Axis()), "f32[2] [2 4]");
  EXPECT_EQ(Apply("reduce", "i32[2]@{a:2,m:2}", Axis()),
            "i32[2]@{a:2} [[2 4] [10 12]]");
  EXPECT_EQ(Apply("reduce", "f32[2]@{m:2}", Axis(), Interp::kField),
            "f32[2] [2 4]");
}

TEST(ParallelTest, RejectsWhatDoesNotFit) {
  EXPECT_EQ(Apply("partition", "f32[5]", Cut(0, 2)),
            "partition: degree must divide dimension 0 (2 does not divide 5): "
            "f32[5] with dim=0, axis=m, degree=2");
  EXPECT_EQ(Apply("partition", "f32[4]", Cut(0, 0)),
            "partition: degree must be positive (0 is below 1): f32[4] with "
            "dim=0, axis=m, degree=0");
  EXPECT_EQ(Apply("partition", "f32[2]@{m:2}", Cut(0, 2)),
            "partition: device axis m is there already: f32[2]@{m:2} with "
            "dim=0, axis=m, degree=2");
  EXPECT_EQ(Apply("combine", "f32[4]@{n:2}", Combine(0)),
            "combine: there is no device axis m: f32[4]@{n:2} with dim=0, "
            "axis=m");
  EXPECT_EQ(Apply("reduce", "f32[4]", Axis()),
            "reduce: there is no device axis m: f32[4] with axis=m");
  EXPECT_EQ(Apply("reduce", "bool[4]@{m:2}", Axis()),
            "reduce: input 0 must be numeric: bool[4]@{m:2} with axis=m");
}

}  // namespace
}  // namespace isomer
