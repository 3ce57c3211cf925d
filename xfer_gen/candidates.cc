// Members of a class are compared by the prints of their outputs in a world
// with fresh inputs; pairs are formed with the first members, the smallest.
#include "xfer_gen/candidates.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/hashing.h"
#include "ops/status.h"
#include "xfer_gen/side_text.h"

namespace isomer::gen {

namespace {

// Every member is paired with the first few of its class.
constexpr size_t kPartners = 4;

bool Contains(const std::vector<uint32_t>& list, uint32_t x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

// One side of a pair.
struct Side {
  std::vector<TensorId> outputs;
  std::vector<uint32_t> cone;
};

class Finder {
 public:
  Finder(Enumerator& all, const Hits& hits, uint64_t seed,
         CandidateStats& stats)
      : preset_(all.preset()),
        hits_(hits),
        dag_(hits.dag),
        leaves_(LeavesOf(all.preset())),
        plain_(hits.dag, all.world()),
        seed_(ir::HashMix(seed + 0x5eed)),
        stats_(stats) {
    // The first sizes with fresh inputs, then the others.
    for (size_t i = 0; i < preset_.sizes.size(); ++i) {
      worlds_.push_back(std::make_unique<World>(preset_, static_cast<int>(i),
                                                ir::HashCombine(seed_, i)));
      values_.emplace_back(dag_, *worlds_.back());
      std::set<uint64_t>& prints = leaf_prints_.emplace_back();
      for (TensorId leaf = 0; leaf < leaves_.size(); ++leaf) {
        prints.insert(values_.back().Print(leaf));
      }
    }
  }

  // Compares the members [begin, end) of one class: at the second sizes where
  // all of them type there, else at the first, with fresh inputs.
  void Class(size_t begin, size_t end) {
    size_t world = 1;
    for (size_t i = begin; i < end; ++i) {
      for (TensorId t : hits_.OutputsOf(hits_.members[i])) {
        if (values_[1].Kind(t) < 0) world = 0;
      }
    }
    std::map<std::vector<uint64_t>, std::vector<size_t>> groups;
    for (size_t i = begin; i < end; ++i) {
      std::vector<uint64_t> key;
      for (TensorId t : hits_.OutputsOf(hits_.members[i])) {
        key.push_back(values_[world].Print(t));
      }
      std::sort(key.begin(), key.end());
      groups[key].push_back(i);
    }
    for (const auto& [key, members] : groups) {
      if (members.size() < 2) {
        ++stats_.false_positives;
        continue;
      }
      ++stats_.classes;
      stats_.confirmed += static_cast<int64_t>(members.size()) - 1;
      Group(members, world);
    }
  }

  // Pairs every member with the first ones that have the fewest steps; what
  // two larger members are to each other follows.
  void Group(const std::vector<size_t>& members, size_t world) {
    const uint32_t least = hits_.members[members[0]].steps;
    for (size_t j = 1; j < members.size(); ++j) {
      for (size_t i = 0; i < std::min(j, kPartners); ++i) {
        const Member& partner = hits_.members[members[i]];
        if (partner.steps > least) break;
        Pair(hits_.members[members[j]], partner, world);
      }
    }
  }

  std::vector<Candidate> Take() {
    DropInstances();
    std::sort(found_.begin(), found_.end(), [](const Keyed& a, const Keyed& b) {
      return std::tie(a.steps, a.text) < std::tie(b.steps, b.text);
    });
    std::vector<Candidate> out;
    for (Keyed& k : found_) out.push_back(std::move(k.candidate));
    return out;
  }

 private:
  struct Keyed {
    int steps = 0;
    std::string text = {};
    Candidate candidate = {};
    std::string skeleton = {};             // the text without names
    std::vector<std::string> places = {};  // the names, in order
  };

  // Leaves out what another candidate gives by giving its variables names: the
  // same text but for names, where equal names stay equal.
  void DropInstances() {
    for (Keyed& k : found_) {
      k.places = PlacesOf(k.candidate.rule);
      k.skeleton = SkeletonOf(k.candidate.rule);
    }
    std::sort(found_.begin(), found_.end(), [](const Keyed& a, const Keyed& b) {
      const size_t n = a.candidate.leaves.size(), m = b.candidate.leaves.size();
      return std::tie(a.skeleton, m, a.text) < std::tie(b.skeleton, n, b.text);
    });
    std::vector<Keyed> kept;
    size_t group = 0;
    for (Keyed& k : found_) {
      if (group < kept.size() && kept[group].skeleton != k.skeleton) {
        group = kept.size();
      }
      bool instance = false;
      for (size_t i = group; i < kept.size() && !instance; ++i) {
        instance = IsInstance(k.places, kept[i].places) &&
                   (kept[i].candidate.seen_at_other_sizes ||
                    !k.candidate.seen_at_other_sizes);
      }
      if (instance) {
        ++stats_.instances;
      } else {
        kept.push_back(std::move(k));
      }
    }
    found_ = std::move(kept);
  }

  static bool IsInstance(const std::vector<std::string>& special,
                         const std::vector<std::string>& general) {
    std::map<std::string, std::string> to;
    for (size_t i = 0; i < special.size(); ++i) {
      if (to.try_emplace(general[i], special[i]).first->second != special[i]) {
        return false;
      }
    }
    return true;
  }

  // The outputs of b in the order of those of a that they equal.
  std::vector<TensorId> Matched(absl::Span<const TensorId> a,
                                absl::Span<const TensorId> b, size_t world) {
    std::vector<TensorId> out;
    for (TensorId t : a) {
      const uint64_t print = values_[world].Print(t);
      for (TensorId u : b) {
        if (values_[world].Print(u) == print) {
          out.push_back(u);
          break;
        }
      }
    }
    return out;
  }

  void Pair(const Member& larger, const Member& smaller, size_t world) {
    ++stats_.pairs;
    Side a, b;
    const auto outputs = hits_.OutputsOf(larger);
    a.outputs.assign(outputs.begin(), outputs.end());
    b.outputs = Matched(a.outputs, hits_.OutputsOf(smaller), world);
    Check(b.outputs.size() == a.outputs.size(), "outputs that do not pair");
    a.cone = dag_.Cone(a.outputs);
    b.cone = dag_.Cone(b.outputs);
    if (IsImplied(a, b, world)) {
      ++stats_.implied;
      return;
    }
    const std::optional<bool> other = EqualElsewhere(a, b);
    if (other.has_value() && !*other) {
      ++stats_.false_positives;
      return;
    }
    Emit(a, b, Cuts(a, b), other.has_value());
  }

  // Whether both sides are equal at the other sizes; nothing if no assignment
  // types both.
  std::optional<bool> EqualElsewhere(const Side& a, const Side& b) {
    std::optional<bool> equal;
    for (size_t w = 1; w < values_.size(); ++w) {
      bool typed = true, same = true;
      for (size_t k = 0; k < a.outputs.size() && typed; ++k) {
        const uint64_t x = values_[w].Print(a.outputs[k]);
        const uint64_t y = values_[w].Print(b.outputs[k]);
        typed = x != 0 && y != 0;
        same = same && x == y;
      }
      if (!typed) continue;
      if (!same) return false;
      equal = true;
    }
    return equal;
  }

  // True if smaller equalities give the pair.
  bool IsImplied(const Side& a, const Side& b, size_t world) {
    const size_t n = a.outputs.size();
    for (size_t k = 0; k < n; ++k) {
      if (a.outputs[k] == b.outputs[k]) return true;
      if (SameOnEqual(a.outputs[k], b.outputs[k], world)) return true;
    }
    if (n == 1) return false;
    for (size_t k = 0; k < n; ++k) {
      if (EqualsLeaf(a.outputs[k], world)) return true;
    }
    // Outputs hang together that share a step on one of the sides.
    std::vector<size_t> part(n);
    std::vector<std::vector<uint32_t>> cones_a(n), cones_b(n);
    for (size_t k = 0; k < n; ++k) {
      part[k] = k;
      cones_a[k] = dag_.Cone({&a.outputs[k], 1});
      cones_b[k] = dag_.Cone({&b.outputs[k], 1});
    }
    auto share = [](const auto& x, const auto& y) {
      return std::any_of(x.begin(), x.end(),
                         [&](uint32_t s) { return Contains(y, s); });
    };
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!share(cones_a[i], cones_a[j]) && !share(cones_b[i], cones_b[j])) {
          continue;
        }
        const size_t from = part[i], to = part[j];
        for (size_t& p : part) p = p == from ? to : p;
      }
    }
    return std::any_of(part.begin(), part.end(),
                       [&](size_t p) { return p != part[0]; });
  }

