// A tensor is a constant or variable of sort T with (rank t) and (dim t i). An
// operator with its number of operands, words and lengths of lists is one
// function; integers are its last arguments.
#include "verify/axioms.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "ops/status.h"
#include "verify/smt_text.h"

namespace isomer::verify {

namespace {

using ir::RuleNode;
using ir::RuleOperand;
using ir::RuleSide;

constexpr char kPreamble[] =
    "(declare-sort T 0)\n(declare-fun rank (T) Int)\n"
    "(declare-fun dim (T Int) Int)\n";
constexpr int kMaxSteps = 3;  // from the functions of a rule to an axiom

std::string And(const std::vector<std::string>& parts) {
  return SmtNested("and", parts, "true");
}

std::string Equal(const std::string& a, const std::string& b) {
  return absl::StrCat("(= ", a, " ", b, ")");
}

std::string AtLeast(const std::string& a, int64_t b) {
  return absl::StrCat("(>= ", a, " ", b, ")");
}

std::string DimOf(const std::string& tensor, int d) {
  return absl::StrCat("(dim ", tensor, " ", d, ")");
}

// One case of a rule as text. Sizes of variables are (dim t i) where a symbol
// stands for them; other symbols are integers with names.
class CaseText {
 public:
  CaseText(const ir::Rule& rule, const ir::RuleCase& c)
      : rule_(rule), case_(c), arithmetic_([this](const std::string& symbol) {
          return SymbolText(symbol);
        }) {
    for (size_t v = 0; v < c.tensors.size(); ++v) {
      const std::string tensor = absl::StrCat("t", v);
      assumed_.push_back(Equal(absl::StrCat("(rank ", tensor, ")"),
                               absl::StrCat(c.tensors[v].rank())));
      for (int d = 0; d < c.tensors[v].rank(); ++d) {
        const auto atom = c.tensors[v].shape[d].polynomial().atom();
        if (atom && atom->is_symbol()) {
          sizes_.emplace(atom->name(), DimOf(tensor, d));
        }
      }
    }
    for (size_t v = 0; v < c.tensors.size(); ++v) {
      for (int d = 0; d < c.tensors[v].rank(); ++d) {
        const std::string size = DimOf(absl::StrCat("t", v), d);
        const std::string term = Term(c.tensors[v].shape[d]);
        if (term != size) assumed_.push_back(Equal(size, term));
        assumed_.push_back(AtLeast(size, 1));
      }
    }
    for (const Obligation& f : c.facts) {
      assumed_.push_back(arithmetic_.Relation(f));
    }
    for (const ir::RuleCondition& w : rule.where()) {
      // Facts do not hold !=, and nothing here speaks of values.
      if (w.kind == ir::RuleCondition::Kind::kNe ||
          w.kind == ir::RuleCondition::Kind::kPositive ||
          w.kind == ir::RuleCondition::Kind::kFinite) {
        said_ = false;
      }
    }
    for (const ir::RuleVariable& v : rule.attrs()) {
      if (v.chosen()) said_ = false;
    }
  }

  // The outputs of a side as terms. In a pattern an integer is a variable, or
  // becomes one that is equal to what stands there.
  std::vector<std::string> Outputs(bool target, bool pattern) {
    const RuleSide& side = target ? rule_.target() : rule_.source();
    const auto& typed = target ? case_.target : case_.source;
    std::vector<std::string> out;
    for (RuleOperand o : side.outputs) {
      out.push_back(Node(side, typed, o, pattern));
    }
    return out;
  }

