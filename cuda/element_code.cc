// Elements are followed from the results to memory, depth first; what was
// computed is remembered by value and index in the scope where it stands.
#include "cuda/element_code.h"

#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/op_def.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

std::string Key(Value v, const std::vector<DimExpr>& index) {
  std::string key = absl::StrCat(v.node.value, ".", v.output);
  for (const DimExpr& e : index) absl::StrAppend(&key, "|", e.ToString());
  return key;
}

const char* CarefulFunction(absl::string_view op) {
  if (op == "tanh") return "iso_tanh";
  if (op == "softplus") return "iso_softplus";
  if (op == "gelu") return "iso_gelu";
  if (op == "gelu_tanh") return "iso_gelu_tanh";
  if (op == "silu") return "iso_silu";
  if (op == "sigmoid") return "iso_sigmoid";
  if (op == "rsqrt") return "iso_rsqrt";
  return nullptr;
}

std::string ConstantText(double v, bool is_int, bool is_double) {
  if (std::isnan(v)) return "ISO_NAN";
  if (std::isinf(v)) return v > 0 ? "ISO_INF" : "(-ISO_INF)";
  if (is_int && v == std::trunc(v) && std::fabs(v) < 9e18) {
    return absl::StrCat("(", static_cast<int64_t>(v), "LL)");
  }
  std::string text = DoubleText(v);
  if (!absl::StrContains(text, ".") && !absl::StrContains(text, "e")) {
    text += ".0";
  }
  return absl::StrCat("(", text, is_double ? ")" : "f)");
}

}  // namespace

bool HasCarefulFunction(absl::string_view op) {
  return CarefulFunction(op) != nullptr;
}

absl::string_view ComputeType(DType dtype) {
  if (dtype == DType::kF64) return "double";
  return IsFloat(dtype) ? "float" : "long long";
}

absl::string_view StorageType(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "float";
    case DType::kF64:
      return "double";
    case DType::kF16:
      return "iso_half";
    case DType::kBF16:
      return "iso_bf16";
    case DType::kI8:
      return "signed char";
    case DType::kI16:
      return "short";
    case DType::kI32:
      return "int";
    case DType::kI64:
      return "long long";
    case DType::kU8:
    case DType::kBool:
      return "unsigned char";
    case DType::kU16:
      return "unsigned short";
    case DType::kU32:
      return "unsigned";
    case DType::kU64:
      return "unsigned long long";
  }
  return "";
}

ElementCode::ElementCode(const ir::Graph& graph) : graph_(graph) { Open(); }

// ---- Scopes

void ElementCode::Open() {
  auto scope = std::make_unique<Scope>();
  scope->parent = scope_;
  scope->depth = scope_ == nullptr ? 0 : scope_->depth + 1;
  scope_ = scope.get();
  scopes_.push_back(std::move(scope));
}

std::string ElementCode::Close() {
  std::string text = std::move(scope_->text);
  if (scope_->branch && scope_->reads_pieces) {
    scope_->parent->reads_pieces = true;
  }
  scope_ = scope_->parent;
  return text;
}

void ElementCode::Write(absl::string_view line) {
  absl::StrAppend(&scope_->text, line, "\n");
}

std::string ElementCode::Fresh(absl::string_view prefix) {
  return absl::StrCat(prefix, fresh_++);
}

DimExpr ElementCode::NewIndex(absl::string_view name, int64_t extent) {
  symbols_[std::string(name)] = scope_;
  intervals_[std::string(name)] = {0, extent - 1};
  return DimExpr::Symbol(name);
}

void ElementCode::BindElement(Value v, const std::vector<DimExpr>& index,
                              const std::string& name) {
  std::vector<DimExpr> tidy;
  for (const DimExpr& e : index) tidy.push_back(Tidy(e, intervals_));
  scope_->known[Key(v, tidy)] = name;
}

