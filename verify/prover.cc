// For each case of the rule: the difference of both sides is brought to normal
// form; where conditions on indices or sizes are left, the proof goes on in
// each branch. Apart from that, whatever the target divides by, takes the root
// or the logarithm of must be fit for it wherever the source is defined.
#include "verify/prover.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/status.h"
#include "ops/tensor_type.h"
#include "verify/nf_build.h"
#include "verify/nf_normalize.h"
#include "verify/nf_open.h"
#include "verify/nf_signs.h"
#include "verify/nf_simplify.h"
#include "verify/scalar_facts.h"

namespace isomer::verify {

namespace {

constexpr int kMaxSplits = 12;      // conditions on one path
constexpr int64_t kMaxValues = 4;   // of an index that is split into them
constexpr size_t kMaxOrders = 6;    // orders of two values on one path
constexpr int kMaxSolved = 40;      // equations of one case
constexpr size_t kMaxReason = 300;  // characters of what is left
constexpr absl::string_view kLimitsReached = "... (limits reached)";

std::string Shortened(std::string text) {
  if (text.size() > kMaxReason) {
    text.resize(kMaxReason);
    text += " ...";
  }
  return text;
}

// ---- Where functions are defined

// Demands of a side: terms whose only factor is nonzero(s), positive(s) or
// atleast0(s).
class DemandFinder {
 public:
  void Find(const Sum& s) {
    for (const Term& t : s) {
      Enter(t.bound, t.guards, [&] {
        for (const Power& p : t.factors) FindIn(*p.leaf);
      });
    }
  }
  Sum Take() { return std::move(demands_); }

 private:
  template <class F>
  void Enter(const std::vector<Bound>& bound,
             const std::vector<Obligation>& guards, F inside) {
    const Term before = scope_;
    scope_.bound.insert(scope_.bound.end(), bound.begin(), bound.end());
    scope_.guards.insert(scope_.guards.end(), guards.begin(), guards.end());
    inside();
    scope_ = before;
  }

  void Demand(const std::string& what, const Sum& s) {
    Term t = scope_;
    t.factors.push_back({std::make_shared<const Leaf>(
                             Leaf{Leaf::Kind::kFunction, what, {}, {s}}),
                         1});
    demands_.push_back(std::move(t));
  }

  void FindIn(const Leaf& leaf) {
    if (leaf.kind == Leaf::Kind::kInverse) Demand("nonzero", leaf.args[0]);
    if (leaf.kind == Leaf::Kind::kFunction) {
      if (leaf.name == "log") Demand("positive", leaf.args[0]);
      if (leaf.name == "sqrt") Demand("atleast0", leaf.args[0]);
      if (leaf.name == "pow") DemandPower(leaf);
    }
    for (const Sum& s : leaf.args) Find(s);
    for (const Item& item : leaf.items) {
      Enter(item.bound, item.guards, [&] { Find(*item.body); });
    }
  }

  void DemandPower(const Leaf& leaf) {
    const auto exponent = NumberOf(leaf.args[1]);
    const auto c = exponent ? exponent->constant() : std::nullopt;
    if (c && c->IsInteger()) {
      if (c->num() < 0) Demand("nonzero", leaf.args[0]);
    } else {
      Demand("positive", leaf.args[0]);
    }
  }

  Term scope_;
  Sum demands_;
};

// ---- One case

class CaseProver {
 public:
  // `equal` may be null.
  CaseProver(const CaseView& view, Effort& effort, EqualCases* equal)
      : view_(view),
        equal_(equal),
        steps_before_(effort.steps_left),
        facts_(&effort),
        context_{facts_, names_, {}, {}} {}

