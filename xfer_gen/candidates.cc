// From pairs of equal graphs to candidate rules as text: a direction is chosen,
// variables get names, and what reads the same is kept once.
#include "xfer_gen/candidates.h"

#include <algorithm>
#include <atomic>
#include <deque>
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
  size_t place = 0;
  std::string text = {};
  // The same with sizes of operands in place of numbers in shapes, where
  // templates give those.
  std::string by_sizes = {};
  std::vector<CandidateLeaf> leaves = {};
  std::vector<SeenElsewhere> elsewhere = {};
  int steps() const { return source_steps + target_steps; }
};

class Writer {
 public:
  // `others` are the worlds of the other sizes.
  Writer(Enumerator& all, absl::Span<const std::unique_ptr<World>> others,
         const Dag& dag, uint64_t seed, bool texts)
      : preset_(all.preset()),
        dag_(dag),
        leaves_(LeavesOf(all.preset())),
        values_(dag, all.world(), seed),
        texts_(texts),
        by_sizes_(absl::c_any_of(all.preset().templates, GivesSizes)) {
    for (TensorId leaf = 0; leaf < leaves_.size(); ++leaf) {
      names_[leaf] = NameOf(leaf);
    }
    for (const auto& world : others) {
      elsewhere_.emplace_back(dag, *world, seed);
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
    auto out = WriteNamed(p, place, shapes);
    for (TensorId t : p.cuts) names_.erase(t);
    return out;
  }

  // One of the two sides while the direction is chosen.
  struct Side {
    const SideOutputs* outputs;
    ir::SideSyntax syntax;
    std::set<uint32_t> steps = {};
    std::vector<std::string> variables = {};

    bool Covers(const Side& other) const {
      return absl::c_all_of(other.variables, [&](const std::string& v) {
        return absl::c_linear_search(variables, v);
      });
    }
    bool IsBare() const {
      return absl::c_any_of(syntax.outputs, [](const ir::ExprSyntax& e) {
        return e.kind == ir::ExprSyntax::Kind::kVariable;
      });
    }
  };
  Side SideFrom(const SideOutputs& outputs, absl::Span<const TensorId> cuts,
                ShapeText shapes) {
    Side out{&outputs, SideOf(dag_, values_, outputs, names_, shapes)};
    CountSteps(outputs, cuts, out.steps);
    out.variables = VariablesOf(out.syntax);
    return out;
  }

  std::optional<Keyed> WriteNamed(const EqualPair& p, size_t place,
                                  ShapeText shapes) {
    Side source = SideFrom(p.a, p.cuts, shapes);
    Side target = SideFrom(p.b, p.cuts, shapes);
    if (source.steps.size() < target.steps.size()) std::swap(source, target);
    if (!source.Covers(target) || source.IsBare()) {
      std::swap(source, target);
      if (!source.Covers(target) || source.IsBare()) return std::nullopt;
    }
    const bool both_ways = !target.IsBare() && target.Covers(source);
    if (both_ways && source.steps.size() == target.steps.size() &&
        SkeletonOf(target.syntax) < SkeletonOf(source.syntax)) {
      std::swap(source, target);
    }
    Keyed k;
    std::map<std::string, std::string> renamed;
    std::map<std::string, int> next;
    for (const std::string& v : source.variables) {
      const TensorId t = TensorOf(v);
      const std::string cls = ClassOf(t);
      renamed[v] = absl::StrCat(cls, ++next[cls]);
      k.leaves.push_back({renamed[v], IsWeight(t), TypeOf(t, values_)});
    }
    const auto text = [&](ir::SideSyntax from, ir::SideSyntax to) {
      ir::RuleSyntax rule;
      rule.source = std::move(from);
      rule.target = std::move(to);
      rule.both_ways = both_ways;
      RenameVariables(rule.source, renamed);
      RenameVariables(rule.target, renamed);
      return ir::PrintRule(rule);
    };
    k.text = text(std::move(source.syntax), std::move(target.syntax));
    k.place = place;
    k.source_steps = static_cast<int>(source.steps.size());
    k.target_steps = static_cast<int>(target.steps.size());
    for (DagValues& values : elsewhere_) {
      if (!Types(*source.outputs, *target.outputs, values)) continue;
      SeenElsewhere& seen = k.elsewhere.emplace_back();
      seen.text = text(SideOf(dag_, values, *source.outputs, names_, shapes),
                       SideOf(dag_, values, *target.outputs, names_, shapes));
      for (const std::string& v : source.variables) {
        seen.leaves.push_back(TypeOf(TensorOf(v), values));
      }
    }
    return k;
  }

  // Whether both sides type, alike, at some sizes.
  static bool Types(const SideOutputs& a, const SideOutputs& b,
                    DagValues& values) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (values.Kind(a[i]) < 0 || values.Kind(b[i]) < 0) return false;
      if (TypeOf(a[i], values) != TypeOf(b[i], values)) return false;
    }
    return true;
  }

  // What tensors are called until they get their names.
  static std::string NameOf(TensorId t) { return absl::StrCat("#", t); }
  static TensorId TensorOf(absl::string_view name) {
    TensorId t = kNone;
    Check(absl::SimpleAtoi(name.substr(1), &t), "a name without a number");
    return t;
  }

  static const TensorType& TypeOf(TensorId t, DagValues& values) {
    return values.world().type(values.Kind(t));
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
    const TensorType& type = TypeOf(t, values_);
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
  std::deque<DagValues> elsewhere_;
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
                   k.target_steps, std::move(k.elsewhere), !k.by_sizes.empty(),
                   ""});
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
  std::vector<std::unique_ptr<World>> others;
  for (size_t i = 1; texts && i < all.preset().sizes.size(); ++i) {
    others.push_back(std::make_unique<World>(all.preset(), static_cast<int>(i),
                                             seed, all.world().carried()));
  }
  std::vector<std::unique_ptr<Writer>> writers;
  for (int t = 0; t < all.options().threads; ++t) {
    writers.push_back(std::make_unique<Writer>(all, others, dag, seed, texts));
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
