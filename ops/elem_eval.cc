// A plain recursion over the element; the first error stops everything.
#include "ops/elem_eval.h"

#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "ops/scalar.h"
#include "ops/status.h"

namespace isomer {

namespace {

// Whether an element is made of indices alone: an integer in every scalar.
bool IsIndexValued(const Elem& e) {
  switch (e.kind()) {
    case Elem::Kind::kIndex:
      return true;
    case Elem::Kind::kConst:
      return e.value() == std::trunc(e.value());
    case Elem::Kind::kAdd:
    case Elem::Kind::kMul:
    case Elem::Kind::kReduce:
    case Elem::Kind::kIf:
      return absl::c_all_of(e.args(), IsIndexValued);
    default:
      return false;
  }
}

template <class T>
class ElemEvaluator {
 public:
  ElemEvaluator(absl::Span<const Tensor* const> inputs,
                std::map<std::string, int64_t> symbols)
      : inputs_(inputs), symbols_(std::move(symbols)) {}

  T Value(const Elem& e) {
    switch (e.kind()) {
      case Elem::Kind::kConst:
        return FromDouble<T>(e.value());
      case Elem::Kind::kIndex:
        return FromInt<T>(Index(e.expr()));
      case Elem::Kind::kInput:
        return Element(e.input(), e.indices());
      case Elem::Kind::kAdd:
        return Value(e.args()[0]) + Value(e.args()[1]);
      case Elem::Kind::kMul:
        return Value(e.args()[0]) * Value(e.args()[1]);
      case Elem::Kind::kDiv:
        return Value(e.args()[0]) / Value(e.args()[1]);
      case Elem::Kind::kFn:
        return Function(e);
      case Elem::Kind::kReduce:
        if (IsExtreme(e) && IsIndexValued(e)) return FromInt<T>(Whole(e));
        return Fold<T>(e, [this](const Elem& body) { return Value(body); });
      case Elem::Kind::kIf:
        return Value(e.args()[Holds(e.cond()) ? 0 : 1]);
    }
    return T{};
  }

  const absl::Status& status() const { return status_; }

 private:
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  int64_t Index(const DimExpr& e) {
    auto element = [this](int input, const std::vector<int64_t>& at) {
      return Integer(input, at);
    };
    std::optional<int64_t> v = e.Evaluate(symbols_, element);
    if (!v) Fail(Invalid("index '", e.ToString(), "' has no value"));
    return v.value_or(0);
  }

  // The place of an element in memory; nothing if it lies outside.
  std::optional<int64_t> Offset(int input, const std::vector<int64_t>& at) {
    if (input < 0 || input >= static_cast<int>(inputs_.size())) {
      Fail(Invalid("there is no input ", input));
      return std::nullopt;
    }
    const TensorType& type = inputs_[input]->type;
    const std::vector<int64_t> strides = Strides(type.shape);
    int64_t offset = 0;
    bool inside = at.size() == type.shape.size();
    for (size_t d = 0; inside && d < at.size(); ++d) {
      inside = at[d] >= 0 && at[d] < type.shape[d];
      offset += at[d] * strides[d];
    }
    if (inside) return offset;
    Fail(Invalid("element [", absl::StrJoin(at, ","), "] lies outside input ",
                 input, " of type ", TypeText(type)));
    return std::nullopt;
  }

  std::optional<int64_t> Integer(int input, const std::vector<int64_t>& at) {
    std::optional<int64_t> offset = Offset(input, at);
    if (!offset) return std::nullopt;
    if (auto* v = std::get_if<std::vector<int64_t>>(&inputs_[input]->data)) {
      return (*v)[*offset];
    }
    Fail(Invalid("input ", input, " is read as integers but is ",
                 TypeText(inputs_[input]->type)));
    return std::nullopt;
  }

  std::vector<int64_t> Indices(const std::vector<DimExpr>& indices) {
    std::vector<int64_t> at;
    for (const DimExpr& e : indices) at.push_back(Index(e));
    return at;
  }

  T Element(int input, const std::vector<DimExpr>& indices) {
    const std::vector<int64_t> at = Indices(indices);
    std::optional<int64_t> offset =
        status_.ok() ? Offset(input, at) : std::nullopt;
    if (!offset) return T{};
    const Elements& data = inputs_[input]->data;
    if (auto* v = std::get_if<std::vector<int64_t>>(&data)) {
      return FromInt<T>((*v)[*offset]);
    }
    if (auto* v = std::get_if<std::vector<T>>(&data)) return (*v)[*offset];
    Fail(Invalid("input ", input, " holds another scalar than asked for"));
    return T{};
  }

  T Function(const Elem& e) {
    const std::string& name = e.name();
    std::vector<T> x;
    for (const Elem& arg : e.args()) x.push_back(Value(arg));
    if (name == "exp") return Exp(x[0]);
    if (name == "log") return Log(x[0]);
    if (name == "sqrt") return Sqrt(x[0]);
    if (name == "erf") return Erf(x[0]);
    if (name == "sin") return Sin(x[0]);
    if (name == "cos") return Cos(x[0]);
    if (name == "floor") return Floor(x[0]);
    if (name == "max") return Max(x[0], x[1]);
    if (name == "min") return Min(x[0], x[1]);
    if (name == "round") return Round(x[0]);
    if (name == "sign") return Sign(x[0]);
    if (name == "pow") return Pow(x[0], x[1]);
    if (name == "is_nan") return FromInt<T>(IsNan(x[0]) ? 1 : 0);
    if constexpr (std::is_same_v<T, Int>) {
      if (name == "trunc_div") return TruncDiv(x[0], x[1]);
    }
    if (name == "round") return Round(x[0]);
    if (name == "sign") return Sign(x[0]);
    if (name == "pow") return Pow(x[0], x[1]);
    if (name == "is_nan") return FromInt<T>(IsNan(x[0]) ? 1 : 0);
    if constexpr (std::is_same_v<T, Int>) {
      if (name == "trunc_div") return TruncDiv(x[0], x[1]);
    }
    if (absl::StartsWith(name, "narrow_")) {
      absl::StatusOr<DType> type = ParseDType(name.substr(7));
      if (type.ok()) return Narrowed(*type, e.args()[0], x[0]);
    }
    Fail(Invalid("there is no function '", name, "'"));
    return T{};
  }

