// A search with backtracking. Goals pair an operand of the rule with a value
// of the graph; commutative operators branch, everything else is forced.
// Attribute values that cannot be decided yet wait until all nodes are bound.
#include "graph/match.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "ops/status.h"

namespace isomer::ir {

OpIndex::OpIndex(const Graph& graph) {
  for (int32_t i = 0; i < graph.id_bound(); ++i) {
    if (!graph.Has({i})) continue;
    const Node& n = graph.node({i});
    if (n.op != nullptr) nodes_[n.op].push_back({i});
  }
}

absl::Span<const NodeId> OpIndex::Nodes(const OpDef* op) const {
  auto it = nodes_.find(op);
  if (it == nodes_.end()) return {};
  return it->second;
}

std::optional<double> SplatOf(const Graph& graph, Value v) {
  while (true) {
    const Node& n = graph.node(v.node);
    if (n.kind == Node::Kind::kConstant) return n.constant->Splat();
    if (n.kind != Node::Kind::kOp || ShapeAttr(*n.op) < 0) return std::nullopt;
    if (n.inputs.empty()) {
      const Attr* value = n.attrs->Find("value");
      if (value == nullptr) return std::nullopt;
      const double* d = std::get_if<double>(value);
      return d == nullptr ? std::nullopt : std::optional<double>(*d);
    }
    if (n.inputs.size() != 1) return std::nullopt;
    v = n.inputs[0];
  }
}

namespace {

enum class DTypeClass { kFloat, kInteger, kBool };

DTypeClass ClassOf(DType t) {
  if (IsFloat(t)) return DTypeClass::kFloat;
  return t == DType::kBool ? DTypeClass::kBool : DTypeClass::kInteger;
}

// The variable without a value in `v`, if there is exactly one.
int OnlyUnknown(const ValueExpr& v,
                const std::vector<std::optional<Attr>>& attrs) {
  int found = -1;
  bool several = false;
  Visit(v, [&](const ValueExpr& p) {
    if (p.variable < 0 || attrs[p.variable]) return;
    several = several || (found >= 0 && found != p.variable);
    found = p.variable;
  });
  return several ? -1 : found;
}

// Whether two attribute values are the same: an integer may stand for a float
// and for a list of equal plain numbers, a word for an element type.
bool SameAttr(const Attr& written, const Attr& actual, const AttrSpec& spec) {
  if (written == actual) return true;
  if (auto* i = std::get_if<int64_t>(&written)) {
    if (auto* d = std::get_if<double>(&actual)) {
      return static_cast<double>(*i) == *d;
    }
    if (auto* list = std::get_if<std::vector<int64_t>>(&actual)) {
      if (spec.role == AttrRole::kAxis && list->size() != 1) return false;
      return !list->empty() &&
             absl::c_all_of(*list, [&](int64_t x) { return x == *i; });
    }
  }
  if (auto* s = std::get_if<std::string>(&written)) {
    auto* t = std::get_if<DType>(&actual);
    return t != nullptr && DTypeName(*t) == *s;
  }
  return false;
}

// Whether a value may be another way to write the same: an axis counted from
// the end, axes in another order, a list that inference completes.
bool MayCanonicalise(const Attr& written, const Attr& actual,
                     const AttrSpec& spec) {
  if (auto* i = std::get_if<int64_t>(&written)) {
    return spec.role == AttrRole::kAxis && *i < 0;
  }
  auto* a = std::get_if<std::vector<int64_t>>(&written);
  auto* b = std::get_if<std::vector<int64_t>>(&actual);
  if (a == nullptr || b == nullptr) return false;
  return spec.role == AttrRole::kAxis ? a->size() == b->size()
                                      : a->size() != b->size();
}

class Matcher {
 public:
  Matcher(const Graph& graph, const OpIndex& index, const Rule& rule,
          ConstantFacts& facts, const MatchOptions& options)
      : graph_(graph),
        index_(index),
        rule_(rule),
        facts_(facts),
        options_(options),
        source_(rule.source()),
        bound_(source_.nodes.size()),
        attrs_(rule.attrs().size()) {
    MakePlan();
  }

