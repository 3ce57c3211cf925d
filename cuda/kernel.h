// A kernel that was generated and how it is launched.
#ifndef ISOMER_CUDA_KERNEL_H_
#define ISOMER_CUDA_KERNEL_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/element_code.h"

namespace isomer::cuda {

// The entry point of every generated kernel.
inline constexpr char kEntry[] = "isomer_kernel";

// The source of one launch. Parameters are pointers alone: first those to what
// is read, then those to what is written.
struct KernelSource {
  std::string text;
  std::array<int, 3> grid = {1, 1, 1};
  int block = 1;
  int shared_bytes = 0;  // dynamic shared memory
  int cluster = 1;       // blocks along z that work together
  int lanes = 1;         // threads that share a row of results
};

// A value of a kernel's graph and where it lies.
struct Operand {
  Value value;
  Place place;
};

// "const float* in0, float* out0": the parameters of a kernel.
std::string Parameters(const std::vector<Operand>& inputs,
                       const std::vector<Operand>& outputs);

// Statements that store values at their offsets of a place, together where they
// lie side by side.
std::string StoreElements(const Place& place,
                          const std::vector<std::string>& values,
                          const std::vector<DimExpr>& offsets,
                          const ElementCode& code);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_KERNEL_H_
