#include "search/optimize.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "ops/status.h"
#include "search/best_first.h"
#include "search/moves.h"
#include "search/part.h"
#include "search/session.h"
#include "search/siblings.h"
#include "search/split.h"
#include "search/step.h"
#include "search/surroundings.h"
#include "search/topology.h"

namespace isomer::search {

namespace {

// Rounds of simplifying and of merging siblings.
constexpr int kInnerRounds = 12;
// How far around a step a like place looks the same.
constexpr int kAround = 5;
// Graphs of so few operators are searched whatever the steps between cost.
constexpr int kTiny = 6;
constexpr int64_t kTinyExpansions = 1000;

class Optimizer {
 public:
  Optimizer(const ir::Graph& graph, const RuleBook& book,
            const cost::CostModel& cost, const SearchOptions& options)
      : options_(options),
        book_(book),
        workers_(options.threads),
        session_(book, cost, workers_, options.limits, options.progress),
        here_{graph, cost.MakePlan(graph), {}} {
    result_.before = here_.plan;
    session_.SetCosts(Now(), Now());
  }

  SearchResult Run(const ir::Graph& original);

 private:
  // A graph that the search has come to, and how.
  struct Place {
    ir::Graph graph;
    cost::Plan plan;
    std::map<int, RuleUse> uses;  // by rule of the book
  };

  int64_t Now() const { return here_.plan.cost().time_ps; }
  int64_t Slack() const {
    if (!options_.relaxed) return 0;
    return static_cast<int64_t>((options_.alpha - 1) *
                                static_cast<double>(Now()));
  }

  void Go(ir::Graph graph, cost::Plan plan,
          const std::vector<StepTaken>& steps);
  // What a step brings: time, then fewer operators that run, then factors
  // nearer to weights.
  struct Merit {
    int64_t gain_ps = 0;
    int fewer = 0;
    int sinks = 0;
    friend auto operator<=>(const Merit&, const Merit&) = default;
  };

  void Open();
  void OpenOnce();
  bool Simplify(bool together);
  bool SimplifyOnce(bool together, std::set<std::vector<int32_t>>& tried);
  void Weigh(const std::vector<Step>& steps, const Topology& topology,
             const std::function<bool(int)>& which, std::vector<Merit>& merits);
  bool TakeThoseThatPay(const std::vector<Step>& steps,
                        const std::vector<Merit>& merits,
                        const Topology& topology);
  Merit MeritOf(const Step& step, const Topology& topology, const Taken& taken,
                const cost::Plan& plan) const;
  size_t TakeIfBetter(const Step& step, const Topology& topology);
  void ShrinkConstants();
  bool MergeSiblings();
  // One group of siblings: its nodes taken out, and the step that merges them.
  struct Merge {
    Part part;
    Step step;
    int64_t gain_ps = 0;
  };
  Merge MergeOf(int rule, const std::vector<Value>& group,
                const std::vector<NodeId>& nodes,
                const Topology& topology) const;
  std::vector<Merge> FindMerges();
  void Weigh(std::vector<Merge>& merges);
  bool TakeMerge(const Merge& m);
  bool MergeOnce();
  void SearchWhole(int running);
  void SearchDivided();
  void SearchParts(const std::vector<std::vector<NodeId>>& parts);
  bool SearchPart(const Part& part);
  void SearchSeams(const std::vector<std::vector<NodeId>>& parts);
  BestFirstOptions PartOptions(const Part& part) const;
  std::optional<Outcome> Repeat(const Part& part, const Outcome& model);
  bool Accept(const Part& part, const Outcome& outcome);
  bool WithinMemory(const ir::Graph& graph, const cost::Plan& plan) const;

