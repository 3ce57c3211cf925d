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

// ONNX itself compares with 1e-3; expectations were computed in fp32.
double ToleranceOf(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ? 5e-3
         : IsFloat(dtype)                              ? 1e-4
                                                       : 0;
}

// The test data stores bf16 as u16 bit patterns.
Tensor AsType(Tensor t, const TensorType& type) {
  if (t.type.dtype != DType::kU16 || type.dtype != DType::kBF16) return t;
  return *FromBytes({DType::kBF16, t.type.shape}, ToBytes(t), Interp::kRun);
}

absl::StatusOr<std::string> Disagreement(
    const ir::Graph& graph, const std::map<std::string, Tensor>& inputs,
    const std::vector<Tensor>& want, const ir::RunNode& run) {
  std::map<std::string, Tensor> typed = inputs;
  for (NodeId id : graph.inputs()) {
    Tensor& t = typed[*graph.node(id).name];
    if (const TensorType* type = graph.FindType({id, 0})) t = AsType(t, *type);
  }
  ASSIGN_OR_RETURN(std::vector<Tensor> got,
                   ir::Evaluate(graph, typed, {.run = run}));
  for (size_t i = 0; i < want.size(); ++i) {
    const Tensor expected = AsType(want[i], got[i].type);
    if (got[i].type != expected.type) {
      return absl::StrCat("output ", i, " is ", TypeText(got[i].type),
                          ", expected ", TypeText(expected.type));
    }
    const double error = runtime::RelativeError(got[i], expected);
    if (error > ToleranceOf(expected.type.dtype)) {
      return absl::StrCat("output ", i, " is off by ", error);
    }
  }
  return std::string();
}

struct Data {
  std::map<std::string, Tensor> inputs;
  std::vector<Tensor> outputs;
};

absl::StatusOr<Data> ReadData(const fs::path& folder, const GraphEntry& g) {
  Data data;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    ASSIGN_OR_RETURN(data.inputs[g.inputs[i].name],
                     ReadTensorFile(folder / absl::StrCat("input_", i, ".pb")));
  }
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    ASSIGN_OR_RETURN(
        Tensor t, ReadTensorFile(folder / absl::StrCat("output_", i, ".pb")));
    data.outputs.push_back(std::move(t));
  }
  return data;
}

// The model with its inputs other than the first turned into constants: the
// tests pass shapes, axes and scales as inputs.
Model WithConstants(Model model, const Data& data) {
  for (size_t i = model.graph.inputs.size(); i-- > 1;) {
    const std::string name = model.graph.inputs[i].name;
    const Tensor& t = data.inputs.at(name);
    model.graph.inputs.erase(model.graph.inputs.begin() + i);
    AddInitializer(NewTensor(name, OnnxDType(t.type.dtype), t.type.shape,
                             SharedBytes::Own(ToBytes(t))),
                   &model);
  }
  return model;
}

// Why a node of the model is opaque; "" if none is.
std::string OpaqueReason(const ImportedModel& model) {
  for (const Group& g : model.groups) {
    if (!g.opaque_reason.empty()) return g.opaque_reason;
  }
  return "";
}

absl::StatusOr<std::string> WrongWhenRun(const ImportedModel& model,
                                         const Data& data) {
  for (const ir::RunNode& run : {ir::RunNode(), runtime::FastKernels(1)}) {
    ASSIGN_OR_RETURN(std::string wrong,
                     Disagreement(model.graph, data.inputs, data.outputs, run));
    if (!wrong.empty()) return wrong;
  }
  // Written anew, read again, run again.
  absl::StatusOr<ExportedModel> anew =
      ExportModel(model, model.graph, {.rebuild = true});
  if (absl::IsUnimplemented(anew.status())) return std::string();
  RETURN_IF_ERROR(anew.status());
  ASSIGN_OR_RETURN(std::string bytes, SerializeModel(anew->model));
  ASSIGN_OR_RETURN(Model reread, ParseModel(SharedBytes::Own(bytes), ""));
  ASSIGN_OR_RETURN(
      ImportedModel again,
      ImportModel(std::make_shared<const Model>(std::move(reread))));
  ASSIGN_OR_RETURN(std::string wrong, Disagreement(again.graph, data.inputs,
                                                   data.outputs, nullptr));
  return wrong.empty() ? wrong : "written anew: " + wrong;
}

absl::StatusOr<Verdict> Judge(const fs::path& folder) {
  absl::StatusOr<ImportedModel> imported = ImportFile(folder / "model.onnx");
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
  absl::StatusOr<Data> data =
      ReadData(folder / "test_data_set_0", imported->model->graph);
  std::string reason = OpaqueReason(*imported);
  if (!reason.empty() && data.ok()) {
    Model constant = WithConstants(*imported->model, *data);
    auto again = ImportModel(std::make_shared<const Model>(constant));
    if (again.ok()) imported = *std::move(again);
    reason = OpaqueReason(*imported);
  }
  if (!reason.empty()) return Verdict{Outcome::kOpaque, reason};
  RETURN_IF_ERROR(data.status());
  ASSIGN_OR_RETURN(std::string wrong, WrongWhenRun(*imported, *data));
  return Verdict{wrong.empty() ? Outcome::kRight : Outcome::kWrong, wrong};
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