  std::vector<Match> Run() {
    NextPart(0);
    return Ordered();
  }

 private:
  // Where a part of the source is looked for: at all nodes of the operator, or
  // among the users of an operand that is bound by then.
  struct Part {
    int node;
    int operand;  // -1: anywhere
  };
  struct Goal {
    RuleOperand pattern;
    Value value;
  };
  // An attribute or literal that waits for variables.
  struct Waiting {
    int node;
    const RuleAttr* attr;  // null: the node is a literal
    Attr actual;
  };
  struct Mark {
    size_t goals, bound, named, waiting;
  };

  void MakePlan();
  void Cover(int node, std::vector<bool>& covered) const;
  void NextPart(size_t part);
  void Advance(size_t goal, size_t part);
  void Operands(const RuleNode& p, const Node& n, size_t goal, size_t part);

  bool Accept(const Goal& g);
  bool AcceptVariable(const RuleNode& p, Value v) const;
  bool AcceptLiteral(int node, Value v);
  bool AcceptAttrs(int node, const Node& n);
  bool AcceptAttr(int node, const RuleAttr& a, Attr actual);
  bool Decide(const Waiting& w, const Attr& written) const;
  bool SameOnNode(int node, const AttrSpec& spec, const Attr& written,
                  const Attr& actual) const;
  void BindNames(const ValueExpr& v, const Attr& actual);

  bool Settle();
  bool ConditionsHold();
  bool ConditionHolds(const RuleCondition& c);
  bool IsConstant(NodeId root);
  bool ConstantsAllowed();
  bool InACase() const;
  void Finish();
  Match Current() const;
  bool FirstOfOrbit(const Match& m) const;
  std::vector<Match> Ordered();

  Value ValueOf(RuleOperand o) const {
    const Value& b = bound_[o.node];
    if (source_.nodes[o.node].kind == RuleNode::Kind::kCall) {
      return {b.node, o.output};
    }
    return b;
  }
  bool IsBound(int node) const { return bound_[node].node.value >= 0; }
  void BindNode(int node, Value v) {
    bound_[node] = v;
    bound_trail_.push_back(node);
  }
  void BindAttr(int variable, Attr value) {
    attrs_[variable] = std::move(value);
    named_trail_.push_back(variable);
  }
  Mark Now() const {
    return {goals_.size(), bound_trail_.size(), named_trail_.size(),
            waiting_.size()};
  }
  void Undo(const Mark& m) {
    goals_.resize(m.goals);
    for (; bound_trail_.size() > m.bound; bound_trail_.pop_back()) {
      bound_[bound_trail_.back()] = Value();
    }
    for (; named_trail_.size() > m.named; named_trail_.pop_back()) {
      attrs_[named_trail_.back()].reset();
    }
    waiting_.resize(m.waiting);
  }
  const TensorType* TypeOf(RuleOperand o) const {
    return IsBound(o.node) ? graph_.FindType(ValueOf(o)) : nullptr;
  }
  absl::StatusOr<Attr> Evaluate(const ValueExpr& v) const {
    return EvalValue<int64_t>(
        v, {attrs_, [this](RuleOperand o) { return TypeOf(o); }, nullptr});
  }

  const Graph& graph_;
  const OpIndex& index_;
  const Rule& rule_;
  ConstantFacts& facts_;
  const MatchOptions options_;
  const RuleSide& source_;
  std::vector<char> constant_;  // by id: what IsConstant knows
  std::vector<Part> plan_;

