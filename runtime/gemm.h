// Matrix products of row-major matrices: floats through OpenBLAS, which only
// this file knows, and numbers of the field.
#ifndef ISOMER_RUNTIME_GEMM_H_
#define ISOMER_RUNTIME_GEMM_H_

#include <cstdint>

#include "ops/field.h"

namespace isomer::runtime {

// Bounds the threads of later products (0: all cores).
void SetGemmThreads(int threads);

// c [m,n] = a [m,k] times b [k,n].
void Gemm(int64_t m, int64_t n, int64_t k, const float* a, const float* b,
          float* c);
void Gemm(int64_t m, int64_t n, int64_t k, const double* a, const double* b,
          double* c);
void Gemm(int64_t m, int64_t n, int64_t k, const Field* a, const Field* b,
          Field* c);

}  // namespace isomer::runtime

#endif  // ISOMER_RUNTIME_GEMM_H_
