// Breadth first from both ends, the end that is cheaper to go on from first.
#include "xfer_gen/derive.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "graph/instance.h"
#include "xfer_gen/derive_step.h"

namespace isomer::gen {

namespace {

// One end of a search: the graphs reached from it, in the order of discovery.
class End {
 public:
  // With `reversible`, only equations that can be read both ways are used.
  End(const ir::Graph& start, bool reversible) : reversible_(reversible) {
    states_.push_back({start, -1, -1, 0, true});
    known_.emplace(KeyOf(start), 0);
  }

  struct State {
    ir::Graph graph;
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
           int& budget);

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
              int& budget) {
  const int end = static_cast<int>(states_.size());
  ++level_;
  int met = -1;
  for (; next_ < end && met < 0; ++next_) {
    const ir::Graph graph = states_[next_].graph;
    StepMaker maker(graph);
    for (size_t e = 0; e < theory.equations().size() && met < 0; ++e) {
      const Equation& equation = *theory.equations()[e];
      if (!theory.enabled(equation)) continue;
      if (reversible_ && !equation.reversible) continue;
      maker.Run(equation, [&](ir::Graph result, bool whole) {
        if (budget-- <= 0) return false;
        const GraphKey key = KeyOf(result);
        const int id = static_cast<int>(states_.size());
        const bool small = StepsOf(result) <= max_size;
        if (!small || !known_.emplace(key, id).second) return true;
        states_.push_back(
            {std::move(result), next_, static_cast<int>(e), level_, whole});
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
      StepMaker(graph).Run(*theory.equations()[e], [&](ir::Graph result, bool) {
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
                   std::vector<int>& path) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int e : theory.collapsing()) {
      if (!theory.enabled(*theory.equations()[e])) continue;
      std::optional<ir::Graph> next;
      StepMaker(graph).Run(*theory.equations()[e], [&](ir::Graph result, bool) {
        next = std::move(result);
        return false;
      });
      if (!next) continue;
      graph = *std::move(next);
      path.push_back(e);
      changed = true;
    }
  }
  return graph;
}

std::optional<Derivation> Search(const ir::Graph& source,
                                 const ir::Graph& target, const Theory& theory,
                                 const DeriveLimits& limits, int steps) {
  if (KeyOf(source) == KeyOf(target)) return Derivation{{}, {}, true};
  End ends[2] = {End(source, limits.backward), End(target, limits.forward)};
  const int max_size =
      std::max(StepsOf(source), StepsOf(target)) + limits.growth;
  int budget = limits.graphs;
  // Each end may have to go all the way, since not every step can be taken
  // from the other one.
  while (budget > 0) {
    const bool open[2] = {ends[0].level() < steps && ends[0].frontier() > 0,
                          ends[1].level() < steps && ends[1].frontier() > 0};
    if (!open[0] && !open[1]) break;
    const bool second =
        open[1] && (!open[0] || ends[1].Cost() < ends[0].Cost());
    End &grown = ends[second], &other = ends[!second];
    const int met = grown.Grow(other, theory, steps, max_size, budget);
    if (met < 0) continue;
    const int there = *other.Find(KeyOf(grown.state(met).graph));
    Derivation d{grown.PathTo(met), other.PathTo(there), false};
    if (second) std::swap(d.from_source, d.from_target);
    d.whole = d.steps() == 1 && grown.state(met).whole;
    return d;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Derivation> Derive(const ir::Graph& source,
                                 const ir::Graph& target, const Theory& theory,
                                 const DeriveLimits& limits) {
  if (KeyOf(source) == KeyOf(target)) return Derivation{{}, {}, true};
  // One step first, since what follows hides whether the rule is an instance.
  if (auto d = Search(source, target, theory, limits, 1)) return d;
  if (limits.steps <= 1) return std::nullopt;
  std::vector<int> before, after;
  const ir::Graph from =
      limits.backward ? source : Collapse(source, theory, before);
  const ir::Graph to =
      limits.forward ? target : Collapse(target, theory, after);
  auto d = Search(from, to, theory, limits, limits.steps);
  if (!d) return std::nullopt;
  d->from_source.insert(d->from_source.begin(), before.begin(), before.end());
  d->from_target.insert(d->from_target.begin(), after.begin(), after.end());
  d->whole = false;
  return d;
}

std::optional<Derivation> DeriveRule(const ir::Rule& rule, const Theory& theory,
                                     const DeriveLimits& limits) {
  std::mt19937_64 random(1);
  std::optional<Derivation> found;
  // Higher ranks come last and leave the least to chance.
  const int cases = static_cast<int>(rule.cases().size());
  for (int i = cases - 1; i >= 0; --i) {
    for (int again = 0; again < (found ? 1 : 3); ++again) {
      auto at = Instance(rule, rule.cases()[i], random);
      if (!at) break;
      if (found && Replays(*at, *found, theory, limits)) continue;
      auto d = Derive(at->source, at->target, theory, limits);
      if (!d) return std::nullopt;
      if (!found) found = std::move(d);
      found->whole = found->whole && d->whole;
    }
  }
  return found;
}

std::vector<std::string> StepNames(const Derivation& d, const Theory& theory) {
  std::vector<std::string> out;
  for (int e : d.from_source) {
    out.push_back(theory.equations()[e]->rule.name());
  }
  for (auto e = d.from_target.rbegin(); e != d.from_target.rend(); ++e) {
    out.push_back(OtherWay(theory.equations()[*e]->rule.name()));
  }
  return out;
}

}  // namespace isomer::gen
