// Every operator becomes kernels that NVRTC compiles; no GPU is needed.
#include "cuda/program.h"

#include <set>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cuda/graph_case.h"
#include "cuda/planned_kernels.h"
#include "cuda/program_testing.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "ops/example.h"
#include "ops/registry.h"

namespace isomer::cuda {
namespace {

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
    const auto program = ProgramOf(text);
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
    const auto p = ProgramOf(text);
    ASSERT_TRUE(p.ok()) << p.status();
    for (const Step& s : p->steps) {
      for (const Variant& v : s.variants) {
        if (v.source != nullptr) Compiled(compiler, v);
      }
    }
  }
}

TEST(Program, AnOperatorWithoutAKernelIsNamed) {
  const auto p = ProgramOf(
      "input x: f32[4]\ninput n: i64[1]\n"
      "v, i = topk(x, n)\noutput y = v\n");
  EXPECT_FALSE(p.ok());
  const auto q = ProgramOf(
      "input x: f32[2]\nv = opaque \"c:Op\" \"k\" (x): f32[2]\noutput y = v\n");
  EXPECT_TRUE(absl::IsUnimplemented(q.status())) << q.status();
  EXPECT_TRUE(absl::StrContains(q.status().message(), "c:Op")) << q.status();
}

TEST(Program, FusesAsPlanned) {
  const auto p = ProgramOf(
      "input x: f16[128,768]\nconst w: f16[768,768] = 0.5\n"
      "const b: f16[768] = 0.25\n"
      "m = matmul(x, w)\nc = broadcast(b, shape=[128 768], dims=[1])\n"
      "s = add(m, c)\nr = relu(s)\noutput y = r\n");
  ASSERT_TRUE(p.ok()) << p.status();
  ASSERT_EQ(p->steps.size(), 1u) << StepNames(*p);
  EXPECT_EQ(p->steps[0].family, "matmul");
  EXPECT_GT(p->steps[0].variants.size(), 3u);
  EXPECT_EQ(p->steps[0].flops, 2.0 * 128 * 768 * 768);
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
    const auto within = ProgramOf(text, {.part_of_bytes = 0});
    const auto alone = ProgramOf(text);
    ASSERT_TRUE(within.ok() && alone.ok());
    ASSERT_EQ(within->steps.size(), 1u) << StepNames(*within);
    const std::string& fast = within->steps[0].variants[0].name;
    EXPECT_FALSE(fast == "element" || absl::StartsWith(fast, "general"))
        << fast;
    EXPECT_NE(StepNames(*within), StepNames(*alone));
    EXPECT_FALSE(within->cold);
    EXPECT_TRUE(ProgramOf(text, {.part_of_bytes = int64_t{1} << 30})->cold);
  }
}

// A kernel by itself is the one that runs behind another in a model, and does
// not ask for its rows while others still run.
TEST(Program, WhatAPartReadsIsNotThereBefore) {
  const std::string head =
      "input x: f16[128,768]\nconst w: f16[768,768] = 0.5\n";
  const std::string kernel = head + "m = matmul(x, w)\noutput y = m\n";
  const auto part = ProgramOf(kernel, {.part_of_bytes = 0});
  const auto alone = ProgramOf(kernel);
  const auto behind = ProgramOf(
      head + "s = softmax(x, axis=1)\nm = matmul(s, w)\noutput y = m\n");
  ASSERT_TRUE(part.ok() && alone.ok() && behind.ok());
  ASSERT_EQ(behind->steps.size(), 2u) << StepNames(*behind);
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

// A concat of neighbours is a view of what they are taken from.
TEST(Program, NeighboursAreNotCopied) {
  for (const auto& [second, steps] : {std::make_pair("from=[1], to=[3]", 1),
                                      std::make_pair("from=[2], to=[4]", 2)}) {
    const auto p = ProgramOf(absl::StrCat(
        "input x: f16[5,1,64]\nconst w: f16[64,64] = 0.5\n"
        "a = slice(x, axes=[0], from=[0], to=[1])\nb = slice(x, axes=[0], ",
        second,
        ")\nc = reshape(a, shape=[1 64])\nd = reshape(b, shape=[2 64])\n"
        "e = concat(c, d, axis=0)\ny = matmul(e, w)\noutput y = y\n"));
    ASSERT_TRUE(p.ok()) << p.status();
    EXPECT_EQ(p->steps.size(), static_cast<size_t>(steps)) << StepNames(*p);
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
  const auto program = ProgramOf(text),
             shared = ProgramOf(text + "output m = p\n");
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
    const auto p = ProgramOf(start + rest);
    ASSERT_TRUE(p.ok()) << p.status();
    ASSERT_EQ(p->steps.size(), 1u) << rest << StepNames(*p);
    EXPECT_EQ(p->steps[0].variants[0].name, "norm") << rest;
    const auto source = p->steps[0].variants[0].source();
    ASSERT_TRUE(source.ok()) << source.status();
    if (!compiler.ok()) continue;
    const auto code = compiler->Compile(source->text, "sm_90a");
    EXPECT_TRUE(code.ok()) << code.status() << source->text;
  }
}

// How often a kernel reads so many neighbours together.
int PacksIn(const Variant& variant, absl::string_view pack = "iso_half, 8") {
  const auto source = variant.source();
  EXPECT_TRUE(source.ok()) << source.status();
  size_t packs = 0;
  for (const char* load : {"= iso_load_pack<", "= iso_load_pack_if<"}) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(source->text, absl::StrCat(load, pack, ">("));
    packs += parts.size() - 1;
  }
  return static_cast<int>(packs);
}

