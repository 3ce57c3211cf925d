#include "search/optimize.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "ops/status.h"
#include "search/best_first.h"
#include "search/merge.h"
#include "search/part.h"
#include "search/session.h"
#include "search/simplify.h"
#include "search/split.h"
#include "search/step.h"
#include "search/topology.h"
#include "search/walk.h"

namespace isomer::search {

namespace {

// Graphs of so few operators are searched whatever the steps between cost.
constexpr int kTiny = 6;
constexpr int64_t kTinyExpansions = 1000;

class Optimizer {
 public:
  Optimizer(const ir::Graph& graph, const RuleBook& book,
            const cost::CostModel& cost, const SearchOptions& options)
      : options_(options),
        workers_(options.threads),
        session_(book, cost, workers_, options.limits, options.progress),
        walk_(graph, options, session_),
        simplifier_(walk_) {}

  SearchResult Run(const ir::Graph& original);

 private:
  int64_t Slack() const {
    if (!options_.relaxed) return 0;
    return static_cast<int64_t>((options_.alpha - 1) *
                                static_cast<double>(walk_.now_ps()));
  }

  void Open();
  void OpenOnce();
  bool MergeAndSimplify();
  void SearchWhole(int running);
  void SearchDivided();
  void SearchParts(const std::vector<std::vector<NodeId>>& parts);
  bool SearchPart(const Topology& topology, const std::vector<NodeId>& inner);
  void SearchSeams(const std::vector<std::vector<NodeId>>& parts);
  BestFirstOptions PartOptions(const Part& part) const;
  std::optional<Outcome> Repeat(const Part& part, const Outcome& model);
  SearchResult Result(const ir::Graph& original);

