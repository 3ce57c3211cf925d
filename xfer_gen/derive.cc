// Breadth first from both ends, the end that is cheaper to go on from first.
#include "xfer_gen/derive.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "xfer_gen/derive_step.h"

namespace isomer::gen {

namespace {

// One end of a search: the graphs reached from it, in the order of discovery.
class End {
 public:
  // With `reversible`, only equations that can be read both ways are used.
  End(const ir::Graph& start, bool reversible) : reversible_(reversible) {
    states_.push_back({start, KeyOf(start), -1, -1, 0, true});
    known_.emplace(states_[0].key, 0);
  }

  struct State {
    ir::Graph graph;
    GraphKey key;
    int parent;
    int equation;
    int depth;
    bool whole;
  };

  int frontier() const { return static_cast<int>(states_.size()) - next_; }
  int level() const { return level_; }
  const int* Find(const GraphKey& key) const {
    auto it = known_.find(key);
    return it == known_.end() ? nullptr : &it->second;
  }
  // What it takes to go on: more graphs, and more steps from the end, cost
  // more.
  int64_t Cost() const {
    return int64_t{frontier()} * (level_ + 1) * (level_ + 1);
  }
  // Takes every graph of the last level one step on. Returns the graph that
  // `other` has reached too, both in at most `steps` steps, or -1.
  int Grow(const End& other, const Theory& theory, int steps, int max_size,
           int& budget, Rewritten* rewritten);
  // A graph that `other` has reached too, both in at most `steps` steps, or -1.
  int Meeting(const End& other, int steps) const;

  std::vector<int> PathTo(int state) const {
    std::vector<int> out;
    for (; states_[state].parent >= 0; state = states_[state].parent) {
      out.push_back(states_[state].equation);
    }
    std::reverse(out.begin(), out.end());
    return out;
  }
  const State& state(int i) const { return states_[i]; }