  std::vector<Goal> goals_;
  std::vector<Value> bound_;  // by node; of a call only the node counts
  std::vector<std::optional<Attr>> attrs_;
  std::vector<Waiting> waiting_;
  std::vector<int> bound_trail_, named_trail_;
  std::vector<Match> found_;
};

// ---- The plan

void Matcher::Cover(int node, std::vector<bool>& covered) const {
  if (covered[node]) return;
  covered[node] = true;
  for (RuleOperand o : source_.nodes[node].inputs) Cover(o.node, covered);
}

// Starts at the output whose operator is rarest; then any operator with an
// operand that is bound, until all are. An output that shares nothing with what
// is bound starts anew.
void Matcher::MakePlan() {
  int first = source_.outputs[0].node;
  for (RuleOperand o : source_.outputs) {
    if (index_.Nodes(source_.nodes[o.node].op).size() <
        index_.Nodes(source_.nodes[first].op).size()) {
      first = o.node;
    }
  }
  std::vector<bool> covered(source_.nodes.size(), false);
  plan_.push_back({first, -1});
  Cover(first, covered);
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t k = 0; k < source_.nodes.size() && !grew; ++k) {
      const RuleNode& n = source_.nodes[k];
      if (covered[k] || n.kind != RuleNode::Kind::kCall) continue;
      for (size_t i = 0; i < n.inputs.size() && !grew; ++i) {
        const RuleOperand o = n.inputs[i];
        if (!covered[o.node] ||
            source_.nodes[o.node].kind == RuleNode::Kind::kLiteral) {
          continue;
        }
        plan_.push_back({static_cast<int>(k), static_cast<int>(i)});
        Cover(static_cast<int>(k), covered);
        grew = true;
      }
    }
    for (size_t i = 0; i < source_.outputs.size() && !grew; ++i) {
      const int k = source_.outputs[i].node;
      if (covered[k]) continue;
      plan_.push_back({k, -1});
      Cover(k, covered);
      grew = true;
    }
  }
}

// ---- The search

void Matcher::NextPart(size_t part) {
  if (part == plan_.size()) return Finish();
  const Part& p = plan_[part];
  const RuleNode& n = source_.nodes[p.node];
  const absl::Span<const NodeId> candidates =
      p.operand < 0 ? index_.Nodes(n.op)
                    : graph_.users(ValueOf(n.inputs[p.operand]).node);
  const Mark mark = Now();
  for (NodeId id : candidates) {
    if (graph_.node(id).op != n.op) continue;
    goals_.push_back({{p.node, 0}, {id, 0}});
    Advance(mark.goals, part + 1);
    Undo(mark);
  }
}

void Matcher::Advance(size_t goal, size_t part) {
  if (goal == goals_.size()) return NextPart(part);
  const Goal g = goals_[goal];
  const RuleNode& p = source_.nodes[g.pattern.node];
  if (IsBound(g.pattern.node)) {
    if (ValueOf(g.pattern) == g.value) Advance(goal + 1, part);
    return;
  }
  const Mark mark = Now();
  if (Accept(g)) {
    if (p.kind == RuleNode::Kind::kCall) {
      Operands(p, graph_.node(g.value.node), goal, part);
    } else {
      Advance(goal + 1, part);
    }
  }
  Undo(mark);
}

// Pairs operands in order and, for a commutative operator, also crosswise.
void Matcher::Operands(const RuleNode& p, const Node& n, size_t goal,
                       size_t part) {
  const size_t count = p.inputs.size();
  const bool both =
      p.op->commutative && count == 2 && n.inputs[0] != n.inputs[1];
  const Mark mark = Now();
  for (int crosswise = 0; crosswise <= (both ? 1 : 0); ++crosswise) {
    for (size_t i = 0; i < count; ++i) {
      goals_.push_back({p.inputs[i], n.inputs[crosswise ? count - 1 - i : i]});
    }
    Advance(goal + 1, part);
    Undo(mark);
  }
}

// Binds a node of the rule to a value, if that can be.
bool Matcher::Accept(const Goal& g) {
  const int k = g.pattern.node;
  const RuleNode& p = source_.nodes[k];
  switch (p.kind) {
    case RuleNode::Kind::kVariable:
      if (!AcceptVariable(p, g.value)) return false;
      BindNode(k, g.value);
      return true;
    case RuleNode::Kind::kLiteral:
      return AcceptLiteral(k, g.value);
    case RuleNode::Kind::kCall:
      break;
  }
  const Node& n = graph_.node(g.value.node);
  if (n.op != p.op || n.inputs.size() != p.inputs.size() ||
      g.value.output != g.pattern.output) {
    return false;
  }
  BindNode(k, g.value);
  return AcceptAttrs(k, n);
}

