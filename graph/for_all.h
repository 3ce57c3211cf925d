#ifndef ISOMER_GRAPH_FOR_ALL_H_
#define ISOMER_GRAPH_FOR_ALL_H_

#include <functional>

namespace isomer {

// Calls f(0), ..., f(n - 1) on all cores.
void ForAll(int n, const std::function<void(int)>& f);

}  // namespace isomer

#endif  // ISOMER_GRAPH_FOR_ALL_H_
