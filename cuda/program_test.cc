// Every operator becomes kernels that NVRTC compiles; no GPU is needed.
#include "cuda/program.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cuda/compiler.h"
#include "cuda/graph_case.h"
#include "cuda/held_kernel.h"
#include "cuda/late_epilogues.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "ops/example.h"
#include "ops/registry.h"

namespace isomer::cuda {
namespace {

absl::StatusOr<Program> Make(absl::string_view text) {
  auto graph = ir::ParseGraph(text);
  if (!graph.ok()) return graph.status();
  return MakeProgram(*graph, H200());
}

// "family variant bytes" of the steps, one a line.
std::string Steps(const Program& p) {
  std::string text;
  for (const Step& s : p.steps) {
    absl::StrAppend(&text, s.family, " ", s.variants[0].name, "\n");
  }
  return text;
}

// The kernel of a variant, which compiles where there is a compiler.
KernelSource Compiled(const absl::StatusOr<Compiler>& compiler,
                      const Variant& v) {
  const auto source = v.source();
  EXPECT_TRUE(source.ok()) << v.name << ": " << source.status();
  if (!source.ok()) return {};
  if (!compiler.ok()) return *source;
  const auto code = compiler->Compile(source->text, "sm_90a");
  EXPECT_TRUE(code.ok()) << v.name << ": " << code.status() << "\n"
                         << source->text.substr(
                                source->text.find("extern \"C\""));
  return *source;
}

// What cuDNN is offered of a graph's steps, as text; "" if it is nothing.
std::string OfferedToDnn(absl::string_view text) {
  const auto program = Make(text);
  if (!program.ok()) return program.status().ToString();
  std::string out;
  for (const Step& s : program->steps) {
    for (const Variant& v : s.variants) {
      if (v.dnn) absl::StrAppend(&out, DnnText(*v.dnn), "\n");
    }
  }
  return out;
}

TEST(Program, WhatCudnnDoesNotTakeIsNotOffered) {
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
TEST(Program, AttentionIsOfferedToCudnn) {
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
TEST(Program, AttentionIsOfferedWhereItFits) {
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

// Of kernels for Hopper alone; the others are compiled below.
TEST(Program, EveryVariantOfLargeKernelsCompiles) {
  auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  std::set<std::string> kinds;
  for (absl::string_view text :
       {"input x: f16[257,520]\ninput w: f16[520,264]\ninput s: f16[257,264]\n"
        "m = matmul(x, w)\na = add(m, s)\nr = gelu(a)\noutput y = r\n",
        "input x: bf16[2,64,19,21]\ninput w: bf16[192,64,3,3]\ni = relu(x)\n"
        "c = conv2d(i, w, pad=1)\nr = relu(c)\noutput y = r\n",
        "input q: f16[2,3,65,64]\ninput k: f16[2,3,70,64]\n"
        "t = transpose(k, perm=[0 1 3 2])\ns = matmul(q, t)\n"
        "p = softmax(s, axis=3)\no = matmul(p, k)\noutput y = o\n",
        "input x: f16[3,7,768]\ninput z: f16[3,7,768]\ninput s: f16[768]\n"
        "input b: f16[768]\na = add(x, z)\n"
        "l = layer_norm(a, s, b, axis=2, epsilon=0.001)\nr = relu(l)\n"
        "output y = r\n",
        "input x: f16[2,8,11,12]\nconst w: f16[24,8,1,1] = 0.5\n"
        "const v: f16[8,24,1,1] = 0.5\nc = conv2d(x, w)\nr = relu(c)\n"
        "p = avg_pool(r, kernel=[3 3], pad=1)\nq = conv2d(p, v)\n"
        "output y = q\noutput z = c\n"}) {
    const auto program = Make(text);
    ASSERT_TRUE(program.ok()) << program.status() << text;
    for (const Step& s : program->steps) {
      for (const Variant& v : s.variants) {
        const bool large = absl::StartsWith(v.name, "wg") ||
                           absl::StartsWith(v.name, "attention") ||
                           v.name == "norm" || v.name == "pool";
        if (!large) continue;
        kinds.insert(v.name.substr(0, 2));
        const KernelSource source = Compiled(compiler, v);
        EXPECT_LE(source.shared_bytes, 227 * 1024) << v.name;
      }
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"at", "no", "po", "wg"}));
}

// What pointwise kernels do between the products, and zeros for what is no
// number.
TEST(Program, AttentionIsOneStep) {
  const std::string before =
      "input q: f16[12,128,64]\ninput k: f16[12,64,128]\n"
      "input v: f16[12,128,64]\ninput m: f16[12,128,128]\nconst c: f16[] = 0\n"
      "const d: f16[] = 1\nz = broadcast(c, shape=[12 128 128], dims=[])\n"
      "e = broadcast(d, shape=[12 128 128], dims=[])\ns = matmul(q, k)\n"
      "a = add(s, m)\np = softmax(a, axis=2)\ni = is_nan(p)\n";
  auto steps = [&](const std::string& after) {
    const auto p = Make(before + after);
    EXPECT_TRUE(p.ok()) << p.status();
    return Steps(*p);
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

// Blocks of a cluster share the keys where there are few queries.
TEST(Program, KeysOfFewQueriesAreShared) {
  auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  const auto p = Make(
      "input q: f16[8,4,64]\ninput k: f16[8,64,488]\ninput v: f16[8,488,64]\n"
      "s = matmul(q, k)\np = softmax(s, axis=2)\no = matmul(p, v)\n"
      "output y = o\n");
  ASSERT_TRUE(p.ok()) << p.status();
  ASSERT_EQ(p->steps.size(), 1u) << Steps(*p);
  std::set<int> shared;
  for (const Variant& v : p->steps[0].variants) {
    const KernelSource source = Compiled(compiler, v);
    shared.insert(source.cluster);
    EXPECT_EQ(source.grid[2], source.cluster);
  }
  EXPECT_TRUE(shared.count(8)) << Steps(*p);
}

TEST(Program, AttentionReadsTwoPlaces) {
  auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  // The past is asked for before the kernel may read what others write, unless
  // that is among it.
  for (const bool made : {false, true}) {
    const auto p = Make(TwoPlacesText(1, 99, made));
    ASSERT_TRUE(p.ok()) << p.status();
    ASSERT_EQ(p->steps.size(), made ? 2u : 1u) << Steps(*p);
    for (const Variant& v : p->steps.back().variants) {
      const std::string text = Compiled(compiler, v).text;
      EXPECT_EQ(absl::StrContains(text, "EARLY = 1"), !made) << v.name;
    }
  }
}

absl::StatusOr<Program> MakeParts(int rows, int size, int parts,
                                  absl::string_view more = "") {
  const auto c = GraphCase::Parse(
      absl::StrCat(PartsText({parts, rows, size, 64, "f16"}, "w_"), more));
  if (!c.ok()) return c.status();
  return MakeProgram(c->graph, H200());
}

TEST(Program, ProductsComputeFunctionsOfParts) {
  auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  for (int parts : {2, 4, 8}) {
    const auto p = MakeParts(3, 64, parts);
    ASSERT_TRUE(p.ok()) << p.status();
    ASSERT_EQ(p->steps.size(), 1u) << Steps(*p);
    for (const Variant& v : p->steps[0].variants) Compiled(compiler, v);
  }
  // If it is large a library may do it, with columns as they are in the graph.
  const auto many = MakeParts(21000, 512, 2);
  ASSERT_TRUE(many.ok()) << many.status();
  ASSERT_EQ(many->steps.size(), 1u) << Steps(*many);
  int by_library = 0;
  for (const Variant& v : many->steps[0].variants) {
    Compiled(compiler, v);
    by_library += v.library.has_value();
    EXPECT_EQ(many->buffers[v.library ? v.b : many->steps[0].arguments[1]].copy,
              v.library.has_value());
  }
  EXPECT_EQ(by_library, 1);
  // Three parts, many rows, another reader, small parts, other places of them.
  for (const auto& p :
       {MakeParts(3, 64, 3), MakeParts(65, 64, 2),
        MakeParts(3, 64, 2, "output y = y\n"), MakeParts(3, 3, 2),
        Make("input x: f16[64,64]\nconst w: f16[64,128] = 0.5\n"
             "y = matmul(x, w)\na = slice(y, axes=[1], from=[0], to=[64])\n"
             "b = slice(y, axes=[1], from=[64], to=[128])\n"
             "c = transpose(b, perm=[1 0])\nz = mul(a, c)\n"
             "output z = z\n")}) {
    ASSERT_TRUE(p.ok()) << p.status();
    EXPECT_EQ(p->steps.size(), 2u) << Steps(*p);
  }
  // Another reader of the constant.
  const auto p = MakeParts(
      3, 64, 2, "input q: f16[5,64]\no = matmul(q, w_)\noutput o = o\n");
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->steps.size(), 3u) << Steps(*p);
}

// The variants of the only step whose names start so.
std::vector<Variant> VariantsOf(const Program& p, absl::string_view prefix) {
  std::vector<Variant> out;
  for (const Variant& v : p.steps[0].variants) {
    if (absl::StartsWith(v.name, prefix)) out.push_back(v);
  }
  return out;
}

// Products of few rows by small constants hold these in registers, and ask for
// what they compute with together with the rows: after the kernel before, and
// before they multiply.
TEST(Program, FewRowsAreMultipliedByWhatIsHeld) {
  auto compiler = Compiler::Open();
  auto make = [](int rows, int k, absl::string_view w,
                 absl::string_view made = "") {
    return Make(absl::StrCat("input x: f16[", rows, ",", k, "]\n", w, ": f16[",
                             k, ",256]", w[0] == 'c' ? " = 0.5" : "", "\n",
                             made, "input s: f16[", rows,
                             ",256]\nm = matmul(x, w)\ny = add(m, s)\n"
                             "output y = y\n"));
  };
  for (const auto& p : {make(1, 512, "const w"), make(16, 512, "const w"),
                        make(1, 512, "input w")}) {
    ASSERT_TRUE(p.ok()) << p.status();
    ASSERT_EQ(p->steps.size(), 1u) << Steps(*p);
    const std::vector<Variant> held = VariantsOf(*p, "held");
    EXPECT_FALSE(held.empty());
    const bool is_constant =
        p->buffers[p->steps[0].arguments[1]].kind == Buffer::Kind::kConstant;
    int panels = 0;
    for (const Variant& v : held) {
      const auto source = v.source();
      ASSERT_TRUE(source.ok()) << source.status();
      const std::string text(source->text.substr(source->text.find(kEntry)));
      const size_t wait = text.find("iso_wait()"), read = text.find("(in2 +");
      if (absl::EndsWith(v.name, " panels")) {
        ++panels;
        EXPECT_LT(text.find("ld.global.L1::no_allocate"), wait) << text;
        EXPECT_TRUE(p->buffers[v.arguments[1]].copy);
        EXPECT_EQ(p->constant_bytes, 512 * 256 * 2);
      } else {
        EXPECT_LT(text.find("iso_matrix4_t("), wait) << text;
      }
      EXPECT_LT(wait, read) << text;
      EXPECT_LT(read, text.find("if (!A_READY) multiply();")) << text;
      if (compiler.ok()) Compiled(compiler, v);
    }
    EXPECT_EQ(panels > 0, is_constant);
  }
  // Too many rows, a k that warps cannot share, one that registers do not hold,
  // and a factor that another kernel makes.
  for (const auto& p : {make(17, 512, "const w"), make(1, 520, "const w"),
                        make(1, 65536, "const w"),
                        make(1, 512, "input v", "w = softmax(v, axis=0)\n")}) {
    ASSERT_TRUE(p.ok()) << p.status();
    EXPECT_TRUE(VariantsOf(*p, "held").empty());
  }
}

// A thread of a warp finds side by side what it multiplies of 16 rows and 16
// columns: two pairs of rows of one column, and those of one 8 further.
TEST(Program, PanelsHaveWhatAThreadMultipliesSideBySide) {
  constexpr int kRows = 32, kColumns = 48;
  std::string rows(2 * kRows * kColumns, '\0');
  for (int i = 0; i < kRows * kColumns; ++i) {
    const auto number = static_cast<uint16_t>(i);
    std::memcpy(rows.data() + 2 * i, &number, 2);
  }
  const SharedBytes panels =
      InPanels(SharedBytes::Own(std::move(rows)), DType::kF16, kRows, kColumns);
  ASSERT_EQ(panels.view.size(), 2 * kRows * kColumns);
  size_t at = 0;
  for (int column = 0; column < kColumns; column += 16) {
    for (int row = 0; row < kRows; row += 16) {
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 8; ++i, at += 2) {
          const int k = row + i / 4 * 8 + lane % 4 * 2 + i % 2;
          const int n = column + i / 2 % 2 * 8 + lane / 4;
          uint16_t number = 0;
          std::memcpy(&number, panels.view.data() + at, 2);
          ASSERT_EQ(number, k * kColumns + n) << lane << " " << i;
        }
      }
    }
  }
}

// A search plans the graph before it is prepared, and calls kernels otherwise.
TEST(Program, KernelsAreKnownByWhatASearchCallsThem) {
  auto graph = ir::ParseGraph(
      "input x: f16[5,1,64]\nconst i: i64[] = 3\nconst w: f16[64,64] = 0.5\n"
      "g = gather(x, i, axis=0)\nm = matmul(g, w)\nr = relu(m)\noutput y = "
      "r\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto planned = PlannedKernels(*graph, H200());
  ASSERT_TRUE(planned.ok()) << planned.status();
  ASSERT_EQ(planned->size(), 1u);
  EXPECT_TRUE(absl::StrContains((*planned)[0].signature, "slice("));
  const auto kernels = H200().MakePlan(*graph).Kernels(*graph);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ((*planned)[0].searched_as, kernels[0].signature);
  EXPECT_TRUE(absl::StrContains(kernels[0].signature, "gather("));

  // Where a search has a view, the executor's kernel may read what it is of.
  graph = ir::ParseGraph(
      "input x: f16[5,1,512]\nconst i: i64[] = 0\n"
      "const w: f16[512,8192] = 0.5\ng = gather(x, i, axis=0)\n"
      "m = matmul(g, w)\n"
      "a = slice(m, axes=[1], from=[0], to=[512], step=[1])\n"
      "b = slice(m, axes=[1], from=[512], to=[1024], step=[1])\n"
      "s = add(a, b)\noutput y = s\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto with_view = PlannedKernels(*graph, H200());
  ASSERT_TRUE(with_view.ok()) << with_view.status();
  ASSERT_EQ(with_view->size(), 2u);
  EXPECT_TRUE(absl::StrContains((*with_view)[0].signature, "slice("));
  EXPECT_EQ((*with_view)[0].searched_as,
            "matmul matmul(a,b) a:f16[1,512] b:f16[512,8192]*");
}

// What a part of a model reads and makes lies as it does within the model.
TEST(Program, ImagesOfAPartHaveTheirChannelsLast) {
  for (const char* text :
       {"input x: f16[1,64,14,14]\nconst w: f16[64,64,3,3] = 0.5\n"
        "c = conv2d(x, w, stride=[1 1], pad=[1 1 1 1])\noutput y = c\n",
        "input x: f16[1,64,14,14]\np = max_pool(x, kernel=[2 2], stride=[2 "
        "2])\n"
        "output y = p\n"}) {
    auto graph = ir::ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status();
    ProgramOptions part;
    part.part_of_bytes = 0;
    const auto within = MakeProgram(*graph, H200(), part);
    const auto alone = MakeProgram(*graph, H200());
    ASSERT_TRUE(within.ok() && alone.ok());
    ASSERT_EQ(within->steps.size(), 1u) << Steps(*within);
    const std::string& fast = within->steps[0].variants[0].name;
    EXPECT_FALSE(fast == "element" || absl::StartsWith(fast, "general"))
        << fast;
    EXPECT_NE(Steps(*within), Steps(*alone));
    EXPECT_FALSE(within->cold);
    part.part_of_bytes = int64_t{1} << 30;
    EXPECT_TRUE(MakeProgram(*graph, H200(), part)->cold);
  }
}

// A kernel by itself is the one that runs behind another in a model, and does
// not ask for its rows while others still run.
TEST(Program, WhatAPartReadsIsNotThereBefore) {
  const std::string head =
      "input x: f16[128,768]\nconst w: f16[768,768] = 0.5\n";
  auto graph = ir::ParseGraph(head + "m = matmul(x, w)\noutput y = m\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ProgramOptions options;
  options.part_of_bytes = 0;
  const auto part = MakeProgram(*graph, H200(), options);
  const auto alone = MakeProgram(*graph, H200());
  const auto behind =
      Make(head + "s = softmax(x, axis=1)\nm = matmul(s, w)\noutput y = m\n");
  ASSERT_TRUE(part.ok() && alone.ok() && behind.ok());
  ASSERT_EQ(behind->steps.size(), 2u) << Steps(*behind);
  auto texts = [](const Program& p) {
    std::vector<std::string> out;
    for (const Variant& v : p.steps.back().variants) {
      if (v.source) out.push_back(v.source()->text);
    }
    return out;
  };
  EXPECT_EQ(texts(*part), texts(*behind));
  EXPECT_NE(texts(*part), texts(*alone));
}

// Of few rows, one block of a cluster stores the sums of all.
TEST(Program, BlocksGiveSumsOfFewRows) {
  auto compiler = Compiler::Open();
  for (const int rows : {1, 8, 9}) {
    const auto p = Make(absl::StrCat("input x: f16[", rows,
                                     ",4096]\nconst w: f16[4096,256] = 0.5\n"
                                     "y = matmul(x, w)\noutput y = y\n"));
    ASSERT_TRUE(p.ok()) << p.status();
    int given = 0;
    for (const Variant& v : VariantsOf(*p, "16x")) {
      const auto source = v.source();
      ASSERT_TRUE(source.ok()) << source.status();
      const std::string body = source->text.substr(source->text.find(kEntry));
      const bool gives = absl::StrContains(body, "iso_give2");
      EXPECT_EQ(gives, source->cluster > 1 && rows <= 8) << v.name;
      if (gives && compiler.ok()) Compiled(compiler, v);
      given += gives ? 1 : 0;
    }
    EXPECT_EQ(given > 0, rows <= 8);
  }
}

// Large products are warpgroups' but where they have few rows.
TEST(Program, FewRowsAreMultipliedByWarps) {
  for (const int rows : {1, 16, 17, 64}) {
    const auto p = Make(absl::StrCat("input x: f16[", rows,
                                     ",14336]\ninput w: f16[14336,4096]\n"
                                     "y = matmul(x, w)\noutput y = y\n"));
    ASSERT_TRUE(p.ok()) << p.status();
    EXPECT_EQ(VariantsOf(*p, "16x").size(), rows <= 16 ? 8 : 0) << rows;
    EXPECT_GT(VariantsOf(*p, "wg").size(), 1) << rows;
  }
}

// Where there are more tiles than multiprocessors.
TEST(Program, BlocksStayForSeveralTiles) {
  auto compiler = Compiler::Open();
  const auto graph = ir::ParseGraph(
      "input x: f16[640,256]\nconst w: f16[256,512] = 0.5\n"
      "m = matmul(x, w)\ny = gelu(m)\noutput y = y\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const int units : {4, 132}) {
    const auto p = MakeProgram(*graph, H200(), {.units = units});
    ASSERT_TRUE(p.ok()) << p.status();
    int stay = 0;
    for (const Variant& v : VariantsOf(*p, "tma")) {
      if (!absl::EndsWith(v.name, "turns")) continue;
      EXPECT_EQ(Compiled(compiler, v).grid[0], units) << v.name;
      ++stay;
    }
    EXPECT_EQ(stay > 0, units < 20) << units;
  }
}

// Where operands do not stay in the cache, and there are tiles for several
// waves, results are computed aside, and two blocks bring columns for both.
TEST(Program, ResultsAreComputedAside) {
  auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  const auto c = GraphCase::Parse(
      "input x: f16[4096,1024]\ninput w_: f16[1024,8192]\n"
      "m = matmul(x, w_)\na = slice(m, axes=[1], from=[0], to=[4096])\n"
      "b = slice(m, axes=[1], from=[4096], to=[8192])\ns = silu(a)\n"
      "z = mul(s, b)\noutput z = z\n");
  ASSERT_TRUE(c.ok()) << c.status();
  for (const auto& [units, cached_bytes, aside] :
       {std::tuple(132, int64_t{16} << 20, 2),
        std::tuple(132, int64_t{32} << 20, 0),
        std::tuple(1000, int64_t{16} << 20, 0)}) {
    const auto p = MakeProgram(c->graph, H200(),
                               {.units = units, .cached_bytes = cached_bytes});
    ASSERT_TRUE(p.ok()) << p.status();
    ASSERT_EQ(p->steps.size(), 1u) << Steps(*p);
    int found = 0;
    for (const Variant& v : p->steps[0].variants) {
      if (!absl::StrContains(v.name, " aside")) continue;
      const KernelSource source = Compiled(compiler, v);
      const int pair = absl::EndsWith(v.name, " pair") ? 2 : 1;
      EXPECT_EQ(source.cluster, pair);
      EXPECT_EQ(source.grid[0], units / pair);
      EXPECT_LE(source.shared_bytes, 227 * 1024);
      ++found;
    }
    EXPECT_EQ(found, aside) << units << " " << cached_bytes;
  }
}

// Weights that do not stay in the cache, what is added to the results, and
// inputs are asked for before the kernel may read what others write.
TEST(Program, ColdConstantsAreAskedForAhead) {
  constexpr char kOnce[] = "b_copy8 iso_copy8_once\n";
  auto compiler = Compiler::Open();
  const std::string one =
      "input x: f16[64,4000]\nconst w: f16[4000,4096] = 0.5\n"
      "const a: f16[2048] = 0.5\nconst b: f16[2048] = 0.25\n"
      "c = concat(a, b, axis=0)\nd = broadcast(c, shape=[64 4096], dims=[1])\n"
      "m = matmul(x, w)\ns = add(m, d)\n";
  const std::string two = "v = transpose(w, perm=[1 0])\nn = matmul(s, v)\n";
  for (const bool cold : {false, true}) {
    const auto program =
        Make(one + (cold ? two + "output y = n\n" : "output y = s\n"));
    ASSERT_TRUE(program.ok()) << program.status();
    std::string texts;
    for (const Step& s : program->steps) {
      for (const Variant& v : s.variants) {
        if (v.source && absl::StartsWith(v.name, "tma")) {
          texts += Compiled(compiler, v).text;
        }
        // Those of 64 rows read each weight once.
        if (v.source && absl::StartsWith(v.name, "wg 64x")) {
          const auto source = v.source();
          ASSERT_TRUE(source.ok()) << source.status();
          EXPECT_EQ(absl::StrContains(source->text, kOnce), cold);
        }
      }
    }
    EXPECT_NE(texts, "");
    EXPECT_EQ(absl::StrContains(texts, "AHEAD = 0 "), !cold);
    EXPECT_EQ(absl::StrContains(texts, "iso_ahead(in2, 8192);"), cold);
    // The input.
    EXPECT_EQ(absl::StrContains(texts, "iso_ahead(in0, 512000);"), cold);
  }
  // Weights that another kernel reads, too, stay in the cache if they can; of
  // those that one row is multiplied by, 16 MiB do.
  const auto twice = Make(
      "input x: f16[1,4000]\nconst w: f16[4000,4000] = 0.5\n"
      "v = transpose(w, perm=[1 0])\na = matmul(x, w)\nb = softmax(a)\n"
      "c = matmul(b, w)\nd = softmax(c)\ne = matmul(d, v)\noutput y = e\n");
  ASSERT_TRUE(twice.ok()) << twice.status();
  ASSERT_EQ(twice->steps.size(), 5u) << Steps(*twice);
  for (const auto& [step, kept] :
       {std::make_pair(0, false), std::make_pair(2, false),
        std::make_pair(4, true)}) {
    const Variant& v = twice->steps[step].variants[0];
    const auto source = v.source();
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_FALSE(absl::StrContains(source->text, kOnce)) << step;
    EXPECT_EQ(absl::StrContains(source->text,
                                "iso_copy8_kept((kt - first) * 1024 < EACH * "
                                "536, to, from, there)"),
              kept)
        << step;
    if (kept && compiler.ok()) Compiled(compiler, v);
  }
}

// A concat of neighbours is a view of what they are taken from.
TEST(Program, NeighboursAreNotCopied) {
  for (const auto& [second, steps] : {std::make_pair("from=[1], to=[3]", 1),
                                      std::make_pair("from=[2], to=[4]", 2)}) {
    const auto p = Make(absl::StrCat(
        "input x: f16[5,1,64]\nconst w: f16[64,64] = 0.5\n"
        "a = slice(x, axes=[0], from=[0], to=[1])\nb = slice(x, axes=[0], ",
        second,
        ")\nc = reshape(a, shape=[1 64])\nd = reshape(b, shape=[2 64])\n"
        "e = concat(c, d, axis=0)\ny = matmul(e, w)\noutput y = y\n"));
    ASSERT_TRUE(p.ok()) << p.status();
    EXPECT_EQ(p->steps.size(), static_cast<size_t>(steps)) << Steps(*p);
  }
}

// Constants that are added before a norm are added by the product before that,
// unless something else reads the product.
TEST(Program, NormsReadWhatProductsStore) {
  const std::string text =
      "input x: f16[2,64,768]\nconst w: f16[768,768] = 0.5\n"
      "const z: f16[2,64,768] = 0.25\nconst s: f16[768] = 0.5\n"
      "p = matmul(x, w)\na = add(p, z)\nl = rms_norm(a, s, axis=2)\n"
      "output y = l\n";
  const auto program = Make(text), shared = Make(text + "output m = p\n");
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_TRUE(shared.ok()) << shared.status();
  ASSERT_EQ(program->steps.size(), 2);
  ASSERT_EQ(shared->steps.size(), 2);
  // Rows, factors and results, or the constant besides.
  EXPECT_EQ(program->steps[1].arguments.size(), 3);
  EXPECT_EQ(shared->steps[1].arguments.size(), 4);
}

// Rows stay in registers where what is normed is a result too, and where rows
// are stored in another order.
TEST(Program, NormsKeepRowsInRegisters) {
  const auto compiler = Compiler::Open();
  const std::string start =
      "input x: f16[5,16,768]\ninput b: f16[16,5,768]\nconst s: f16[768] = "
      "0.5\n"
      "const c: f16[768] = 0.25\nt = transpose(x, perm=[1 0 2])\na = add(t, "
      "b)\n"
      "l = layer_norm(a, s, c, axis=2)\n";
  for (const char* rest :
       {"output y = l\noutput z = a\n",
        "u = transpose(l, perm=[1 0 2])\noutput y = u\n",
        "u = transpose(l, perm=[1 0 2])\nr = reshape(u, shape=[80 768])\n"
        "output y = r\n"}) {
    const auto p = Make(start + rest);
    ASSERT_TRUE(p.ok()) << p.status();
    ASSERT_EQ(p->steps.size(), 1u) << rest << Steps(*p);
    EXPECT_EQ(p->steps[0].variants[0].name, "norm") << rest;
    const auto source = p->steps[0].variants[0].source();
    ASSERT_TRUE(source.ok()) << source.status();
    if (!compiler.ok()) continue;
    const auto code = compiler->Compile(source->text, "sm_90a");
    EXPECT_TRUE(code.ok()) << code.status() << source->text;
  }
}

// How often the first kernel reads eight neighbours of 16 bits.
int PacksIn(const Program& program) {
  const auto source = program.steps[0].variants[0].source();
  EXPECT_TRUE(source.ok()) << source.status();
  const std::vector<absl::string_view> parts =
      absl::StrSplit(source->text, "= iso_load_pack<iso_half, 8>(");
  return static_cast<int>(parts.size()) - 1;
}

// Sums along what lies side by side read eight at a time; constants of
// pointwise operators are stored once where they are the same everywhere.
TEST(Program, SumsOfRowsReadNeighbours) {
  const auto p = Make(
      "input x: f16[4,4096]\nconst e: f32[4,4096] = 2\n"
      "a = cast(x, to=f32)\nb = pow(a, e)\nm = reduce_mean(b, axes=[1])\n"
      "c = broadcast(m, shape=[4 4096], dims=[0])\nd = div(a, c)\n"
      "r = cast(d, to=f16)\noutput y = r\n");
  ASSERT_TRUE(p.ok()) << p.status();
  ASSERT_EQ(p->steps.size(), 1u) << Steps(*p);
  EXPECT_EQ(p->constant_bytes, 4);
  EXPECT_EQ(PacksIn(*p), 2);
  for (const auto& [rows, packs] : {std::pair("[1]", 1), std::pair("[0]", 0)}) {
    const auto sums = Make(
        absl::StrCat("input x: f16[512,512]\ny = reduce_sum(x, axes=", rows,
                     ")\noutput y = y\n"));
    ASSERT_TRUE(sums.ok()) << sums.status();
    EXPECT_EQ(PacksIn(*sums), packs) << rows;
  }
}

TEST(Program, KernelsNoteWhenTheyRun) {
  const auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  const auto p = Make(
      "input x: f16[1,64,16,16]\nconst w: f16[64,64,3,3] = 0.5\n"
      "const v: f16[256,256] = 0.5\nconst g: f16[256] = 0.5\n"
      "c = conv2d(x, w, pad=1)\nq = max_pool(c, kernel=[3 3])\n"
      "r = reshape(c, shape=[64 256])\nl = rms_norm(r, g, axis=1)\n"
      "m = matmul(l, v)\ns = softmax(m)\noutput y = s\noutput q = q\n");
  ASSERT_TRUE(p.ok()) << p.status();
  for (const Step& s : p->steps) {
    for (const Variant& v : s.variants) {
      if (!v.source) continue;
      const auto source = v.source();
      ASSERT_TRUE(source.ok()) << source.status();
      const auto code =
          compiler->Compile(NotingText(source->text, 1 << 20), "sm_90a");
      EXPECT_TRUE(code.ok()) << v.name << ": " << code.status();
    }
  }
}

// True where step a has ended when step b starts, by the streams' own order and
// by what steps wait for.
std::vector<std::vector<bool>> EndedBefore(const Program& p) {
  const auto n = static_cast<int>(p.steps.size());
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
  for (int b = 0; b < n; ++b) {
    std::vector<int> direct = p.schedule.steps[b].after;
    for (int a = 0; a < b; ++a) {
      if (p.schedule.steps[a].stream == p.schedule.steps[b].stream) {
        direct.push_back(a);
      }
    }
    for (int a : direct) {
      before[a][b] = true;
      for (int k = 0; k < a; ++k) before[k][b] = before[k][b] || before[k][a];
    }
  }
  return before;
}

// Whatever reads a buffer starts after those before it that write it, and
// buffers share memory only if all who use one have ended before any that uses
// the other starts.
void ExpectOrdered(const Program& p) {
  const auto before = EndedBefore(p);
  std::vector<std::vector<int>> users(p.buffers.size());
  for (int i = 0; i < static_cast<int>(p.steps.size()); ++i) {
    for (int b : p.steps[i].arguments) users[b].push_back(i);
  }
  auto reads = [&](int step, int buffer) {
    const Step& s = p.steps[step];
    return std::count(s.arguments.begin(), s.arguments.begin() + s.reads,
                      buffer) > 0;
  };
  for (int b = 0; b < static_cast<int>(p.buffers.size()); ++b) {
    for (int w : users[b]) {
      for (int r : users[b]) {
        if (w >= r || reads(w, b) || !reads(r, b)) continue;
        EXPECT_TRUE(before[w][r]) << w << " writes what " << r << " reads";
      }
    }
  }
  auto all_before = [&](int x, int y) {
    for (int a : users[x]) {
      for (int b : users[y]) {
        if (!before[a][b]) return false;
      }
    }
    return true;
  };
  for (size_t x = 0; x < users.size(); ++x) {
    for (size_t y = 0; y < x; ++y) {
      const Buffer &a = p.buffers[x], &b = p.buffers[y];
      if (a.kind != Buffer::Kind::kScratch || b.kind != a.kind) continue;
      if (a.offset >= b.offset + b.bytes || b.offset >= a.offset + a.bytes) {
        continue;
      }
      EXPECT_TRUE(all_before(x, y) || all_before(y, x)) << x << " " << y;
    }
  }
}

TEST(Schedule, BranchesRunSideBySide) {
  std::string text =
      "input x: f16[1,64,35,35]\nconst a: f16[64,64,1,1] = 0.5\n"
      "const b: f16[64,64,3,3] = 0.5\nconst e: f16[64,192,3,3] = 0.5\n"
      "x0 = relu(x)\n";
  for (int i = 0; i < 3; ++i) {
    const std::string n = absl::StrCat(i), next = absl::StrCat(i + 1);
    absl::StrAppend(&text, "p", n, " = conv2d(x", n, ", a)\n", "q", n,
                    " = conv2d(x", n, ", b, pad=1)\n", "r", n, " = relu(q", n,
                    ")\n", "s", n, " = conv2d(r", n, ", b, pad=1)\n", "t", n,
                    " = max_pool(x", n, ", kernel=[3 3], pad=1)\n", "k", n,
                    " = concat(p", n, ", s", n, ", t", n, ", axis=1)\n", "x",
                    next, " = conv2d(k", n, ", e, pad=1)\n");
  }
  text += "output y = x3\noutput z = r1\n";
  const auto p = Make(text);
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_GT(p->schedule.streams, 1);
  const auto kernels = static_cast<double>(p->steps.size());
  auto takes = [&](double us, double share) {
    return p->schedule.SideBySide(
        std::vector<Schedule::Load>(p->steps.size(), {us, share}));
  };
  EXPECT_LT(takes(4, 0.25), 0.98 * 4 * kernels);
  // Those that want all of the device do not share it.
  EXPECT_LT(takes(1000, 0.25), takes(1000, 0.75));
  EXPECT_EQ(takes(1000, 1), 1000 * kernels);
  // What takes longer than one after the other is not done.
  EXPECT_EQ(takes(0.125, 0.25), 0.125 * kernels);
  ExpectOrdered(*p);
  // A wait for what has ended anyway is left out.
  size_t waits = 0;
  for (const auto& place : p->schedule.steps) waits += place.after.size();
  EXPECT_GT(waits, 0);
  EXPECT_LE(waits, 2 * p->steps.size());
}

// Products and softmaxes in turn.
constexpr char kChain[] =
    "input x: f16[64,512]\nconst w: f16[512,512] = 0.5\n"
    "a = matmul(x, w)\nb = softmax(a)\nc = matmul(b, w)\nd = softmax(c)\n"
    "e = matmul(d, w)\noutput y = e\n";

TEST(Schedule, AChainIsOneStream) {
  const auto p = Make(kChain);
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->schedule.streams, 1);
  EXPECT_EQ(p->schedule.SideBySide(std::vector<Schedule::Load>(
                p->steps.size(), {.us = 2, .share = 0.25})),
            2.0 * p->steps.size());
  ExpectOrdered(*p);
  // Of what is computed, two results are alive at one time.
  EXPECT_LE(p->arena_bytes, 4 * 64 * 512 * 2);
}

TEST(Program, EveryOperatorCompiles) {
  auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  std::set<std::string> without;
  int compiled = 0;
  for (const OpDef* op : Ops().all()) {
    if (op->parallel) continue;
    for (const std::string& text : op->cases) {
      const TypedCall call = *ParseTypedCall(text);
      ir::Graph g;
      std::vector<Value> in;
      for (size_t i = 0; i < call.inputs.size(); ++i) {
        in.push_back(g.AddInput(absl::StrCat("x", i), call.inputs[i]));
      }
      auto id = g.AddNode(*op, in, call.attrs);
      ASSERT_TRUE(id.ok()) << text << ": " << id.status();
      for (int k = 0; k < op->outputs; ++k) {
        g.AddOutput(absl::StrCat("y", k), {*id, k});
      }
      auto program = MakeProgram(g, H200());
      if (absl::IsUnimplemented(program.status())) {
        without.insert(op->name);
        continue;
      }
      ASSERT_TRUE(program.ok()) << text << ": " << program.status();
      SCOPED_TRACE(text);
      for (const Step& s : program->steps) {
        Compiled(compiler, s.variants[0]);
        ++compiled;
      }
    }
  }
  EXPECT_GE(compiled, 250);
  EXPECT_EQ(without,
            (std::set<std::string>{"scatter_elements", "scatter_nd", "topk"}));
}

TEST(Program, AnOperatorWithoutAKernelIsNamed) {
  const auto p = Make(
      "input x: f32[4]\ninput n: i64[1]\n"
      "v, i = topk(x, n)\noutput y = v\n");
  EXPECT_FALSE(p.ok());
  const auto q = Make(
      "input x: f32[2]\nv = opaque \"c:Op\" \"k\" (x): f32[2]\noutput y = v\n");
  EXPECT_TRUE(absl::IsUnimplemented(q.status())) << q.status();
  EXPECT_TRUE(absl::StrContains(q.status().message(), "c:Op")) << q.status();
}

TEST(Program, FusesAsPlanned) {
  const auto p = Make(
      "input x: f16[128,768]\nconst w: f16[768,768] = 0.5\n"
      "const b: f16[768] = 0.25\n"
      "m = matmul(x, w)\nc = broadcast(b, shape=[128 768], dims=[1])\n"
      "s = add(m, c)\nr = relu(s)\noutput y = r\n");
  ASSERT_TRUE(p.ok()) << p.status();
  ASSERT_EQ(p->steps.size(), 1u) << Steps(*p);
  EXPECT_EQ(p->steps[0].family, "matmul");
  EXPECT_GT(p->steps[0].variants.size(), 3u);
  EXPECT_EQ(p->steps[0].flops, 2.0 * 128 * 768 * 768);
}

// The middle product ends one attention and begins no other.
TEST(Program, EveryProductOfAChainIsComputed) {
  const auto p = Make(kChain);
  ASSERT_TRUE(p.ok()) << p.status();
  double flops = 0;
  for (const Step& s : p->steps) flops += s.flops;
  EXPECT_EQ(flops, 3 * 2.0 * 64 * 512 * 512) << Steps(*p);
}

// A large product and a function of it.
constexpr char kGate[] =
    "input x: f16[8192,64]\ninput z: f16[8192,64]\n"
    "const a: f16[64,4096] = 0.5\nconst b: f16[64,4096] = 0.25\n"
    "g = matmul(x, a)\ns = sigmoid(g)\nt = mul(g, s)\n";

// What a library leaves to a kernel of its own is done once, by the reader.
TEST(Program, WhatFollowsALargeProductIsLeftToItsReader) {
  auto after_library = [](const std::string& last) {
    const auto p = Make(kGate + last);
    EXPECT_TRUE(p.ok()) << p.status();
    std::string out;
    for (const Step& s : p->steps) {
      const auto v =
          std::find_if(s.variants.begin(), s.variants.end(),
                       [](const Variant& w) { return w.library.has_value(); });
      out += v == s.variants.end() ? "kernel "
             : v->source           ? "library+kernel "
                                   : "library ";
    }
    return out;
  };
  EXPECT_EQ(after_library("u = matmul(z, b)\ny = mul(t, u)\noutput y = y\n"),
            "library library+kernel ");
  // Of one factor they are one product.
  EXPECT_EQ(after_library("u = matmul(x, b)\ny = mul(t, u)\noutput y = y\n"),
            "library+kernel ");
  // Another reader, or one that multiplies it, wants it as it is.
  EXPECT_EQ(after_library("u = matmul(x, b)\ny = mul(t, u)\noutput y = y\n"
                          "output t = t\n"),
            "library+kernel library+kernel ");
  EXPECT_EQ(after_library("u = matmul(x, b)\nw = transpose(u, perm=[1 0])\n"
                          "y = matmul(w, t)\noutput y = y\n"),
            "library library+kernel library ");
}

TEST(Program, JoinedProductsComputeTheSame) {
  auto c = GraphCase::Parse(
      "input x: f16[30,8]\ninput w_a: f16[8,64]\ninput w_b: f16[8,64]\n"
      "g = matmul(x, w_a)\ns = sigmoid(g)\nt = mul(g, s)\n"
      "u = matmul(x, w_b)\ny = sub(t, u)\noutput y = y\n");
  ASSERT_TRUE(c.ok()) << c.status();
  const auto want = c->Evaluate();
  ASSERT_TRUE(want.ok()) << want.status();
  auto kernels = H200().MakePlan(c->graph).Kernels(c->graph);
  MoveEpilogues(c->graph, kernels, 0);
  ASSERT_EQ(kernels.size(), 2u);
  const absl::Status joined = JoinProducts(c->graph, kernels, 0);
  ASSERT_TRUE(joined.ok()) << joined;
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(PartsOf(c->graph, kernels[0]), 2);
  const auto got = c->Evaluate();
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(ToBytes((*got)[0]), ToBytes((*want)[0]));
}

TEST(Program, AllTilingsCompile) {
  auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  for (absl::string_view text :
       {"input x: f16[40,96]\nconst w: f16[96,72] = 0.5\n"
        "m = matmul(x, w)\nr = relu(m)\noutput y = r\n",
        "input x: f16[2048,768]\nconst w: f16[768,3072] = 0.5\n"
        "m = matmul(x, w)\nr = gelu(m)\noutput y = r\n",
        "input x: bf16[2000,768]\nconst w: bf16[768,768] = 0.5\n"
        "t = transpose(w, perm=[1 0])\nm = matmul(x, t)\noutput y = m\n",
        "input q: f16[12,512,64]\ninput k: f16[12,64,512]\n"
        "input v: f16[12,512,64]\ns = matmul(q, k)\np = softmax(s, axis=2)\n"
        "o = matmul(p, v)\noutput y = o\n",
        "input x: f16[2,3,32,64]\ninput w: f16[2,3,32,64]\n"
        "t = transpose(w, perm=[0 1 3 2])\nm = matmul(x, t)\noutput y = m\n",
        "input x: bf16[1,16,14,14]\nconst w: bf16[32,16,3,3] = 0.5\n"
        "i = relu(x)\nc = conv2d(i, w, pad=1, stride=2)\noutput y = c\n"}) {
    SCOPED_TRACE(text);
    const auto p = Make(text);
    ASSERT_TRUE(p.ok()) << p.status();
    for (const Step& s : p->steps) {
      for (const Variant& v : s.variants) {
        if (v.source != nullptr) Compiled(compiler, v);
      }
    }
  }
}

TEST(Program, MemoryIsShared) {
  std::string text = "input x: f32[1024]\nv0 = softmax(x)\n";
  for (int i = 1; i < 20; ++i) {
    absl::StrAppend(&text, "v", i, " = softmax(v", i - 1, ")\n");
  }
  const auto p = Make(text + "output y = v19\n");
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->steps.size(), 20u);
  EXPECT_LE(p->arena_bytes, 3 * 4096);
}

TEST(Program, ConcatIsWrittenInPlace) {
  const auto p = Make(
      "input x: f16[1,64,8,8]\nconst w: f16[64,64,1,1] = 0.5\n"
      "const v: f16[64,64,3,3] = 0.5\n"
      "a = conv2d(x, w)\nb = conv2d(x, v, pad=1)\nc = concat(a, b, axis=1)\n"
      "d = softmax(c)\noutput y = d\n");
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->steps.size(), 3u) << Steps(*p);
}

}  // namespace
}  // namespace isomer::cuda
