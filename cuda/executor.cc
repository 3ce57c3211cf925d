// Kernels of equal source are compiled and timed once. Compiling takes longest,
// so all sources that may be needed are compiled together, on all cores.
#include "cuda/executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr double kNoLimit = 1e30;  // microseconds
constexpr int kLibraryWays = 8;    // of each product, to time
// Of cuDNN's, those that have to be compiled take a second or more each.
constexpr int kDnnWays = 8, kDnnCompiledWays = 2;

// Calls f(0), ..., f(n - 1) on all cores.
void ForAll(int n, const std::function<void(int)>& f) {
  std::atomic<int> next{0};
  auto work = [&] {
    for (int i = next++; i < n; i = next++) f(i);
  };
  const int count =
      std::min<int>(n, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
}

// True if `name` stands for the variant, or for one way of a library's, which
// is `way` then: "library 2", "cudnn 41 2=7".
bool IsNamed(absl::string_view name, const Variant& v, std::string* way) {
  if (name == v.name) return true;
  if ((!v.library && !v.dnn) || !absl::ConsumePrefix(&name, v.name) ||
      !absl::ConsumePrefix(&name, " ")) {
    return false;
  }
  *way = std::string(name);
  return true;
}

absl::StatusOr<std::string> CompileCached(const Compiler& compiler,
                                          const std::string& source,
                                          const std::string& architecture,
                                          const KernelCache* cache) {
  if (cache == nullptr) return compiler.Compile(source, architecture);
  const std::string key = absl::StrCat("NVRTC ", compiler.version(), " ",
                                       architecture, "\n", source);
  if (auto image = cache->Image(key)) return *std::move(image);
  ASSIGN_OR_RETURN(std::string code, compiler.Compile(source, architecture));
  cache->AddImage(key, code);
  return code;
}

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since)
      .count();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(
    std::shared_ptr<Device> device, Program program,
    const ExecutorOptions& options) {
  std::unique_ptr<Executor> e(new Executor);
  e->device_ = std::move(device);
  e->program_ = std::move(program);
  ASSIGN_OR_RETURN(e->stream_, e->device_->NewStream());
  RETURN_IF_ERROR(e->Allocate());
  RETURN_IF_ERROR(e->Prepare(options));
  RETURN_IF_ERROR(e->Record());
  return e;
}

Executor::~Executor() {
  if (device_ == nullptr) return;
  device_->FreeGraph(graph_);
  device_->FreeStream(stream_);
  device_->Free(arena_);
  device_->Free(workspace_);
  for (DevicePointer p : own_) device_->Free(p);
}

absl::Status Executor::Allocate() {
  ASSIGN_OR_RETURN(arena_, device_->Allocate(program_.arena_bytes));
  // Kernels that are timed before the first run read what is there.
  RETURN_IF_ERROR(device_->FillAsync(arena_, 0, program_.arena_bytes, stream_));
  own_.assign(program_.buffers.size(), 0);
  for (size_t i = 0; i < own_.size(); ++i) {
    const Buffer& b = program_.buffers[i];
    if (b.kind == Buffer::Kind::kScratch) continue;
    ASSIGN_OR_RETURN(own_[i], device_->Allocate(b.bytes + 16));
    if (b.kind == Buffer::Kind::kInput) {
      RETURN_IF_ERROR(device_->FillAsync(own_[i], 0, b.bytes, stream_));
    } else {
      RETURN_IF_ERROR(device_->WriteAsync(own_[i], b.data.view.data(),
                                          b.data.view.size(), stream_));
    }
  }
  return device_->Wait(stream_);
}

DevicePointer Executor::PointerOf(int buffer) const {
  const Buffer& b = program_.buffers[buffer];
  return b.kind == Buffer::Kind::kScratch ? arena_ + b.offset : own_[buffer];
}

std::vector<int> Executor::BuffersOf(const Step& step,
                                     const Loaded& kernel) const {
  if (kernel.of == nullptr) return step.arguments;
  const Variant& v = *kernel.of;
  std::vector<int> out = v.arguments;
  if (kernel.dnn != nullptr) return out;
  for (int b : {v.a, v.b, v.added, v.bias}) {
    if (b >= 0) out.push_back(b);
  }
  return out;
}

