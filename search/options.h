// What a search is told.
#ifndef ISOMER_SEARCH_OPTIONS_H_
#define ISOMER_SEARCH_OPTIONS_H_

#include <cstdint>

#include "search/limits.h"

namespace isomer::search {

struct SearchOptions {
  double alpha = 1.05;
  Limits limits = {};
  int threads = 0;                       // 0: one for each core
  int64_t max_weight_bytes = INT64_MAX;  // of the result
  int64_t max_peak_bytes = INT64_MAX;    // of the result

  // What the parts of the search contribute is measured by leaving them out.
  bool open = true;  // what pays by itself, and siblings, before parts
  bool relaxed = true;
  bool together = true;
  bool siblings = true;
  bool split = true;
  bool flow = true;
  bool repeat = true;
  bool seams = true;

  int rounds = 3;
  int batch = 4;  // how many graphs are expanded at a time
  int part_nodes = 24;
  int64_t part_expansions = 200;
  int64_t part_patience = 12;
  ProgressFn progress = nullptr;
};

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_OPTIONS_H_
