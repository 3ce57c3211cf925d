// A search with backtracking: type as far as the known variables allow; where
// typing asks for an unknown one, try its options. Each failure cuts all ranks
// of the variables that were not needed to see it.
#include "graph/rule_typing.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

constexpr int kMaxRank = 5;
constexpr int kMaxList = 6;     // pads of three dimensions
constexpr int kMaxRounds = 20;  // of solving equations

// Which integer variables take sample values instead of being symbols.
enum class Sampled { kNone, kSingle, kAll };

// The ranks that conditions of the form rank(x) == 2 give away: no other rank
// needs to be tried.
std::vector<std::optional<int64_t>> FixedRanks(const BoundRule& rule) {
  std::vector<std::optional<int64_t>> out(rule.tensors.size());
  for (const RuleCondition& c : rule.where) {
    if (c.kind != RuleCondition::Kind::kEq) continue;
    for (auto [rank, size] :
         {std::pair(&c.left, &c.right), std::pair(&c.right, &c.left)}) {
      if (rank->kind != ValueExpr::Kind::kRank ||
          size->kind != ValueExpr::Kind::kInteger) {
        continue;
      }
      const RuleNode& n = rule.source.nodes[rank->tensor.node];
      if (n.kind == RuleNode::Kind::kVariable && size->integer >= 0 &&
          size->integer <= kMaxRank) {
        out[n.variable] = size->integer;
      }
    }
  }
  return out;
}

// The variables in the attributes of a node.
std::vector<int> VariablesOf(const RuleNode& node) {
  std::vector<int> out;
  for (const RuleAttr& a : node.attrs) {
    Visit(a.value, [&](const ValueExpr& e) {
      if (e.kind == ValueExpr::Kind::kName && e.variable >= 0 &&
          !absl::c_linear_search(out, e.variable)) {
        out.push_back(e.variable);
      }
    });
  }
  return out;
}

// What all searches for the cases of a rule need again and again.
struct Prepared {
  explicit Prepared(const BoundRule& rule) : fixed_ranks(FixedRanks(rule)) {
    for (const std::string& name : rule.tensors) {
      std::vector<DimExpr>& dims = sizes.emplace_back();
      for (int d = 0; d < kMaxRank; ++d) {
        dims.push_back(DimExpr::Symbol(absl::StrCat(name, ".", d)));
      }
    }
    for (const RuleVariable& v : rule.attrs) {
      std::optional<SymAttr>& value = defaults.emplace_back();
      if (v.spec == nullptr || v.spec->required) continue;
      value = *ToSymbolic(Attrs{{"", v.spec->default_value}}).Find("");
    }
    for (const RuleNode& n : rule.source.nodes) {
      variables.push_back(VariablesOf(n));
    }
  }

  std::vector<std::optional<int64_t>> fixed_ranks;  // by tensor variable
  std::vector<std::vector<DimExpr>> sizes;          // by tensor variable
  std::vector<std::optional<SymAttr>> defaults;     // by attribute variable
  std::vector<std::vector<int>> variables;          // by node of the source
};

// An equation between sizes solved for one symbol.
using Solution = std::pair<std::string, DimExpr>;

class CaseFinder {
 public:
  CaseFinder(const BoundRule& rule, const Prepared& prepared,
             std::vector<DType> dtypes, Sampled sampled, size_t most_cases,
             int& steps_left)
      : rule_(rule),
        prepared_(prepared),
        dtypes_(std::move(dtypes)),
        sampled_(sampled),
        most_cases_(most_cases),
        steps_(steps_left),
        tensors_(rule.tensors.size()),
        attrs_(rule.attrs.size()),
        options_(rule.attrs.size()) {}

  void Search() {
    Typing source, target;
    source.errors = target.errors = Errors::kBare;
    Search(source, target);
  }
  std::vector<RuleCase> TakeCases() { return std::move(cases_); }
  const absl::Status& closest() const { return closest_; }
  int distance() const { return distance_; }

 private:
  using Tensors = std::vector<std::optional<SymType>>;
  using AttrValues = std::vector<std::optional<SymAttr>>;

  using Typing = SideTyping<DimExpr>;

