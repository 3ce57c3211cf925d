// A model on a GPU: kernels compiled and chosen by timing, weights uploaded,
// memory planned, and all launches recorded as one CUDA graph. Libraries of
// CUDA are opened when a model is loaded; nothing of it is needed to build.
//
//   auto model = isomer::GpuModel::Load(graph, {.device = "cuda:0"});
//   auto outputs = model->Run({{"x", bytes}});
//
// An engine that keeps its data on the device writes it to inputs()[i].data,
// calls RunAsync on a stream of its own, and reads from outputs()[i].data.
#ifndef ISOMER_API_GPU_H_
#define ISOMER_API_GPU_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/isomer.h"

namespace isomer {

namespace cuda {
class Executor;
}  // namespace cuda

struct GpuOptions {
  std::string device = "cuda:0";
  // What kernels are planned for: a target that comes with Isomer, or the path
  // of a target file.
  std::string target = "h200";
  // A folder in which compiled kernels and what was chosen are kept: a model
  // that was loaded before is neither compiled nor timed again. "": none.
  std::string cache = "";
  // Times variants of kernels and takes the fastest; else the likeliest.
  bool tune = true;
  // Products of f32 may round factors to TF32, which has ten bits.
  bool tf32 = false;
  // Called now and then while kernels are compiled; false stops.
  std::function<bool(int done, int total)> progress = nullptr;
};

// An input or output, row by row.
struct GpuTensor {
  std::string name;
  std::string type;  // of an element: "f16"
  std::vector<int64_t> shape;
  int64_t bytes = 0;
  void* data = nullptr;  // on the device; null if the model does not read it
};

class GpuModel {
 public:
  // An operator without a kernel is an error that names it.
  static absl::StatusOr<GpuModel> Load(const Graph& graph,
                                       const GpuOptions& options = {});
  GpuModel(GpuModel&&) noexcept;
  GpuModel& operator=(GpuModel&&) noexcept;
  ~GpuModel();

  // In the order of the model.
  const std::vector<GpuTensor>& inputs() const { return inputs_; }
  const std::vector<GpuTensor>& outputs() const { return outputs_; }

  // Writes the inputs, by name, runs, and returns the outputs.
  absl::StatusOr<std::vector<std::string>> Run(
      const std::map<std::string, std::string>& inputs);
  // Starts a run on a stream (a CUstream or cudaStream_t) and returns at once.
  // It allocates nothing and waits for nothing. Runs of one model must not
  // overlap.
  absl::Status RunAsync(void* stream) const;
  // The microseconds that a run takes on the device, the median of so many.
  absl::StatusOr<double> Time(int times) const;

 private:
  explicit GpuModel(std::unique_ptr<cuda::Executor> executor);

  std::unique_ptr<cuda::Executor> executor_;
  std::vector<GpuTensor> inputs_, outputs_;
};

}  // namespace isomer

#endif  // ISOMER_API_GPU_H_
