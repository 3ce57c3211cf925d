// The rules a search works with. A book is made from a source of rules: the
// expansions of operators, which hold by definition, and files of rules, of
// which only proved ones may enter a book that optimises a user's model.
#ifndef ISOMER_SEARCH_RULE_BOOK_H_
#define ISOMER_SEARCH_RULE_BOOK_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/rule.h"

namespace isomer::search {

struct BookRule {
  ir::Rule rule;
  bool fold = false;        // it has an n-ary form
  bool definition = false;  // an expansion: it holds beyond its cases
  bool sinks = false;       // it moves a constant factor towards the inputs
  std::string proof = {};   // what proved it, for certificates
};

class RuleBook {
 public:
  // A book of the rules of `set`, which the caller answers for, and of the
  // expansions of operators that may be taken apart without numerical harm.
  static absl::StatusOr<RuleBook> Create(ir::RuleSet set);
  // The same for the rules of a text that are proved (verify/trust.h). The
  // others are named in `refused`, with the reason.
  static absl::StatusOr<RuleBook> FromText(absl::string_view text,
                                           std::vector<std::string>& refused);
  // The rules that come with Isomer.
  static absl::StatusOr<RuleBook> BuiltIn(std::vector<std::string>& refused);

  void Add(BookRule rule) { rules_.push_back(std::move(rule)); }
  // Drops the rules that recompute values.
  void KeepExact();

  const std::vector<BookRule>& rules() const { return rules_; }
  const BookRule& operator[](int i) const { return rules_[i]; }
  int size() const { return static_cast<int>(rules_.size()); }

 private:
  std::vector<BookRule> rules_;
};

// The text of rules/chosen.rules and rules/hand_written.rules, built in.
absl::string_view BuiltInRules();

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_RULE_BOOK_H_
