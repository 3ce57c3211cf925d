// Gives a light model real weights. Light models carry ConstantOfShape nodes in
// place of large weights; all elements being equal hides wrong rewrites (a
// swapped concat, a transposed matrix), so numbers are checked on randomised
// models.
#ifndef ISOMER_ONNX_RANDOMIZE_H_
#define ISOMER_ONNX_RANDOMIZE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "onnx/model.h"

namespace isomer::onnx {

struct RandomizeResult {
  int64_t tensors = 0;
  int64_t bytes = 0;
};

// Replaces every ConstantOfShape of more than 2048 f16 or f32 elements whose
// shape is an initializer by a random initializer of the same name, and drops
// shapes that nothing uses any more. Weights are scaled by fan-in; vectors are
// positive and near one, fit for scales and variances. The numbers depend on
// the seed and the tensor's name alone and are the same on every machine. They
// are made when they are read or written, so nothing is held in memory.
absl::StatusOr<RandomizeResult> Randomize(uint64_t seed, Model* model);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_RANDOMIZE_H_
