// Which variant of each kernel runs, and on how many streams. Kernels of equal
// source are compiled and timed once. Compiling takes longest, so all sources
// that may be needed are compiled together, on all cores.
#include "cuda/executor_choice.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "graph/for_all.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int kLibraryWays = 8;  // of each product, to time
// Of cuDNN's, those that have to be compiled take a second or more each.
constexpr int kDnnWays = 8, kDnnCompiledWays = 2;
// How many variants are tried in the whole program first, our own and of each
// library.
constexpr int kTried = 4;
// What a cache says of a program's streams.
constexpr absl::string_view kOne = "one", kSeveral = "several",
                            kClose = "several close";

// True if `name` stands for the variant, or for one way of a library's, which
// is `way` then: "library 2", "cudnn 41 2=7".
bool IsNamed(absl::string_view name, const Variant& v, std::string* way) {
  if (name == v.name) return true;
  if (!v.IsOfLibrary() || !absl::ConsumePrefix(&name, v.name) ||
      !absl::ConsumePrefix(&name, " ")) {
    return false;
  }
  *way = std::string(name);
  return true;
}

// Whether a library computes a variant of the step: &Variant::dnn, say.
template <typename T>
bool HasVariantOf(const Step& step, std::optional<T> Variant::*library) {
  return absl::c_any_of(step.variants, [library](const Variant& v) {
    return (v.*library).has_value();
  });
}

bool WantsDnn(const Program& program) {
  return absl::c_any_of(program.steps, [](const Step& s) {
    return HasVariantOf(s, &Variant::dnn);
  });
}

// cuDNN's ways to compute it. What it cannot compute others can.
std::vector<std::string> WaysOf(const Device& device, const Dnn& dnn,
                                const DnnProduct& product) {
  if (!device.MakeCurrent().ok()) return {};
  auto ways = dnn.Ways(product, kDnnWays, kDnnCompiledWays);
  return ways.ok() ? *std::move(ways) : std::vector<std::string>();
}

}  // namespace

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