  // What is known of the types of the nodes of a side.
  std::vector<std::string> Types(bool target) {
    const RuleSide& side = target ? rule_.target() : rule_.source();
    const auto& typed = target ? case_.target : case_.source;
    std::vector<std::string> out;
    for (size_t k = 0; k < side.nodes.size(); ++k) {
      if (side.nodes[k].kind == RuleNode::Kind::kVariable) continue;
      for (size_t o = 0; o < typed[k].types.size(); ++o) {
        const std::string node = Node(
            side, typed, {static_cast<int>(k), static_cast<int>(o)}, false);
        const SymType& type = typed[k].types[o];
        out.push_back(Equal(absl::StrCat("(rank ", node, ")"),
                            absl::StrCat(type.rank())));
        for (int d = 0; d < type.rank(); ++d) {
          out.push_back(Equal(DimOf(node, d), Term(type.shape[d])));
        }
      }
    }
    return out;
  }

  const std::vector<std::string>& assumed() const { return assumed_; }
  // Names with their sorts; those of integers that are not sizes come last.
  std::vector<std::pair<std::string, std::string>> Names() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (size_t v = 0; v < case_.tensors.size(); ++v) {
      out.emplace_back(absl::StrCat("t", v), "T");
    }
    for (const auto& [symbol, name] : integers_) out.emplace_back(name, "Int");
    for (const std::string& name : fresh_) out.emplace_back(name, "Int");
    for (const auto& [variable, name] : reals_) out.emplace_back(name, "Real");
    return out;
  }
  const SmtFunctions& functions() const { return functions_; }
  bool said() const { return said_ && arithmetic_.integral(); }

 private:
  std::string Term(const DimExpr& e) { return arithmetic_.Term(e); }

  std::string SymbolText(const std::string& symbol) {
    if (auto it = sizes_.find(symbol); it != sizes_.end()) return it->second;
    return integers_.emplace(symbol, absl::StrCat("i", integers_.size()))
        .first->second;
  }

  std::string Node(const RuleSide& side,
                   const std::vector<ir::TypedNode<DimExpr>>& typed,
                   RuleOperand o, bool pattern) {
    const RuleNode& n = side.nodes[o.node];
    if (n.kind == RuleNode::Kind::kVariable) {
      return absl::StrCat("t", n.variable);
    }
    std::string name, sorts;
    std::vector<std::string> args;
    if (n.kind == RuleNode::Kind::kLiteral) {
      name = absl::StrCat("number:", typed[o.node].types[0].rank());
      args.push_back(Number(n.literal));
      sorts = "Real";
      for (const DimExpr& d : typed[o.node].types[0].shape) {
        AddInteger(d, pattern, args, sorts);
      }
    } else {
      name = absl::StrCat(n.op->name, ":", o.output, ":", n.inputs.size());
      for (RuleOperand in : n.inputs) {
        args.push_back(Node(side, typed, in, pattern));
        absl::StrAppend(&sorts, "T ");
      }
      for (const auto& [attr, value] : typed[o.node].attrs.entries()) {
        AddAttr(n, attr, value, pattern, name, args, sorts);
      }
    }
    // What holds for real numbers need not hold for integers.
    for (const SymType& t : typed[o.node].types) AddType(t, name);
    for (RuleOperand in : n.inputs)
      AddType(typed[in.node].types[in.output], name);
    name = absl::StrCat("|", name, "|");
    functions_[name] =
        absl::StrCat("(declare-fun ", name, " (", sorts, ") T)\n");
    if (args.empty()) return name;
    return absl::StrCat("(", name, " ", absl::StrJoin(args, " "), ")");
  }

  void AddType(const SymType& type, std::string& name) {
    if (type.dtype != DType::kF32) {
      absl::StrAppend(&name, ":", DTypeName(type.dtype));
    }
    if (!type.device.empty()) said_ = false;
  }

  void AddInteger(const DimExpr& e, bool pattern,
                  std::vector<std::string>& args, std::string& sorts) {
    absl::StrAppend(&sorts, " Int");
    std::string term = Term(e);
    const auto atom = e.polynomial().atom();
    if (!pattern || e.constant() ||
        (atom && atom->is_symbol() && !sizes_.count(atom->name()))) {
      args.push_back(std::move(term));
      return;
    }
    fresh_.push_back(absl::StrCat("f", fresh_.size()));
    assumed_.push_back(Equal(fresh_.back(), term));
    args.push_back(fresh_.back());
  }

