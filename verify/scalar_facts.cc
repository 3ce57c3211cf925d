#include "verify/scalar_facts.h"

#include "absl/strings/str_cat.h"

namespace isomer::verify {

namespace {

// function(at) = value.
struct Known {
  absl::string_view function;
  int at, value;
};
constexpr Known kKnown[] = {
    {"cos", 0, 1}, {"erf", 0, 0},  {"exp", 0, 1},  {"log", 1, 0},
    {"sin", 0, 0}, {"sign", 0, 0}, {"sqrt", 0, 0}, {"sqrt", 1, 1},
};

std::string Text(const Known& k) {
  return absl::StrCat(k.function, "(", k.at, ") = ", k.value);
}

}  // namespace

std::string FactText(ScalarFact fact) {
  switch (fact) {
    case ScalarFact::kRootSquared:
      return "sqrt(a) * sqrt(a) = a";
    case ScalarFact::kExpOfSum:
      return "exp(a + b) = exp(a) * exp(b)";
    case ScalarFact::kLogOfExp:
      return "log(exp(a)) = a";
    case ScalarFact::kSignTwice:
      return "sign(sign(a)) = sign(a)";
    case ScalarFact::kFloorTwice:
      return "floor(floor(a)) = floor(a)";
    case ScalarFact::kRoundTwice:
      return "round(round(a)) = round(a)";
    case ScalarFact::kWholeNumber:
      return "floor(n) = round(n) = n for a whole number n";
    case ScalarFact::kLessNumber:
      return "[0 < c] of a number c is 1 or 0";
    case ScalarFact::kEqualNumber:
      return "[0 = c] of a number c is 1 or 0";
    case ScalarFact::kMaxNested:
      return "max(max(a, b), c) = max(a, b, c)";
    case ScalarFact::kMaxShifted:
      return "max(a + c, b + c) = max(a, b) + c";
    case ScalarFact::kMaxScaled:
      return "max(c * a, c * b) = c * max(a, b) for c > 0";
    case ScalarFact::kMaxOrdered:
      return "max(a, b) = a where a >= b; a >= b or b >= a";
  }
  return "";
}

std::optional<ScalarFact> TwiceIsOnce(absl::string_view function) {
  if (function == "sign") return ScalarFact::kSignTwice;
  if (function == "floor") return ScalarFact::kFloorTwice;
  if (function == "round") return ScalarFact::kRoundTwice;
  return std::nullopt;
}

std::optional<NumberFact> FunctionAt(absl::string_view function,
                                     const Polynomial& number) {
  for (const Known& k : kKnown) {
    if (k.function == function && number == Polynomial(k.at)) {
      return NumberFact{k.value, Text(k)};
    }
  }
  const auto c = number.constant();
  if (!c) return std::nullopt;
  if (function == "less") {
    return NumberFact{Rational(0) < *c ? 1 : 0,
                      FactText(ScalarFact::kLessNumber)};
  }
  if (function == "equal") {
    return NumberFact{c->IsZero() ? 1 : 0, FactText(ScalarFact::kEqualNumber)};
  }
  if ((function == "floor" || function == "round") && c->IsInteger()) {
    return NumberFact{number, FactText(ScalarFact::kWholeNumber)};
  }
  return std::nullopt;
}

std::vector<std::string> AllScalarFacts() {
  std::vector<std::string> out;
  constexpr int kLast = static_cast<int>(ScalarFact::kMaxOrdered);
  for (int i = 0; i <= kLast; ++i) {
    out.push_back(FactText(static_cast<ScalarFact>(i)));
  }
  for (const Known& k : kKnown) out.push_back(Text(k));
  return out;
}

}  // namespace isomer::verify
