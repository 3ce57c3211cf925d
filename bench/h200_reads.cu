// How fast a GPU reads, in the two ways that products of few rows depend on:
// weights, by the place they have, and one row, by all blocks at once.
//
//   nvcc -arch=sm_90 -o build/reads bench/h200_reads.cu && build/reads
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kThreads = 256;

void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "reads: %s\n", cudaGetErrorString(error));
  exit(1);
}

template <class T>
T* New(size_t count) {
  T* p = nullptr;
  Check(cudaMalloc(&p, count * sizeof(T)));
  return p;
}

template <class T>
T Median(std::vector<T> all) {
  std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
  return all[all.size() / 2];
}

// A block reads columns of a matrix of K rows: pieces of each row, or a panel
// that lies in one piece.
template <int COLUMNS, int ROWS, int STAGES, bool PANELS>
__global__ void __launch_bounds__(kThreads)
    ReadWeights(const unsigned short* weights, int k, int n, float* out) {
  extern __shared__ __align__(128) unsigned char memory[];
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  constexpr int kBytes = COLUMNS * ROWS * 2;
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  auto load = [&](int step) {
#pragma unroll
    for (int i = 0; i < kBytes / 16 / kThreads; ++i) {
      const int c = threadIdx.x + i * kThreads;
      const int row = c / (COLUMNS / 8), at = c % (COLUMNS / 8) * 8;
      const size_t from =
          PANELS ? static_cast<size_t>(blockIdx.x) * k * COLUMNS +
                       static_cast<size_t>(step) * (kBytes / 2) + c * 8
                 : static_cast<size_t>(step * ROWS + row) * n +
                       blockIdx.x * COLUMNS + at;
      asm volatile(
          "cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
              base + step % STAGES * kBytes + c * 16),
          "l"(weights + from), "l"(policy)
          : "memory");
    }
  };
  const int steps = k / ROWS;
  for (int s = 0; s < STAGES - 1; ++s) {
    load(s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  float sum = 0;
  for (int s = 0; s < steps; ++s) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    if (s + STAGES - 1 < steps) load(s + STAGES - 1);
    asm volatile("cp.async.commit_group;" ::: "memory");
    sum += memory[s % STAGES * kBytes + threadIdx.x * 4];
  }
  if (sum == -1) out[0] = sum;  // never: it is read for something
}

template <int COLUMNS, int ROWS, int STAGES, bool PANELS>
void TimeWeights(const unsigned short* weights, int k, int n, float* out) {
  constexpr int kMatrices = 4, kTimes = 30;
  auto kernel = ReadWeights<COLUMNS, ROWS, STAGES, PANELS>;
  const int shared = STAGES * COLUMNS * ROWS * 2;
  Check(cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  cudaEvent_t start, end;
  Check(cudaEventCreate(&start));
  Check(cudaEventCreate(&end));
  std::vector<float> all;
  auto run = [&](int i) {
    kernel<<<n / COLUMNS, kThreads, shared>>>(
        weights + static_cast<size_t>(i % kMatrices) * k * n, k, n, out);
  };
  for (int i = 0; i < kTimes; ++i) {
    run(i);
    Check(cudaEventRecord(start));
    for (int j = 1; j <= kMatrices; ++j) run(i + j);
    Check(cudaEventRecord(end));
    Check(cudaEventSynchronize(end));
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, start, end));
    all.push_back(ms / kMatrices);
  }
  const double ms = Median(all);
  printf("[%d, %d], %s of %d columns, %d stages: %.2f us, %.2f TB/s\n", k, n,
         PANELS ? "panels" : "rows", COLUMNS, STAGES, ms * 1e3,
         2e-9 * k * n / ms);
}

__device__ unsigned long long Now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void Fill(unsigned* p, int count, unsigned value) {
  const int step = blockDim.x * gridDim.x;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < count; i += step) {
    p[i] = value + i * 2654435761u;
  }
}

// All blocks, when all are there, read one row of 1 KB, from one of its copies:
// 16 warps 64 bytes each, a thread 4 or 16 bytes at a time.
template <bool WIDE>
__global__ void __launch_bounds__(512)
    ReadRow(const unsigned* rows, int copies, int apart, unsigned* there,
            unsigned long long* when, int* cycles, unsigned* out) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    atomicMax(when, Now() + 20000);
    __threadfence();
    atomicAdd(there, 1u);
    while (*static_cast<volatile unsigned*>(there) < gridDim.x) {
    }
    while (Now() < *static_cast<volatile unsigned long long*>(when)) {
    }
  }
  __syncthreads();
  const unsigned* from = rows + blockIdx.x % copies * apart + warp * 16;
  const long long start = clock64();
  unsigned sum = 0;
  if (lane < 4 && WIDE) {
    const uint4 x = *reinterpret_cast<const uint4*>(from + lane * 4);
    sum = x.x + x.y + x.z + x.w;
  } else if (lane < 4) {
    sum = from[lane] + from[lane + 4] + from[lane + 8] + from[lane + 12];
  }
  if (sum == ~0u) out[0] = sum;
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = static_cast<int>(clock64() - start);
}

template <bool WIDE>
void TimeRow(int copies, int apart) {
  constexpr int kBlocks = 128, kTimes = 50, kRows = 1 << 18;
  static unsigned* rows = New<unsigned>(kRows);
  static unsigned* out = New<unsigned>(1);
  static unsigned* there = New<unsigned>(1);
  static unsigned long long* when = New<unsigned long long>(1);
  static int* cycles = New<int>(kBlocks);
  std::vector<int> first, middle, last, all(kBlocks);
  for (int i = 0; i < kTimes; ++i) {
    Fill<<<64, 256>>>(rows, kRows, i);
    Check(cudaMemset(there, 0, sizeof(*there)));
    Check(cudaMemset(when, 0, sizeof(*when)));
    ReadRow<WIDE>
        <<<kBlocks, 512>>>(rows, copies, apart, there, when, cycles, out);
    Check(cudaMemcpy(all.data(), cycles, kBlocks * sizeof(int),
                     cudaMemcpyDeviceToHost));
    std::sort(all.begin(), all.end());
    first.push_back(all.front());
    middle.push_back(all[kBlocks / 2]);
    last.push_back(all.back());
  }
  printf("a row, %2d copies %5d bytes apart, %2d bytes a thread: the first block "
         "has it after %d cycles, the middle one %d, the last %d\n",
         copies, apart * 4, WIDE ? 16 : 4, Median(first), Median(middle),
         Median(last));
}

}  // namespace

int main() {
  constexpr int kWeights = 4 * 14336 * 8192;
  auto* weights = New<unsigned short>(kWeights);
  Fill<<<1024, 256>>>(reinterpret_cast<unsigned*>(weights), kWeights / 2, 1);
  auto* out = New<float>(1);
  TimeWeights<128, 64, 7, false>(weights, 4096, 28672, out);
  TimeWeights<128, 64, 7, true>(weights, 4096, 28672, out);
  TimeWeights<64, 128, 7, false>(weights, 14336, 8192, out);
  TimeWeights<64, 128, 7, true>(weights, 14336, 8192, out);
  for (int copies : {1, 2, 4, 8, 16}) {
    for (int apart : {256, 1024}) {
      TimeRow<false>(copies, apart);
      TimeRow<true>(copies, apart);
    }
  }
}
