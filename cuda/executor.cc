#include "cuda/executor.h"

#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "cuda/kernel_uses.h"
#include "ops/status.h"

namespace isomer::cuda {

absl::StatusOr<Program> ProgramFor(const Device& device, const ir::Graph& graph,
                                   const cost::CostModel& cost,
                                   ProgramOptions options) {
  options.units = device.units();
  return MakeProgram(graph, cost, options);
}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(
    std::shared_ptr<Device> device, Program program,
    const ExecutorOptions& options) {
  std::unique_ptr<Executor> e(new Executor);
  e->device_ = std::move(device);
  e->program_ = std::move(program);
  e->lanes_.emplace_back();
  ASSIGN_OR_RETURN(e->lanes_[0].stream, e->device_->NewStream());
  RETURN_IF_ERROR(e->Allocate());
  RETURN_IF_ERROR(e->Prepare(options));
  return e;
}

Executor::~Executor() {
  if (device_ == nullptr) return;
  device_->FreeGraph(graph_);
  for (const Lane& lane : lanes_) {
    device_->FreeStream(lane.stream);
    device_->Free(lane.workspace);
  }
  device_->Free(arena_);
  for (DevicePointer p : own_) device_->Free(p);
}

absl::Status Executor::Allocate() {
  const Stream stream = lanes_[0].stream;
  ASSIGN_OR_RETURN(arena_, device_->Allocate(program_.arena_bytes));
  // Kernels that are timed before the first run read what is there.
  RETURN_IF_ERROR(device_->FillAsync(arena_, 0, program_.arena_bytes, stream));
  own_.assign(program_.buffers.size(), 0);
  for (size_t i = 0; i < own_.size(); ++i) {
    const Buffer& b = program_.buffers[i];
    if (b.kind == Buffer::Kind::kScratch) continue;
    ASSIGN_OR_RETURN(own_[i], device_->Allocate(b.bytes + 16));
    if (b.kind == Buffer::Kind::kInput) {
      RETURN_IF_ERROR(device_->FillAsync(own_[i], 0, b.bytes, stream));
    } else {
      RETURN_IF_ERROR(device_->WriteAsync(own_[i], b.data.view.data(),
                                          b.data.view.size(), stream));
    }
  }
  RETURN_IF_ERROR(device_->Wait(stream));
  // What is on the device now is not needed here any more.
  for (Buffer& b : program_.buffers) b.data = {};
  return absl::OkStatus();
}

DevicePointer Executor::PointerOf(int buffer) const {
  const Buffer& b = program_.buffers[buffer];
  return b.kind == Buffer::Kind::kScratch ? arena_ + b.offset : own_[buffer];
}

void Executor::FreeUnread() {
  std::set<int> read;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const std::vector<int> own = BuffersOf(program_.steps[i], kernels_[i]);
    read.insert(own.begin(), own.end());
  }
  for (const ProgramOutput& out : program_.outputs) read.insert(out.buffer);
  for (int i = 0; i < static_cast<int>(own_.size()); ++i) {
    if (program_.buffers[i].kind != Buffer::Kind::kConstant || read.count(i)) {
      continue;
    }
    device_->Free(own_[i]);
    own_[i] = 0;
  }
}

std::vector<int> Executor::BuffersOf(const Step& step,
                                     const Loaded& kernel) const {
  const Variant& v = step.variants[kernel.place];
  std::vector<int> out = step.ArgumentsOf(v);
  if (!v.library) return out;
  for (int b : {v.a, v.b, v.added, v.bias}) {
    if (b >= 0) out.push_back(b);
  }
  return out;
}

absl::Status Executor::LaunchStep(const Step& step, const Loaded& kernel,
                                  Device::Setting setting, const Moved& moved,
                                  const Lane& lane) const {
  const Variant& v = step.variants[kernel.place];
  auto at = [&](int b) {
    if (b < 0) return DevicePointer{0};
    const auto it = moved.find(b);
    return it == moved.end() ? PointerOf(b) : it->second;
  };
  if (kernel.blas != nullptr) {
    const Blas::Buffers buffers = {at(v.a), at(v.b), at(v.added), at(v.bias),
                                   at(v.out)};
    RETURN_IF_ERROR(
        blas_->Run(*kernel.blas, buffers, lane.workspace, lane.stream));
    if (kernel.function == nullptr) return absl::OkStatus();
  }
  std::vector<DevicePointer> arguments;
  for (int b : step.ArgumentsOf(v)) arguments.push_back(at(b));
  if (kernel.dnn != nullptr) {
    return dnn_->Run(*kernel.dnn, arguments, lane.workspace, lane.stream);
  }
  return device_->Launch(kernel.function, kernel.source, arguments, setting,
                         lane.stream);
}

