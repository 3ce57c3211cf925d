// How tests compare tensors: exactly where elements are exact, within a
// tolerance where they are floats.
#ifndef ISOMER_OPS_TENSOR_COMPARE_H_
#define ISOMER_OPS_TENSOR_COMPARE_H_

#include <string>

#include "ops/dtype.h"
#include "ops/tensor.h"

namespace isomer {

// The relative distance of neighbours of 1 in a float type; that of f32 for
// other types.
double Epsilon(DType dtype);

// True if |a - b| <= absolute + relative * max(|a|, |b|). A NaN is near a NaN,
// an infinity near itself.
bool Near(double a, double b, double relative, double absolute);

// Says where two tensors differ; "" if they agree. Fields and integers agree
// if they are equal, floats if they are near.
std::string Difference(const Tensor& a, const Tensor& b, double relative,
                       double absolute);

}  // namespace isomer

#endif  // ISOMER_OPS_TENSOR_COMPARE_H_
