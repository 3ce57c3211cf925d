// A kernel that was generated and how it is launched.
#ifndef ISOMER_CUDA_KERNEL_H_
#define ISOMER_CUDA_KERNEL_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cuda/element_code.h"

namespace isomer::cuda {

// The entry point of every generated kernel.
inline constexpr char kEntry[] = "isomer_kernel";

// A matrix of 2-byte elements that the copy engine takes boxes of: rows of
// `size[0]` elements, `step_bytes` apart, at a place of what the pointer with
// this number points to. What is outside of it counts as zeros.
struct TensorMap {
  int argument = 0;
  int64_t offset_bytes = 0, step_bytes = 0;
  std::array<int64_t, 2> size = {1, 1};
  std::array<int, 2> box = {1, 1};
};

// The source of one launch. Parameters are the maps, then pointers: first those
// to what is read, then those to what is written.
struct KernelSource {
  std::string text;
  std::array<int, 3> grid = {1, 1, 1};
  int block = 1;
  int shared_bytes = 0;  // dynamic shared memory
  int cluster = 1;       // blocks along z that work together
  int lanes = 1;         // threads that share a row of results
  int fill = 1;          // blocks that keep a multiprocessor busy
  bool early = true;     // it gains by being set up while others still run
  bool apart = false;    // and by blocks that have a multiprocessor each
  std::vector<TensorMap> maps = {};
};

// A value of a kernel's graph and where it lies.
struct Operand {
  Value value;
  Place place;
  bool there = false;  // before the network runs: no kernel writes it
  // A constant that this kernel alone reads, from memory in every run, but for
  // the share of it that is kept in the cache.
  bool cold = false;
  double kept = 0;
  // To bring to the cache while the kernel before still runs.
  int64_t ahead_bytes = 0;
  // What all elements are, where that is known.
  std::optional<double> number = {};
};

// True if all elements lie in the same place.
bool IsUniform(const Place& place);

// Statements that call iso_wait(), and read what is the same everywhere, before
// that where it is there already: after a sum all threads would wait for it.
// The code knows it from then on.
std::string WaitText(const std::vector<Operand>& inputs, ElementCode& code);

// What stands around the statements of a kernel.
struct KernelFrame {
  std::vector<Operand> inputs, outputs;
  int maps = 0;              // parameters map0, map1, ... of type iso_map
  std::string helpers = {};  // before the kernel
  int threads = 1;
  int lanes = 1;          // threads that share a row of results
  int blocks = 0;         // on a multiprocessor at a time; 0: as many as fit
  bool releases = false;  // the body calls iso_release()
};

// The text of a kernel. It lets the next kernel be set up, unless the body does
// that later, asks for what is to come ahead, and then does what `body` says,
// which calls iso_wait() before it reads anything but constants.
std::string KernelText(const KernelFrame& frame, absl::string_view body);

// The text of a kernel that notes at this address when it runs: 6 numbers of 64
// bits, which are to have all bits set before. They are the first nanosecond,
// and the complement of the last, at which a block starts, at which one may
// read what the kernel before wrote, and at which one ends.
std::string NotingText(const std::string& text, uint64_t address);

// The type of a pack of elements as they are stored in a place.
std::string PackType(const Place& place, size_t count);
// Statements that fill `pack` with values as they are stored in a place; that
// store elements of it, from one on, at their offsets, together where they lie
// side by side and are all of it; and both.
std::string PackElements(const Place& place,
                         const std::vector<std::string>& values);
struct PackPart {
  int from = 0, of = 0;  // of so many elements
};
std::string StorePack(const Place& place, const std::vector<DimExpr>& offsets,
                      const ElementCode& code, const PackPart& part);
std::string StoreElements(const Place& place,
                          const std::vector<std::string>& values,
                          const std::vector<DimExpr>& offsets,
                          const ElementCode& code);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_KERNEL_H_