  // A conversion. An element of an integer tensor is a known number in every
  // scalar, so it is the number that is converted.
  T Narrowed(DType type, const Elem& from, const T& x) {
    if (from.kind() == Elem::Kind::kInput && status_.ok() &&
        inputs_[from.input()]->data.index() == 0) {
      const std::optional<int64_t> v =
          Integer(from.input(), Indices(from.indices()));
      return FromDouble<T>(Narrow(type, static_cast<double>(v.value_or(0))));
    }
    return Narrow(type, x);
  }

  // The value of an element made of indices alone. Integers have their true
  // order here, whatever the order of T is.
  int64_t Whole(const Elem& e) {
    switch (e.kind()) {
      case Elem::Kind::kConst:
        return static_cast<int64_t>(e.value());
      case Elem::Kind::kAdd:
        return Whole(e.args()[0]) + Whole(e.args()[1]);
      case Elem::Kind::kMul:
        return Whole(e.args()[0]) * Whole(e.args()[1]);
      case Elem::Kind::kReduce:
        return Fold<Int>(e,
                         [this](const Elem& body) {
                           return Int::FromInt(Whole(body));
                         })
            .value();
      case Elem::Kind::kIf:
        return Whole(e.args()[Holds(e.cond()) ? 0 : 1]);
      default:
        return Index(e.expr());
    }
  }

  static bool IsExtreme(const Elem& e) {
    return e.fold() == Elem::Fold::kMax || e.fold() == Elem::Fold::kMin;
  }

  template <class V, class Body>
  V Fold(const Elem& e, Body body) {
    const int64_t extent = Index(e.expr());
    if (IsExtreme(e) && extent <= 0) {
      Fail(Invalid("an extreme over no elements"));
    }
    Accumulator<V> sum;
    V best = FromInt<V>(1);
    for (int64_t k = 0; k < extent && status_.ok(); ++k) {
      symbols_[e.name()] = k;
      const V x = body(e.args()[0]);
      if (e.fold() == Elem::Fold::kSum) {
        sum.Add(x);
      } else if (e.fold() == Elem::Fold::kProd) {
        best = best * x;
      } else if (k == 0) {
        best = x;
      } else {
        best = e.fold() == Elem::Fold::kMax ? Max(best, x) : Min(best, x);
      }
    }
    symbols_.erase(e.name());
    return e.fold() == Elem::Fold::kSum ? sum.Result() : best;
  }

  bool Holds(const ElemCond& c) {
    switch (c.kind()) {
      case ElemCond::Kind::kGe0:
        return Index(c.expr()) >= 0;
      case ElemCond::Kind::kEq0:
        return Index(c.expr()) == 0;
      case ElemCond::Kind::kAnd:
        return Holds(c.parts()[0]) && Holds(c.parts()[1]);
      case ElemCond::Kind::kOr:
        return Holds(c.parts()[0]) || Holds(c.parts()[1]);
      case ElemCond::Kind::kNot:
        return !Holds(c.parts()[0]);
      case ElemCond::Kind::kTruth:
        return Integer(c.input(), Indices(c.indices())).value_or(0) != 0;
      case ElemCond::Kind::kLess:
        return IsLess(Value(c.operands()[0]), Value(c.operands()[1]));
      case ElemCond::Kind::kEqual:
        return Value(c.operands()[0]) == Value(c.operands()[1]);
    }
    return false;
  }

  bool IsLess(const T& a, const T& b) {
    if constexpr (kOrdered<T>) {
      return Less(a, b);
    } else {
      Fail(Unsupported("symbols have no order"));
      return false;
    }
  }

  absl::Span<const Tensor* const> inputs_;
  std::map<std::string, int64_t> symbols_;
  absl::Status status_;
};

}  // namespace

template <class T>
absl::StatusOr<T> EvalElem(const Elem& e,
                           absl::Span<const Tensor* const> inputs,
                           std::map<std::string, int64_t> symbols) {
  ElemEvaluator<T> evaluator(inputs, std::move(symbols));
  T value = evaluator.Value(e);
  if (!evaluator.status().ok()) {
    return Prefixed(absl::StrCat("element ", e.ToString(), ": "),
                    evaluator.status());
  }
  return value;
}

template absl::StatusOr<float> EvalElem(const Elem&,
                                        absl::Span<const Tensor* const>,
                                        std::map<std::string, int64_t>);
template absl::StatusOr<double> EvalElem(const Elem&,
                                         absl::Span<const Tensor* const>,
                                         std::map<std::string, int64_t>);
template absl::StatusOr<Field> EvalElem(const Elem&,
                                        absl::Span<const Tensor* const>,
                                        std::map<std::string, int64_t>);
template absl::StatusOr<Int> EvalElem(const Elem&,
                                      absl::Span<const Tensor* const>,
                                      std::map<std::string, int64_t>);
template absl::StatusOr<Term> EvalElem(const Elem&,
                                       absl::Span<const Tensor* const>,
                                       std::map<std::string, int64_t>);

}  // namespace isomer
