// Steps become calls from the outputs down. A step that several others use, or
// that has several outputs in use, is written once.
#include "xfer_gen/side_text.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "ops/status.h"

namespace isomer::gen {

namespace {

using ir::ExprSyntax;
using ir::ValueSyntax;

ValueSyntax Number(int64_t n) {
  return {.kind = ValueSyntax::Kind::kInteger, .integer = n};
}

ValueSyntax Literal(const Attr& attr) {
  if (const int64_t* n = std::get_if<int64_t>(&attr)) return Number(*n);
  if (const double* x = std::get_if<double>(&attr)) {
    if (*x == static_cast<int64_t>(*x)) {
      return Number(static_cast<int64_t>(*x));
    }
    return {.kind = ValueSyntax::Kind::kFloat, .real = *x};
  }
  if (const std::string* s = std::get_if<std::string>(&attr)) {
    return {.kind = ValueSyntax::Kind::kName, .name = *s};
  }
  if (const DType* t = std::get_if<DType>(&attr)) {
    return {.kind = ValueSyntax::Kind::kName,
            .name = std::string(DTypeName(*t))};
  }
  ValueSyntax list{.kind = ValueSyntax::Kind::kList};
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&attr)) {
    for (int64_t n : *ints) list.args.push_back(Number(n));
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&attr)) {
    for (double x : *reals) list.args.push_back(Literal(Attr(x)));
  }
  return list;
}

// Which parameter of a template a node is, or -1.
int ParamOf(const Template& tmpl, const ir::RuleNode& n) {
  if (n.kind != ir::RuleNode::Kind::kVariable) return -1;
  return static_cast<int>(std::find(tmpl.param_variables.begin(),
                                    tmpl.param_variables.end(), n.variable) -
                          tmpl.param_variables.begin());
}

bool NamesDim(const ir::ValueExpr& v) {
  return v.kind == ValueSyntax::Kind::kDim || absl::c_any_of(v.args, NamesDim);
}

// A value made of numbers and sizes of operands, `name(k)` that of operand k;
// nothing if it has other parts.
std::optional<ValueSyntax> SizesText(
    const Template& tmpl, const ir::ValueExpr& v,
    absl::FunctionRef<std::string(size_t)> name) {
  using Kind = ValueSyntax::Kind;
  ValueSyntax out{.kind = v.kind, .integer = v.integer};
  if (v.kind == Kind::kDim) {
    const int k = ParamOf(tmpl, tmpl.side.nodes[v.tensor.node]);
    if (k < 0) return std::nullopt;
    out.name = name(static_cast<size_t>(k));
  } else if (v.kind != Kind::kInteger && v.kind != Kind::kList &&
             (v.kind < Kind::kAdd || v.kind > Kind::kNegate)) {
    return std::nullopt;
  }
  for (const ir::ValueExpr& a : v.args) {
    auto part = SizesText(tmpl, a, name);
    if (!part) return std::nullopt;
    out.args.push_back(*std::move(part));
  }
  return out;
}

// Whether an attribute is a shape given by sizes of operands.
bool IsBySizes(const Template& tmpl, const ir::RuleNode& n,
               const ir::RuleAttr& a) {
  return n.op->attrs[a.spec].name == "shape" && NamesDim(a.value) &&
         SizesText(tmpl, a.value, [](size_t) { return std::string(); });
}

// The attributes that the template gives. One axis is written `axis`, and
// the other lists of the call then as numbers.
void AddAttrs(const ir::RuleNode& n, const Attrs& typed, ExprSyntax& e) {
  bool one_axis = false;
  for (const ir::RuleAttr& a : n.attrs) {
    const std::string& name = n.op->attrs[a.spec].name;
    const auto* list = std::get_if<std::vector<int64_t>>(typed.Find(name));
    one_axis = one_axis || (name == "axes" && list && list->size() == 1);
  }
  for (const ir::RuleAttr& a : n.attrs) {
    const std::string& name = n.op->attrs[a.spec].name;
    const Attr& value = *typed.Find(name);
    const auto* list = std::get_if<std::vector<int64_t>>(&value);
    if (one_axis && list != nullptr && list->size() == 1) {
      e.attrs.push_back({name == "axes" ? "axis" : name, Number((*list)[0])});
    } else {
      e.attrs.push_back({name, Literal(value)});
    }
  }
}

