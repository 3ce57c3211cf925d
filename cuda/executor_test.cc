// What the device computes is what the reference computes. Without a device
// these tests report themselves as skipped.
#include "cuda/executor.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "ops/example.h"
#include "ops/op_samples.h"
#include "ops/registry.h"
#include "runtime/compare.h"
#include "runtime/fast.h"
#include "runtime/random_inputs.h"

namespace isomer::cuda {
namespace {

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = Device::Open("cuda:0");
    if (!device.ok()) {
      GTEST_SKIP() << "SKIPPED: no CUDA device: " << device.status();
    }
    device_ = *device;
  }

  static const cost::CostModel& H200() {
    static const auto* model = new cost::CostModel(
        *cost::CostModel::Create(*cost::Target::Named("h200")));
    return *model;
  }

  absl::StatusOr<std::unique_ptr<Executor>> Load(const ir::Graph& g,
                                                 ExecutorOptions options) {
    auto program = MakeProgram(g, H200());
    if (!program.ok()) return program.status();
    return Executor::Create(device_, *std::move(program), options);
  }

  // Compares a graph on random inputs; with every variant if asked to.
  void Compare(absl::string_view text, bool all_variants = false) {
    auto g = ir::ParseGraph(text);
    ASSERT_TRUE(g.ok()) << g.status() << "\n" << text;
    auto inputs = runtime::RandomInputs(*g, 7);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    ir::EvaluateOptions how;
    how.run = runtime::FastKernels();
    auto want = ir::Evaluate(*g, *inputs, how);
    ASSERT_TRUE(want.ok()) << want.status();
    auto program = MakeProgram(*g, H200());
    ASSERT_TRUE(program.ok()) << program.status() << "\n" << text;
    std::vector<std::pair<std::string, std::string>> choices = {{"", ""}};
    if (all_variants) {
      choices.clear();
      for (const Step& s : program->steps) {
        for (const Variant& v : s.variants) {
          choices.push_back({s.signature, v.name});
        }
      }
    }
    for (const auto& choice : choices) {
      auto e = Load(*g, {.tune = false, .choices = {choice}});
      ASSERT_TRUE(e.ok()) << e.status() << "\n" << text;
      auto got = (*e)->Run(*inputs);
      ASSERT_TRUE(got.ok()) << got.status() << "\n" << text;
      for (int again = 0; again < 10; ++again) {
        auto next = (*e)->Run(*inputs);
        ASSERT_TRUE(next.ok()) << next.status() << "\n" << text;
        ASSERT_EQ(ToBytes((*next)[0]), ToBytes((*got)[0]))
            << "another result at run " << again << "\n"
            << text << choice.second;
      }
      for (size_t i = 0; i < want->size(); ++i) {
        EXPECT_LE(runtime::RelativeError((*got)[i], (*want)[i]),
                  runtime::DefaultTolerance((*want)[i].type.dtype))
            << text << choice.second;
      }
    }
  }

  std::shared_ptr<Device> device_;
};

TEST_F(OnDevice, EveryOperator) {
  SampleStream stream(1);
  int compared = 0;
  for (const OpDef* op : Ops().all()) {
    if (op->parallel) continue;
    for (const std::string& text : op->cases) {
      const TypedCall call = *ParseTypedCall(text);
      ir::Graph g;
      std::vector<Value> in;
      std::map<std::string, Tensor> inputs;
      const std::vector<Tensor> drawn =
          RandomInputs(call, SampleValues::kReals, stream);
      for (size_t i = 0; i < call.inputs.size(); ++i) {
        const std::string name = absl::StrCat("x", i);
        in.push_back(g.AddInput(name, call.inputs[i]));
        inputs[name] = *Reinterpret(drawn[i], Interp::kRun);
      }
      auto id = g.AddNode(*op, in, call.attrs);
      ASSERT_TRUE(id.ok()) << text;
      g.AddOutput("y", {*id, 0});
      auto want = ir::Evaluate(g, inputs);
      ASSERT_TRUE(want.ok()) << text << ": " << want.status();
      auto e = Load(g, {.tune = false});
      if (absl::IsUnimplemented(e.status())) continue;
      ASSERT_TRUE(e.ok()) << text << ": " << e.status();
      auto got = (*e)->Run(inputs);
      ASSERT_TRUE(got.ok()) << text << ": " << got.status();
      EXPECT_LE(runtime::RelativeError((*got)[0], (*want)[0]),
                runtime::DefaultTolerance((*want)[0].type.dtype))
          << text << "\n got " << TensorText((*got)[0]) << "\nwant "
          << TensorText((*want)[0]);
      ++compared;
    }
  }
  EXPECT_GE(compared, 250);
}

TEST_F(OnDevice, ProductsOfAllShapes) {
  for (const char* type : {"f16", "bf16", "f32"}) {
    for (const auto& [m, n, k] :
         std::vector<std::tuple<int, int, int>>{{1, 64, 64},
                                                {3, 8, 16},
                                                {17, 72, 40},
                                                {128, 768, 768},
                                                {130, 264, 2056},
                                                {5, 7, 9}}) {
      Compare(absl::StrCat(
          "input x: ", type, "[", m, ",", k, "]\ninput w: ", type, "[", k, ",",
          n, "]\nm = matmul(x, w)\n", "r = gelu(m)\noutput y = r\n"));
    }
  }
}