  void AddAttr(const RuleNode& n, const std::string& attr, const SymAttr& value,
               bool pattern, std::string& name, std::vector<std::string>& args,
               std::string& sorts) {
    if (const auto* one = std::get_if<DimExpr>(&value)) {
      AddInteger(*one, pattern, args, sorts);
    } else if (const auto* many = std::get_if<std::vector<DimExpr>>(&value)) {
      absl::StrAppend(&name, ":", many->size());
      for (const DimExpr& e : *many) AddInteger(e, pattern, args, sorts);
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      absl::StrAppend(&name, ":", *word);
    } else if (const auto* dtype = std::get_if<DType>(&value)) {
      absl::StrAppend(&name, ":", DTypeName(*dtype));
    } else if (const auto* real = std::get_if<double>(&value)) {
      const ir::RuleAttr* given = nullptr;
      for (const ir::RuleAttr& a : n.attrs) {
        if (n.op->attrs[a.spec].name == attr) given = &a;
      }
      args.push_back(given ? Number(given->value) : Real(*real));
      absl::StrAppend(&sorts, " Real");
    } else {
      said_ = false;
    }
  }

  std::string Real(double value) {
    const Rational r = Rational::FromDouble(value);
    if (!r.ok()) {
      said_ = false;
      return "0.0";
    }
    const auto text = [](int64_t n) {
      return n < 0 ? absl::StrCat("(- ", absl::StrCat(n).substr(1), ".0)")
                   : absl::StrCat(n, ".0");
    };
    return absl::StrCat("(/ ", text(r.num()), " ", text(r.den()), ")");
  }

  // A floating-point value: a number or a variable; nothing else is said.
  std::string Number(const ir::ValueExpr& v) {
    using Kind = ir::ValueExpr::Kind;
    if (v.kind == Kind::kFloat) return Real(v.real);
    if (v.kind == Kind::kInteger) return Real(static_cast<double>(v.integer));
    if (v.kind == Kind::kName && v.variable >= 0 &&
        rule_.attrs()[v.variable].kind == AttrKind::kFloat) {
      return reals_.emplace(v.variable, absl::StrCat("r", v.variable))
          .first->second;
    }
    said_ = false;
    return "0.0";
  }

