#include "search/simplify.h"

#include <algorithm>
#include <map>

#include "absl/algorithm/container.h"
#include "search/moves.h"
#include "search/surroundings.h"

namespace isomer::search {

namespace {

// Rounds of taking what pays.
constexpr int kRounds = 12;
// How far around a step a like place looks the same.
constexpr int kAround = 5;

// How many fewer operators run after a step. Looks at what the step touched.
int Fewer(const ir::Graph& before, const Topology& topology,
          const Taken& taken) {
  const ir::Graph& after = taken.graph;
  int fewer = 0;
  std::vector<NodeId> todo = taken.touched;
  std::set<NodeId> gone;
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    if (!before.Has(id) || after.Has(id) || !gone.insert(id).second) continue;
    fewer += before.node(id).op != nullptr && !topology.constant[id.value];
    for (Value v : before.node(id).inputs) todo.push_back(v.node);
  }
  // New nodes come after their inputs.
  const int32_t old = before.id_bound();
  std::vector<bool> constant(after.id_bound() - old, true);
  for (int32_t i = old; i < after.id_bound(); ++i) {
    if (!after.Has({i}) || after.node({i}).op == nullptr) continue;
    constant[i - old] = absl::c_all_of(after.node({i}).inputs, [&](Value v) {
      const int32_t in = v.node.value;
      return in < old ? topology.constant[in] : constant[in - old];
    });
    fewer -= !constant[i - old];
  }
  return fewer;
}

// Says what the matches of a step are made of. A step that brought nothing is
// not tried again as long as this stays the same.
std::vector<int32_t> KeyOf(const ir::Graph& graph, const Step& step) {
  std::vector<int32_t> key = {step[0].rule};
  for (const Move& move : step) {
    for (NodeId id : move.match.nodes) {
      key.push_back(id.value);
      if (id.value < 0) continue;
      for (Value v : graph.node(id).inputs) {
        key.push_back(v.node.value);
        key.push_back(v.output);
      }
    }
  }
  return key;
}

// By step: the first one of the same form, that is, of the same rule at a place
// that looks the same. What that brings, the others bring.
std::vector<int> FirstOfForm(const ir::Graph& graph, const Topology& topology,
                             const std::vector<Step>& steps) {
  const std::vector<uint64_t> around = Surroundings(graph, topology, kAround);
  std::map<std::vector<uint64_t>, int> known;
  std::vector<int> first(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    first[i] = static_cast<int>(i);
    if (steps[i].size() > 1) continue;
    const Move& move = steps[i][0];
    std::vector<uint64_t> form = {static_cast<uint64_t>(move.rule)};
    for (NodeId id : move.match.nodes) {
      form.push_back(id.value < 0 ? 0 : around[id.value]);
    }
    const std::vector<Value>& tensors = move.match.tensors;
    for (Value v : tensors) {
      form.push_back(around[v.node.value]);
      form.push_back(absl::c_find(tensors, v) - tensors.begin());
    }
    first[i] = known.emplace(std::move(form), first[i]).first->second;
  }
  return first;
}

}  // namespace

Simplifier::Merit Simplifier::MeritOf(const Step& step,
                                      const Topology& topology,
                                      const Taken& taken,
                                      const cost::Plan& plan) const {
  Merit m;
  m.gain_ps = walk_.now_ps() - plan.cost().time_ps;
  if (m.gain_ps < 0) return m;
  m.fewer = Fewer(walk_.graph(), topology, taken);
  for (int i : taken.moves) m.sinks += walk_.book()[step[i].rule].sinks;
  return m;
}

// Takes all steps that pay; or that cost nothing and leave fewer operators, or
// bring a factor nearer to weights.
bool Simplifier::Once(bool together, std::set<std::vector<int32_t>>& tried) {
  // Merges are a question of siblings and of relaxed search.
  const MoveOptions moves{.frozen = {},
                          .choices = 1,
                          .merges = false,
                          .together = walk_.options().together && together,
                          .n_ary = false};
  std::vector<Step> steps;
  for (Step& s : FindSteps(walk_.graph(), walk_.book(), moves,
                           walk_.session().facts(0))) {
    if (tried.insert(KeyOf(walk_.graph(), s)).second) {
      steps.push_back(std::move(s));
    }
  }
  const Topology topology(walk_.graph());
  const std::vector<int> first = FirstOfForm(walk_.graph(), topology, steps);
  std::vector<Merit> merits(steps.size());
  Weigh(
      steps, topology, [&](int i) { return first[i] == i; }, merits);
  for (size_t i = 0; i < steps.size(); ++i) merits[i] = merits[first[i]];
  walk_.session().Count(1, static_cast<int64_t>(steps.size()));
  if (TakeThoseThatPay(steps, merits, topology)) return true;
  if (absl::c_all_of(merits, [](const Merit& m) { return m <= Merit(); })) {
    return false;
  }
  // What is alike nearby may differ further away.
  Weigh(
      steps, topology, [&](int i) { return first[i] != i; }, merits);
  return TakeThoseThatPay(steps, merits, topology);
}

