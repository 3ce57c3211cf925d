// isomer diff: two models on the same random inputs.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "graph/evaluate.h"
#include "onnx/import.h"
#include "ops/status.h"
#include "runtime/compare.h"
#include "runtime/fast.h"
#include "runtime/random_inputs.h"
#include "tools/json.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

absl::Status SameOutputs(const ir::Graph& a, const ir::Graph& b) {
  if (a.outputs().size() != b.outputs().size()) {
    return Invalid("the models have ", a.outputs().size(), " and ",
                   b.outputs().size(), " outputs");
  }
  for (size_t i = 0; i < a.outputs().size(); ++i) {
    if (a.outputs()[i].name != b.outputs()[i].name) {
      return Invalid("output ", i, " is called '", a.outputs()[i].name,
                     "' and '", b.outputs()[i].name, "'");
    }
  }
  return absl::OkStatus();
}

// The worst relative error of each output over all seeds.
absl::StatusOr<std::vector<double>> Worst(const ir::Graph& a,
                                          const ir::Graph& b, int64_t seeds,
                                          int64_t first,
                                          std::vector<TensorType>& types) {
  Progress progress("comparing");
  ir::EvaluateOptions how{.run = runtime::FastKernels()};
  how.progress = [&](int done, int total) { return progress(done, total); };
  std::vector<double> worst(a.outputs().size(), 0);
  for (int64_t s = 0; s < seeds; ++s) {
    ASSIGN_OR_RETURN(auto inputs, runtime::RandomInputs(
                                      a, static_cast<uint64_t>(first + s)));
    ASSIGN_OR_RETURN(std::vector<Tensor> x, ir::Evaluate(a, inputs, how));
    ASSIGN_OR_RETURN(std::vector<Tensor> y, ir::Evaluate(b, inputs, how));
    types.clear();
    for (size_t i = 0; i < x.size(); ++i) {
      types.push_back(x[i].type);
      worst[i] = std::max(worst[i], runtime::RelativeError(y[i], x[i]));
    }
  }
  return worst;
}

absl::StatusOr<int> Diff(const Args& args) {
  ASSIGN_OR_RETURN(onnx::ImportOptions options, ImportOptionsFrom(args));
  ASSIGN_OR_RETURN(int64_t seeds, args.Int("seeds", 1, 1, 1000000));
  ASSIGN_OR_RETURN(int64_t seed, args.Int("seed", 0, 0, INT64_MAX / 2));
  ASSIGN_OR_RETURN(double tolerance, args.Real("tolerance", -1));
  ASSIGN_OR_RETURN(onnx::ImportedModel a,
                   onnx::ImportFile(args.positionals()[0], options));
  ASSIGN_OR_RETURN(onnx::ImportedModel b,
                   onnx::ImportFile(args.positionals()[1], options));
  RETURN_IF_ERROR(SameOutputs(a.graph, b.graph));
  std::vector<TensorType> types;
  ASSIGN_OR_RETURN(std::vector<double> worst,
                   Worst(a.graph, b.graph, seeds, seed, types));
  bool equal = true;
  Json list = Json::Array();
  for (size_t i = 0; i < worst.size(); ++i) {
    const double limit =
        tolerance >= 0 ? tolerance : runtime::DefaultTolerance(types[i].dtype);
    const bool ok = worst[i] <= limit;
    equal &= ok;
    const std::string& name = a.graph.outputs()[i].name;
    Json item = Json::Object();
    item.Set("name", name).Set("error", worst[i]).Set("tolerance", limit);
    list.Add(std::move(item.Set("equal", ok)));
    if (!args.Has("json")) {
      absl::PrintF("%s: %s, relative error %.3g, allowed %.3g: %s\n", name,
                   TypeText(types[i]), worst[i], limit, ok ? "ok" : "DIFFERS");
    }
  }
  if (args.Has("json")) {
    Json report = Json::Object();
    report.Set("equal", equal).Set("outputs", std::move(list));
    absl::PrintF("%s\n", report.ToString());
  }
  return equal ? 0 : 1;
}

}  // namespace

Verb DiffVerb() {
  std::vector<Flag> flags = ShapeFlags();
  flags.push_back({"seeds", "N", "how many random inputs (default 1)"});
  flags.push_back({"seed", "N", "the first of them (default 0)"});
  flags.push_back({"tolerance", "X",
                   "largest relative error (default: by the output's type)"});
  flags.push_back({"json", "", "print the result as JSON"});
  return {"diff",
          "compare two models numerically on random inputs",
          "Runs both on the CPU and prints the worst relative error of each "
          "output: the\nlargest difference over the largest magnitude. Exit "
          "code 1 when one is over the\ntolerance.",
          {"A", "B"},
          flags,
          Diff};
}

}  // namespace isomer::cli
