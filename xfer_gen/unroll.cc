// The element is taken apart once, its index expressions into code; then it is
// walked once for each output element.
#include "xfer_gen/unroll.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "ops/elem.h"
#include "ops/status.h"
#include "xfer_gen/elem_code.h"
#include "xfer_gen/index_code.h"

namespace isomer::gen {

namespace {

// Writes instructions for one output element after the other.
class Emitter {
 public:
  explicit Emitter(size_t num_variables) : variables_(num_variables + 1) {}

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

  Code Take() {
    code_.temporaries = next_.place();
    return std::move(code_);
  }

 private:
  Ref Constant(Field value) {
    auto it = std::find(code_.constants.begin(), code_.constants.end(), value);
    if (it == code_.constants.end()) {
      code_.constants.push_back(value);
      it = code_.constants.end() - 1;
    }
    return Ref(kConstants, static_cast<uint32_t>(it - code_.constants.begin()));
  }

  Ref Input(const ElemCode& e) {
    return Ref(kInputs + static_cast<uint32_t>(e.input),
               static_cast<uint32_t>(Value(e.place, variables_)));
  }

  bool IsConstant(Ref r, Field value) const {
    return r.array() == kConstants && code_.constants[r.place()] == value;
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
    const bool constant = args[1].array() == kConstants;
    if (kind == Instruction::Kind::kDiv && constant) {
      // A division by a number is a product, which cannot cancel anything.
      kind = Instruction::Kind::kProduct;
      args[1] = Constant(code_.constants[args[1].place()].Inverse());
    }
    Instruction i{.kind = kind};
    return Add(i, args);
  }

  // The iterations of a reduction in which all factors are there. They depend
  // on what the conditions have hoisted: many output elements have the same.
  const std::vector<uint32_t>& Present(const ElemCode& e,
                                       absl::Span<const FactorCode> factors) {
    Key key;
    for (const FactorCode& f : factors) {
      if (f.cond != nullptr) AddHoisted(*f.cond, key);
    }
    auto [it, fresh] = present_.try_emplace({&e, std::move(key)});
    if (!fresh) return it->second;
    for (int64_t i = 0; i < e.iterations; ++i) {
      variables_.back() = i;
      const bool all =
          std::all_of(factors.begin(), factors.end(), [&](const FactorCode& f) {
            return f.cond == nullptr || Holds(*f.cond);
          });
      if (all) it->second.push_back(static_cast<uint32_t>(i));
    }
    return it->second;
  }

  using Key = absl::InlinedVector<int64_t, 8>;
  static void AddHoisted(const CondCode& c, Key& key) {
    key.push_back(c.expr.hoisted);
    for (const CondCode& part : c.parts) AddHoisted(part, key);
  }

  // The operands of a sum of elements, or of products of two, in turn; false if
  // it is something else.
  bool Flat(const ElemCode& e, const ElemCode& body, bool dot,
            absl::InlinedVector<Ref, 128>& args) {
    if (e.iterations < 0 || e.fold != Elem::Fold::kSum) return false;
    absl::InlinedVector<FactorCode, 2> factors;
    for (size_t k = 0; k < (dot ? 2 : 1); ++k) {
      const auto factor = FactorOf(dot ? body.args[k] : body);
      if (!factor) return false;
      factors.push_back(*factor);
    }
    for (uint32_t i : Present(e, factors)) {
      for (const FactorCode& f : factors) {
        const IndexCode& place = f.input->place;
        const int64_t rest = place.rest.empty() ? 0 : place.rest[i];
        args.push_back(Ref(kInputs + static_cast<uint32_t>(f.input->input),
                           static_cast<uint32_t>(place.hoisted + rest)));
      }
    }
    return true;
  }

  // The operands of any reduction.
  template <class Nest>
  void Iterate(const ElemCode& e, bool dot, const Nest& nest,
               absl::InlinedVector<Ref, 128>& args) {
    const ElemCode& body = nest.back()->args[0];
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
  }

  // Nested sums become one; sums of products become dot products.
  Ref Reduce(const ElemCode& e) {
    const auto nest = NestOf(e);
    const ElemCode& body = nest.back()->args[0];
    const bool dot =
        e.fold == Elem::Fold::kSum && body.kind == Elem::Kind::kMul;
    absl::InlinedVector<Ref, 128> args;
    if (!Flat(e, body, dot, args)) Iterate(e, dot, nest, args);
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

  Ref next_{kTemporaries, 0};
  std::vector<int64_t> variables_;
  Code code_;
  absl::flat_hash_map<std::pair<const ElemCode*, Key>, std::vector<uint32_t>>
      present_;
};

}  // namespace

absl::StatusOr<Code> Unroll(const OpDef& op, absl::Span<const TensorType> types,
                            const Attrs& attrs) {
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
  std::optional<CompiledElem> compiled = CompileElem(elem, names, types);
  if (!compiled) {
    return Unsupported(op.name, ": its elements depend on values");
  }
  ElemCode& code = compiled->code;
  Emitter emitter(compiled->num_variables);
  // What depends on the output's indices alone is the same in all loops.
  ForEachIndex(code, [&](IndexCode& e) {
    SplitHoists(e, static_cast<int>(shape.size()));
  });
  FindRests(code, emitter.variables());
  std::vector<IndexCode*> changing;
  ForEachIndex(code, [&](IndexCode& e) {
    if (!e.IsFixed()) changing.push_back(&e);
  });
  const int64_t n = NumElements(shape);
  for (int64_t at = 0; at < n; ++at) {
    int64_t rest = at;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      emitter.variables()[d] = rest % shape[d];
    }
    for (IndexCode* e : changing) Hoist(*e, emitter.variables());
    const Ref value = emitter.Emit(code);
    emitter.Place(value, Ref(kOutput, static_cast<uint32_t>(at)));
  }
  return emitter.Take();
}

}  // namespace isomer::gen
