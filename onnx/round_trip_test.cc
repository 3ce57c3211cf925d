// Every model file at hand is read and written back byte for byte, also after
// its graph was taken apart and put together again from its entries. Models are
// looked for in models/, $ISOMER_MODELS, $ISOMER_SHARED and where Debian puts
// ONNX's own test models.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "gtest/gtest.h"
#include "onnx/model_testing.h"
#include "onnx/writer.h"

namespace isomer::onnx {
namespace {

namespace fs = std::filesystem;

void AddModels(const fs::path& folder, std::vector<std::string>* files) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end;
       !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".onnx") {
      files->push_back(it->path().string());
    }
  }
}

std::vector<std::string> ModelFiles() {
  std::vector<std::string> files;
  AddModels("models", &files);
  AddModels("/usr/share/libonnx-testdata", &files);
  for (const char* variable : {"ISOMER_MODELS", "ISOMER_SHARED"}) {
    if (const char* folder = std::getenv(variable)) AddModels(folder, &files);
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(RoundTripTest, ModelsComeOutByteForByte) {
  const std::vector<std::string> files = ModelFiles();
  if (files.empty()) {
    GTEST_SKIP()
        << "SKIPPED: no models in models/, $ISOMER_MODELS or $ISOMER_SHARED";
  }
  const std::string out = TestFolder() + "/out.onnx";
  for (const std::string& file : files) {
    absl::StatusOr<Model> model = ReadModel(file);
    ASSERT_TRUE(model.ok()) << model.status();
    ASSERT_TRUE(WriteModel(*model, out).ok()) << file;
    EXPECT_TRUE(FileBytes(file) == FileBytes(out)) << file;
  }
  std::printf("%zu models came out byte for byte\n", files.size());
}

TEST(RoundTripTest, RewrittenNodesMeanTheSame) {
  const std::vector<std::string> files = ModelFiles();
  if (files.empty()) {
    GTEST_SKIP()
        << "SKIPPED: no models in models/, $ISOMER_MODELS or $ISOMER_SHARED";
  }
  for (const std::string& file : files) {
    absl::StatusOr<Model> model = ReadModel(file);
    ASSERT_TRUE(model.ok()) << model.status();
    const std::string before = TextOf(model->graph);
    for (NodeEntry& n : model->graph.nodes) n.raw = {};
    for (ValueEntry& v : model->graph.inputs) v.raw = {};
    for (TensorEntry& t : model->graph.initializers) {
      if (t.place != TensorEntry::Place::kStrings) t.raw = {};
    }
    absl::StatusOr<std::string> bytes = SerializeModel(*model);
    ASSERT_TRUE(bytes.ok()) << file << ": " << bytes.status();
    absl::StatusOr<Model> again = ParseModel(SharedBytes::Own(*bytes), "");
    ASSERT_TRUE(again.ok()) << file << ": " << again.status();
    EXPECT_EQ(TextOf(again->graph), before) << file;
  }
}

}  // namespace
}  // namespace isomer::onnx