  // Says why the case is not proved; nothing if it is.
  std::optional<std::string> Run() {
    if (absl::Status s = BuildSides(); !s.ok()) return std::string(s.message());
    const std::string claim = equal_ == nullptr ? "" : ClaimOfValues();
    const bool known = TakeKnown(claim);
    const bool as_they_stand = known || EqualAsTheyStand();
    if (facts_.effort().exhausted()) return Differs(0, kLimitsReached);
    if (as_they_stand && DemandsAsTheyStand()) {
      Note(claim);
      return std::nullopt;
    }
    AddFacts();
    Sum source_demands, target_demands;
    for (size_t o = 0; o < outputs_.size(); ++o) {
      Sides& sides = outputs_[o];
      for (Bound& b : sides.index) b.hi = b.hi.Substitute(solved_);
      for (Sum* s : {&sides.source, &sides.target}) {
        *s = Substitute(*s, solved_);
      }
      AppendDemands(sides.source, sides.index, source_demands);
      AppendDemands(sides.target, sides.index, target_demands);
      if (known) continue;
      Facts::Scope scope(facts_);
      AddTermFacts(sides.index, {}, facts_);
      std::set<std::string> vars;
      for (const Bound& b : sides.index) {
        vars.insert(b.var);
        sizes_[b.var] = b.hi;
      }
      if (auto left = ProveZero(Difference(sides), vars, 0)) {
        return Differs(o, *left);
      }
    }
    Note(claim);
    return Definedness(source_demands, target_demands);
  }

  const std::set<std::string>& axioms() const { return context_.axioms; }
  // Whether it failed because values are not shown to be equal.
  bool differ() const { return differ_; }

 private:
  // An output of both sides at a symbolic index.
  struct Sides {
    std::vector<Bound> index;
    Sum source, target;
  };

  absl::Status BuildSides() {
    const int outputs = static_cast<int>(view_.rule.source().outputs.size());
    for (int o = 0; o < outputs; ++o) {
      Sides sides;
      const SymType type = OutputType(view_, o);
      std::vector<DimExpr> at;
      for (const DimExpr& size : AllDims(type)) {
        sides.index.push_back({names_.Fresh(), 0, size});
        at.push_back(DimExpr::Symbol(sides.index.back().var));
      }
      ASSIGN_OR_RETURN(sides.source,
                       OutputElement(view_, false, o, at, names_));
      ASSIGN_OR_RETURN(sides.target, OutputElement(view_, true, o, at, names_));
      outputs_.push_back(std::move(sides));
    }
    return absl::OkStatus();
  }

  std::string Differs(size_t output, absl::string_view left) {
    differ_ = true;
    return absl::StrCat("output ", output, " differs by ", left);
  }

  // ---- What is known of values

  // What the case says of values, and all that AddFacts assumes. Neither the
  // order of sides nor that of facts matters.
  std::string ClaimOfValues() const {
    const ir::Rule& rule = view_.rule;
    const ir::RuleCase& c = view_.rule_case;
    std::set<std::string> assumed;
    for (size_t i = 0; i < rule.tensors().size(); ++i) {
      assumed.insert(
          absl::StrCat(rule.tensors()[i], " ", TypeText(c.tensors[i])));
    }
    for (const auto* facts : {&c.facts, &c.obligations}) {
      for (const Obligation& o : *facts) assumed.insert(ObligationText(o));
    }
    for (const std::string& name : PositiveTensors()) {
      assumed.insert(absl::StrCat("positive ", name));
    }
    std::string out = absl::StrJoin(assumed, "; ");
    for (const Sides& sides : outputs_) {
      for (const Bound& b : sides.index) {
        absl::StrAppend(&out, "\n", b.var, " < ", b.hi.ToString());
      }
      const std::string a = KeyOf(sides.source), b = KeyOf(sides.target);
      absl::StrAppend(&out, "\n", std::min(a, b), " = ", std::max(a, b));
    }
    return out;
  }

  // Whether it is known that values are equal; what that took is spent.
  bool TakeKnown(const std::string& claim) {
    if (equal_ == nullptr) return false;
    const auto it = equal_->find(claim);
    if (it == equal_->end()) return false;
    const ShownEqual& shown = it->second;
    context_.axioms.insert(shown.axioms.begin(), shown.axioms.end());
    int64_t& left = facts_.effort().steps_left;
    left = std::max<int64_t>(0, left - shown.steps);
    return true;
  }

  void Note(const std::string& claim) {
    if (equal_ == nullptr) return;
    const int64_t steps = steps_before_ - facts_.effort().steps_left;
    equal_->emplace(claim, ShownEqual{context_.axioms, steps});
  }

  // ---- Values

  static Sum Difference(const Sides& sides) {
    return Add(sides.source, Scale(sides.target, Polynomial(-1)));
  }

  Sum NormalizeLightly(const Sum& s) {
    context_.light = true;
    Sum out = Normalize(s, context_);
    context_.light = false;
    return out;
  }

