// Symbols get small random values; equations were solved when the rule was
// checked, so what is left are mostly inequalities that small values satisfy.
#include "graph/instance.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/at_sizes.h"
#include "graph/build_side.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

// Fills in both sides at the types and attributes of the variables.
absl::StatusOr<RuleInstance> Build(const RuleSide& source,
                                   const RuleSide& target,
                                   absl::Span<const std::string> tensors,
                                   absl::Span<const TensorType> types,
                                   RuleInstance out) {
  std::vector<const TensorType*> pointers;
  for (const TensorType& t : types) pointers.push_back(&t);
  std::vector<TensorType> expected;
  for (const RuleSide* side : {&source, &target}) {
    Graph& graph = side == &source ? out.source : out.target;
    SideTyping<int64_t> typing;
    RETURN_IF_ERROR(
        TypeSide<int64_t>(*side, pointers, out.attrs, expected, typing));
    std::vector<Value> inputs;
    for (size_t i = 0; i < types.size(); ++i) {
      inputs.push_back(graph.AddInput(tensors[i], types[i]));
    }
    ASSIGN_OR_RETURN(BuiltSide built,
                     BuildSide(graph, *side, typing, inputs, out.attrs));
    for (size_t i = 0; i < built.outputs.size(); ++i) {
      const TensorType& t = graph.type(built.outputs[i]);
      if (side == &source) {
        expected.push_back(t);
      } else if (t != expected[i]) {
        return absl::NotFoundError("the sides differ in type");
      }
      graph.AddOutput(absl::StrCat("y", i), built.outputs[i]);
    }
  }
  return out;
}

class Maker {
 public:
  Maker(const Rule& rule, const RuleCase& c, DType floats)
      : rule_(rule), case_(c), floats_(floats) {
    for (const SymType& t : c.tensors) Note(t.shape);
    for (const SymAttr& a : c.attrs) {
      if (auto* d = std::get_if<DimExpr>(&a)) Note({*d});
      if (auto* v = std::get_if<std::vector<DimExpr>>(&a)) Note(*v);
    }
    for (const Obligation& o : c.facts) Note({o.expr});
    for (const Obligation& o : c.obligations) Note({o.expr});
  }

  const std::set<std::string>& symbols() const { return symbols_; }

  absl::StatusOr<RuleInstance> Make(const Sizes& sizes) const {
    for (const auto* list : {&case_.facts, &case_.obligations}) {
      for (const Obligation& o : *list) {
        if (!HoldsAtSizes(o, sizes)) {
          return absl::NotFoundError(ObligationText(o));
        }
      }
    }
    std::vector<TensorType> types;
    for (const SymType& t : case_.tensors) {
      ASSIGN_OR_RETURN(TensorType type, AtSizes(t, sizes));
      // A size that was eliminated may come out as anything; rules speak of
      // sizes from 1 on.
      if (absl::c_any_of(type.shape, [](int64_t d) { return d < 1; })) {
        return absl::NotFoundError("a tensor is empty");
      }
      if (IsFloat(t.dtype)) type.dtype = floats_;
      types.push_back(std::move(type));
    }
    RuleInstance out;
    for (const SymAttr& a : case_.attrs) {
      ASSIGN_OR_RETURN(Attr value, AtSizes(a, sizes));
      auto* dtype = std::get_if<DType>(&value);
      if (dtype != nullptr && IsFloat(*dtype)) *dtype = floats_;
      out.attrs.push_back(std::move(value));
    }
    return Build(rule_.source(), rule_.target(), rule_.tensors(), types,
                 std::move(out));
  }

 private:
  void Note(const std::vector<DimExpr>& list) {
    for (const DimExpr& d : list) {
      for (const std::string& s : d.Symbols()) symbols_.insert(s);
    }
  }

  const Rule& rule_;
  const RuleCase& case_;
  const DType floats_;
  std::set<std::string> symbols_;
};

}  // namespace

absl::StatusOr<RuleInstance> MakeInstance(const Rule& rule, const RuleCase& c,
                                          std::mt19937_64& random,
                                          const InstanceLimits& limits) {
  const Maker maker(rule, c, limits.floats);
  absl::Status last = absl::NotFoundError("no try was made");
  for (int i = 0; i < limits.tries; ++i) {
    // Zero is legal for many attributes and for few sizes.
    const int64_t low = random() % 4 == 0 ? 0 : 1;
    Sizes sizes;
    for (const std::string& s : maker.symbols()) {
      sizes[s] = low + static_cast<int64_t>(random() % limits.max_size);
    }
    auto made = maker.Make(sizes);
    if (made.ok()) return made;
    last = made.status();
  }
  return absl::NotFoundError(absl::StrCat("no instance of rule ", rule.name(),
                                          " was found: ", last.message()));
}

absl::StatusOr<RuleInstance> InstanceAt(const BoundRule& rule,
                                        absl::Span<const TensorType> types) {
  RuleInstance out;
  out.attrs.resize(rule.attrs.size());
  return Build(rule.source, rule.target, rule.tensors, types, std::move(out));
}

}  // namespace isomer::ir
