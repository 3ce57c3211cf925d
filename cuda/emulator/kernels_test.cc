// Generated kernels of every family compute what the reference does, whatever
// order things happen in that a GPU promises nothing about. No GPU is needed.
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "cuda/emulator/emulator.h"
#include "cuda/graph_case.h"
#include "graph/for_all.h"
#include "gtest/gtest.h"
#include "runtime/compare.h"

namespace isomer::cuda::emulator {
namespace {

class Kernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasCompiler()) GTEST_SKIP() << "SKIPPED: there is no compiler";
  }

  // In both orders, with these choices.
  void CompareOne(const GraphCase& c, const std::vector<Tensor>& want,
                  const Program& program,
                  const std::map<std::string, std::string>& choices,
                  absl::string_view text) {
    for (Order order : {Order::kEarly, Order::kLate}) {
      const auto got = Emulate(program, choices, c.inputs, order);
      const std::lock_guard<std::mutex> lock(mutex_);
      SCOPED_TRACE(text);
      SCOPED_TRACE(order == Order::kEarly ? "early" : "late");
      EXPECT_TRUE(got.ok()) << got.status();
      for (size_t o = 0; got.ok() && o < want.size(); ++o) {
        EXPECT_LE(runtime::RelativeError((*got)[o], want[o]),
                  runtime::DefaultTolerance(want[o].type.dtype));
      }
    }
  }

  // Every variant, or those whose names start so; their names.
  std::set<std::string> Compare(absl::string_view text,
                                absl::string_view family = "",
                                const ProgramOptions& how = {}) {
    std::set<std::string> names;
    const auto c = GraphCase::Parse(text);
    EXPECT_TRUE(c.ok()) << c.status() << text;
    if (!c.ok()) return names;
    const auto program = MakeProgram(c->graph, H200(), how);
    const auto want = c->Evaluate();
    EXPECT_TRUE(program.ok() && want.ok()) << program.status() << text;
    if (!program.ok() || !want.ok()) return names;
    std::vector<std::pair<std::string, std::string>> choices;
    for (const Step& s : program->steps) {
      for (const Variant& v : s.variants) {
        if (v.IsOfLibrary() || !absl::StartsWith(v.name, family)) continue;
        choices.push_back({s.signature, v.name});
        names.insert(v.name);
      }
    }
    EXPECT_FALSE(choices.empty()) << text;
    ForAll(static_cast<int64_t>(choices.size()), [&](int64_t i) {
      CompareOne(*c, *want, *program, {choices[i]},
                 absl::StrCat(text, choices[i].second));
    });
    return names;
  }

  static size_t StepsOf(absl::string_view text, const ProgramOptions& how) {
    const auto c = GraphCase::Parse(text);
    const auto program =
        c.ok() ? MakeProgram(c->graph, H200(), how) : c.status();
    EXPECT_TRUE(program.ok()) << program.status();
    return program.ok() ? program->steps.size() : 0;
  }

  std::mutex mutex_;
};

TEST_F(Kernels, EveryOperator) {
  const auto cases = OperatorCases();
  std::mutex mutex;
  int compared = 0;
  ForAll(static_cast<int64_t>(cases.size()), [&](int64_t i) {
    const auto& [text, c] = cases[i];
    const auto program = MakeProgram(c.graph, H200());
    if (absl::IsUnimplemented(program.status())) return;
    const auto want = c.Evaluate();
    if (program.ok() && want.ok()) CompareOne(c, *want, *program, {}, text);
    const std::lock_guard<std::mutex> lock(mutex);
    EXPECT_TRUE(program.ok()) << program.status() << text;
    EXPECT_TRUE(want.ok()) << want.status() << text;
    ++compared;
  });
  EXPECT_GE(compared, 250);
}

