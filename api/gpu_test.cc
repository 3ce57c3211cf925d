// A model that is loaded on a GPU, as an engine would do it. Without a device
// these tests report themselves as skipped, but for what is said then.
#include "api/gpu.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "api/graph_access.h"
#include "cuda/device.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "onnx/export.h"
#include "onnx/writer.h"
#include "runtime/compare.h"
#include "runtime/random_inputs.h"

namespace isomer {
namespace {

constexpr char kModel[] =
    "input x: f16[4,256]\ninput z: f16[4,64]\ninput unread: f32[3]\n"
    "const w: f16[256,64] = 0.01\nm = matmul(x, w)\ns = softmax(m)\n"
    "t = add(s, z)\noutput y = s\noutput sum = t\n";

Graph Read(const char* text) {
  auto model = onnx::ModelFromGraph(*ir::ParseGraph(text), 17);
  EXPECT_TRUE(model.ok()) << model.status();
  auto graph = Graph::FromOnnxBytes(*onnx::SerializeModel(*model));
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *graph;
}

TEST(Gpu, WrongOptionsAreRefused) {
  const Graph graph = Read(kModel);
  const auto says = [&](const GpuOptions& options, absl::string_view what) {
    const absl::Status status = GpuModel::Load(graph, options).status();
    EXPECT_TRUE(absl::StrContains(status.message(), what)) << status;
  };
  says({.device = "tpu:0"}, "'tpu:0'");
  if (!cuda::Device::Open("cuda:0").ok()) {
    says({}, "CUDA");
  } else {
    says({.target = "abacus"}, "abacus");
  }
}

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    auto device = cuda::Device::Open("cuda:0");
    if (!device.ok()) {
      GTEST_SKIP() << "SKIPPED: no CUDA device: " << device.status();
    }
    device_ = *device;
  }

  std::shared_ptr<cuda::Device> device_;
};

TEST_F(OnGpu, RunsOnBytesAndOnWhatIsOnTheDevice) {
  const Graph graph = Read(kModel);
  auto model = GpuModel::Load(graph, {.tune = false});
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->inputs().size(), 3u);
  const GpuTensor& x = model->inputs()[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type, "f16");
  EXPECT_EQ(x.shape, (std::vector<int64_t>{4, 256}));
  EXPECT_EQ(x.bytes, 2 * 4 * 256);
  EXPECT_NE(x.data, nullptr);
  EXPECT_EQ(model->inputs()[2].data, nullptr);
  ASSERT_EQ(model->outputs().size(), 2u);
  EXPECT_EQ(model->outputs()[1].name, "sum");

  const ir::Graph& ir = GraphAccess::Ir(graph);
  const auto inputs = *runtime::RandomInputs(ir, 1);
  std::map<std::string, std::string> bytes;
  for (const auto& [name, tensor] : inputs) bytes[name] = ToBytes(tensor);
  const auto got = model->Run(bytes);
  ASSERT_TRUE(got.ok()) << got.status();
  const auto want = ir::Evaluate(ir, inputs, {});
  ASSERT_TRUE(want.ok()) << want.status();
  for (size_t i = 0; i < want->size(); ++i) {
    const auto tensor = FromBytes((*want)[i].type, (*got)[i], Interp::kRun);
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_LE(runtime::RelativeError(*tensor, (*want)[i]),
              runtime::DefaultTolerance(DType::kF16));
  }

  // On a stream of the caller's, with other inputs.
  const auto stream = device_->NewStream();
  ASSERT_TRUE(stream.ok()) << stream.status();
  const absl::Cleanup free_stream = [&] { device_->FreeStream(*stream); };
  bytes["z"] = std::string(bytes["z"].size(), '\0');
  for (const GpuTensor& in : model->inputs()) {
    if (in.data == nullptr) continue;
    ASSERT_TRUE(device_
                    ->WriteAsync(reinterpret_cast<cuda::DevicePointer>(in.data),
                                 bytes[in.name].data(), in.bytes, *stream)
                    .ok());
  }
  ASSERT_TRUE(model->RunAsync(*stream).ok());
  std::vector<std::string> read;
  for (const GpuTensor& out : model->outputs()) {
    read.emplace_back(out.bytes, '\0');
    ASSERT_TRUE(device_
                    ->ReadAsync(read.back().data(),
                                reinterpret_cast<cuda::DevicePointer>(out.data),
                                out.bytes, *stream)
                    .ok());
    ASSERT_TRUE(device_->Wait(*stream).ok());
  }
  EXPECT_TRUE(read[0] == (*got)[0]);
  EXPECT_TRUE(read[1] == read[0]);
  const auto us = model->Time(5);
  ASSERT_TRUE(us.ok()) << us.status();
  EXPECT_GT(*us, 0);
}

TEST_F(OnGpu, WrongInputsAreNamed) {
  auto model = GpuModel::Load(Read(kModel), {.tune = false});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->Run({{"x", "1234"}}).status().message(),
            "input 'x' has 4 bytes; expected 2048 of f16[4,256]");
  EXPECT_EQ(model->Run({{"x", std::string(2048, '\0')}}).status().message(),
            "input 'z' is missing");
}

}  // namespace
}  // namespace isomer