absl::StatusOr<std::vector<Executor::Loaded>> Executor::Load(
    const Step& step, const Candidate& c) const {
  const Variant& variant = *c.variant;
  Loaded kernel;
  kernel.source = c.source;
  kernel.variant = variant.name;
  kernel.place = static_cast<int>(&variant - step.variants.data());
  if (!c.code->empty()) {
    ASSIGN_OR_RETURN(kernel.function, device_->Load(*c.code, c.source));
  }
  if (!variant.IsOfLibrary()) return std::vector<Loaded>{kernel};
  if (variant.dnn) {
    kernel.dnn = c.plan;
    kernel.variant = absl::StrCat(variant.name, " ", c.way);
    // What it does at the first run only may not be recorded.
    RETURN_IF_ERROR(LaunchStep(step, kernel, {}, {}, lanes_[0]));
    RETURN_IF_ERROR(device_->Wait(lanes_[0].stream));
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

// What is the fastest depends on what runs before and after.
std::string Executor::ChoiceKey(absl::string_view what) const {
  std::string key = absl::StrCat(device_->name(), "\n", what);
  for (const Step& s : program_.steps) absl::StrAppend(&key, "\n", s.signature);
  return key;
}

std::string Executor::LibrariesOf(const Step& step) const {
  std::string out;
  if (blas_ && HasVariantOf(step, &Variant::library)) {
    absl::StrAppend(&out, " cuBLASLt ", blas_->version());
  }
  if (dnn_ && HasVariantOf(step, &Variant::dnn)) {
    absl::StrAppend(&out, " cuDNN ", dnn_->version());
  }
  return out;
}

absl::StatusOr<std::vector<Executor::Group>> Executor::Groups(
    const ExecutorOptions& options) const {
  const int n = static_cast<int>(program_.steps.size());
  std::vector<std::string> texts(n);
  std::vector<absl::Status> failed(n);
  ForAll(n, [&](int64_t i) {
    auto source = program_.steps[i].variants[0].source();
    failed[i] = source.status();
    if (source.ok()) texts[i] = std::move(source->text);
  });
  for (const absl::Status& s : failed) RETURN_IF_ERROR(s);
  std::map<std::string, std::vector<int>> by_text;
  for (int i = 0; i < n; ++i) {
    // One may have variants that another has not: constants can lie otherwise.
    for (const Variant& v : program_.steps[i].variants) {
      absl::StrAppend(&texts[i], "\n", v.name);
    }
    by_text[texts[i]].push_back(i);
  }
  std::vector<Group> groups;
  for (const auto& [text, members] : by_text) {
    const Step& step = program_.steps[members[0]];
    Group group{members, ChoiceKey(absl::StrCat(text, LibrariesOf(step))), {}};
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
  ForAll(static_cast<int64_t>(groups.size()), [&](int64_t i) {
    std::vector<Candidate> all;
    for (Candidate& c : groups[i].candidates) {
      if (!c.variant->dnn || !c.way.empty()) {
        all.push_back(std::move(c));
        continue;
      }
      for (const std::string& way : WaysOf(*device_, *dnn_, *c.variant->dnn)) {
        all.push_back({c.variant, way});
      }
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
  ForAll(total, [&](int64_t i) {
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

absl::Status Executor::CompileAhead(const Device& device,
                                    absl::Span<const Program* const> programs,
                                    const KernelCache& cache, bool plans) {
  ASSIGN_OR_RETURN(const Compiler compiler, Compiler::Open());
  std::shared_ptr<const Dnn> dnn;
  if (plans &&
      absl::c_any_of(programs, [](const Program* p) { return WantsDnn(*p); })) {
    RETURN_IF_ERROR(device.MakeCurrent());
    dnn = device.SharedDnn(Dnn::Open).value_or(nullptr);
  }
  std::vector<const Variant*> all;
  for (const Program* p : programs) {
    for (const Step& s : p->steps) {
      for (const Variant& v : s.variants) all.push_back(&v);
    }
  }
  // Many steps have the same kernels.
  absl::Mutex mutex;
  std::set<std::string> seen;
  // What cannot be compiled is found out when it is wanted.
  ForAll(static_cast<int64_t>(all.size()), [&](int64_t i) {
    const Variant& v = *all[i];
    if (v.dnn && dnn != nullptr) {
      // It keeps its plans.
      for (const std::string& way : WaysOf(device, *dnn, *v.dnn)) {
        dnn->Plan(*v.dnn, way).status().IgnoreError();
      }
    }
    if (!v.source) return;
    const auto source = v.source();
    if (!source.ok()) return;
    {
      absl::MutexLock lock(&mutex);
      if (!seen.insert(source->text).second) return;
    }
    CompileCached(compiler, source->text, device.architecture(), &cache)
        .IgnoreError();
  });
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Executor::Timed>> Executor::Fastest(
    const Group& group, DevicePointer cold) const {
  const Step& step = program_.steps[group.steps[0]];
  // Multiplying zeros takes less power, and clocks stay higher than in a run.
  if (group.IsCompared()) RETURN_IF_ERROR(LaunchNoise(NoisyOf(step)));
  std::vector<Timed> all;
  double best_us = kNoLimit;
  absl::Status status;
  for (const Candidate& c : group.candidates) {
    status.Update(c.code.status());
    if (!c.code.ok()) continue;
    auto loaded = Load(step, c);
    status.Update(loaded.status());
    if (!loaded.ok()) continue;
    const bool alone = !group.IsCompared() && loaded->size() == 1;
    for (Loaded& kernel : *loaded) {
      const absl::StatusOr<Times> times =
          alone ? absl::StatusOr<Times>(Times{0})
                : TimeKernel(step, kernel, best_us, cold);
      if (absl::IsDataLoss(times.status())) return times.status();
      status.Update(times.status());
      if (!times.ok()) continue;
      const double us = times->front();
      best_us = std::min(best_us, us);
      all.push_back({std::move(kernel), us});
    }
  }
  if (all.empty()) {
    status.Update(absl::NotFoundError("there is no way to compute it"));
    return status;
  }
  ASSIGN_OR_RETURN(all, NearlyFastest(step, std::move(all)));
  if (group.IsCompared()) RETURN_IF_ERROR(ForgetNoise(step));
  // The ways of a library are nearly the same: others are not to be crowded
  // out.
  std::map<std::pair<bool, bool>, int> seen;
  for (Timed& t : all) {
    const bool library = t.kernel.blas != nullptr;
    t.likely = ++seen[{library, t.kernel.dnn != nullptr}] <= kTried;
  }
  return all;
}

absl::Status Executor::AddWorkspace(Lane& lane) const {
  if (blas_ == nullptr && dnn_ == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      lane.workspace,
      device_->Allocate(std::max(Blas::kWorkspaceBytes, Dnn::kWorkspaceBytes)));
  return absl::OkStatus();
}

absl::Status Executor::OpenLibraries() {
  if (auto blas = device_->SharedBlas(Blas::Open); blas.ok()) {
    blas_ = *std::move(blas);
  }
  if (WantsDnn(program_)) {
    auto dnn = device_->SharedDnn(Dnn::Open);
    if (dnn.ok()) dnn_ = *std::move(dnn);
  }
  return AddWorkspace(lanes_[0]);
}

void Executor::Use(const Group& group, const Loaded& kernel) {
  // Equal steps have equal variants, over buffers of their own.
  for (int i : group.steps) kernels_[i] = kernel;
}

absl::Status Executor::TimeAll(std::vector<Group>& groups) {
  kernels_.resize(program_.steps.size());
  ASSIGN_OR_RETURN(const DevicePointer cold, ColdMemory());
  const absl::Cleanup free_cold = [&] { device_->Free(cold); };
  for (size_t g = 0; g < groups.size(); ++g) {
    Group& group = groups[g];
    auto fastest = Fastest(group, cold);
    if (!fastest.ok()) {
      const Step& step = program_.steps[group.steps[0]];
      return Prefixed(absl::StrCat(step.signature, ": "), fastest.status());
    }
    group.fastest = *std::move(fastest);
    for (Timed& t : group.fastest) t.kernel.group = static_cast<int>(g);
    Use(group, group.fastest[0].kernel);
  }
  return absl::OkStatus();
}

absl::Status Executor::AddLanes() {
  while (static_cast<int>(lanes_.size()) < program_.schedule.streams) {
    lanes_.emplace_back();
    ASSIGN_OR_RETURN(lanes_.back().stream, device_->NewStream());
    RETURN_IF_ERROR(AddWorkspace(lanes_.back()));
  }
  return absl::OkStatus();
}

absl::Status Executor::ChooseStreams(const ExecutorOptions& options) {
  using Streams = ExecutorOptions::Streams;
  if (program_.schedule.streams == 1 || options.streams == Streams::kOne ||
      (options.streams == Streams::kTimed && !options.tune)) {
    return absl::OkStatus();
  }
  const std::string key = ChoiceKey("streams");
  std::optional<std::string> chosen;
  if (options.cache) chosen = options.cache->Choice(key);
  if (options.streams == Streams::kSeveral) chosen = std::string(kSeveral);
  if (chosen == kOne) return absl::OkStatus();
  const absl::Status added = AddLanes();
  // One is enough.
  if (absl::IsResourceExhausted(added)) return absl::OkStatus();
  RETURN_IF_ERROR(added);
  if (chosen == kSeveral || chosen == kClose) {
    apart_ = chosen == kSeveral;
    device_->FreeGraph(std::exchange(graph_, nullptr));
    ASSIGN_OR_RETURN(graph_, Record(true));
    several_ = true;
    return absl::OkStatus();
  }
  // Blocks that lie apart leave less room to those of other streams.
  chosen = std::string(kOne);
  for (absl::string_view way : {kSeveral, kClose}) {
    apart_ = way == kSeveral;
    ASSIGN_OR_RETURN(const Device::Graph trial, Record(true));
    ASSIGN_OR_RETURN(const bool faster, TakeIfFaster(trial));
    if (faster) chosen = std::string(way);
  }
  several_ = chosen != kOne;
  apart_ = chosen != kClose;
  if (options.cache) options.cache->AddChoice(key, *chosen);
  return absl::OkStatus();
}

absl::Status Executor::Prepare(const ExecutorOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(device_->MakeCurrent());
  RETURN_IF_ERROR(OpenLibraries());
  ASSIGN_OR_RETURN(std::vector<Group> groups, Groups(options));
  RETURN_IF_ERROR(CompileAll(groups, options));
  const bool compared =
      absl::c_any_of(groups, [](const Group& g) { return g.IsCompared(); });
  if (compared) RETURN_IF_ERROR(LoadNoise(options.cache.get()));
  RETURN_IF_ERROR(TimeAll(groups));
  ASSIGN_OR_RETURN(graph_, Record(false));
  if (compared) RETURN_IF_ERROR(LaunchNoise(NoisyInputs()));
  RETURN_IF_ERROR(ChooseStreams(options));
  RETURN_IF_ERROR(TryInTheWhole(groups));
  FreeUnread();
  if (options.cache && options.tune) {
    for (const Group& g : groups) {
      options.cache->AddChoice(g.key, g.fastest[0].kernel.variant);
    }
    RETURN_IF_ERROR(options.cache->Save());
  }
  compile_seconds_ = Seconds(start);
  return absl::OkStatus();
}

}  // namespace isomer::cuda
