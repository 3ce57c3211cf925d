// Templates at other sizes: what is compiled when it is first run agrees with
// the operators' own kernels, and what does not type has no instance.
#include "xfer_gen/world.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "graph/evaluate.h"
#include "ops/tensor.h"

namespace isomer::gen {
namespace {

Preset Images() {
  auto preset = ParsePreset(
      "images",
      "depth 1\nelements 512\nleaf i(1): f32[b,c,h,v]\n"
      "weight k(1): f32[o,c,3,3]\nweight d(1): f32[c,1,3,3]\n"
      "sizes b=2 c=4 o=4 h=5 v=5\nsizes b=3 c=2 o=5 h=4 v=6\n"
      "template conv(a, b): conv2d(a, b, pad=[1 1 1 1], "
      "group=dim(a, 1)/dim(b, 1))\n"
      "template conv_relu(a, b): relu(conv2d(a, b, pad=[1 1 1 1], "
      "group=dim(a, 1)/dim(b, 1)))\n"
      "template steps(a, b): conv2d(a, b, stride=[2 1], dilation=[1 2], "
      "pad=[1 2 0 2], group=dim(a, 1)/dim(b, 1))\n"
      "template average(a): avg_pool(a, kernel=[3 3], pad=[1 1 1 1])\n"
      "template largest(a): max_pool(a, kernel=[2 2], stride=[2 2])\n"
      "template softmax(a): softmax(a, axis=1)\n");
  EXPECT_TRUE(preset.ok()) << preset.status();
  return *std::move(preset);
}

// All instances of a template on leaves, with the leaves.
struct OnLeaves {
  int tmpl;
  std::vector<int> leaves;
  const Instance* instance;
};

std::vector<OnLeaves> AllOnLeaves(World& world) {
  std::vector<OnLeaves> out;
  for (size_t t = 0; t < world.preset().templates.size(); ++t) {
    const size_t arity = world.preset().templates[t].params.size();
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < (arity == 2 ? 3 : 1); ++b) {
        std::vector<int> leaves = {a};
        if (arity == 2) leaves.push_back(b);
        std::vector<KindId> kinds;
        for (int leaf : leaves) kinds.push_back(world.leaf_kind(leaf));
        const Instance* found = world.Find(static_cast<int>(t), kinds);
        EXPECT_EQ(found == nullptr,
                  !world.WhyNot(static_cast<int>(t), kinds).ok());
        if (found != nullptr) {
          out.push_back({static_cast<int>(t), leaves, found});
        }
      }
    }
  }
  return out;
}

TEST(World, OtherSizesAgreeWithTheKernels) {
  const Preset preset = Images();
  World world(preset, 1, 7);
  int compared = 0;
  for (const OnLeaves& at : AllOnLeaves(world)) {
    const Shape& shape = at.instance->shape;
    ASSERT_NE(shape.graph, nullptr);
    std::map<std::string, Tensor> named;
    std::vector<const Field*> inputs;
    for (size_t i = 0; i < at.leaves.size(); ++i) {
      const TensorType& type = world.type(world.leaf_kind(at.leaves[i]));
      const Field* values = world.leaf_values(at.leaves[i]);
      inputs.push_back(values);
      named[preset.templates[at.tmpl].params[i]] = {
          type, std::vector<Field>(values, values + NumElements(type))};
    }
    auto want = ir::Evaluate(*shape.graph, named, {.interp = Interp::kField});
    ASSERT_TRUE(want.ok()) << want.status();
    ASSERT_TRUE(shape.Ready());
    EXPECT_EQ(shape.graph, nullptr);
    std::vector<Field> got(at.instance->program.size());
    Scratch scratch;
    at.instance->program.Run(inputs, got.data(), scratch);
    EXPECT_EQ(got, (*want)[0].as<Field>())
        << preset.templates[at.tmpl].name << " on leaf " << at.leaves[0];
    ++compared;
  }
  EXPECT_GT(compared, 9);
}

TEST(World, ExtremesAreKnown) {
  const Preset preset = Images();
  World world(preset, 0, 7);
  for (const OnLeaves& at : AllOnLeaves(world)) {
    const std::string& name = preset.templates[at.tmpl].name;
    const bool hides = name == "conv_relu" || name == "largest";
    if (name == "softmax") continue;  // it may subtract the largest
    EXPECT_EQ(at.instance->program.has_extremes(), hides) << name;
  }
}

TEST(World, ThreadsShareInstances) {
  const Preset preset = Images();
  World world(preset, 1, 7);
  std::vector<std::vector<OnLeaves>> found(4);
  std::vector<std::thread> threads;
  for (auto& list : found) {
    threads.emplace_back([&] {
      list = AllOnLeaves(world);
      for (const OnLeaves& at : list) EXPECT_TRUE(at.instance->shape.Ready());
    });
  }
  for (std::thread& t : threads) t.join();
  for (const auto& list : found) {
    ASSERT_EQ(list.size(), found[0].size());
    for (size_t i = 0; i < list.size(); ++i) {
      EXPECT_EQ(list[i].instance, found[0][i].instance);
    }
  }
}

// A filter of two channels does not fit on one.
TEST(World, WhatDoesNotTypeHasNoInstance) {
  const Preset preset = Images();
  World world(preset, 1, 7);
  const KindId image = world.leaf_kind(0), filter = world.leaf_kind(1);
  const KindId one_channel = world.leaf_kind(2);
  EXPECT_NE(world.Find(0, {image, filter}), nullptr);
  EXPECT_EQ(world.Find(0, {one_channel, filter}), nullptr);
  EXPECT_FALSE(world.WhyNot(0, {one_channel, filter}).ok());
  EXPECT_EQ(world.Find(0, {one_channel, filter}), nullptr);
}

}  // namespace
}  // namespace isomer::gen
