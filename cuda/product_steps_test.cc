// What products are offered: who computes them, how, and with what.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "cuda/graph_case.h"
#include "cuda/held_kernel.h"
#include "cuda/late_epilogues.h"
#include "cuda/program_testing.h"
#include "gtest/gtest.h"

namespace isomer::cuda {
namespace {

absl::StatusOr<Program> MakeParts(int rows, int size, int parts,
                                  absl::string_view more = "") {
  const auto c = GraphCase::Parse(
      absl::StrCat(PartsText({parts, rows, size, 64, "f16"}, "w_"), more));
  if (!c.ok()) return c.status();
  return MakeProgram(c->graph, H200());
}

TEST(ProductSteps, ProductsComputeFunctionsOfParts) {
  auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  for (int parts : {2, 4, 8}) {
    const auto p = MakeParts(3, 64, parts);
    ASSERT_TRUE(p.ok()) << p.status();
    ASSERT_EQ(p->steps.size(), 1u) << StepNames(*p);
    for (const Variant& v : p->steps[0].variants) Compiled(compiler, v);
  }
  // If it is large a library may do it, with columns as they are in the graph.
  const auto many = MakeParts(21000, 512, 2);
  ASSERT_TRUE(many.ok()) << many.status();
  ASSERT_EQ(many->steps.size(), 1u) << StepNames(*many);
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
        ProgramOf(
            "input x: f16[64,64]\nconst w: f16[64,128] = 0.5\n"
            "y = matmul(x, w)\na = slice(y, axes=[1], from=[0], to=[64])\n"
            "b = slice(y, axes=[1], from=[64], to=[128])\n"
            "c = transpose(b, perm=[1 0])\nz = mul(a, c)\n"
            "output z = z\n")}) {
    ASSERT_TRUE(p.ok()) << p.status();
    EXPECT_EQ(p->steps.size(), 2u) << StepNames(*p);
  }
  // Another reader of the constant.
  const auto p = MakeParts(
      3, 64, 2, "input q: f16[5,64]\no = matmul(q, w_)\noutput o = o\n");
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->steps.size(), 3u) << StepNames(*p);
}

// What a step of a recurrent layer computes of its product, two results among
// it, is one kernel with that.
TEST(ProductSteps, StepsOfRecurrentLayersAreOneKernelEach) {
  auto layer = [](int rows, absl::string_view type, absl::string_view results) {
    return ProgramOf(absl::Substitute(
        "input x: $1[9,$0,24]\nconst w: $1[1,128,24] = 0.5\n"
        "const r: $1[1,128,32] = 0.25\nconst b: $1[1,256] = 0.5\n"
        "input h: $1[1,$0,32]\ninput c: $1[1,$0,32]\n"
        "y, u, v = lstm(x, w, r, b, h, c)\n$2",
        rows, type, results));
  };
  // The product with all rows of x, and y that is put together.
  constexpr size_t kOther = 2;
  for (const auto& p :
       {layer(1, "f32", "output y = y\n"), layer(4, "f32", "output y = y\n"),
        layer(16, "f16", "output y = y\n")}) {
    ASSERT_TRUE(p.ok()) << p.status();
    EXPECT_EQ(p->steps.size(), 9 + kOther) << StepNames(*p);
  }
  // Nothing holds the weights for so many rows of f32.
  const auto many = layer(5, "f32", "output y = y\n");
  ASSERT_TRUE(many.ok()) << many.status();
  EXPECT_GT(many->steps.size(), 2u * 9) << StepNames(*many);
  // The last step has results that nothing waits for.
  const auto all = layer(1, "f32", "output u = u\noutput v = v\n");
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_LT(all->steps.size(), 9 + kOther + 3) << StepNames(*all);
}

