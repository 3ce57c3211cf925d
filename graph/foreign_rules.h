// Rules of other systems: TASO's substitution files, and Unity's, which are the
// same format with a few other operators. Each rule becomes one in our language
// or is rejected with a reason.
//
// How they are read:
//   activation      fused ones are the activation of the plain operator
//   CONV2D          group 1 in a source; in a target, the channels of x divided
//                   by those that a filter has. SAME needs stride 1 and an odd
//                   kernel k, and is a pad of (k - 1)/2
//   POOL2D_AVG      divides by the kernel's area, border or not
//   CONST_POOL      a filter of one channel filled with 1/area
//   CONST_ICONV     the dense identity filter; CONST_IMM the identity matrix
//   ENLARGE         zeros around the kernel
//   SPLIT           two slices that part where the last concat joined
//   REPLICATE       tile; REDUCE the sum of that many chunks
//   PARTITION, COMBINE   identity; `parallel` tells which dimension and degree
//   LINEAR          the first replicas of x [r, b, c] and w [s, o, c] give
//                   [1, b, o]
#ifndef ISOMER_GRAPH_FOREIGN_RULES_H_
#define ISOMER_GRAPH_FOREIGN_RULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/rule_syntax.h"

namespace isomer::ir {

// Which numbering of operators a file uses. Files of both look alike; a file
// is Unity's if an operator of it has a parallel degree.
enum class ForeignDialect { kDetect, kTaso, kUnity };

// A parallel operator of a rule, in the order in which the file has them.
struct ParallelStep {
  enum class Kind { kPartition, kCombine, kReplicate, kReduce };
  Kind kind = Kind::kPartition;
  bool target = false;  // on which side
  int op = 0;           // which operator of that side
  int dim = 0;
  int64_t degree = 1;
};

struct ForeignRule {
  int index = 0;  // its place in the file, from 0
  std::optional<RuleSyntax> rule = {};
  std::string rejected = {};  // why there is no rule
  std::vector<ParallelStep> parallel = {};
};

// True if the bytes begin like a substitution file: one rule with operators.
bool IsForeignRules(absl::string_view bytes);

// Reads a file. Every rule of it is in the result; a file that is not in the
// format at all is an error that names the first rule that is not. With
// kTranslate a rule may still be one that Rule::Create rejects.
enum class ForeignCheck { kTranslate, kCreate };
absl::StatusOr<std::vector<ForeignRule>> ReadForeignRules(
    absl::string_view bytes, ForeignDialect dialect = ForeignDialect::kDetect,
    ForeignCheck check = ForeignCheck::kCreate);

// Writes rules in TASO's format. Rules it has no words for are left out and
// named, with the reason, in `not_expressible`. Reading the result gives the
// written rules back.
absl::StatusOr<std::string> WriteForeignRules(
    absl::Span<const RuleSyntax> rules,
    std::vector<std::string>* not_expressible);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_FOREIGN_RULES_H_
