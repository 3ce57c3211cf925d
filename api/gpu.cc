#include "api/gpu.h"

#include <utility>

#include "api/graph_access.h"
#include "api/rule_files.h"
#include "cost_model/cost.h"
#include "cuda/executor.h"
#include "cuda/kernel_cache.h"
#include "cuda/kernel_uses.h"
#include "ops/dtype.h"
#include "ops/status.h"

namespace isomer {

namespace {

GpuTensor TensorAt(const std::string& name, const TensorType& type,
                   cuda::DevicePointer at) {
  GpuTensor out;
  out.name = name;
  out.type = std::string(DTypeName(type.dtype));
  out.shape = type.shape;
  out.bytes = cuda::BytesOf(type);
  out.data = reinterpret_cast<void*>(at);
  return out;
}

}  // namespace

GpuModel::GpuModel(std::unique_ptr<cuda::Executor> executor)
    : executor_(std::move(executor)) {}
GpuModel::GpuModel(GpuModel&&) noexcept = default;
GpuModel& GpuModel::operator=(GpuModel&&) noexcept = default;
GpuModel::~GpuModel() = default;

absl::StatusOr<GpuModel> GpuModel::Load(const Graph& graph,
                                        const GpuOptions& options) {
  ASSIGN_OR_RETURN(const auto device, cuda::Device::Open(options.device));
  ASSIGN_OR_RETURN(cost::Target target, FindTarget(options.target));
  ASSIGN_OR_RETURN(const cost::CostModel cost,
                   cost::CostModel::Create(std::move(target)));
  const ir::Graph& ir = GraphAccess::Ir(graph);
  ASSIGN_OR_RETURN(cuda::Program program,
                   cuda::ProgramFor(*device, ir, cost, {.tf32 = options.tf32}));
  cuda::ExecutorOptions how;
  how.tune = options.tune;
  how.progress = options.progress;
  if (!options.cache.empty()) {
    ASSIGN_OR_RETURN(how.cache, cuda::KernelCache::Open(options.cache));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<cuda::Executor> created,
                   cuda::Executor::Create(device, std::move(program), how));
  GpuModel out(std::move(created));
  const cuda::Executor& executor = *out.executor_;
  for (NodeId id : ir.inputs()) {
    const TensorType* type = ir.FindType({id, 0});
    if (type == nullptr) continue;  // nothing reads it
    const std::string& name = *ir.node(id).name;
    const auto at = executor.input(name);
    out.inputs_.push_back(
        TensorAt(name, *type, at.ok() ? *at : cuda::DevicePointer{0}));
  }
  for (size_t i = 0; i < ir.outputs().size(); ++i) {
    const ir::Output& o = ir.outputs()[i];
    out.outputs_.push_back(TensorAt(o.name, ir.type(o.value),
                                    executor.output(static_cast<int>(i))));
  }
  return out;
}

absl::StatusOr<std::vector<std::string>> GpuModel::Run(
    const std::map<std::string, std::string>& inputs) {
  return executor_->RunBytes(inputs);
}

absl::Status GpuModel::RunAsync(void* stream) const {
  return executor_->RunAsync(stream);
}

absl::StatusOr<double> GpuModel::Time(int times) const {
  return executor_->Time(times);
}

}  // namespace isomer