  bool EqualsLeaf(TensorId t, size_t world) {
    return leaf_prints_[world].contains(values_[world].Print(t));
  }

  // One template on operands that are equal, place by place.
  bool SameOnEqual(TensorId x, TensorId y, size_t world) {
    if (dag_.IsLeaf(x) || dag_.IsLeaf(y)) return false;
    const DagStep &s = dag_.step(dag_.step_of(x)),
                  &t = dag_.step(dag_.step_of(y));
    if (s.tmpl != t.tmpl || x - s.first != y - t.first) return false;
    auto equal = [&](int i, int j) {
      return values_[world].Print(s.operands[i]) ==
             values_[world].Print(t.operands[j]);
    };
    bool same = true;
    for (int k = 0; k < s.arity; ++k) same = same && equal(k, k);
    if (same) return true;
    return preset_.templates[s.tmpl].commutative && equal(0, 1) && equal(1, 0);
  }

  // Tensors of shared steps that both sides use from outside of what they
  // share; none if the rule is false with variables in their place.
  std::vector<TensorId> Cuts(const Side& a, const Side& b) {
    std::vector<TensorId> cuts;
    auto shared = [&](uint32_t s) {
      return Contains(a.cone, s) && Contains(b.cone, s);
    };
    for (const std::vector<uint32_t>* cone : {&a.cone, &b.cone}) {
      for (uint32_t s : *cone) {
        if (shared(s)) continue;
        for (TensorId t : dag_.step(s).span()) {
          if (dag_.IsLeaf(t) || !shared(dag_.step_of(t))) continue;
          if (std::find(cuts.begin(), cuts.end(), t) == cuts.end()) {
            cuts.push_back(t);
          }
        }
      }
    }
    // An output of one side may be what the other side is made of; a rule that
    // has a bare variable on both sides has no source.
    bool bare[2] = {false, false};
    for (const Side* side : {&a, &b}) {
      for (TensorId t : side->outputs) {
        if (dag_.IsLeaf(t) || !shared(dag_.step_of(t))) continue;
        bare[side == &b] = true;
        if (std::find(cuts.begin(), cuts.end(), t) == cuts.end()) {
          cuts.push_back(t);
        }
      }
    }
    if (bare[0] && bare[1]) return {};
    if (cuts.empty()) return {};
    std::sort(cuts.begin(), cuts.end());
    for (TensorId t : cuts) {
      // A rule's variables lie on no devices.
      if (!plain_.world().type(plain_.Kind(t)).device.empty()) return {};
    }
    std::vector<std::vector<Field>> fresh;
    DagValues::Replaced replaced;
    for (size_t i = 0; i < cuts.size(); ++i) {
      const int64_t n = NumElements(worlds_[0]->type(values_[0].Kind(cuts[i])));
      std::vector<Field>& v = fresh.emplace_back();
      for (int64_t e = 0; e < n; ++e) {
        v.push_back(Field::FromWide(
            ir::HashCombine(ir::HashCombine(seed_, i + 17), e)));
      }
    }
    for (size_t i = 0; i < cuts.size(); ++i) {
      replaced.emplace_back(cuts[i], fresh[i].data());
    }
    for (size_t k = 0; k < a.outputs.size(); ++k) {
      if (values_[0].ValuesWith(a.outputs[k], replaced) !=
          values_[0].ValuesWith(b.outputs[k], replaced)) {
        return {};
      }
    }
    ++stats_.cut;
    return cuts;
  }