// Products of few rows by small constants hold these in registers, and ask for
// what they compute with together with the rows: after the kernel before, and
// before they multiply.
TEST(ProductSteps, FewRowsAreMultipliedByWhatIsHeld) {
  auto compiler = Compiler::Open();
  auto make = [](int rows, int k, absl::string_view w,
                 absl::string_view made = "", absl::string_view type = "f16") {
    return ProgramOf(absl::StrCat(
        "input x: ", type, "[", rows, ",", k, "]\n", w, ": ", type, "[", k,
        ",256]", w[0] == 'c' ? " = 0.5" : "", "\n", made, "input s: ", type,
        "[", rows, ",256]\nm = matmul(x, w)\ny = add(m, s)\n",
        "output y = y\n"));
  };
  for (const auto& p :
       {make(1, 512, "const w"), make(16, 512, "const w"),
        make(1, 512, "input w"), make(4, 520, "const w", "", "f32")}) {
    ASSERT_TRUE(p.ok()) << p.status();
    ASSERT_EQ(p->steps.size(), 1u) << StepNames(*p);
    const bool floats = p->inputs[0].type.dtype == DType::kF32;
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
        EXPECT_LT(text.find("iso_hold(b"), wait) << text;
        EXPECT_TRUE(p->buffers[v.arguments[1]].copy);
        EXPECT_EQ(p->constant_bytes, 512 * 256 * 2);
      } else {
        const char* held = floats ? "iso_hold(b" : "iso_matrix4_t(";
        EXPECT_LT(text.find(held), wait) << text;
      }
      EXPECT_LT(wait, read) << text;
      EXPECT_LT(read, text.find("if (!A_READY) multiply();")) << text;
      if (compiler.ok()) Compiled(compiler, v);
    }
    EXPECT_EQ(panels > 0, is_constant && !floats);
  }
  // Too many rows, a k that warps cannot share, one that registers do not hold,
  // and a factor that another kernel makes.
  for (const auto& p :
       {make(17, 512, "const w"), make(1, 520, "const w"),
        make(1, 65536, "const w"), make(5, 512, "const w", "", "f32"),
        make(1, 65536, "const w", "", "f32"),
        make(1, 512, "input v", "w = softmax(v, axis=0)\n")}) {
    ASSERT_TRUE(p.ok()) << p.status();
    EXPECT_TRUE(VariantsOf(*p, "held").empty());
  }
}

