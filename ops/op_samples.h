// Calls of an operator that a test tries: the cases its definition names, and
// random ones. Random types and attributes are drawn small and related (shared
// sizes, shapes that differ in one dimension), so that legal calls are common
// enough to be found by trying.
#ifndef ISOMER_OPS_OP_SAMPLES_H_
#define ISOMER_OPS_OP_SAMPLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/example.h"
#include "ops/op_def.h"

namespace isomer {

// A sequence of pseudo-random numbers that is the same everywhere.
class SampleStream {
 public:
  explicit SampleStream(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  // A number in [low, high].
  int64_t Between(int64_t low, int64_t high);
  bool OneIn(int n) { return Between(1, n) == 1; }
  template <class T>
  const T& Pick(const std::vector<T>& list) {
    return list[Between(0, static_cast<int64_t>(list.size()) - 1)];
  }

 private:
  uint64_t state_;
};

struct SampledCalls {
  std::vector<TypedCall> legal;    // the operator's cases first
  std::vector<TypedCall> illegal;  // what inference rejected
};

// Draws calls until enough legal ones are found or tries run out. An error if
// one of the operator's cases does not parse or is not legal.
absl::StatusOr<SampledCalls> SampleCalls(const OpDef& op, int most_legal,
                                         int most_tries);

// What RandomInputs draws for floating-point elements.
enum class SampleValues {
  kReals,     // odd multiples of 1/128 below 2: exact in every type, and no
              // sum of two of them with 1/2 lies on an integer
  kIntegers,  // -4 to 4
};

// Tensors for a call's inputs, as doubles (Interp::kReal). Integers are small
// and may be negative where the type allows it.
std::vector<Tensor> RandomInputs(const TypedCall& call, SampleValues values,
                                 SampleStream& stream);

}  // namespace isomer

#endif  // ISOMER_OPS_OP_SAMPLES_H_