// The outermost scope in which all symbols are known, no further out than the
// innermost branch.
ElementCode::Scope* ElementCode::HomeOf(
    const std::vector<DimExpr>& index) const {
  int depth = 0;
  for (const Scope* s = scope_; s != nullptr; s = s->parent) {
    if (!s->branch) continue;
    depth = s->depth;
    break;
  }
  for (const DimExpr& e : index) {
    for (const std::string& symbol : e.Symbols()) {
      const auto it = symbols_.find(symbol);
      if (it != symbols_.end()) depth = std::max(depth, it->second->depth);
    }
  }
  Scope* home = scope_;
  while (home->depth > depth) home = home->parent;
  return home;
}

const std::string* ElementCode::Known(const std::string& key) const {
  for (const Scope* s = scope_; s != nullptr; s = s->parent) {
    const auto it = s->known.find(key);
    if (it != s->known.end()) return &it->second;
  }
  return nullptr;
}

// ---- Elements

absl::StatusOr<std::string> ElementCode::At(Value v,
                                            std::vector<DimExpr> index) {
  if (const auto it = everywhere_.find(v); it != everywhere_.end()) {
    return it->second;
  }
  for (DimExpr& e : index) e = Tidy(e, intervals_);
  const std::string key = Key(v, index);
  if (const std::string* known = Known(key)) return *known;
  Scope* const outer = scope_;
  scope_ = HomeOf(index);
  Scope* const home = scope_;
  std::vector<DimExpr> outside = std::exchange(element_index_, index);
  absl::StatusOr<std::string> text = Compute(v, index);
  element_index_ = std::move(outside);
  scope_ = outer;
  if (text.ok()) home->known[key] = *text;
  return text;
}

absl::StatusOr<Elem> ElementCode::ElementOf(const ir::Node& node, int output,
                                            const std::vector<DimExpr>& index) {
  std::vector<SymType> types;
  for (Value in : node.inputs) types.push_back(ToSymbolic(graph_.type(in)));
  ASSIGN_OR_RETURN(Inferred<DimExpr> inferred,
                   InferOp(*node.op, types, ToSymbolic(*node.attrs)));
  if (output != 0) {
    return Unsupported("output ", output, " of ", node.op->name,
                       " has no CUDA kernel");
  }
  return IndexOp(*node.op, types, inferred, index);
}

absl::StatusOr<std::string> ElementCode::Compute(
    Value v, const std::vector<DimExpr>& index) {
  if (const auto it = places_.find(v); it != places_.end()) {
    return Load(it->second, index);
  }
  const ir::Node& node = graph_.node(v.node);
  if (node.kind == ir::Node::Kind::kConstant) {
    const std::optional<double> splat = node.constant->Splat();
    if (splat) {
      const Kind kind = KindOf(graph_.type(v).dtype);
      return ConstantText(*splat, kind == Kind::kInt, kind == Kind::kDouble);
    }
  }
  if (node.kind != ir::Node::Kind::kOp) {
    return Invalid("a value of the kernel lies nowhere");
  }
  const std::string type(ComputeType(graph_.type(v).dtype));
  std::string text;
  if (const char* function = CarefulFunction(node.op->name)) {
    ASSIGN_OR_RETURN(const std::string x, At(node.inputs[0], index));
    text = absl::StrCat(function, "(", x, ")");
  } else {
    if (node.Is("concat")) {
      ASSIGN_OR_RETURN(const auto part, LoadFromParts(node, index));
      if (part) return *part;
    }
    ASSIGN_OR_RETURN(const Elem e, ElementOf(node, v.output, index));
    if (e.kind() == Elem::Kind::kInput) {  // a view
      Walk walk{&node, {}};
      ASSIGN_OR_RETURN(std::vector<DimExpr> at, Indices(e.indices(), walk));
      return At(node.inputs[e.input()], std::move(at));
    }
    Walk walk{&node, {}};
    const Kind kind = KindOf(graph_.type(v).dtype);
    ASSIGN_OR_RETURN(text, ValueOf(e, KindOf(e, walk, kind), walk));
  }
  const std::string name = Fresh("v");
  if (graph_.type(v).dtype == DType::kBool) {
    Write(absl::StrCat("const long long ", name, " = (", text, ") != 0;"));
  } else {
    Write(absl::StrCat("const ", type, " ", name, " = ", text, ";"));
  }
  return name;
}

