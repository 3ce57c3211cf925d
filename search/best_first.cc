#include "search/best_first.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "ops/status.h"

namespace isomer::search {

namespace {

// What an expanded graph with its plan takes, about, beyond what it shares.
constexpr int64_t kGraphBytes = 100'000;

// A graph that was expanded, or is about to be.
struct Opened {
  ir::Graph graph;
  cost::Plan plan;
};

struct Candidate {
  int parent = -1;
  Step step;
  int64_t cost_ps = 0;
  std::unique_ptr<Opened> opened;  // once its turn has come
};

// What became of one step from one graph.
struct Tried {
  int parent = -1;
  const Step* step = nullptr;
  std::optional<Opened> made;
  uint64_t hash = 0;
  bool planned = false;
};

int64_t Bytes(const Step& step) {
  int64_t n = sizeof(Candidate) + 64;
  for (const Move& m : step) {
    n += sizeof(Move) +
         16 * static_cast<int64_t>(m.match.tensors.size() +
                                   m.match.nodes.size() +
                                   m.match.outputs.size() + m.siblings.size()) +
         64 * static_cast<int64_t>(m.match.attrs.size());
  }
  return n;
}

class Search {
 public:
  Search(const ir::Graph& start, const cost::Plan& plan,
         const BestFirstOptions& options, Session& session)
      : options_(options), session_(session), max_size_(2 * start.size() + 64) {
    Candidate root;
    root.cost_ps = plan.cost().time_ps;
    root.opened = std::make_unique<Opened>(Opened{start, plan});
    candidates_.push_back(std::move(root));
    seen_[start.hash()].push_back(0);
    open_.insert({candidates_[0].cost_ps, start.size(), 0});
  }

  Outcome Run() {
    int64_t done = 0, last_gain = 0;
    while (!open_.empty() && done < options_.expansions &&
           done - last_gain < options_.patience && !session_.Stopped()) {
      const int best = best_;
      const int count = Expand();
      if (count == 0) break;
      done += count;
      if (best_ != best) last_gain = done;
      if (bytes_ > session_.limits().memory_bytes) session_.OutOfMemory();
    }
    return Best();
  }

 private:
  int64_t Threshold() const {
    if (options_.slack_ps >= INT64_MAX / 2) return INT64_MAX;
    return static_cast<int64_t>(
               options_.alpha *
               static_cast<double>(candidates_[best_].cost_ps)) +
           options_.slack_ps;
  }

  int Expand();
  void Open(int c, ir::ConstantFacts& facts);
  void Try(Tried& t, ir::ConstantFacts& facts) const;
  void PlanTried(Tried& t) const;
  bool IsNew(const Tried& t);
  void Enter(Tried& t);
  Step Gains(int parent, const std::vector<Tried>& tried) const;
  Outcome Best();

