// N-ary merges of siblings, across the whole graph.
#ifndef ISOMER_SEARCH_MERGE_H_
#define ISOMER_SEARCH_MERGE_H_

#include "search/walk.h"

namespace isomer::search {

// Merges the groups of siblings that pay, those that pay most first, until none
// does. True if it merged something.
bool MergeSiblings(Walk& walk);

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_MERGE_H_