// Puts the sizes of operands, which have names, into the shapes of a call.
void NameSizes(const Template& tmpl, const ir::RuleNode& n,
               absl::FunctionRef<ExprSyntax(size_t)> operand, ExprSyntax& e) {
  for (size_t i = 0; i < n.attrs.size(); ++i) {
    if (!IsBySizes(tmpl, n, n.attrs[i])) continue;
    e.attrs[i].value = *SizesText(tmpl, n.attrs[i].value,
                                  [&](size_t k) { return operand(k).name; });
  }
}

// A node of a template's side; `operand(k)` gives what stands for operand k.
ExprSyntax NodeOf(const Template& tmpl, const Instance& instance,
                  ir::RuleOperand o, ShapeText shapes,
                  absl::FunctionRef<ExprSyntax(size_t)> operand) {
  const ir::RuleNode& n = tmpl.side.nodes[o.node];
  if (n.kind == ir::RuleNode::Kind::kVariable) {
    return operand(static_cast<size_t>(ParamOf(tmpl, n)));
  }
  if (n.kind == ir::RuleNode::Kind::kLiteral) {
    const double value = n.literal.kind == ValueSyntax::Kind::kFloat
                             ? n.literal.real
                             : static_cast<double>(n.literal.integer);
    return {.kind = ExprSyntax::Kind::kNumber, .number = value};
  }
  ExprSyntax e{
      .kind = ExprSyntax::Kind::kCall, .name = n.op->name, .output = o.output};
  for (const ir::RuleOperand& in : n.inputs) {
    e.args.push_back(NodeOf(tmpl, instance, in, shapes, operand));
  }
  AddAttrs(n, instance.typing[o.node].attrs, e);
  if (shapes == ShapeText::kSizes) NameSizes(tmpl, n, operand, e);
  return e;
}

class Writer {
 public:
  Writer(const Dag& dag, DagValues& values,
         const std::map<TensorId, std::string>& names, ShapeText shapes)
      : dag_(dag), values_(values), names_(names), shapes_(shapes) {}

  ir::SideSyntax Run(absl::Span<const TensorId> outputs) {
    for (TensorId t : outputs) Count(t);
    ir::SideSyntax side;
    for (TensorId t : outputs) side.outputs.push_back(Tensor(t, side));
    return side;
  }

 private:
  // Counts how often each tensor is used, below what has a name.
  void Count(TensorId t) {
    if (++uses_[t] > 1 || names_.contains(t) || dag_.IsLeaf(t)) return;
    const DagStep& step = dag_.step(dag_.step_of(t));
    const Template& tmpl = TemplateOf(step);
    // An operand that the template names twice is used twice, one whose other
    // outputs are in use too counts again, and so does one whose sizes are
    // named, which takes a name.
    for (int k = 0; k < step.arity; ++k) {
      const int times = static_cast<int>(Mentions(tmpl, t - step.first, k));
      for (int i = 0; i < times; ++i) Count(step.operands[k]);
    }
  }

  const Template& TemplateOf(const DagStep& step) const {
    return values_.world().preset().templates[step.tmpl];
  }

  // How often output `output` of a template names operand k.
  int64_t Mentions(const Template& t, int64_t output, int k) const {
    auto count = [&](auto& self, ir::RuleOperand o) -> int64_t {
      const ir::RuleNode& n = t.side.nodes[o.node];
      if (n.kind == ir::RuleNode::Kind::kVariable) {
        return n.variable == t.param_variables[k];
      }
      int64_t sum = 0;
      for (const ir::RuleAttr& a : n.attrs) {
        if (shapes_ == ShapeText::kNumbers || !IsBySizes(t, n, a)) continue;
        SizesText(t, a.value, [&](size_t named) {
          sum += named == static_cast<size_t>(k);
          return std::string();
        });
      }
      for (const ir::RuleOperand& in : n.inputs) sum += self(self, in);
      return sum;
    };
    return count(count, t.side.outputs[output]);
  }

  // What names of `let` begin with: not the name of a class, whose leaves are
  // named that and a number too.
  std::string LetPrefix() const {
    std::string prefix = "t";
    for (const LeafClass& c : values_.world().preset().leaves) {
      if (c.name == prefix) prefix += "t";
    }
    return prefix;
  }

