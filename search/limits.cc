#include "search/limits.h"

namespace isomer::search {

absl::string_view StopText(Stop stop) {
  switch (stop) {
    case Stop::kDone:
      return "nothing is left to try";
    case Stop::kTime:
      return "the time limit was reached";
    case Stop::kExpansions:
      return "the limit on expansions was reached";
    case Stop::kMemory:
      return "the memory limit was reached";
    case Stop::kCancelled:
      return "it was interrupted";
  }
  return "";
}

}  // namespace isomer::search
