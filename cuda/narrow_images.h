// Convolutions over images of few channels, such as the first of a network,
// which waste most of what a fast kernel reads together on channels that are
// zeros. With strides, neighbours in the image become channels instead: windows
// start where such blocks do.
#ifndef ISOMER_CUDA_NARROW_IMAGES_H_
#define ISOMER_CUDA_NARROW_IMAGES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace isomer::cuda {

// Channels that a fast kernel reads together.
inline constexpr int64_t kChannelChunk = 8;

// v with so many zeros around dimension 1.
absl::StatusOr<Value> PaddedChannels(ir::Graph& graph, Value v, int64_t before,
                                     int64_t after);

// v with zeros behind its channels, up to a multiple of kChannelChunk.
absl::StatusOr<Value> InChunks(ir::Graph& graph, Value v);

// conv2d(image, filters), of one group and two spatial dimensions, which gives
// a value of shape `out`, as a convolution of blocks, whose channels are a
// multiple of kChannelChunk. Adds nothing to the graph if that would neither
// multiply less than with channels of zeros alone, nor as much over a smaller
// image.
absl::StatusOr<std::optional<Value>> ConvolutionOfBlocks(
    ir::Graph& graph, const Attrs& attrs, Value image, Value filters,
    const std::vector<int64_t>& out);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_NARROW_IMAGES_H_
