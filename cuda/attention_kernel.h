// The source of kernels for attention: a product of queries and keys, a softmax
// of its rows and a product with values, in one pass over keys and values. The
// scores are never in memory: rows are scaled again whenever a larger score
// turns up.
#ifndef ISOMER_CUDA_ATTENTION_KERNEL_H_
#define ISOMER_CUDA_ATTENTION_KERNEL_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cuda/product.h"

namespace isomer::cuda {

// The two products. `scores` ends in the operand of the softmax, `values`
// starts from the softmax, which is its input "scores"; other inputs have names
// of their own.
struct AttentionCall {
  ProductCall scores, values;
  // Where the softmax of a row is no number, its weights are zeros.
  bool guarded = false;
};

// How both were analysed, if they fit together and lie as the kernel needs it.
struct Attention {
  Product scores, values;
  ElementText score;
  // So many batches share keys and values: their queries are those of one.
  int64_t shared = 1;
};
absl::StatusOr<std::optional<Attention>> AnalyzeAttention(
    const AttentionCall& call);

// `wm` warps have 16 queries each; `wk` such groups share the keys, `bn` of
// them at a time, and so do `split` blocks of a cluster. With `warpgroups`,
// four warps multiply together.
struct AttentionTiling {
  int wm = 4, wk = 1, bn = 64, stages = 2;
  bool warpgroups = false;
  int split = 1;

  int rows() const { return 16 * wm; }
  int threads() const { return 32 * wm * wk; }
  // "attention 4x1 k64 s2", "attention 1x4 k16 s1 z8", "attention wg 2 k64 s2".
  std::string ToString() const;
};

// Tilings that are worth trying, the likeliest first.
std::vector<AttentionTiling> AttentionTilings(const Attention& attention,
                                              int units);

// What the kernel reads.
std::vector<Operand> AttentionInputs(const AttentionCall& call);

// The text of a kernel with what depends on the call: RESCALE is a step of the
// running softmax, with the function `exp2`; SCORE, EPILOGUE and the pointers
// and offsets of queries, keys and values (Q_, K_, V_) are those of the call.
absl::StatusOr<std::string> FilledIn(absl::string_view text,
                                     absl::string_view exp2,
                                     const AttentionCall& call,
                                     const Attention& attention);

absl::StatusOr<KernelSource> AttentionKernel(const AttentionCall& call,
                                             const Attention& attention,
                                             const AttentionTiling& tiling);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_ATTENTION_KERNEL_H_
