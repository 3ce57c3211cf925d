// The same for many numbers, on several threads.
#ifndef ISOMER_GRAPH_FOR_ALL_H_
#define ISOMER_GRAPH_FOR_ALL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace isomer {

// Calls f(0), ..., f(n - 1), in any order, on so many threads; 0: on all cores.
void ForAll(int64_t n, absl::FunctionRef<void(int64_t)> f, int threads = 0);

}  // namespace isomer

#endif  // ISOMER_GRAPH_FOR_ALL_H_
