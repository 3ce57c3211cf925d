// Runs the stages one after the other and keeps the clock.
#include "xfer_gen/generate.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "graph/hashing.h"
#include "ops/status.h"
#include "xfer_gen/hits.h"
#include "xfer_gen/memory.h"

namespace isomer::gen {

namespace {

constexpr int kMaxLeaves = 31;
constexpr absl::string_view kFormat = "isomer gen state 3";

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Asks the limits and the caller whether to go on.
class Clock {
 public:
  Clock(const Preset& preset, const GenerateOptions& options,
        GenerateStats& stats)
      : preset_(preset), options_(options), stats_(stats), start_(Now()) {}

  double seconds() const { return Now() - start_; }
  bool stopped() const { return stats_.stop_reason != "complete"; }
  // Once it was stopped, work that is left may take a few seconds from here on.
  void StartOvertime() { overtime_ = seconds(); }
  // Whether it still may; where only memory was short, it may take what time
  // there is.
  bool InOvertime() const {
    constexpr double kSeconds = 2;
    const double from = stats_.stop_reason != "memory"
                            ? overtime_
                            : std::max(overtime_, options_.max_seconds);
    return seconds() < from + kSeconds;
  }

  // The bytes that may still be taken.
  int64_t Room() {
    const int64_t bytes = ResidentBytes();
    stats_.peak_bytes = std::max(stats_.peak_bytes, bytes);
    return options_.max_bytes - bytes;
  }
  bool limits_memory() const { return options_.max_bytes != INT64_MAX; }
  int64_t max_bytes() const { return options_.max_bytes; }

  // False once more is taken than may be, or for another reason.
  bool GoOn(const GenerateProgress& at) {
    const double s = seconds();
    // Asking the kernel takes longer than many steps: where there is no limit,
    // it is asked now and then.
    constexpr double kSeconds = 0.001;
    if (limits_memory() || s > asked_ + kSeconds) {
      asked_ = s;
      room_ = Room();
    }
    if (room_ < 0) return Stop("memory");
    if (s > options_.max_seconds) return Stop("time");
    if (options_.progress == nullptr) return true;
    GenerateProgress p = at;
    p.preset = preset_.name;
    p.bytes = options_.max_bytes - room_;
    p.seconds = s;
    return options_.progress(p) || Stop("interrupted");
  }
  bool Stop(absl::string_view why) {
    if (!stopped()) {
      StartOvertime();
      stats_.stop_reason = std::string(why);
    }
    return false;
  }

 private:
  const Preset& preset_;
  const GenerateOptions& options_;
  GenerateStats& stats_;
  double start_, overtime_ = 0;
  double asked_ = -1;  // when GoOn asked for room
  int64_t room_ = 0;
};

// The rounds of one run: single tensors, two outputs, more outputs, each from
// what the one before has found.
//
// With a limit of memory, what does not fit is done in turn: the tables take
// the fingerprints slice by slice, for each of which all graphs are gone
// through again, and what met is compared some classes at a time and then given
// up. What is found is the same.
//
// Once a run is stopped, as much of what has met is compared and written as can
// be in a few seconds.
class Rounds {
 public:
  Rounds(const Preset& preset, const EnumerateOptions& options, Clock& clock,
         bool texts)
      : clock_(clock),
        texts_(texts),
        all_(preset, options),
        hits_(all_.terms().symmetry().num_leaves()),
        finder_(std::make_unique<PairFinder>(all_, hits_, options.seed,
                                             MostValues())) {}

  void Run() {
    if (!Singles()) return;
    outputs_ = 2;
    const bool ended = InSlices(
        0, [&] { return all_.RunPairs(GoOn()); },
        [&](const Met& met) {
          std::vector<uint64_t> codes;
          codes.reserve(met.codes.size());
          for (const Coded& c : met.codes) codes.push_back(c.code);
          all_.MarkOpenNext(std::move(codes));
          all_.AddOpenPairs(met.fingerprints);
        });
    if (!ended) return;
    all_.TurnOpen();
    outputs_ = 3;
    InSlices(
        0, [&] { return all_.RunMore(GoOn()); }, [](const Met&) {});
  }