absl::StatusOr<std::optional<ElementCode::Source>> ElementCode::SourceOf(
    Value v, std::vector<DimExpr> index, int part) {
  DimExpr past = 0;
  while (places_.count(v) == 0) {
    const ir::Node& node = graph_.node(v.node);
    if (part != kWhole && node.Is("concat")) {
      if (part >= static_cast<int>(node.inputs.size())) return std::nullopt;
      const int64_t axis = node.attrs->Int("axis");
      past = index[axis];
      for (int k = 0; k < part; ++k) {
        past -= DimExpr(graph_.type(node.inputs[k]).shape[axis]);
      }
      past = Tidy(past, intervals_);
      v = node.inputs[part];
      index[axis] = graph_.type(v).shape[axis] == 1 ? DimExpr(0) : past;
      part = kWhole;
      continue;
    }
    if (node.kind != ir::Node::Kind::kOp || node.op->element.index == nullptr) {
      return std::nullopt;
    }
    ASSIGN_OR_RETURN(const Elem e, ElementOf(node, v.output, index));
    if (e.kind() != Elem::Kind::kInput) return std::nullopt;
    index.clear();
    for (const DimExpr& i : e.indices()) {
      for (const Monomial& m : i.polynomial().monomials()) {
        for (const Factor& f : m.factors) {
          if (DimExpr::AsElement(f.atom)) return std::nullopt;
        }
      }
      index.push_back(Tidy(i, intervals_));
    }
    v = node.inputs[e.input()];
  }
  return Source{v, std::move(index), past};
}

// ---- Elements of one operator

absl::string_view ElementCode::TypeOf(Kind kind) {
  return kind == Kind::kInt     ? "long long"
         : kind == Kind::kFloat ? "float"
                                : "double";
}

ElementCode::Kind ElementCode::KindOf(DType dtype) {
  if (dtype == DType::kF64) return Kind::kDouble;
  return IsFloat(dtype) ? Kind::kFloat : Kind::kInt;
}

ElementCode::Kind ElementCode::KindOf(const Elem& e, const Walk& walk,
                                      Kind otherwise) const {
  switch (e.kind()) {
    case Elem::Kind::kConst:
      return e.value() == std::trunc(e.value())
                 ? otherwise
                 : std::max(otherwise, Kind::kFloat);
    case Elem::Kind::kIndex:
      return otherwise;
    case Elem::Kind::kInput:
      return KindOf(graph_.type(walk.node->inputs[e.input()]).dtype);
    case Elem::Kind::kFn:
      if (absl::StartsWith(e.name(), "narrow_")) {
        const absl::StatusOr<DType> type = ParseDType(e.name().substr(7));
        return type.ok() ? KindOf(*type) : otherwise;
      }
      if (e.name() == "is_nan") return otherwise;
      break;
    default:
      break;
  }
  Kind kind = Kind::kInt;
  bool any = false;
  for (const Elem& arg : e.args()) {
    if (arg.kind() == Elem::Kind::kConst || arg.kind() == Elem::Kind::kIndex) {
      continue;
    }
    kind = std::max(kind, KindOf(arg, walk, otherwise));
    any = true;
  }
  return any ? kind : otherwise;
}

absl::StatusOr<Polynomial> ElementCode::IndexPoly(const Polynomial& p,
                                                  Walk& walk) {
  absl::Status status;
  Polynomial out =
      p.Transform([&](const Atom& atom) -> std::optional<Polynomial> {
        if (atom.is_symbol()) {
          const auto it = walk.names.find(atom.name());
          if (it == walk.names.end()) return std::nullopt;
          return it->second.polynomial();
        }
        if (const auto ref = DimExpr::AsElement(atom)) {
          auto at = Indices(ref->indices, walk);
          auto text = at.ok() ? At(walk.node->inputs[ref->input], *at)
                              : absl::StatusOr<std::string>(at.status());
          if (!text.ok()) {
            if (status.ok()) status = text.status();
            return std::nullopt;
          }
          // Named in the scope where the element stands.
          const std::string key = absl::StrCat("index|", *text);
          if (const std::string* known = Known(key))
            return Polynomial::Symbol(*known);
          const std::string name = Fresh("g");
          Scope* const outer = scope_;
          scope_ = HomeOf(*at);
          Write(absl::StrCat("const int ", name, " = (int)", *text, ";"));
          scope_->known[key] = name;
          symbols_[name] = scope_;
          scope_ = outer;
          return Polynomial::Symbol(name);
        }
        std::vector<Polynomial> args;
        for (const Polynomial& arg : atom.args()) {
          absl::StatusOr<Polynomial> a = IndexPoly(arg, walk);
          if (!a.ok()) {
            if (status.ok()) status = a.status();
            return std::nullopt;
          }
          args.push_back(*std::move(a));
        }
        return Reapply(atom, std::move(args));
      });
  if (!status.ok()) return status;
  return out;
}

