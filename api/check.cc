// Models are run as they would be written: what export folds and rounds is
// part of what is checked.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "api/graph_access.h"
#include "api/isomer.h"
#include "graph/evaluate.h"
#include "ops/dtype.h"
#include "ops/status.h"
#include "runtime/compare.h"
#include "runtime/fast.h"
#include "runtime/random_inputs.h"

namespace isomer {

namespace {

// The model as a reader of its file would see it.
absl::StatusOr<ir::Graph> Written(const Graph& g) {
  ASSIGN_OR_RETURN(const auto out, GraphAccess::Export(g));
  ASSIGN_OR_RETURN(
      onnx::ImportedModel back,
      onnx::ImportModel(std::shared_ptr<const onnx::Model>(out, &out->model),
                        GraphAccess::Options(g)));
  return std::move(back.graph);
}

// One unit in the last place, relative to the largest magnitude.
double Unit(DType t) {
  switch (t) {
    case DType::kF64:
      return std::ldexp(1, -52);
    case DType::kF32:
      return std::ldexp(1, -23);
    case DType::kF16:
      return std::ldexp(1, -10);
    case DType::kBF16:
      return std::ldexp(1, -7);
    default:
      return 0;
  }
}

}  // namespace

absl::StatusOr<CheckResult> Check(
    const Graph& original, const Graph& optimized, int times,
    const std::function<bool(int64_t done, int64_t total)>& progress) {
  const ir::Graph& a = GraphAccess::Model(original).graph;
  ASSIGN_OR_RETURN(const ir::Graph b, Written(optimized));
  if (a.outputs().size() != b.outputs().size()) {
    return Invalid("the models have ", a.outputs().size(), " and ",
                   b.outputs().size(), " outputs");
  }
  CheckResult result{true, {}};
  for (const ir::Output& o : a.outputs())
    result.outputs.push_back({.name = o.name});
  const ir::RunNode fast = runtime::FastKernels();
  int64_t base = 0;
  auto how = [&](Interp interp) {
    ir::EvaluateOptions out{.interp = interp, .run = fast};
    if (progress) {
      out.progress = [&](int done, int total) {
        return progress(base + done, 3 * int64_t{times} * total);
      };
    }
    return out;
  };
  for (int i = 0; i < times; ++i) {
    ASSIGN_OR_RETURN(auto inputs,
                     runtime::RandomInputs(a, static_cast<uint64_t>(i)));
    std::map<std::string, Tensor> exact;
    for (const auto& [name, t] : inputs) {
      ASSIGN_OR_RETURN(exact[name], Reinterpret(t, Interp::kReal));
    }
    ASSIGN_OR_RETURN(std::vector<Tensor> want,
                     ir::Evaluate(a, exact, how(Interp::kReal)));
    ASSIGN_OR_RETURN(std::vector<Tensor> x,
                     ir::Evaluate(a, inputs, how(Interp::kRun)));
    ASSIGN_OR_RETURN(std::vector<Tensor> y,
                     ir::Evaluate(b, inputs, how(Interp::kRun)));
    for (size_t k = 0; k < want.size(); ++k) {
      CheckedOutput& out = result.outputs[k];
      out.original_error =
          std::max(out.original_error, runtime::RelativeError(x[k], want[k]));
      out.error = std::max(out.error, runtime::RelativeError(y[k], want[k]));
      out.allowed = 2 * out.original_error + Unit(x[k].type.dtype);
      // Where the original itself overflows there is nothing to compare with.
      if (std::isinf(out.original_error)) {
        out.error = runtime::RelativeError(y[k], x[k]);
        out.allowed = runtime::DefaultTolerance(x[k].type.dtype);
        out.original_error = 0;
      }
      if (!(out.error <= out.allowed)) result.passed = false;
    }
  }
  return result;
}

}  // namespace isomer
