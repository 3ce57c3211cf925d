// A program on a device: kernels compiled, the best variant of each chosen by
// timing, weights uploaded, memory allocated, and all launches recorded in one
// CUDA graph. Running it allocates nothing and waits for nothing but the
// device.
//
//   ASSIGN_OR_RETURN(auto device, cuda::Device::Open("cuda:0"));
//   ASSIGN_OR_RETURN(auto executor,
//                    cuda::Executor::Create(device, program));
//   ASSIGN_OR_RETURN(auto outputs, executor->Run(inputs));
//
// An engine that keeps its data on the device writes to input() and reads from
// output(), and calls RunAsync on its own stream.
#ifndef ISOMER_CUDA_EXECUTOR_H_
#define ISOMER_CUDA_EXECUTOR_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cuda/blas.h"
#include "cuda/compiler.h"
#include "cuda/device.h"
#include "cuda/dnn.h"
#include "cuda/kernel_cache.h"
#include "cuda/program.h"
#include "ops/tensor.h"

namespace isomer::cuda {

struct ExecutorOptions {
  // Times the variants of each kernel; otherwise the likeliest is taken.
  bool tune = true;
  // The variant to take for a kernel, by its signature; what is in here is not
  // timed.
  std::map<std::string, std::string> choices = {};
  // Where compiled kernels, and what was chosen for a program, are kept, if
  // anywhere: what is there is neither compiled nor timed again.
  std::shared_ptr<KernelCache> cache = nullptr;
  // Whether steps that do not need each other run side by side: where that is
  // faster, if variants are timed; never; wherever the program's schedule says.
  enum class Streams { kTimed, kOne, kSeveral };
  Streams streams = Streams::kTimed;
  // Called now and then; false stops.
  std::function<bool(int done, int total)> progress = nullptr;
};

struct StepTime {
  std::string family, signature, variant;
  double us = 0;
  double flops = 0;
  int64_t bytes = 0;
  int launches = 1;
  int place = 0;  // of the variant among those that were considered
  std::vector<int> steps = {};  // of the program, that run it
};

// When a step runs, in microseconds after the first one starts: its first block
// starts, may read what the step before wrote, and its last one ends.
struct StepSpan {
  double start = 0, ready = 0, end = 0;
};

// The program of a graph for a device, of so many multiprocessors as it has.
absl::StatusOr<Program> ProgramFor(const Device& device, const ir::Graph& graph,
                                   const cost::CostModel& cost,
                                   ProgramOptions options = {});

class Executor {
 public:
  static absl::StatusOr<std::unique_ptr<Executor>> Create(
      std::shared_ptr<Device> device, Program program,
      const ExecutorOptions& options = {});
  // Compiles all variants of programs, on all cores, for executors on this
  // device that have the cache; and cuDNN's plans, which live as long as the
  // device, if asked to.
  static absl::Status CompileAhead(const Device& device,
                                   absl::Span<const Program* const> programs,
                                   const KernelCache& cache, bool plans);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const Program& program() const { return program_; }

  // Writes the inputs, runs, and reads the outputs, in the graph's order.
  absl::StatusOr<std::vector<Tensor>> Run(
      const std::map<std::string, Tensor>& inputs);
  // The same with bytes, row by row, as they lie in memory.
  absl::StatusOr<std::vector<std::string>> RunBytes(
      const std::map<std::string, std::string>& inputs);

  // Where inputs and outputs lie on the device, row by row.
  absl::StatusOr<DevicePointer> input(absl::string_view name) const;
  DevicePointer output(int i) const;
  // Starts a run on a stream of the caller's and returns at once. Runs of one
  // executor must not overlap.
  absl::Status RunAsync(Stream stream) const;

  // The median microseconds of one run over `times` of them, each behind
  // another, so that the device is timed and not how fast it is asked.
  absl::StatusOr<double> Time(int times) const;
  // Likewise, but of all steps on one stream.
  absl::StatusOr<double> TimeOnOneStream(int times) const;
  // The time of each step by itself, many in a row: the median over some
  // repetitions, all of which are made again if one is far from the others.
  absl::StatusOr<std::vector<StepTime>> TimeSteps() const;
  // When each step runs within a run, the mean of so many; not known of steps
  // that libraries run. Kernels are compiled once more for that, and take a
  // little longer.
  absl::StatusOr<std::vector<std::optional<StepSpan>>> Spans(int times);
  // The variants that were chosen, by signature. A library's are not among
  // them: its way may be slow where what it writes lies otherwise.
  std::map<std::string, std::string> choices() const;
  // The streams that a run uses.
  int streams() const { return several_ ? program_.schedule.streams : 1; }
  double compile_seconds() const { return compile_seconds_; }

 private:
  struct Loaded {
    KernelSource source = {};
    Device::Function function = nullptr;
    std::string variant = {};
    std::shared_ptr<const BlasProduct> blas = nullptr;  // runs before
    std::shared_ptr<const DnnPlan> dnn = nullptr;       // all there is
    int place = 0;  // of the variant, in its step
    int group = 0;  // steps of one group run the same

    bool IsOfLibrary() const { return blas != nullptr || dnn != nullptr; }
  };
  // A stream, and memory for the libraries' kernels on it.
  struct Lane {
    Stream stream = nullptr;
    DevicePointer workspace = 0;
  };