  std::vector<Candidate> Finish(GenerateStats& stats) {
    stats.classes = hits_.classes;
    stats.passes = passes_;
    stats.outputs = outputs_;
    all_.DropGraphs();
    const std::vector<EqualPair> pairs = finder_->Take(stats.found);
    const Dag kept = std::move(finder_->kept());
    finder_.reset();
    hits_.Forget();
    if (clock_.limits_memory()) GiveBackFreed();
    clock_.StartOvertime();
    std::vector<Candidate> out = CandidatesOf(
        all_, kept, all_.options().seed, pairs, [&] { return MayWork(); },
        texts_);
    stats.enumerated = all_.stats();
    return out;
  }

 private:
  // Values that a thread may keep while it compares.
  int64_t MostValues() const {
    constexpr int64_t kMost = int64_t{96} << 20;
    return std::min(kMost, clock_.max_bytes() / 16 / all_.options().threads);
  }
  bool MayGoOn(int level, double share) {
    return clock_.GoOn({.depth = level,
                        .graphs = all_.stats().graphs,
                        .classes = hits_.classes,
                        .share = share});
  }
  Enumerator::GoOn GoOn() {
    return [this](int level, double share) { return MayGoOn(level, share); };
  }
  // While graphs are found, the tables leave some memory for them and for what
  // is to be compared.
  bool MakesRoomFor(int level, double share) {
    const int64_t reserve = clock_.max_bytes() / 5;
    while (clock_.limits_memory() && clock_.Room() < reserve) {
      // Some parts are left, so that what they hold can be compared.
      if (all_.tables_end() <= kParts / 8 || !all_.ShrinkTables()) {
        return clock_.Stop("memory");
      }
      GiveBackFreed();
    }
    return MayGoOn(level, share);
  }
  // Whether there is memory, and time if it was stopped.
  bool MayWork() {
    if (clock_.stopped() && !clock_.InOvertime()) return false;
    return clock_.Room() >= 0 || clock_.Stop("memory");
  }

  bool Singles() {
    const bool ended = all_.Run(
        [this](int level, double share) { return MakesRoomFor(level, share); });
    if (!CompareTables([](const Met&) {}) || !ended) return false;
    if (!InSlices(
            all_.tables_end(), [&] { return all_.RunSingles(GoOn()); },
            [](const Met&) {})) {
      return false;
    }
    finder_->MarkTensors();
    return true;
  }

  // Fills the tables as often as needed, from a part on, and compares what met;
  // `sorted` sees it before. False if it was stopped.
  bool InSlices(int first, absl::FunctionRef<bool()> pass,
                absl::FunctionRef<void(const Met&)> sorted) {
    for (; first < kParts; first = all_.tables_end()) {
      MakeRoom();
      all_.OpenTables(first,
                      clock_.limits_memory() ? clock_.Room() / 2 : INT64_MAX);
      ++passes_;
      const bool ended = pass();
      if (all_.tables_end() == first) return clock_.Stop("memory");
      if (!CompareTables(sorted) || !ended) return false;
    }
    return true;
  }

  bool CompareTables(absl::FunctionRef<void(const Met&)> sorted) {
    const auto go_on = [this] { return MayCompare(); };
    Met met = SortTables(all_, hits_, go_on);
    if (!clock_.stopped()) sorted(met);
    while (met.added < met.codes.size()) {
      MakeRoom();
      const size_t before = hits_.members.size();
      if (!AddHits(all_, met, MostMembers(), hits_, go_on) ||
          !finder_->Compare(before, go_on)) {
        return false;
      }
    }
    return true;
  }
  // Asked by any thread; while one asks, the others go on.
  bool MayCompare() {
    if (!mutex_.TryLock()) return true;
    const bool may =
        clock_.stopped() ? MayWork() : MayGoOn(all_.options().depth, 1);
    mutex_.Unlock();
    return may;
  }

  // Rebuilt members, their steps in the dag, and what is known of those in each
  // world: bytes for each.
  static constexpr int64_t kMemberBytes = 640;

