// Where the values of a program lie: in which buffer, from where on, and with
// which steps. Constants lie as the kernels that read them want it.
#ifndef ISOMER_CUDA_PLACEMENT_H_
#define ISOMER_CUDA_PLACEMENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cost_model/cost.h"
#include "cuda/program.h"
#include "graph/graph.h"

namespace isomer::cuda {

struct Storage {
  int buffer = 0;
  int64_t offset = 0;  // in elements
  std::vector<int64_t> steps;
};

class Placement {
 public:
  // Buffers and inputs are added to the program. Both must outlive this. Images
  // that a part of a model reads and makes lie as within.
  Placement(const ir::Graph& graph, Program& program, bool is_part);

  using Progress = std::function<bool(int done, int total)>;
  // Finds out what concats want in place, folds the constants that kernels
  // read, and places the inputs.
  absl::Status Start(const std::vector<cost::Kernel>& kernels,
                     const Progress& progress);

  // Of the constants that kernels read.
  int64_t FoldedBytes() const;

  int NewBuffer(Buffer::Kind kind, DType dtype, int64_t bytes);
  // Where a kernel reads a value.
  absl::StatusOr<Storage> ReadBy(const cost::Kernel& k, Value v);
  // Where a value is to be written, found before it is.
  Storage NewStorage(Value v);
  // Where a result of the graph lies.
  absl::StatusOr<Storage> Result(Value v);
  // Says where a value lies; forgets it.
  void Set(Value v, Storage s) { storage_[v] = std::move(s); }
  void Forget(Value v) { storage_.erase(v); }

  // True if a value is computed in the output of a concat; of this one, at this
  // place along its axis.
  bool IsInPlace(Value v) const { return in_place_.count(v) > 0; }
  bool IsInPlace(Value v, Value concat, int64_t at) const;

 private:
  // How a constant lies: row by row, as filters do, without what is repeated,
  // or, for products that compute functions of parts of their rows, with the
  // columns of which one result is made side by side.
  struct ConstantForm {
    enum Kind { kDense, kFilter, kOnce, kParts } kind = kDense;
    int parts = 1;
    bool operator<(const ConstantForm& o) const {
      return std::tie(kind, parts) < std::tie(o.kind, o.parts);
    }
  };

  // The concat in whose output a value is computed, and where along its axis.
  struct InPlace {
    Value concat;
    int64_t axis = 0, at = 0;
  };

  void AddInput(NodeId id);
  ConstantForm FormFor(const cost::Kernel& k, Value v) const;
  bool IsFilter(const cost::Kernel& k, Value v) const;
  // True if what the kernel does with the value is pointwise at once: it need
  // not lie there as often as it is repeated.
  bool IsPointwiseOperand(const cost::Kernel& k, Value v) const;
  // What a constant repeats.
  Value SourceOf(Value v) const;
  // The steps of a constant over the steps of what it repeats.
  std::vector<int64_t> RepeatedSteps(
      Value v, const std::vector<int64_t>& source_steps) const;
  absl::StatusOr<Storage> ConstantAt(Value v, ConstantForm form);
  // Fast products read rows of 16-bit floats in pieces of 16 bytes.
  bool WantsAlignedRows(Value v) const;
  void FindInPlace(const std::vector<cost::Kernel>& kernels);
  absl::Status Fold(const std::vector<cost::Kernel>& kernels,
                    const Progress& progress);

  const ir::Graph& graph_;
  Program& program_;
  const std::set<Value> channels_last_;
  std::map<Value, Storage> storage_;
  std::map<Value, InPlace> in_place_;
  std::map<std::pair<Value, ConstantForm>, Storage> constants_;
  std::map<Value, SharedBytes> folded_;
};

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_PLACEMENT_H_
