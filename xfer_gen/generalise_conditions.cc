// Conditions as syntax trees.
#include "xfer_gen/generalise_conditions.h"

#include <utility>

namespace isomer::gen {

namespace {

using ir::ConditionSyntax;
using ir::ValueSyntax;

ValueSyntax Integer(int64_t value) {
  ValueSyntax v;
  v.integer = value;
  return v;
}

ValueSyntax Named(ValueSyntax::Kind kind, const std::string& name) {
  ValueSyntax v;
  v.kind = kind;
  v.name = name;
  return v;
}

ValueSyntax RankOf(const SeenTensor& t) {
  return Named(ValueSyntax::Kind::kRank, t.name);
}

ValueSyntax DimOf(const SeenTensor& t, int dim) {
  ValueSyntax v = Named(ValueSyntax::Kind::kDim, t.name);
  v.args.push_back(Integer(dim));
  return v;
}

ConditionSyntax Compare(ConditionSyntax::Kind kind, ValueSyntax left,
                        ValueSyntax right) {
  ConditionSyntax c;
  c.kind = kind;
  c.left = std::move(left);
  c.right = std::move(right);
  return c;
}

ConditionSyntax Equal(ValueSyntax left, ValueSyntax right) {
  return Compare(ConditionSyntax::Kind::kEq, std::move(left), std::move(right));
}

using Types = absl::Span<const TensorType>;

// The size of dimension d, or nothing that equals a size.
int64_t SizeAt(const TensorType& t, int d) {
  return d < t.rank() ? t.shape[d] : -1 - d;
}

void AddEqualSizes(const SeenTensors& seen, size_t i, size_t j,
                   std::vector<SizeCondition>& out) {
  const SeenTensor &a = seen[j], &b = seen[i];
  for (int d = 0; d < b.type.rank(); ++d) {
    for (int e = 0; e < (i == j ? d : a.type.rank()); ++e) {
      if (a.type.shape[e] != b.type.shape[d]) continue;
      out.push_back({Equal(DimOf(a, e), DimOf(b, d)), [=](Types t) {
                       return SizeAt(t[j], e) == SizeAt(t[i], d);
                     }});
    }
  }
}

}  // namespace

ir::RuleSyntax AtRanks(ir::RuleSyntax rule, const SeenTensors& seen) {
  for (const SeenTensor& t : seen) {
    rule.where.push_back(Equal(RankOf(t), Integer(t.type.rank())));
  }
  return rule;
}

std::vector<SizeCondition> ConditionsOf(const SeenTensors& seen) {
  std::vector<SizeCondition> out;
  for (size_t i = 0; i < seen.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (seen[i].type.rank() != seen[j].type.rank()) continue;
      out.push_back({Equal(RankOf(seen[j]), RankOf(seen[i])),
                     [=](Types t) { return t[i].rank() == t[j].rank(); }});
    }
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    const int rank = seen[i].type.rank();
    out.push_back({Equal(RankOf(seen[i]), Integer(rank)),
                   [=](Types t) { return t[i].rank() == rank; }});
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    for (size_t j = 0; j <= i; ++j) AddEqualSizes(seen, i, j, out);
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    for (int d = 0; d < seen[i].type.rank(); ++d) {
      const int64_t size = seen[i].type.shape[d];
      out.push_back({Equal(DimOf(seen[i], d), Integer(size)),
                     [=](Types t) { return SizeAt(t[i], d) == size; }});
    }
  }
  return out;
}

ConditionSyntax DifferentValues(const std::string& a, const std::string& b) {
  return Compare(ConditionSyntax::Kind::kNe, Named(ValueSyntax::Kind::kName, a),
                 Named(ValueSyntax::Kind::kName, b));
}

}  // namespace isomer::gen