TEST_F(Kernels, Norms) {
  for (const char* type : {"f16", "f32"}) {
    for (int n : {40, 1032}) {
      Compare(absl::Substitute(
          "input x: $0[3,7,$1]\ninput z: $0[3,7,$1]\ninput s: $0[$1]\n"
          "input b: $0[$1]\na = add(x, z)\n"
          "l = layer_norm(a, s, b, axis=2, epsilon=0.001)\nr = relu(l)\n"
          "output y = r\n",
          type, n));
      Compare(absl::Substitute(
          "input x: $0[7,3,$1]\ninput z: $0[3,7,$1]\ninput s: $0[$1]\n"
          "t = transpose(x, perm=[1 0 2])\na = add(t, z)\n"
          "l = rms_norm(a, s, axis=2)\noutput y = l\noutput a = a\n",
          type, n));
      // Factors that are a view, and one that is computed.
      Compare(absl::Substitute(
          "input x: $0[7,$1]\ninput s: $0[2,$1]\ninput b: $0[$1]\n"
          "f = slice(s, axes=[0], from=[1], to=[2])\n"
          "g = reshape(f, shape=[$1])\nh = relu(b)\n"
          "l = layer_norm(x, g, h, axis=1)\noutput y = l\n",
          type, n));
    }
  }
}

// Of more rows than would fit at a time with all the registers they like.
TEST_F(Kernels, NormsOfManyRows) {
  const auto names = Compare(
      "input x: f16[70,776]\ninput z: f16[70,776]\ninput s: f16[776]\n"
      "a = add(x, z)\nl = rms_norm(a, s, axis=1)\noutput y = l\n"
      "output a = a\n",
      "norm", {.units = 4});
  EXPECT_EQ(names, (std::set<std::string>{"norm", "norm 9"}));
}

TEST_F(Kernels, Sums) {
  for (const char* type : {"f16", "f32"}) {
    for (int n : {24, 1032}) Compare(SumsText(type, 5, n));
  }
}

TEST_F(Kernels, DepthwiseConvolutions) {
  const std::set<std::string> one = {"depthwise"},
                              all = {"depthwise", "depthwise 2", "depthwise 4"};
  for (const auto& [kernel, how, names] :
       std::vector<std::tuple<int, const char*, std::set<std::string>>>{
           {3, "pad=1", all},
           {3, "stride=2, pad=1", all},
           {3, "dilation=2, pad=2", one},
           {5, "pad=1", all}}) {
    EXPECT_EQ(Compare(DepthwiseText("f16", 24, kernel, how), "depthwise"),
              names);
  }
}

TEST_F(Kernels, SumsOfImages) {
  for (const char* type : {"f16", "f32"}) {
    for (const auto& [channels, side, names] :
         std::vector<std::tuple<int, int, std::set<std::string>>>{
             {24, 7, {"columns 8", "columns 16", "columns 32"}},
             {40, 17, {"columns 64", "columns 128", "columns 256"}}}) {
      EXPECT_EQ(Compare(ImageSumsText(type, 3, channels, side), "columns"),
                names);
    }
  }
  // Results are wider than what is read.
  EXPECT_EQ(Compare("input x: f16[3,24,7,7]\ninput w_: f16[24,24,1,1]\n"
                    "a = conv2d(x, w_)\nb = cast(a, to=f32)\n"
                    "y = reduce_sum(b, axes=[2 3])\noutput y = y\n",
                    "columns"),
            (std::set<std::string>{"columns 8", "columns 16", "columns 32"}));
  // Operands of a concat that start and end within pieces.
  EXPECT_EQ(Compare("input x: f16[3,24,7,7]\ninput w_: f16[24,24,1,1]\n"
                    "a = conv2d(x, w_)\nb = conv2d(a, w_)\n"
                    "c = slice(a, axes=[1], from=[0], to=[10])\nd = sin(b)\n"
                    "e = slice(a, axes=[1], from=[10], to=[16])\n"
                    "f = exp(e)\nk = concat(c, d, f, axis=1)\n"
                    "y = reduce_sum(k, axes=[2 3])\noutput y = y\n",
                    "columns"),
            (std::set<std::string>{"columns 8", "columns 16", "columns 32"}));
}

TEST_F(Kernels, Powers) {
  for (const char* exponent : {"2", "3", "-1", "0.5"}) {
    Compare(absl::Substitute(
        "input x: f32[24,40]\nconst e: f32[24,40] = $0\na = abs(x)\n"
        "b = add(a, e)\nc = abs(b)\ny = pow(c, e)\nz = neg(c)\n"
        "const f: f32[24,40] = 3\nw = pow(z, f)\noutput y = y\noutput w = w\n",
        exponent));
  }
}