  const SearchOptions& options_;
  const RuleBook& book_;
  Workers workers_;
  Session session_;
  Place here_;
  bool fewer_first_ = false;  // of steps that pay, those with fewer operators
  bool contested_ = false;    // a step was left out for one that pays more
  // Outcomes of parts by signature.
  std::map<std::vector<uint64_t>, Outcome> known_;
  SearchResult result_;
};

// How many operators run: constants do not.
int Running(const ir::Graph& graph, const Topology& topology) {
  int n = 0;
  for (NodeId id : topology.order) {
    n += graph.node(id).op != nullptr && !topology.constant[id.value];
  }
  return n;
}

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

bool Optimizer::WithinMemory(const ir::Graph& graph,
                             const cost::Plan& plan) const {
  if (plan.cost().weight_bytes > options_.max_weight_bytes) return false;
  return options_.max_peak_bytes == INT64_MAX ||
         cost::PeakBytes(plan, graph) <= options_.max_peak_bytes;
}

// Moves on to a graph that came from the present one by `steps`.
void Optimizer::Go(ir::Graph graph, cost::Plan plan,
                   const std::vector<StepTaken>& steps) {
  here_.graph = std::move(graph);
  here_.plan = std::move(plan);
  for (const StepTaken& s : steps) {
    for (int i : s.made) {
      RuleUse& use = here_.uses[s.step[i].rule];
      const int64_t merged =
          static_cast<int64_t>(s.step[i].siblings.size()) - 1;
      use.times += std::max<int64_t>(1, merged);
      use.gain_us += static_cast<double>(s.gain_ps) * 1e-6 /
                     static_cast<double>(s.made.size());
    }
  }
  session_.SetCosts(result_.before.cost().time_ps, Now());
}

// Where the whole graph changes if a part does.
std::vector<NodeId> TouchedBy(const ir::Graph& whole, const Part& part) {
  std::vector<NodeId> out = part.inner;
  for (NodeId id : part.inner) {
    for (Value v : whole.node(id).inputs) out.push_back(v.node);
  }
  absl::c_sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Takes over what was found for a part if the whole becomes cheaper.
bool Optimizer::Accept(const Part& part, const Outcome& outcome) {
  if (outcome.steps.empty()) return false;
  absl::StatusOr<ir::Graph> whole = PutBack(here_.graph, part, outcome.graph);
  if (!whole.ok()) return false;
  cost::Plan plan = session_.cost().Replan(here_.plan, here_.graph, *whole,
                                           TouchedBy(here_.graph, part));
  if (plan.cost().time_ps >= Now() || !WithinMemory(*whole, plan)) return false;
  Go(*std::move(whole), std::move(plan), outcome.steps);
  return true;
}

// ---- What pays by itself

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

Optimizer::Merit Optimizer::MeritOf(const Step& step, const Topology& topology,
                                    const Taken& taken,
                                    const cost::Plan& plan) const {
  Merit m;
  m.gain_ps = Now() - plan.cost().time_ps;
  if (m.gain_ps < 0) return m;
  m.fewer = Fewer(here_.graph, topology, taken);
  for (int i : taken.moves) m.sinks += book_[step[i].rule].sinks;
  return m;
}

// Takes all steps that pay; or that cost nothing and leave fewer operators, or
// bring a factor nearer to weights.
bool Optimizer::SimplifyOnce(bool together,
                             std::set<std::vector<int32_t>>& tried) {
  const MoveOptions moves{.frozen = {},
                          .choices = 1,
                          .together = options_.together && together,
                          .n_ary = false};
  std::vector<Step> steps;
  for (Step& s : FindSteps(here_.graph, book_, moves, session_.facts(0))) {
    // Merges are a question of siblings and of relaxed search.
    if (s[0].match.outputs.size() == 1 &&
        tried.insert(KeyOf(here_.graph, s)).second) {
      steps.push_back(std::move(s));
    }
  }
  const Topology topology(here_.graph);
  const std::vector<int> first = FirstOfForm(here_.graph, topology, steps);
  std::vector<Merit> merits(steps.size());
  Weigh(
      steps, topology, [&](int i) { return first[i] == i; }, merits);
  for (size_t i = 0; i < steps.size(); ++i) merits[i] = merits[first[i]];
  session_.Count(1, static_cast<int64_t>(steps.size()));
  if (TakeThoseThatPay(steps, merits, topology)) return true;
  if (absl::c_all_of(merits, [](const Merit& m) { return m <= Merit(); })) {
    return false;
  }
  // What is alike nearby may differ further away.
  Weigh(
      steps, topology, [&](int i) { return first[i] != i; }, merits);
  return TakeThoseThatPay(steps, merits, topology);
}

void Optimizer::Weigh(const std::vector<Step>& steps, const Topology& topology,
                      const std::function<bool(int)>& which,
                      std::vector<Merit>& merits) {
  workers_.Run(static_cast<int>(steps.size()), [&](int i, int worker) {
    if (!which(i) || session_.Stopped(worker)) return;
    merits[i] = Merit();
    absl::StatusOr<Taken> taken =
        Take(here_.graph, book_, steps[i], session_.facts(worker));
    if (!taken.ok()) return;
    const cost::Plan plan = session_.cost().Replan(
        here_.plan, here_.graph, taken->graph, taken->touched);
    merits[i] = MeritOf(steps[i], topology, *taken, plan);
  });
}

bool Optimizer::TakeThoseThatPay(const std::vector<Step>& steps,
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
  if (!options_.together && order.size() > 1) order.resize(1);
  Step all;
  for (int i : order) {
    all.insert(all.end(), steps[i].begin(), steps[i].end());
  }
  const size_t made = all.empty() ? 0 : TakeIfBetter(all, topology);
  contested_ = contested_ || (!same && made > 0 && made < all.size());
  return made > 0;
}

// Returns how many moves of the step were made.
size_t Optimizer::TakeIfBetter(const Step& step, const Topology& topology) {
  absl::StatusOr<Taken> taken =
      Take(here_.graph, book_, step, session_.facts(0));
  if (!taken.ok()) return 0;
  cost::Plan plan = session_.cost().Replan(here_.plan, here_.graph,
                                           taken->graph, taken->touched);
  const Merit merit = MeritOf(step, topology, *taken, plan);
  if (merit <= Merit() || !WithinMemory(taken->graph, plan)) return 0;
  Go(std::move(taken->graph), std::move(plan),
     {{step, taken->moves, merit.gain_ps}});
  return taken->moves.size();
}

bool Optimizer::Simplify(bool together) {
  std::set<std::vector<int32_t>> tried;
  bool any = false;
  for (int i = 0; i < kInnerRounds && !session_.Stopped(); ++i) {
    if (!SimplifyOnce(together, tried)) break;
    any = true;
  }
  return any;
}

// Constants cost no time, but memory: a sum of two rows, each repeated, is
// better kept as one row.
void Optimizer::ShrinkConstants() {
  const MoveOptions moves{.constants = true, .together = false, .n_ary = false};
  for (int round = 0; round < kInnerRounds && !session_.OutOfTime(); ++round) {
    Step all;
    for (const Step& step :
         FindSteps(here_.graph, book_, moves, session_.facts(0))) {
      if (session_.OutOfTime()) break;
      absl::StatusOr<Taken> taken =
          Take(here_.graph, book_, step, session_.facts(0));
      if (!taken.ok()) continue;
      const cost::Cost now =
          session_.cost()
              .Replan(here_.plan, here_.graph, taken->graph, taken->touched)
              .cost();
      if (now.time_ps <= Now() &&
          now.weight_bytes < here_.plan.cost().weight_bytes) {
        all.push_back(step[0]);
      }
    }
    if (all.empty()) return;
    absl::StatusOr<Taken> taken =
        Take(here_.graph, book_, all, session_.facts(0));
    if (!taken.ok()) return;
    cost::Plan plan = session_.cost().Replan(here_.plan, here_.graph,
                                             taken->graph, taken->touched);
    if (plan.cost().time_ps > Now() ||
        plan.cost().weight_bytes >= here_.plan.cost().weight_bytes) {
      return;
    }
    const int64_t won = Now() - plan.cost().time_ps;
    Go(std::move(taken->graph), std::move(plan), {{all, taken->moves, won}});
  }
}

// What pays most may stand in the way of what leaves fewer operators, so both
// are tried first.
void Optimizer::Open() {
  const Place start = here_;
  contested_ = false;
  OpenOnce();
  if (!contested_ || session_.Stopped()) return;
  Place by_gain = std::exchange(here_, start);
  fewer_first_ = true;
  OpenOnce();
  fewer_first_ = false;
  if (by_gain.plan.cost().time_ps <= Now()) here_ = std::move(by_gain);
}

// What pays by itself and what pays for siblings may stand in each other's way,
// so both orders are tried.
void Optimizer::OpenOnce() {
  const Place start = here_;
  const bool simplified = Simplify(false);
  if (!options_.siblings) return;
  auto merge = [this] {
    bool any = false;
    while (MergeSiblings()) {
      any = true;
      if (!Simplify(false)) break;
    }
    return any;
  };
  merge();
  if (simplified) {
    Place first = std::exchange(here_, start);
    if (!merge() || first.plan.cost().time_ps <= Now()) {
      here_ = std::move(first);
    }
  }
  while (Simplify(true) && merge()) continue;
}

// ---- Siblings

std::vector<NodeId> NodesOf(const std::vector<Value>& group,
                            const std::vector<ir::Match>& matches,
                            const Topology& topology) {
  std::set<NodeId> nodes;
  for (const ir::Match& m : matches) {
    if (!absl::c_all_of(m.outputs, [&](Value v) {
          return absl::c_linear_search(group, v);
        })) {
      continue;
    }
    for (NodeId id : m.nodes) {
      if (id.value >= 0 && !topology.constant[id.value]) nodes.insert(id);
    }
  }
  return {nodes.begin(), nodes.end()};
}

// The group of siblings of a rule with what is around it, and how to merge it.
Optimizer::Merge Optimizer::MergeOf(int rule, const std::vector<Value>& group,
                                    const std::vector<NodeId>& nodes,
                                    const Topology& topology) const {
  Merge m{TakeOut(here_.graph, topology, nodes), {}, 0};
  std::map<NodeId, NodeId> local;
  for (size_t i = 0; i < m.part.whole.size(); ++i) {
    local[m.part.whole[i].node] = {static_cast<int32_t>(i)};
  }
  Move move{.rule = rule};
  for (Value v : group) move.siblings.push_back({local.at(v.node), v.output});
  m.step = {std::move(move)};
  return m;
}

std::vector<Optimizer::Merge> Optimizer::FindMerges() {
  const Topology topology(here_.graph);
  const ir::OpIndex index(here_.graph);
  FiniteConstants finite(here_.graph, topology, session_.facts(0));
  std::vector<Merge> merges;
  for (int r = 0; r < book_.size(); ++r) {
    if (!book_[r].fold || session_.Stopped()) continue;
    std::vector<ir::Match> matches;
    for (ir::Match& m : ir::FindMatches(here_.graph, index, book_[r].rule,
                                        session_.facts(0))) {
      if (absl::c_none_of(
              m.outputs,
              [&](Value v) { return topology.constant[v.node.value]; }) &&
          finite.Allow(book_[r].rule, m)) {
        matches.push_back(std::move(m));
      }
    }
    for (const auto& group :
         SiblingGroups(here_.graph, book_[r].rule, matches)) {
      const std::vector<NodeId> nodes = NodesOf(group, matches, topology);
      if (!Convex(here_.graph, topology, nodes)) continue;
      merges.push_back(MergeOf(r, group, nodes, topology));
    }
  }
  return merges;
}

// Finds out what merges bring. Those of one form bring the same.
void Optimizer::Weigh(std::vector<Merge>& merges) {
  std::map<std::vector<uint64_t>, int> known;
  std::vector<int> first(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) {
    const Move& move = merges[i].step[0];
    std::vector<uint64_t> form = merges[i].part.signature;
    form.push_back(move.rule);
    for (Value v : move.siblings) form.push_back(v.node.value);
    first[i] = known.emplace(std::move(form), i).first->second;
  }
  workers_.Run(static_cast<int>(merges.size()), [&](int i, int worker) {
    if (first[i] != i || session_.Stopped(worker)) return;
    Merge& m = merges[i];
    absl::StatusOr<Taken> taken =
        Take(m.part.graph, book_, m.step, session_.facts(worker));
    if (!taken.ok()) return;
    // What a merge brings shows in what reads its parts, and further on.
    absl::StatusOr<ir::Graph> whole =
        PutBack(here_.graph, m.part, taken->graph);
    if (!whole.ok()) return;
    const cost::Plan plan = session_.cost().Replan(
        here_.plan, here_.graph, *whole, TouchedBy(here_.graph, m.part));
    m.gain_ps = Now() - plan.cost().time_ps;
  });
  for (size_t i = 0; i < merges.size(); ++i) {
    merges[i].gain_ps = merges[first[i]].gain_ps;
  }
  session_.Count(1, static_cast<int64_t>(merges.size()));
}

bool Optimizer::TakeMerge(const Merge& m) {
  absl::StatusOr<Taken> taken =
      Take(m.part.graph, book_, m.step, session_.facts(0));
  return taken.ok() &&
         Accept(m.part,
                {std::move(taken->graph), {}, {{m.step, {0}, m.gain_ps}}});
}

// Merges the groups that pay, those that pay most first.
bool Optimizer::MergeOnce() {
  std::vector<Merge> merges = FindMerges();
  Weigh(merges);
  absl::c_stable_sort(merges, [](const Merge& a, const Merge& b) {
    return a.gain_ps > b.gain_ps;
  });
  std::set<NodeId> spent;
  bool merged = false;
  for (const Merge& m : merges) {
    if (m.gain_ps <= 0 || session_.OutOfTime()) break;
    if (absl::c_any_of(m.part.inner,
                       [&](NodeId id) { return spent.count(id) > 0; }) ||
        absl::c_any_of(m.part.whole, [&](Value v) {
          return v.node.value >= 0 && !here_.graph.Has(v.node);
        })) {
      continue;
    }
    // Merging others may have made it depend on itself.
    if (merged && !Convex(here_.graph, Topology(here_.graph), m.part.inner))
      continue;
    if (!TakeMerge(m)) continue;
    merged = true;
    spent.insert(m.part.inner.begin(), m.part.inner.end());
  }
  return merged;
}

bool Optimizer::MergeSiblings() {
  bool any = false;
  for (int i = 0; i < kInnerRounds && !session_.Stopped(); ++i) {
    if (!MergeOnce()) break;
    any = true;
  }
  return any;
}

// ---- Parts

BestFirstOptions Optimizer::PartOptions(const Part& part) const {
  BestFirstOptions o;
  // Of a part, what may get worse is a share of the whole.
  o.alpha = 1;
  o.slack_ps = Slack();
  o.batch = options_.batch;
  o.expansions = options_.part_expansions;
  o.patience = options_.part_patience;
  o.gains_together = options_.together;
  o.moves.frozen = part.frozen;
  o.moves.together = options_.together;
  o.moves.n_ary = options_.siblings;
  return o;
}

// The steps of another part of the same form, if they all match. What they
// bring is known from there; the whole is costed again when they are accepted.
std::optional<Outcome> Optimizer::Repeat(const Part& part,
                                         const Outcome& model) {
  Outcome out{part.graph, {}, model.steps};
  for (const StepTaken& s : model.steps) {
    if (!Matches(out.graph, book_, s.step, session_.facts(0))) {
      return std::nullopt;
    }
    absl::StatusOr<Taken> taken =
        Take(out.graph, book_, s.step, session_.facts(0));
    if (!taken.ok() || taken->moves != s.made) return std::nullopt;
    out.graph = std::move(taken->graph);
  }
  return out;
}

void Optimizer::SearchParts(const std::vector<std::vector<NodeId>>& parts) {
  std::optional<Topology> topology;
  for (const std::vector<NodeId>& nodes : parts) {
    if (session_.Stopped()) return;
    if (!topology) topology.emplace(here_.graph);
    std::vector<NodeId> inner;
    for (NodeId id : nodes) {
      if (here_.graph.Has(id)) inner.push_back(id);
    }
    if (inner.empty() || !Convex(here_.graph, *topology, inner)) continue;
    if (SearchPart(TakeOut(here_.graph, *topology, inner))) topology.reset();
  }
}

// True if the whole became cheaper.
bool Optimizer::SearchPart(const Part& part) {
  const auto known = known_.find(part.signature);
  const bool repeat = options_.repeat && known != known_.end();
  if (repeat && known->second.steps.empty()) {
    ++result_.repeated;
    return false;
  }
  if (repeat) {
    if (const auto again = Repeat(part, known->second)) {
      ++result_.repeated;
      return Accept(part, *again);
    }
  }
  const cost::Plan plan = session_.cost().MakePlan(part.graph);
  Outcome outcome = BestFirst(part.graph, plan, PartOptions(part), session_);
  ++result_.parts;
  const bool accepted = Accept(part, outcome);
  known_.insert_or_assign(part.signature, std::move(outcome));
  return accepted;
}

void Optimizer::SearchSeams(const std::vector<std::vector<NodeId>>& parts) {
  std::vector<std::vector<NodeId>> seams;
  for (size_t i = 1; i < parts.size(); ++i) {
    const auto &a = parts[i - 1], &b = parts[i];
    std::vector<NodeId> both(a.begin() + a.size() / 2, a.end());
    both.insert(both.end(), b.begin(), b.begin() + (b.size() + 1) / 2);
    seams.push_back(std::move(both));
  }
  SearchParts(seams);
}

void Optimizer::SearchWhole(int running) {
  BestFirstOptions how = PartOptions({});
  how.alpha = options_.relaxed ? options_.alpha : 1;
  how.slack_ps = 0;
  if (options_.relaxed && running <= kTiny) {
    how.slack_ps = INT64_MAX / 2;
    how.expansions = how.patience = kTinyExpansions;
  }
  Outcome outcome = BestFirst(here_.graph, here_.plan, how, session_);
  ++result_.parts;
  if (outcome.steps.empty() || outcome.plan.cost().time_ps >= Now() ||
      !WithinMemory(outcome.graph, outcome.plan)) {
    return;
  }
  Go(std::move(outcome.graph), std::move(outcome.plan), outcome.steps);
}

void Optimizer::SearchDivided() {
  const SplitOptions how{.max_nodes = options_.part_nodes,
                         .flow = options_.flow};
  auto split = [&] {
    return Split(here_.graph, Topology(here_.graph), here_.plan, how, session_);
  };
  std::vector<std::vector<NodeId>> parts = split();
  const int64_t before = Now();
  SearchParts(parts);
  if (!options_.seams || session_.Stopped()) return;
  if (Now() < before) parts = split();
  SearchSeams(parts);
}

SearchResult Optimizer::Run(const ir::Graph& original) {
  // What opens a round may take what stands in the way of something better, and
  // rules do not always lead back.
  const int at_first = Running(original, Topology(original));
  if (options_.open && at_first <= kTiny) SearchWhole(at_first);
  for (int round = 0; round < options_.rounds && !session_.Stopped(); ++round) {
    const int64_t before = Now();
    if (options_.open) Open();
    const Topology topology(here_.graph);
    const int running = Running(here_.graph, topology);
    const int64_t opened = Now();
    session_.ShareFacts();
    if (!options_.split || running <= options_.part_nodes) {
      SearchWhole(running);
    } else {
      SearchDivided();
    }
    // What opens a round has brought all it can. A round that brought less than
    // a thousandth beyond that is the last one.
    if (opened - Now() <= before / 1000) break;
  }
  if (Now() < result_.before.cost().time_ps) ShrinkConstants();
  const double share = 1 - session_.cost().target().least_gain();
  const int64_t before_ps = result_.before.cost().time_ps;
  result_.improved =
      Now() < before_ps &&
      static_cast<double>(Now()) <= share * static_cast<double>(before_ps);
  result_.graph = result_.improved ? here_.graph : original;
  result_.after = result_.improved ? here_.plan : result_.before;
  if (!result_.improved) here_.uses.clear();
  for (auto& [rule, use] : here_.uses) {
    use.rule = book_[rule].rule.name();
    use.proof = book_[rule].proof;
    result_.rules.push_back(use);
  }
  absl::c_stable_sort(result_.rules, [](const RuleUse& a, const RuleUse& b) {
    return std::make_pair(-a.gain_us, a.rule) <
           std::make_pair(-b.gain_us, b.rule);
  });
  result_.expansions = session_.expansions();
  result_.candidates = session_.candidates();
  result_.stop = session_.reason();
  return std::move(result_);
}

}  // namespace

SearchOptions PlainSearch(int64_t expansions) {
  SearchOptions o;
  o.open = o.together = o.siblings = o.split = false;
  o.rounds = o.batch = 1;
  o.part_expansions = o.part_patience = expansions;
  return o;
}

absl::StatusOr<SearchResult> Optimize(const ir::Graph& graph,
                                      const RuleBook& book,
                                      const cost::CostModel& cost,
                                      const SearchOptions& options) {
  if (!(options.alpha >= 1 && options.alpha <= 100)) {
    return Invalid("alpha is ", options.alpha, "; it must be from 1 to 100");
  }
  if (options.limits.time < absl::ZeroDuration() ||
      options.limits.expansions < 0 || options.limits.memory_bytes < 0) {
    return Invalid("a limit of the search is negative");
  }
  return Optimizer(graph, book, cost, options).Run(graph);
}

}  // namespace isomer::search
