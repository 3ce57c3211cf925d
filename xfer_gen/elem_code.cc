#include "xfer_gen/elem_code.h"

#include <algorithm>
#include <utility>

#include "absl/strings/string_view.h"
#include "ops/dim.h"
#include "ops/tensor.h"

namespace isomer::gen {

namespace {

bool HasReduction(const ElemCode& e) {
  return e.kind == Elem::Kind::kReduce ||
         std::any_of(e.args.begin(), e.args.end(), HasReduction);
}

using Function = Field (*)(Field);

Function FindFunction(absl::string_view name) {
  if (name == "exp") return static_cast<Function>(Exp);
  if (name == "log") return static_cast<Function>(Log);
  if (name == "sqrt") return static_cast<Function>(Sqrt);
  if (name == "erf") return static_cast<Function>(Erf);
  if (name == "sin") return static_cast<Function>(Sin);
  if (name == "cos") return static_cast<Function>(Cos);
  if (name == "floor") return static_cast<Function>(Floor);
  return nullptr;
}

// Turns an element into code; `ok` goes to false where that is not possible.
class Compiler {
 public:
  Compiler(std::vector<std::string> variables,
           absl::Span<const TensorType> inputs)
      : variables_(std::move(variables)) {
    for (const TensorType& t : inputs) strides_.push_back(Strides(t.shape));
  }

  bool ok() const { return ok_; }
  size_t num_variables() const { return most_; }

  ElemCode Compile(const Elem& e) {
    ElemCode out{.kind = e.kind()};
    switch (e.kind()) {
      case Elem::Kind::kConst:
        out.value = Field::FromDouble(e.value());
        return out;
      case Elem::Kind::kIndex:
        out.index = Index(e.expr());
        return out;
      case Elem::Kind::kInput:
        out.input = e.input();
        for (size_t d = 0; d < e.indices().size(); ++d) {
          AddTo(out.place, strides_[e.input()][d], Index(e.indices()[d]));
        }
        return out;
      case Elem::Kind::kReduce:
        out.index = Index(e.expr());
        out.fold = e.fold();
        out.variable = static_cast<int>(variables_.size());
        variables_.push_back(e.name());
        most_ = std::max(most_, variables_.size());
        out.args.push_back(Compile(e.args()[0]));
        variables_.pop_back();
        return out;
      case Elem::Kind::kFn:
        out.function = FindFunction(e.name());
        out.max = e.name() == "max";
        out.min = e.name() == "min";
        ok_ = ok_ && (out.function != nullptr || out.max || out.min);
        break;
      case Elem::Kind::kIf:
        out.cond.push_back(Cond(e.cond()));
        break;
      default:
        break;
    }
    for (const Elem& arg : e.args()) out.args.push_back(Compile(arg));
    return out;
  }

 private:
  IndexCode Index(const DimExpr& e) { return Index(e.polynomial()); }

  IndexCode Index(const Polynomial& p) {
    IndexCode out;
    out.constant = Integer(p.constant_term());
    for (const Monomial& m : p.monomials()) {
      IndexCode::Product product{Integer(m.coefficient), {}};
      for (const isomer::Factor& f : m.factors) {
        ok_ = ok_ && f.power > 0;
        for (int k = 0; k < f.power; ++k) product.factors.push_back(Of(f.atom));
      }
      const bool multiple =
          product.factors.size() == 1 &&
          product.factors[0].call == IndexCode::Call::kVariable;
      if (multiple) {
        out.multiples.push_back(
            {product.coefficient, product.factors[0].variable});
      } else {
        out.products.push_back(std::move(product));
      }
    }
    return out;
  }

  IndexCode::Factor Of(const Atom& atom) {
    IndexCode::Factor f;
    if (atom.is_symbol()) {
      const auto it =
          std::find(variables_.rbegin(), variables_.rend(), atom.name());
      ok_ = ok_ && it != variables_.rend();
      f.variable = static_cast<int>(variables_.rend() - it) - 1;
      return f;
    }
    if (atom.Is("floordiv")) {
      f.call = IndexCode::Call::kFloorDiv;
    } else if (atom.Is("max")) {
      f.call = IndexCode::Call::kMax;
    } else if (atom.Is("min")) {
      f.call = IndexCode::Call::kMin;
    } else {
      ok_ = false;  // an element of an integer tensor
    }
    for (const Polynomial& arg : atom.args()) f.args.push_back(Index(arg));
    return f;
  }

  int64_t Integer(Rational r) {
    ok_ = ok_ && r.integer().has_value();
    return r.integer().value_or(0);
  }

  CondCode Cond(const ElemCond& c) {
    CondCode out{.kind = c.kind()};
    switch (c.kind()) {
      case ElemCond::Kind::kGe0:
      case ElemCond::Kind::kEq0:
        out.expr = Index(c.expr());
        break;
      case ElemCond::Kind::kAnd:
      case ElemCond::Kind::kOr:
      case ElemCond::Kind::kNot:
        for (const ElemCond& p : c.parts()) out.parts.push_back(Cond(p));
        break;
      default:
        ok_ = false;  // it looks at elements
    }
    return out;
  }

  std::vector<std::string> variables_;
  std::vector<std::vector<int64_t>> strides_;  // of the inputs
  size_t most_ = 0;
  bool ok_ = true;
};

}  // namespace

std::optional<FactorCode> FactorOf(const ElemCode& e) {
  if (e.kind == Elem::Kind::kInput) return FactorCode{&e, nullptr};
  if (e.kind != Elem::Kind::kIf || e.args[0].kind != Elem::Kind::kInput ||
      e.args[1].kind != Elem::Kind::kConst || !(e.args[1].value == Field())) {
    return std::nullopt;
  }
  return FactorCode{&e.args[0], &e.cond[0]};
}

std::optional<CompiledElem> CompileElem(const Elem& elem,
                                        std::vector<std::string> names,
                                        absl::Span<const TensorType> inputs) {
  const size_t outer = names.size();
  Compiler compiler(std::move(names), inputs);
  ElemCode code = compiler.Compile(elem);
  if (!compiler.ok()) return std::nullopt;
  return CompiledElem{std::move(code),
                      std::max(outer, compiler.num_variables())};
}

void FindRests(ElemCode& e, std::vector<int64_t>& variables) {
  if (e.kind != Elem::Kind::kReduce) {
    for (ElemCode& arg : e.args) FindRests(arg, variables);
    return;
  }
  const auto nest = NestOf(e);
  ElemCode& body = nest.back()->args[0];
  if (HasReduction(body)) return;
  for (const ElemCode* n : nest) {
    const IndexCode& extent = n->index;
    if (!extent.hoists.empty() || !extent.multiples.empty() ||
        !extent.products.empty() || !extent.hoisted_products.empty()) {
      return;
    }
  }
  bool known = true;
  ForEachIndex(body, [&](IndexCode& index) {
    known = known && index.products.empty();
    if (index.multiples.empty() || !index.products.empty()) return;
    Loop(nest, 0, variables, [&] {
      int64_t v = 0;
      for (const IndexCode::Multiple& m : index.multiples) {
        v += m.coefficient * variables[m.variable];
      }
      index.rest.push_back(v);
    });
  });
  if (!known) return;
  e.iterations = 0;
  Loop(nest, 0, variables, [&] { ++e.iterations; });
}

}  // namespace isomer::gen