 private:
  const bool reversible_;
  std::vector<State> states_;
  absl::flat_hash_map<GraphKey, int> known_;
  int next_ = 0;  // the first graph of the last level
  int level_ = 0;
};

int End::Grow(const End& other, const Theory& theory, int steps, int max_size,
              int& budget, Rewritten* rewritten) {
  const int end = static_cast<int>(states_.size());
  ++level_;
  int met = -1;
  for (; next_ < end && met < 0; ++next_) {
    const ir::Graph graph = states_[next_].graph;
    StepMaker maker(graph);
    if (rewritten != nullptr) rewritten->push_back(maker.traits());
    auto next = [&](size_t e) {
      return theory.Next(e, maker.traits(), reversible_);
    };
    for (size_t e = next(0); e < theory.equations().size() && met < 0;
         e = next(e + 1)) {
      maker.Run(theory.equations()[e], [&](ir::Graph result, bool whole) {
        if (budget-- <= 0) return false;
        const GraphKey key = KeyOf(result);
        const int id = static_cast<int>(states_.size());
        const bool small = StepsOf(result) <= max_size;
        if (!small || !known_.emplace(key, id).second) return true;
        states_.push_back({std::move(result), key, next_, static_cast<int>(e),
                           level_, whole});
        const int* there = other.Find(key);
        if (there != nullptr && level_ + other.state(*there).depth <= steps) {
          met = id;
        }
        return met < 0;
      });
      if (budget <= 0) return met;
    }
  }
  return met;
}

int End::Meeting(const End& other, int steps) const {
  for (size_t i = 0; i < states_.size(); ++i) {
    const int* there = other.Find(states_[i].key);
    if (there == nullptr) continue;
    if (states_[i].depth + other.state(*there).depth <= steps) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

// Sizes of up to a few hundred: two that may differ then do, as a rule. Where
// sizes have to divide each other, small ones are more easily found.
constexpr int64_t kSizes[] = {499, 24, 4};
constexpr int kTries = 60;

// An instance of a case without empty tensors; nothing where there is none: a
// case that is about empty tensors alone need not follow from anything.
std::optional<ir::RuleInstance> Instance(const ir::Rule& rule,
                                         const ir::RuleCase& c,
                                         std::mt19937_64& random) {
  constexpr int kDraws = 4;
  for (int64_t size : kSizes) {
    for (int i = 0; i < kDraws; ++i) {
      auto made = ir::MakeInstance(rule, c, random,
                                   {.max_size = size, .tries = kTries});
      if (!made.ok()) break;
      const ir::Graph& graph = made->source;
      const bool solid = absl::c_all_of(graph.inputs(), [&](NodeId id) {
        return NumElements(graph.type({id, 0})) > 0;
      });
      if (solid) return *std::move(made);
    }
  }
  return std::nullopt;
}

// The keys of all graphs that a sequence of equations makes of `start`.
absl::flat_hash_set<GraphKey> Follow(const ir::Graph& start,
                                     const std::vector<int>& sequence,
                                     const Theory& theory, int budget) {
  std::vector<ir::Graph> now = {start};
  for (int e : sequence) {
    std::vector<ir::Graph> next;
    absl::flat_hash_set<GraphKey> seen;
    for (const ir::Graph& graph : now) {
      StepMaker(graph).Run(theory.equations()[e], [&](ir::Graph result, bool) {
        if (seen.insert(KeyOf(result)).second) {
          next.push_back(std::move(result));
        }
        return --budget > 0;
      });
    }
    now = std::move(next);
  }
  absl::flat_hash_set<GraphKey> out;
  for (const ir::Graph& graph : now) out.insert(KeyOf(graph));
  return out;
}

bool Replays(const ir::RuleInstance& at, const Derivation& d,
             const Theory& theory, const DeriveLimits& limits) {
  const auto left = Follow(at.source, d.from_source, theory, limits.graphs);
  const auto right = Follow(at.target, d.from_target, theory, limits.graphs);
  return absl::c_any_of(left,
                        [&](const GraphKey& k) { return right.contains(k); });
}

// Applies equations whose target is a bare variable (`identity(x) => x`) as
// long as one does: a graph without detours has fewer steps to go.
ir::Graph Collapse(ir::Graph graph, const Theory& theory,
                   std::vector<int>& path, Rewritten* rewritten) {
  std::optional<StepMaker> maker;  // of the graph as it is
  for (bool changed = true; changed;) {
    changed = false;
    for (int e : theory.collapsing()) {
      if (!theory.enabled(theory.equations()[e])) continue;
      if (!maker) {
        maker.emplace(graph);
        if (rewritten != nullptr) rewritten->push_back(maker->traits());
      }
      std::optional<ir::Graph> next;
      maker->Run(theory.equations()[e], [&](ir::Graph result, bool) {
        next = std::move(result);
        return false;
      });
      if (!next) continue;
      maker.reset();
      graph = *std::move(next);
      path.push_back(e);
      changed = true;
    }
  }
  return graph;
}

// A search between two graphs, which can go on with more steps.
class Meet {
 public:
  Meet(const ir::Graph& source, const ir::Graph& target, const Theory& theory,
       const DeriveLimits& limits, Rewritten* rewritten)
      : theory_(theory),
        limits_(limits),
        rewritten_(rewritten),
        max_size_(std::max(StepsOf(source), StepsOf(target)) + limits.growth),
        ends_{End(source, limits.backward), End(target, limits.forward)} {}

  std::optional<Derivation> Run(int steps) {
    if (const int met = ends_[0].Meeting(ends_[1], steps); met >= 0) {
      return Path(ends_[0], ends_[1], met);
    }
    int budget = limits_.graphs;
    // Each end may have to go all the way, since not every step can be taken
    // from the other one.
    while (budget > 0) {
      const bool open[2] = {IsOpen(ends_[0], steps), IsOpen(ends_[1], steps)};
      if (!open[0] && !open[1]) break;
      const bool second =
          open[1] && (!open[0] || ends_[1].Cost() < ends_[0].Cost());
      End &grown = ends_[second], &other = ends_[!second];
      const int met =
          grown.Grow(other, theory_, steps, max_size_, budget, rewritten_);
      if (met >= 0) return Path(grown, other, met);
    }
    return std::nullopt;
  }

 private:
  static bool IsOpen(const End& end, int steps) {
    return end.level() < steps && end.frontier() > 0;
  }
  Derivation Path(const End& from, const End& other, int met) const {
    const int there = *other.Find(from.state(met).key);
    Derivation d{from.PathTo(met), other.PathTo(there), false};
    if (&from == &ends_[1]) std::swap(d.from_source, d.from_target);
    d.whole = d.steps() == 0 || (d.steps() == 1 && from.state(met).whole);
    return d;
  }

  const Theory& theory_;
  const DeriveLimits& limits_;
  Rewritten* const rewritten_;
  const int max_size_;
  End ends_[2];
};

// A derivation between two graphs with the same inputs, if one is found within
// the limits.
std::optional<Derivation> Derive(const ir::Graph& source,
                                 const ir::Graph& target, const Theory& theory,
                                 const DeriveLimits& limits,
                                 Rewritten* rewritten) {
  // One step first, since what follows hides whether the rule is an instance.
  Meet meet(source, target, theory, limits, rewritten);
  if (auto d = meet.Run(1)) return d;
  if (limits.steps <= 1) return std::nullopt;
  std::vector<int> before, after;
  const ir::Graph from =
      limits.backward ? source : Collapse(source, theory, before, rewritten);
  const ir::Graph to =
      limits.forward ? target : Collapse(target, theory, after, rewritten);
  auto d = before.empty() && after.empty()
               ? meet.Run(limits.steps)
               : Meet(from, to, theory, limits, rewritten).Run(limits.steps);
  if (!d) return std::nullopt;
  d->from_source.insert(d->from_source.begin(), before.begin(), before.end());
  d->from_target.insert(d->from_target.begin(), after.begin(), after.end());
  d->whole = false;
  return d;
}

// Derives what is found at one more instance, by the steps so far if they do;
// false if it cannot be derived.
bool DeriveMore(const ir::RuleInstance& at, const Theory& theory,
                const DeriveLimits& limits, Rewritten* rewritten,
                std::optional<Derivation>& found) {
  if (found && Replays(at, *found, theory, limits)) return true;
  auto d = Derive(at.source, at.target, theory, limits, rewritten);
  if (!d) return false;
  const bool whole = d->whole;
  if (!found) found = std::move(d);
  found->whole = found->whole && whole;
  return true;
}

}  // namespace

std::optional<Derivation> DeriveAll(absl::Span<const ir::RuleInstance> seen,
                                    const Theory& theory,
                                    const DeriveLimits& limits,
                                    Rewritten* rewritten) {
  std::optional<Derivation> found;
  for (const ir::RuleInstance& at : seen) {
    if (!DeriveMore(at, theory, limits, rewritten, found)) return std::nullopt;
  }
  return found;
}

std::optional<Derivation> DeriveRule(const ir::Rule& rule, const Theory& theory,
                                     const DeriveLimits& limits,
                                     Rewritten* rewritten) {
  std::mt19937_64 random(1);
  std::optional<Derivation> found;
  // Higher ranks come last and leave the least to chance.
  const int cases = static_cast<int>(rule.cases().size());
  for (int i = cases - 1; i >= 0; --i) {
    for (int again = 0; again < (found ? 1 : 3); ++again) {
      auto at = Instance(rule, rule.cases()[i], random);
      if (!at) break;
      if (!DeriveMore(*at, theory, limits, rewritten, found)) {
        return std::nullopt;
      }
    }
  }
  return found;
}

std::vector<std::string> StepNames(const Derivation& d, const Theory& theory) {
  std::vector<std::string> out;
  for (int e : d.from_source) {
    out.push_back(theory.equations()[e].rule->name());
  }
  for (auto e = d.from_target.rbegin(); e != d.from_target.rend(); ++e) {
    out.push_back(OtherWay(theory.equations()[*e].rule->name()));
  }
  return out;
}

}  // namespace isomer::gen