  Executor() = default;
  absl::Status Allocate();
  absl::Status Prepare(const ExecutorOptions& options);
  struct Candidate;
  struct Group;
  struct Timed;
  // Of what was chosen for this program on this device.
  std::string ChoiceKey(absl::string_view what) const;
  // Those that compute variants of a step; another version has other ways.
  std::string LibrariesOf(const Step& step) const;
  absl::StatusOr<std::vector<Group>> Groups(
      const ExecutorOptions& options) const;
  // Opens the libraries that the program may use; without them there are the
  // kernels of our own.
  absl::Status OpenLibraries();
  absl::Status AddWorkspace(Lane& lane) const;
  // One candidate for each of cuDNN's ways.
  void NameWays(std::vector<Group>& groups) const;
  void MakePlan(Candidate& candidate) const;
  absl::Status CompileAll(std::vector<Group>& groups,
                          const ExecutorOptions& options) const;
  // The fastest first, then those that are nearly as fast.
  absl::StatusOr<std::vector<Timed>> Fastest(const Group& group,
                                             DevicePointer cold) const;
  // Of all that were timed. A library's have to compute what one of our own
  // does, if there is one; the others are left out.
  absl::StatusOr<std::vector<Timed>> NearlyFastest(
      const Step& step, std::vector<Timed> all) const;
  // What a kernel computes of noise, behind the kernel that writes it: a part
  // of each result.
  absl::StatusOr<std::vector<Tensor>> ResultsOfNoise(
      const Step& step, const Loaded& kernel) const;
  absl::Status LoadNoise(const KernelCache* cache);
  absl::Status LaunchNoise(const std::vector<int>& buffers) const;
  // What becomes noise: the floats that a step reads, but for constants; those
  // that the program reads.
  std::vector<int> NoisyOf(const Step& step) const;
  std::vector<int> NoisyInputs() const;
  // Kernels that are timed later might take noise for indices.
  absl::Status ForgetNoise(const Step& step) const;
  absl::Status Fill(const std::vector<int>& buffers, int value) const;
  absl::Status TimeAll(std::vector<Group>& groups);
  // Lets the steps of a group run this kernel.
  void Use(const Group& group, const Loaded& kernel);
  // What the kernels that are used do, on one stream or as scheduled.
  absl::StatusOr<Device::Graph> Record(bool several) const;
  // True if it is faster than what runs now, time after time; it runs from now
  // on then. The other one is freed.
  absl::StatusOr<bool> TakeIfFaster(Device::Graph trial);
  absl::Status AddLanes();
  absl::Status ChooseStreams(const ExecutorOptions& options);
  // Groups that do the same with other parts of buffers, such as steps of a
  // cell: more than one each.
  std::vector<std::vector<Group*>> Kin(std::vector<Group>& groups) const;
  // What groups may run together in place of what they run.
  struct Change;
  static std::vector<Change> ChangesOf(const std::vector<Group*>& kin,
                                       bool likely_only);
  absl::StatusOr<Device::Graph> RecordWith(const Change& change);
  absl::StatusOr<double> TimeWith(const Change& change, int runs);
  // True if the program is faster with it; it is kept then.
  absl::StatusOr<bool> Try(const Change& change);
  // Tries kernels that are nearly as fast as the fastest.
  absl::Status TryInTheWhole(std::vector<Group>& groups);
  DevicePointer PointerOf(int buffer) const;
  // The buffers that a step reads and writes with this kernel.
  std::vector<int> BuffersOf(const Step& step, const Loaded& kernel) const;
  // Frees constants that variants read which were not chosen.
  void FreeUnread();
  using Moved = std::map<int, DevicePointer>;  // buffers that lie elsewhere
  absl::Status LaunchStep(const Step& step, const Loaded& kernel,
                          Device::Setting setting, const Moved& moved,
                          const Lane& lane) const;
  // The ways to run a candidate, loaded; several for a library.
  absl::StatusOr<std::vector<Loaded>> Load(const Step& step,
                                           const Candidate& candidate) const;
  // Memory in which weights are not in the cache, for TimeKernel; 0 where they
  // are in a run too.
  absl::StatusOr<DevicePointer> ColdMemory() const;
  absl::StatusOr<std::vector<Moved>> ColdWeights(const Step& step,
                                                 const Loaded& kernel,
                                                 int count,
                                                 DevicePointer cold) const;
  // The median of so many runs, each behind another.
  absl::StatusOr<double> TimeGraph(Device::Graph graph, int times) const;
  static constexpr double kNoLimit = 1e30;  // microseconds
  // What it took each time to launch a kernel, the shortest first.
  using Times = std::vector<double>;
  // Many in a row, each with weights of its own if there is cold memory. What
  // takes much longer than `limit` is timed roughly.
  absl::StatusOr<Times> TimeKernel(const Step& step, const Loaded& kernel,
                                   double limit, DevicePointer cold) const;
  // `replays` times `count` in a row.
  absl::StatusOr<Times> TimeLaunches(const Step& step, const Loaded& kernel,
                                     int count, int replays,
                                     DevicePointer cold) const;
  absl::StatusOr<double> SteadyTime(const Step& step, const Loaded& kernel,
                                    DevicePointer cold) const;

  std::shared_ptr<Device> device_;
  Program program_;
  std::vector<Loaded> kernels_;       // by step
  Loaded noise_;                      // to compare and to time with
  std::shared_ptr<const Blas> blas_;  // null where there is none
  std::shared_ptr<const Dnn> dnn_;    // likewise
  DevicePointer arena_ = 0;
  std::vector<DevicePointer> own_;  // by buffer; 0 for those in the arena
  std::vector<Lane> lanes_;         // the first is there always
  Device::Graph graph_ = nullptr;
  bool several_ = false;  // streams, in the graph
  bool apart_ = true;     // blocks, where there are several
  double compile_seconds_ = 0;
};

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_EXECUTOR_H_
