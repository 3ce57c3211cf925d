// Many assignments are tried and labelled: the rule holds there or does not. A
// condition that leaves out all where it does not is a candidate; the one that
// keeps most where it does is the weakest. The prover has the last word.
#include "verify/infer_conditions.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "graph/expand.h"
#include "verify/size_sampler.h"
#include "verify/witness.h"

namespace isomer::verify {

namespace {

constexpr int kSamples = 300;
constexpr int kMaxProofs = 8;      // that are tried
constexpr size_t kMaxPaired = 60;  // conditions that pairs are made of

// A number that conditions speak of: a size of a tensor variable, or an
// integer attribute variable.
struct Quantity {
  bool attribute = false;
  int variable = 0;
  int dim = 0;
};

struct Candidate {
  ir::ConditionSyntax::Kind kind = ir::ConditionSyntax::Kind::kEq;
  Quantity left;
  std::optional<Quantity> right;  // nothing: the number below
  int64_t number = 0;
};

struct Sample {
  Assignment assignment;
  bool holds = false;
};

std::optional<int64_t> ValueOf(const Quantity& q, const Assignment& a) {
  if (q.attribute) {
    const auto* v = std::get_if<int64_t>(&*a.attrs[q.variable]);
    return v == nullptr ? std::nullopt : std::optional<int64_t>(*v);
  }
  const std::vector<int64_t>& shape = a.tensors[q.variable].shape;
  if (q.dim >= static_cast<int>(shape.size())) return std::nullopt;
  return shape[q.dim];
}

// False also where the condition speaks of a dimension that is not there.
bool Satisfied(const Candidate& c, const Assignment& a) {
  const auto left = ValueOf(c.left, a);
  const auto right = c.right ? ValueOf(*c.right, a) : c.number;
  if (!left || !right) return false;
  if (c.kind == ir::ConditionSyntax::Kind::kDivides) {
    return *left > 0 && *right % *left == 0;
  }
  return *left == *right;
}

class Inference {
 public:
  Inference(const ir::RuleSyntax& syntax, const ir::Rule& rule,
            const VerifyOptions& options)
      : syntax_(syntax), rule_(rule), options_(options) {}

  std::optional<ir::RuleSyntax> Run() {
    TakeSamples();
    std::vector<Candidate> all = Candidates();
    std::vector<std::vector<Candidate>> sets;
    for (const Candidate& c : all) Consider({c}, sets);
    if (sets.empty()) AddPairs(std::move(all), sets);
    // Those that keep most come first, of equal ones the plainest.
    std::stable_sort(sets.begin(), sets.end(),
                     [&](const auto& a, const auto& b) {
                       const int kept_a = Kept(a), kept_b = Kept(b);
                       return kept_a != kept_b ? kept_a > kept_b
                                               : Quantities(a) < Quantities(b);
                     });
    for (size_t i = 0; i < sets.size() && i < kMaxProofs; ++i) {
      ir::RuleSyntax with = With(sets[i]);
      if (Proved(with)) return with;
    }
    return std::nullopt;
  }

 private:
  void TakeSamples() {
    std::mt19937_64 random(options_.refute.seed);
    SizeSampler sampler(rule_, options_.refute.work);
    ir::Expansions expansions;
    for (int i = 0; i < kSamples; ++i) {
      std::optional<Sized> sized = sampler.Draw(i, kSamples, random);
      if (!sized) continue;
      bool holds = true;
      for (int n = 0; n < 2 && holds; ++n) {
        const auto agree = AgreeInField(
            rule_, sized->assignment,
            DrawValues(rule_, sized->assignment, Draw::kField, random),
            expansions);
        holds = agree.ok() && *agree;
      }
      samples_.push_back({std::move(sized->assignment), holds});
    }
  }

  std::vector<Quantity> AllQuantities() const {
    std::vector<Quantity> out;
    for (int v = 0; v < static_cast<int>(rule_.tensors().size()); ++v) {
      int rank = 0;
      for (const Sample& s : samples_) {
        rank = std::max(rank, s.assignment.tensors[v].rank());
      }
      for (int d = 0; d < rank; ++d) out.push_back({false, v, d});
    }
    for (int v = 0; v < static_cast<int>(rule_.attrs().size()); ++v) {
      const ir::RuleVariable& a = rule_.attrs()[v];
      if (a.kind == AttrKind::kInt && !a.chosen()) {
        out.push_back({true, v, 0});
      }
    }
    return out;
  }