  // True if no fact about the case is needed: most rules do the same to their
  // indices on both sides.
  bool EqualAsTheyStand() {
    return std::all_of(outputs_.begin(), outputs_.end(),
                       [&](const Sides& sides) {
                         return NormalizeLightly(Difference(sides)).empty();
                       });
  }

  // True if the target demands nothing that the source does not.
  bool DemandsAsTheyStand() {
    Sum granted, demanded;
    for (const Sides& sides : outputs_) {
      // Both sides have the same index, which need not be bound.
      AppendDemands(sides.target, {}, demanded);
      if (!demanded.empty()) AppendDemands(sides.source, {}, granted);
    }
    std::set<std::string> keys;
    for (const Term& t : granted) keys.insert(KeyOf(t).Text());
    return std::all_of(demanded.begin(), demanded.end(), [&](const Term& t) {
      return keys.count(KeyOf(t).Text()) > 0;
    });
  }

  // Sizes are at least 1; both sides are well typed.
  void AddFacts() {
    const ir::Rule& rule = view_.rule;
    const ir::RuleCase& c = view_.rule_case;
    std::set<std::string> symbols;
    for (const SymType& t : c.tensors) {
      for (const DimExpr& d : t.shape) {
        for (const std::string& s : d.Symbols()) symbols.insert(s);
      }
    }
    for (const std::string& s : symbols) {
      const std::string tensor = s.substr(0, s.find('.'));
      if (std::find(rule.tensors().begin(), rule.tensors().end(), tensor) !=
          rule.tensors().end()) {
        facts_.AddNonNegative(DimExpr::Symbol(s) - 1);
      }
    }
    for (const SymType& t : c.tensors) {
      for (const DimExpr& d : t.shape) facts_.AddNonNegative(d - 1);
    }
    std::vector<Obligation> typing = c.facts;
    typing.insert(typing.end(), c.obligations.begin(), c.obligations.end());
    for (const Obligation& o : typing) facts_.Add(o);
    for (int round = 0; round < kMaxSolved; ++round) {
      const Substitution more = SolveOne(typing);
      if (more.empty()) break;
      for (Obligation& o : typing) o.expr = o.expr.Substitute(more);
      for (auto& [symbol, value] : solved_) value = value.Substitute(more);
      solved_.insert(more.begin(), more.end());
    }
    for (const Obligation& o : typing) facts_.Add(o);
    context_.positive = PositiveTensors();
    facts_.FindPoints();
  }

  std::set<std::string> PositiveTensors() const {
    const ir::Rule& rule = view_.rule;
    std::set<std::string> out;
    for (const ir::RuleCondition& w : rule.where()) {
      if (w.kind != ir::RuleCondition::Kind::kPositive) continue;
      const ir::RuleNode& n = rule.source().nodes[w.tensor.node];
      if (n.kind == ir::RuleNode::Kind::kVariable) {
        out.insert(rule.tensors()[n.variable]);
      }
    }
    return out;
  }

  // Values of symbols that an equation of the case gives: of one that stands
  // alone, or of all in a product that is 1. Typing has solved those that do
  // not need facts.
  Substitution SolveOne(const std::vector<Obligation>& typing) {
    for (const Obligation& o : typing) {
      if (o.kind != Obligation::kZero || o.expr.constant()) continue;
      const DimExpr zero = WithoutFactors(o.expr, [&](const Atom& atom) {
        return facts_.Positive(DimExpr(Polynomial(atom)));
      });
      for (const DimExpr& side : {zero, -zero}) {
        Substitution ones = ProductOfOne(side.polynomial());
        if (!ones.empty()) return ones;
      }
      if (auto solution = SolveForSymbol(zero)) return {*solution};
    }
    return {};
  }

  // a * b - 1 == 0 for whole numbers that are not negative.
  Substitution ProductOfOne(const Polynomial& p) {
    if (p.monomials().size() != 1 || !(p.constant_term() == Rational(-1)) ||
        !p.monomials()[0].coefficient.IsOne()) {
      return {};
    }
    Substitution ones;
    for (const Factor& f : p.monomials()[0].factors) {
      if (f.power < 0) return {};
      if (!facts_.NonNegative(DimExpr(Polynomial(f.atom)))) return {};
      if (f.atom.is_symbol()) ones[f.atom.name()] = 1;
    }
    return ones;
  }