TEST_F(OnDevice, EveryTiling) {
  Compare(
      "input x: bf16[130,2056]\ninput w: bf16[2056,264]\n"
      "m = matmul(x, w)\nr = gelu(m)\noutput y = r\n",
      true);
  Compare(
      "input x: f16[70,1064]\ninput w: f16[1064,136]\ninput b: f16[136]\n"
      "input s: f16[70,136]\nm = matmul(x, w)\n"
      "c = broadcast(b, shape=[70 136], dims=[1])\na = add(m, c)\n"
      "t = add(a, s)\nr = relu(t)\noutput y = r\n",
      true);
  Compare(
      "input x: f16[2,3,65,64]\ninput w: f16[2,3,40,64]\n"
      "t = transpose(w, perm=[0 1 3 2])\nm = matmul(x, t)\noutput y = m\n",
      true);
  Compare(
      "input x: f16[2,24,9,11]\ninput w: f16[40,24,3,3]\n"
      "i = relu(x)\nc = conv2d(i, w, pad=1, stride=2)\nr = relu(c)\n"
      "output y = r\n",
      true);
}

TEST_F(OnDevice, Convolutions) {
  Compare(
      "input x: f16[1,3,33,35]\ninput w: f16[16,3,7,7]\n"
      "c = conv2d(x, w, pad=3, stride=2)\noutput y = c\n");
  Compare(
      "input x: f16[2,64,10,10]\ninput w: f16[64,4,3,3]\n"
      "i = relu(x)\nc = conv2d(i, w, pad=1, group=16)\noutput y = c\n");
  Compare(
      "input x: f16[1,40,10,9]\ninput w: f16[40,1,3,3]\n"
      "c = conv2d(x, w, pad=1, group=40)\nr = relu(c)\noutput y = r\n");
  Compare(
      "input x: f32[1,5,12,12]\ninput w: f32[6,5,3,3]\n"
      "c = conv2d(x, w, pad=1, dilation=2)\noutput y = c\n");
}

TEST_F(OnDevice, ViewsAndConcats) {
  Compare(
      "input x: f16[1,16,8,8]\ninput w: f16[24,16,1,1]\n"
      "input v: f16[8,16,3,3]\na = conv2d(x, w)\n"
      "b = conv2d(x, v, pad=1)\nc = concat(a, b, x, axis=1)\n"
      "p = max_pool(c, kernel=[3 3], stride=2, pad=1)\noutput y = p\n"
      "output z = c\n");
  Compare(
      "input q: f16[1,50,192]\nr = reshape(q, shape=[1 50 3 64])\n"
      "t = transpose(r, perm=[0 2 1 3])\ns = softmax(t, axis=2)\n"
      "u = transpose(s, perm=[0 2 1 3])\no = reshape(u, shape=[1 50 192])\n"
      "output y = o\noutput z = t\n");
}

TEST_F(OnDevice, TheSameBitsEveryTime) {
  auto g = ir::ParseGraph(
      "input x: f16[16,1024]\nconst w: f16[1024,256] = 0.01\n"
      "m = matmul(x, w)\ns = softmax(m)\noutput y = s\n");
  ASSERT_TRUE(g.ok());
  auto e = Load(*g, {});
  ASSERT_TRUE(e.ok()) << e.status();
  const auto inputs = *runtime::RandomInputs(*g, 1);
  const auto first = (*e)->Run(inputs);
  ASSERT_TRUE(first.ok()) << first.status();
  for (int i = 0; i < 200; ++i) {
    const auto again = (*e)->Run(inputs);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(ToBytes((*again)[0]), ToBytes((*first)[0])) << i;
  }
}

TEST_F(OnDevice, ExecutorsDoNotDisturbEachOther) {
  auto g = ir::ParseGraph(
      "input x: f16[64,512]\nconst w: f16[512,512] = 0.02\n"
      "m = matmul(x, w)\ns = softmax(m)\noutput y = s\n");
  ASSERT_TRUE(g.ok());
  std::vector<std::string> results[2];
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      auto e = Load(*g, {.tune = false});
      const auto inputs = *runtime::RandomInputs(*g, 1);
      for (int i = 0; e.ok() && i < 50; ++i) {
        const auto got = (*e)->Run(inputs);
        results[t].push_back(got.ok() ? ToBytes((*got)[0]) : "failed");
      }
    });
  }
  for (std::thread& t : threads) t.join();
  ASSERT_EQ(results[0].size(), 50u);
  ASSERT_EQ(results[1].size(), 50u);
  for (int t = 0; t < 2; ++t) {
    for (const std::string& r : results[t]) ASSERT_EQ(r, results[0][0]);
  }
}

TEST_F(OnDevice, WrongInputsAreNamed) {
  auto g = ir::ParseGraph("input x: f32[4]\nr = relu(x)\noutput y = r\n");
  auto e = Load(*g, {});
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ((*e)->Run({}).status().message(), "input 'x' is missing");
  EXPECT_EQ((*e)->Run({{"x", FromDoubles({DType::kF32, {1}}, {1})}})
                .status()
                .message(),
            "input 'x' has type f32[1]; expected f32[4]");
  EXPECT_FALSE((*e)->input("z").ok());
  EXPECT_TRUE(
      absl::IsResourceExhausted(device_->Allocate(int64_t{1} << 50).status()));
}

TEST(DeviceNames, WrongOnesAreRefused) {
  for (absl::string_view name : {"", "cpu", "cuda:", "cuda:x", "cuda:-1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Device::Open(name).status())) << name;
  }
}

}  // namespace
}  // namespace isomer::cuda
