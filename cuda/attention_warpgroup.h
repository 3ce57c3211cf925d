// The source of attention kernels whose products are those of warpgroups, for
// many queries: see attention_kernel.h, which chooses between them and others.
#ifndef ISOMER_CUDA_ATTENTION_WARPGROUP_H_
#define ISOMER_CUDA_ATTENTION_WARPGROUP_H_

#include "absl/status/statusor.h"
#include "cuda/attention_kernel.h"

namespace isomer::cuda {

// True if queries, keys and values lie as the kernel needs it.
bool FitsWarpgroups(const Attention& attention);

int WarpgroupSharedBytes(const Attention& attention,
                         const AttentionTiling& tiling);

// The text of the kernel alone; its grid is that of any attention kernel.
absl::StatusOr<KernelSource> WarpgroupAttention(const AttentionCall& call,
                                                const Attention& attention,
                                                const AttentionTiling& tiling);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_ATTENTION_WARPGROUP_H_
