// Along a dimension of stride s, where blocks of s elements become channels, a
// window starts at a block: it is that many elements longer in front as its
// padding is short of whole blocks. Filters get zeros there and at their end.
#include "cuda/narrow_images.h"

#include <tuple>
#include <vector>

#include "ops/dim.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

using Ints = std::vector<int64_t>;

// Longer blocks than this are no first convolution of any network.
constexpr int64_t kLongestBlock = 64;

int64_t Chunks(int64_t channels) {
  return CeilDiv(channels, kChannelChunk) * kChannelChunk;
}

// One spatial dimension in blocks.
struct Blocks {
  int64_t size = 1;               // of a block
  int64_t image = 0;              // blocks of the image
  int64_t kernel = 0;             // and of the filters
  int64_t missing = 0;            // elements of filters, in front
  int64_t before = 0, after = 0;  // blocks of padding
  int64_t stride = 1;             // in blocks
};

// A dimension as it is.
Blocks AsItIs(const Attrs& attrs, int d, int64_t image, int64_t kernel) {
  const Ints& pad = attrs.Ints("pad");
  return {.image = image,
          .kernel = kernel,
          .before = pad[d],
          .after = pad[d + 2],
          .stride = attrs.Ints("stride")[d]};
}

// In blocks as long as its stride; nothing where that cannot be.
std::optional<Blocks> InBlocks(const Attrs& attrs, int d, int64_t image,
                               int64_t kernel, int64_t out) {
  const int64_t size = attrs.Ints("stride")[d], pad = attrs.Ints("pad")[d];
  if (size == 1 || size > kLongestBlock || attrs.Ints("dilation")[d] != 1) {
    return std::nullopt;
  }
  Blocks b{.size = size, .image = CeilDiv(image, size)};
  b.before = CeilDiv(pad, size);
  b.missing = b.before * size - pad;
  b.kernel = CeilDiv(b.missing + kernel, size);
  b.after = out - 1 + b.kernel - b.image - b.before;
  // What no window reads cannot be left out by padding.
  if (b.after < 0) return std::nullopt;
  return b;
}

int64_t ChannelsOf(int64_t channels, const Blocks& y, const Blocks& x) {
  return Chunks(channels * y.size * x.size);
}

// What is multiplied for a result, how large the image is, and the taps.
using Cost = std::tuple<int64_t, int64_t, int64_t>;
Cost CostOf(int64_t channels, const Blocks& y, const Blocks& x) {
  const int64_t all = ChannelsOf(channels, y, x), taps = y.kernel * x.kernel;
  return {all * taps, all * y.image * x.image, taps};
}

// v [n, c, ...] with elements in front and behind that make so many blocks, as
// [n, channels, count[0], count[1]].
absl::StatusOr<Value> Taken(ir::Graph& graph, Value v, const Blocks& y,
                            const Blocks& x, Ints front, Ints count) {
  const Ints shape = graph.type(v).shape;
  const int64_t channels = shape[1] * y.size * x.size;
  const Ints end = {0, 0, count[0] * y.size - shape[2] - front[0],
                    count[1] * x.size - shape[3] - front[1]};
  if (front != Ints{0, 0} || end != Ints(4, 0)) {
    ASSIGN_OR_RETURN(v, graph.Add("pad", {v},
                                  {{"begin", Ints{0, 0, front[0], front[1]}},
                                   {"end", end}}));
  }
  ASSIGN_OR_RETURN(v, graph.Add("reshape", {v},
                                {{"shape", Ints{shape[0], shape[1], count[0],
                                                y.size, count[1], x.size}}}));
  ASSIGN_OR_RETURN(
      v, graph.Add("transpose", {v}, {{"perm", Ints{0, 1, 3, 5, 2, 4}}}));
  ASSIGN_OR_RETURN(
      v, graph.Add("reshape", {v},
                   {{"shape", Ints{shape[0], channels, count[0], count[1]}}}));
  return InChunks(graph, v);
}

}  // namespace

absl::StatusOr<Value> PaddedChannels(ir::Graph& graph, Value v, int64_t before,
                                     int64_t after) {
  if (before == 0 && after == 0) return v;
  Ints begin(graph.type(v).rank(), 0), end = begin;
  begin[1] = before;
  end[1] = after;
  return graph.Add("pad", {v}, {{"begin", begin}, {"end", end}});
}

absl::StatusOr<Value> InChunks(ir::Graph& graph, Value v) {
  const int64_t channels = graph.type(v).shape[1];
  return PaddedChannels(graph, v, 0, Chunks(channels) - channels);
}

absl::StatusOr<std::optional<Value>> ConvolutionOfBlocks(ir::Graph& graph,
                                                         const Attrs& attrs,
                                                         Value image,
                                                         Value filters,
                                                         const Ints& out) {
  const Ints in = graph.type(image).shape, taps = graph.type(filters).shape;
  if (in.size() != 4 || attrs.Int("group") != 1) return std::nullopt;
  std::vector<Blocks> ways[2];
  for (int d = 0; d < 2; ++d) {
    const int64_t kernel = taps[d + 2], size = in[d + 2];
    ways[d] = {AsItIs(attrs, d, size, kernel)};
    const auto blocks = InBlocks(attrs, d, size, kernel, out[d + 2]);
    if (blocks) ways[d].push_back(*blocks);
  }
  Blocks y = ways[0][0], x = ways[1][0];
  for (const Blocks& a : ways[0]) {
    for (const Blocks& b : ways[1]) {
      if (CostOf(in[1], a, b) < CostOf(in[1], y, x)) {
        y = a;
        x = b;
      }
    }
  }
  if (y.size == 1 && x.size == 1) return std::nullopt;
  ASSIGN_OR_RETURN(image,
                   Taken(graph, image, y, x, {0, 0}, {y.image, x.image}));
  ASSIGN_OR_RETURN(filters, Taken(graph, filters, y, x, {y.missing, x.missing},
                                  {y.kernel, x.kernel}));
  Attrs blocks = attrs;
  blocks.Set("stride", Ints{y.stride, x.stride});
  blocks.Set("pad", Ints{y.before, x.before, y.after, x.after});
  return graph.Add("conv2d", {image, filters}, blocks);
}

}  // namespace isomer::cuda
