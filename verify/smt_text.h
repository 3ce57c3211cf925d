// Sizes and indices as integer terms of SMT-LIB.
#ifndef ISOMER_VERIFY_SMT_TEXT_H_
#define ISOMER_VERIFY_SMT_TEXT_H_

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "ops/infer.h"

namespace isomer::verify {

class SmtArithmetic {
 public:
  // `name` is asked for the term of a symbol, and of an atom that means nothing
  // to a solver, by its text.
  explicit SmtArithmetic(std::function<std::string(const std::string&)> name)
      : name_(std::move(name)) {}

  std::string Relation(const Obligation& o);
  std::string Term(const DimExpr& e) { return Value(e.polynomial()); }

  // False once something was printed that has no meaning over the integers.
  bool integral() const { return integral_; }
  // What was divided by; a divisor is positive wherever one stands.
  const std::set<std::string>& divisors() const { return divisors_; }

 private:
  std::string Scaled(const Polynomial& p);
  std::string Value(const Polynomial& p);
  std::string AtomText(const Atom& atom);

  std::function<std::string(const std::string&)> name_;
  std::set<std::string> divisors_;
  bool integral_ = true;
};

// (op (op a b) c): what SMT-LIB says with more than two operands in ways that
// not all solvers read alike. `empty` where there are none.
std::string SmtNested(absl::string_view op,
                      const std::vector<std::string>& parts,
                      absl::string_view empty);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_SMT_TEXT_H_