// Sums along what lies side by side read eight at a time; constants of
// pointwise operators are stored once where they are the same everywhere.
TEST(Program, SumsOfRowsReadNeighbours) {
  const auto p = ProgramOf(
      "input x: f16[4,4096]\nconst e: f32[4,4096] = 2\n"
      "a = cast(x, to=f32)\nb = pow(a, e)\nm = reduce_mean(b, axes=[1])\n"
      "c = broadcast(m, shape=[4 4096], dims=[0])\nd = div(a, c)\n"
      "r = cast(d, to=f16)\noutput y = r\n");
  ASSERT_TRUE(p.ok()) << p.status();
  ASSERT_EQ(p->steps.size(), 1u) << StepNames(*p);
  EXPECT_EQ(p->constant_bytes, 4);
  EXPECT_EQ(PacksIn(p->steps[0].variants[0]), 1);
  for (const auto& [rows, variant] :
       {std::pair("[1]", "element"), std::pair("[0]", "columns 64")}) {
    const auto sums = ProgramOf(
        absl::StrCat("input x: f16[512,512]\ny = reduce_sum(x, axes=", rows,
                     ")\noutput y = y\n"));
    ASSERT_TRUE(sums.ok()) << sums.status();
    EXPECT_EQ(sums->steps[0].variants[0].name, variant) << rows;
    EXPECT_EQ(PacksIn(sums->steps[0].variants[0]), 1) << rows;
  }
}

// What sums read stays in registers for other sums, also for those that they
// stand in, and for results; if a thread has more than eight whole pieces of a
// row or sixteen in all, it reads the others again.
TEST(Program, RowsThatSumsReadStayInRegisters) {
  const struct {
    const char* text;
    const char* variant;
    int packs;
    const char* pack = "iso_half, 8";
  } cases[] = {
      {"input x: f16[64,1024]\ny = softmax(x)\noutput y = y\n", "element", 1},
      {"input x: f16[64,4096]\ny = softmax(x)\noutput y = y\n", "element 64",
       1},
      {"input x: f16[64,4096]\ny = softmax(x)\noutput y = y\n", "element 32",
       3},
      {"input x: f32[4,768]\ninput z: f32[4,768]\nconst s: f32[768] = 0.5\n"
       "const c: f32[768] = 0.25\na = add(x, z)\n"
       "y = layer_norm(a, s, c, axis=1)\noutput y = y\noutput a = a\n",
       "element 64", 4, "float, 4"},
      {"input x: f32[4,1024]\ninput z: f32[4,1024]\ninput w: f32[4,1024]\n"
       "a = add(x, z)\nb = add(a, w)\ny = softmax(b)\noutput y = y\n",
       "element 32", 5, "float, 4"},
  };
  for (const auto& c : cases) {
    const auto p = ProgramOf(c.text);
    ASSERT_TRUE(p.ok()) << p.status();
    ASSERT_EQ(p->steps.size(), 1u) << StepNames(*p);
    const std::vector<Variant> found = VariantsOf(*p, c.variant);
    ASSERT_FALSE(found.empty()) << c.variant << "\n" << c.text;
    EXPECT_EQ(found[0].name, c.variant);
    EXPECT_EQ(PacksIn(found[0], c.pack), c.packs) << c.variant << "\n"
                                                  << c.text;
  }
}

