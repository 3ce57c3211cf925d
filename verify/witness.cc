// A candidate is found in double; then it has to stand up to exact integers or
// to two small movements of the inputs.
#include "verify/witness.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ops/status.h"
#include "verify/run_side.h"

namespace isomer::verify {

namespace {

// ---- Drawing

double DrawReal(Draw draw, std::mt19937_64& random) {
  switch (draw) {
    case Draw::kIntegers:
      return static_cast<double>(random() % 7) - 3;
    case Draw::kSparse:
      return random() % 3 != 0 ? 0 : random() % 2 == 0 ? 1 : -1;
    case Draw::kPositive:
      return static_cast<double>(random() % 4) + 1;
    case Draw::kWide:
      return static_cast<double>(random() % 25) - 12;
    case Draw::kReals:
    case Draw::kField:
      break;
  }
  return (2 * static_cast<double>(random() % 24) - 23) / 8;
}

int64_t DrawInteger(DType dtype, Draw draw, std::mt19937_64& random) {
  if (dtype == DType::kBool) return static_cast<int64_t>(random() % 2);
  // Half of the draws are fit to be indices.
  const bool index = draw == Draw::kField || draw == Draw::kPositive;
  const int64_t v = static_cast<int64_t>(random() % (index ? 3 : 7));
  return index || !IsSignedInteger(dtype) ? v : v - 3;
}

// ---- Conditions on values

std::set<int> PositiveVariables(const ir::Rule& rule) {
  std::set<int> out;
  for (const ir::RuleCondition& c : rule.where()) {
    if (c.kind != ir::RuleCondition::Kind::kPositive) continue;
    const ir::RuleNode& n = rule.source().nodes[c.tensor.node];
    if (n.kind == ir::RuleNode::Kind::kVariable) out.insert(n.variable);
  }
  return out;
}

bool ConditionsHold(const ir::Rule& rule, const SideValues& source) {
  for (const ir::RuleCondition& c : rule.where()) {
    if (c.kind != ir::RuleCondition::Kind::kPositive) continue;
    if (source[c.tensor.node].empty()) continue;
    for (double v : ToDoubles(At(source, c.tensor))) {
      if (!(v > 0)) return false;
    }
  }
  return true;
}

// ---- Magnitudes

// The largest magnitude of a side's elements; infinity if one is not finite.
double Magnitude(const SideValues& values) {
  double most = 0;
  for (const auto& outputs : values) {
    for (const Tensor& t : outputs) {
      const auto* v = std::get_if<std::vector<double>>(&t.data);
      if (v == nullptr) continue;
      for (double x : *v) {
        if (!std::isfinite(x)) return INFINITY;
        most = std::max(most, std::fabs(x));
      }
    }
  }
  return most;
}

// True if the values before the first one that is not finite are so small that
// it can only be undefined, not an overflow or a difference lost to rounding:
// at arguments up to 5 exp, erf and their kin are well away from their limits.
bool UndefinedByItself(const SideValues& values) {
  constexpr double kModest = 5;
  for (const auto& outputs : values) {
    for (const Tensor& t : outputs) {
      const auto* v = std::get_if<std::vector<double>>(&t.data);
      if (v == nullptr) continue;
      for (double x : *v) {
        if (!std::isfinite(x)) return true;
        if (std::fabs(x) > kModest) return false;
      }
    }
  }
  return false;
}

bool AllExact(const SideValues& values) {
  for (const auto& outputs : values) {
    for (const Tensor& t : outputs) {
      const auto* v = std::get_if<std::vector<Int>>(&t.data);
      if (v == nullptr) continue;
      for (const Int& x : *v) {
        if (!x.ok()) return false;
      }
    }
  }
  return true;
}

double ElementOf(const Tensor& t, int64_t at) {
  if (auto* v = std::get_if<std::vector<double>>(&t.data)) return (*v)[at];
  return static_cast<double>(t.as<int64_t>()[at]);
}

// ---- One comparison

class Comparison {
 public:
  Comparison(const ir::Rule& rule, const Assignment& a,
             absl::Span<const Tensor> values, ir::Expansions& expansions)
      : rule_(rule), assignment_(a), values_(values), expansions_(expansions) {}

  std::optional<Disagreement> Run() {
    auto sides = RunBoth(values_);
    if (!sides) return std::nullopt;
    const double scale = std::max(sides->magnitude_source, 1.0);
    if (!std::isfinite(scale)) return std::nullopt;
    std::optional<Disagreement> d = Largest(*sides);
    if (!d) return std::nullopt;
    const double s = ElementOf(d->source, d->element);
    const double t = ElementOf(d->target, d->element);
    if (!std::isfinite(t)) {
      return UndefinedByItself(sides->target) ? d : std::nullopt;
    }
    const double target_scale = Magnitude(sides->target);
    if (!std::isfinite(target_scale)) return std::nullopt;
    if (DiffersExactly(*d)) return d;
    // Large enough to show when the rule is run in float as well.
    const double noise = 1e-4 * std::max(scale, target_scale);
    if (std::fabs(s - t) <= noise) return std::nullopt;
    return StaysWhenMoved(*d, noise) ? d : std::nullopt;
  }

 private:
  struct Sides {
    SideValues source, target;
    double magnitude_source = 0;
  };

  // Both sides in double; nothing where the source or the target has no value
  // or a condition does not hold.
  std::optional<Sides> RunBoth(absl::Span<const Tensor> values) {
    auto source =
        RunSource(rule_, assignment_, values, Interp::kReal, expansions_);
    if (!source.ok() || !ConditionsHold(rule_, *source)) return std::nullopt;
    Sides out{*std::move(source), {}, 0};
    out.magnitude_source = Magnitude(out.source);
    if (!std::isfinite(out.magnitude_source)) return std::nullopt;
    auto target =
        RunTarget(rule_, assignment_, values, Interp::kReal, expansions_);
    if (!target.ok()) return std::nullopt;
    out.target = *std::move(target);
    return out;
  }

