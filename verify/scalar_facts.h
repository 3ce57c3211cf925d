// What proofs believe of scalar functions, beyond the laws of arithmetic: all
// of it, so that the trust report can say it and stamps depend on it.
#ifndef ISOMER_VERIFY_SCALAR_FACTS_H_
#define ISOMER_VERIFY_SCALAR_FACTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ops/polynomial.h"

namespace isomer::verify {

enum class ScalarFact {
  kRootSquared,
  kExpOfSum,
  kLogOfExp,
  kSignTwice,
  kFloorTwice,
  kRoundTwice,
  kWholeNumber,
  kLessNumber,
  kEqualNumber,
  kMaxNested,
  kMaxShifted,
  kMaxScaled,
  kMaxOrdered,
};

// "exp(a + b) = exp(a) * exp(b)".
std::string FactText(ScalarFact fact);

// The fact that f(f(a)) = f(a), if that is one.
std::optional<ScalarFact> TwiceIsOnce(absl::string_view function);

// f(number), where that is known, and by what.
struct NumberFact {
  Polynomial value;
  std::string fact;
};
std::optional<NumberFact> FunctionAt(absl::string_view function,
                                     const Polynomial& number);

// All of them, as text.
std::vector<std::string> AllScalarFacts();

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_SCALAR_FACTS_H_
