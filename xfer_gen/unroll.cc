// The element is taken apart once, its index expressions into integer
// arithmetic on numbered loop variables; then it is walked once for each
// output element.
#include "xfer_gen/unroll.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "ops/elem.h"
#include "ops/status.h"

namespace isomer::gen {

namespace {

// An index expression over numbered variables: a sum of multiples of variables
// and of products, whose factors are variables or the divisions and extremes of
// other expressions.
struct IndexCode {
  enum class Call { kVariable, kFloorDiv, kMax, kMin };
  struct Factor {
    Call call = Call::kVariable;
    int variable = 0;
    std::vector<IndexCode> args = {};
  };
  struct Multiple {
    int64_t coefficient;
    int variable;
  };
  struct Product {
    int64_t coefficient;
    std::vector<Factor> factors;
  };
  int64_t constant = 0;
  absl::InlinedVector<Multiple, 4> multiples;
  std::vector<Product> products;
  // The sum of the constant and of what has been hoisted out of loops.
  int64_t hoisted = 0;
  absl::InlinedVector<Multiple, 4> hoists;
  std::vector<Product> hoisted_products;
  // The rest, by the iteration of the reduction around it; the number of the
  // iteration comes after the variables.
  std::vector<int64_t> rest;
};

int64_t Value(const IndexCode& e, const std::vector<int64_t>& variables);
int64_t Value(const IndexCode::Product& p,
              const std::vector<int64_t>& variables);

int64_t Value(const IndexCode::Factor& f,
              const std::vector<int64_t>& variables) {
  if (f.call == IndexCode::Call::kVariable) return variables[f.variable];
  int64_t v = Value(f.args[0], variables);
  for (size_t i = 1; i < f.args.size(); ++i) {
    const int64_t w = Value(f.args[i], variables);
    if (f.call == IndexCode::Call::kFloorDiv) v = FloorDiv(v, w);
    if (f.call == IndexCode::Call::kMax) v = std::max(v, w);
    if (f.call == IndexCode::Call::kMin) v = std::min(v, w);
  }
  return v;
}

int64_t Value(const IndexCode& e, const std::vector<int64_t>& variables) {
  if (!e.rest.empty()) return e.hoisted + e.rest[variables.back()];
  int64_t v = e.hoisted;
  for (const IndexCode::Multiple& m : e.multiples) {
    v += m.coefficient * variables[m.variable];
  }
  for (const IndexCode::Product& p : e.products) v += Value(p, variables);
  return v;
}

int64_t Value(const IndexCode::Product& p,
              const std::vector<int64_t>& variables) {
  int64_t v = p.coefficient;
  for (const IndexCode::Factor& f : p.factors) v *= Value(f, variables);
  return v;
}

// Adds a multiple of one expression to another.
void AddTo(IndexCode& to, int64_t times, const IndexCode& from) {
  to.constant += times * from.constant;
  for (const IndexCode::Multiple& m : from.multiples) {
    auto it = std::find_if(
        to.multiples.begin(), to.multiples.end(),
        [&](const IndexCode::Multiple& o) { return o.variable == m.variable; });
    if (it == to.multiples.end()) {
      to.multiples.push_back({times * m.coefficient, m.variable});
    } else {
      it->coefficient += times * m.coefficient;
    }
  }
  for (IndexCode::Product p : from.products) {
    p.coefficient *= times;
    to.products.push_back(std::move(p));
  }
}

// True if an expression names none but the first `count` variables.
bool IsOuter(const IndexCode& e, int count);

bool IsOuter(const IndexCode::Product& p, int count) {
  return std::all_of(
      p.factors.begin(), p.factors.end(), [&](const IndexCode::Factor& f) {
        if (f.call == IndexCode::Call::kVariable) return f.variable < count;
        return std::all_of(
            f.args.begin(), f.args.end(),
            [&](const IndexCode& a) { return IsOuter(a, count); });
      });
}

bool IsOuter(const IndexCode& e, int count) {
  return std::all_of(e.multiples.begin(), e.multiples.end(),
                     [&](const auto& m) { return m.variable < count; }) &&
         std::all_of(e.products.begin(), e.products.end(),
                     [&](const auto& p) { return IsOuter(p, count); });
}

// Lets what depends on the first `count` variables alone be hoisted.
void SplitHoists(IndexCode& e, int count) {
  e.hoisted = e.constant;
  const auto first_inner = std::stable_partition(
      e.multiples.begin(), e.multiples.end(),
      [&](const IndexCode::Multiple& m) { return m.variable < count; });
  e.hoists.assign(e.multiples.begin(), first_inner);
  e.multiples.erase(e.multiples.begin(), first_inner);
  const auto inner = std::stable_partition(
      e.products.begin(), e.products.end(),
      [&](const IndexCode::Product& p) { return IsOuter(p, count); });
  std::move(e.products.begin(), inner, std::back_inserter(e.hoisted_products));
  e.products.erase(e.products.begin(), inner);
  for (auto* products : {&e.products, &e.hoisted_products}) {
    for (IndexCode::Product& p : *products) {
      for (IndexCode::Factor& f : p.factors) {
        for (IndexCode& arg : f.args) SplitHoists(arg, count);
      }
    }
  }
}

// Sums up what was hoisted for the values that its variables have.
void Hoist(IndexCode& e, const std::vector<int64_t>& variables) {
  for (auto* products : {&e.products, &e.hoisted_products}) {
    for (IndexCode::Product& p : *products) {
      for (IndexCode::Factor& f : p.factors) {
        for (IndexCode& arg : f.args) Hoist(arg, variables);
      }
    }
  }
  e.hoisted = e.constant;
  for (const IndexCode::Multiple& m : e.hoists) {
    e.hoisted += m.coefficient * variables[m.variable];
  }
  for (const IndexCode::Product& p : e.hoisted_products) {
    e.hoisted += Value(p, variables);
  }
}

struct ElemCode;

struct CondCode {
  ElemCond::Kind kind;
  IndexCode expr = {};
  std::vector<CondCode> parts = {};
};

// An element with its indices as code.
struct ElemCode {
  Elem::Kind kind;
  Field value = {};                          // kConst
  IndexCode index = {};                      // kIndex; kReduce: extent
  int input = 0;                             // kInput
  IndexCode place = {};                      // kInput: among its elements
  Elem::Fold fold = {};                      // kReduce
  int variable = 0;                          // kReduce
  Instruction::Function function = nullptr;  // kFn
  bool max = false, min = false;             // kFn
  std::vector<CondCode> cond = {};           // kIf: one
  std::vector<ElemCode> args = {};
};

// Calls `f` for all index expressions of an element.
template <class F>
void ForEachIndex(CondCode& c, const F& f) {
  f(c.expr);
  for (CondCode& part : c.parts) ForEachIndex(part, f);
}
template <class F>
void ForEachIndex(ElemCode& e, const F& f) {
  f(e.index);
  f(e.place);
  for (CondCode& c : e.cond) ForEachIndex(c, f);
  for (ElemCode& arg : e.args) ForEachIndex(arg, f);
}

bool HasReduction(const ElemCode& e) {
  return e.kind == Elem::Kind::kReduce ||
         std::any_of(e.args.begin(), e.args.end(), HasReduction);
}

// The reductions of one kind that lie directly in each other, outermost first.
// E is ElemCode, const or not.
template <class E>
absl::InlinedVector<E*, 4> NestOf(E& e) {
  absl::InlinedVector<E*, 4> nest = {&e};
  while (nest.back()->args[0].kind == Elem::Kind::kReduce &&
         nest.back()->args[0].fold == e.fold) {
    nest.push_back(&nest.back()->args[0]);
  }
  return nest;
}

// Calls `body` for all values of the variables of a nest, the last fastest.
template <class Nest, class F>
void Loop(const Nest& nest, size_t depth, std::vector<int64_t>& variables,
          const F& body) {
  if (depth == nest.size()) return body();
  const int64_t extent = Value(nest[depth]->index, variables);
  for (int64_t k = 0; k < extent; ++k) {
    variables[nest[depth]->variable] = k;
    Loop(nest, depth + 1, variables, body);
  }
}

// Finds the rests of index expressions in reductions once for all output
// elements, where they are sums of multiples of the reductions' own variables.
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
  ForEachIndex(body, [&](IndexCode& index) {
    if (index.multiples.empty() || !index.products.empty()) return;
    std::vector<int64_t> rest;
    Loop(nest, 0, variables, [&] {
      int64_t v = 0;
      for (const IndexCode::Multiple& m : index.multiples) {
        v += m.coefficient * variables[m.variable];
      }
      rest.push_back(v);
    });
    index.rest = std::move(rest);
  });
}

Instruction::Function FindFunction(absl::string_view name) {
  if (name == "exp") return static_cast<Instruction::Function>(Exp);
  if (name == "log") return static_cast<Instruction::Function>(Log);
  if (name == "sqrt") return static_cast<Instruction::Function>(Sqrt);
  if (name == "erf") return static_cast<Instruction::Function>(Erf);
  if (name == "sin") return static_cast<Instruction::Function>(Sin);
  if (name == "cos") return static_cast<Instruction::Function>(Cos);
  if (name == "floor") return static_cast<Instruction::Function>(Floor);
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

// Writes instructions for one output element after the other.
class Emitter {
 public:
  Emitter(absl::Span<const Ref> inputs, Ref temporaries, size_t num_variables,
          Code& code)
      : inputs_(inputs),
        next_(temporaries),
        variables_(num_variables + 1),
        code_(code) {}

  std::vector<int64_t>& variables() { return variables_; }

  // Where the value of `e` lies; a temporary place if it is computed.
  Ref Emit(const ElemCode& e) {
    switch (e.kind) {
      case Elem::Kind::kConst:
        return Constant(e.value);
      case Elem::Kind::kIndex:
        return Constant(Field::FromInt(Value(e.index, variables_)));
      case Elem::Kind::kInput:
        return Input(e);
      case Elem::Kind::kIf:
        return Emit(e.args[Holds(e.cond[0]) ? 0 : 1]);
      case Elem::Kind::kReduce:
        return Reduce(e);
      case Elem::Kind::kAdd:
        return Simple(Instruction::Kind::kSum, e);
      case Elem::Kind::kMul:
        return Simple(Instruction::Kind::kProduct, e);
      case Elem::Kind::kDiv:
        return Simple(Instruction::Kind::kDiv, e);
      case Elem::Kind::kFn:
        if (e.max) return Simple(Instruction::Kind::kMax, e);
        if (e.min) return Simple(Instruction::Kind::kMin, e);
        Instruction f{.kind = Instruction::Kind::kFunction,
                      .function = e.function};
        const Ref arg = Emit(e.args[0]);
        return Add(f, {&arg, 1});
    }
    return {};
  }

  // Moves the value at `from` to `to`: the instruction that made it writes
  // there at once.
  void Place(Ref from, Ref to) {
    if (!code_.instructions.empty() && code_.instructions.back().out == from &&
        from.array() == next_.array()) {
      code_.instructions.back().out = to;
      return;
    }
    Instruction copy{.kind = Instruction::Kind::kSum, .out = to};
    Append(copy, {&from, 1});
  }

  Ref next() const { return next_; }

 private:
  Ref Constant(Field value) {
    auto it = std::find(code_.constants.begin(), code_.constants.end(), value);
    if (it == code_.constants.end()) {
      code_.constants.push_back(value);
      it = code_.constants.end() - 1;
    }
    return Ref(0, static_cast<uint32_t>(it - code_.constants.begin()));
  }

  Ref Input(const ElemCode& e) {
    const Ref base = inputs_[e.input];
    return Ref(base.array(), base.place() + static_cast<uint32_t>(
                                                Value(e.place, variables_)));
  }

  bool IsConstant(Ref r, Field value) const {
    return r.array() == 0 && code_.constants[r.place()] == value;
  }

  bool Holds(const CondCode& c) const {
    switch (c.kind) {
      case ElemCond::Kind::kGe0:
        return Value(c.expr, variables_) >= 0;
      case ElemCond::Kind::kEq0:
        return Value(c.expr, variables_) == 0;
      case ElemCond::Kind::kAnd:
        return Holds(c.parts[0]) && Holds(c.parts[1]);
      case ElemCond::Kind::kOr:
        return Holds(c.parts[0]) || Holds(c.parts[1]);
      default:
        return !Holds(c.parts[0]);
    }
  }

  Ref Simple(Instruction::Kind kind, const ElemCode& e) {
    absl::InlinedVector<Ref, 4> args;
    for (const ElemCode& arg : e.args) args.push_back(Emit(arg));
    const bool constant = args[1].array() == 0;
    if (kind == Instruction::Kind::kDiv && constant) {
      // A division by a number is a product, which cannot cancel anything.
      kind = Instruction::Kind::kProduct;
      args[1] = Constant(code_.constants[args[1].place()].Inverse());
    }
    Instruction i{.kind = kind};
    return Add(i, args);
  }

  // Nested sums become one; sums of products become dot products.
  Ref Reduce(const ElemCode& e) {
    const auto nest = NestOf(e);
    const ElemCode& body = nest.back()->args[0];
    const bool dot =
        e.fold == Elem::Fold::kSum && body.kind == Elem::Kind::kMul;
    absl::InlinedVector<Ref, 128> args;
    int64_t iteration = 0;
    Loop(nest, 0, variables_, [&] {
      variables_.back() = iteration++;
      if (!dot) {
        const Ref r = Emit(body);
        if (e.fold == Elem::Fold::kSum && IsConstant(r, Field())) return;
        args.push_back(r);
        return;
      }
      const Ref a = Emit(body.args[0]), b = Emit(body.args[1]);
      if (IsConstant(a, Field()) || IsConstant(b, Field())) return;
      args.push_back(a);
      args.push_back(b);
    });
    if (args.empty()) {
      return Constant(Field::FromInt(e.fold == Elem::Fold::kProd ? 1 : 0));
    }
    Instruction i;
    switch (e.fold) {
      case Elem::Fold::kSum:
        i.kind = dot ? Instruction::Kind::kDot : Instruction::Kind::kSum;
        break;
      case Elem::Fold::kProd:
        i.kind = Instruction::Kind::kProduct;
        break;
      case Elem::Fold::kMax:
        i.kind = Instruction::Kind::kMax;
        break;
      case Elem::Fold::kMin:
        i.kind = Instruction::Kind::kMin;
        break;
    }
    return Add(i, args);
  }

  Ref Add(Instruction i, absl::Span<const Ref> args) {
    i.out = next_;
    next_ = Ref(next_.array(), next_.place() + 1);
    Append(i, args);
    return i.out;
  }

  void Append(Instruction i, absl::Span<const Ref> args) {
    i.first = static_cast<uint32_t>(code_.operands.size());
    i.count = static_cast<uint32_t>(args.size());
    if (i.kind == Instruction::Kind::kDot) {
      i.uniform = true;
      for (size_t k = 0; k < args.size(); ++k) {
        i.uniform = i.uniform && args[k].array() == args[k % 2].array();
      }
    }
    code_.operands.insert(code_.operands.end(), args.begin(), args.end());
    code_.instructions.push_back(i);
  }

  absl::Span<const Ref> inputs_;
  Ref next_;
  std::vector<int64_t> variables_;
  Code& code_;
};

}  // namespace

absl::Status Unroll(const OpDef& op, absl::Span<const TensorType> types,
                    const Attrs& attrs, absl::Span<const Ref> inputs, Ref out,
                    Ref& temporaries, Code& code) {
  std::vector<SymType> sym;
  for (const TensorType& t : types) {
    if (!IsFloat(t.dtype) || !t.device.empty()) {
      return Unsupported(op.name, ": on ", TypeText(t), " is not unrolled");
    }
    sym.push_back(ToSymbolic(t));
  }
  ASSIGN_OR_RETURN(Inferred<DimExpr> inferred,
                   InferOp(op, sym, ToSymbolic(attrs)));
  ASSIGN_OR_RETURN(Inferred<int64_t> known, InferOp(op, types, attrs));
  if (known.outputs.size() != 1 || !IsFloat(known.outputs[0].dtype) ||
      !known.outputs[0].device.empty()) {
    return Unsupported(op.name, ": has other than one plain float output");
  }
  const std::vector<int64_t>& shape = known.outputs[0].shape;
  std::vector<std::string> names;
  std::vector<DimExpr> index;
  for (size_t d = 0; d < shape.size(); ++d) {
    names.push_back(absl::StrCat("i", d));
    index.push_back(DimExpr::Symbol(names.back()));
  }
  ASSIGN_OR_RETURN(Elem elem, IndexOp(op, sym, inferred, index));
  Compiler compiler(names, types);
  ElemCode compiled = compiler.Compile(elem);
  if (!compiler.ok()) {
    return Unsupported(op.name, ": its elements depend on values");
  }
  Emitter emitter(inputs, temporaries,
                  std::max(compiler.num_variables(), names.size()), code);
  // What depends on the output's indices alone is the same in all loops.
  ForEachIndex(compiled, [&](IndexCode& e) {
    SplitHoists(e, static_cast<int>(shape.size()));
  });
  FindRests(compiled, emitter.variables());
  const int64_t n = NumElements(shape);
  for (int64_t at = 0; at < n; ++at) {
    int64_t rest = at;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      emitter.variables()[d] = rest % shape[d];
    }
    ForEachIndex(compiled,
                 [&](IndexCode& e) { Hoist(e, emitter.variables()); });
    const Ref value = emitter.Emit(compiled);
    emitter.Place(value,
                  Ref(out.array(), out.place() + static_cast<uint32_t>(at)));
  }
  temporaries = emitter.next();
  return absl::OkStatus();
}

}  // namespace isomer::gen
