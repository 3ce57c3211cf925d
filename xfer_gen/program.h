// A small graph at known types as a function on arrays of field elements, run
// millions of times. Operators with index semantics are unrolled; the others
// are run by their definitions.
#ifndef ISOMER_XFER_GEN_PROGRAM_H_
#define ISOMER_XFER_GEN_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "ops/field.h"
#include "ops/tensor_type.h"
#include "xfer_gen/blocks.h"
#include "xfer_gen/unroll.h"
#include "xfer_gen/unrolled_ops.h"

namespace isomer::gen {

// The places of a tensor that a fingerprint looks at: all of a small one, a
// fixed choice of a larger one. It depends on the shape alone.
std::vector<uint32_t> SampledPlaces(const TensorType& type);

// Memory that runs use; one for each thread.
struct Scratch {
  std::vector<Field> temporaries, output;
  std::vector<const Field*> arrays;
};

class Program {
 public:
  // Compiles a graph whose inputs and outputs are floating-point tensors.
  // Composite operators are opened. A program that is only run as a whole can
  // neither run sampled nor tell whether it is faithful; others are held
  // against the operators' own kernels, once.
  static absl::StatusOr<Program> Compile(const ir::Graph& graph,
                                         UnrolledOps& unrolled,
                                         bool only_whole);

  const std::vector<TensorType>& outputs() const { return outputs_; }
  // The number of elements of all outputs together.
  int64_t size() const { return size_; }
  // Where output k starts among them.
  int64_t offset(int k) const { return offsets_[k]; }

  // Computes all outputs, one after the other, into `out`.
  void Run(absl::Span<const Field* const> inputs, Field* out,
           Scratch& scratch) const;
  // Computes the sampled places of all outputs alone; the others in `out` are
  // left as they are.
  void RunSampled(absl::Span<const Field* const> inputs, Field* out,
                  Scratch& scratch) const;

  // True if output k surely depends on whatever its operands depend on: every
  // element of every operand goes in, and nothing is subtracted or divided.
  bool faithful(int k) const { return faithful_[k]; }
  // True if it takes maxima or minima, or may: values can hide others.
  bool has_extremes() const { return has_extremes_; }

 private:
  // Either unrolled code, of which the constants stay when it has been made
  // ready to run, or one operator to be run by its definition.
  struct Step {
    Code code = {};
    Blocks whole = {}, sampled = {};
    const OpDef* op = nullptr;
    Attrs attrs = {};
    std::vector<TensorType> types = {};
    std::vector<Ref> inputs = {};
    std::vector<Ref> outs = {};
    std::vector<TensorType> out_types = {};
  };
  class Builder;
  class Places;

  void RunSteps(absl::Span<const Field* const> inputs, Field* out,
                Scratch& scratch, bool sampled) const;
  static void RunOperator(const Step& step, const Field* const* arrays,
                          Field* const* written);
  // The places that the wanted ones depend on, and these.
  std::vector<bool> Needed(const std::vector<Ref>& wanted) const;
  void MarkSampled();
  void FindFaithful();
  void MakeReady();

  std::vector<TensorType> inputs_, outputs_;
  std::vector<int64_t> offsets_;
  std::vector<Step> steps_;
  std::vector<bool> faithful_;
  bool has_extremes_ = false;
  int64_t size_ = 0;
  int64_t num_temporaries_ = 0;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_PROGRAM_H_