absl::StatusOr<Device::Graph> Executor::Record(bool several) const {
  const Schedule& schedule = program_.schedule;
  const int lanes = several ? schedule.streams : 1;
  const size_t steps = kernels_.size();
  // By step, of those that others wait for; then one to start and one by
  // stream to end with.
  std::vector<Device::Event> events(steps + 1 + lanes, nullptr);
  const absl::Cleanup free_events = [&] {
    for (Device::Event e : events) device_->FreeEvent(e);
  };
  auto record = [&](size_t event, const Lane& lane) -> absl::Status {
    if (events[event] == nullptr) {
      ASSIGN_OR_RETURN(events[event], device_->NewEvent());
    }
    return device_->Record(events[event], lane.stream);
  };
  std::vector<bool> awaited(steps);
  for (const Schedule::Place& p : schedule.steps) {
    for (int i : p.after) awaited[i] = several;
  }
  auto launches = [&](Stream) -> absl::Status {
    if (several) RETURN_IF_ERROR(record(steps, lanes_[0]));
    for (int k = 1; k < lanes; ++k) {
      RETURN_IF_ERROR(device_->WaitFor(events[steps], lanes_[k].stream));
    }
    std::vector<bool> busy(lanes);
    for (size_t i = 0; i < steps; ++i) {
      const Schedule::Place place =
          several ? schedule.steps[i] : Schedule::Place();
      const Lane& lane = lanes_[place.stream];
      for (int k : place.after) {
        RETURN_IF_ERROR(device_->WaitFor(events[k], lane.stream));
      }
      // A kernel is set up early behind one that it alone waits for.
      const bool early = busy[place.stream] && place.after.empty();
      RETURN_IF_ERROR(LaunchStep(program_.steps[i], kernels_[i],
                                 {.early = early, .apart = !several || apart_},
                                 {}, lane));
      busy[place.stream] = true;
      if (awaited[i]) RETURN_IF_ERROR(record(i, lane));
    }
    for (int k = 1; k < lanes; ++k) {
      RETURN_IF_ERROR(record(steps + k, lanes_[k]));
      RETURN_IF_ERROR(device_->WaitFor(events[steps + k], lanes_[0].stream));
    }
    return absl::OkStatus();
  };
  return device_->Capture(lanes_[0].stream, launches);
}

absl::StatusOr<std::vector<std::string>> Executor::RunBytes(
    const std::map<std::string, std::string>& inputs) {
  const Stream stream = lanes_[0].stream;
  for (const ProgramInput& in : program_.inputs) {
    const auto it = inputs.find(in.name);
    if (it == inputs.end()) return Invalid("input '", in.name, "' is missing");
    const std::string& bytes = it->second;
    const int64_t expected = BytesOf(in.type);
    if (static_cast<int64_t>(bytes.size()) != expected) {
      return Invalid("input '", in.name, "' has ", bytes.size(),
                     " bytes; expected ", expected, " of ", TypeText(in.type));
    }
  }
  // On the stream of the run: others do not wait for each other.
  for (const ProgramInput& in : program_.inputs) {
    const std::string& bytes = inputs.at(in.name);
    RETURN_IF_ERROR(device_->WriteAsync(PointerOf(in.buffer), bytes.data(),
                                        bytes.size(), stream));
  }
  RETURN_IF_ERROR(device_->MakeCurrent());
  RETURN_IF_ERROR(RunAsync(stream));
  std::vector<std::string> outputs(program_.outputs.size());
  absl::Status status;
  for (size_t i = 0; i < outputs.size() && status.ok(); ++i) {
    const ProgramOutput& out = program_.outputs[i];
    outputs[i].resize(BytesOf(out.type));
    status = device_->ReadAsync(outputs[i].data(), PointerOf(out.buffer),
                                outputs[i].size(), stream);
  }
  // What is being read to must stay until then, whatever comes.
  status.Update(device_->Wait(stream));
  if (!status.ok()) return status;
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> Executor::Run(
    const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, std::string> bytes;
  for (const ProgramInput& in : program_.inputs) {
    const auto it = inputs.find(in.name);
    if (it == inputs.end()) continue;
    if (it->second.type != in.type) {
      return Invalid("input '", in.name, "' has type ",
                     TypeText(it->second.type), "; expected ",
                     TypeText(in.type));
    }
    bytes[in.name] = ToBytes(it->second);
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> results, RunBytes(bytes));
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    ASSIGN_OR_RETURN(Tensor t, FromBytes(program_.outputs[i].type, results[i],
                                         Interp::kRun));
    outputs.push_back(std::move(t));
  }
  return outputs;
}

absl::StatusOr<DevicePointer> Executor::input(absl::string_view name) const {
  for (const ProgramInput& in : program_.inputs) {
    if (in.name == name) return PointerOf(in.buffer);
  }
  return Invalid("there is no input '", name, "'");
}

DevicePointer Executor::output(int i) const {
  return PointerOf(program_.outputs[i].buffer);
}

absl::Status Executor::RunAsync(Stream stream) const {
  return device_->LaunchGraph(graph_, stream);
}

std::map<std::string, std::string> Executor::choices() const {
  std::map<std::string, std::string> out;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const Loaded& k = kernels_[i];
    if (k.IsOfLibrary()) continue;
    if (program_.steps[i].variants.size() > 1) {
      out[program_.steps[i].signature] = k.variant;
    }
  }
  return out;
}

}  // namespace isomer::cuda
