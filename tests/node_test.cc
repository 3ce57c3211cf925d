// ONNX's own node tests, as Debian packages them: every modelled operator
// evaluates to the expected outputs under both evaluators, as imported and as
// written anew by the exporter; the rest pass through opaque, byte for byte.
// The table it prints is the one in README.md.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "gtest/gtest.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/mapped_file.h"
#include "onnx/writer.h"
#include "ops/status.h"
#include "runtime/compare.h"
#include "runtime/fast.h"

namespace isomer::onnx {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kFolder = "/usr/share/libonnx-testdata/data/node";

// Tests whose expectation is not a function of the operator's definition.
bool IsRandom(const std::string& name) {
  return absl::StrContains(name, "bernoulli") ||
         absl::StrContains(name, "training_dropout");
}

absl::StatusOr<Tensor> ReadTensorFile(const std::string& path) {
  ASSIGN_OR_RETURN(SharedBytes bytes, MapFile(path));
  ExternalFiles none("");
  ASSIGN_OR_RETURN(TensorEntry entry,
                   ReadTensor(bytes, bytes.view.data(), &none));
  ASSIGN_OR_RETURN(DType dtype, FromOnnxDType(entry.dtype));
  ASSIGN_OR_RETURN(SharedBytes data, TensorBytes(entry));
  return FromBytes({dtype, entry.dims},
                   absl::MakeConstSpan(data.view.data(), data.view.size()),
                   Interp::kRun);
}

enum class Outcome { kRight, kOpaque, kWrong };

struct Verdict {
  Outcome outcome;
  std::string detail;
};

// ONNX compares with rtol 1e-3 and atol 1e-7; we are stricter on the former.
double ToleranceOf(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ? 5e-3
         : IsFloat(dtype)                              ? 1e-5
                                                       : 0;
}

absl::StatusOr<std::string> Disagreement(
    const ir::Graph& graph, const std::map<std::string, Tensor>& inputs,
    const std::vector<Tensor>& want, const ir::RunNode& run) {
  ASSIGN_OR_RETURN(std::vector<Tensor> got,
                   ir::Evaluate(graph, inputs, {.run = run}));
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i].type != want[i].type) {
      return absl::StrCat("output ", i, " is ", TypeText(got[i].type),
                          ", expected ", TypeText(want[i].type));
    }
    const double error = runtime::RelativeError(got[i], want[i]);
    if (error > ToleranceOf(want[i].type.dtype)) {
      return absl::StrCat("output ", i, " is off by ", error);
    }
  }
  return std::string();
}

absl::StatusOr<Verdict> Judge(const fs::path& folder) {
  const std::string path = folder / "model.onnx";
  absl::StatusOr<ImportedModel> imported = ImportFile(path);
  if (!imported.ok()) {
    // A dimension that nothing binds: named in the error, by design.
    if (absl::StrContains(imported.status().message(), "is not bound")) {
      return Verdict{Outcome::kOpaque, "unbound dimension"};
    }
    return imported.status();
  }
  ASSIGN_OR_RETURN(ExportedModel kept, ExportModel(*imported, imported->graph));
  ASSIGN_OR_RETURN(std::string bytes, SerializeModel(kept.model));
  if (bytes != imported->model->file.view) {
    return Verdict{Outcome::kWrong, "not written back byte for byte"};
  }
  for (const Group& g : imported->groups) {
    if (!g.opaque_reason.empty()) {
      return Verdict{Outcome::kOpaque, g.opaque_reason};
    }
  }
  std::map<std::string, Tensor> inputs;
  std::vector<Tensor> want;
  const fs::path data = folder / "test_data_set_0";
  const auto& g = imported->model->graph;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    ASSIGN_OR_RETURN(inputs[g.inputs[i].name],
                     ReadTensorFile(data / absl::StrCat("input_", i, ".pb")));
  }
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    ASSIGN_OR_RETURN(Tensor t,
                     ReadTensorFile(data / absl::StrCat("output_", i, ".pb")));
    want.push_back(std::move(t));
  }
  for (const ir::RunNode& run : {ir::RunNode(), runtime::FastKernels(1)}) {
    ASSIGN_OR_RETURN(std::string wrong,
                     Disagreement(imported->graph, inputs, want, run));
    if (!wrong.empty()) return Verdict{Outcome::kWrong, wrong};
  }
  // Written anew, read again, run again.
  absl::StatusOr<ExportedModel> anew =
      ExportModel(*imported, imported->graph, {.rebuild = true});
  if (absl::IsUnimplemented(anew.status())) return Verdict{Outcome::kRight, ""};
  RETURN_IF_ERROR(anew.status());
  ASSIGN_OR_RETURN(bytes, SerializeModel(anew->model));
  ASSIGN_OR_RETURN(Model reread, ParseModel(SharedBytes::Own(bytes), ""));
  ASSIGN_OR_RETURN(
      ImportedModel again,
      ImportModel(std::make_shared<const Model>(std::move(reread))));
  ASSIGN_OR_RETURN(std::string wrong,
                   Disagreement(again.graph, inputs, want, nullptr));
  if (!wrong.empty()) return Verdict{Outcome::kWrong, "written anew: " + wrong};
  return Verdict{Outcome::kRight, ""};
}

TEST(NodeTest, KnownOperatorsAreRightAndTheRestIsOpaque) {
  if (!fs::exists(std::string(kFolder))) {
    GTEST_SKIP() << "SKIPPED: " << kFolder
                 << " is not there (libonnx-testdata)";
  }
  std::map<Outcome, int> counts;
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(std::string(kFolder))) {
    folders.insert(entry.path());
  }
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename();
    if (IsRandom(name)) continue;
    absl::StatusOr<Verdict> verdict = Judge(folder);
    if (!verdict.ok()) {
      verdict =
          Verdict{Outcome::kWrong, std::string(verdict.status().message())};
    }
    ++counts[verdict->outcome];
    EXPECT_NE(verdict->outcome, Outcome::kWrong)
        << name << ": " << verdict->detail;
  }
  std::printf("known and right %d, opaque %d, wrong %d\n",
              counts[Outcome::kRight], counts[Outcome::kOpaque],
              counts[Outcome::kWrong]);
  EXPECT_GE(counts[Outcome::kRight], 400);
}

}  // namespace
}  // namespace isomer::onnx
