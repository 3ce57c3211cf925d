// Tensors as a .npz file, which numpy reads: an uncompressed zip of .npy files.
#ifndef ISOMER_TOOLS_NPZ_H_
#define ISOMER_TOOLS_NPZ_H_

#include <string>
#include <utility>
#include <vector>

#include "ops/tensor.h"

namespace isomer::cli {

// The bytes of the file; bf16, which numpy lacks, is stored as u16 patterns.
std::string NpzBytes(
    const std::vector<std::pair<std::string, Tensor>>& tensors);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_NPZ_H_
