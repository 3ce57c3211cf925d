// Values are random elements of the field, then small integers of both signs.
// A rule about positive values has no meaning in the field, which has no
// order, so it is tried in integers alone.
#include "xfer_gen/generalise_trial.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/evaluate.h"
#include "ops/field.h"

namespace isomer::gen {

namespace {

using Inputs = std::map<std::string, Tensor>;

// Sizes at which a side is cheap to run, by the highest rank of a tensor where
// there are several.
constexpr int64_t kMaxSize = 4, kMaxSizeOfHighRank = 3;
constexpr int kHighRank = 4, kTries = 120;
// By turns, unless every assignment has to be told good or bad.
constexpr Interp kWays[] = {Interp::kInteger, Interp::kField};

bool NeedsOrder(const ir::Rule& rule) {
  return absl::c_any_of(rule.where(), [](const ir::RuleCondition& c) {
    return c.kind == ir::RuleCondition::Kind::kPositive;
  });
}

// The signs of integers.
enum class Signs { kAny, kPositive, kOfTensor };

int64_t RandomElement(DType dtype, int sign, std::mt19937_64& random) {
  if (dtype == DType::kBool) return static_cast<int64_t>(random() % 2);
  const int64_t v = static_cast<int64_t>(random() % 9) - 4;
  return sign == 0 ? v : sign * (1 + (v < 0 ? -v : v));
}

Inputs RandomInputs(const ir::Graph& graph, Interp interp, Signs signs,
                    std::mt19937_64& random) {
  Inputs out;
  for (NodeId id : graph.inputs()) {
    int sign = signs == Signs::kAny ? 0 : 1;
    if (signs == Signs::kOfTensor && random() % 2 == 0) sign = -1;
    const TensorType& type = graph.type({id, 0});
    Tensor t = MakeTensor(type, interp);
    if (auto* field = std::get_if<std::vector<Field>>(&t.data)) {
      for (Field& x : *field) {
        x = Field::FromInt(static_cast<int64_t>(random() >> 3));
      }
    } else {
      std::vector<double> values(NumElements(type));
      for (double& x : values) {
        x = static_cast<double>(RandomElement(type.dtype, sign, random));
      }
      t = FromDoubles(type, values, interp);
    }
    out.emplace(*graph.node(id).name, std::move(t));
  }
  return out;
}

// Whether the tensors differ where the first has a value: an integer that
// leaves its range, or a quotient that is none, has none.
bool Differ(const Tensor& a, const Tensor& b) {
  const auto* x = std::get_if<std::vector<Int>>(&a.data);
  if (x == nullptr) return a.data != b.data;
  const std::vector<Int>& y = b.as<Int>();
  for (size_t i = 0; i < x->size(); ++i) {
    if ((*x)[i].ok() && y[i].ok() && !((*x)[i] == y[i])) return true;
  }
  return false;
}

std::string InputTypes(const ir::Graph& graph) {
  std::string out;
  for (NodeId id : graph.inputs()) {
    absl::StrAppend(&out, out.empty() ? "" : ", ", *graph.node(id).name, " ",
                    TypeText(graph.type({id, 0})));
  }
  return out;
}

// Runs both sides once. Sides that cannot be run this way do not differ.
std::optional<std::string> Compare(const ir::RuleInstance& at, Interp interp,
                                   Signs signs, std::mt19937_64& random) {
  const Inputs inputs = RandomInputs(at.source, interp, signs, random);
  auto x = ir::Evaluate(at.source, inputs, {.interp = interp});
  auto y = ir::Evaluate(at.target, inputs, {.interp = interp});
  if (!x.ok() || !y.ok()) return std::nullopt;
  for (size_t i = 0; i < x->size(); ++i) {
    if (!Differ((*x)[i], (*y)[i])) continue;
    std::string text =
        absl::StrCat("with ", InputTypes(at.source), " output ", i, " differs");
    if (interp == Interp::kInteger) {
      for (const auto& [name, tensor] : inputs) {
        absl::StrAppend(&text, "; ", name, " = ", TensorText(tensor));
      }
      absl::StrAppend(&text, "; source ", TensorText((*x)[i]), ", target ",
                      TensorText((*y)[i]));
    }
    return text;
  }
  return std::nullopt;
}

bool IsSolid(const ir::Graph& graph) {
  return absl::c_all_of(graph.inputs(), [&](NodeId id) {
    return NumElements(graph.type({id, 0})) > 0;
  });
}

// An assignment, without empty tensors if a few draws find one.
std::optional<ir::RuleInstance> Instance(const ir::Rule& rule,
                                         const ir::RuleCase& c, int64_t size,
                                         std::mt19937_64& random) {
  constexpr int kDraws = 4;
  std::optional<ir::RuleInstance> out;
  for (int i = 0; i < kDraws; ++i) {
    auto at =
        ir::MakeInstance(rule, c, random, {.max_size = size, .tries = kTries});
    if (!at.ok()) break;
    out = *std::move(at);
    if (IsSolid(out->source)) break;
  }
  return out;
}

int HighestRank(const ir::RuleCase& c) {
  int rank = 0;
  for (const SymType& t : c.tensors) rank = std::max(rank, t.rank());
  return rank;
}

// Adds one assignment to the trial of its case, in each of the ways.
void Run(const ir::RuleInstance& at, absl::Span<const Interp> ways, Signs signs,
         std::mt19937_64& random, CaseTrial& trial) {
  ++trial.tried;
  std::optional<std::string> failure;
  for (Interp way : ways) {
    if (!failure) failure = Compare(at, way, signs, random);
  }
  if (IsSolid(at.source)) {
    trial.solid = true;
    trial.attrs.push_back(at.attrs);
    TriedSizes& sizes = trial.sizes.emplace_back();
    for (NodeId id : at.source.inputs()) {
      sizes.tensors.push_back(at.source.type({id, 0}));
    }
    sizes.failed = failure.has_value();
  }
  if (failure && !trial.failure) trial.failure = std::move(failure);
}

}  // namespace

std::vector<CaseTrial> TryCases(const ir::Rule& rule,
                                const TrialOptions& options) {
  std::mt19937_64 random(options.seed);
  const bool positive = NeedsOrder(rule);
  const int cases = static_cast<int>(rule.cases().size());
  const int each = std::max(1, options.assignments / std::max(1, cases));
  std::vector<CaseTrial> out(cases);
  size_t runs = 0;
  for (int c = 0; c < cases; ++c) {
    const ir::RuleCase& of = rule.cases()[c];
    const int64_t size = HighestRank(of) >= kHighRank && of.tensors.size() > 1
                             ? kMaxSizeOfHighRank
                             : kMaxSize;
    for (int n = 0; n < each; ++n) {
      if (out[c].failure && !options.go_on) break;
      const auto at = Instance(rule, of, size, random);
      if (!at) break;
      absl::Span<const Interp> ways = kWays;
      if (positive) {
        ways = ways.first(1);
      } else if (!options.go_on) {
        ways = ways.subspan(runs++ % ways.size(), 1);
      }
      Run(*at, ways, positive ? Signs::kPositive : Signs::kAny, random, out[c]);
    }
    if (out[c].failure && !options.every_case) break;
  }
  return out;
}

std::optional<std::string> FindFailure(const ir::Rule& rule,
                                       const TrialOptions& options) {
  TrialOptions first = options;
  first.every_case = false;
  for (CaseTrial& t : TryCases(rule, first)) {
    if (t.failure) return std::move(t.failure);
  }
  return std::nullopt;
}

std::optional<std::string> FindFailureAt(const ir::RuleInstance& at,
                                         uint64_t seed) {
  constexpr int kDraws = 6;
  std::mt19937_64 random(seed);
  for (int i = 0; i < kDraws; ++i) {
    auto failure = Compare(at, Interp::kInteger, Signs::kOfTensor, random);
    if (failure) return failure;
  }
  return std::nullopt;
}

}  // namespace isomer::gen