// Channels that lie side by side are read once, eight at a time, for eight
// sums, those of each operand of a concat as well.
TEST(Program, SumsOfImagesReadChannelsTogether) {
  const auto p = ProgramOf(ImageSumsText("f16", 16, 2048, 7));
  ASSERT_TRUE(p.ok()) << p.status();
  int sums = 0;
  for (const Step& s : p->steps) {
    if (s.family != "reduce") continue;
    ++sums;
    EXPECT_EQ(s.variants[0].name, "columns 8") << s.signature;
    ASSERT_EQ(s.variants[2].name, "columns 32") << s.signature;
    const bool one = absl::StrContains(s.signature, "reduce_max");
    EXPECT_EQ(PacksIn(s.variants[2]), one ? 1 : 3) << s.signature;
    // The third operand is more than eight threads keep, and read for each sum.
    EXPECT_EQ(PacksIn(s.variants[0]), one ? 1 : 2 + 8) << s.signature;
  }
  EXPECT_EQ(sums, 2) << StepNames(*p);
}

// A group of channels is a row of one block, which reads it once, in the order
// in which it lies in memory.
TEST(Program, NormsOfGroupsReadThemOnce) {
  // Channels that lie side by side have their factors read together too.
  for (const auto& [between, pack, packs] :
       {std::tuple(false, "iso_half, 8", 1), {true, "iso_half, 2", 2}}) {
    const auto p = ProgramOf(GroupsText("f16", 32, 320, 32, between));
    ASSERT_TRUE(p.ok()) << p.status();
    const auto norm = absl::c_find_if(
        p->steps, [](const Step& s) { return s.family == "norm"; });
    ASSERT_NE(norm, p->steps.end()) << StepNames(*p);
    const auto source = norm->variants[0].source();
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_EQ(source->grid[0], 2 * 32);
    EXPECT_EQ(source->lanes, 1024);
    EXPECT_EQ(PacksIn(norm->variants[0], pack), packs) << source->text;
    // What belongs to the group comes with it.
    EXPECT_LT(source->text.find(" = in2["),
              source->text.find("iso_load_pack<iso_half"));
  }
}

// What is the same everywhere is read before the kernel waits, not after sums.
TEST(Program, NumbersAreReadFirst) {
  const auto p = ProgramOf(
      "input x: f32[64,1024]\nconst e: f32[64,1024] = 0.5\n"
      "s = softmax(x)\na = mul(s, e)\noutput y = a\n");
  ASSERT_TRUE(p.ok()) << p.status();
  ASSERT_EQ(p->steps.size(), 1u) << StepNames(*p);
  const auto source = p->steps[0].variants[0].source();
  ASSERT_TRUE(source.ok()) << source.status();
  const size_t read = source->text.find("= iso_value(in1[0]);");
  ASSERT_NE(read, std::string::npos) << source->text;
  EXPECT_LT(read, source->text.rfind("iso_wait();"));
}

TEST(Program, KernelsNoteWhenTheyRun) {
  const auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  const auto p = ProgramOf(
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

TEST(Program, MemoryIsShared) {
  std::string text = "input x: f32[1024]\nv0 = softmax(x)\n";
  for (int i = 1; i < 20; ++i) {
    absl::StrAppend(&text, "v", i, " = softmax(v", i - 1, ")\n");
  }
  const auto p = ProgramOf(text + "output y = v19\n");
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->steps.size(), 20u);
  EXPECT_LE(p->arena_bytes, 3 * 4096);
}

TEST(Program, ConcatIsWrittenInPlace) {
  const auto p = ProgramOf(
      "input x: f16[1,64,8,8]\nconst w: f16[64,64,1,1] = 0.5\n"
      "const v: f16[64,64,3,3] = 0.5\n"
      "a = conv2d(x, w)\nb = conv2d(x, v, pad=1)\nc = concat(a, b, axis=1)\n"
      "d = softmax(c)\noutput y = d\n");
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->steps.size(), 3u) << StepNames(*p);
}

}  // namespace
}  // namespace isomer::cuda
