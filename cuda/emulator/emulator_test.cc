// Kernels that are right compute the same in every order, and mistakes that a
// GPU may forgive are found.
#include "cuda/emulator/emulator.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cuda/graph_case.h"
#include "gtest/gtest.h"
#include "runtime/compare.h"

namespace isomer::cuda::emulator {
namespace {

constexpr int kThreads = 64;

// What 64 threads make of 0, 1, 2, ... in `in`; `body` writes out[tid].
absl::StatusOr<std::vector<float>> Run(absl::string_view body, Order order) {
  KernelSource source;
  source.block = kThreads;
  source.shared_bytes = 1024;
  source.text = absl::StrCat(
      "typedef unsigned iso_u32;\n"
      "extern \"C\" __global__ void isomer_kernel(const float* in, float* out)"
      " {\n  extern __shared__ __align__(128) unsigned char memory[];\n"
      "  float* const at = (float*)memory;\n"
      "  const iso_u32 start = (iso_u32)__cvta_generic_to_shared(memory);\n"
      "  const int tid = threadIdx.x;\n",
      body, "}\n");
  auto kernel = Kernel::Compile(source.text);
  if (!kernel.ok()) return kernel.status();
  std::vector<float> in(kThreads), out(kThreads);
  for (int i = 0; i < kThreads; ++i) in[i] = static_cast<float>(i);
  const absl::Status status =
      (*kernel)->Run(source, {in.data(), out.data()}, order);
  if (!status.ok()) return status;
  return out;
}

// True if element i of the result is 63 - i, in this order.
bool Reverses(absl::string_view body, Order order) {
  const auto out = Run(body, order);
  EXPECT_TRUE(out.ok()) << out.status();
  for (int i = 0; out.ok() && i < kThreads; ++i) {
    if ((*out)[i] != static_cast<float>(kThreads - 1 - i)) return false;
  }
  return out.ok();
}

std::string ErrorOf(absl::string_view body) {
  const auto out = Run(body, Order::kEarly);
  return out.ok() ? "" : std::string(out.status().message());
}

TEST(Emulator, ThreadsThatDoNotWaitForEachOther) {
  if (!HasCompiler()) GTEST_SKIP() << "SKIPPED: there is no compiler";
  const std::string write = "at[tid] = in[tid];\n",
                    read = "out[tid] = at[63 - tid];\n";
  for (Order order : {Order::kEarly, Order::kLate}) {
    EXPECT_TRUE(Reverses(write + "__syncthreads();\n" + read, order));
    EXPECT_FALSE(Reverses(write + read, order));
    // Of a warp they are not enough.
    EXPECT_FALSE(Reverses(write + "__syncwarp();\n" + read, order));
  }
}

TEST(Emulator, CopiesThatAreNotAwaited) {
  if (!HasCompiler()) GTEST_SKIP() << "SKIPPED: there is no compiler";
  const std::string copy =
      "if (tid < 16) asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, "
      "%2;\" :: \"r\"(start + 16 * tid), \"l\"(in + 4 * tid), \"r\"(16));\n"
      "asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n";
  const std::string await =
      "asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(0) : \"memory\");\n";
  const std::string read = "__syncthreads();\nout[tid] = at[63 - tid];\n";
  EXPECT_TRUE(Reverses(copy + await + read, Order::kEarly));
  EXPECT_TRUE(Reverses(copy + await + read, Order::kLate));
  EXPECT_TRUE(Reverses(copy + read, Order::kEarly));
  EXPECT_FALSE(Reverses(copy + read, Order::kLate));
}

TEST(Emulator, WhatAKernelMayNotDo) {
  if (!HasCompiler()) GTEST_SKIP() << "SKIPPED: there is no compiler";
  const std::string words =
      "asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" :: "
      "\"r\"(start + AT), \"r\"(2));\n";
  auto error = [&](const std::string& at, const std::string& more) {
    return ErrorOf("if (tid == 0) {\n" +
                   absl::StrReplaceAll(words, {{"AT", at}}) + "}\n" + more);
  };
  const std::string arrive =
      "__syncthreads();\nif (tid < N) asm volatile(\"mbarrier.arrive.shared::"
      "cta.b64 _, [%0];\" :: \"r\"(start));\n";
  const std::string wait =
      "iso_u32 done;\nasm volatile(\"mbarrier.try_wait.parity.shared::cta.b64 "
      "p, [%1], %2; selp.u32 %0, 1, 0, p;\" : \"=r\"(done) : \"r\"(start), "
      "\"r\"(0));\n";
  auto arrivals = [&](int n) {
    return absl::StrReplaceAll(arrive, {{"N", absl::StrCat(n)}});
  };
  EXPECT_EQ(error("0", arrivals(2) + wait), "");
  EXPECT_EQ(error("0", arrivals(1) + wait),
            "block 0 0 0: threads wait for ever: 64 from 0 to 63 for mbarrier "
            "in block 0");
  EXPECT_EQ(error("1024", ""),
            "block 0 0 0: thread 0: 8 bytes at 2176 are outside of the block's "
            "memory, which ends at 2176");
  EXPECT_EQ(error("4", ""),
            "block 0 0 0: thread 0: 8 bytes at 1156 are not aligned");
  EXPECT_EQ(
      error("0", absl::StrReplaceAll(arrivals(1), {{"start", "start + 8"}})),
      "block 0 0 0: thread 0: there is no mbarrier at the address");
  EXPECT_EQ(
      ErrorOf("if (tid % 2) __syncwarp(); else __shfl_sync(~0u, 1, 0);\n"),
      "block 0 0 0: thread 1: other lanes of the warp are at "
      "__shfl_sync, this one at __syncwarp");
  EXPECT_EQ(
      ErrorOf("asm volatile(\"fma.rn.f32 %0, %0, %0;\" : \"+f\"(out[0]));\n"),
      "block 0 0 0: thread 0: not known: fma.rn.f32 %0, %0, %0");
}

// The kernels in which most happens at a time, with one mistake each.
TEST(Emulator, MistakesInARealKernelAreFound) {
  if (!HasCompiler()) GTEST_SKIP() << "SKIPPED: there is no compiler";
  const auto c = GraphCase::Parse(
      "input x: f16[300,392]\ninput w: f16[392,264]\nz = relu(x)\n"
      "m = matmul(z, w)\nr = tanh(m)\noutput y = r\noutput z = z\n");
  ASSERT_TRUE(c.ok()) << c.status();
  const auto want = c->Evaluate();
  ASSERT_TRUE(want.ok()) << want.status();
  // "" if it computes what it should in both orders.
  auto found_in = [&](absl::string_view variant, const std::string& from,
                      const std::string& to) {
    auto program =
        MakeProgram(c->graph, H200(), {.units = 1, .cached_bytes = 0});
    EXPECT_TRUE(program.ok()) << program.status();
    std::map<std::string, std::string> choices;
    for (Step& s : program->steps) {
      for (Variant& v : s.variants) {
        if (v.name != variant) continue;
        choices[s.signature] = v.name;
        KernelSource source = *v.source();
        EXPECT_TRUE(absl::StrContains(source.text, from)) << from;
        source.text = absl::StrReplaceAll(source.text, {{from, to}});
        v.source = [source] { return source; };
      }
    }
    EXPECT_EQ(choices.size(), 1u);
    for (Order order : {Order::kEarly, Order::kLate}) {
      const auto got = Emulate(*program, choices, c->inputs, order);
      if (!got.ok()) return std::string(got.status().message());
      const double error = runtime::RelativeError((*got)[0], (*want)[0]);
      if (!(error < 0.01)) return std::string("another result");
    }
    return std::string();
  };
  // Blocks of a pair wait for each other, and others have time meanwhile.
  auto found = [&](const std::string& from, const std::string& to) {
    const std::string in_pair = found_in("tma 128x256 s3 aside pair", from, to);
    return in_pair.empty() ? found_in("tma 128x256 s3 aside", from, to)
                           : in_pair;
  };
  EXPECT_EQ(found("float d", "float d"), "");
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{
           {"iso_barrier_wait(full + 8 * slot, parity);", ""},
           {"iso_barrier_wait(empty + 8 * slot, parity);", ""},
           {"      iso_wait();\n", ""},
           {"iso_multiplied<1>();", ""},
           {"iso_multiplied<0>();", ""},
           {"if (PAIR) iso_cluster_barrier(); else __syncthreads();",
            "__syncthreads();"},
           {"iso_barrier_arrive_at(empty + 8 * slot, 1 - rank, lane == 0);",
            ""},
           {"iso_barrier_wait(filled, i % 2);", ""},
           {"iso_barrier_wait(taken + 8 * (warp / 4), (i - 1) % 2);", ";"},
           {"g < WARPS / 4; ++g", "g < 1; ++g"},
           {"if (n + STAGES >= tiles * count) return;",
            "if (n + STAGES >= count) return;"},
           {"PAIR ? 2 * WARPS : WARPS", "WARPS"},
           {"A_BYTES + B_BYTES);", "A_BYTES);"},
           {"+ rank * TM;", ";"},
           {"\"h\"((iso_u16)3)", "\"h\"((iso_u16)1)"}}) {
    EXPECT_NE(found(from, to), "") << from;
  }
}

}  // namespace
}  // namespace isomer::cuda::emulator
