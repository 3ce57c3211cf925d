// What the text of a kernel is compiled with when the CPU is to run it: the
// words of CUDA that generated kernels use, and what takes the place of asm
// statements. It is read by the machine's compiler together with the kernel, as
// emulator.cc has changed that.
#ifndef ISOMER_CUDA_EMULATOR_KERNEL_SIDE_H_
#define ISOMER_CUDA_EMULATOR_KERNEL_SIDE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "cuda/emulator/host.h"

// The thread that runs now. Set before the kernel is called.
extern "C" thread_local IsoHost* iso_host;
thread_local IsoHost* iso_host = nullptr;

#define __device__
#define __global__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

#define threadIdx (iso_host->thread)
#define blockIdx (iso_host->block)
#define blockDim (iso_host->block_size)
#define gridDim (iso_host->grid_size)

struct __align__(8) float2 {
  float x, y;
};
struct __align__(16) float4 {
  float x, y, z, w;
};
struct __align__(8) uint2 {
  unsigned x, y;
};
struct __align__(16) uint4 {
  unsigned x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }

inline float __uint_as_float(unsigned bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
inline float __int_as_float(int bits) { return __uint_as_float(bits); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }

inline void __syncthreads() { iso_host->sync_threads(); }
inline void __syncwarp() { iso_host->sync_warp(); }
inline unsigned __cvta_generic_to_shared(const void* p) {
  return iso_host->to_shared(p);
}
template <class T>
T iso_shuffle(T x, int lane) {
  unsigned long long bits = 0;
  std::memcpy(&bits, &x, sizeof(T));
  bits = iso_host->shuffle(bits, lane);
  std::memcpy(&x, &bits, sizeof(T));
  return x;
}
template <class T>
T __shfl_sync(unsigned, T x, int lane) {
  return iso_shuffle(x, lane % 32);
}
template <class T>
T __shfl_xor_sync(unsigned, T x, int mask) {
  return iso_shuffle(x, static_cast<int>(threadIdx.x % 32) ^ mask);
}

// Operands of asm statements.
template <class T>
IsoOperand iso_out(T& x) {
  return {&x, sizeof(T), 0};
}
template <class T>
IsoOperand iso_in(const T& x) {
  IsoOperand o{nullptr, sizeof(T), 0};
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    o.value = static_cast<unsigned long long>(static_cast<long long>(x));
  } else {
    std::memcpy(&o.value, &x, sizeof(T));
  }
  return o;
}
template <class T, size_t n>
IsoOperand iso_in(const T (&x)[n]) {
  const T* at = x;
  return iso_in(at);
}

// Calls a kernel with parameters that lie at these places.
template <class... P, size_t... i>
void iso_call(void (*kernel)(P...), void** at, std::index_sequence<i...>) {
  kernel(*static_cast<std::remove_const_t<P>*>(at[i])...);
}
template <class... P>
void iso_call(void (*kernel)(P...), void** at) {
  iso_call(kernel, at, std::index_sequence_for<P...>());
}

#endif  // ISOMER_CUDA_EMULATOR_KERNEL_SIDE_H_