  // Gives up what is known of the hits if little may be taken, or less than
  // they hold: what grows is held twice for a while.
  void MakeRoom() {
    if (!clock_.limits_memory()) return;
    all_.DropCaches();
    GiveBackFreed();
    const auto held = static_cast<int64_t>(hits_.members.size()) * kMemberBytes;
    const int64_t room = clock_.Room();
    if (room > clock_.max_bytes() / 4 && room > held) return;
    finder_->Forget();
    GiveBackFreed();
  }
  // How many members may be rebuilt and compared at once: not all, so that a
  // stop finds most of them compared.
  size_t MostMembers() {
    constexpr int64_t kLeast = 256, kMost = 1 << 18, kMostLate = 1 << 14;
    // The other half of the memory is for the pairs that are found and for
    // values.
    return static_cast<size_t>(
        std::clamp(clock_.Room() / 2 / kMemberBytes, kLeast,
                   clock_.stopped() ? kMostLate : kMost));
  }

  Clock& clock_;
  const bool texts_;
  Enumerator all_;
  Hits hits_;
  std::unique_ptr<PairFinder> finder_;
  absl::Mutex mutex_;  // of the clock, while threads compare
  int passes_ = 0;
  int outputs_ = 1;
};

// A graph's outputs must fit into a mask.
absl::Status CheckDepth(const Preset& preset, int depth) {
  size_t most = 1;
  for (const Template& t : preset.templates) {
    most = std::max(most, t.outputs.size());
  }
  if (depth > kMaxSteps || most > kMaxOutputs || depth * most > 2 * kMaxSteps) {
    return Invalid("preset ", preset.name, ": depth ", depth,
                   " with templates of up to ", most,
                   " outputs; at most depth ", kMaxSteps, ", ", kMaxOutputs,
                   " outputs of a template and ", 2 * kMaxSteps, " of a graph");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPreset(const Preset& preset) {
  const std::vector<Leaf> leaves = LeavesOf(preset);
  auto fail = [&](const auto&... parts) {
    return Invalid("preset ", preset.name, ": ", parts...);
  };
  if (leaves.size() > kMaxLeaves) {
    return fail(leaves.size(), " leaves; at most ", kMaxLeaves);
  }
  if (preset.leaves.size() > kMaxClasses) {
    return fail(preset.leaves.size(), " classes of leaves; at most ",
                kMaxClasses);
  }
  for (const auto& [name, values] : preset.sizes[0]) {
    if (values.size() > 1) {
      return fail("size '", name,
                  "' has several values in the first line of sizes, where the "
                  "leaves of a class must be alike");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Generated> Generate(const Preset& preset,
                                   const GenerateOptions& options) {
  RETURN_IF_ERROR(CheckPreset(preset));
  EnumerateOptions enumerate = options.enumerate;
  if (enumerate.depth == 0) enumerate.depth = preset.depth;
  RETURN_IF_ERROR(CheckDepth(preset, enumerate.depth));
  Generated out;
  Clock clock(preset, options, out.stats);
  Rounds rounds(preset, enumerate, clock, options.texts);
  rounds.Run();
  out.candidates = rounds.Finish(out.stats);
  out.stats.enumerate_s = clock.seconds();
  return out;
}

// ---- Candidates as text

namespace {

std::string OneLine(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\n", " "}});
}

}  // namespace

std::string WriteCandidates(absl::string_view key, const Generated& generated) {
  const GenerateStats& s = generated.stats;
  std::string out = absl::StrCat(
      kFormat, "\nkey ", key, "\nstats ", s.enumerated.graphs, " ",
      s.enumerated.fingerprints, " ", s.classes, " ", s.found.confirmed, " ",
      s.found.false_positives, " ", s.peak_bytes, " ", s.stop_reason, "\n");
  for (const Candidate& c : generated.candidates) {
    absl::StrAppend(&out, "candidate ", c.source_steps, " ", c.target_steps,
                    " ", c.said_by_sizes, "\n");
    for (const CandidateLeaf& leaf : c.leaves) {
      absl::StrAppend(&out, "leaf ", leaf.name, " ", leaf.weight, " ",
                      TypeText(leaf.type), "\n");
    }
    absl::StrAppend(&out, "rule ", OneLine(c.text), "\n");
    for (const SeenElsewhere& seen : c.elsewhere) {
      absl::StrAppend(&out, "elsewhere");
      for (const TensorType& t : seen.leaves) {
        absl::StrAppend(&out, " ", TypeText(t));
      }
      absl::StrAppend(&out, " ", OneLine(seen.text), "\n");
    }
  }
  return absl::StrCat(out, "sum ", ir::HashText(out), "\n");
}

namespace {

absl::StatusOr<std::string> Canonical(absl::string_view rule) {
  ASSIGN_OR_RETURN(const ir::RuleSyntax read, ir::ParseRuleBody(rule));
  return ir::PrintRule(read);
}

absl::Status ReadLine(absl::string_view line, Generated& out) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  auto integer = [&](size_t i, auto& to) {
    return i < words.size() && absl::SimpleAtoi(words[i], &to);
  };
  if (words[0] == "stats") {
    GenerateStats& s = out.stats;
    if (words.size() != 8 || !integer(1, s.enumerated.graphs) ||
        !integer(2, s.enumerated.fingerprints) || !integer(3, s.classes) ||
        !integer(4, s.found.confirmed) ||
        !integer(5, s.found.false_positives) || !integer(6, s.peak_bytes)) {
      return Invalid("a line of figures");
    }
    s.stop_reason = std::string(words[7]);
    return absl::OkStatus();
  }
  if (words[0] == "candidate") {
    Candidate& c = out.candidates.emplace_back();
    int said = 0;
    if (!integer(1, c.source_steps) || !integer(2, c.target_steps) ||
        !integer(3, said)) {
      return Invalid("a candidate's line");
    }
    c.said_by_sizes = said != 0;
    return absl::OkStatus();
  }
  if (out.candidates.empty()) return Invalid("no candidate's line first");
  Candidate& c = out.candidates.back();
  if (words[0] == "leaf" && words.size() == 4) {
    ASSIGN_OR_RETURN(TensorType type, ParseType(words[3]));
    c.leaves.push_back({std::string(words[1]), words[2] == "1", type});
    return absl::OkStatus();
  }
  if (words[0] == "rule") {
    ASSIGN_OR_RETURN(c.text, Canonical(line.substr(5)));
    return absl::OkStatus();
  }
  if (words[0] == "elsewhere" && words.size() > c.leaves.size() + 1) {
    SeenElsewhere& seen = c.elsewhere.emplace_back();
    for (size_t i = 0; i < c.leaves.size(); ++i) {
      ASSIGN_OR_RETURN(seen.leaves.emplace_back(), ParseType(words[i + 1]));
    }
    const char* rule = words[c.leaves.size() + 1].data();
    ASSIGN_OR_RETURN(seen.text, Canonical(line.substr(rule - line.data())));
    return absl::OkStatus();
  }
  return Invalid("'", words[0], "'");
}

}  // namespace

absl::StatusOr<Generated> ReadCandidates(absl::string_view key,
                                         absl::string_view text) {
  const size_t end = text.rfind("sum ");
  uint64_t sum = 0;
  if (end == absl::string_view::npos ||
      !absl::SimpleAtoi(absl::StripAsciiWhitespace(text.substr(end + 4)),
                        &sum) ||
      sum != ir::HashText(text.substr(0, end))) {
    return Invalid("the state is damaged: its check sum does not fit");
  }
  std::vector<absl::string_view> lines =
      absl::StrSplit(text.substr(0, end), '\n', absl::SkipEmpty());
  if (lines.size() < 2 || lines[0] != kFormat) {
    return Invalid("the state is not of the form '", kFormat, "'");
  }
  if (lines[1] != absl::StrCat("key ", key)) {
    return absl::NotFoundError(
        "the state was made with another preset, depth, seed or version");
  }
  Generated out;
  for (size_t i = 2; i < lines.size(); ++i) {
    const absl::Status status = ReadLine(lines[i], out);
    if (!status.ok()) {
      return Invalid("the state is damaged in line ", i + 1, ": ",
                     status.message());
    }
  }
  return out;
}

}  // namespace isomer::gen
