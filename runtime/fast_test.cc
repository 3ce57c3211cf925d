// Every operator gives the same under the fast kernels as under the reference.
#include "runtime/fast.h"

#include "gtest/gtest.h"
#include "ops/example.h"
#include "ops/op_samples.h"
#include "ops/registry.h"
#include "runtime/compare.h"

namespace isomer::runtime {
namespace {

TEST(Fast, AgreesWithTheReferenceOnEveryCase) {
  const ir::RunNode fast = FastKernels(2);
  SampleStream stream(1);
  int compared = 0;
  for (const OpDef* op : Ops().all()) {
    for (const std::string& text : op->cases) {
      absl::StatusOr<TypedCall> call = ParseTypedCall(text);
      ASSERT_TRUE(call.ok()) << call.status();
      std::vector<Tensor> inputs;
      for (const Tensor& t :
           RandomInputs(*call, SampleValues::kReals, stream)) {
        inputs.push_back(*Reinterpret(t, Interp::kRun));
      }
      std::vector<const Tensor*> pointers;
      for (const Tensor& t : inputs) pointers.push_back(&t);
      auto got = fast(*op, call->attrs, pointers);
      if (!got) continue;
      ASSERT_TRUE(got->ok()) << text << ": " << got->status();
      auto want = EvalOp(*op, pointers, call->attrs, Interp::kRun);
      ASSERT_TRUE(want.ok()) << text << ": " << want.status();
      EXPECT_LE(RelativeError((**got)[0], (*want)[0]),
                DefaultTolerance((*want)[0].type.dtype))
          << text;
      ++compared;
    }
  }
  EXPECT_GE(compared, 6);
}

TEST(Fast, IsExactInTheField) {
  const ir::RunNode fast = FastKernels(2);
  SampleStream stream(2);
  int compared = 0;
  for (const char* name : {"conv2d", "matmul"}) {
    const OpDef* op = Ops().Find(name);
    std::vector<std::string> cases = op->cases;
    // Longer sums than fit in a word, more columns than are taken at a time.
    if (op->name == "matmul") cases.push_back("matmul(f32[3,100], f32[100,9])");
    for (const std::string& text : cases) {
      absl::StatusOr<TypedCall> call = ParseTypedCall(text);
      ASSERT_TRUE(call.ok()) << call.status();
      std::vector<Tensor> inputs;
      for (const Tensor& t :
           RandomInputs(*call, SampleValues::kReals, stream)) {
        inputs.push_back(*Reinterpret(t, Interp::kField));
      }
      std::vector<const Tensor*> pointers;
      for (const Tensor& t : inputs) pointers.push_back(&t);
      auto got = fast(*op, call->attrs, pointers);
      if (!got) continue;
      ASSERT_TRUE(got->ok()) << text << ": " << got->status();
      auto want = EvalOp(*op, pointers, call->attrs, Interp::kField);
      ASSERT_TRUE(want.ok()) << text << ": " << want.status();
      EXPECT_TRUE((**got)[0].data == (*want)[0].data) << text;
      ++compared;
    }
  }
  EXPECT_GE(compared, 6);
}

TEST(Fast, LeavesWhatItDoesNotKnowToTheReference) {
  const ir::RunNode fast = FastKernels(1);
  const Tensor x = FromInts({DType::kI64, {2, 2}}, {1, 2, 3, 4});
  const Tensor* inputs[] = {&x, &x};
  EXPECT_FALSE(fast(*Ops().Find("matmul"), {}, inputs).has_value());
  EXPECT_FALSE(fast(*Ops().Find("add"), {}, inputs).has_value());
}

TEST(Fast, ReportsWhatDoesNotType) {
  const ir::RunNode fast = FastKernels(1);
  const Tensor x = FromDoubles({DType::kF32, {1, 2}}, {1, 2});
  const Tensor* inputs[] = {&x, &x};
  auto got = fast(*Ops().Find("matmul"), {}, inputs);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->status().message(),
            "matmul: inner dimensions differ (2 and 1): f32[1,2] and f32[1,2]");
}

}  // namespace
}  // namespace isomer::runtime
