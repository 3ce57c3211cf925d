// Import and export of a large model against copying its file: time and peak
// memory. The model is made here, with as many megabytes of random weights as
// asked for.
//
//   onnx_bench [MEGABYTES] [FOLDER]      (default 1300, the temporary folder)
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/graph.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/writer.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

namespace fs = std::filesystem;

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A chain of products with square weights of 64 MB each.
absl::Status WriteChain(int64_t megabytes, const std::string& path) {
  constexpr int64_t kWidth = 4096;
  ir::Graph g;
  Value v = g.AddInput("x", TensorType{DType::kF32, {1, kWidth}});
  std::vector<std::string> weights;
  for (int64_t i = 0; i * 64 < megabytes; ++i) {
    weights.push_back(absl::StrCat("w", i));
    Value w =
        g.AddInput(weights.back(), TensorType{DType::kF32, {kWidth, kWidth}});
    ASSIGN_OR_RETURN(v, g.Add("matmul", {v, w}));
  }
  g.AddOutput("y", v);
  ASSIGN_OR_RETURN(Model model, ModelFromGraph(g, 17));
  model.graph.inputs.resize(1);
  for (const std::string& name : weights) {
    TensorEntry t = NewTensor(name, 1, {kWidth, kWidth}, {});
    t.place = TensorEntry::Place::kGenerated;
    t.fill = [](int64_t offset, absl::Span<char> out) {
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<char>((offset + i) * 2654435761u >> 11 & 0x3f);
      }
    };
    AddInitializer(std::move(t), &model);
  }
  return WriteModel(model, path);
}

absl::Status Measure(int64_t megabytes, const fs::path& folder) {
  const std::string in = folder / "isomer_bench_in.onnx";
  const std::string copy = folder / "isomer_bench_copy.onnx";
  const std::string out = folder / "isomer_bench_out.onnx";
  RETURN_IF_ERROR(WriteChain(megabytes, in));
  double best_copy = 1e9, best_import = 1e9, best_export = 1e9;
  for (int round = 0; round < 3; ++round) {
    double start = Now();
    fs::remove(copy);
    fs::copy_file(in, copy);
    best_copy = std::min(best_copy, Now() - start);
    start = Now();
    ASSIGN_OR_RETURN(ImportedModel model, ImportFile(in));
    best_import = std::min(best_import, Now() - start);
    start = Now();
    fs::remove(out);
    ASSIGN_OR_RETURN(ExportedModel exported, ExportModel(model, model.graph));
    RETURN_IF_ERROR(WriteModel(exported.model, out));
    best_export = std::min(best_export, Now() - start);
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const double size = static_cast<double>(fs::file_size(in));
  std::printf("model          %8.1f MB\n", size / 1e6);
  std::printf("copying it     %8.3f s\n", best_copy);
  std::printf("import         %8.3f s\n", best_import);
  std::printf("export         %8.3f s\n", best_export);
  std::printf("both / copying %8.2f\n",
              (best_import + best_export) / best_copy);
  std::printf("peak memory    %8.2f of the file's size\n",
              static_cast<double>(usage.ru_maxrss) * 1024 / size);
  for (const std::string& path : {in, copy, out}) fs::remove(path);
  return absl::OkStatus();
}

}  // namespace
}  // namespace isomer::onnx

int main(int argc, char** argv) {
  const int64_t megabytes = argc > 1 ? std::atoll(argv[1]) : 1300;
  const std::string folder =
      argc > 2 ? argv[2] : std::filesystem::temp_directory_path().string();
  absl::Status status = isomer::onnx::Measure(megabytes, folder);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