  // Splits the indices that quotients take apart.
  Sum SplitIndices(Sum s, std::set<std::string>& vars) {
    for (int round = 0; round < kMaxSplits; ++round) {
      for (const std::string& var : SingleValued(vars)) {
        s = Substitute(s, {{var, 0}});
        facts_.Add({Obligation::kZero, DimExpr::Symbol(var)});
        vars.erase(var);
      }
      s = MapExprs(s,
                   [&](const DimExpr& e) { return FoldQuotients(e, facts_); });
      std::optional<SplitVariable> split;
      MapExprs(s, [&](const DimExpr& e) {
        if (!split) split = FindSplit(e, vars);
        return e;
      });
      if (!split) return s;
      const std::string q = names_.Fresh(), r = names_.Fresh();
      const DimExpr quotient = DimExpr::Symbol(q), rest = DimExpr::Symbol(r);
      const DimExpr value = split->by * quotient + rest;
      facts_.AddNonNegative(quotient);
      facts_.AddNonNegative(rest);
      facts_.AddNonNegative(split->by - 1 - rest);
      facts_.Add({Obligation::kZero, DimExpr::Symbol(split->var) - value});
      AddQuotientBound(split->var, split->by, quotient);
      vars.erase(split->var);
      vars.insert(q);
      vars.insert(r);
      s = Substitute(s, {{split->var, value}});
    }
    return s;
  }

  // Indices of dimensions of size 1.
  std::vector<std::string> SingleValued(const std::set<std::string>& vars) {
    std::vector<std::string> out;
    for (const std::string& var : vars) {
      auto it = sizes_.find(var);
      if (it != sizes_.end() && facts_.Zero(it->second - 1)) out.push_back(var);
    }
    return out;
  }

  // var < size, where size is a multiple of by: quotient < size / by.
  void AddQuotientBound(const std::string& var, const DimExpr& by,
                        const DimExpr& quotient) {
    auto it = sizes_.find(var);
    if (it == sizes_.end()) return;
    const DimExpr count = FloorDiv(it->second, by);
    if (!(count * by == it->second)) return;
    facts_.AddNonNegative(count - 1 - quotient);
    sizes_[quotient.ToString()] = count;
  }

  // What is left of a sum that is not shown to be 0.
  std::optional<std::string> ProveZero(Sum s, std::set<std::string> vars,
                                       int depth) {
    if (depth == 0) {
      s = NormalizeLightly(s);
      if (s.empty()) return std::nullopt;
    }
    // Quotients that are the same on both sides need not be taken apart.
    s = Normalize(s, context_);
    if (s.empty()) return std::nullopt;
    const std::set<std::string> before = vars;
    s = SplitIndices(std::move(s), vars);
    if (vars != before) s = Normalize(s, context_);
    if (s.empty()) return std::nullopt;
    if (facts_.effort().exhausted()) return std::string(kLimitsReached);
    const auto open = OpenCondition(s, facts_);
    if (!open) {
      const Substitution fixed = Determined(vars);
      if (fixed.empty()) return OnEachValue(s, vars, depth);
      for (const auto& [var, value] : fixed) vars.erase(var);
      return ProveZero(Substitute(s, fixed), vars, depth + 1);
    }
    if (depth >= kMaxSplits) return Stuck(s);
    std::vector<Obligation> branches = {*open};
    if (open->kind == Obligation::kZero) {
      branches.push_back({Obligation::kNonNegative, open->expr - 1});
    }
    branches.push_back({Obligation::kNonNegative, -open->expr - 1});
    for (const Obligation& branch : branches) {
      Facts::Scope scope(facts_);
      facts_.Add(branch);
      if (auto left = OnBranch(s, branch, vars, depth + 1)) return left;
    }
    return std::nullopt;
  }

  // An index that an equation gives is replaced by what it is: on the diagonal,
  // w[i, j] and w[j, i] are the same.
  std::optional<std::string> OnBranch(const Sum& s, const Obligation& branch,
                                      std::set<std::string> vars, int depth) {
    if (branch.kind == Obligation::kZero) {
      const auto given = SolveForSymbol(branch.expr);
      if (given && vars.erase(given->first) > 0) {
        return ProveZero(Substitute(s, {*given}), vars, depth);
      }
    }
    return ProveZero(s, vars, depth);
  }