  const SearchOptions& options_;
  Workers workers_;
  Session session_;
  Walk walk_;
  Simplifier simplifier_;
  // Outcomes of parts by signature.
  std::map<std::vector<uint64_t>, Outcome> known_;
  int64_t parts_ = 0, repeated_ = 0;
};

// How many operators run: constants do not.
int Running(const ir::Graph& graph, const Topology& topology) {
  int n = 0;
  for (NodeId id : topology.order) {
    n += graph.node(id).op != nullptr && !topology.constant[id.value];
  }
  return n;
}

// ---- Opening

// What pays most may stand in the way of what leaves fewer operators, so both
// are tried first.
void Optimizer::Open() {
  const Walk::Place start = walk_.here();
  simplifier_.TakeContested();
  OpenOnce();
  if (!simplifier_.TakeContested() || session_.Stopped()) return;
  Walk::Place by_gain = walk_.Return(start);
  simplifier_.PreferFewer(true);
  OpenOnce();
  simplifier_.PreferFewer(false);
  if (by_gain.plan.cost().time_ps <= walk_.now_ps()) {
    walk_.Return(std::move(by_gain));
  }
}

// What pays by itself and what pays for siblings may stand in each other's way,
// so both orders are tried.
void Optimizer::OpenOnce() {
  const Walk::Place start = walk_.here();
  const bool simplified = simplifier_.Run(false);
  if (!options_.siblings) return;
  MergeAndSimplify();
  if (simplified) {
    Walk::Place first = walk_.Return(start);
    if (!MergeAndSimplify() || first.plan.cost().time_ps <= walk_.now_ps()) {
      walk_.Return(std::move(first));
    }
  }
  while (simplifier_.Run(true) && MergeAndSimplify()) continue;
}

// True if something was merged.
bool Optimizer::MergeAndSimplify() {
  bool any = false;
  while (MergeSiblings(walk_)) {
    any = true;
    if (!simplifier_.Run(false)) break;
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
    if (!Matches(out.graph, walk_.book(), s.step, session_.facts(0))) {
      return std::nullopt;
    }
    absl::StatusOr<Taken> taken =
        Take(out.graph, walk_.book(), s.step, session_.facts(0));
    if (!taken.ok() || taken->moves != s.made) return std::nullopt;
    out.graph = std::move(taken->graph);
  }
  return out;
}

void Optimizer::SearchParts(const std::vector<std::vector<NodeId>>& parts) {
  std::optional<Topology> topology;
  for (const std::vector<NodeId>& nodes : parts) {
    if (session_.Stopped()) return;
    if (!topology) topology.emplace(walk_.graph());
    std::vector<NodeId> inner;
    for (NodeId id : nodes) {
      if (walk_.graph().Has(id)) inner.push_back(id);
    }
    if (inner.empty() || !Convex(walk_.graph(), *topology, inner)) continue;
    if (SearchPart(*topology, inner)) topology.reset();
  }
}

// True if the whole became cheaper.
bool Optimizer::SearchPart(const Topology& topology,
                           const std::vector<NodeId>& inner) {
  std::vector<uint64_t> signature = SignatureOf(walk_.graph(), topology, inner);
  const auto known = known_.find(signature);
  const bool repeat = options_.repeat && known != known_.end();
  if (repeat && known->second.steps.empty()) {
    ++repeated_;
    return false;
  }
  const Part part = TakeOut(walk_.graph(), topology, inner);
  if (repeat) {
    if (const auto again = Repeat(part, known->second)) {
      ++repeated_;
      return walk_.Accept(part, *again);
    }
  }
  const cost::Plan plan = session_.cost().MakePlan(part.graph);
  Outcome outcome = BestFirst(part.graph, plan, PartOptions(part), session_);
  ++parts_;
  const bool accepted = walk_.Accept(part, outcome);
  known_.insert_or_assign(std::move(signature), std::move(outcome));
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
    how.moves.both_orders = true;
  }
  Outcome outcome = BestFirst(walk_.graph(), walk_.plan(), how, session_);
  ++parts_;
  if (outcome.steps.empty() || outcome.plan.cost().time_ps >= walk_.now_ps() ||
      !walk_.WithinMemory(outcome.graph, outcome.plan)) {
    return;
  }
  walk_.Go(std::move(outcome.graph), std::move(outcome.plan), outcome.steps);
}

void Optimizer::SearchDivided() {
  const SplitOptions how{.max_nodes = options_.part_nodes,
                         .flow = options_.flow};
  auto split = [&] {
    return Split(walk_.graph(), Topology(walk_.graph()), walk_.plan(), how,
                 session_);
  };
  std::vector<std::vector<NodeId>> parts = split();
  const int64_t before = walk_.now_ps();
  SearchParts(parts);
  if (!options_.seams || session_.Stopped()) return;
  if (walk_.now_ps() < before) parts = split();
  SearchSeams(parts);
}

SearchResult Optimizer::Run(const ir::Graph& original) {
  // What opens a round may take what stands in the way of something better, and
  // rules do not always lead back.
  const int at_first = Running(original, Topology(original));
  if (options_.open && at_first <= kTiny) SearchWhole(at_first);
  for (int round = 0; round < options_.rounds && !session_.Stopped(); ++round) {
    const int64_t before = walk_.now_ps();
    if (options_.open) Open();
    const Topology topology(walk_.graph());
    const int running = Running(walk_.graph(), topology);
    const int64_t opened = walk_.now_ps();
    session_.ShareFacts();
    if (!options_.split || running <= options_.part_nodes) {
      SearchWhole(running);
    } else {
      SearchDivided();
    }
    // What opens a round has brought all it can. A round that brought less than
    // a thousandth beyond that is the last one.
    if (opened - walk_.now_ps() <= before / 1000) break;
  }
  if (walk_.now_ps() < walk_.before().cost().time_ps) {
    simplifier_.ShrinkConstants();
  }
  return Result(original);
}

// What was found, if it is enough for the target.
SearchResult Optimizer::Result(const ir::Graph& original) {
  SearchResult out{.graph = original,
                   .before = walk_.before(),
                   .after = walk_.before(),
                   .rules = {},
                   .expansions = session_.expansions(),
                   .candidates = session_.candidates(),
                   .parts = parts_,
                   .repeated = repeated_,
                   .stop = session_.reason()};
  const double share = 1 - session_.cost().target().least_gain();
  const int64_t before_ps = out.before.cost().time_ps;
  out.improved =
      walk_.now_ps() < before_ps && static_cast<double>(walk_.now_ps()) <=
                                        share * static_cast<double>(before_ps);
  if (!out.improved) return out;
  out.graph = walk_.graph();
  out.after = walk_.plan();
  for (const auto& [rule, use] : walk_.here().uses) {
    const BookRule& r = walk_.book()[rule];
    out.rules.push_back({r.rule.name(), r.proof, use.times, use.gain_us});
  }
  absl::c_stable_sort(out.rules, [](const RuleUse& a, const RuleUse& b) {
    return std::make_pair(-a.gain_us, a.rule) <
           std::make_pair(-b.gain_us, b.rule);
  });
  return out;
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
