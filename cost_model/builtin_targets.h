// The targets that come with Isomer, and what was measured on them: the files
// of cost_model/targets/ and profiles/, compiled in, so that a program that
// embeds Isomer needs no files beside it.
#ifndef ISOMER_COST_MODEL_BUILTIN_TARGETS_H_
#define ISOMER_COST_MODEL_BUILTIN_TARGETS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace isomer::cost {

struct BuiltinTarget {
  absl::string_view name;  // of the file, without its ending
  absl::string_view text;
  absl::string_view profile;  // blank: nothing was measured
};

// All of them, sorted by name. Defined in a generated file.
absl::Span<const BuiltinTarget> BuiltinTargets();

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_BUILTIN_TARGETS_H_
