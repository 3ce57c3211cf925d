// The steps of graphs whose fingerprints met, each once, and their values in
// one world: all elements, not samples.
#ifndef ISOMER_XFER_GEN_DAG_H_
#define ISOMER_XFER_GEN_DAG_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "xfer_gen/terms.h"
#include "xfer_gen/world.h"

namespace isomer::gen {

struct DagStep {
  int tmpl = 0;
  int arity = 0;
  int outputs = 0;
  TensorId first = 0;
  std::array<TensorId, kMaxOperands> operands = {};
  absl::Span<const TensorId> span() const {
    return {operands.data(), static_cast<size_t>(arity)};
  }
};

class Dag {
 public:
  explicit Dag(int num_leaves) : step_of_(num_leaves, kNone) {
    num_leaves_ = num_leaves;
  }

  // The first output of the step, which is added if it is new.
  TensorId Add(int tmpl, absl::Span<const TensorId> operands, int outputs);

  int num_leaves() const { return num_leaves_; }
  bool IsLeaf(TensorId t) const { return step_of_[t] == kNone; }
  const DagStep& step(uint32_t s) const { return steps_[s]; }
  // The number of the step that gives a tensor.
  uint32_t step_of(TensorId t) const { return step_of_[t]; }
  uint32_t num_steps() const { return static_cast<uint32_t>(steps_.size()); }
  // True if another step uses what the step gives.
  bool IsUsed(uint32_t s) const { return used_[s]; }
  uint32_t num_tensors() const {
    return static_cast<uint32_t>(step_of_.size());
  }

  // The steps that tensors need, each after its operands.
  using Steps = absl::InlinedVector<uint32_t, 2 * kMaxSteps>;
  Steps Cone(absl::Span<const TensorId> tensors) const;

  // The leaves that stand in a tensor, in order, and those of `cuts` in place
  // of what is above them.
  using Variables = absl::InlinedVector<TensorId, 8>;
  Variables VariablesOf(TensorId t, absl::Span<const TensorId> cuts = {}) const;

 private:
  void Collect(TensorId t, Steps& out) const;
  void CollectVariables(TensorId t, absl::Span<const TensorId> cuts,
                        Variables& out) const;

  int num_leaves_;
  std::vector<uint32_t> step_of_;
  std::vector<DagStep> steps_;
  std::vector<bool> used_;  // by step
  absl::flat_hash_map<std::array<uint32_t, kMaxOperands + 1>, uint32_t> ids_;
};

// True if the list holds the step.
inline bool Contains(const Dag::Steps& list, uint32_t step) {
  return std::find(list.begin(), list.end(), step) != list.end();
}

// What is known of a dag in a world, with leaves of certain values. Threads may
// share it: what two of them find is the same.
struct DagFacts {
  // Makes room for all of the dag; no other thread may use the facts meanwhile.
  void Grow(const Dag& dag) {
    instances.resize(dag.num_steps());
    prints.resize(dag.num_tensors());
  }

  std::vector<uintptr_t> instances;  // by step; 0: not known, 1: none
  std::vector<uint64_t> prints;      // by tensor; 0: not known or none
};

// The values of a dag's tensors in a world.
class DagValues {
 public:
  // The leaves have the values that `seed` gives, not those of the world. The
  // facts, if some are given, must have been grown to the dag.
  DagValues(const Dag& dag, World& world, uint64_t seed,
            DagFacts* shared = nullptr);

  // The hash of all elements and the type, or 0 where the tensor does not type
  // or cannot be computed.
  uint64_t Print(TensorId t) {
    if (t < facts_.prints.size()) {
      const uint64_t known =
          std::atomic_ref(facts_.prints[t]).load(std::memory_order_relaxed);
      if (known != 0) return known;
    }
    return ComputePrint(t);
  }
  // Writes the prints of all outputs of a step to `prints`. Values that no
  // other step uses are not kept.
  void PrintStep(uint32_t step, uint64_t* prints);
  // The kind of a tensor, or -1 where it does not type.
  KindId Kind(TensorId t);
  // The instance that gives a tensor that is not a leaf, or null.
  const Instance* InstanceOf(uint32_t step);
  // All elements; null where the tensor does not type or cannot be computed.
  // Valid until the next call.
  const Field* Values(TensorId t);

  // The same with some tensors' values replaced by others of their type.
  using Replaced = std::vector<std::pair<TensorId, const Field*>>;
  std::vector<Field> ValuesWith(TensorId t, const Replaced& replaced);

  World& world() { return world_; }

  // Keeps at most so many bytes of values, and some more while it computes.
  void HoldAtMost(int64_t bytes) { most_bytes_ = bytes; }
  // Gives up all values that are kept.
  void Forget();

 private:
  uint64_t ComputePrint(TensorId t);
  const Field* Compute(TensorId t);
  // False if an operand cannot be computed.
  bool ComputeOperands(const DagStep& step, const Field** inputs);
  void DropIfMany();

  const Dag& dag_;
  World& world_;
  std::vector<std::vector<Field>> leaf_values_;
  DagFacts own_;  // where none are shared
  DagFacts& facts_;
  // By step, of those whose values are in memory, and their bytes.
  absl::flat_hash_map<uint32_t, std::unique_ptr<Field[]>> held_;
  int64_t bytes_ = 0;
  int64_t most_bytes_ = int64_t{32} << 20;
  Scratch scratch_;
  std::vector<Field> buffer_;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_DAG_H_
