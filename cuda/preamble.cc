// The text itself. Names start with iso_; ISO_LANES is the number of threads
// that share a sum.
#include "cuda/preamble.h"

namespace isomer::cuda {

namespace {

constexpr char kText[] = R"(
#define ISO_INF __int_as_float(0x7f800000)
#define ISO_NAN __int_as_float(0x7fc00000)
typedef unsigned short iso_u16;
typedef unsigned int iso_u32;
typedef unsigned long long iso_u64;

struct iso_half { iso_u16 bits; };
struct iso_bf16 { iso_u16 bits; };

__device__ __forceinline__ float iso_value(iso_half h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return f;
}
__device__ __forceinline__ float iso_value(iso_bf16 h) {
  return __uint_as_float((iso_u32)h.bits << 16);
}
__device__ __forceinline__ float iso_value(float x) { return x; }
__device__ __forceinline__ double iso_value(double x) { return x; }
template <class T>
__device__ __forceinline__ long long iso_value(T x) { return (long long)x; }

__device__ __forceinline__ iso_half iso_to_half(float x) {
  iso_half h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
  return h;
}
__device__ __forceinline__ iso_bf16 iso_to_bf16(float x) {
  iso_bf16 h;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
  return h;
}
template <class T, class V>
struct iso_as {
  static __device__ __forceinline__ T of(V x) { return (T)x; }
};
template <class V>
struct iso_as<iso_half, V> {
  static __device__ __forceinline__ iso_half of(V x) {
    return iso_to_half((float)x);
  }
};
template <class V>
struct iso_as<iso_bf16, V> {
  static __device__ __forceinline__ iso_bf16 of(V x) {
    return iso_to_bf16((float)x);
  }
};
template <class T, class V>
__device__ __forceinline__ T iso_store_as(V x) { return iso_as<T, V>::of(x); }

template <int bytes> struct iso_word;
template <> struct iso_word<1> { typedef unsigned char type; };
template <> struct iso_word<2> { typedef unsigned short type; };
template <> struct iso_word<4> { typedef unsigned int type; };
template <> struct iso_word<8> { typedef uint2 type; };
template <> struct iso_word<16> { typedef uint4 type; };
template <class T, int n>
struct iso_pack { T at[n]; };
template <class T, int n>
__device__ __forceinline__ iso_pack<T, n> iso_load_pack(const T* p) {
  typedef typename iso_word<sizeof(T) * n>::type word;
  union { word w; iso_pack<T, n> p; } u;
  u.w = *(const word*)p;
  return u.p;
}
// Of 16 bytes; zeros if they are not `there`. A branch would give each element a
// register of its own.
template <class T, int n>
__device__ __forceinline__ iso_pack<T, n> iso_load_pack_if(bool there,
                                                           const T* p) {
  union { iso_u32 w[4]; iso_pack<T, n> p; } u;
  u.w[0] = u.w[1] = u.w[2] = u.w[3] = 0;
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %5, 0;\n"
      "@p ld.global.v4.u32 {%0, %1, %2, %3}, [%4];\n}"
      : "+r"(u.w[0]), "+r"(u.w[1]), "+r"(u.w[2]), "+r"(u.w[3])
      : "l"(p), "r"((iso_u32)there) : "memory");
  return u.p;
}
template <class T, int n>
__device__ __forceinline__ void iso_store_pack(T* p, const iso_pack<T, n>& x) {
  typedef typename iso_word<sizeof(T) * n>::type word;
  union { word w; iso_pack<T, n> p; } u;
  u.p = x;
  *(word*)p = u.w;
}

__device__ __forceinline__ int iso_floordiv(int a, int b) {
  int q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
__device__ __forceinline__ int iso_max_int(int a, int b) {
  return a > b ? a : b;
}
__device__ __forceinline__ int iso_min_int(int a, int b) {
  return a < b ? a : b;
}

__device__ __forceinline__ float iso_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
__device__ __forceinline__ float iso_min(float a, float b) {
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
template <class T>
__device__ __forceinline__ T iso_max(T a, T b) {
  return a != a || a > b ? a : b;
}
template <class T>
__device__ __forceinline__ T iso_min(T a, T b) {
  return a != a || a < b ? a : b;
}
__device__ __forceinline__ float iso_exp(float x) {
  return exp2f(x * 1.4426950408889634f);
}
__device__ __forceinline__ double iso_exp(double x) { return exp(x); }
__device__ __forceinline__ float iso_log(float x) { return logf(x); }
__device__ __forceinline__ double iso_log(double x) { return log(x); }
__device__ __forceinline__ float iso_sqrt(float x) { return sqrtf(x); }
__device__ __forceinline__ double iso_sqrt(double x) { return sqrt(x); }
__device__ __forceinline__ float iso_rsqrt(float x) { return rsqrtf(x); }
__device__ __forceinline__ double iso_rsqrt(double x) { return 1 / sqrt(x); }
__device__ __forceinline__ float iso_erf(float x) { return erff(x); }
__device__ __forceinline__ double iso_erf(double x) { return erf(x); }
__device__ __forceinline__ float iso_sin(float x) { return sinf(x); }
__device__ __forceinline__ double iso_sin(double x) { return sin(x); }
__device__ __forceinline__ float iso_cos(float x) { return cosf(x); }
__device__ __forceinline__ double iso_cos(double x) { return cos(x); }
__device__ __forceinline__ float iso_floor(float x) { return floorf(x); }
__device__ __forceinline__ double iso_floor(double x) { return floor(x); }
__device__ __forceinline__ long long iso_floor(long long x) { return x; }
__device__ __forceinline__ float iso_round(float x) { return rintf(x); }
__device__ __forceinline__ double iso_round(double x) { return rint(x); }
// Squares and cubes are what is asked for most; all threads ask for the same.
__device__ __forceinline__ float iso_pow(float x, float y) {
  return y == 2.0f ? x * x : y == 3.0f ? x * x * x : powf(x, y);
}
__device__ __forceinline__ double iso_pow(double x, double y) {
  return y == 2.0 ? x * x : y == 3.0 ? x * x * x : pow(x, y);
}
__device__ __forceinline__ long long iso_pow(long long x, long long y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  long long r = 1;
  for (; y > 0; --y) r *= x;
  return r;
}
template <class T>
__device__ __forceinline__ T iso_sign(T x) {
  return x != x ? x : (T)((x > 0) - (x < 0));
}
template <class T>
__device__ __forceinline__ long long iso_is_nan(T x) { return x != x; }
__device__ __forceinline__ long long iso_trunc_div(long long a, long long b) {
  return b == 0 ? 0 : b == -1 ? (long long)(0 - (iso_u64)a) : a / b;
}
__device__ __forceinline__ float iso_tanh(float x) { return tanhf(x); }
__device__ __forceinline__ double iso_tanh(double x) { return tanh(x); }
// 1 / x and 2 to the x where what is below 1e-38 may count as zero: one
// instruction each, without the scaling that others have around it.
__device__ __forceinline__ float iso_inverse(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
__device__ __forceinline__ float iso_exp2(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
__device__ __forceinline__ float iso_sigmoid(float x) {
  return iso_inverse(1.0f + iso_exp2(x * -1.4426950408889634f));
}
__device__ __forceinline__ double iso_sigmoid(double x) {
  return 1 / (1 + exp(-x));
}
template <class T>
__device__ __forceinline__ T iso_silu(T x) { return x * iso_sigmoid(x); }
// x times the normal distribution's share below x: 1 - q or q, where q is half
// of erfc(|x| / sqrt(2)) by formula 7.1.28 of Abramowitz and Stegun: the result
// is good to 5e-7.
__device__ __forceinline__ float iso_gelu(float x) {
  const float a = fabsf(x);
  float p = 1.0442737824f + a * (0.0520751630f + a * (0.0220769985f +
      a * (0.0034227392f + a * (3.96861370e-5f + a * (5.10552090e-5f +
      a * 5.62129966e-6f)))));
  p *= p, p *= p, p *= p, p *= p;
  const float q = iso_inverse(p);
  return x * (x < 0.0f ? q : 1.0f - q);
}
__device__ __forceinline__ double iso_gelu(double x) {
  return 0.5 * x * (1 + erf(x * 0.70710678118654752440));
}
template <class T>
__device__ __forceinline__ T iso_gelu_tanh(T x) {
  const T c = (T)0.7978845608028654, d = (T)0.044715;
  return (T)0.5 * x * ((T)1 + iso_tanh((x + d * x * x * x) * c));
}
__device__ __forceinline__ float iso_softplus(float x) {
  return fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x)));
}
__device__ __forceinline__ double iso_softplus(double x) {
  return fmax(x, 0.0) + log1p(exp(-fabs(x)));
}

template <class T>
__device__ __forceinline__ float iso_narrow_f16(T x) {
  return iso_value(iso_to_half((float)x));
}
template <class T>
__device__ __forceinline__ float iso_narrow_bf16(T x) {
  return iso_value(iso_to_bf16((float)x));
}
template <class T>
__device__ __forceinline__ float iso_narrow_f32(T x) { return (float)x; }
template <class T>
__device__ __forceinline__ double iso_narrow_f64(T x) { return (double)x; }
template <class T>
__device__ __forceinline__ long long iso_narrow_bool(T x) { return x != 0; }
#define ISO_NARROW(name, type)                                  \
  template <class T>                                            \
  __device__ __forceinline__ long long iso_narrow_##name(T x) { \
    return (long long)(type)(long long)x;                       \
  }
ISO_NARROW(i8, signed char)
ISO_NARROW(i16, short)
ISO_NARROW(i32, int)
ISO_NARROW(i64, long long)
ISO_NARROW(u8, unsigned char)
ISO_NARROW(u16, unsigned short)
ISO_NARROW(u32, unsigned)
ISO_NARROW(u64, unsigned long long)

template <class T> __device__ __forceinline__ T iso_start_sum() { return 0; }
template <class T> __device__ __forceinline__ T iso_start_prod() { return 1; }
template <class T> struct iso_least;
template <> struct iso_least<float> {
  static __device__ __forceinline__ float get() { return -ISO_INF; }
};
template <> struct iso_least<double> {
  static __device__ __forceinline__ double get() { return -(double)ISO_INF; }
};
template <> struct iso_least<long long> {
  static __device__ __forceinline__ long long get() {
    return (long long)0x8000000000000000ull;
  }
};
template <class T> __device__ __forceinline__ T iso_start_max() {
  return iso_least<T>::get();
}
template <class T> __device__ __forceinline__ T iso_start_min() {
  return -1 - iso_least<T>::get();
}
template <> __device__ __forceinline__ float iso_start_min<float>() {
  return ISO_INF;
}
template <> __device__ __forceinline__ double iso_start_min<double>() {
  return (double)ISO_INF;
}

// What `lanes` threads hold, put together; every one of them gets the result.
// More lanes than a warp are a whole block.
struct iso_add_fn {
  template <class T> static __device__ T of(T a, T b) { return a + b; }
};
struct iso_mul_fn {
  template <class T> static __device__ T of(T a, T b) { return a * b; }
};
struct iso_max_fn {
  template <class T> static __device__ T of(T a, T b) { return iso_max(a, b); }
};
struct iso_min_fn {
  template <class T> static __device__ T of(T a, T b) { return iso_min(a, b); }
};
template <int lanes, class F, class T>
__device__ __forceinline__ T iso_share(T x) {
#pragma unroll
  for (int d = lanes < 32 ? lanes / 2 : 16; d > 0; d /= 2) {
    x = F::of(x, __shfl_xor_sync(0xffffffffu, x, d));
  }
  if (lanes > 32) {
    __shared__ T part[32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    x = part[0];
#pragma unroll
    for (int w = 1; w < lanes / 32; ++w) x = F::of(x, part[w]);
  }
  return x;
}
template <int lanes, class T>
__device__ __forceinline__ T iso_share_sum(T x) {
  return iso_share<lanes, iso_add_fn>(x);
}
template <int lanes, class T>
__device__ __forceinline__ T iso_share_prod(T x) {
  return iso_share<lanes, iso_mul_fn>(x);
}
template <int lanes, class T>
__device__ __forceinline__ T iso_share_max(T x) {
  return iso_share<lanes, iso_max_fn>(x);
}
template <int lanes, class T>
__device__ __forceinline__ T iso_share_min(T x) {
  return iso_share<lanes, iso_min_fn>(x);
}

// Brings so many bytes to the L2 cache, each once for all blocks.
__device__ __forceinline__ void iso_ahead(const void* from, unsigned bytes) {
  const unsigned block =
      blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned all = gridDim.x * gridDim.y * gridDim.z * blockDim.x;
  for (unsigned line = block * blockDim.x + threadIdx.x;
       line < (bytes + 127) / 128; line += all) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"((const char*)from + line * 128));
  }
}

// Where ISO_NOTES is an address, blocks note there when they start (0), when
// they may read what the kernel before wrote (1) and when they end (2): two
// numbers each, the first nanosecond and the complement of the last.
__device__ __forceinline__ void iso_note(int what) {
#ifdef ISO_NOTES
  if (threadIdx.x != 0) return;
  iso_u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  iso_u64* at = (iso_u64*)ISO_NOTES + 2 * what;
  asm volatile("red.global.min.u64 [%0], %1;" ::"l"(at), "l"(now) : "memory");
  asm volatile("red.global.min.u64 [%0], %1;" ::"l"(at + 1), "l"(~now)
               : "memory");
#endif
}

// The next kernel may be set up; nothing that the kernel before wrote is read
// before iso_wait returns.
__device__ __forceinline__ void iso_release() {
  asm volatile("griddepcontrol.launch_dependents;");
}
__device__ __forceinline__ void iso_wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  iso_note(1);
}
)";

}  // namespace

absl::string_view Preamble() { return kText; }

}  // namespace isomer::cuda
