// Element types of tensors: their names, sizes and the rounding of values to
// them.
//
// The 16-bit floats are stored as bit patterns and computed with in float.
// Every conversion to them rounds once, to nearest and ties to even, keeps
// subnormals and infinities, and turns a NaN into a quiet NaN with the upper
// bits of its payload, which is what processors and accelerators do.
#ifndef ISOMER_OPS_DTYPE_H_
#define ISOMER_OPS_DTYPE_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace isomer {

enum class DType : uint8_t {
  kF32,
  kF64,
  kF16,
  kBF16,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kBool,
};

// All element types in the order of their values.
inline constexpr std::array<DType, 13> kAllDTypes = {
    DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
    DType::kI16, DType::kI32, DType::kI64, DType::kU8,   DType::kU16,
    DType::kU32, DType::kU64, DType::kBool};

// Returns the name used in text: "f32", "bf16", "i64", "bool".
absl::string_view DTypeName(DType type);

// Returns the type of that name, or an error that lists the names there are.
absl::StatusOr<DType> ParseDType(absl::string_view name);

// Returns the bytes one element takes in memory; a bool takes one.
int ByteSize(DType type);

// Returns the bits of the representation; 8 for a bool.
int BitWidth(DType type);

// True for f32, f64, f16 and bf16.
bool IsFloat(DType type);

// True for the signed and unsigned integers; a bool is not an integer.
bool IsInteger(DType type);

// True for i8, i16, i32 and i64.
bool IsSignedInteger(DType type);

// Convert between bit patterns of the 16-bit floats and values. Widening is
// exact; narrowing rounds once, also from double.
float HalfToFloat(uint16_t bits);
float Bf16ToFloat(uint16_t bits);
uint16_t FloatToHalf(float value);
uint16_t FloatToBf16(float value);
uint16_t DoubleToHalf(double value);
uint16_t DoubleToBf16(double value);

// Returns the value of a float type nearest to `value`; for other types
// returns the value itself.
double RoundTo(DType type, double value);
float RoundTo(DType type, float value);

// Returns `value` modulo 2^width as that integer type reads it. A u64 comes
// back as the int64_t with the same bits; bool becomes 0 or 1; float types
// leave the value as it is.
int64_t WrapTo(DType type, int64_t value);

}  // namespace isomer

#endif  // ISOMER_OPS_DTYPE_H_
