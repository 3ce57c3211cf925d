// Which constants come from memory in every run, because they do not all stay
// in the device's cache, and which of them are kept there all the same.
#ifndef ISOMER_CUDA_COLD_CONSTANTS_H_
#define ISOMER_CUDA_COLD_CONSTANTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "cost_model/cost.h"
#include "graph/graph.h"

namespace isomer::cuda {

class ColdConstants {
 public:
  ColdConstants() = default;
  // Of the constants that the kernels read, so many bytes.
  ColdConstants(const ir::Graph& graph,
                const std::vector<cost::Kernel>& kernels, int64_t bytes,
                int64_t cached_bytes);

  // True if there are any. Where constants do not stay in the cache, nothing
  // does.
  bool any() const { return graph_ != nullptr; }
  // True for one that one kernel alone reads.
  bool Has(Value v) const;
  // The share of it that is kept.
  double Kept(Value v) const;

 private:
  const ir::Graph* graph_ = nullptr;              // null if there are none
  std::map<Value, std::vector<size_t>> readers_;  // kernels
  std::map<Value, double> kept_;
};

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_COLD_CONSTANTS_H_