absl::StatusOr<DimExpr> ElementCode::Index(const DimExpr& e, Walk& walk) {
  ASSIGN_OR_RETURN(Polynomial p, IndexPoly(e.polynomial(), walk));
  return Tidy(DimExpr(std::move(p)), intervals_);
}

absl::StatusOr<std::vector<DimExpr>> ElementCode::Indices(
    const std::vector<DimExpr>& e, Walk& walk) {
  std::vector<DimExpr> out;
  for (const DimExpr& i : e) {
    ASSIGN_OR_RETURN(DimExpr index, Index(i, walk));
    out.push_back(std::move(index));
  }
  return out;
}

absl::StatusOr<std::string> ElementCode::ValueOf(const Elem& e, Kind kind,
                                                 Walk& walk) {
  switch (e.kind()) {
    case Elem::Kind::kConst:
      return ConstantText(e.value(), kind == Kind::kInt, kind == Kind::kDouble);
    case Elem::Kind::kIndex: {
      ASSIGN_OR_RETURN(const DimExpr index, Index(e.expr(), walk));
      return absl::StrCat("((", TypeOf(kind), ")", Text(index), ")");
    }
    case Elem::Kind::kInput: {
      ASSIGN_OR_RETURN(std::vector<DimExpr> at, Indices(e.indices(), walk));
      return At(walk.node->inputs[e.input()], std::move(at));
    }
    case Elem::Kind::kAdd:
    case Elem::Kind::kMul:
    case Elem::Kind::kDiv: {
      ASSIGN_OR_RETURN(const std::string a, ValueOf(e.args()[0], kind, walk));
      ASSIGN_OR_RETURN(const std::string b, ValueOf(e.args()[1], kind, walk));
      const char* op = e.kind() == Elem::Kind::kAdd   ? " + "
                       : e.kind() == Elem::Kind::kMul ? " * "
                                                      : " / ";
      return absl::StrCat("(", a, op, b, ")");
    }
    case Elem::Kind::kFn:
      return Function(e, kind, walk);
    case Elem::Kind::kReduce:
      return Fold(e, walk);
    case Elem::Kind::kIf:
      return Choice(e, kind, walk);
  }
  return Invalid("an element of no kind");
}

absl::StatusOr<std::string> ElementCode::Function(const Elem& e, Kind kind,
                                                  Walk& walk) {
  // What is converted or looked at keeps its own kind.
  const bool converts =
      absl::StartsWith(e.name(), "narrow_") || e.name() == "is_nan";
  std::vector<std::string> args;
  for (const Elem& arg : e.args()) {
    const Kind own = converts ? KindOf(arg, walk, kind) : kind;
    ASSIGN_OR_RETURN(std::string text, ValueOf(arg, own, walk));
    args.push_back(absl::StrCat("(", TypeOf(own), ")", text));
  }
  return absl::StrCat("iso_", e.name(), "(", absl::StrJoin(args, ", "), ")");
}