bool Matcher::AcceptVariable(const RuleNode& p, Value v) const {
  const TensorType* type = graph_.FindType(v);
  if (type == nullptr) return false;
  if (rule_.numerics() == Numerics::kExact) return true;
  return ClassOf(type->dtype) ==
         ClassOf(rule_.cases()[0].tensors[p.variable].dtype);
}

bool Matcher::AcceptLiteral(int node, Value v) {
  const TensorType* type = graph_.FindType(v);
  if (type == nullptr) return false;
  const std::optional<double> splat = SplatOf(graph_, v);
  if (!splat) return false;
  BindNode(node, v);
  return AcceptAttr(node, {}, Attr(RoundTo(type->dtype, *splat)));
}

// ---- Attributes

bool Matcher::AcceptAttrs(int node, const Node& n) {
  const RuleNode& p = source_.nodes[node];
  size_t given = 0;
  for (size_t i = 0; i < p.op->attrs.size(); ++i) {
    const AttrSpec& spec = p.op->attrs[i];
    const Attr& actual = n.attrs->entries()[i].second;
    bool named = false;
    for (const RuleAttr& a : p.attrs) {
      if (a.spec != static_cast<int>(i)) continue;
      named = true;
      ++given;
      if (!a.complement) {
        if (!AcceptAttr(node, a, actual)) return false;
        continue;
      }
      const auto& shape = n.attrs->entries()[ShapeAttr(*p.op)].second;
      const auto* sizes = std::get_if<std::vector<int64_t>>(&shape);
      if (sizes == nullptr) return false;
      auto others =
          ComplementOf<int64_t>(actual, static_cast<int>(sizes->size()));
      if (!others.ok() || !AcceptAttr(node, a, Attr(*others))) return false;
    }
    if (!named && !SameOnNode(node, spec, spec.default_value, actual)) {
      return false;
    }
  }
  return given == p.attrs.size();
}

// Gives values to the variables that stand alone.
void Matcher::BindNames(const ValueExpr& v, const Attr& actual) {
  if (v.kind == ValueExpr::Kind::kList) {
    auto* list = std::get_if<std::vector<int64_t>>(&actual);
    if (list == nullptr || list->size() != v.args.size()) return;
    for (size_t i = 0; i < list->size(); ++i) {
      BindNames(v.args[i], Attr((*list)[i]));
    }
    return;
  }
  if (v.variable < 0 || attrs_[v.variable]) return;
  const AttrKind kind = rule_.attrs()[v.variable].kind;
  if (actual.index() == static_cast<size_t>(kind)) BindAttr(v.variable, actual);
}

bool Matcher::AcceptAttr(int node, const RuleAttr& a, Attr actual) {
  const RuleNode& p = source_.nodes[node];
  const bool literal = p.kind == RuleNode::Kind::kLiteral;
  const ValueExpr& v = literal ? p.literal : a.value;
  BindNames(v, actual);
  Waiting w{node, literal ? nullptr : &a, std::move(actual)};
  auto written = Evaluate(v);
  if (written.ok()) return Decide(w, *written);
  if (!absl::IsUnavailable(written.status())) return false;
  waiting_.push_back(std::move(w));
  return true;
}

bool Matcher::Decide(const Waiting& w, const Attr& written) const {
  const RuleNode& p = source_.nodes[w.node];
  if (w.attr == nullptr) {
    double x = 0;
    if (auto* d = std::get_if<double>(&written)) {
      x = *d;
    } else if (auto* i = std::get_if<int64_t>(&written)) {
      x = static_cast<double>(*i);
    } else {
      return false;
    }
    const DType dtype = graph_.FindType(bound_[w.node])->dtype;
    return RoundTo(dtype, x) == std::get<double>(w.actual);
  }
  const AttrSpec& spec = p.op->attrs[w.attr->spec];
  if (!w.attr->complement) return SameOnNode(w.node, spec, written, w.actual);
  // Both as the dimensions that the attribute names.
  const Node& n = graph_.node(bound_[w.node].node);
  const auto& shape = std::get<std::vector<int64_t>>(
      n.attrs->entries()[ShapeAttr(*p.op)].second);
  auto others = ComplementOf<int64_t>(written, static_cast<int>(shape.size()));
  return others.ok() && Attr(*others) == *n.attrs->Find(spec.name);
}

