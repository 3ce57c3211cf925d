// What bounds a search, why it stopped, and how it tells how far it is.
#ifndef ISOMER_SEARCH_LIMITS_H_
#define ISOMER_SEARCH_LIMITS_H_

#include <cstdint>
#include <functional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace isomer::search {

enum class Stop {
  kDone,        // nothing is left to try
  kTime,        // the time limit
  kExpansions,  // the limit on expansions
  kMemory,      // the limit on memory
  kCancelled,   // the caller asked for it
};

// "nothing is left to try", ...
absl::string_view StopText(Stop stop);

struct Limits {
  absl::Duration time = absl::InfiniteDuration();
  int64_t expansions = INT64_MAX;
  // What candidates may take, beyond the model.
  int64_t memory_bytes = int64_t{256} << 20;
};

struct Progress {
  int64_t expansions = 0;
  int64_t candidates = 0;
  double before_us = 0;
  double best_us = 0;
};

// Called now and then, from the thread that started the search; false stops it.
using ProgressFn = std::function<bool(const Progress&)>;

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_LIMITS_H_
