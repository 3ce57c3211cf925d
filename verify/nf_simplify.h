// The structure of one term under facts: equalities remove bound variables,
// guards become ranges, ranges of one value and unused variables go away,
// quotients take index variables apart, and each variable starts where a fixed
// input element does. What is left is the same for terms that are equal.
#ifndef ISOMER_VERIFY_NF_SIMPLIFY_H_
#define ISOMER_VERIFY_NF_SIMPLIFY_H_

#include "verify/arithmetic.h"
#include "verify/nf_term.h"

namespace isomer::verify {

// What a variable means that nothing depends on: a sum counts how often, a
// maximum does not.
enum class Counting { kEach, kOnce };

// Rewrites the term into an equal one. False: the term is 0 (or the set is
// empty). Facts that hold outside the term are in `facts`.
bool SimplifyTerm(Term& t, Facts& facts, Names& names, Counting counting);

// Adds what holds inside a term: ranges and guards, but for guard `except`.
void AddTermFacts(const std::vector<Bound>& bound,
                  const std::vector<Obligation>& guards, Facts& facts,
                  int except = -1);

// An expression with quotients folded that facts decide.
DimExpr FoldQuotients(const DimExpr& e, Facts& facts);

// A quotient floordiv(a, by) in `e` such that a is `var` plus a multiple of
// `by`, for one of the given variables: writing var as by*q + r removes it.
struct SplitVariable {
  std::string var;
  DimExpr by;
};
std::optional<SplitVariable> FindSplit(const DimExpr& e,
                                       const std::set<std::string>& vars);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_NF_SIMPLIFY_H_