  const ir::Rule& rule_;
  const ir::RuleCase& case_;
  SmtArithmetic arithmetic_;
  std::map<std::string, std::string> sizes_;     // symbols that are sizes
  std::map<std::string, std::string> integers_;  // other symbols
  std::map<int, std::string> reals_;             // by attribute variable
  std::vector<std::string> fresh_;
  std::vector<std::string> assumed_;
  SmtFunctions functions_;
  bool said_ = true;
};

// True if every name stands in the pattern, without which a solver cannot
// instantiate the statement.
bool Bound(const std::vector<std::pair<std::string, std::string>>& names,
           const std::string& pattern) {
  // Names stand between spaces and brackets.
  const std::string words =
      absl::StrCat(absl::StrReplaceAll(pattern, {{"(", " "}, {")", " "}}), " ");
  for (const auto& [name, sort] : names) {
    if (words.find(absl::StrCat(" ", name, " ")) == std::string::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace

AxiomSet::AxiomSet(absl::Span<const ir::Rule> rules) {
  for (const ir::Rule& rule : rules) {
    bool any = false;
    for (const ir::RuleCase& c : rule.cases()) {
      CaseText text(rule, c);
      const std::vector<std::string> left = text.Outputs(false, true);
      Axiom axiom;
      for (const auto& [name, declaration] : text.functions()) {
        axiom.needed.insert(name);
      }
      const std::vector<std::string> right = text.Outputs(true, false);
      std::vector<std::string> follows;
      for (size_t i = 0; i < left.size(); ++i) {
        follows.push_back(Equal(left[i], right[i]));
      }
      for (std::string& t : text.Types(true)) follows.push_back(std::move(t));
      const std::string pattern = absl::StrJoin(left, " ");
      if (!text.said() || axiom.needed.empty() ||
          !Bound(text.Names(), pattern)) {
        continue;
      }
      std::string names;
      for (const auto& [name, sort] : text.Names()) {
        absl::StrAppend(&names, "(", name, " ", sort, ")");
      }
      axiom.text = absl::StrCat("(assert (forall (", names, ") (! (=> ",
                                And(text.assumed()), " ", And(follows),
                                ") :pattern (", pattern, "))))\n");
      axiom.functions = text.functions();
      axioms_.push_back(std::move(axiom));
      any = true;
    }
    if (!any) unsaid_.push_back(rule.name());
  }
}

std::string AxiomSet::Question(const ir::Rule& rule,
                               const ir::RuleCase& c) const {
  CaseText text(rule, c);
  const std::vector<std::string> left = text.Outputs(false, false);
  const std::vector<std::string> right = text.Outputs(true, false);
  std::vector<std::string> body = text.Types(false), equal;
  for (std::string& t : text.Types(true)) body.push_back(std::move(t));
  for (size_t i = 0; i < left.size(); ++i) {
    equal.push_back(Equal(left[i], right[i]));
  }
  if (!text.said()) return "";
  SmtFunctions functions = text.functions();
  std::vector<bool> taken(axioms_.size());
  for (int step = 0; step < kMaxSteps; ++step) {
    const SmtFunctions before = functions;
    for (size_t i = 0; i < axioms_.size(); ++i) {
      if (taken[i]) continue;
      bool matches = true;
      for (const std::string& f : axioms_[i].needed) {
        matches = matches && before.count(f) > 0;
      }
      if (!matches) continue;
      taken[i] = true;
      functions.insert(axioms_[i].functions.begin(),
                       axioms_[i].functions.end());
    }
  }
  std::string out = kPreamble;
  for (const auto& [name, declaration] : functions) {
    absl::StrAppend(&out, declaration);
  }
  for (const auto& [name, sort] : text.Names()) {
    absl::StrAppend(&out, "(declare-const ", name, " ", sort, ")\n");
  }
  for (const std::string& a : text.assumed()) {
    absl::StrAppend(&out, "(assert ", a, ")\n");
  }
  for (const std::string& t : body) {
    absl::StrAppend(&out, "(assert ", t, ")\n");
  }
  for (size_t i = 0; i < axioms_.size(); ++i) {
    if (taken[i]) absl::StrAppend(&out, axioms_[i].text);
  }
  absl::StrAppend(&out, "(assert (not ", And(equal), "))\n");
  return out;
}

AxiomAnswer AskFromAxioms(const ir::Rule& rule, const AxiomSet& axioms,
                          const SmtSolver& solver, absl::Time deadline) {
  AxiomAnswer answer{static_cast<int>(rule.cases().size()), 0};
  for (const ir::RuleCase& c : rule.cases()) {
    if (!solver || absl::Now() > deadline) break;
    const std::string question = axioms.Question(rule, c);
    if (question.empty() || solver(question) != SmtAnswer::kUnsat) break;
    ++answer.proved;
  }
  return answer;
}

AxiomSet AllAxioms(const Registry& registry) {
  std::vector<ir::Rule> rules;
  if (auto set = ir::ReadRules(AxiomRules(), registry); set.ok()) {
    rules = std::move(set->rules);
  }
  const auto add = [&](const std::string& text) {
    auto read = ir::ReadRuleBody(text, registry);
    if (!read.ok()) return;
    for (ir::Rule& rule : *read) rules.push_back(std::move(rule));
  };
  for (const OpDef* op : registry.all()) {
    for (const std::string& axiom : op->axioms) add(axiom);
    if (!op->expansion.empty()) add(op->expansion);
  }
  return AxiomSet(rules);
}

}  // namespace isomer::verify