  // Goes on at each value of an index that has few, as which of two groups a
  // channel is in.
  std::optional<std::string> OnEachValue(const Sum& s,
                                         std::set<std::string> vars,
                                         int depth) {
    const auto few = FewValued(s, vars);
    if (!few || depth >= kMaxSplits) return Stuck(s);
    const auto& [var, values] = *few;
    vars.erase(var);
    for (int64_t value = 0; value < values; ++value) {
      Facts::Scope scope(facts_);
      facts_.Add({Obligation::kZero, DimExpr::Symbol(var) - value});
      if (auto left = ProveZero(Substitute(s, {{var, value}}), vars, depth + 1))
        return left;
    }
    return std::nullopt;
  }

  // The index of fewest values that the sum speaks of, and how many they are.
  std::optional<std::pair<std::string, int64_t>> FewValued(
      const Sum& s, const std::set<std::string>& vars) const {
    std::set<std::string> symbols;
    FreeSymbols(s, symbols);
    std::optional<std::pair<std::string, int64_t>> out;
    for (const std::string& var : vars) {
      const auto size = sizes_.find(var);
      if (size == sizes_.end() || symbols.count(var) == 0) continue;
      const auto count = size->second.constant();
      if (!count || *count > kMaxValues) continue;
      if (!out || *count < out->second) out = {var, *count};
    }
    return out;
  }

  // Indices that the facts of a branch leave one value.
  Substitution Determined(const std::set<std::string>& vars) {
    Substitution out;
    for (const std::string& var : vars) {
      if (auto value = facts_.OnlyValue(var)) out[var] = *value;
    }
    return out;
  }

  // The last resorts: common denominators, and a branch that cannot be.
  std::optional<std::string> Stuck(Sum s) {
    const std::string left = KeyOf(s);
    for (int round = 0; round < 4; ++round) {
      LeafPtr inverse;
      for (const Term& t : s) {
        for (const Power& p : t.factors) {
          if (p.leaf->kind != Leaf::Kind::kInverse) continue;
          std::set<std::string> symbols;
          FreeSymbols(*p.leaf, symbols);
          bool local = false;
          for (const Bound& b : t.bound) local |= symbols.count(b.var) > 0;
          if (!local) inverse = p.leaf;
        }
      }
      if (!inverse) break;
      s = Normalize(Cleared(s, *inverse), context_);
      if (s.empty()) return std::nullopt;
    }
    if (facts_.Contradictory()) return std::nullopt;
    if (context_.ordered.size() < kMaxOrders) {
      if (auto difference = OpenOrder(s)) {
        return OnOrder(s, Normalize(*difference, context_), left);
      }
    }
    return Shortened(left);
  }

  // Goes on with either of two values as the greater one.
  std::optional<std::string> OnOrder(const Sum& s, const Sum& difference,
                                     const std::string& left) {
    context_.axioms.insert(FactText(ScalarFact::kMaxOrdered));
    for (int sign : {1, -1}) {
      context_.ordered.push_back(Scale(difference, Polynomial(sign)));
      const Sum rest = Normalize(s, context_);
      const bool shown = rest.empty() || !Stuck(rest);
      context_.ordered.pop_back();
      if (!shown) return Shortened(left);
    }
    return std::nullopt;
  }

  // The sum times what `inverse` is the inverse of.
  Sum Cleared(const Sum& s, const Leaf& inverse) {
    const std::string key = KeyOf(inverse);
    Sum out;
    for (Term t : s) {
      auto factor =
          std::find_if(t.factors.begin(), t.factors.end(), [&](const Power& p) {
            return p.power >= 1 && KeyOf(*p.leaf) == key;
          });
      if (factor == t.factors.end()) {
        out = Add(std::move(out), Multiply({t}, inverse.args[0], names_));
        continue;
      }
      if (--factor->power == 0) t.factors.erase(factor);
      out.push_back(std::move(t));
    }
    return out;
  }

  // ---- Definedness

  void AppendDemands(const Sum& side, const std::vector<Bound>& index,
                     Sum& out) {
    DemandFinder finder;
    finder.Find(side);
    for (Term& t : finder.Take()) {
      t.bound.insert(t.bound.end(), index.begin(), index.end());
      out.push_back(std::move(t));
    }
  }