TEST_F(Kernels, NormsOfGroups) {
  for (const char* type : {"f16", "f32"}) {
    for (const bool between : {false, true}) {
      Compare(GroupsText(type, 4, 24, 8, between), "element");
      Compare(GroupsText(type, 2, 6, 5, between), "element");
    }
  }
}

TEST_F(Kernels, Products) {
  for (const char* type : {"f16", "bf16", "f32"}) {
    for (const auto& [m, n, k] : std::vector<std::tuple<int, int, int>>{
             {3, 8, 16}, {37, 72, 136}, {5, 7, 9}}) {
      Compare(absl::Substitute(
          "input x: $0[$1,$3]\ninput w: $0[$3,$2]\ninput b: $0[$2]\n"
          "input s: $0[$1,$2]\nm = matmul(x, w)\n"
          "c = broadcast(b, shape=[$1 $2], dims=[1])\na = add(m, c)\n"
          "t = add(a, s)\nr = gelu(t)\noutput y = r\n",
          type, m, n, k));
    }
  }
  Compare(
      "input x: f16[2,3,65,64]\ninput w: f16[2,3,40,64]\n"
      "t = transpose(w, perm=[0 1 3 2])\nm = matmul(x, t)\noutput y = m\n");
}

// Sums that blocks of a cluster share.
TEST_F(Kernels, LongProducts) {
  for (int m : {1, 7, 70}) {
    const auto names = Compare(absl::Substitute(
        "input x: f16[$0,1544]\ninput w: f16[1544,72]\ninput s: f16[$0,72]\n"
        "m = matmul(x, w)\na = add(m, s)\nr = relu(a)\noutput y = r\n",
        m));
    const bool shared = absl::c_any_of(names, [](const std::string& name) {
      return absl::StrContains(name, " z4") || absl::StrContains(name, " z8");
    });
    EXPECT_TRUE(shared) << m;
  }
}

// Weights that are held in registers; some blocks have columns past the end.
TEST_F(Kernels, ProductsOfFewRows) {
  for (const auto& [type, m] : std::vector<std::pair<const char*, int>>{
           {"f16", 1}, {"f16", 5}, {"f16", 16}, {"f32", 1}, {"f32", 3}}) {
    for (const auto& [n, k] :
         std::vector<std::pair<int, int>>{{272, 512}, {40, 128}, {72, 1000}}) {
      if (k % 128 != 0 && type != std::string("f32")) continue;
      Compare(FewRowsText(type, m, n, k), "held");
    }
  }
}

// Steps are products, with what is computed of them.
TEST_F(Kernels, RecurrentLayers) {
  for (const auto& [type, direction, dirs, family] :
       std::vector<std::tuple<const char*, const char*, int, const char*>>{
           {"f32", "forward", 1, "held"},
           {"f16", "reverse", 1, ""},
           {"f32", "bidirectional", 2, "held"}}) {
    Compare(LayerText(type, direction, dirs, 5, 24, 32), family);
  }
}

// On a device so small that blocks stay, and that two of them bring columns for
// both; the last block of a pair may have no rows.
TEST_F(Kernels, TilesOfLargeProducts) {
  for (const char* weights : {"v = mul(w, w)\n", "v = relu(t)\n"}) {
    const auto names = Compare(
        absl::StrCat("input x: f16[300,328]\ninput w: f16[328,264]\n"
                     "input u: f16[264,328]\nt = transpose(u, perm=[1 0])\n"
                     "input s: f16[300,264]\n",
                     weights,
                     "m = matmul(x, v)\na = add(m, s)\nr = gelu(a)\n"
                     "output y = r\n"),
        "tma", {.units = 1, .cached_bytes = 0});
    EXPECT_TRUE(names.count("tma 128x256 s3 aside"));
    EXPECT_TRUE(names.count("tma 128x256 s3 aside pair"));
    EXPECT_TRUE(names.count("tma 128x128 s6 turns"));
  }
  Compare(
      "input x: bf16[200,1096]\ninput w: bf16[1096,264]\n"
      "m = matmul(x, w)\nr = gelu(m)\noutput y = r\n",
      "tma");
}