  // Each goes on from what is typed so far, and leaves that as it was.
  void Search(Typing& source, Typing& target);
  void Branch(MissingVariable missing, Typing& source, Typing& target);
  bool Plausible(int variable, Typing& source);
  const std::vector<SymAttr>& Options(int variable);
  std::vector<SymAttr> OptionsOf(const RuleVariable& v) const;
  std::vector<SymAttr> IntOptions(const RuleVariable& v) const;
  std::vector<SymAttr> IntsOptions(const RuleVariable& v) const;
  absl::Status Finish(Typing source, Typing target);
  absl::Status TypeSides(const Tensors& tensors, const AttrValues& attrs,
                         Typing& source, Typing& target) const;
  // The case of sides that are typed, with what conditions say.
  absl::StatusOr<RuleCase> CaseOf(const Tensors& tensors,
                                  const AttrValues& attrs, Typing source,
                                  Typing target) const;
  absl::Status PairOutputs(RuleCase& c) const;
  absl::Status ChoiceFacts(RuleCase& c) const;
  absl::Status Canonical(const Typing& source) const;
  std::optional<Solution> Solve(const DimExpr& zero) const;
  std::optional<Solution> SolveDivision(const Polynomial& p) const;
  bool IsSize(const std::string& symbol) const;
  // Scalars often fail for want of a dimension, which tells little.
  void Note(int distance, const absl::Status& s) {
    distance = 2 * distance + absl::c_none_of(tensors_, [](const auto& t) {
                 return t && t->rank() == 0;
               });
    if (distance <= distance_) return;
    distance_ = distance;
    Typing source, target;
    closest_ =
        s.message().empty() ? TypeSides(tensors_, attrs_, source, target) : s;
  }

  const BoundRule& rule_;
  const Prepared& prepared_;
  std::vector<DType> dtypes_;
  Sampled sampled_;
  const size_t most_cases_;
  int& steps_;  // how many are left
  Tensors tensors_;
  AttrValues attrs_;
  std::vector<std::vector<SymAttr>> options_;  // by attribute variable
  std::vector<RuleCase> cases_;
  absl::Status closest_;
  int distance_ = -1;  // how far the closest attempt came
};

