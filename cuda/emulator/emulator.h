// Runs generated kernels on the CPU, thread by thread, so that what they
// compute can be tested where there is no GPU. The machine's own compiler
// compiles them; asm statements do what the PTX manual says.
//
//   ASSIGN_OR_RETURN(auto results, Emulate(program, {}, inputs, kLate));
//
// What a GPU may do in several orders is done in the worst one (machine.h), and
// what a kernel must not touch yet is NaN: what it reads of the kernel before
// it waits for that, results that are not there, memory that nobody wrote. What
// lies outside of a buffer cannot be read.
#ifndef ISOMER_CUDA_EMULATOR_EMULATOR_H_
#define ISOMER_CUDA_EMULATOR_EMULATOR_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/emulator/machine.h"
#include "cuda/kernel.h"
#include "cuda/program.h"
#include "ops/tensor.h"

namespace isomer::cuda::emulator {

// True if there is a compiler. Without one nothing can be emulated.
bool HasCompiler();

// A kernel, compiled for the CPU.
class Kernel {
 public:
  // A text is compiled once.
  static absl::StatusOr<std::shared_ptr<const Kernel>> Compile(
      const std::string& text);

  // Runs all blocks with these pointers. `hide` and `publish` are those of
  // machine.h.
  absl::Status Run(
      const KernelSource& shape, std::vector<void*> pointers, Order order,
      std::function<void()> hide = [] {},
      std::function<void()> publish = [] {}) const;

 private:
  using Start = void (*)(IsoHost*, void** parameters);
  explicit Kernel(Start start) : start_(start) {}

  Start start_;
};

// The outputs of a program, in its order. Each step runs the variant that
// `choices` names by the step's signature, otherwise the first; there are no
// libraries.
absl::StatusOr<std::vector<Tensor>> Emulate(
    const Program& program, const std::map<std::string, std::string>& choices,
    const std::map<std::string, Tensor>& inputs, Order order);

}  // namespace isomer::cuda::emulator

#endif  // ISOMER_CUDA_EMULATOR_EMULATOR_H_
