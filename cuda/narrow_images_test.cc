// Convolutions of blocks against what they stand for, over a field: equal there
// is equal for all numbers.
#include "cuda/narrow_images.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "cuda/prepare.h"
#include "graph/equal_in_field.h"
#include "graph/text.h"
#include "gtest/gtest.h"

namespace isomer::cuda {
namespace {

using Ints = std::vector<int64_t>;

ir::Graph GraphOf(const std::string& text) {
  auto graph = ir::ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return *std::move(graph);
}

std::string Text(const Ints& image, const Ints& filters,
                 const std::string& how) {
  return absl::StrCat(
      absl::Substitute("input x: f16[$0,$1,$2,$3]\n", image[0], image[1],
                       image[2], image[3]),
      absl::Substitute("input w: f16[$0,$1,$2,$3]\n", filters[0], filters[1],
                       filters[2], filters[3]),
      "y = conv2d(x, w, ", how, ")\noutput y = y\n");
}

// The shapes of image and filters that are convolved in the end.
std::vector<Ints> Convolved(const ir::Graph& graph) {
  std::vector<Ints> shapes;
  for (NodeId id : graph.Order()) {
    const ir::Node& node = graph.node(id);
    if (!node.Is("conv2d")) continue;
    for (Value v : node.inputs) shapes.push_back(graph.type(v).shape);
  }
  return shapes;
}

TEST(NarrowImages, FirstConvolutionsOfNetworks) {
  const struct {
    Ints image, filters;
    const char* how;
    Ints blocks, taps;
  } cases[] = {
      // Pairs of three channels are six and two zeros.
      {{1, 3, 224, 224},
       {64, 3, 7, 7},
       "stride=2, pad=3",
       {1, 8, 224, 112},
       {64, 8, 7, 4}},
      {{1, 3, 299, 299},
       {32, 3, 3, 3},
       "stride=2",
       {1, 8, 299, 150},
       {32, 8, 3, 2}},
      // Patches that do not overlap are rows of a product.
      {{1, 3, 224, 224},
       {768, 3, 16, 16},
       "stride=16",
       {1, 768, 14, 14},
       {768, 768, 1, 1}},
      // The same image as beside it, for one that multiplies as much.
      {{1, 3, 32, 32},
       {64, 3, 3, 3},
       "stride=2, pad=1",
       {1, 8, 32, 16},
       {64, 8, 3, 2}},
      {{1, 3, 32, 32},
       {64, 3, 1, 1},
       "stride=2",
       {1, 8, 32, 16},
       {64, 8, 1, 1}},
      // Without strides, and where blocks bring nothing or are long, channels
      // are padded.
      {{1, 3, 70, 70},
       {64, 3, 3, 3},
       "stride=65",
       {1, 8, 70, 70},
       {64, 8, 3, 3}},
      {{1, 3, 32, 32}, {64, 3, 3, 3}, "pad=1", {1, 8, 32, 32}, {64, 8, 3, 3}},
      {{1, 3, 32, 32},
       {64, 3, 3, 3},
       "stride=2, dilation=2",
       {1, 8, 32, 32},
       {64, 8, 3, 3}},
  };
  for (const auto& c : cases) {
    const ir::Graph graph = GraphOf(Text(c.image, c.filters, c.how));
    const auto prepared = Prepare(graph);
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    EXPECT_EQ(Convolved(*prepared), (std::vector<Ints>{c.blocks, c.taps}))
        << c.how;
  }
}

TEST(NarrowImages, ComputeTheSame) {
  int compared = 0, blocks = 0;
  for (int channels : {1, 3, 12}) {
    for (const char* kernel : {"1 1", "3 3", "2 5", "7 4"}) {
      for (const char* stride : {"2 2", "1 2", "3 2", "4 4", "5 1"}) {
        for (const char* pad : {"0 0 0 0", "1 1 1 1", "3 0 1 2", "0 2 4 1"}) {
          for (const char* dilation : {"1 1", "2 1"}) {
            const Ints taps = {kernel[0] - '0', kernel[2] - '0'};
            const ir::Graph graph = GraphOf(
                Text({2, channels, 13, 10}, {4, channels, taps[0], taps[1]},
                     absl::Substitute("stride=[$0], pad=[$1], dilation=[$2]",
                                      stride, pad, dilation)));
            const auto prepared = Prepare(graph);
            ASSERT_TRUE(prepared.ok()) << prepared.status();
            const auto same =
                ir::EqualInField(graph, *prepared, ++compared, nullptr);
            EXPECT_TRUE(same.ok()) << same.status() << "\n"
                                   << ir::PrintGraph(graph);
            blocks += Convolved(*prepared)[0][3] != 10 ||
                      Convolved(*prepared)[0][2] != 13;
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 480);
  EXPECT_GE(blocks, 100);
}

}  // namespace
}  // namespace isomer::cuda