  ExprSyntax Tensor(TensorId t, ir::SideSyntax& side) {
    if (auto it = names_.find(t); it != names_.end()) {
      return {.name = it->second};
    }
    if (auto it = lets_.find(t); it != lets_.end()) return {.name = it->second};
    const uint32_t s = dag_.step_of(t);
    const DagStep& step = dag_.step(s);
    const Template& tmpl = TemplateOf(step);
    const Instance* instance = values_.InstanceOf(s);
    ExprSyntax e =
        NodeOf(tmpl, *instance, tmpl.side.outputs[t - step.first], shapes_,
               [&](size_t k) { return Tensor(step.operands[k], side); });
    if (uses_[t] < 2) return e;
    ir::BinderSyntax let;
    let.name = absl::StrCat(LetPrefix(), lets_.size() + 1);
    let.value = std::move(e);
    lets_[t] = let.name;
    side.binders.push_back(std::move(let));
    return {.name = lets_[t]};
  }

  const Dag& dag_;
  DagValues& values_;
  const std::map<TensorId, std::string>& names_;
  const ShapeText shapes_;
  std::map<TensorId, int> uses_;
  std::map<TensorId, std::string> lets_;
};

template <class V, class F>
void ForEachDim(V& v, const F& f) {
  if (v.kind == ValueSyntax::Kind::kDim) f(v.name);
  for (auto& a : v.args) ForEachDim(a, f);
}

// Calls `f` for the names of all variables, in attributes after they are used;
// E is ExprSyntax, S is SideSyntax, const or not.
template <class E, class F>
void ForEachVariableOf(E& e, const F& f) {
  if (e.kind == ExprSyntax::Kind::kVariable) f(e.name);
  for (auto& a : e.args) ForEachVariableOf(a, f);
  for (auto& a : e.attrs) ForEachDim(a.value, f);
}

template <class S, class F>
void ForEachVariable(S& side, const F& f) {
  for (auto& b : side.binders) ForEachVariableOf(b.value, f);
  for (auto& e : side.outputs) ForEachVariableOf(e, f);
}

}  // namespace

bool GivesSizes(const Template& tmpl) {
  return absl::c_any_of(tmpl.side.nodes, [&](const ir::RuleNode& n) {
    return absl::c_any_of(
        n.attrs, [&](const ir::RuleAttr& a) { return IsBySizes(tmpl, n, a); });
  });
}

ir::SideSyntax SideOf(const Dag& dag, DagValues& values,
                      absl::Span<const TensorId> outputs,
                      const std::map<TensorId, std::string>& names,
                      ShapeText shapes) {
  return Writer(dag, values, names, shapes).Run(outputs);
}

StepText TextOf(const Template& tmpl, const Instance& instance, int output) {
  StepText out;
  out.text =
      ir::PrintExpr(NodeOf(tmpl, instance, tmpl.side.outputs[output],
                           ShapeText::kNumbers, [&](size_t k) {
                             out.operands |= 1u << k;
                             return ExprSyntax{.name = absl::StrCat("#", k)};
                           }));
  return out;
}

std::vector<std::string> VariablesOf(const ir::SideSyntax& side) {
  std::set<std::string> lets;
  for (const ir::BinderSyntax& b : side.binders) lets.insert(b.name);
  std::vector<std::string> out;
  ForEachVariable(side, [&](const std::string& name) {
    if (lets.contains(name)) return;
    if (std::find(out.begin(), out.end(), name) == out.end()) {
      out.push_back(name);
    }
  });
  return out;
}

std::string SkeletonOf(const ir::SideSyntax& side) {
  ir::SideSyntax copy = side;
  ForEachVariable(copy, [](std::string& name) { name = "_"; });
  std::string out;
  for (const ir::BinderSyntax& b : copy.binders) {
    absl::StrAppend(&out, "let ", ir::PrintExpr(b.value), " ");
  }
  for (const ExprSyntax& e : copy.outputs) {
    absl::StrAppend(&out, ir::PrintExpr(e), " ");
  }
  return out;
}

void RenameVariables(ir::SideSyntax& side,
                     const std::map<std::string, std::string>& names) {
  ForEachVariable(side, [&](std::string& name) {
    if (auto it = names.find(name); it != names.end()) name = it->second;
  });
}

}  // namespace isomer::gen