  std::optional<std::string> Definedness(const Sum& source, const Sum& target) {
    Sum open;
    for (const Term& t : target) {
      if (!Met(t)) open.push_back(t);
    }
    if (open.empty()) return std::nullopt;
    std::set<std::string> granted;
    for (const Term& t : DemandTerms(source)) granted.insert(KeyOf(t).Text());
    for (const Term& t : DemandTerms(open)) {
      if (Met(t) || granted.count(KeyOf(t).Text())) continue;
      return absl::StrCat("the target needs ", Shortened(KeyOf(t).Text()),
                          ", which the source does not");
    }
    return std::nullopt;
  }

  // Demands in normal form; a demand on a product is one on each factor.
  Sum DemandTerms(const Sum& demands) {
    Sum out;
    for (Term& t : Normalize(Unsigned(demands), context_)) {
      t.coefficient = 1;
      if (t.factors.size() != 1 || t.factors[0].leaf->name != "nonzero") {
        out.push_back(std::move(t));
        continue;
      }
      for (Sum& part : Factors(t.factors[0].leaf->args[0])) {
        t.factors[0].leaf = std::make_shared<const Leaf>(
            Leaf{Leaf::Kind::kFunction, "nonzero", {}, {std::move(part)}});
        out.push_back(t);
      }
    }
    return out;
  }

  // The factors of a sum that are 0 somewhere if it is; signs do not matter.
  static std::vector<Sum> Factors(const Sum& s) {
    if (s.size() == 1 && s[0].bound.empty() && s[0].guards.empty() &&
        !s[0].factors.empty()) {
      std::vector<Sum> out = {NumberSum(s[0].coefficient)};
      for (const Power& p : s[0].factors) {
        if (p.power > 0) out.push_back(LeafSum(*p.leaf));
      }
      return out;
    }
    const Sum negative = Scale(s, Polynomial(-1));
    return {KeyOf(s) < KeyOf(negative) ? s : negative};
  }

  // Terms are sets here, not sums: none may cancel another.
  static Sum Unsigned(Sum s) {
    for (Term& t : s) t.coefficient = 1;
    return s;
  }

  bool Met(const Term& t) {
    if (t.factors.size() != 1) return false;
    Facts::Scope scope(facts_);
    AddTermFacts(t.bound, t.guards, facts_);
    const Leaf& leaf = *t.factors[0].leaf;
    if (leaf.args.empty()) return false;
    const Sum& s = leaf.args[0];
    if (leaf.name == "nonzero") return IsNonZero(s, context_);
    if (leaf.name == "atleast0" && s.empty()) return true;
    return IsPositive(s, context_);
  }

  const CaseView& view_;
  EqualCases* const equal_;
  const int64_t steps_before_;
  Names names_;
  Facts facts_;
  NormalContext context_;
  std::vector<Sides> outputs_;
  bool differ_ = false;
  Substitution solved_;                   // by the equations of the case
  std::map<std::string, DimExpr> sizes_;  // of index variables
};

}  // namespace

Proof Prove(const ir::Rule& rule, const ProveOptions& options) {
  Proof proof;
  Effort effort{.record = options.record,
                .deadline = absl::Now() + options.time,
                .steps_left = options.steps};
  EqualCases* const equal = options.record ? nullptr : options.equal;
  std::set<std::string> axioms;
  for (const ir::RuleVariable& v : rule.attrs()) {
    if (v.kind == AttrKind::kFloats) {
      proof.reason = absl::StrCat("variable ", v.name, " is a list of floats");
      return proof;
    }
  }
  for (const ir::RuleCase& c : rule.cases()) {
    ++proof.cases;
    const CaseView view = ViewOf(rule, c);
    std::optional<std::string> why;
    // The solver is slow, and hardly ever needed: it has a second turn.
    for (bool solver : {false, true}) {
      if (solver && !options.solver) break;
      effort.solver = solver ? options.solver : nullptr;
      CaseProver prover(view, effort, equal);
      why = prover.Run();
      proof.differ = prover.differ();
      axioms.insert(prover.axioms().begin(), prover.axioms().end());
      if (!why) break;
    }
    if (why) {
      proof.reason = absl::StrCat("case ", proof.cases, ": ", *why);
      proof.solver_calls = effort.solver_calls;
      return proof;
    }
  }
  proof.proved = true;
  proof.facts.assign(axioms.begin(), axioms.end());
  proof.solver_calls = effort.solver_calls;
  proof.settled = std::move(effort.settled);
  return proof;
}

}  // namespace isomer::verify
