// The public interface as a user sees it: files and bytes in, files and bytes
// out, errors as values.
#include "api/isomer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace isomer {
namespace {

std::string Model(const std::string& name) { return "models/" + name; }

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string TempFile(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(IsomerTest, OptimizesAModel) {
  auto graph = Graph::FromOnnx(Model("lora_mlp_fp16_b1_dynamo.onnx"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  auto r = graph->optimize({.target = "h200",
                            .alpha = 1.05,
                            .time_limit = absl::InfiniteDuration(),
                            .expansions = 200});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_TRUE(r->improved);
  EXPECT_LT(r->after.time_us, r->before.time_us);
  EXPECT_FALSE(r->rules.empty());
  EXPECT_EQ(r->target, "h200");
  auto check = Check(*graph, r->graph);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_TRUE(check->passed);
}

// Most kernels between this model and its best are in no profile.
TEST(IsomerTest, MeasuredTimesDoNotKeepTheSearchFromWhatEstimatesFind) {
  auto graph = Graph::FromOnnx(Model("lora_mlp_fp16_b1_dynamo.onnx"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<int64_t> kernels;
  for (const char* profile : {"", "builtin"}) {
    auto r = graph->optimize({.profile = profile, .expansions = 100});
    ASSERT_TRUE(r.ok()) << r.status();
    kernels.push_back(r->after.kernels);
    double gain = 0;
    for (const RuleApplied& rule : r->rules) gain += rule.gain_us;
    EXPECT_NEAR(gain, r->before.time_us - r->after.time_us, 0.01 * gain);
  }
  EXPECT_EQ(kernels[1], kernels[0]);
}

TEST(IsomerTest, FilesAndBytesGiveTheSame) {
  const std::string path = Model("lora_mlp_fp16_b1_dynamo.onnx");
  OptimizeOptions options;
  options.time_limit = absl::InfiniteDuration();
  options.expansions = 100;
  auto from_file = Graph::FromOnnx(path);
  auto from_bytes = Graph::FromOnnxBytes(ReadBytes(path));
  ASSERT_TRUE(from_file.ok() && from_bytes.ok());
  auto a = from_file->optimize(options), b = from_bytes->optimize(options);
  ASSERT_TRUE(a.ok() && b.ok());
  const std::string out = TempFile("out.onnx");
  ASSERT_TRUE(a->graph.ToOnnx(out).ok());
  auto bytes = b->graph.ToOnnxBytes();
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(ReadBytes(out), *bytes);
}

TEST(IsomerTest, WhatCannotBeImprovedComesBackByteForByte) {
  const std::string path = Model("lstm_fp32_b1_dynamo.onnx");
  auto graph = Graph::FromOnnx(path);
  ASSERT_TRUE(graph.ok()) << graph.status();
  OptimizeOptions options;
  options.expansions = 0;
  auto r = graph->optimize(options);
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_FALSE(r->improved);
  EXPECT_EQ(r->stopped_because, "the limit on expansions was reached");
  auto bytes = r->graph.ToOnnxBytes();
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, ReadBytes(path));
}

TEST(IsomerTest, ACallbackStopsTheSearch) {
  auto graph = Graph::FromOnnx(Model("nasrnn_fp16_b1_dynamo.onnx"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  OptimizeOptions options;
  options.progress = [](const OptimizeProgress&) { return false; };
  auto r = graph->optimize(options);
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->stopped_because, "it was interrupted");
}

TEST(IsomerTest, ErrorsNameWhatIsWrong) {
  EXPECT_FALSE(Graph::FromOnnx("no/such/file.onnx").ok());
  EXPECT_FALSE(Graph::FromOnnxBytes("this is no model").ok());
  auto graph = Graph::FromOnnx(Model("lora_mlp_fp16_b1_dynamo.onnx"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_NE(
      Message(graph->optimize({.target = "abacus"}).status()).find("abacus"),
      std::string::npos);
  EXPECT_NE(Message(graph->optimize({.rules = "builtin,no/a.rules"}).status())
                .find("no/a.rules"),
            std::string::npos);
  EXPECT_NE(Message(graph->optimize({.rules = "no/such.rules"}).status())
                .find("no/such.rules"),
            std::string::npos);
  EXPECT_EQ(Message(graph->optimize({.alpha = 0}).status()),
            "alpha is 0; it must be from 1 to 100");
  EXPECT_EQ(Message(graph->optimize({.memory_limit = 0}).status()),
            "memory_limit is 0 bytes; it must be above 0");
  EXPECT_EQ(Message(graph->optimize({.weight_limit = -1}).status()),
            "weight_limit is -1 bytes; it must be above 0");
  EXPECT_FALSE(graph->ToOnnx("no/such/folder/out.onnx").ok());
}

TEST(IsomerTest, ADamagedFileOfRulesIsAnError) {
  const std::string path = TempFile("bad.rules");
  std::ofstream(path) << "rule broken: add(x, => x\n";
  auto graph = Graph::FromOnnx(Model("lora_mlp_fp16_b1_dynamo.onnx"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_NE(Message(graph->optimize({.rules = path}).status()).find(path),
            std::string::npos);
}

TEST(IsomerTest, RulesOfSeveralFilesAreUsedTogether) {
  const std::string path = TempFile("more.rules");
  std::ofstream(path) << "rule unproved: add(x, y) => mul(x, y)\n";
  auto graph = Graph::FromOnnx(Model("lora_mlp_fp16_b1_dynamo.onnx"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  auto alone = graph->optimize();
  auto both = graph->optimize({.rules = "builtin," + path});
  ASSERT_TRUE(alone.ok() && both.ok()) << both.status();
  EXPECT_EQ(both->after.time_us, alone->after.time_us);
  EXPECT_EQ(both->refused.size(), alone->refused.size() + 1);
}

TEST(IsomerTest, TheCheckTellsDifferentModelsApart) {
  auto a = Graph::FromOnnx(Model("lora_mlp_fp16_b1_dynamo.onnx"));
  auto b = Graph::FromOnnx(Model("repvgg_a0_fp16_b1_dynamo.onnx"));
  ASSERT_TRUE(a.ok() && b.ok());
  auto check = Check(*a, *b);
  EXPECT_FALSE(check.ok() && check->passed);
}

}  // namespace
}  // namespace isomer