absl::Status Executor::LaunchStep(const Step& step, const Loaded& kernel,
                                  bool early, const Moved& moved,
                                  Stream stream) const {
  auto at = [&](int b) {
    if (b < 0) return DevicePointer{0};
    const auto it = moved.find(b);
    return it == moved.end() ? PointerOf(b) : it->second;
  };
  if (kernel.blas != nullptr) {
    const Variant& v = *kernel.of;
    const Blas::Buffers buffers = {at(v.a), at(v.b), at(v.added), at(v.bias),
                                   at(v.out)};
    RETURN_IF_ERROR(blas_->Run(*kernel.blas, buffers, workspace_, stream));
    if (kernel.function == nullptr) return absl::OkStatus();
  }
  std::vector<DevicePointer> arguments;
  for (int b : kernel.of ? kernel.of->arguments : step.arguments) {
    arguments.push_back(at(b));
  }
  if (kernel.dnn != nullptr) {
    return dnn_->Run(*kernel.dnn, arguments, workspace_, stream);
  }
  return device_->Launch(kernel.function, kernel.source, arguments, early,
                         stream);
}

// A variant that is considered, or one way of a library to compute it.
struct Executor::Candidate {
  const Variant* variant = nullptr;
  std::string way = {};  // of a library; "": any
  KernelSource source = {};
  absl::StatusOr<std::string> code = absl::UnknownError("not compiled");
  std::shared_ptr<const DnnPlan> plan = nullptr;
};

// Steps of equal source, by that of their first variant, and the variants of
// theirs that are considered.
struct Executor::Group {
  std::vector<int> steps;
  std::string key;  // of its choice
  std::vector<Candidate> candidates;
};

absl::StatusOr<std::vector<Executor::Loaded>> Executor::Load(
    const Step& step, const Candidate& c) const {
  const Variant& variant = *c.variant;
  Loaded kernel;
  kernel.source = c.source;
  kernel.variant = variant.name;
  if (!c.code->empty()) {
    ASSIGN_OR_RETURN(kernel.function,
                     device_->Load(*c.code, c.source.shared_bytes));
  }
  if (!variant.library && !variant.dnn) return std::vector<Loaded>{kernel};
  kernel.of = &variant;
  if (variant.dnn) {
    kernel.dnn = c.plan;
    kernel.variant = absl::StrCat(variant.name, " ", c.way);
    // What it does at the first run only may not be recorded.
    RETURN_IF_ERROR(LaunchStep(step, kernel, false, {}, stream_));
    RETURN_IF_ERROR(device_->Wait(stream_));
    return std::vector<Loaded>{kernel};
  }
  std::vector<Loaded> out;
  ASSIGN_OR_RETURN(const auto ways,
                   blas_->Products(*variant.library, kLibraryWays));
  for (size_t i = 0; i < ways.size(); ++i) {
    if (!c.way.empty() && c.way != absl::StrCat(i)) continue;
    kernel.variant = absl::StrCat(variant.name, " ", i);
    kernel.blas = ways[i];
    out.push_back(kernel);
  }
  return out;
}

absl::StatusOr<std::vector<Executor::Group>> Executor::Groups(
    const ExecutorOptions& options) const {
  const int n = static_cast<int>(program_.steps.size());
  std::vector<std::string> texts(n);
  std::vector<absl::Status> failed(n);
  ForAll(n, [&](int i) {
    auto source = program_.steps[i].variants[0].source();
    failed[i] = source.status();
    if (source.ok()) texts[i] = std::move(source->text);
  });
  for (const absl::Status& s : failed) RETURN_IF_ERROR(s);
  std::map<std::string, std::vector<int>> by_text;
  for (int i = 0; i < n; ++i) by_text[texts[i]].push_back(i);
  std::vector<Group> groups;
  for (const auto& [text, members] : by_text) {
    const Step& step = program_.steps[members[0]];
    // Another cuDNN has other engines.
    const bool has_dnn = absl::c_any_of(
        step.variants, [](const Variant& v) { return v.dnn.has_value(); });
    const std::string with =
        has_dnn && dnn_ ? absl::StrCat(" cuDNN ", dnn_->version()) : "";
    Group group{members, absl::StrCat(device_->name(), with, "\n", text), {}};
    std::optional<std::string> chosen;
    if (options.cache) chosen = options.cache->Choice(group.key);
    const auto it = options.choices.find(step.signature);
    if (it != options.choices.end()) chosen = it->second;
    for (const Variant& v : step.variants) {
      if (v.library && blas_ == nullptr) continue;
      if (v.dnn && dnn_ == nullptr) continue;
      std::string way;
      const bool wanted = chosen ? IsNamed(*chosen, v, &way)
                                 : options.tune || &v == &step.variants[0];
      if (wanted) group.candidates.push_back({&v, way});
    }
    groups.push_back(std::move(group));
  }
  NameWays(groups);
  for (Group& group : groups) {
    if (!group.candidates.empty()) continue;
    const Step& step = program_.steps[group.steps[0]];
    group.candidates.push_back({&step.variants[0]});
  }
  return groups;
}