  // ---- Text

  // Whether all leaves below a tensor are weights.
  bool IsWeight(TensorId t) const {
    if (dag_.IsLeaf(t)) return preset_.leaves[leaves_[t].cls].weight;
    const DagStep& s = dag_.step(dag_.step_of(t));
    return std::all_of(s.span().begin(), s.span().end(),
                       [&](TensorId x) { return IsWeight(x); });
  }

  // The class whose leaves have the type of a tensor, or "u".
  std::string ClassOf(TensorId t) {
    if (dag_.IsLeaf(t)) return preset_.leaves[leaves_[t].cls].name;
    const TensorType& type = plain_.world().type(plain_.Kind(t));
    for (const LeafClass& c : preset_.leaves) {
      if (LeafType(c, 0, preset_.sizes[0]) == type && c.weight == IsWeight(t)) {
        return c.name;
      }
    }
    return "u";
  }

  void Emit(const Side& a, const Side& b, const std::vector<TensorId>& cuts,
            bool elsewhere) {
    std::map<TensorId, std::string> names;
    std::map<std::string, TensorId> tensors;
    for (TensorId leaf = 0; leaf < leaves_.size(); ++leaf) {
      names[leaf] = absl::StrCat("#", leaf);
    }
    for (TensorId t : cuts) names[t] = absl::StrCat("#", t);
    for (const auto& [t, name] : names) tensors[name] = t;
    ir::RuleSyntax rule;
    rule.source = SideOf(dag_, plain_, a.outputs, names);
    rule.target = SideOf(dag_, plain_, b.outputs, names);
    std::set<uint32_t> steps_a, steps_b;
    CountSteps(a.outputs, cuts, steps_a);
    CountSteps(b.outputs, cuts, steps_b);
    if (steps_a.size() < steps_b.size()) {
      std::swap(rule.source, rule.target);
      std::swap(steps_a, steps_b);
    }
    std::vector<std::string> source = VariablesOf(rule.source);
    std::vector<std::string> target = VariablesOf(rule.target);
    auto covers = [](const auto& x, const auto& y) {
      return std::all_of(y.begin(), y.end(), [&](const std::string& v) {
        return std::find(x.begin(), x.end(), v) != x.end();
      });
    };
    auto is_bare = [](const ir::SideSyntax& side) {
      return std::any_of(side.outputs.begin(), side.outputs.end(), [](auto& e) {
        return e.kind == ir::ExprSyntax::Kind::kVariable;
      });
    };
    if (!covers(source, target) || is_bare(rule.source)) {
      std::swap(rule.source, rule.target);
      std::swap(source, target);
      std::swap(steps_a, steps_b);
      if (!covers(source, target) || is_bare(rule.source)) return;
    }
    rule.both_ways = !is_bare(rule.target) && covers(target, source);
    if (rule.both_ways && steps_a.size() == steps_b.size() &&
        SkeletonOf(rule.target) < SkeletonOf(rule.source)) {
      std::swap(rule.source, rule.target);
      source = VariablesOf(rule.source);
    }
    Keyed k;
    k.steps = static_cast<int>(steps_a.size() + steps_b.size());
    std::map<std::string, std::string> renamed;
    std::map<std::string, int> next;
    for (const std::string& v : source) {
      const TensorId t = tensors.at(v);
      const std::string cls = ClassOf(t);
      renamed[v] = absl::StrCat(cls, ++next[cls]);
      k.candidate.leaves.push_back(
          {renamed[v], IsWeight(t), plain_.world().type(plain_.Kind(t))});
    }
    RenameVariables(rule.source, renamed);
    RenameVariables(rule.target, renamed);
    k.text = ir::PrintRule(rule);
    if (!seen_.insert(k.text).second) return;
    k.candidate.rule = std::move(rule);
    k.candidate.source_steps = static_cast<int>(steps_a.size());
    k.candidate.target_steps = static_cast<int>(steps_b.size());
    k.candidate.seen_at_other_sizes = elsewhere;
    found_.push_back(std::move(k));
  }

