// How far two tensors are apart.
#ifndef ISOMER_RUNTIME_COMPARE_H_
#define ISOMER_RUNTIME_COMPARE_H_

#include "ops/tensor.h"

namespace isomer::runtime {

// The largest difference of two elements relative to the largest magnitude in
// `want`; infinite where types differ or one of two is not finite where the
// other is.
double RelativeError(const Tensor& got, const Tensor& want);

// What rounding alone may amount to in a model of this type: the unit in the
// last place times a margin for the depth of real networks. With `tf32`
// products of f32 may round factors to as many bits as f16 has.
double DefaultTolerance(DType dtype, bool tf32 = false);

}  // namespace isomer::runtime

#endif  // ISOMER_RUNTIME_COMPARE_H_
