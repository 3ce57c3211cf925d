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

// Some columns at a time. Products have 122 bits: 32 of them and a remainder
// fit in 128 bits, so the sums are reduced that often only.
void Gemm(int64_t m, int64_t n, int64_t k, const Field* a, const Field* b,
          Field* c) {
  constexpr int64_t kColumns = 8, kSteps = 32;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; j += kColumns) {
      const int64_t width = std::min(kColumns, n - j);
      unsigned __int128 sums[kColumns] = {};
      for (int64_t p = 0; p < k; p += kSteps) {
        const int64_t end = std::min(p + kSteps, k);
        for (int64_t q = p; q < end; ++q) {
          const unsigned __int128 x = a[i * k + q].value();
          const Field* row = b + q * n + j;
          for (int64_t w = 0; w < width; ++w) sums[w] += x * row[w].value();
        }
        for (unsigned __int128& s : sums) s = Field::FromWide(s).value();
      }
      for (int64_t w = 0; w < width; ++w) {
        c[i * n + j + w] = Field::FromWide(sums[w]);
      }
    }
  }
}

}  // namespace isomer::runtime