void Simplifier::Weigh(const std::vector<Step>& steps, const Topology& topology,
                       const std::function<bool(int)>& which,
                       std::vector<Merit>& merits) {
  walk_.session().workers().Run(
      static_cast<int>(steps.size()), [&](int i, int worker) {
        if (!which(i) || walk_.session().Stopped(worker)) return;
        merits[i] = Merit();
        absl::StatusOr<Taken> taken =
            Take(walk_.graph(), walk_.book(), steps[i],
                 walk_.session().facts(worker));
        if (!taken.ok()) return;
        const cost::Plan plan = walk_.Replan(taken->graph, taken->touched);
        merits[i] = MeritOf(steps[i], topology, *taken, plan);
      });
}

bool Simplifier::TakeThoseThatPay(const std::vector<Step>& steps,
                                  const std::vector<Merit>& merits,
                                  const Topology& topology) {
  std::vector<int> order;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (merits[i] > Merit()) order.push_back(static_cast<int>(i));
  }
  absl::c_stable_sort(order,
                      [&](int a, int b) { return merits[a] > merits[b]; });
  std::vector<int> other = order;
  absl::c_stable_sort(
      other, [&](int a, int b) { return merits[a].fewer > merits[b].fewer; });
  const bool same = order == other;
  if (fewer_first_) order = std::move(other);
  if (!walk_.options().together && order.size() > 1) order.resize(1);
  Step all;
  for (int i : order) {
    all.insert(all.end(), steps[i].begin(), steps[i].end());
  }
  const size_t made = all.empty() ? 0 : TakeIfBetter(all, topology);
  contested_ = contested_ || (!same && made > 0 && made < all.size());
  return made > 0;
}

// Returns how many moves of the step were made.
size_t Simplifier::TakeIfBetter(const Step& step, const Topology& topology) {
  absl::StatusOr<Taken> taken =
      Take(walk_.graph(), walk_.book(), step, walk_.session().facts(0));
  if (!taken.ok()) return 0;
  cost::Plan plan = walk_.Replan(taken->graph, taken->touched);
  const Merit merit = MeritOf(step, topology, *taken, plan);
  if (merit <= Merit() || !walk_.WithinMemory(taken->graph, plan)) return 0;
  walk_.Go(std::move(taken->graph), std::move(plan),
           {{step, taken->moves, merit.gain_ps}});
  return taken->moves.size();
}

bool Simplifier::Run(bool together) {
  std::set<std::vector<int32_t>> tried;
  bool any = false;
  for (int i = 0; i < kRounds && !walk_.session().Stopped(); ++i) {
    if (!Once(together, tried)) break;
    any = true;
  }
  return any;
}

void Simplifier::ShrinkConstants() {
  const MoveOptions moves{.constants = true, .together = false, .n_ary = false};
  for (int round = 0; round < kRounds && !walk_.session().OutOfTime();
       ++round) {
    Step all;
    for (const Step& step : FindSteps(walk_.graph(), walk_.book(), moves,
                                      walk_.session().facts(0))) {
      if (walk_.session().OutOfTime()) break;
      absl::StatusOr<Taken> taken =
          Take(walk_.graph(), walk_.book(), step, walk_.session().facts(0));
      if (!taken.ok()) continue;
      const cost::Cost now = walk_.Replan(taken->graph, taken->touched).cost();
      if (now.time_ps <= walk_.now_ps() &&
          now.weight_bytes < walk_.plan().cost().weight_bytes) {
        all.push_back(step[0]);
      }
    }
    if (all.empty()) return;
    absl::StatusOr<Taken> taken =
        Take(walk_.graph(), walk_.book(), all, walk_.session().facts(0));
    if (!taken.ok()) return;
    cost::Plan plan = walk_.Replan(taken->graph, taken->touched);
    if (plan.cost().time_ps > walk_.now_ps() ||
        plan.cost().weight_bytes >= walk_.plan().cost().weight_bytes) {
      return;
    }
    const int64_t won = walk_.now_ps() - plan.cost().time_ps;
    walk_.Go(std::move(taken->graph), std::move(plan),
             {{all, taken->moves, won}});
  }
}

}  // namespace isomer::search
