// isomer run: a model on the CPU or a GPU with random inputs.
#include <chrono>
#include <cmath>

#include "absl/strings/str_format.h"
#include "api/gpu.h"
#include "api/graph_access.h"
#include "api/isomer.h"
#include "graph/evaluate.h"
#include "onnx/import.h"
#include "ops/status.h"
#include "runtime/fast.h"
#include "runtime/random_inputs.h"
#include "tools/files.h"
#include "tools/json.h"
#include "tools/npz.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

struct Summary {
  double mean = 0, deviation = 0;
};

Summary Summarize(const Tensor& t) {
  Summary s;
  const std::vector<double> values = ToDoubles(t);
  for (double v : values) s.mean += v / values.size();
  for (double v : values) {
    s.deviation += (v - s.mean) * (v - s.mean) / values.size();
  }
  s.deviation = std::sqrt(s.deviation);
  return s;
}

using Inputs = std::map<std::string, Tensor>;

// Runs the graph on the GPU of that name; `seconds` is what a run takes there.
absl::StatusOr<std::vector<Tensor>> RunOnDevice(const std::string& name,
                                                const Graph& graph,
                                                const Inputs& inputs,
                                                double* seconds) {
  ASSIGN_OR_RETURN(GpuModel model,
                   GpuModel::Load(graph, {.device = name, .tune = false}));
  std::map<std::string, std::string> bytes;
  for (const auto& [input, tensor] : inputs) bytes[input] = ToBytes(tensor);
  ASSIGN_OR_RETURN(const std::vector<std::string> results, model.Run(bytes));
  const ir::Graph& ir = GraphAccess::Ir(graph);
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorType& type = ir.type(ir.outputs()[i].value);
    ASSIGN_OR_RETURN(Tensor t, FromBytes(type, results[i], Interp::kRun));
    outputs.push_back(std::move(t));
  }
  ASSIGN_OR_RETURN(const double us, model.Time(10));
  *seconds = us * 1e-6;
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> RunOnCpu(const Args& args, int threads,
                                             const ir::Graph& graph,
                                             const Inputs& inputs,
                                             double* seconds) {
  Progress progress("running");
  ir::EvaluateOptions how;
  how.progress = [&](int done, int total) { return progress(done, total); };
  if (!args.Has("reference")) how.run = runtime::FastKernels(threads);
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                   ir::Evaluate(graph, inputs, how));
  *seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return outputs;
}

absl::StatusOr<int> Run(const Args& args) {
  ASSIGN_OR_RETURN(onnx::ImportOptions options, ImportOptionsFrom(args));
  ASSIGN_OR_RETURN(int64_t seed, args.Int("seed", 0, 0, INT64_MAX));
  ASSIGN_OR_RETURN(int64_t threads, args.Int("threads", 0, 0, 1024));
  ASSIGN_OR_RETURN(
      const Graph model,
      Graph::FromOnnx(args.positionals()[0], {options.shapes, options.dims}));
  const ir::Graph& graph = GraphAccess::Ir(model);
  ASSIGN_OR_RETURN(auto inputs,
                   runtime::RandomInputs(graph, static_cast<uint64_t>(seed)));
  double seconds = 0;
  absl::StatusOr<std::vector<Tensor>> ran =
      args.Has("device")
          ? RunOnDevice(args.String("device"), model, inputs, &seconds)
          : RunOnCpu(args, static_cast<int>(threads), graph, inputs, &seconds);
  if (!ran.ok()) return ran.status();
  std::vector<Tensor> outputs = *std::move(ran);
  std::vector<std::pair<std::string, Tensor>> named;
  Json report = Json::Object(), list = Json::Array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.outputs()[i].name;
    const Summary s = Summarize(outputs[i]);
    Json item = Json::Object();
    item.Set("name", name)
        .Set("type", TypeText(outputs[i].type))
        .Set("mean", s.mean)
        .Set("deviation", s.deviation);
    list.Add(std::move(item));
    if (!args.Has("json")) {
      absl::PrintF("%s: %s, mean %.6g, deviation %.6g\n", name,
                   TypeText(outputs[i].type), s.mean, s.deviation);
    }
    named.emplace_back(name, std::move(outputs[i]));
  }
  report.Set("outputs", std::move(list)).Set("seconds", seconds);
  if (args.Has("json")) {
    absl::PrintF("%s\n", report.ToString());
  } else {
    absl::PrintF("%.*f s\n", args.Has("device") ? 6 : 3, seconds);
  }
  if (args.Has("inputs-out")) {
    std::vector<std::pair<std::string, Tensor>> list(inputs.begin(),
                                                     inputs.end());
    RETURN_IF_ERROR(WriteFile(args.String("inputs-out"), NpzBytes(list)));
  }
  if (args.Has("out")) {
    RETURN_IF_ERROR(WriteFile(args.String("out"), NpzBytes(named)));
  }
  return 0;
}

}  // namespace

Verb RunVerb() {
  std::vector<Flag> flags = ShapeFlags();
  flags.push_back({"seed", "N", "which random inputs (default 0)"});
  flags.push_back({"out", "F.npz", "write the outputs to a file numpy reads"});
  flags.push_back({"inputs-out", "F.npz", "write the inputs likewise"});
  flags.push_back({"reference", "", "use the reference kernels alone"});
  flags.push_back({"threads", "N", "cores to use (default all)"});
  flags.push_back({"device", "NAME", "run on a GPU: cuda:0, say"});
  flags.push_back({"json", "", "print the result as JSON"});
  return {"run",
          "run a model on the CPU or a GPU with random inputs",
          "Prints a line per output and the time. All nodes that outputs need "
          "must be\nmodelled; an opaque one is named.",
          {"MODEL"},
          flags,
          Run};
}

}  // namespace isomer::cli