void Executor::NameWays(std::vector<Group>& groups) const {
  ForAll(static_cast<int>(groups.size()), [&](int i) {
    std::vector<Candidate> all;
    for (Candidate& c : groups[i].candidates) {
      if (!c.variant->dnn || !c.way.empty()) {
        all.push_back(std::move(c));
        continue;
      }
      // What it cannot compute others can.
      if (!device_->MakeCurrent().ok()) continue;
      const auto ways = dnn_->Ways(*c.variant->dnn, kDnnWays, kDnnCompiledWays);
      if (!ways.ok()) continue;
      for (const std::string& way : *ways) all.push_back({c.variant, way});
    }
    groups[i].candidates = std::move(all);
  });
}

void Executor::MakePlan(Candidate& c) const {
  const absl::Status current = device_->MakeCurrent();
  auto plan = current.ok() ? dnn_->Plan(*c.variant->dnn, c.way) : current;
  if (plan.ok()) {
    c.plan = *std::move(plan);
  } else {
    c.code = plan.status();
  }
}

absl::Status Executor::CompileAll(std::vector<Group>& groups,
                                  const ExecutorOptions& options) const {
  ASSIGN_OR_RETURN(const Compiler compiler, Compiler::Open());
  std::vector<Candidate*> jobs;
  for (Group& g : groups) {
    for (Candidate& c : g.candidates) jobs.push_back(&c);
  }
  // What takes longest comes first.
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Candidate* a, const Candidate* b) {
                     return a->variant->dnn && !b->variant->dnn;
                   });
  const int total = static_cast<int>(jobs.size());
  std::atomic<bool> stopped{false};
  std::atomic<int> done{0};
  ForAll(total, [&](int i) {
    Candidate& c = *jobs[i];
    if (stopped) return;
    c.code = std::string();
    if (c.variant->dnn) MakePlan(c);
    if (c.variant->source) {
      auto source = c.variant->source();
      c.code = source.ok()
                   ? CompileCached(compiler, source->text,
                                   device_->architecture(), options.cache.get())
                   : absl::StatusOr<std::string>(source.status());
      if (source.ok()) c.source = *std::move(source);
    }
    if (options.progress && !options.progress(++done, total)) stopped = true;
  });
  if (stopped) return absl::CancelledError("compiling was stopped");
  return absl::OkStatus();
}

absl::StatusOr<Executor::Loaded> Executor::Fastest(const Group& group,
                                                   DevicePointer cold) const {
  const Step& step = program_.steps[group.steps[0]];
  Loaded best;
  bool found = false;
  double best_us = 0;
  absl::Status status;
  for (const Candidate& c : group.candidates) {
    status.Update(c.code.status());
    if (!c.code.ok()) continue;
    auto loaded = Load(step, c);
    status.Update(loaded.status());
    if (!loaded.ok()) continue;
    const bool alone = group.candidates.size() == 1 && loaded->size() == 1;
    for (Loaded& kernel : *loaded) {
      const absl::StatusOr<double> us =
          alone ? absl::StatusOr<double>(0)
                : TimeKernel(step, kernel, found ? best_us : kNoLimit, cold);
      if (absl::IsDataLoss(us.status())) return us.status();
      status.Update(us.status());
      if (!us.ok() || (found && *us >= best_us)) continue;
      best = std::move(kernel);
      best_us = *us;
      found = true;
    }
  }
  if (found) return best;
  status.Update(absl::NotFoundError("there is no way to compute it"));
  return status;
}

absl::Status Executor::OpenLibraries() {
  if (auto blas = device_->SharedBlas(Blas::Open); blas.ok()) {
    blas_ = *std::move(blas);
  }
  bool wanted = false;
  for (const Step& s : program_.steps) {
    for (const Variant& v : s.variants) wanted = wanted || v.dnn;
  }
  if (wanted) {
    auto dnn = device_->SharedDnn(Dnn::Open);
    if (dnn.ok()) dnn_ = *std::move(dnn);
  }
  if (blas_ == nullptr && dnn_ == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      workspace_,
      device_->Allocate(std::max(Blas::kWorkspaceBytes, Dnn::kWorkspaceBytes)));
  return absl::OkStatus();
}

