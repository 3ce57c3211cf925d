// From pairs of equal graphs to candidate rules as text: a direction is chosen,
// variables get names, and what reads the same is kept once.
#include "xfer_gen/candidates.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/hashing.h"
#include "ops/status.h"
#include "xfer_gen/side_text.h"

namespace isomer::gen {

namespace {

// A candidate, and which pair it was.
struct Keyed {
  int source_steps = 0, target_steps = 0;
  bool elsewhere = false;
  size_t place = 0;
  std::string text = {};
  // The same with sizes of operands in place of numbers in shapes, where
  // templates give those.
  std::string by_sizes = {};
  std::vector<CandidateLeaf> leaves = {};
  int steps() const { return source_steps + target_steps; }
};

class Writer {
 public:
  Writer(Enumerator& all, const Dag& dag, uint64_t seed, bool texts)
      : preset_(all.preset()),
        dag_(dag),
        leaves_(LeavesOf(all.preset())),
        values_(dag, all.world(), seed),
        texts_(texts),
        by_sizes_(absl::c_any_of(all.preset().templates, GivesSizes)) {
    for (TensorId leaf = 0; leaf < leaves_.size(); ++leaf) {
      names_[leaf] = NameOf(leaf);
    }
  }

  // Writes pair number `place` as a rule, if it can be one: with sizes as
  // numbers, from which a shape may become a variable, and by sizes of
  // operands, which hold whatever the numbers.
  void Write(const EqualPair& p, size_t place) {
    auto numbers = WriteAs(p, place, ShapeText::kNumbers);
    if (!numbers) return;
    auto sizes =
        by_sizes_ ? WriteAs(p, place, ShapeText::kSizes) : std::nullopt;
    if (sizes && sizes->text != numbers->text) {
      numbers->by_sizes = sizes->text;
      Add(*std::move(sizes));
    }
    Add(*std::move(numbers));
  }

  std::vector<Keyed>& found() { return found_; }

 private:
  void Add(Keyed k) {
    if (!texts_) {
      k.text = ShortOf(k.text);
      if (!k.by_sizes.empty()) k.by_sizes = ShortOf(k.by_sizes);
      k.leaves = {};
    }
    found_.push_back(std::move(k));
  }
  // A hash in place of a text, in so few letters that they take no memory.
  static std::string ShortOf(const std::string& text) {
    const uint64_t hash = ir::HashText(text);
    return {reinterpret_cast<const char*>(&hash), sizeof(hash)};
  }

  std::optional<Keyed> WriteAs(const EqualPair& p, size_t place,
                               ShapeText shapes) {
    for (TensorId t : p.cuts) names_[t] = NameOf(t);
    ir::RuleSyntax rule;
    rule.source = SideOf(dag_, values_, p.a, names_, shapes);
    rule.target = SideOf(dag_, values_, p.b, names_, shapes);
    for (TensorId t : p.cuts) names_.erase(t);
    std::set<uint32_t> steps_a, steps_b;
    CountSteps(p.a, p.cuts, steps_a);
    CountSteps(p.b, p.cuts, steps_b);
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
      if (!covers(source, target) || is_bare(rule.source)) return std::nullopt;
    }
    rule.both_ways = !is_bare(rule.target) && covers(target, source);
    if (rule.both_ways && steps_a.size() == steps_b.size() &&
        SkeletonOf(rule.target) < SkeletonOf(rule.source)) {
      std::swap(rule.source, rule.target);
      source = VariablesOf(rule.source);
    }
    Keyed k;
    std::map<std::string, std::string> renamed;
    std::map<std::string, int> next;
    for (const std::string& v : source) {
      const TensorId t = TensorOf(v);
      const std::string cls = ClassOf(t);
      renamed[v] = absl::StrCat(cls, ++next[cls]);
      k.leaves.push_back({renamed[v], IsWeight(t), TypeOf(t)});
    }
    RenameVariables(rule.source, renamed);
    RenameVariables(rule.target, renamed);
    k.text = ir::PrintRule(rule);
    k.place = place;
    k.source_steps = static_cast<int>(steps_a.size());
    k.target_steps = static_cast<int>(steps_b.size());
    k.elsewhere = p.elsewhere;
    return k;
  }