bool Matcher::SameOnNode(int node, const AttrSpec& spec, const Attr& written,
                         const Attr& actual) const {
  if (SameAttr(written, actual, spec)) return true;
  if (!MayCanonicalise(written, actual, spec)) return false;
  const Node& n = graph_.node(bound_[node].node);
  std::vector<TensorType> types;
  for (Value v : n.inputs) types.push_back(graph_.type(v));
  Attrs attrs = *n.attrs;
  attrs.Set(spec.name, written);
  auto inferred = InferOp(*n.op, types, attrs);
  return inferred.ok() && *inferred->attrs.Find(spec.name) == actual;
}

// Decides what waited: solves for a variable where one is missing. It goes
// round until nothing is left or nothing moves.
bool Matcher::Settle() {
  std::vector<bool> done(waiting_.size(), false);
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      if (done[i]) continue;
      const Waiting& w = waiting_[i];
      const ValueExpr& v =
          w.attr ? w.attr->value : source_.nodes[w.node].literal;
      if (const int u = OnlyUnknown(v, attrs_); u >= 0) {
        auto solved = SolveValue(
            v, u, rule_.attrs()[u].kind, w.actual,
            {attrs_, [this](RuleOperand o) { return TypeOf(o); }, nullptr});
        if (absl::IsUnavailable(solved.status())) continue;
        if (!solved.ok()) return false;
        BindAttr(u, *std::move(solved));
      }
      auto written = Evaluate(v);
      if (absl::IsUnavailable(written.status())) continue;
      if (!written.ok() || !Decide(w, *written)) return false;
      done[i] = moved = true;
    }
  }
  return absl::c_all_of(done, [](bool d) { return d; });
}

// ---- The end of a match

bool UsesChoice(const RuleCondition& c, const Rule& rule) {
  bool uses = false;
  for (const ValueExpr* v : {&c.left, &c.right}) {
    Visit(*v, [&](const ValueExpr& p) {
      uses = uses || (p.variable >= 0 && rule.attrs()[p.variable].chosen());
    });
  }
  return uses;
}

// As Graph::IsConstant, but remembers what it came by: otherwise every match
// would walk to the inputs of the graph again.
bool Matcher::IsConstant(NodeId root) {
  enum : char { kUnknown, kNo, kYes };
  constant_.resize(graph_.id_bound(), kUnknown);
  std::vector<NodeId> path = {root};
  while (!path.empty()) {
    const NodeId id = path.back();
    const Node& n = graph_.node(id);
    const bool leaf =
        n.kind == Node::Kind::kInput || n.kind == Node::Kind::kOpaque;
    char known = leaf ? kNo : kYes;
    NodeId next = id;
    for (const Value& v : n.inputs) {
      if (constant_[v.node.value] == kNo) known = kNo;
      if (constant_[v.node.value] == kUnknown) next = v.node;
    }
    if (known == kYes && next != id) {
      path.push_back(next);
    } else {
      constant_[id.value] = known;
      path.pop_back();
    }
  }
  return constant_[root.value] == kYes;
}

bool Matcher::ConditionHolds(const RuleCondition& c) {
  if (c.kind < RuleCondition::Kind::kConst) {
    if (UsesChoice(c, rule_)) return true;  // Choices() looks at it
    auto holds = Holds(
        c, {attrs_, [this](RuleOperand o) { return TypeOf(o); }, nullptr});
    return holds.ok() && *holds;
  }
  const Value v = ValueOf(c.tensor);
  if (c.kind == RuleCondition::Kind::kConst) return IsConstant(v.node);
  const bool positive = c.kind == RuleCondition::Kind::kPositive;
  if (auto splat = SplatOf(graph_, v)) {
    return positive ? *splat > 0 : std::isfinite(*splat);
  }
  const Node& n = graph_.node(v.node);
  if (n.kind == Node::Kind::kConstant) {
    return positive ? facts_.Positive(n.constant) : facts_.Finite(n.constant);
  }
  // Values that are computed are taken to be finite; their sign is not known.
  return !positive;
}

