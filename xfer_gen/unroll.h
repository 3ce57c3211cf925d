// The index semantics of one operator at known sizes, unrolled: what each
// output element is, as straight-line instructions on places in arrays. The
// generator evaluates millions of small tensors of few types; unrolled once,
// an operator costs its multiplications and no interpretation.
#ifndef ISOMER_XFER_GEN_UNROLL_H_
#define ISOMER_XFER_GEN_UNROLL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/field.h"
#include "ops/op_def.h"
#include "ops/tensor_type.h"

namespace isomer::gen {

// A place: which array, in the upper bits, and where in it.
struct Ref {
  static constexpr int kPlaceBits = 26;
  static constexpr uint32_t kMaxArrays = 1u << (32 - kPlaceBits);

  uint32_t bits = 0;

  Ref() = default;
  Ref(uint32_t array, uint32_t place) : bits(array << kPlaceBits | place) {}
  uint32_t array() const { return bits >> kPlaceBits; }
  uint32_t place() const { return bits & ((1u << kPlaceBits) - 1); }
  friend bool operator==(Ref a, Ref b) { return a.bits == b.bits; }
};

struct Instruction {
  enum class Kind : uint8_t {
    kSum,      // of the operands; of one: a copy
    kDot,      // of pairs of operands
    kProduct,  // of the operands
    kDiv,      // the first over the second
    kMax,      // of the operands
    kMin,
    kFunction,  // of one operand
  };
  using Function = Field (*)(Field);

  Kind kind = Kind::kSum;
  // The arrays of a kDot's left and right operands, where each is one array.
  bool uniform = false;
  Ref out = {};
  uint32_t first = 0, count = 0;  // in Code::operands
  Function function = nullptr;
};

// The arrays of code: constants, temporaries, the output, then the inputs.
inline constexpr uint32_t kConstants = 0, kTemporaries = 1, kOutput = 2,
                          kInputs = 3;

// Straight-line code.
struct Code {
  std::vector<Instruction> instructions;
  std::vector<Ref> operands;
  std::vector<Field> constants;
  uint32_t temporaries = 0;  // how many it uses
};

// Code that computes the output of `op`; every operand is an input of its own.
// Unimplemented if the operator has no index semantics, or one that looks at
// the values of elements.
absl::StatusOr<Code> Unroll(const OpDef& op, absl::Span<const TensorType> types,
                            const Attrs& attrs);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_UNROLL_H_
