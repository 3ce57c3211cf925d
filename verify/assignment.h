// A rule at chosen sizes and attributes: both sides typed over numbers, ready
// to run. Where sizes come from is up to the caller: a refuter draws them, a
// test enumerates them, a counterexample has stored them.
#ifndef ISOMER_VERIFY_ASSIGNMENT_H_
#define ISOMER_VERIFY_ASSIGNMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/rule.h"

namespace isomer::verify {

struct Assignment {
  int case_index = 0;
  std::vector<TensorType> tensors;         // by tensor variable
  std::vector<std::optional<Attr>> attrs;  // by attribute variable
  ir::SideTyping<int64_t> source, target;
};

// Types both sides. NotFound unless they type, have the same output types, and
// the rule's conditions on sizes hold.
absl::StatusOr<Assignment> Assign(const ir::Rule& rule, int case_index,
                                  std::vector<TensorType> tensors,
                                  std::vector<std::optional<Attr>> attrs);

// How much work it is to run both sides once, in scalar operations.
int64_t WorkOf(const ir::Rule& rule, const Assignment& assignment);

// The free symbols of one case of a rule, and assignments at their values.
class CaseSizes {
 public:
  // Both must outlive this.
  CaseSizes(const ir::Rule& rule, int case_index);

  // In order of their names.
  const std::vector<std::string>& symbols() const { return symbols_; }
  // True if symbol i is a size, which is at least 1; an integer attribute may
  // be 0.
  bool is_size(int i) const { return is_size_[i]; }
  // What the values must satisfy, as far as it is about one case.
  const std::vector<Obligation>& constraints() const { return constraints_; }
  // True if an attribute is a real number that the rule leaves open.
  bool has_reals() const { return has_reals_; }

  // The case at these values, in the order of the symbols. `real` stands for
  // every real attribute that the rule leaves open; without it they are what
  // the case has. NotFound if a fact of the case does not hold.
  absl::StatusOr<Assignment> At(absl::Span<const int64_t> values,
                                std::optional<double> real = {}) const;

 private:
  const ir::Rule& rule_;
  const int case_index_;
  std::vector<std::string> symbols_;
  std::vector<bool> is_size_;
  std::vector<Obligation> constraints_;
  bool has_reals_ = false;
};

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_ASSIGNMENT_H_