  std::vector<Candidate> Candidates() const {
    using Kind = ir::ConditionSyntax::Kind;
    const std::vector<Quantity> all = AllQuantities();
    std::vector<Candidate> out;
    for (const Quantity& q : all) {
      out.push_back({Kind::kEq, q, std::nullopt, 1});
      if (q.attribute) out.push_back({Kind::kEq, q, std::nullopt, 0});
    }
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = i + 1; j < all.size(); ++j) {
        out.push_back({Kind::kEq, all[i], all[j]});
      }
    }
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = 0; j < all.size(); ++j) {
        if (i != j) out.push_back({Kind::kDivides, all[i], all[j]});
      }
    }
    return out;
  }

  bool Allowed(const std::vector<Candidate>& set, const Sample& s) const {
    return std::all_of(set.begin(), set.end(), [&](const Candidate& c) {
      return Satisfied(c, s.assignment);
    });
  }

  int Kept(const std::vector<Candidate>& set) const {
    return static_cast<int>(std::count_if(
        samples_.begin(), samples_.end(),
        [&](const Sample& s) { return s.holds && Allowed(set, s); }));
  }

  // How many quantities a set speaks of.
  static size_t Quantities(const std::vector<Candidate>& set) {
    size_t n = set.size();
    for (const Candidate& c : set) n += c.right.has_value() ? 1 : 0;
    return n;
  }

  // Adds the set if it leaves out every sample where the rule fails, and not
  // all of the others.
  void Consider(std::vector<Candidate> set,
                std::vector<std::vector<Candidate>>& sets) const {
    for (const Sample& s : samples_) {
      if (!s.holds && Allowed(set, s)) return;
    }
    if (Kept(set) > 0) sets.push_back(std::move(set));
  }

  // Pairs of the conditions that leave out most of what has to be.
  void AddPairs(std::vector<Candidate> all,
                std::vector<std::vector<Candidate>>& sets) const {
    auto wrong = [&](const Candidate& c) {
      return std::count_if(samples_.begin(), samples_.end(),
                           [&](const Sample& s) {
                             return !s.holds && Satisfied(c, s.assignment);
                           });
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const Candidate& a, const Candidate& b) {
                       return wrong(a) < wrong(b);
                     });
    all.resize(std::min(all.size(), kMaxPaired));
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = i + 1; j < all.size(); ++j)
        Consider({all[i], all[j]}, sets);
    }
  }

  ir::ValueSyntax Syntax(const Quantity& q) const {
    using Kind = ir::ValueSyntax::Kind;
    if (q.attribute) {
      return {.kind = Kind::kName, .name = rule_.attrs()[q.variable].name};
    }
    ir::ValueSyntax dim{.kind = Kind::kInteger, .integer = q.dim};
    return {.kind = Kind::kDim,
            .name = rule_.tensors()[q.variable],
            .args = {std::move(dim)}};
  }

  ir::RuleSyntax With(const std::vector<Candidate>& set) const {
    ir::RuleSyntax out = syntax_;
    for (const Candidate& c : set) {
      ir::ConditionSyntax condition{c.kind, Syntax(c.left)};
      condition.right =
          c.right ? Syntax(*c.right)
                  : ir::ValueSyntax{.kind = ir::ValueSyntax::Kind::kInteger,
                                    .integer = c.number};
      out.where.push_back(std::move(condition));
    }
    return out;
  }

  bool Proved(const ir::RuleSyntax& syntax) const {
    for (bool reversed : {false, true}) {
      if (reversed && !syntax.both_ways) continue;
      auto rule = ir::Rule::Create(syntax, reversed);
      if (!rule.ok()) return false;
      if (Verify(*rule, options_).outcome != Outcome::kProved) return false;
    }
    return true;
  }

  const ir::RuleSyntax& syntax_;
  const ir::Rule& rule_;
  const VerifyOptions& options_;
  std::vector<Sample> samples_;
};

}  // namespace

std::optional<ir::RuleSyntax> InferConditions(const ir::RuleSyntax& rule,
                                              const VerifyOptions& options) {
  auto checked = ir::Rule::Create(rule);
  if (!checked.ok()) return std::nullopt;
  return Inference(rule, *checked, options).Run();
}

}  // namespace isomer::verify