absl::Status Executor::Prepare(const ExecutorOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(device_->MakeCurrent());
  RETURN_IF_ERROR(OpenLibraries());
  ASSIGN_OR_RETURN(std::vector<Group> groups, Groups(options));
  RETURN_IF_ERROR(CompileAll(groups, options));
  kernels_.resize(program_.steps.size());
  ASSIGN_OR_RETURN(const DevicePointer cold, ColdMemory());
  const absl::Cleanup free_cold = [&] { device_->Free(cold); };
  for (size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    const Step& first = program_.steps[group.steps[0]];
    absl::StatusOr<Loaded> best = Fastest(group, cold);
    if (!best.ok()) {
      return Prefixed(absl::StrCat(first.signature, ": "), best.status());
    }
    best->group = static_cast<int>(g);
    if (options.cache && options.tune) {
      options.cache->AddChoice(group.key, best->variant);
    }
    // Equal steps have equal variants, over buffers of their own.
    for (int i : group.steps) {
      kernels_[i] = *best;
      if (best->of == nullptr) continue;
      kernels_[i].of =
          &program_.steps[i].variants[best->of - first.variants.data()];
    }
  }
  if (options.cache && options.tune) RETURN_IF_ERROR(options.cache->Save());
  compile_seconds_ = Seconds(start);
  return absl::OkStatus();
}

absl::Status Executor::Record() {
  ASSIGN_OR_RETURN(
      graph_, device_->Capture(stream_, [&](Stream s) -> absl::Status {
        for (size_t i = 0; i < kernels_.size(); ++i) {
          RETURN_IF_ERROR(
              LaunchStep(program_.steps[i], kernels_[i], i > 0, {}, s));
        }
        return absl::OkStatus();
      }));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> Executor::Run(
    const std::map<std::string, Tensor>& inputs) {
  for (const ProgramInput& in : program_.inputs) {
    const auto it = inputs.find(in.name);
    if (it == inputs.end()) return Invalid("input '", in.name, "' is missing");
    if (it->second.type != in.type) {
      return Invalid("input '", in.name, "' has type ",
                     TypeText(it->second.type), "; expected ",
                     TypeText(in.type));
    }
    const std::string bytes = ToBytes(it->second);
    // On the stream of the run: others do not wait for each other.
    RETURN_IF_ERROR(device_->WriteAsync(PointerOf(in.buffer), bytes.data(),
                                        bytes.size(), stream_));
  }
  RETURN_IF_ERROR(device_->MakeCurrent());
  RETURN_IF_ERROR(RunAsync(stream_));
  RETURN_IF_ERROR(device_->Wait(stream_));
  std::vector<Tensor> outputs;
  for (const ProgramOutput& out : program_.outputs) {
    std::string bytes(NumElements(out.type) * ByteSize(out.type.dtype), '\0');
    RETURN_IF_ERROR(device_->ReadAsync(bytes.data(), PointerOf(out.buffer),
                                       bytes.size(), stream_));
    RETURN_IF_ERROR(device_->Wait(stream_));
    ASSIGN_OR_RETURN(Tensor t, FromBytes(out.type, bytes, Interp::kRun));
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

absl::StatusOr<double> Executor::Time(int times) const {
  RETURN_IF_ERROR(device_->MakeCurrent());
  for (int i = 0; i < 5; ++i) RETURN_IF_ERROR(RunAsync(stream_));
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    ASSIGN_OR_RETURN(const double us,
                     device_->Time(stream_, [&] { return RunAsync(stream_); }));
    all.push_back(us);
  }
  std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
  return all[all.size() / 2];
}

absl::StatusOr<std::vector<StepTime>> Executor::TimeSteps() const {
  RETURN_IF_ERROR(device_->MakeCurrent());
  ASSIGN_OR_RETURN(const DevicePointer cold, ColdMemory());
  const absl::Cleanup free_cold = [&] { device_->Free(cold); };
  std::vector<StepTime> out;
  std::map<int, size_t> seen;  // by group
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const auto it = seen.find(kernels_[i].group);
    if (it != seen.end()) {
      ++out[it->second].launches;
      out[it->second].steps.push_back(static_cast<int>(i));
      continue;
    }
    const Step& step = program_.steps[i];
    ASSIGN_OR_RETURN(const double us,
                     TimeKernel(step, kernels_[i], kNoLimit, cold));
    seen[kernels_[i].group] = out.size();
    int place = 0;
    std::string way;
    while (!IsNamed(kernels_[i].variant, step.variants[place], &way)) ++place;
    out.push_back({step.family,
                   step.signature,
                   kernels_[i].variant,
                   us,
                   step.flops,
                   step.bytes,
                   1,
                   place,
                   {static_cast<int>(i)}});
  }
  return out;
}

std::map<std::string, std::string> Executor::choices() const {
  std::map<std::string, std::string> out;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    if (program_.steps[i].variants.size() > 1) {
      out[program_.steps[i].signature] = kernels_[i].variant;
    }
  }
  return out;
}

}  // namespace isomer::cuda