  void CountSteps(absl::Span<const TensorId> tensors,
                  const std::vector<TensorId>& cuts,
                  std::set<uint32_t>& steps) const {
    for (TensorId t : tensors) {
      if (dag_.IsLeaf(t)) continue;
      if (std::find(cuts.begin(), cuts.end(), t) != cuts.end()) continue;
      if (!steps.insert(dag_.step_of(t)).second) continue;
      CountSteps(dag_.step(dag_.step_of(t)).span(), cuts, steps);
    }
  }

  const Preset& preset_;
  const Hits& hits_;
  const Dag& dag_;
  const std::vector<Leaf> leaves_;
  DagValues plain_;  // in the world of the enumeration
  uint64_t seed_;
  CandidateStats& stats_;
  std::vector<std::unique_ptr<World>> worlds_;
  std::deque<DagValues> values_;
  std::vector<std::set<uint64_t>> leaf_prints_;  // by world
  std::vector<Keyed> found_;
  absl::flat_hash_set<std::string> seen_;
};

}  // namespace

std::vector<Candidate> FindCandidates(Enumerator& all, const Hits& hits,
                                      uint64_t seed,
                                      const std::function<bool()>& go_on,
                                      CandidateStats& stats) {
  Finder finder(all, hits, seed, stats);
  const std::vector<Member>& members = hits.members;
  for (size_t i = 0, j = 0; i < members.size(); i = j) {
    while (j < members.size() && members[j].cls == members[i].cls) ++j;
    if (!go_on()) break;
    finder.Class(i, j);
  }
  return finder.Take();
}

}  // namespace isomer::gen