// A thread of a warp finds side by side what it multiplies of 16 rows and 16
// columns: two pairs of rows of one column, and those of one 8 further.
TEST(ProductSteps, PanelsHaveWhatAThreadMultipliesSideBySide) {
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

// Of few rows, one block of a cluster stores the sums of all.
TEST(ProductSteps, BlocksGiveSumsOfFewRows) {
  auto compiler = Compiler::Open();
  for (const int rows : {1, 8, 9}) {
    const auto p =
        ProgramOf(absl::StrCat("input x: f16[", rows,
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
TEST(ProductSteps, FewRowsAreMultipliedByWarps) {
  for (const int rows : {1, 16, 17, 64}) {
    const auto p = ProgramOf(absl::StrCat("input x: f16[", rows,
                                          ",14336]\ninput w: f16[14336,4096]\n"
                                          "y = matmul(x, w)\noutput y = y\n"));
    ASSERT_TRUE(p.ok()) << p.status();
    EXPECT_EQ(VariantsOf(*p, "16x").size(), rows <= 16 ? 8 : 0) << rows;
    EXPECT_GT(VariantsOf(*p, "wg").size(), 1) << rows;
  }
}

// Where there are more tiles than multiprocessors.
TEST(ProductSteps, BlocksStayForSeveralTiles) {
  auto compiler = Compiler::Open();
  for (const int units : {4, 132}) {
    const auto p = ProgramOf(
        "input x: f16[640,256]\nconst w: f16[256,512] = 0.5\n"
        "m = matmul(x, w)\ny = gelu(m)\noutput y = y\n",
        {.units = units});
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
TEST(ProductSteps, ResultsAreComputedAside) {
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
    ASSERT_EQ(p->steps.size(), 1u) << StepNames(*p);
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
TEST(ProductSteps, ColdConstantsAreAskedForAhead) {
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
        ProgramOf(one + (cold ? two + "output y = n\n" : "output y = s\n"));
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
  const auto twice = ProgramOf(
      "input x: f16[1,4000]\nconst w: f16[4000,4000] = 0.5\n"
      "v = transpose(w, perm=[1 0])\na = matmul(x, w)\nb = softmax(a)\n"
      "c = matmul(b, w)\nd = softmax(c)\ne = matmul(d, v)\noutput y = e\n");
  ASSERT_TRUE(twice.ok()) << twice.status();
  ASSERT_EQ(twice->steps.size(), 5u) << StepNames(*twice);
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

// A large product and a function of it.
constexpr char kGate[] =
    "input x: f16[8192,64]\ninput z: f16[8192,64]\n"
    "const a: f16[64,4096] = 0.5\nconst b: f16[64,4096] = 0.25\n"
    "g = matmul(x, a)\ns = sigmoid(g)\nt = mul(g, s)\n";

// What a library leaves to a kernel of its own is done once, by the reader.
TEST(ProductSteps, WhatFollowsALargeProductIsLeftToItsReader) {
  auto after_library = [](const std::string& last) {
    const auto p = ProgramOf(kGate + last);
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

// "kernel" if something is left for one of its own behind a library's product.
TEST(ProductSteps, LibrariesScaleAddAndCompute) {
  // A row, a number, zeros.
  const std::string row =
      "input b: T[512]\nc = broadcast(b, shape=[512 512], dims=[1])\n";
  const std::string number =
      "const h: T[] = 0.125\nd = broadcast(h, shape=[512 512], dims=[])\n";
  const std::string zeros =
      "const o: T[] = 0\nz = broadcast(o, shape=[512 512], dims=[])\n";
  auto with = [](const std::string& rest, const std::string& type = "f16") {
    const auto p = ProgramOf(absl::StrReplaceAll(
        "input x: T[512,512]\nconst w: T[512,512] = 0.5\nm = matmul(x, w)\n" +
            rest + "output y = y\n",
        {{"T", type}}));
    EXPECT_TRUE(p.ok()) << p.status();
    EXPECT_EQ(p->steps.size(), 1u) << StepNames(*p);
    const std::vector<Variant> found = VariantsOf(*p, "library");
    EXPECT_EQ(found.size(), 1u);
    EXPECT_TRUE(VariantsOf(*p, "tf32").empty());
    const LibraryProduct& l = *found[0].library;
    return absl::StrCat(found[0].source ? "kernel " : "", l.scale,
                        l.bias.pointer.empty() ? "" : " row",
                        l.added.pointer.empty() ? "" : " tensor",
                        l.function == LibraryProduct::Function::kRelu ? " relu"
                        : l.function == LibraryProduct::Function::kGeluTanh
                            ? " gelu_tanh"
                            : "");
  };
  EXPECT_EQ(with(number + "y = mul(m, d)\n"), "0.125");
  EXPECT_EQ(with(row + number +
                 "n = mul(d, m)\na = add(n, c)\nt = add(x, a)\n"
                 "y = relu(t)\n"),
            "0.125 row tensor relu");
  EXPECT_EQ(with(row + "a = add(m, c)\ny = gelu_tanh(a)\n"), "1 row gelu_tanh");
  // Single precision would be rounded.
  EXPECT_EQ(with("y = gelu_tanh(m)\n", "f32"), "kernel 1");
  // Another function, in another order, of tensors, by nothing.
  for (const std::string& rest :
       {std::string("y = gelu(m)\n"),
        row + number + "a = add(m, c)\ny = mul(a, d)\n",
        std::string("y = mul(m, x)\n"), zeros + "y = mul(m, z)\n",
        std::string("r = relu(m)\ny = gelu_tanh(r)\n")}) {
    EXPECT_EQ(with(rest), "kernel 1") << rest;
  }
}

TEST(ProductSteps, FactorsAreRoundedOnRequest) {
  for (const bool asked : {false, true}) {
    const auto p = ProgramOf(
        "input x: f32[512,512]\nconst w: f32[512,512] = 0.5\n"
        "m = matmul(x, w)\ny = gelu(m)\noutput y = y\n",
        {.tf32 = asked});
    ASSERT_TRUE(p.ok()) << p.status();
    const std::vector<Variant> rounded = VariantsOf(*p, "tf32");
    EXPECT_EQ(rounded.size(), asked ? 1u : 0u);
    for (const Variant& v : rounded) EXPECT_TRUE(v.library->tf32);
    for (const Variant& v : VariantsOf(*p, "library")) {
      EXPECT_FALSE(v.library->tf32);
    }
  }
}

TEST(ProductSteps, JoinedProductsComputeTheSame) {
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

}  // namespace
}  // namespace isomer::cuda