absl::StatusOr<std::string> ElementCode::Condition(const ElemCond& c,
                                                   Walk& walk) {
  switch (c.kind()) {
    case ElemCond::Kind::kGe0:
    case ElemCond::Kind::kEq0: {
      ASSIGN_OR_RETURN(const DimExpr index, Index(c.expr(), walk));
      const bool ge = c.kind() == ElemCond::Kind::kGe0;
      if (const auto range = IntervalOf(index, intervals_)) {
        if (range->high < 0 || (!ge && range->low > 0)) return "false";
        if (ge ? range->low >= 0 : range->low == 0 && range->high == 0) {
          return "true";
        }
      }
      // Of a whole piece neighbours ask the same.
      const DimExpr asked =
          ge && InPiece(index)
              ? Tidy(FloorDiv(index, DimExpr(vector_)), intervals_)
              : index;
      return absl::StrCat("(", Text(asked), ge ? " >= 0)" : " == 0)");
    }
    case ElemCond::Kind::kNot: {
      ASSIGN_OR_RETURN(const std::string a, Condition(c.parts()[0], walk));
      if (a == "true") return "false";
      if (a == "false") return "true";
      return absl::StrCat("!", a);
    }
    case ElemCond::Kind::kAnd:
    case ElemCond::Kind::kOr: {
      const bool both = c.kind() == ElemCond::Kind::kAnd;
      ASSIGN_OR_RETURN(const std::string a, Condition(c.parts()[0], walk));
      ASSIGN_OR_RETURN(const std::string b, Condition(c.parts()[1], walk));
      const std::string neutral = both ? "true" : "false";
      const std::string decides = both ? "false" : "true";
      if (a == decides || b == decides) return decides;
      if (a == neutral) return b;
      if (b == neutral) return a;
      return absl::StrCat("(", a, both ? " && " : " || ", b, ")");
    }
    case ElemCond::Kind::kTruth: {
      ASSIGN_OR_RETURN(std::vector<DimExpr> at, Indices(c.indices(), walk));
      ASSIGN_OR_RETURN(const std::string x,
                       At(walk.node->inputs[c.input()], std::move(at)));
      return absl::StrCat("(", x, " != 0)");
    }
    case ElemCond::Kind::kLess:
    case ElemCond::Kind::kEqual: {
      const Elem &a = c.operands()[0], &b = c.operands()[1];
      const Kind kind =
          std::max(KindOf(a, walk, Kind::kInt), KindOf(b, walk, Kind::kInt));
      ASSIGN_OR_RETURN(const std::string x, ValueOf(a, kind, walk));
      ASSIGN_OR_RETURN(const std::string y, ValueOf(b, kind, walk));
      const char* op = c.kind() == ElemCond::Kind::kLess ? " < " : " == ";
      return absl::StrCat("(", x, op, y, ")");
    }
  }
  return Invalid("a condition of no kind");
}

bool ElementCode::IsOfIndices(const ElemCond& c) {
  switch (c.kind()) {
    case ElemCond::Kind::kGe0:
    case ElemCond::Kind::kEq0:
      return true;
    case ElemCond::Kind::kNot:
    case ElemCond::Kind::kAnd:
    case ElemCond::Kind::kOr:
      return absl::c_all_of(c.parts(), IsOfIndices);
    case ElemCond::Kind::kTruth:
    case ElemCond::Kind::kLess:
    case ElemCond::Kind::kEqual:
      return false;
  }
  return false;
}

absl::StatusOr<std::string> ElementCode::Choice(const Elem& e, Kind kind,
                                                Walk& walk) {
  ASSIGN_OR_RETURN(const std::string condition, Condition(e.cond(), walk));
  if (condition == "true") return ValueOf(e.args()[0], kind, walk);
  if (condition == "false") return ValueOf(e.args()[1], kind, walk);
  const std::string name = Fresh("v");
  std::string branches[2];
  for (int i = 0; i < 2; ++i) {
    Open();
    scope_->branch = true;
    if (IsOfIndices(e.cond())) {
      scope_->only_if = absl::StrCat(i == 0 ? "" : "!", condition);
    }
    absl::StatusOr<std::string> text = ValueOf(e.args()[i], kind, walk);
    if (text.ok()) Write(absl::StrCat(name, " = ", *text, ";"));
    branches[i] = Close();
    if (!text.ok()) return text.status();
  }
  Write(absl::StrCat(TypeOf(kind), " ", name, ";\nif (", condition, ") {\n",
                     branches[0], "} else {\n", branches[1], "}"));
  return name;
}

}  // namespace isomer::cuda
