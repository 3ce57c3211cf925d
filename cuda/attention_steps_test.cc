// What is attention, what kernels of it read, and what cuDNN is offered.
#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cuda/program_testing.h"
#include "gtest/gtest.h"

namespace isomer::cuda {
namespace {

// What cuDNN is offered of a graph's steps, as text; "" if it is nothing.
std::string OfferedToDnn(absl::string_view text) {
  const auto program = ProgramOf(text);
  if (!program.ok()) return program.status().ToString();
  std::string out;
  for (const Step& s : program->steps) {
    for (const Variant& v : s.variants) {
      if (v.dnn) absl::StrAppend(&out, DnnText(*v.dnn), "\n");
    }
  }
  return out;
}

TEST(AttentionSteps, WhatCudnnDoesNotTakeIsNotOffered) {
  const std::string f16 =
      "input x: f16[16,64,56,56]\nconst w: f16[64,64,3,3] = 0.5\n"
      "i = relu(x)\nc = conv2d(i, w, pad=1)\n";
  for (const std::string& text :
       {// Single precision would be rounded.
        std::string("input x: f32[16,64,56,56]\n"
                    "const w: f32[64,64,3,3] = 0.5\n"
                    "i = relu(x)\nc = conv2d(i, w, pad=1)\noutput y = c\n"),
        // Small ones.
        std::string("input x: f16[1,64,14,14]\n"
                    "const w: f16[64,64,3,3] = 0.5\n"
                    "i = relu(x)\nc = conv2d(i, w, pad=1)\noutput y = c\n"),
        std::string("input x: f16[128,768]\nconst w: f16[768,768] = 0.5\n"
                    "m = matmul(x, w)\noutput y = m\n"),
        // Functions that it has not, or in another order.
        f16 + "r = clip(c, min=-1, max=1)\noutput y = r\n",
        f16 + "r = sub(i, c)\noutput y = r\n",
        f16 + "r = softplus(c)\noutput y = r\n"}) {
    EXPECT_EQ(OfferedToDnn(text), "") << text;
  }
  EXPECT_EQ(OfferedToDnn(f16 + "p = max_pool(c, kernel=[2 2])\noutput y = p\n"),
            "f16 conv[1 1][1 1][1 1][1 1] [16 64 56 56][200704 1 3584 64]+0 "
            "[64 64 3 3][576 1 192 64]+0 [16 64 56 56][200704 1 3584 64]+0\n");
  for (const char* rest :
       {"s = add(c, i)\noutput y = s\n",
        "s = add(c, i)\nr = relu(s)\nv = conv2d(r, w)\noutput y = v\n"}) {
    EXPECT_NE(OfferedToDnn(f16 + rest), "") << rest;
  }
}

// Keys and values of the past, and new ones behind them.
std::string TwoPlacesText(int queries, int past, bool made = false) {
  return absl::StrCat(
      "input q: f16[1,8,", queries, ",64]\ninput ", made ? "h" : "a",
      ": f16[1,2,", past, ",64]\n", made ? "a = relu(h)\n" : "",
      "input x: f16[1,1,256]\ninput c: f16[1,2,", past, ",64]\n",
      "s = slice(x, axes=[2], from=[0], to=[128])\n"
      "t = slice(x, axes=[2], from=[128], to=[256])\n"
      "b = reshape(s, shape=[1 2 1 64])\nd = reshape(t, shape=[1 2 1 64])\n"
      "k = concat(a, b, axis=2)\nv = concat(c, d, axis=2)\nk1 = broadcast(k, "
      "shape=",
      "[1 2 4 ", past + 1, " 64], dims=[0 1 3 4])\nk2 = reshape(k1, shape=[8 ",
      past + 1, " 64])\nk3 = transpose(k2, perm=[0 2 1])\n",
      "k4 = reshape(k3, shape=[1 8 64 ", past + 1, "])\n",
      "v1 = broadcast(v, shape=[1 2 4 ", past + 1, " 64], dims=[0 1 3 4])\n",
      "v2 = reshape(v1, shape=[1 8 ", past + 1, " 64])\ne = matmul(q, k4)\n",
      "p = softmax(e, axis=3)\no = matmul(p, v2)\noutput y = o\n");
}

// Attention of queries, keys and values that lie side by side in one tensor,
// and so do heads; several of them share keys and values. `more` makes the
// operand of the softmax of the product s; `guard` makes w of the softmax p.
std::string AttentionText(const std::string& operand, const std::string& more,
                          const std::string& weights = "p",
                          const std::string& guard = "") {
  return absl::StrCat(
      "input x: f16[16,197,1024]\ninput m: f16[197,197]\n"
      "const c: f16[] = 0.125\nconst z: f16[] = 0\n"
      "f = broadcast(c, shape=[16 8 197 197], dims=[])\n"
      "e = broadcast(z, shape=[16 8 197 197], dims=[])\n"
      "n = broadcast(m, shape=[16 8 197 197], dims=[2 3])\n"
      "x1 = slice(x, axes=[2], from=[0], to=[512])\n"
      "x2 = reshape(x1, shape=[16 197 8 64])\n"
      "q = transpose(x2, perm=[0 2 1 3])\n"
      "k1 = slice(x, axes=[2], from=[512], to=[768])\n"
      "k2 = reshape(k1, shape=[16 197 4 64])\n"
      "k3 = transpose(k2, perm=[0 2 1 3])\n"
      "k4 = broadcast(k3, shape=[16 4 2 197 64], dims=[0 1 3 4])\n"
      "k5 = reshape(k4, shape=[16 8 197 64])\n"
      "k = transpose(k5, perm=[0 1 3 2])\n"
      "v1 = slice(x, axes=[2], from=[768], to=[1024])\n"
      "v2 = reshape(v1, shape=[16 197 4 64])\n"
      "v3 = transpose(v2, perm=[0 2 1 3])\n"
      "v4 = broadcast(v3, shape=[16 4 2 197 64], dims=[0 1 3 4])\n"
      "v = reshape(v4, shape=[16 8 197 64])\ns = matmul(q, k)\n",
      more, "p = softmax(", operand, ", axis=3)\n", guard, "o = matmul(",
      weights,
      ", v)\nu = transpose(o, perm=[0 2 1 3])\n"
      "y = reshape(u, shape=[16 197 512])\noutput y = y\n");
}

// Queries, keys, output and values, and the number by which scores are
// multiplied.
TEST(AttentionSteps, AttentionIsOfferedToCudnn) {
  const std::string tensors =
      "f16 attention[][][][] [16 8 197 64][201728 64 1024 1]+0 "
      "[16 4 64 197][201728 64 1 1024]+512 [16 8 197 64][100864 64 512 1]+0 "
      "[16 4 197 64][201728 64 1024 1]+768";
  EXPECT_EQ(OfferedToDnn(AttentionText("s", "")), tensors + "\n");
  EXPECT_EQ(OfferedToDnn(AttentionText("g", "g = mul(f, s)\n")),
            tensors + " 2(0,-1,-1,0x1p-3,)\n");
  EXPECT_EQ(OfferedToDnn(AttentionText(
                "g",
                "h = mul(c, c)\nb = broadcast(h, shape=[16 8 197 197], dims=[])"
                "\ng = mul(s, b)\n")),
            tensors + " 2(0,-1,-1,0x1p-6,)\n");
  // A mask, another function, zeros for what is no number.
  for (const std::string& other : {AttentionText("g", "g = add(s, n)\n"),
                                   AttentionText("g", "g = tanh(s)\n"),
                                   AttentionText("g", "g = mul(s, s)\n"),
                                   AttentionText("g", "g = sub(e, s)\n"),
                                   AttentionText("g", "g = mul(s, f)\n", "w",
                                                 "i = is_nan(p)\n"
                                                 "w = where(i, e, p)\n")}) {
    EXPECT_EQ(OfferedToDnn(other), "") << other;
  }
}

// Batches and heads that are one dimension; keys in two places, keys that lie
// the other way, what is small.
TEST(AttentionSteps, AttentionIsOfferedWhereItFits) {
  const auto text = [](const std::string& keys, int queries) {
    return absl::StrCat("input q: f16[64,", queries, ",64]\n", keys,
                        "input v: f16[64,256,64]\ns = matmul(q, k)\n"
                        "p = softmax(s, axis=2)\no = matmul(p, v)\n"
                        "output y = o\n");
  };
  const std::string keys =
      "input t: f16[64,256,64]\nk = transpose(t, perm=[0 2 1])\n";
  EXPECT_EQ(OfferedToDnn(text(keys, 256)),
            "f16 attention[][][][] [1 64 256 64][1048576 16384 64 1]+0 "
            "[1 64 64 256][1048576 16384 1 64]+0 "
            "[1 64 256 64][1048576 16384 64 1]+0 "
            "[1 64 256 64][1048576 16384 64 1]+0\n");
  EXPECT_EQ(OfferedToDnn(text(keys, 1)), "");
  EXPECT_EQ(OfferedToDnn(text("input k: f16[64,64,256]\n", 256)), "");
  EXPECT_EQ(OfferedToDnn(TwoPlacesText(1024, 99)), "");
}

// What pointwise kernels do between the products, and zeros for what is no
// number.
TEST(AttentionSteps, AttentionIsOneStep) {
  const std::string before =
      "input q: f16[12,128,64]\ninput k: f16[12,64,128]\n"
      "input v: f16[12,128,64]\ninput m: f16[12,128,128]\nconst c: f16[] = 0\n"
      "const d: f16[] = 1\nz = broadcast(c, shape=[12 128 128], dims=[])\n"
      "e = broadcast(d, shape=[12 128 128], dims=[])\ns = matmul(q, k)\n"
      "a = add(s, m)\np = softmax(a, axis=2)\ni = is_nan(p)\n";
  auto steps = [&](const std::string& after) {
    const auto p = ProgramOf(before + after);
    EXPECT_TRUE(p.ok()) << p.status();
    return StepNames(*p);
  };
  const std::string fused =
      steps("w = where(i, z, p)\no = matmul(w, v)\noutput y = o\n");
  EXPECT_EQ(fused.substr(0, 10), "attention ");
  EXPECT_EQ(std::count(fused.begin(), fused.end(), '\n'), 1) << fused;
  // Other numbers in their place, or the other way round.
  for (const char* other : {"w = where(i, e, p)\n", "w = where(i, p, z)\n",
                            "w = where(i, z, a)\n"}) {
    const std::string apart =
        steps(absl::StrCat(other, "o = matmul(w, v)\noutput y = o\n"));
    EXPECT_GT(std::count(apart.begin(), apart.end(), '\n'), 1) << apart;
  }
}

// The middle product ends one attention and begins no other.
TEST(AttentionSteps, EveryProductOfAChainIsComputed) {
  const auto p = ProgramOf(kChain);
  ASSERT_TRUE(p.ok()) << p.status();
  double flops = 0;
  for (const Step& s : p->steps) flops += s.flops;
  EXPECT_EQ(flops, 3 * 2.0 * 64 * 512 * 512) << StepNames(*p);
}

// Blocks of a cluster share the keys where there are few queries.
TEST(AttentionSteps, KeysOfFewQueriesAreShared) {
  auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  const auto p = ProgramOf(
      "input q: f16[8,4,64]\ninput k: f16[8,64,488]\ninput v: f16[8,488,64]\n"
      "s = matmul(q, k)\np = softmax(s, axis=2)\no = matmul(p, v)\n"
      "output y = o\n");
  ASSERT_TRUE(p.ok()) << p.status();
  ASSERT_EQ(p->steps.size(), 1u) << StepNames(*p);
  std::set<int> shared;
  for (const Variant& v : p->steps[0].variants) {
    const KernelSource source = Compiled(compiler, v);
    shared.insert(source.cluster);
    EXPECT_EQ(source.grid[2], source.cluster);
  }
  EXPECT_TRUE(shared.count(8)) << StepNames(*p);
}

TEST(AttentionSteps, AttentionReadsTwoPlaces) {
  auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  // The past is asked for before the kernel may read what others write, unless
  // that is among it.
  for (const bool made : {false, true}) {
    const auto p = ProgramOf(TwoPlacesText(1, 99, made));
    ASSERT_TRUE(p.ok()) << p.status();
    ASSERT_EQ(p->steps.size(), made ? 2u : 1u) << StepNames(*p);
    for (const Variant& v : p->steps.back().variants) {
      const std::string text = Compiled(compiler, v).text;
      EXPECT_EQ(absl::StrContains(text, "EARLY = 1"), !made) << v.name;
    }
  }
}

}  // namespace
}  // namespace isomer::cuda