// Takes back what is typed while it lives.
class Undo {
 public:
  explicit Undo(SideTyping<DimExpr>& typing)
      : typing_(typing), demands_(typing.demands.size()) {
    for (const auto& n : typing.nodes) typed_.push_back(!n.types.empty());
  }
  ~Undo() {
    typed_.resize(typing_.nodes.size());
    for (size_t k = 0; k < typed_.size(); ++k) {
      if (!typed_[k]) typing_.nodes[k] = {};
    }
    typing_.demands.resize(demands_);
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

 private:
  SideTyping<DimExpr>& typing_;
  const size_t demands_;
  absl::InlinedVector<bool, 16> typed_;  // by node, as it was
};

std::vector<const SymType*> Pointers(
    const std::vector<std::optional<SymType>>& types) {
  std::vector<const SymType*> out;
  for (const auto& t : types) out.push_back(t ? &*t : nullptr);
  return out;
}

int CountTyped(const std::vector<TypedNode<DimExpr>>& nodes) {
  return static_cast<int>(
      absl::c_count_if(nodes, [](const auto& n) { return !n.types.empty(); }));
}

// ---- Options of a variable

// Lists of different numbers below `rank`.
void Sequences(int rank, std::vector<DimExpr>& prefix,
               std::vector<SymAttr>& out) {
  out.push_back(prefix);
  for (int i = 0; i < rank; ++i) {
    if (absl::c_linear_search(prefix, DimExpr(i))) continue;
    prefix.push_back(DimExpr(i));
    Sequences(rank, prefix, out);
    prefix.pop_back();
  }
}

std::vector<SymAttr> CaseFinder::IntOptions(const RuleVariable& v) const {
  std::vector<SymAttr> out;
  if (v.axis) {
    for (int i = 0; i <= kMaxRank; ++i) out.push_back(DimExpr(i));
  } else if (sampled_ == Sampled::kNone || v.spec == nullptr) {
    out.push_back(DimExpr::Symbol(v.name));
  } else {
    std::vector<Attr> samples = v.spec->samples;
    if (!v.spec->required) samples.push_back(v.spec->default_value);
    for (const Attr& s : samples) {
      const auto* i = std::get_if<int64_t>(&s);
      if (i == nullptr) continue;
      const SymAttr value = DimExpr(*i);
      if (!absl::c_linear_search(out, value)) out.push_back(value);
    }
  }
  return out;
}

std::vector<SymAttr> CaseFinder::IntsOptions(const RuleVariable& v) const {
  std::vector<SymAttr> out;
  if (v.axis) {
    // No axis is beyond the ranks and shapes that are known by now.
    int rank = 0;
    for (const auto& t : tensors_) rank = std::max(rank, t ? t->rank() : 0);
    for (const auto& a : attrs_) {
      const auto* list = a ? std::get_if<std::vector<DimExpr>>(&*a) : nullptr;
      if (list) rank = std::max(rank, static_cast<int>(list->size()));
    }
    std::vector<DimExpr> prefix;
    Sequences(std::min(rank, kMaxRank), prefix, out);
    return out;
  }
  for (int n = 0; n <= kMaxList; ++n) {
    if (sampled_ == Sampled::kAll && v.spec != nullptr) {
      for (const Attr& s : v.spec->samples) {
        if (auto* i = std::get_if<int64_t>(&s)) {
          out.push_back(std::vector<DimExpr>(n, DimExpr(*i)));
        } else if (auto* list = std::get_if<std::vector<int64_t>>(&s);
                   list && static_cast<int>(list->size()) == n) {
          out.push_back(std::vector<DimExpr>(list->begin(), list->end()));
        }
      }
      continue;
    }
    std::vector<DimExpr> symbols;
    for (int i = 0; i < n; ++i) {
      symbols.push_back(DimExpr::Symbol(absl::StrCat(v.name, ".", i)));
    }
    out.push_back(std::move(symbols));
  }
  return out;
}

// Those of a list of axes go by what is known; all others are always the same.
const std::vector<SymAttr>& CaseFinder::Options(int variable) {
  const RuleVariable& v = rule_.attrs[variable];
  std::vector<SymAttr>& known = options_[variable];
  const bool axes = v.axis && v.kind == AttrKind::kInts;
  if (axes || known.empty()) known = OptionsOf(v);
  return known;
}

// Floats do not matter to typing: one value stands for all.
std::vector<SymAttr> CaseFinder::OptionsOf(const RuleVariable& v) const {
  std::vector<SymAttr> out;
  switch (v.kind) {
    case AttrKind::kInt:
      return IntOptions(v);
    case AttrKind::kInts:
      return IntsOptions(v);
    case AttrKind::kFloat: {
      const double* d = v.spec && !v.spec->required
                            ? std::get_if<double>(&v.spec->default_value)
                            : nullptr;
      out.push_back(d != nullptr ? *d : 0.5);
      return out;
    }
    case AttrKind::kFloats: {
      const auto* d =
          v.spec && !v.spec->required
              ? std::get_if<std::vector<double>>(&v.spec->default_value)
              : nullptr;
      out.push_back(d != nullptr ? *d : std::vector<double>{});
      return out;
    }
    case AttrKind::kString:
      if (v.spec == nullptr) return out;
      for (const std::string& s : v.spec->choices) out.push_back(s);
      // The name of a device axis may be any; different ones stay different.
      if (out.empty()) out.push_back(v.name);
      return out;
    case AttrKind::kDType:
      return {DType::kF32, DType::kI64, DType::kBool};
  }
  return out;
}

// ---- The search

void CaseFinder::Branch(MissingVariable missing, Typing& source,
                        Typing& target) {
  if (missing.tensor) {
    std::optional<SymType>& slot = tensors_[missing.variable];
    SymType type{dtypes_[missing.variable], {}, {}};
    const auto fixed = prepared_.fixed_ranks[missing.variable];
    for (int rank = 0; rank <= kMaxRank; ++rank) {
      slot = type;
      if (!fixed || rank == *fixed) Search(source, target);
      if (rank == kMaxRank) break;
      type.shape.push_back(prepared_.sizes[missing.variable][rank]);
    }
    slot.reset();
    return;
  }
  std::optional<SymAttr>& slot = attrs_[missing.variable];
  for (const SymAttr& option : Options(missing.variable)) {
    slot = option;
    if (Plausible(missing.variable, source)) Search(source, target);
  }
  slot.reset();
}

// False if the first node of the source that uses the variable cannot be typed
// with its value even where the node's other open attributes have their
// defaults. Lengths of lists are thus settled one list at a time instead of in
// all combinations.
bool CaseFinder::Plausible(int variable, Typing& source) {
  const auto node =
      absl::c_find_if(prepared_.variables, [&](const std::vector<int>& all) {
        return absl::c_linear_search(all, variable);
      });
  if (node == prepared_.variables.end()) return true;
  absl::InlinedVector<int, 8> open;
  for (int v : *node) {
    if (attrs_[v]) continue;
    if (!prepared_.defaults[v]) return true;
    open.push_back(v);
  }
  const Undo undo(source);
  for (int v : open) attrs_[v] = prepared_.defaults[v];
  absl::Status s = TypeSide<DimExpr>(
      rule_.source, Pointers(tensors_), attrs_, {}, source,
      /*last=*/static_cast<int>(node - prepared_.variables.begin()));
  for (int v : open) attrs_[v].reset();
  return s.ok() || absl::IsUnavailable(s);
}

void CaseFinder::Search(Typing& source, Typing& target) {
  if (steps_ <= 0 || cases_.size() >= most_cases_) return;
  --steps_;
  const Undo undo_source(source), undo_target(target);
  absl::Status s =
      TypeSide<DimExpr>(rule_.source, Pointers(tensors_), attrs_, {}, source);
  if (absl::Status c = Canonical(source); !c.ok()) {
    return Note(CountTyped(source.nodes), c);
  }
  if (source.missing && absl::IsUnavailable(s)) {
    return Branch(*source.missing, source, target);
  }
  if (!s.ok()) return Note(CountTyped(source.nodes), s);
  std::vector<SymType> expected;
  for (RuleOperand o : rule_.source.outputs) {
    expected.push_back(source.nodes[o.node].types[o.output]);
  }
  s = TypeSide<DimExpr>(rule_.target, Pointers(tensors_), attrs_, expected,
                        target);
  if (target.missing && absl::IsUnavailable(s)) {
    return Branch(*target.missing, source, target);
  }
  if (!s.ok()) return Note(1000 + CountTyped(target.nodes), s);
  for (size_t v = 0; v < attrs_.size(); ++v) {  // in conditions alone
    if (attrs_[v]) continue;
    return Branch({false, static_cast<int>(v)}, source, target);
  }
  if (s = Finish(source, target); !s.ok()) Note(2000, s);
}

absl::Status CaseFinder::TypeSides(const Tensors& tensors,
                                   const AttrValues& attrs, Typing& source,
                                   Typing& target) const {
  const std::vector<const SymType*> types = Pointers(tensors);
  RETURN_IF_ERROR(TypeSide<DimExpr>(rule_.source, types, attrs, {}, source));
  std::vector<SymType> expected;
  for (RuleOperand o : rule_.source.outputs) {
    expected.push_back(source.nodes[o.node].types[o.output]);
  }
  return TypeSide<DimExpr>(rule_.target, types, attrs, expected, target);
}

absl::StatusOr<RuleCase> CaseFinder::CaseOf(const Tensors& tensors,
                                            const AttrValues& attrs,
                                            Typing source,
                                            Typing target) const {
  RuleCase out;
  for (const auto& t : tensors) out.tensors.push_back(t ? *t : SymType());
  for (const auto& a : attrs) out.attrs.push_back(*a);
  out.source = std::move(source.nodes);
  out.target = std::move(target.nodes);
  out.facts = std::move(source.demands);
  out.obligations = std::move(target.demands);
  auto type = [&](RuleOperand o) -> const SymType* {
    const auto& t = out.source[o.node].types;
    return t.empty() ? nullptr : &t[o.output];
  };
  for (const RuleCondition& c : rule_.where) {
    if (c.kind >= RuleCondition::Kind::kConst) continue;
    if (absl::Status s = AddFacts(c, {attrs, type, nullptr}, out.facts);
        !s.ok()) {
      return ErrorAt(c.at, s.message());
    }
  }
  RETURN_IF_ERROR(ChoiceFacts(out));
  RETURN_IF_ERROR(PairOutputs(out));
  return out;
}

absl::Status CaseFinder::ChoiceFacts(RuleCase& c) const {
  std::vector<std::optional<SymAttr>> attrs(c.attrs.begin(), c.attrs.end());
  auto type = [&](RuleOperand o) -> const SymType* {
    const RuleNode& n = rule_.target.nodes[o.node];
    if (n.kind == RuleNode::Kind::kVariable) return &c.tensors[n.variable];
    const auto& t = c.target[o.node].types;
    return t.empty() ? nullptr : &t[o.output];
  };
  for (size_t i = 0; i < rule_.attrs.size(); ++i) {
    const RuleVariable& v = rule_.attrs[i];
    if (!v.chosen()) continue;
    ValueExpr e{.kind = ValueExpr::Kind::kName,
                .variable = static_cast<int>(i),
                .at = v.at};
    RuleCondition low{RuleCondition::Kind::kLe, *v.low, e, {}, v.at};
    RuleCondition high{RuleCondition::Kind::kLe, e, *v.high, {}, v.at};
    for (const RuleCondition& bound : {low, high}) {
      if (absl::Status s = AddFacts(bound, {attrs, type, nullptr}, c.facts);
          !s.ok()) {
        return ErrorAt(v.at, s.message());
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CaseFinder::PairOutputs(RuleCase& c) const {
  for (size_t i = 0; i < rule_.source.outputs.size(); ++i) {
    const RuleOperand a = rule_.source.outputs[i], b = rule_.target.outputs[i];
    const SymType& x = c.source[a.node].types[a.output];
    const SymType& y = c.target[b.node].types[b.output];
    bool differ =
        x.dtype != y.dtype || x.rank() != y.rank() || !(x.device == y.device);
    for (int d = 0; d < x.rank() && !differ; ++d) {
      const DimExpr difference = x.shape[d] - y.shape[d];
      if (auto number = difference.constant()) {
        differ = *number != 0;
      } else {
        c.obligations.push_back({Obligation::kZero, difference});
      }
    }
    if (differ) {
      return ErrorAt(
          rule_.target.nodes[b.node].at,
          absl::StrCat("output ", i, " is ", TypeText(x), " in the source and ",
                       TypeText(y), " in the target"));
    }
  }
  return absl::OkStatus();
}

// A value that inference writes in another form is the case of that form.
absl::Status CaseFinder::Canonical(const Typing& source) const {
  for (size_t k = 0; k < rule_.source.nodes.size(); ++k) {
    const RuleNode& n = rule_.source.nodes[k];
    if (source.nodes[k].attrs.empty()) continue;  // not typed yet
    for (const RuleAttr& a : n.attrs) {
      if (a.complement || a.value.variable < 0) continue;
      const RuleVariable& v = rule_.attrs[a.value.variable];
      const AttrSpec& spec = n.op->attrs[a.spec];
      if (v.kind != spec.kind) continue;
      if (*source.nodes[k].attrs.Find(spec.name) != *attrs_[a.value.variable]) {
        return ErrorAt(n.at, absl::StrCat(n.op->name, ": ", spec.name,
                                          " is not in its canonical form"));
      }
    }
  }
  return absl::OkStatus();
}

// ---- Equations

bool CaseFinder::IsSize(const std::string& symbol) const {
  const size_t dot = symbol.find('.');
  return dot != std::string::npos &&
         absl::c_linear_search(rule_.tensors, symbol.substr(0, dot));
}

// n - b*floordiv(n, b) == 0, with a symbol n: n is b times a new symbol.
std::optional<Solution> CaseFinder::SolveDivision(const Polynomial& p) const {
  for (const Monomial& m : p.monomials()) {
    if (m.factors.size() != 1 || m.factors[0].power != 1 ||
        !m.factors[0].atom.is_symbol()) {
      continue;
    }
    const std::string& name = m.factors[0].atom.name();
    const DimExpr n = DimExpr::Symbol(name);
    for (const Monomial& other : p.monomials()) {
      for (const Factor& f : other.factors) {
        if (!f.atom.Is("floordiv") || !(DimExpr(f.atom.args()[0]) == n)) {
          continue;
        }
        const DimExpr b(f.atom.args()[1]);
        if (b.Symbols().contains(name)) continue;
        const DimExpr rest = Mod(n, b);
        if (!(DimExpr(p) == rest) && !(DimExpr(p) == -rest)) continue;
        return Solution(name, b * DimExpr::Symbol(absl::StrCat(name, "'")));
      }
    }
  }
  return std::nullopt;
}

std::optional<Solution> CaseFinder::Solve(const DimExpr& zero) const {
  // Sizes are not zero; attributes may be.
  const DimExpr rest = WithoutFactors(zero, [&](const Atom& atom) {
    return atom.is_symbol() && IsSize(atom.name());
  });
  if (auto solution = SolveForSymbol(rest)) return solution;
  return SolveDivision(rest.polynomial());
}

void Substitute(const std::map<std::string, DimExpr>& values,
                std::vector<std::optional<SymType>>& tensors,
                std::vector<std::optional<SymAttr>>& attrs) {
  for (auto& t : tensors) {
    if (!t) continue;
    for (DimExpr& d : t->shape) d = d.Substitute(values);
  }
  for (auto& a : attrs) {
    if (!a) continue;
    if (auto* d = std::get_if<DimExpr>(&*a)) *d = d->Substitute(values);
    if (auto* v = std::get_if<std::vector<DimExpr>>(&*a)) {
      for (DimExpr& d : *v) d = d.Substitute(values);
    }
  }
}

void Deduplicate(std::vector<Obligation>& list) {
  std::vector<Obligation> out;
  for (Obligation& o : list) {
    if (!absl::c_linear_search(out, o)) out.push_back(std::move(o));
  }
  list = std::move(out);
}

absl::Status CaseFinder::Finish(Typing source, Typing target) {
  Tensors tensors = tensors_;
  AttrValues attrs = attrs_;
  std::vector<Obligation> sizes;  // eliminated sizes are not negative
  RuleCase c;
  for (int round = 0; round < kMaxRounds; ++round) {
    ASSIGN_OR_RETURN(
        c, CaseOf(tensors, attrs, std::move(source), std::move(target)));
    std::map<std::string, DimExpr> values;
    for (const auto* list : {&c.facts, &c.obligations}) {
      for (const Obligation& o : *list) {
        if (o.kind != Obligation::kZero) continue;
        const auto solved = Solve(o.expr.Substitute(values));
        if (!solved) continue;
        const std::map<std::string, DimExpr> one = {*solved};
        for (auto& [name, value] : values) value = value.Substitute(one);
        for (Obligation& size : sizes) size.expr = size.expr.Substitute(one);
        if (IsSize(solved->first)) {
          sizes.push_back({Obligation::kNonNegative, solved->second});
        }
        values.insert(*solved);
      }
    }
    if (values.empty()) break;
    Substitute(values, tensors, attrs);
    source = target = Typing();
    RETURN_IF_ERROR(TypeSides(tensors, attrs, source, target));
  }
  for (Obligation& o : sizes) {  // a size by itself says nothing new
    const auto atom = o.expr.polynomial().atom();
    if (o.expr.constant() || (atom && atom->is_symbol())) continue;
    c.facts.push_back(std::move(o));
  }
  Deduplicate(c.facts);
  Deduplicate(c.obligations);
  std::erase_if(c.obligations, [&](const Obligation& o) {
    return absl::c_linear_search(c.facts, o);
  });
  cases_.push_back(std::move(c));
  return absl::OkStatus();
}

// ---- Element types

// f32 for all; then one, then two variables of another type.
std::vector<std::vector<DType>> DTypeChoices(int n) {
  constexpr DType kOthers[] = {DType::kBool, DType::kI64};
  const std::vector<DType> floats(n, DType::kF32);
  std::vector<std::vector<DType>> out = {floats};
  for (int i = 0; i < n; ++i) {
    for (DType t : kOthers) {
      out.push_back(floats);
      out.back()[i] = t;
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      for (DType t : kOthers) {
        for (DType u : kOthers) {
          out.push_back(floats);
          out.back()[i] = t;
          out.back()[j] = u;
        }
      }
    }
  }
  out.push_back(std::vector<DType>(n, DType::kBool));
  out.push_back(std::vector<DType>(n, DType::kI64));
  return out;
}

}  // namespace

absl::StatusOr<TypedCases> TypeCases(const BoundRule& rule,
                                     const RuleLimits& limits) {
  const Prepared prepared(rule);
  absl::Status closest;
  bool gave_up = false;
  int distance = -1, steps = limits.steps, later_steps = limits.steps;
  for (Sampled sampled : {Sampled::kNone, Sampled::kSingle, Sampled::kAll}) {
    if (sampled != Sampled::kNone && rule.attrs.empty()) break;
    for (std::vector<DType>& dtypes : DTypeChoices(rule.tensors.size())) {
      // The plain search has its own steps; the others share as many.
      CaseFinder finder(rule, prepared, std::move(dtypes), sampled,
                        limits.cases, steps);
      finder.Search();
      if (auto cases = finder.TakeCases(); !cases.empty()) {
        return TypedCases{std::move(cases), gave_up || steps <= 0};
      }
      if (finder.distance() > distance) {
        distance = finder.distance();
        closest = finder.closest();
      }
      gave_up = gave_up || steps <= 0;
      steps = std::exchange(later_steps, 0) + std::max(steps, 0);
    }
  }
  if (gave_up) {
    return absl::ResourceExhaustedError(absl::StrCat(
        closest.message(), " (gave up after ", limits.steps, " steps)"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      closest.message(), " (no ranks up to ", kMaxRank, " type both sides)"));
}

// ---- Numeric class

namespace {

int64_t AtSomeSizes(const DimExpr& d) {
  std::map<std::string, int64_t> sizes;
  for (const std::string& s : d.Symbols()) sizes[s] = 6;
  return d.Evaluate(sizes).value_or(6);
}

std::vector<int64_t> AtSomeSizes(const std::vector<DimExpr>& list) {
  std::vector<int64_t> out;
  for (const DimExpr& d : list) out.push_back(AtSomeSizes(d));
  return out;
}

Attrs AtSomeSizes(const SymAttrs& attrs) {
  Attrs out;
  for (const auto& [name, value] : attrs.entries()) {
    out.Set(name, std::visit(
                      [](const auto& v) -> Attr {
                        using T = std::decay_t<decltype(v)>;
                        if constexpr (std::is_same_v<T, DimExpr> ||
                                      std::is_same_v<T, std::vector<DimExpr>>) {
                          return AtSomeSizes(v);
                        } else {
                          return v;
                        }
                      },
                      value));
  }
  return out;
}

bool OnlyMoves(const RuleSide& side,
               const std::vector<TypedNode<DimExpr>>& typed) {
  for (size_t k = 0; k < side.nodes.size(); ++k) {
    const RuleNode& n = side.nodes[k];
    if (n.kind != RuleNode::Kind::kCall || typed[k].types.empty()) continue;
    if (!n.op->flops) return false;
    std::vector<TensorType> in, out;
    for (RuleOperand o : n.inputs) {
      const SymType& t = typed[o.node].types[o.output];
      in.push_back({t.dtype, AtSomeSizes(t.shape)});
    }
    for (const SymType& t : typed[k].types) {
      out.push_back({t.dtype, AtSomeSizes(t.shape)});
    }
    if (n.op->flops(in, out, AtSomeSizes(typed[k].attrs)) != 0) return false;
  }
  return true;
}

}  // namespace

Numerics NumericsOf(const BoundRule& rule, const std::vector<RuleCase>& cases) {
  for (const RuleCase& c : cases) {
    if (!OnlyMoves(rule.source, c.source) ||
        !OnlyMoves(rule.target, c.target)) {
      return Numerics::kReassociating;
    }
  }
  return Numerics::kExact;
}

}  // namespace isomer::ir