  // What tensors are called until they get their names.
  static std::string NameOf(TensorId t) { return absl::StrCat("#", t); }
  static TensorId TensorOf(absl::string_view name) {
    TensorId t = kNone;
    Check(absl::SimpleAtoi(name.substr(1), &t), "a name without a number");
    return t;
  }

  const TensorType& TypeOf(TensorId t) {
    return values_.world().type(values_.Kind(t));
  }

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
    const TensorType& type = TypeOf(t);
    for (const LeafClass& c : preset_.leaves) {
      if (LeafType(c, 0, preset_.sizes[0]) == type && c.weight == IsWeight(t)) {
        return c.name;
      }
    }
    return "u";
  }

  void CountSteps(absl::Span<const TensorId> tensors,
                  absl::Span<const TensorId> cuts,
                  std::set<uint32_t>& steps) const {
    for (TensorId t : tensors) {
      if (dag_.IsLeaf(t)) continue;
      if (std::find(cuts.begin(), cuts.end(), t) != cuts.end()) continue;
      if (!steps.insert(dag_.step_of(t)).second) continue;
      CountSteps(dag_.step(dag_.step_of(t)).span(), cuts, steps);
    }
  }

  const Preset& preset_;
  const Dag& dag_;
  const std::vector<Leaf> leaves_;
  DagValues values_;  // in the world of the enumeration
  const bool texts_, by_sizes_;
  // Of what stands as a variable: the leaves, and the cuts of the pair at hand.
  std::map<TensorId, std::string> names_;
  std::vector<Keyed> found_;
};

// Of candidates that read the same, the first stays, and so does one of those
// that read the same by sizes; they come sorted by steps, then by text.
std::vector<Candidate> Sorted(std::vector<Keyed> found) {
  std::sort(found.begin(), found.end(), [](const Keyed& a, const Keyed& b) {
    return std::tie(a.text, a.place) < std::tie(b.text, b.place);
  });
  found.erase(std::unique(found.begin(), found.end(),
                          [](const Keyed& a, const Keyed& b) {
                            return a.text == b.text;
                          }),
              found.end());
  std::set<std::string> by_sizes;
  std::erase_if(found, [&](const Keyed& k) {
    return !k.by_sizes.empty() && !by_sizes.insert(k.by_sizes).second;
  });
  std::stable_sort(
      found.begin(), found.end(),
      [](const Keyed& a, const Keyed& b) { return a.steps() < b.steps(); });
  std::vector<Candidate> out;
  out.reserve(found.size());
  for (Keyed& k : found) {
    out.push_back({std::move(k.text), std::move(k.leaves), k.source_steps,
                   k.target_steps, k.elsewhere, !k.by_sizes.empty(), ""});
  }
  return out;
}

}  // namespace

std::vector<Candidate> CandidatesOf(Enumerator& all, const Dag& dag,
                                    uint64_t seed,
                                    absl::Span<const EqualPair> pairs,
                                    absl::FunctionRef<bool()> go_on,
                                    bool texts) {
  constexpr size_t kStretch = 32;
  std::vector<std::unique_ptr<Writer>> writers;
  for (int t = 0; t < all.options().threads; ++t) {
    writers.push_back(std::make_unique<Writer>(all, dag, seed, texts));
  }
  std::atomic<size_t> next{0};
  std::mutex mutex;
  all.OnThreads([&](int thread) {
    for (size_t from = next.fetch_add(kStretch); from < pairs.size();
         from = next.fetch_add(kStretch)) {
      if (std::lock_guard lock(mutex); !go_on()) break;
      const size_t to = std::min(from + kStretch, pairs.size());
      for (size_t i = from; i < to; ++i) writers[thread]->Write(pairs[i], i);
    }
  });
  std::vector<Keyed> found;
  for (const auto& writer : writers) {
    std::move(writer->found().begin(), writer->found().end(),
              std::back_inserter(found));
  }
  writers.clear();
  return Sorted(std::move(found));
}

}  // namespace isomer::gen