bool Matcher::ConditionsHold() {
  return absl::c_all_of(
      rule_.where(), [&](const RuleCondition& c) { return ConditionHolds(c); });
}

bool Matcher::ConstantsAllowed() {
  if (rule_.numerics() == Numerics::kExact) return true;
  for (size_t k = 0; k < source_.nodes.size(); ++k) {
    if (source_.nodes[k].kind != RuleNode::Kind::kVariable) continue;
    const Node& n = graph_.node(bound_[k].node);
    if (n.kind == Node::Kind::kConstant && !facts_.Finite(n.constant)) {
      return false;
    }
  }
  return true;
}

bool Matcher::InACase() const {
  if (options_.beyond_cases) return true;
  absl::InlinedVector<int, 8> ranks(rule_.tensors().size());
  for (size_t k = 0; k < source_.nodes.size(); ++k) {
    const RuleNode& p = source_.nodes[k];
    if (p.kind != RuleNode::Kind::kVariable) continue;
    const TensorType& type = graph_.type(bound_[k]);
    if (NumElements(type) == 0) return false;  // cases speak of sizes from 1 on
    ranks[p.variable] = type.rank();
  }
  return rule_.Covers(ranks, attrs_);
}

Match Matcher::Current() const {
  Match m;
  for (RuleOperand o : source_.outputs) m.outputs.push_back(ValueOf(o));
  m.tensors.resize(rule_.tensors().size());
  for (size_t k = 0; k < source_.nodes.size(); ++k) {
    const RuleNode& p = source_.nodes[k];
    m.nodes.push_back(p.kind == RuleNode::Kind::kCall ? bound_[k].node
                                                      : NodeId());
    if (p.kind == RuleNode::Kind::kVariable) m.tensors[p.variable] = bound_[k];
  }
  m.attrs = attrs_;
  return m;
}

void Matcher::Finish() {
  for (size_t i = 0; i < source_.outputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (ValueOf(source_.outputs[i]) == ValueOf(source_.outputs[j])) return;
    }
  }
  const Mark mark = Now();
  if (Settle() && InACase() && ConditionsHold() && ConstantsAllowed()) {
    if (Match m = Current(); FirstOfOrbit(m)) found_.push_back(std::move(m));
  }
  Undo(mark);
}

bool Matcher::FirstOfOrbit(const Match& m) const {
  for (const Symmetry& s : rule_.symmetries()) {
    std::vector<Value> outputs(m.outputs.size()), tensors(m.tensors.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[s.outputs[i]] = m.outputs[i];
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      tensors[s.tensors[i]] = m.tensors[i];
    }
    if (std::tie(outputs, tensors) < std::tie(m.outputs, m.tensors)) {
      return false;
    }
  }
  return true;
}

std::vector<Match> Matcher::Ordered() {
  auto key = [](const Match& m) {
    return std::tie(m.outputs, m.tensors, m.nodes);
  };
  absl::c_sort(found_,
               [&](const Match& a, const Match& b) { return key(a) < key(b); });
  found_.erase(std::unique(found_.begin(), found_.end(),
                           [&](const Match& a, const Match& b) {
                             return key(a) == key(b);
                           }),
               found_.end());
  return std::move(found_);
}

}  // namespace

std::vector<Match> FindMatches(const Graph& graph, const OpIndex& index,
                               const Rule& rule, ConstantFacts& facts,
                               const MatchOptions& options) {
  return Matcher(graph, index, rule, facts, options).Run();
}

std::vector<Match> FindMatches(const Graph& graph, const Rule& rule,
                               const MatchOptions& options) {
  ConstantFacts facts;
  return FindMatches(graph, OpIndex(graph), rule, facts, options);
}

}  // namespace isomer::ir
