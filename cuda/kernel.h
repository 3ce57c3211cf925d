// A kernel that was generated and how it is launched.
#ifndef ISOMER_CUDA_KERNEL_H_
#define ISOMER_CUDA_KERNEL_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
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

// What stands around the statements of a kernel.
struct KernelFrame {
  std::vector<Operand> inputs, outputs;
  std::string helpers = {};  // before the kernel
  int threads = 1;
  int lanes = 1;   // threads that share a row of results
  int blocks = 0;  // on a multiprocessor at a time; 0: as many as fit
};

// The text of a kernel. It lets the next kernel be set up, and then does what
// `body` says, which calls iso_wait() before it reads anything but constants.
std::string KernelText(const KernelFrame& frame, absl::string_view body);

// Statements that store values at their offsets of a place, together where they
// lie side by side.
std::string StoreElements(const Place& place,
                          const std::vector<std::string>& values,
                          const std::vector<DimExpr>& offsets,
                          const ElementCode& code);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_KERNEL_H_