  const BestFirstOptions& options_;
  Session& session_;
  const int max_size_;
  std::vector<Candidate> candidates_;
  // Candidates to expand: cost, size, number.
  std::set<std::tuple<int64_t, int, int>> open_;
  // Candidates by hash; -1 for a graph that cost too much to keep.
  std::map<uint64_t, std::vector<int>> seen_;
  int best_ = 0;
  int64_t bytes_ = 0;
};

// Makes the graph of a candidate.
void Search::Open(int c, ir::ConstantFacts& facts) {
  Candidate& candidate = candidates_[c];
  if (candidate.opened != nullptr) return;
  const Opened& parent = *candidates_[candidate.parent].opened;
  absl::StatusOr<Taken> taken =
      Take(parent.graph, session_.book(), candidate.step, facts);
  Check(taken.ok(), "a step that was taken can be taken again");
  cost::Plan plan = session_.cost().Replan(parent.plan, parent.graph,
                                           taken->graph, taken->touched);
  candidate.opened = std::make_unique<Opened>(
      Opened{std::move(taken->graph), std::move(plan)});
}

void Search::PlanTried(Tried& t) const {
  const Opened& parent = *candidates_[t.parent].opened;
  t.made->plan =
      session_.cost().Replan(parent.plan, parent.graph, t.made->graph);
  t.planned = true;
}

void Search::Try(Tried& t, ir::ConstantFacts& facts) const {
  const Opened& parent = *candidates_[t.parent].opened;
  absl::StatusOr<Taken> taken =
      Take(parent.graph, session_.book(), *t.step, facts);
  if (!taken.ok() || taken->graph.size() > max_size_) return;
  t.hash = taken->graph.hash();
  t.made.emplace(Opened{std::move(taken->graph), {}});
  if (seen_.count(t.hash) > 0) return;  // planned if it turns out to be new
  t.made->plan = session_.cost().Replan(parent.plan, parent.graph,
                                        t.made->graph, taken->touched);
  t.planned = true;
}

// Compares with the graphs of the same hash.
bool Search::IsNew(const Tried& t) {
  const auto it = seen_.find(t.hash);
  if (it == seen_.end()) return true;
  for (int c : it->second) {
    if (c < 0) return false;
    const Candidate& other = candidates_[c];
    if (other.opened != nullptr) {
      if (ir::Equal(other.opened->graph, t.made->graph)) return false;
      continue;
    }
    absl::StatusOr<Taken> again =
        Take(candidates_[other.parent].opened->graph, session_.book(),
             other.step, session_.facts(0));
    if (again.ok() && ir::Equal(again->graph, t.made->graph)) return false;
  }
  return true;
}

void Search::Enter(Tried& t) {
  if (!t.made || !IsNew(t)) return;
  if (!t.planned) PlanTried(t);
  const int64_t cost = t.made->plan.cost().time_ps;
  if (cost > Threshold()) {
    seen_[t.hash].push_back(-1);
    return;
  }
  const int c = static_cast<int>(candidates_.size());
  bytes_ += Bytes(*t.step);
  candidates_.push_back({.parent = t.parent,
                         .step = *t.step,
                         .cost_ps = cost,
                         .opened = nullptr});
  seen_[t.hash].push_back(c);
  open_.insert({cost, t.made->graph.size(), c});
  if (cost < candidates_[best_].cost_ps) best_ = c;
}

// The moves that pay by themselves, those that pay most first.
Step Search::Gains(int parent, const std::vector<Tried>& tried) const {
  const int64_t now = candidates_[parent].cost_ps;
  std::vector<std::pair<int64_t, const Step*>> gains;
  for (const Tried& t : tried) {
    if (t.parent != parent || !t.made || !t.planned) continue;
    const int64_t gain = now - t.made->plan.cost().time_ps;
    if (gain > 0) gains.push_back({gain, t.step});
  }
  absl::c_stable_sort(
      gains, [](const auto& a, const auto& b) { return a.first > b.first; });
  Step out;
  for (const auto& [gain, step] : gains) {
    out.insert(out.end(), step->begin(), step->end());
  }
  return gains.size() > 1 ? out : Step();
}

int Search::Expand() {
  std::vector<int> batch;
  const int64_t most =
      std::min<int64_t>(options_.batch, session_.expansions_left());
  while (!open_.empty() && static_cast<int64_t>(batch.size()) < most) {
    const auto [cost, size, c] = *open_.begin();
    if (cost > Threshold()) break;
    open_.erase(open_.begin());
    batch.push_back(c);
  }
  const int count = static_cast<int>(batch.size());
  std::vector<std::vector<Step>> steps(count);
  session_.workers().Run(count, [&](int i, int worker) {
    if (session_.Stopped(worker)) return;
    Open(batch[i], session_.facts(worker));
    steps[i] = FindSteps(candidates_[batch[i]].opened->graph, session_.book(),
                         options_.moves, session_.facts(worker));
  });
  bytes_ += kGraphBytes * count;
  std::vector<Tried> tried;
  for (int i = 0; i < count; ++i) {
    for (const Step& s : steps[i])
      tried.push_back({batch[i], &s, {}, 0, false});
  }
  auto run = [&](std::vector<Tried>& list) {
    session_.workers().Run(static_cast<int>(list.size()),
                           [&](int i, int worker) {
                             if (!session_.Stopped(worker))
                               Try(list[i], session_.facts(worker));
                           });
  };
  run(tried);
  std::vector<Step> gains(count);
  std::vector<Tried> together;
  for (int i = 0; i < count && options_.gains_together; ++i) {
    gains[i] = Gains(batch[i], tried);
    if (!gains[i].empty())
      together.push_back({batch[i], &gains[i], {}, 0, false});
  }
  run(together);
  for (Tried& t : together) Enter(t);
  for (Tried& t : tried) Enter(t);
  session_.Count(count, static_cast<int64_t>(tried.size() + together.size()));
  return count;
}

Outcome Search::Best() {
  Open(best_, session_.facts(0));
  Outcome out{
      candidates_[best_].opened->graph, candidates_[best_].opened->plan, {}};
  for (int c = best_; candidates_[c].parent >= 0; c = candidates_[c].parent) {
    const Candidate& now = candidates_[c];
    const Candidate& parent = candidates_[now.parent];
    StepTaken taken{now.step, {}, parent.cost_ps - now.cost_ps};
    absl::StatusOr<Taken> again = Take(parent.opened->graph, session_.book(),
                                       now.step, session_.facts(0));
    if (again.ok()) taken.made = again->moves;
    out.steps.push_back(std::move(taken));
  }
  absl::c_reverse(out.steps);
  return out;
}

}  // namespace

Outcome BestFirst(const ir::Graph& start, const cost::Plan& plan,
                  const BestFirstOptions& options, Session& session) {
  return Search(start, plan, options, session).Run();
}

}  // namespace isomer::search
