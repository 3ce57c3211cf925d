// Programs of graphs that are given as text, for tests of what they consist of.
#ifndef ISOMER_CUDA_PROGRAM_TESTING_H_
#define ISOMER_CUDA_PROGRAM_TESTING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cuda/compiler.h"
#include "cuda/program.h"

namespace isomer::cuda {

// Products and softmaxes in turn.
inline constexpr char kChain[] =
    "input x: f16[64,512]\nconst w: f16[512,512] = 0.5\n"
    "a = matmul(x, w)\nb = softmax(a)\nc = matmul(b, w)\nd = softmax(c)\n"
    "e = matmul(d, w)\noutput y = e\n";

absl::StatusOr<Program> ProgramOf(absl::string_view text,
                                  const ProgramOptions& options = {});

// "family variant" of the steps, one a line.
std::string StepNames(const Program& p);

// The kernel of a variant, which compiles where there is a compiler.
KernelSource Compiled(const absl::StatusOr<Compiler>& compiler,
                      const Variant& v);

// The variants of the only step whose names start so.
std::vector<Variant> VariantsOf(const Program& p, absl::string_view prefix);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_PROGRAM_TESTING_H_
