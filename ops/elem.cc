// Nodes of the element form. They are built once and never change.
#include "ops/elem.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/attr.h"

namespace isomer {

struct ElemCond::Node {
  Kind kind;
  DimExpr expr = {};
  std::vector<ElemCond> parts = {};
  int input = 0;
  std::vector<DimExpr> indices = {};
  std::vector<Elem> operands = {};
};

struct Elem::Node {
  Kind kind;
  double value = 0;
  DimExpr expr = {};
  int input = 0;
  std::vector<DimExpr> indices = {};
  std::string name = {};
  Fold fold = Fold::kSum;
  std::vector<Elem> args = {};
  std::vector<ElemCond> cond = {};  // one for kIf
};

namespace {

std::string IndexText(const std::vector<DimExpr>& indices) {
  return absl::StrJoin(indices, ",", [](std::string* out, const DimExpr& e) {
    absl::StrAppend(out, e.ToString());
  });
}

}  // namespace

ElemCond ElemCond::Ge0(DimExpr e) {
  return ElemCond(std::make_shared<const Node>(Node{Kind::kGe0, std::move(e)}));
}
ElemCond ElemCond::Eq0(DimExpr e) {
  return ElemCond(std::make_shared<const Node>(Node{Kind::kEq0, std::move(e)}));
}
ElemCond ElemCond::And(ElemCond a, ElemCond b) {
  return ElemCond(
      std::make_shared<const Node>(Node{.kind = Kind::kAnd, .parts = {a, b}}));
}
ElemCond ElemCond::Or(ElemCond a, ElemCond b) {
  return ElemCond(
      std::make_shared<const Node>(Node{.kind = Kind::kOr, .parts = {a, b}}));
}
ElemCond ElemCond::Not(ElemCond a) {
  return ElemCond(
      std::make_shared<const Node>(Node{.kind = Kind::kNot, .parts = {a}}));
}
ElemCond ElemCond::Truth(int input, std::vector<DimExpr> indices) {
  return ElemCond(std::make_shared<const Node>(Node{
      .kind = Kind::kTruth, .input = input, .indices = std::move(indices)}));
}
ElemCond ElemCond::Less(Elem a, Elem b) {
  return ElemCond(std::make_shared<const Node>(
      Node{.kind = Kind::kLess, .operands = {a, b}}));
}
ElemCond ElemCond::Equal(Elem a, Elem b) {
  return ElemCond(std::make_shared<const Node>(
      Node{.kind = Kind::kEqual, .operands = {a, b}}));
}

ElemCond::Kind ElemCond::kind() const { return node_->kind; }
const DimExpr& ElemCond::expr() const { return node_->expr; }
const std::vector<ElemCond>& ElemCond::parts() const { return node_->parts; }
int ElemCond::input() const { return node_->input; }
const std::vector<DimExpr>& ElemCond::indices() const { return node_->indices; }
const std::vector<Elem>& ElemCond::operands() const { return node_->operands; }

std::string ElemCond::ToString() const {
  auto part = [&](int i) { return parts()[i].ToString(); };
  switch (kind()) {
    case Kind::kGe0:
      return absl::StrCat(expr().ToString(), " >= 0");
    case Kind::kEq0:
      return absl::StrCat(expr().ToString(), " == 0");
    case Kind::kAnd:
      return absl::StrCat("(", part(0), " and ", part(1), ")");
    case Kind::kOr:
      return absl::StrCat("(", part(0), " or ", part(1), ")");
    case Kind::kNot:
      return absl::StrCat("not (", part(0), ")");
    case Kind::kTruth:
      return absl::StrCat("in", input(), "[", IndexText(indices()), "]");
    case Kind::kLess:
      return absl::StrCat(operands()[0].ToString(), " < ",
                          operands()[1].ToString());
    case Kind::kEqual:
      return absl::StrCat(operands()[0].ToString(), " = ",
                          operands()[1].ToString());
  }
  return "";
}

Elem::Elem(double value)
    : node_(std::make_shared<const Node>(Node{Kind::kConst, value})) {}

Elem Elem::FromIndex(DimExpr e) {
  if (auto c = e.constant()) return Elem(static_cast<double>(*c));
  return Elem(std::make_shared<const Node>(
      Node{.kind = Kind::kIndex, .expr = std::move(e)}));
}
Elem Elem::Input(int input, std::vector<DimExpr> indices) {
  return Elem(std::make_shared<const Node>(Node{
      .kind = Kind::kInput, .input = input, .indices = std::move(indices)}));
}
Elem Elem::Fn(absl::string_view name, std::vector<Elem> args) {
  return Elem(std::make_shared<const Node>(Node{
      .kind = Kind::kFn, .name = std::string(name), .args = std::move(args)}));
}
Elem Elem::Reduce(Fold fold, std::string var, DimExpr extent, Elem body) {
  return Elem(std::make_shared<const Node>(Node{.kind = Kind::kReduce,
                                                .expr = std::move(extent),
                                                .name = std::move(var),
                                                .fold = fold,
                                                .args = {std::move(body)}}));
}
Elem Elem::If(ElemCond cond, Elem then, Elem otherwise) {
  return Elem(std::make_shared<const Node>(
      Node{.kind = Kind::kIf,
           .args = {std::move(then), std::move(otherwise)},
           .cond = {std::move(cond)}}));
}

Elem::Kind Elem::kind() const { return node_->kind; }
double Elem::value() const { return node_->value; }
const DimExpr& Elem::expr() const { return node_->expr; }
int Elem::input() const { return node_->input; }
const std::vector<DimExpr>& Elem::indices() const { return node_->indices; }
const std::string& Elem::name() const { return node_->name; }
Elem::Fold Elem::fold() const { return node_->fold; }
const std::vector<Elem>& Elem::args() const { return node_->args; }
const ElemCond& Elem::cond() const { return node_->cond[0]; }

std::string Elem::ToString() const {
  auto arg = [&](int i) { return args()[i].ToString(); };
  switch (kind()) {
    case Kind::kConst:
      return DoubleText(value());
    case Kind::kIndex:
      return absl::StrCat("(", expr().ToString(), ")");
    case Kind::kInput:
      return absl::StrCat("in", input(), "[", IndexText(indices()), "]");
    case Kind::kAdd:
      return absl::StrCat("(", arg(0), " + ", arg(1), ")");
    case Kind::kMul:
      return absl::StrCat(arg(0), "*", arg(1));
    case Kind::kDiv:
      return absl::StrCat(arg(0), "/(", arg(1), ")");
    case Kind::kFn:
      return absl::StrCat(name(), "(",
                          absl::StrJoin(args(), ", ",
                                        [](std::string* out, const Elem& e) {
                                          absl::StrAppend(out, e.ToString());
                                        }),
                          ")");
    case Kind::kReduce: {
      static constexpr absl::string_view kNames[] = {"sum", "prod", "max",
                                                     "min"};
      return absl::StrCat(kNames[static_cast<int>(fold())], "{", name(), "<",
                          expr().ToString(), "} ", arg(0));
    }
    case Kind::kIf:
      return absl::StrCat("(", cond().ToString(), " ? ", arg(0), " : ", arg(1),
                          ")");
  }
  return "";
}

namespace {

bool IsConst(const Elem& e, double v) {
  return e.kind() == Elem::Kind::kConst && e.value() == v;
}

}  // namespace

Elem operator+(const Elem& a, const Elem& b) {
  if (IsConst(a, 0)) return b;
  if (IsConst(b, 0)) return a;
  return Elem(std::make_shared<const Elem::Node>(
      Elem::Node{.kind = Elem::Kind::kAdd, .args = {a, b}}));
}
Elem operator*(const Elem& a, const Elem& b) {
  if (IsConst(a, 1)) return b;
  if (IsConst(b, 1)) return a;
  return Elem(std::make_shared<const Elem::Node>(
      Elem::Node{.kind = Elem::Kind::kMul, .args = {a, b}}));
}
Elem operator/(const Elem& a, const Elem& b) {
  if (IsConst(b, 1)) return a;
  return Elem(std::make_shared<const Elem::Node>(
      Elem::Node{.kind = Elem::Kind::kDiv, .args = {a, b}}));
}
Elem operator-(const Elem& a) { return Elem(-1.0) * a; }
Elem operator-(const Elem& a, const Elem& b) {
  return IsConst(b, 0) ? a : a + (-b);
}

Elem Exp(const Elem& x) { return Elem::Fn("exp", {x}); }
Elem Log(const Elem& x) { return Elem::Fn("log", {x}); }
Elem Sqrt(const Elem& x) { return Elem::Fn("sqrt", {x}); }
Elem Erf(const Elem& x) { return Elem::Fn("erf", {x}); }
Elem Sin(const Elem& x) { return Elem::Fn("sin", {x}); }
Elem Cos(const Elem& x) { return Elem::Fn("cos", {x}); }
Elem Floor(const Elem& x) { return Elem::Fn("floor", {x}); }
Elem Narrow(DType type, const Elem& x) {
  return Elem::Fn(absl::StrCat("narrow_", DTypeName(type)), {x});
}
Elem Max(const Elem& a, const Elem& b) { return Elem::Fn("max", {a, b}); }
Elem Min(const Elem& a, const Elem& b) { return Elem::Fn("min", {a, b}); }
Elem Round(const Elem& x) { return Elem::Fn("round", {x}); }
Elem Sign(const Elem& x) { return Elem::Fn("sign", {x}); }
Elem Pow(const Elem& x, const Elem& y) { return Elem::Fn("pow", {x, y}); }
Elem IsNan(const Elem& x) { return Elem::Fn("is_nan", {x}); }
Elem TruncDiv(const Elem& a, const Elem& b) {
  return Elem::Fn("trunc_div", {a, b});
}

}  // namespace isomer