// A product and a function of equal parts of its rows, in one kernel.
TEST_F(Kernels, FunctionsOfParts) {
  for (const PartsShape& s :
       {PartsShape{2, 200, 72, 200, "f16"}, PartsShape{4, 130, 68, 264, "bf16"},
        PartsShape{8, 70, 24, 136, "f16"}, PartsShape{8, 3, 64, 256, "f16"},
        PartsShape{4, 1, 64, 256, "f32"}, PartsShape{2, 4, 36, 72, "f32"},
        PartsShape{4, 1, 40, 136, "f32", true},
        PartsShape{4, 2, 64, 256, "f16", true},
        PartsShape{2, 200, 72, 200, "bf16", true}}) {
    const ProgramOptions small = {.units = 2, .cached_bytes = 0};
    const std::string text = PartsText(s, s.parts == 4 ? "w_v" : "w_");
    EXPECT_EQ(StepsOf(text, small), 1u);
    Compare(text, "", small);
  }
}

// Two products of one factor, which are one with what follows them.
TEST_F(Kernels, GatesOfLargeProducts) {
  const ProgramOptions small = {.units = 2, .cached_bytes = 0};
  const std::string text =
      "input x: f16[300,200]\ninput w_a: f16[200,136]\n"
      "input w_b: f16[200,136]\ni = relu(x)\ng = matmul(i, w_a)\n"
      "s = sigmoid(g)\nt = mul(g, s)\nu = matmul(i, w_b)\ny = mul(t, u)\n"
      "output y = y\noutput i = i\n";
  EXPECT_EQ(StepsOf(text, small), 2u);
  const auto names = Compare(text, "tma", small);
  EXPECT_TRUE(names.count("tma 128x256 s3 aside"));
  EXPECT_TRUE(names.count("tma 128x256 s3 aside pair"));
}

TEST_F(Kernels, Convolutions) {
  Compare(
      "input x: f16[1,3,17,19]\ninput w_: f16[16,3,7,7]\n"
      "c = conv2d(x, w_, pad=3, stride=2)\noutput y = c\n");
  // Patches.
  Compare(
      "input x: f16[1,3,35,48]\ninput w_: f16[40,3,16,16]\n"
      "c = conv2d(x, w_, stride=16)\nr = relu(c)\noutput y = r\n");
  Compare(
      "input x: f16[2,64,9,11]\ninput w_: f16[96,64,3,3]\ninput w_b: f16[96]\n"
      "i = relu(x)\nc = conv2d(i, w_, pad=1, stride=2)\n"
      "d = broadcast(w_b, shape=[2 96 5 6], dims=[1])\ne = add(c, d)\n"
      "r = relu(e)\noutput y = r\n");
  Compare(
      "input x: f16[2,64,10,10]\ninput w_: f16[64,4,3,3]\n"
      "i = relu(x)\nc = conv2d(i, w_, pad=1, group=16)\noutput y = c\n");
  Compare(
      "input x: f16[1,40,10,9]\ninput w_: f16[40,1,3,3]\n"
      "c = conv2d(x, w_, pad=1, group=40)\nr = relu(c)\noutput y = r\n");
  Compare(
      "input x: f32[1,5,12,12]\ninput w_: f32[6,5,3,3]\n"
      "c = conv2d(x, w_, pad=1, dilation=2)\noutput y = c\n");
}

TEST_F(Kernels, Pooling) {
  for (const char* pool :
       {"max_pool(c, kernel=[3 3], stride=2, pad=1)",
        "max_pool(c, kernel=[3 2], stride=2, ceil_mode=1)",
        "max_pool(c, kernel=[3 3], dilation=2, pad=2)",
        "avg_pool(c, kernel=[3 3], pad=1)",
        "avg_pool(c, kernel=2, stride=2, ceil_mode=1, count_include_pad=1)"}) {
    Compare(PoolText("f16", pool));
  }
}

TEST_F(Kernels, Attention) {
  Compare(AttentionText("f16", 1, 70, 133, 64));
  Compare(AttentionText("bf16", 2, 1, 150, 32));
  Compare(SharedKeysText(1));
  Compare(SharedKeysText(20));
}

}  // namespace
}  // namespace isomer::cuda::emulator
