// Isomer's public C++ interface: an ONNX model goes in, an equal and faster one
// comes out.
//
//   auto graph = isomer::Graph::FromOnnx("model.onnx");
//   auto r = graph->optimize({.target = "h200",
//                             .time_limit = absl::Seconds(10)});
//   r->graph.ToOnnx("model.opt.onnx");
//
// Errors are values. The library prints nothing, starts no processes and keeps
// no state between calls; progress and cancellation are callbacks. A Graph is a
// value: copies are cheap and may be used from several threads.
#ifndef ISOMER_API_ISOMER_H_
#define ISOMER_API_ISOMER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace isomer {

// Sizes for what a model leaves open.
struct ReadOptions {
  std::map<std::string, std::vector<int64_t>> shapes = {};  // by input
  std::map<std::string, int64_t> dims = {};                 // by name
};

struct OptimizeProgress {
  int64_t expansions = 0;
  double before_us = 0;  // estimated time of the model as it came
  double best_us = 0;    // and of the best graph so far
};

struct OptimizeOptions {
  // What the model is to run on: a target that comes with Isomer (h200, a100,
  // cpu, cpu-onnxruntime), or the path of a target file.
  std::string target = "h200";
  // A file of measured kernel times; "builtin": those that come with Isomer;
  // "": estimates alone. With measured times half of the time limit goes into a
  // search with estimates; measured times decide between the two.
  std::string profile = "";
  // Files of rules to use instead of the built-in ones, with commas between
  // them; "builtin" stands for those: "builtin,more.rules". Rules without a
  // valid proof are refused.
  std::string rules = "";
  // Graphs that cost up to alpha times the best are searched on from.
  double alpha = 1.05;
  absl::Duration time_limit = absl::Seconds(10);
  // Limits by count make the result independent of the machine's speed.
  int64_t expansions = INT64_MAX;
  int64_t search_memory = int64_t{256} << 20;  // bytes
  // The optimised model's peak memory on the target, in bytes.
  int64_t memory_limit = INT64_MAX;
  // The bytes of its weights: some rewrites make them larger.
  int64_t weight_limit = INT64_MAX;
  // Only rules that move values and recompute none.
  bool exact = false;
  int threads = 0;  // 0: one for each core
  // "taso": search as TASO does, to compare with: one rewrite at a time over
  // the whole graph, 100 graphs expanded. "": Isomer's own search.
  std::string baseline = "";
  // Called now and then; false stops the search, which returns the best so far.
  std::function<bool(const OptimizeProgress&)> progress = nullptr;
};

// What a model is estimated to need on the target.
struct Estimate {
  double time_us = 0;
  double measured_share = 0;  // of the time, from 0 to 1
  int64_t kernels = 0;
  int64_t peak_bytes = 0;
  int64_t weight_bytes = 0;
};

struct RuleApplied {
  std::string rule;
  std::string proof;  // the hash under which it was proved
  int64_t times = 0;
  double gain_us = 0;
};

struct OptimizeResult;

class Graph {
 public:
  // Reads a model file, or a model in memory.
  static absl::StatusOr<Graph> FromOnnx(const std::string& path,
                                        const ReadOptions& options = {});
  static absl::StatusOr<Graph> FromOnnxBytes(std::string bytes,
                                             const ReadOptions& options = {});

  // Writes the model; a file appears complete or not at all. What no rewrite
  // touched is written as it came.
  absl::Status ToOnnx(const std::string& path) const;
  absl::StatusOr<std::string> ToOnnxBytes() const;

  // Finds an equal graph that is estimated to be faster. A graph that cannot
  // be improved comes back as it is.
  absl::StatusOr<OptimizeResult> optimize(
      const OptimizeOptions& options = {}) const;

  // The named dimensions that ReadOptions gave a number and that are numbers
  // when the model is written, because a rewrite made something that depends
  // on them; the others have their names again.
  absl::StatusOr<std::vector<std::string>> FixedDims() const;

  // How many nodes of each ONNX operator the model has when it is written.
  absl::StatusOr<std::map<std::string, int64_t>> OnnxOperators() const;

 private:
  friend class GraphAccess;
  struct Impl;
  explicit Graph(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

struct OptimizeResult {
  Graph graph;
  bool improved = false;  // false: `graph` is the original
  Estimate before = {}, after = {};
  std::vector<RuleApplied> rules = {};    // by gain
  std::vector<std::string> refused = {};  // rules that may not be used, and why
  std::string target = {};                // its name
  std::string stopped_because = {};
  bool interrupted = false;  // by the progress callback
  int64_t expansions = 0;
  int64_t candidates = 0;
  int64_t parts = 0, repeated_parts = 0;
  absl::Duration elapsed = {};
};

// The outcome of running two models on the same random inputs. Errors are
// norm-wise, against an evaluation in double precision.
struct CheckedOutput {
  std::string name = {};
  double original_error = 0;
  double error = 0;
  double allowed = 0;  // twice the original's error and one unit in last place
};
struct CheckResult {
  bool passed = false;
  std::vector<CheckedOutput> outputs = {};
};

// Runs the models on the CPU, each as it would be written, on `times` random
// inputs.
absl::StatusOr<CheckResult> Check(
    const Graph& original, const Graph& optimized, int times = 1,
    const std::function<bool(int64_t done, int64_t total)>& progress = nullptr);

}  // namespace isomer

#endif  // ISOMER_API_ISOMER_H_