  const Tensor& SourceOutput(const SideValues& values, int i) const {
    return At(values, rule_.source().outputs[i]);
  }
  const Tensor& TargetOutput(const SideValues& values, int i) const {
    return At(values, rule_.target().outputs[i]);
  }

  // The largest difference of all; one to something that is not finite is
  // larger than any other.
  std::optional<Disagreement> Largest(const Sides& sides) const {
    double most = 0;
    std::optional<Disagreement> out;
    for (size_t i = 0; i < rule_.source().outputs.size(); ++i) {
      const Tensor& s = SourceOutput(sides.source, static_cast<int>(i));
      const Tensor& t = TargetOutput(sides.target, static_cast<int>(i));
      for (int64_t at = 0; at < s.size(); ++at) {
        const double x = ElementOf(s, at), y = ElementOf(t, at);
        const double d = std::isfinite(y) ? std::fabs(x - y) : INFINITY;
        if (d <= most) continue;
        most = d;
        out = Disagreement{static_cast<int>(i), at, {}, {}};
      }
    }
    if (!out) return out;
    out->source = SourceOutput(sides.source, out->output);
    out->target = TargetOutput(sides.target, out->output);
    return out;
  }

  // True if the element differs in exact integer arithmetic.
  bool DiffersExactly(const Disagreement& d) {
    std::vector<Tensor> exact;
    for (const Tensor& v : values_) {
      auto converted = Reinterpret(v, Interp::kInteger);
      if (!converted.ok()) return false;
      exact.push_back(*std::move(converted));
    }
    auto source =
        RunSource(rule_, assignment_, exact, Interp::kInteger, expansions_);
    if (!source.ok() || !AllExact(*source)) return false;
    auto target =
        RunTarget(rule_, assignment_, exact, Interp::kInteger, expansions_);
    if (!target.ok() || !AllExact(*target)) return false;
    return ToDoubles(SourceOutput(*source, d.output))[d.element] !=
           ToDoubles(TargetOutput(*target, d.output))[d.element];
  }

  // True if the difference hardly changes when the inputs move by 1e-6.
  bool StaysWhenMoved(const Disagreement& d, double noise) {
    constexpr double kStep = 1e-6;
    const double s = ElementOf(d.source, d.element);
    const double t = ElementOf(d.target, d.element);
    for (int round = 0; round < 2; ++round) {
      auto moved = RunBoth(Moved(round == 0 ? kStep : -kStep));
      if (!moved) return false;
      const double s2 =
          ElementOf(SourceOutput(moved->source, d.output), d.element);
      const double t2 =
          ElementOf(TargetOutput(moved->target, d.output), d.element);
      if (!std::isfinite(t2)) return false;
      const double drift = std::fabs(s - s2) + std::fabs(t - t2);
      if (std::fabs(s - t) <= noise + 10 * drift) return false;
    }
    return true;
  }

  std::vector<Tensor> Moved(double step) const {
    std::vector<Tensor> out(values_.begin(), values_.end());
    int64_t n = 0;
    for (Tensor& t : out) {
      auto* v = std::get_if<std::vector<double>>(&t.data);
      if (v == nullptr) continue;
      // Neighbours move by different amounts.
      for (double& x : *v)
        x += step * (1 + 0.25 * static_cast<double>(n++ % 5));
    }
    return out;
  }

  const ir::Rule& rule_;
  const Assignment& assignment_;
  const absl::Span<const Tensor> values_;
  ir::Expansions& expansions_;
};

}  // namespace

std::vector<Tensor> DrawValues(const ir::Rule& rule, const Assignment& a,
                               Draw draw, std::mt19937_64& random) {
  const std::set<int> positive = PositiveVariables(rule);
  std::vector<Tensor> out;
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    const TensorType& type = a.tensors[i];
    const int64_t n = NumElements(type);
    if (!IsFloat(type.dtype)) {
      std::vector<int64_t> values(n);
      for (int64_t& v : values) v = DrawInteger(type.dtype, draw, random);
      out.push_back({type, std::move(values)});
    } else if (draw == Draw::kField) {
      std::vector<Field> values(n);
      for (Field& v : values) v = Field::FromWide(random());
      out.push_back({type, std::move(values)});
    } else {
      std::vector<double> values(n);
      for (double& v : values) {
        v = DrawReal(draw, random);
        if (positive.count(static_cast<int>(i))) v = v == 0 ? 1 : std::fabs(v);
      }
      out.push_back({type, std::move(values)});
    }
  }
  return out;
}

absl::StatusOr<bool> AgreeInField(const ir::Rule& rule, const Assignment& a,
                                  absl::Span<const Tensor> values,
                                  ir::Expansions& expansions) {
  ASSIGN_OR_RETURN(SideValues source,
                   RunSource(rule, a, values, Interp::kField, expansions));
  ASSIGN_OR_RETURN(SideValues target,
                   RunTarget(rule, a, values, Interp::kField, expansions));
  for (size_t i = 0; i < rule.source().outputs.size(); ++i) {
    if (At(source, rule.source().outputs[i]).data !=
        At(target, rule.target().outputs[i]).data) {
      return false;
    }
  }
  return true;
}

std::optional<Disagreement> FindDifference(const ir::Rule& rule,
                                           const Assignment& a,
                                           absl::Span<const Tensor> values,
                                           ir::Expansions& expansions) {
  return Comparison(rule, a, values, expansions).Run();
}

}  // namespace isomer::verify
