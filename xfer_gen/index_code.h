// Index expressions as integer arithmetic on numbered loop variables. What
// depends on the outer ones alone is summed up once for all inner loops.
#ifndef ISOMER_XFER_GEN_INDEX_CODE_H_
#define ISOMER_XFER_GEN_INDEX_CODE_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"

namespace isomer::gen {

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

  // True if that number does not change from one output element to the next.
  bool IsFixed() const {
    return hoists.empty() && hoisted_products.empty() && products.empty();
  }
};

int64_t Value(const IndexCode::Product& p,
              const std::vector<int64_t>& variables);

inline int64_t Value(const IndexCode& e,
                     const std::vector<int64_t>& variables) {
  if (!e.rest.empty()) return e.hoisted + e.rest[variables.back()];
  int64_t v = e.hoisted;
  for (const IndexCode::Multiple& m : e.multiples) {
    v += m.coefficient * variables[m.variable];
  }
  for (const IndexCode::Product& p : e.products) v += Value(p, variables);
  return v;
}

// Adds a multiple of one expression to another.
void AddTo(IndexCode& to, int64_t times, const IndexCode& from);

// Lets what depends on the first `count` variables alone be hoisted.
void SplitHoists(IndexCode& e, int count);

// Sums up what was hoisted for the values that its variables have.
void Hoist(IndexCode& e, const std::vector<int64_t>& variables);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_INDEX_CODE_H_
