// What is known of the elements of constants: read once, remembered.
#ifndef ISOMER_GRAPH_CONSTANT_FACTS_H_
#define ISOMER_GRAPH_CONSTANT_FACTS_H_

#include <map>
#include <memory>

#include "graph/constant.h"

namespace isomer::ir {

// Answers questions about constants. It keeps the constants it was asked about
// alive. Not for use by several threads at once.
class ConstantFacts {
 public:
  // No element is infinite or not a number.
  bool Finite(const std::shared_ptr<const Constant>& c) { return Of(c).finite; }
  // Every element is above zero (and is a number).
  bool Positive(const std::shared_ptr<const Constant>& c) {
    return Of(c).positive;
  }

 private:
  struct Facts {
    std::shared_ptr<const Constant> constant;
    bool finite = true;
    bool positive = true;
  };
  const Facts& Of(const std::shared_ptr<const Constant>& c);

  std::map<const Constant*, Facts> known_;
};

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_CONSTANT_FACTS_H_
