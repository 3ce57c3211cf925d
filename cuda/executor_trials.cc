// Of variants that are nearly as fast as the fastest, those with which the
// whole program is fastest.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "cuda/executor_choice.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr double kShare = 0.01;  // of the time, which a kernel must take
// How often a program is timed against another, and how much faster it must be
// each time. It runs a few times, and more often if it is short: clocks tick
// every 32 ns. What takes long has to draw power for a while before clocks are
// those of a run.
constexpr int kRounds = 3;
constexpr double kMinRuns = 8, kRuns = 15, kMaxRuns = 60;
constexpr double kMicrosecondsPerTrial = 5000, kMicrosecondsOfShort = 800;
constexpr double kGain = 0.996;

// After which none is tried any more.
double SecondsOfTrials(double us) { return std::clamp(us / 250, 4.0, 10.0); }

// How often to run a program to see whether it is faster.
int RunsOfTrial(double us) {
  return static_cast<int>(
      std::clamp(std::max(kMicrosecondsOfShort / us,
                          std::min(kMicrosecondsPerTrial / us, kRuns)),
                 kMinRuns, kMaxRuns));
}

}  // namespace

absl::StatusOr<bool> Executor::TakeIfFaster(Device::Graph trial) {
  const absl::Cleanup free_slower = [&] { device_->FreeGraph(trial); };
  ASSIGN_OR_RETURN(const double about, TimeGraph(graph_, 1));
  const int runs = RunsOfTrial(about);
  for (int i = 0; i < kRounds; ++i) {
    ASSIGN_OR_RETURN(const double now, TimeGraph(graph_, runs));
    ASSIGN_OR_RETURN(const double then, TimeGraph(trial, runs));
    if (then > kGain * now) return false;
  }
  std::swap(graph_, trial);
  return true;
}

std::vector<std::vector<Executor::Group*>> Executor::Kin(
    std::vector<Group>& groups) const {
  std::map<std::string, std::vector<Group*>> by_work;
  for (Group& g : groups) {
    const Step& step = program_.steps[g.steps[0]];
    std::string key =
        absl::StrCat(step.family, " ", step.flops, " ", step.bytes);
    for (const Variant& v : step.variants) absl::StrAppend(&key, "|", v.name);
    by_work[key].push_back(&g);
  }
  std::vector<std::vector<Group*>> out;
  for (auto& [key, kin] : by_work) {
    if (kin.size() > 1) out.push_back(std::move(kin));
  }
  return out;
}

// Groups that are to run a variant together, those that are nearly as fast with
// it.
struct Executor::Change {
  const std::vector<Group*>* kin = nullptr;
  std::string variant;
  double us = 0;  // of the whole program, when it was timed

  // Those that it changes, and which of their variants it is.
  std::vector<std::pair<Group*, size_t>> Groups() const {
    std::vector<std::pair<Group*, size_t>> out;
    for (Group* g : *kin) {
      for (size_t i = 1; i < g->fastest.size(); ++i) {
        if (g->fastest[i].kernel.variant == variant) out.push_back({g, i});
      }
    }
    return out;
  }
};

std::vector<Executor::Change> Executor::ChangesOf(
    const std::vector<Group*>& kin, bool likely_only) {
  std::set<std::string> variants;
  for (const Group* g : kin) {
    for (size_t i = 1; i < g->fastest.size(); ++i) {
      const Timed& t = g->fastest[i];
      if (t.likely || !likely_only) variants.insert(t.kernel.variant);
    }
  }
  std::vector<Change> out;
  for (const std::string& v : variants) out.push_back({&kin, v});
  return out;
}

absl::StatusOr<Device::Graph> Executor::RecordWith(const Change& change) {
  const auto groups = change.Groups();
  for (const auto& [g, i] : groups) Use(*g, g->fastest[i].kernel);
  auto graph = Record(several_);
  for (const auto& [g, i] : groups) Use(*g, g->fastest[0].kernel);
  return graph;
}

absl::StatusOr<double> Executor::TimeWith(const Change& change, int runs) {
  ASSIGN_OR_RETURN(const Device::Graph trial, RecordWith(change));
  const absl::Cleanup free_trial = [&] { device_->FreeGraph(trial); };
  return TimeGraph(trial, runs);
}

absl::StatusOr<bool> Executor::Try(const Change& change) {
  const auto groups = change.Groups();
  // Another change has been the same.
  if (groups.empty()) return false;
  ASSIGN_OR_RETURN(const Device::Graph trial, RecordWith(change));
  ASSIGN_OR_RETURN(const bool faster, TakeIfFaster(trial));
  if (!faster) return false;
  for (const auto& [g, i] : groups) {
    std::swap(g->fastest[0], g->fastest[i]);
    Use(*g, g->fastest[0].kernel);
  }
  return true;
}

absl::Status Executor::TryInTheWhole(std::vector<Group>& groups) {
  const bool others = absl::c_any_of(
      groups, [](const Group& g) { return g.fastest.size() > 1; });
  if (!others || program_.steps.size() == 1) return absl::OkStatus();
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const double about, TimeGraph(graph_, 1));
  const double end = SecondsOfTrials(about);
  const int runs = RunsOfTrial(about);
  auto time_of = [](const std::vector<Group*>& kin) {
    double us = 0;
    for (const Group* g : kin) {
      us += g->fastest[0].us * static_cast<double>(g->steps.size());
    }
    return us;
  };
  std::vector<std::vector<Group*>> all = Kin(groups);
  // Those that do the same together, and then each by itself.
  for (Group& g : groups) all.push_back({&g});
  double total = 0;
  for (Group& g : groups) total += time_of({&g});
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return time_of(a) > time_of(b);
  });
  // What is faster depends on what runs before and after. What seems to pay may
  // keep from what pays more: all are timed, the best is taken first, and the
  // others are tried with it; until none is faster.
  bool changed = true;
  for (int round = 0; changed || round < 2; ++round) {
    changed = false;
    const double timed_by = (Seconds(start) + end) / 2;
    std::vector<Change> changes;
    for (const std::vector<Group*>& kin : all) {
      if (time_of(kin) < kShare * total || Seconds(start) > timed_by) break;
      for (Change& change : ChangesOf(kin, round == 0)) {
        ASSIGN_OR_RETURN(change.us, TimeWith(change, runs));
        changes.push_back(std::move(change));
      }
    }
    ASSIGN_OR_RETURN(const double now, TimeGraph(graph_, runs));
    std::stable_sort(
        changes.begin(), changes.end(),
        [](const Change& a, const Change& b) { return a.us < b.us; });
    for (const Change& change : changes) {
      if (change.us > now) break;
      if (Seconds(start) > end) return absl::OkStatus();
      ASSIGN_OR_RETURN(const bool faster, Try(change));
      changed = changed || faster;
    }
  }
  return absl::OkStatus();
}

}  // namespace isomer::cuda
