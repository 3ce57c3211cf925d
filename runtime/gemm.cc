// OpenBLAS, confined.
#include "runtime/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <thread>

namespace isomer::runtime {

void SetGemmThreads(int threads) {
  const int all = std::max(1u, std::thread::hardware_concurrency());
  openblas_set_num_threads(threads > 0 ? std::min(threads, all) : all);
}

void Gemm(int64_t m, int64_t n, int64_t k, const float* a, const float* b,
          float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, a, k, b,
              n, 0.0f, c, n);
}

void Gemm(int64_t m, int64_t n, int64_t k, const double* a, const double* b,
          double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, a, k, b,
              n, 0.0, c, n);
}

}  // namespace isomer::runtime
