// A planned graph as a list of kernel launches over planned memory: all that
// can be decided without a device.
//
// Values lie in buffers with a step for each dimension. Images that
// convolutions read or write have their channels last; what a concat wants in
// its output is computed there; views are other steps over the same buffer.
// Buffers of values that are never alive at one time share memory.
#ifndef ISOMER_CUDA_PROGRAM_H_
#define ISOMER_CUDA_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cost_model/cost.h"
#include "cuda/dnn_product.h"
#include "cuda/kernel.h"
#include "cuda/planned_kernels.h"
#include "cuda/product.h"
#include "graph/graph.h"
#include "ops/onnx_node.h"

namespace isomer::cuda {

struct Buffer {
  enum class Kind { kInput, kConstant, kScratch };
  Kind kind = Kind::kScratch;
  DType dtype = DType::kF32;  // of what is in it
  int64_t bytes = 0;
  SharedBytes data = {};  // kConstant: what is in it
  bool copy = false;      // of another constant, as some variants want it
  int64_t offset = 0;     // kScratch: in the arena
};

// One way to compute a step: a kernel, or a product by a library, which a
// kernel may follow, or all of it by cuDNN.
struct Variant {
  std::string name;  // "element", "wg 128x128 2x1 s4 z1", "library", "cudnn"
  // Null if the library computes all of it.
  std::function<absl::StatusOr<KernelSource>()> source;
  std::optional<LibraryProduct> library = {};
  // The library's buffers; -1: there is none.
  int a = 0, b = 0, added = -1, bias = -1, out = 0;
  std::optional<DnnProduct> dnn = {};
  // Of the kernel, if not those of the step; the tensors of `dnn`.
  std::vector<int> arguments = {};

  bool IsOfLibrary() const { return library.has_value() || dnn.has_value(); }
};

struct Step {
  std::string family;  // of the planner: "matmul", "pointwise", ...
  // What a profile calls the planned kernel; "" if the step is no kernel of the
  // plan, but a copy. Several kernels that one step does stand side by side,
  // with "; " between them.
  std::string signature;
  int kernel = 0;                 // of the plan; the last of several
  std::vector<Variant> variants;  // the first is the best guess
  std::vector<int> arguments;     // buffers, in the order of parameters
  int reads = 0;                  // of the arguments; the others are written
  double us = 0;                  // as the cost model says
  double flops = 0;
  int64_t bytes = 0;  // that have to be moved at least

  // What a variant's kernel is launched with.
  const std::vector<int>& ArgumentsOf(const Variant& v) const {
    return v.arguments.empty() && !v.library ? arguments : v.arguments;
  }
};

struct ProgramInput {
  std::string name;
  TensorType type;
  int buffer = 0;
};
struct ProgramOutput {
  std::string name;
  TensorType type;
  int buffer = 0;
};

// How steps that do not need each other run side by side.
struct Schedule {
  struct Place {
    int stream = 0;
    std::vector<int> after = {};  // steps on other streams that it waits for
    int number = 0;               // among the steps of its stream
    std::vector<int> ended = {};  // how many of each stream, when it starts
  };
  std::vector<Place> steps;
  int streams = 1;
  double us = 0;  // by what the cost model says of the steps

  // True if a step has ended when what stands at `place` starts.
  bool Ended(int step, const Place& place) const {
    const Place& p = steps[step];
    return p.stream < static_cast<int>(place.ended.size()) &&
           p.number < place.ended[p.stream];
  }
  // What is known of a step: how long it takes alone, and how much of the
  // device it wants meanwhile, as a share.
  struct Load {
    double us = 0, share = 1;
  };
  // What the program takes on these streams, in microseconds. No more than its
  // steps take one after the other.
  double SideBySide(absl::Span<const Load> loads) const;
};

struct Program {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  Schedule schedule;
  std::vector<ProgramInput> inputs;    // those that are read
  std::vector<ProgramOutput> outputs;  // in the order of the graph
  std::vector<PlannedKernel> planned;  // those that are launched
  int64_t arena_bytes = 0;
  int64_t constant_bytes = 0;
  bool cold = false;  // constants come from memory in every run
  int units = 1;      // multiprocessors of the device
};

struct ProgramOptions {
  int units = 132;  // streaming multiprocessors of the device
  // That stay in its cache from run to run, or from tile to tile.
  int64_t cached_bytes = int64_t{40} << 20;
  int streams = 4;  // at most
  // Libraries may round factors of products of f32 to ten bits.
  bool tf32 = false;
  // Given for a part of a model with constants of so many bytes: images that it
  // reads and makes lie as they do within the model.
  std::optional<int64_t> part_of_bytes = {};
  // Called now and then while constants are folded; false stops.
  std::function<bool(int done, int total)> progress = nullptr;
};

// Plans the graph with the cost model and generates its kernels. An operator
// without a kernel is an Unimplemented error that names it.
absl::StatusOr<Program> MakeProgram(const ir::Graph& graph,
                                    const cost::CostModel& cost,
                                    const ProgramOptions& options = {});

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_PROGRAM_H_
