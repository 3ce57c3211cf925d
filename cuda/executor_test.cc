// What the device computes is what the reference computes. Without a device
// these tests report themselves as skipped.
#include "cuda/executor.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "cuda/clock.h"
#include "cuda/graph_case.h"
#include "cuda/held_kernel.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "runtime/compare.h"
#include "runtime/fast.h"
#include "runtime/random_inputs.h"

namespace isomer::cuda {
namespace {

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = Device::Open("cuda:0");
    if (!device.ok()) {
      GTEST_SKIP() << "SKIPPED: no CUDA device: " << device.status();
    }
    device_ = *device;
  }

  absl::StatusOr<std::unique_ptr<Executor>> Load(
      const ir::Graph& g, ExecutorOptions options,
      const ProgramOptions& how = {}) {
    auto program = MakeProgram(g, H200(), how);
    if (!program.ok()) return program.status();
    // Kernels that another run of the tests has compiled.
    if (const char* folder = std::getenv("ISOMER_TEST_CACHE")) {
      auto cache = KernelCache::Open(folder);
      if (!cache.ok()) return cache.status();
      options.cache = *cache;
    }
    return Executor::Create(device_, *std::move(program), options);
  }

  // Compares with what the CPU computes; with every variant if asked to, or
  // every one of a family.
  void Compare(absl::string_view text, bool all_variants = false,
               absl::string_view family = "", const ProgramOptions& how = {}) {
    auto c = GraphCase::Parse(text);
    ASSERT_TRUE(c.ok()) << c.status() << "\n" << text;
    auto program = MakeProgram(c->graph, H200(), how);
    ASSERT_TRUE(program.ok()) << program.status() << "\n" << text;
    std::vector<std::pair<std::string, std::string>> choices = {{"", ""}};
    if (all_variants) {
      choices.clear();
      for (const Step& s : program->steps) {
        for (const Variant& v : s.variants) {
          if (!absl::StartsWith(v.name, family)) continue;
          if (Watched() && v.IsOfLibrary()) continue;
          for (const std::string& name : NamesOf(v)) {
            choices.push_back({s.signature, name});
          }
        }
      }
    }
    ASSERT_FALSE(choices.empty()) << text;
    std::erase_if(choices, [](const auto&) { return !IsOwn(); });
    if (choices.empty()) return;
    auto want = c->Evaluate();
    ASSERT_TRUE(want.ok()) << want.status();
    // Most of the time is the compiler's.
    std::atomic<size_t> next{0};
    auto work = [&] {
      for (size_t i = next++; i < choices.size(); i = next++) {
        CompareOne(*c, *want, {.tune = false, .choices = {choices[i]}},
                   absl::StrCat(text, choices[i].second), how);
      }
    };
    std::vector<std::thread> threads;
    const size_t most = Watched() ? 1 : 8;
    for (size_t i = 0; i < most && i < choices.size(); ++i) {
      threads.emplace_back(work);
    }
    for (std::thread& t : threads) t.join();
  }

  // Several processes share the work because a tool watches every access: it
  // does not keep up with several threads, all takes long, and what the
  // libraries' kernels do is not ours to check.
  static bool Watched() { return std::getenv("ISOMER_TEST_SHARE") != nullptr; }

  // True if the next thing to compare is this process's: if several share the
  // work, "i/n", every n-th of all tests is, from the i-th on.
  static bool IsOwn() {
    const char* share = std::getenv("ISOMER_TEST_SHARE");
    if (share == nullptr) return true;
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(share, '/');
    int i = 0, n = 0;
    EXPECT_TRUE(absl::SimpleAtoi(parts.first, &i) &&
                absl::SimpleAtoi(parts.second, &n) && n > 0)
        << share;
    return n > 0 && seen_++ % n == i;
  }

  // A variant, or each of cuDNN's ways to compute it.
  std::vector<std::string> NamesOf(const Variant& v) const {
    if (!v.dnn) return {v.name};
    std::vector<std::string> names;
    auto dnn = device_->SharedDnn(Dnn::Open);
    if (!dnn.ok()) return names;
    auto ways = (*dnn)->Ways(*v.dnn, 6, 2);
    EXPECT_TRUE(ways.ok()) << ways.status();
    if (!ways.ok()) return names;
    std::string refused;
    for (const std::string& way : *ways) {
      auto plan = (*dnn)->Plan(*v.dnn, way);
      if (plan.ok()) names.push_back(absl::StrCat(v.name, " ", way));
      absl::StrAppend(&refused, "\n", way, ": ", plan.status().ToString());
    }
    EXPECT_FALSE(names.empty())
        << DnnText(*v.dnn) << refused << "\nof " << ways->size() << " ways";
    return names;
  }

  void CompareOne(const GraphCase& c, const std::vector<Tensor>& want,
                  const ExecutorOptions& options, absl::string_view text,
                  const ProgramOptions& how = {}) {
    auto e = Load(c.graph, options, how);
    ASSERT_TRUE(e.ok()) << e.status() << "\n" << text;
    auto got = (*e)->Run(c.inputs);
    ASSERT_TRUE(got.ok()) << got.status() << "\n" << text;
    // What is large takes long to read.
    const bool slow = NumElements(want[0].type) > 1 << 20 || Watched();
    const int times = slow ? 1 : 10;
    for (int again = 0; again < times; ++again) {
      // What a kernel reads too early is of the run before.
      auto other = (*e)->Run(c.others);
      ASSERT_TRUE(other.ok()) << other.status() << "\n" << text;
      auto next = (*e)->Run(c.inputs);
      ASSERT_TRUE(next.ok()) << next.status() << "\n" << text;
      ASSERT_TRUE(ToBytes((*next)[0]) == ToBytes((*got)[0]))
          << "another result at run " << again << "\n"
          << text;
    }
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_LE(runtime::RelativeError((*got)[i], want[i]),
                runtime::DefaultTolerance(want[i].type.dtype, how.tf32))
          << text;
    }
  }

  std::shared_ptr<Device> device_;
  static inline int seen_ = 0;  // of what all tests compare
};

TEST_F(OnDevice, EveryOperator) {
  int compared = 0;
  for (const auto& [text, c] : OperatorCases()) {
    if (!IsOwn()) continue;
    const auto want = c.Evaluate();
    ASSERT_TRUE(want.ok()) << text << ": " << want.status();
    auto e = Load(c.graph, {.tune = false});
    if (absl::IsUnimplemented(e.status())) continue;
    ASSERT_TRUE(e.ok()) << text << ": " << e.status();
    auto got = (*e)->Run(c.inputs);
    ASSERT_TRUE(got.ok()) << text << ": " << got.status();
    EXPECT_LE(runtime::RelativeError((*got)[0], (*want)[0]),
              runtime::DefaultTolerance((*want)[0].type.dtype))
        << text << "\n got " << TensorText((*got)[0]) << "\nwant "
        << TensorText((*want)[0]);
    ++compared;
  }
  EXPECT_GE(compared, Watched() ? 1 : 250);
}

TEST_F(OnDevice, ProductsOfAllShapes) {
  for (const char* type : {"f16", "bf16", "f32"}) {
    for (const auto& [m, n, k] :
         std::vector<std::tuple<int, int, int>>{{1, 64, 64},
                                                {3, 8, 16},
                                                {17, 72, 40},
                                                {128, 768, 768},
                                                {130, 264, 2056},
                                                {5, 7, 9}}) {
      Compare(absl::StrCat(
          "input x: ", type, "[", m, ",", k, "]\ninput w: ", type, "[", k, ",",
          n, "]\nm = matmul(x, w)\n", "r = gelu(m)\noutput y = r\n"));
    }
  }
}

TEST_F(OnDevice, EveryTiling) {
  Compare(
      "input x: bf16[130,2056]\ninput w: bf16[2056,264]\n"
      "m = matmul(x, w)\nr = gelu(m)\noutput y = r\n",
      true);
  Compare(
      "input x: f16[70,1064]\ninput w: f16[1064,136]\ninput b: f16[136]\n"
      "input s: f16[70,136]\nm = matmul(x, w)\n"
      "c = broadcast(b, shape=[70 136], dims=[1])\na = add(m, c)\n"
      "t = add(a, s)\nr = relu(t)\noutput y = r\n",
      true);
  Compare(
      "input x: f16[2,3,65,64]\ninput w: f16[2,3,40,64]\n"
      "t = transpose(w, perm=[0 1 3 2])\nm = matmul(x, t)\noutput y = m\n",
      true);
  Compare(
      "input x: f16[2,24,9,11]\ninput w_: f16[40,24,3,3]\n"
      "i = relu(x)\nc = conv2d(i, w_, pad=1, stride=2)\nr = relu(c)\n"
      "output y = r\n",
      true);
}

TEST_F(OnDevice, EveryTilingOfLargeProducts) {
  Compare(
      "input x: f16[16,520]\ninput w_: f16[520,264]\nm = matmul(x, w_)\n"
      "r = relu(m)\noutput y = r\n",
      true);
  Compare(
      "input x: bf16[300,1096]\ninput w: bf16[1096,520]\n"
      "m = matmul(x, w)\nr = gelu(m)\noutput y = r\n",
      true);
  Compare(
      "input x: f16[257,520]\ninput w: f16[264,520]\ninput b: f16[264]\n"
      "input s: f16[257,264]\nv = transpose(w, perm=[1 0])\n"
      "m = matmul(x, v)\nc = broadcast(b, shape=[257 264], dims=[1])\n"
      "a = add(m, c)\nt = add(a, s)\nr = relu(t)\noutput y = r\n",
      true);
  Compare(
      "input x: f16[3,64,19,21]\ninput w_: f16[192,64,3,3]\n"
      "input w_b: f16[192]\n"
      "i = relu(x)\nc = conv2d(i, w_, pad=1, stride=2)\n"
      "d = broadcast(w_b, shape=[3 192 10 11], dims=[1])\ne = add(c, d)\n"
      "r = relu(e)\noutput y = r\n",
      true);
  Compare(
      "input x: f16[2,40,14,15]\ninput w_: f16[96,40,5,3]\n"
      "i = relu(x)\nc = conv2d(i, w_, pad=[2 1 2 1], dilation=1)\n"
      "output y = c\n",
      true);
}

TEST_F(OnDevice, ProductsOfOneRow) {
  for (const char* type : {"f16", "bf16"}) {
    for (const auto& [n, k] :
         std::vector<std::pair<int, int>>{{264, 520}, {72, 4104}, {4096, 64}}) {
      for (const char* w : {"w", "w_"}) {
        Compare(absl::StrCat("input x: ", type, "[1,", k, "]\ninput ", w, ": ",
                             type, "[", k, ",", n, "]\ninput s: ", type, "[1,",
                             n, "]\nm = matmul(x, ", w,
                             ")\na = add(m, s)\nr = gelu(a)\noutput y = r\n"),
                true);
      }
    }
  }
}

// Weights that are held in registers; some blocks have columns past the end.
TEST_F(OnDevice, ProductsOfFewRows) {
  for (const char* type : {"f16", "bf16", "f32"}) {
    const bool floats = type == std::string("f32");
    for (int m : floats ? std::vector<int>{1, kHeldFloatRows}
                        : std::vector<int>{1, 5, 8, 11, 16}) {
      for (const auto& [n, k] : std::vector<std::pair<int, int>>{
               {264, 512}, {272, 512}, {1000, 1280}, {40, 128}, {2048, 2048}}) {
        Compare(FewRowsText(type, m, n, k), true, "held");
      }
    }
  }
}

// Steps are products, with what is computed of them.
TEST_F(OnDevice, RecurrentLayers) {
  for (const char* type : {"f16", "bf16", "f32"}) {
    Compare(LayerText(type, "bidirectional", 2, 2, 40, 512), true, "held");
  }
}

// Weights that are inputs cannot be laid out before, and those beside them that
// are constants can.
TEST_F(OnDevice, ProductsOfConstantsAndOfInputs) {
  Compare(
      "input x: f16[1,512]\ninput w_: f16[512,512]\ninput v: f16[512,512]\n"
      "a = matmul(x, w_)\nb = matmul(x, v)\noutput y = a\noutput z = b\n",
      true, "held");
}

// What a library multiplies by, adds and computes by itself.
TEST_F(OnDevice, ProductsOfTheLibrary) {
  for (const char* type : {"f16", "bf16", "f32"}) {
    for (int m : {1, 7, 130}) {
      const std::string s = absl::StrCat(type, "[", m, ",264]");
      const std::string start = absl::StrCat(
          "input x: ", type, "[", m, ",520]\ninput w: ", type,
          "[520,264]\ninput b: ", type, "[264]\ninput z: ", s,
          "\ns = relu(z)\nm = matmul(x, w)\nc = broadcast(b, shape=[", m,
          " 264], dims=[1])\n");
      const std::string scaled = absl::StrCat(
          "const h: ", type, "[] = 0.125\nd = broadcast(h, shape=[", m,
          " 264], dims=[])\nn = mul(m, d)\n");
      for (const std::string& rest : std::vector<std::string>{
               "a = add(m, c)\noutput y = a\n", "a = add(s, m)\noutput y = a\n",
               "r = relu(m)\noutput y = r\n",
               "a = add(m, c)\nt = add(s, a)\nr = relu(t)\noutput y = r\n",
               "a = add(m, c)\nr = relu(a)\nt = add(r, s)\noutput y = t\n",
               scaled + "a = add(s, n)\noutput y = a\n",
               scaled + "a = add(n, c)\nt = gelu_tanh(a)\noutput y = t\n"}) {
        Compare(absl::StrCat(start, rest, "output k = s\n"), m == 130);
      }
    }
  }
}

// On request.
TEST_F(OnDevice, RoundedProductsOfTheLibrary) {
  Compare(
      "input x: f32[130,520]\ninput w: f32[520,264]\nm = matmul(x, w)\n"
      "r = relu(m)\noutput y = r\n",
      true, "tf32", {.tf32 = true});
}

TEST_F(OnDevice, Attention) {
  for (const char* type : {"f16", "bf16"}) {
    for (const auto& [heads, queries, keys, head] :
         std::vector<std::tuple<int, int, int, int>>{{12, 128, 128, 64},
                                                     {3, 197, 197, 64},
                                                     {8, 1, 513, 128},
                                                     {2, 33, 1000, 32},
                                                     {2, 150, 600, 128},
                                                     {1, 17, 5, 16}}) {
      Compare(AttentionText(type, heads, queries, keys, head), true);
    }
  }
}

// Rows of which nothing counts are zeros where the graph says so.
TEST_F(OnDevice, AttentionToNothing) {
  for (const int queries : {4, 200}) {
    std::vector<std::string> rows;
    for (int i = 0; i < queries; ++i) {
      const char* score = i % 3 == 1 ? "-inf" : i % 3 == 2 ? "0.5" : "-1";
      rows.push_back(absl::StrCat(
          "[", absl::StrJoin(std::vector<std::string>(40, score), " "), "]"));
    }
    const std::string scores = absl::StrCat("[3 ", queries, " 40]");
    Compare(
        absl::StrCat("input q: f16[3,", queries,
                     ",64]\ninput k: f16[3,64,40]\ninput v: f16[3,40,64]\n",
                     "const m: f16[", queries, ",40] = [",
                     absl::StrJoin(rows, " "), "]\nconst c: f16[] = 0\n",
                     "s = matmul(q, k)\nn = broadcast(m, shape=", scores,
                     ", dims=[1 2])\na = add(s, n)\np = softmax(a, axis=2)\n",
                     "z = broadcast(c, shape=", scores,
                     ", dims=[])\ni = is_nan(p)\nw = where(i, z, p)\n",
                     "o = matmul(w, v)\noutput y = o\n"),
        true, "attention");
  }
}

TEST_F(OnDevice, AttentionWithSharedKeys) {
  for (int queries : {1, 20}) Compare(SharedKeysText(queries), true);
}

// Queries, keys and values are parts of one tensor, with heads side by side;
// some heads share keys and values.
TEST_F(OnDevice, AttentionByCudnn) {
  if (!device_->SharedDnn(Dnn::Open).ok()) {
    GTEST_SKIP() << "SKIPPED: there is no cuDNN";
  }
  for (const auto& [type, batch, length, heads, shared, size, scale] :
       std::vector<std::tuple<const char*, int, int, int, int, int, double>>{
           {"f16", 16, 197, 12, 1, 64, 0.125},
           {"bf16", 5, 259, 8, 4, 128, 0.0625},
           {"f16", 1, 512, 32, 4, 128, 0.0625},
           {"f16", 2, 300, 6, 2, 256, 0.0625},
           {"f16", 3, 1001, 2, 1, 32, 1}}) {
    const int kept = heads / shared, all = (heads + 2 * kept) * size;
    auto part = [&, b = batch, n = length, d = size](const std::string& name,
                                                     int from, int count) {
      return absl::StrCat(name, "1 = slice(x, axes=[2], from=[", from * d,
                          "], to=[", (from + count) * d, "])\n", name,
                          "2 = reshape(", name, "1, shape=[", b, " ", n, " ",
                          count, " ", d, "])\n", name, "3 = transpose(", name,
                          "2, perm=[0 2 1 3])\n");
    };
    auto repeated = [&, b = batch, n = length, h = heads, s = shared,
                     d = size](const std::string& name) {
      return absl::StrCat(name, "4 = broadcast(", name, "3, shape=[", b, " ",
                          kept, " ", s, " ", n, " ", d, "], dims=[0 1 3 4])\n",
                          name, "5 = reshape(", name, "4, shape=[", b, " ", h,
                          " ", n, " ", d, "])\n");
    };
    Compare(
        absl::StrCat(
            "input x: ", type, "[", batch, ",", length, ",", all,
            "]\nconst c: ", type, "[] = ", scale, "\n", part("q", 0, heads),
            part("k", heads, kept), part("v", heads + kept, kept),
            repeated("k"), repeated("v"), "t = transpose(k5, perm=[0 1 3 2])\n",
            "f = broadcast(c, shape=[", batch, " ", heads, " ", length, " ",
            length, "], dims=[])\n", "s = matmul(q3, t)\ng = mul(s, f)\n",
            "p = softmax(g, axis=3)\no = matmul(p, v5)\n",
            "u = transpose(o, perm=[0 2 1 3])\n", "y = reshape(u, shape=[",
            batch, " ", length, " ", heads * size, "])\noutput y = y\n"),
        true, "cudnn");
  }
}

TEST_F(OnDevice, Convolutions) {
  Compare(
      "input x: f16[1,3,33,35]\ninput w_: f16[16,3,7,7]\n"
      "c = conv2d(x, w_, pad=3, stride=2)\noutput y = c\n");
  Compare(
      "input x: f16[2,3,32,48]\ninput w_: f16[40,3,16,16]\n"
      "c = conv2d(x, w_, stride=16)\nr = relu(c)\noutput y = r\n",
      true);
  Compare(
      "input x: f16[2,64,10,10]\ninput w_: f16[64,4,3,3]\n"
      "i = relu(x)\nc = conv2d(i, w_, pad=1, group=16)\noutput y = c\n");
  Compare(
      "input x: f16[1,40,10,9]\ninput w_: f16[40,1,3,3]\n"
      "c = conv2d(x, w_, pad=1, group=40)\nr = relu(c)\noutput y = r\n");
  // Filters that are part of a tensor.
  Compare(
      "input x: f16[2,64,10,10]\ninput w: f16[96,64,1,1]\n"
      "v = slice(w, axes=[0], from=[32], to=[96], step=[1])\n"
      "i = relu(x)\nc = conv2d(i, v)\np = max_pool(c, kernel=[2 2])\n"
      "output y = p\n",
      true);
  Compare(
      "input x: f32[1,5,12,12]\ninput w_: f32[6,5,3,3]\n"
      "c = conv2d(x, w_, pad=1, dilation=2)\noutput y = c\n");
}

// Large enough for cuDNN: each of its ways that are likeliest.
TEST_F(OnDevice, ConvolutionsOfTheLibrary) {
  if (!device_->SharedDnn(Dnn::Open).ok()) {
    GTEST_SKIP() << "SKIPPED: there is no cuDNN";
  }
  for (const auto& [type, channels, groups, taps, stride] :
       std::vector<std::tuple<const char*, int, int, int, int>>{
           {"f16", 128, 1, 3, 1},
           {"f16", 512, 1, 1, 1},
           {"f16", 256, 1, 3, 2},
           {"f16", 256, 4, 3, 1},
           {"bf16", 128, 1, 3, 1}}) {
    const int size = stride == 2 ? 17 : 33;
    const std::string shape =
        absl::StrCat("[5 ", channels, " ", size, " ", size, "]");
    const std::string start = absl::StrCat(
        "input x: ", type, "[5,", channels, ",33,33]\ninput w_: ", type, "[",
        channels, ",", channels / groups, ",", taps, ",", taps,
        "]\ninput w_b: ", type, "[", channels, "]\ninput z: ", type, "[5,",
        channels, ",", size, ",", size, "]\ninput w_1: ", type, "[16,",
        channels,
        ",1,1]\ni = relu(x)\nj = relu(z)\nc = conv2d(i, w_, pad=", taps / 2,
        ", stride=", stride, ", group=", groups,
        ")\nd = broadcast(w_b, shape=", shape, ", dims=[1])\n");
    for (const char* rest :
         {"p = max_pool(c, kernel=[2 2])\noutput y = p\noutput k = j\n",
          "r = relu(c)\ns = conv2d(r, w_1)\noutput y = s\noutput k = j\n",
          "e = add(c, d)\nr = clip(e, min=0, max=0.5)\n"
          "p = max_pool(r, kernel=[2 2])\noutput y = p\noutput k = j\n",
          // A pool would compute what is before it; a convolution does not.
          "f = add(c, j)\nr = relu(f)\ns = conv2d(r, w_1)\noutput y = s\n",
          "e = add(c, d)\nf = add(e, j)\nr = relu(f)\n"
          "s = conv2d(r, w_1)\noutput y = s\n"}) {
      Compare(start + rest, true, "cudnn");
    }
  }
}

// Rows that are no multiple of anything, factors that lie either way.
TEST_F(OnDevice, LargeProductsOfTheLibrary) {
  if (!device_->SharedDnn(Dnn::Open).ok()) {
    GTEST_SKIP() << "SKIPPED: there is no cuDNN";
  }
  const std::string start =
      "input x: f16[2051,4104]\ninput w_: f16[4104,3080]\n"
      "input w_b: f16[3080]\ninput z: f16[2051,3080]\ns = relu(z)\n"
      "input v: f16[3080,4104]\nt = transpose(v, perm=[1 0])\n"
      "d = broadcast(w_b, shape=[2051 3080], dims=[1])\n"
      "const h: f16[] = 0.5\nn = broadcast(h, shape=[2051 3080], dims=[])\n";
  for (const char* rest :
       {"m = matmul(x, w_)\na = add(m, d)\nr = gelu(a)\noutput y = r\n",
        "m = matmul(x, t)\na = add(m, d)\nb = add(s, a)\noutput y = b\n",
        "m = matmul(x, t)\na = add(m, s)\nr = relu(a)\nb = sub(a, r)\n"
        "output y = b\n",
        "m = matmul(x, t)\na = mul(m, n)\nb = sub(a, s)\nr = tanh(b)\n"
        "output y = r\n",
        "m = matmul(x, w_)\na = sigmoid(m)\nb = mul(m, a)\noutput y = b\n"}) {
    Compare(absl::StrCat(start, rest, "output k = s\n"), true, "cudnn");
  }
  Compare(
      "input x: bf16[5,1300,2056]\ninput w: bf16[5,2056,2000]\n"
      "m = matmul(x, w)\nr = relu(m)\noutput y = r\n",
      true, "cudnn");
}

// Of cuDNN's ways to add a tensor to this convolution the fastest does not wait
// for it.
TEST_F(OnDevice, WaysThatDoNotWaitAreLeftOut) {
  if (Watched()) GTEST_SKIP() << "SKIPPED: libraries' kernels are not watched";
  for (const char* sum :
       {"f = add(c, j)\n", "e = add(c, d)\nf = add(e, j)\n"}) {
    const std::string text = absl::StrCat(
        "input x: f16[1,320,32,32]\ninput w_: f16[320,320,3,3]\n"
        "input w_b: f16[320]\ninput w_1: f16[16,320,1,1]\n"
        "input z: f16[1,320,32,32]\ni = relu(x)\nj = relu(z)\n"
        "d = broadcast(w_b, shape=[1 320 32 32], dims=[1])\n"
        "c = conv2d(i, w_, pad=1)\n",
        sum, "s = conv2d(f, w_1)\noutput y = s\n");
    auto c = GraphCase::Parse(text);
    ASSERT_TRUE(c.ok()) << c.status();
    auto want = c->Evaluate();
    ASSERT_TRUE(want.ok()) << want.status();
    CompareOne(*c, *want, {.streams = ExecutorOptions::Streams::kOne}, text);
  }
}

// Ways that sum up an eighth of what they should are much faster, and are not
// taken.
TEST_F(OnDevice, WrongWaysAreLeftOut) {
  if (Watched()) GTEST_SKIP() << "SKIPPED: libraries' kernels are not watched";
  auto c = GraphCase::Parse(
      "input x: f16[2048,4096]\ninput v: f16[4096,4096]\nm = matmul(x, v)\n"
      "r = relu(m)\noutput y = r\n");
  ASSERT_TRUE(c.ok()) << c.status();
  auto program = MakeProgram(c->graph, H200());
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->steps.size(), 1u);
  Step& step = program->steps[0];
  std::vector<std::string> wrong;
  for (Variant& v : step.variants) {
    if (v.library) v.library->k /= 8;
    if (v.dnn) v.dnn->tensors[0].shape[2] = v.dnn->tensors[1].shape[1] /= 8;
    if (v.IsOfLibrary()) wrong.push_back(v.name);
  }
  EXPECT_EQ(wrong, (std::vector<std::string>{"library", "cudnn"}));
  auto want = c->Evaluate();
  ASSERT_TRUE(want.ok()) << want.status();
  auto error = [&](Executor& e) {
    auto got = e.Run(c->inputs);
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() ? runtime::RelativeError((*got)[0], (*want)[0]) : 1e9;
  };
  const double most = runtime::DefaultTolerance(DType::kF16);
  auto chosen = Executor::Create(device_, *program);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_LE(error(**chosen), most);
  for (const std::string& name : wrong) {
    if (name == "cudnn" && !device_->SharedDnn(Dnn::Open).ok()) continue;
    // Asked for by name it is not compared.
    auto forced =
        Executor::Create(device_, *program,
                         {.tune = false, .choices = {{step.signature, name}}});
    ASSERT_TRUE(forced.ok()) << forced.status();
    EXPECT_GT(error(**forced), most) << name;
    auto its = (*forced)->Time(20), others = (*chosen)->Time(20);
    ASSERT_TRUE(its.ok() && others.ok());
    EXPECT_LT(*its, *others) << name;
  }
}

TEST_F(OnDevice, Norms) {
  for (const char* type : {"f16", "bf16", "f32"}) {
    for (int n : {8, 40, 768, 1032, 4096}) {
      const std::string shape = absl::StrCat("[3,7,", n, "]");
      Compare(absl::StrCat("input x: ", type, shape, "\ninput z: ", type, shape,
                           "\ninput s: ", type, "[", n, "]\ninput b: ", type,
                           "[", n, "]\na = add(x, z)\n",
                           "l = layer_norm(a, s, b, axis=2, epsilon=0.001)\n",
                           "r = relu(l)\noutput y = r\n"),
              true);
      Compare(
          absl::StrCat("input x: ", type, shape, "\ninput s: ", type, "[", n,
                       "]\nl = rms_norm(x, s, axis=2)\n", "output y = l\n"),
          true);
      // What is normed is a result too; rows are read and stored in other
      // orders.
      const std::string turned = absl::Substitute(
          "input x: $0[7,3,$1]\ninput z: $0[3,7,$1]\n"
          "input s: $0[$1]\nt = transpose(x, perm=[1 0 2])\n"
          "a = add(t, z)\nl = rms_norm(a, s, axis=2)\n",
          type, n);
      Compare(absl::StrCat(turned, "output y = l\noutput a = a\n"), true);
      Compare(absl::StrCat(turned,
                           "u = transpose(l, perm=[1 0 2])\n"
                           "r = reshape(u, shape=[21 ",
                           n, "])\noutput y = r\n"),
              true);
    }
  }
}

// Of more rows than fit at a time with all the registers that they would like.
TEST_F(OnDevice, NormsOfManyRows) {
  for (const char* type : {"f16", "bf16"}) {
    Compare(absl::Substitute(
                "input x: $0[16,197,768]\ninput z: $0[16,197,768]\n"
                "input s: $0[768]\ninput b: $0[768]\na = add(x, z)\n"
                "l = layer_norm(a, s, b, axis=2)\noutput y = l\noutput a = a\n",
                type),
            true, "norm 6");
  }
}

TEST_F(OnDevice, Sums) {
  for (const char* type : {"f16", "bf16", "f32"}) {
    for (int n : {24, 1032, 4096, 5000}) Compare(SumsText(type, 21, n), true);
  }
}

TEST_F(OnDevice, NormsOfGroups) {
  for (const char* type : {"f16", "f32"}) {
    for (const bool between : {false, true}) {
      Compare(GroupsText(type, 32, 320, 32, between), true, "element");
      Compare(GroupsText(type, 4, 24, 37, between), true, "element");
    }
  }
}

TEST_F(OnDevice, DepthwiseConvolutions) {
  for (const char* type : {"f16", "bf16"}) {
    for (const auto& [kernel, how] : {std::pair(3, "pad=1"),
                                      {3, "stride=2, pad=1"},
                                      {5, "stride=2"},
                                      {3, "dilation=2, pad=2"},
                                      {7, "pad=3"}}) {
      Compare(DepthwiseText(type, 96, kernel, how), true, "depthwise");
    }
  }
}

TEST_F(OnDevice, SumsOfImages) {
  for (const char* type : {"f16", "bf16", "f32"}) {
    for (const auto& [batch, channels, side] :
         {std::tuple(16, 256, 7), {1, 200, 13}, {3, 40, 37}}) {
      Compare(ImageSumsText(type, batch, channels, side), true, "columns");
    }
  }
}

// What is added to a product before a norm is added by the product.
TEST_F(OnDevice, NormsOfProducts) {
  for (const char* norm : {"layer_norm(b, w_s, w_t, axis=2, epsilon=0.001)",
                           "rms_norm(b, w_s, axis=2)"}) {
    for (const char* type : {"f16", "bf16", "f32"}) {
      Compare(absl::StrCat("input x: ", type, "[3,23,136]\ninput r: ", type,
                           "[3,23,200]\ninput w_: ", type,
                           "[136,200]\ninput w_z: ", type,
                           "[3,23,200]\ninput w_s: ", type,
                           "[200]\ninput w_t: ", type,
                           "[200]\nm = matmul(x, w_)\na = add(m, r)\n"
                           "b = add(a, w_z)\nl = ",
                           norm, "\noutput y = l\n"),
              true);
    }
  }
}

// Tiles that the copy engine brings, past the end of every dimension too. On
// few multiprocessors blocks stay for many of them.
TEST_F(OnDevice, LargeProducts) {
  struct Case {
    int m, n, k;
    const char* type;
  };
  for (const Case& c :
       {Case{300, 264, 136, "f16"}, Case{1000, 520, 776, "bf16"},
        Case{130, 64, 1352, "f16"}, Case{640, 512, 256, "f16"}}) {
    for (const char* weights : {"y = matmul(x, w_)", "y = matmul(x, v)"}) {
      for (int units : {132, 4}) {
        Compare(absl::Substitute("input x: $0[$1,$3]\ninput r: $0[$1,$2]\n"
                                 "input w_: $0[$3,$2]\ninput t: $0[$2,$3]\n"
                                 "v = transpose(t, perm=[1 0])\n$4\n"
                                 "g = gelu(y)\nz = add(g, r)\noutput z = z\n",
                                 c.type, c.m, c.n, c.k, weights),
                true, "tma", {.units = units});
      }
    }
  }
}

// A product and a function of equal parts of its rows, in one kernel; some are
// of a device so small that all tilings are wanted.
TEST_F(OnDevice, FunctionsOfParts) {
  const ProgramOptions small = {.units = 2, .cached_bytes = 0};
  for (const PartsShape& s :
       {PartsShape{2, 1, 136, 264, "f16"}, PartsShape{4, 3, 40, 72, "bf16"},
        PartsShape{8, 20, 64, 200, "f16"}, PartsShape{8, 1, 512, 512, "f16"},
        PartsShape{2, 7, 68, 128, "bf16"}, PartsShape{4, 16, 20, 256, "f16"},
        PartsShape{2, 5, 44, 9, "f16"}, PartsShape{4, 1, 512, 512, "f32"},
        PartsShape{2, 4, 44, 72, "f32"}, PartsShape{4, 1, 72, 128, "f32", true},
        PartsShape{4, 2, 72, 128, "f16", true},
        PartsShape{4, 130, 72, 256, "bf16", true},
        PartsShape{2, 600, 136, 328, "f16"},
        PartsShape{4, 1300, 132, 520, "bf16"}}) {
    for (const char* weights : {"w_", "w_v"}) {
      Compare(PartsText(s, weights), true, "",
              s.rows > 100 ? small : ProgramOptions());
    }
  }
}

// On a device so small that blocks stay, and that two of them bring columns for
// both.
TEST_F(OnDevice, TilesOfLargeProducts) {
  for (const char* weights : {"v = mul(w, w)\n", "v = relu(t)\n"}) {
    for (const char* type : {"f16", "bf16"}) {
      Compare(absl::Substitute(
                  "input x: $0[1300,1096]\ninput w: $0[1096,776]\n"
                  "input u: $0[776,1096]\nt = transpose(u, perm=[1 0])\n"
                  "input s: $0[1300,776]\n$1m = matmul(x, v)\n"
                  "a = add(m, s)\nr = gelu(a)\noutput y = r\n",
                  type, weights),
              true, "tma", {.units = 4, .cached_bytes = 0});
    }
  }
}

TEST_F(OnDevice, Pooling) {
  for (const char* type : {"f16", "bf16"}) {
    for (const char* pool :
         {"max_pool(c, kernel=[3 3], stride=2, pad=1)",
          "max_pool(c, kernel=[3 2], stride=2, ceil_mode=1)",
          "avg_pool(c, kernel=[3 3], pad=1, count_include_pad=1)",
          "avg_pool(c, kernel=[3 3], pad=1)",
          "avg_pool(c, kernel=2, stride=2, ceil_mode=1, count_include_pad=1)",
          "max_pool(c, kernel=[2 2], dilation=2)",
          "max_pool(c, kernel=[3 3], dilation=2, pad=2)"}) {
      Compare(PoolText(type, pool));
    }
  }
}

TEST_F(OnDevice, ViewsAndConcats) {
  Compare(
      "input x: f16[1,16,8,8]\ninput w: f16[24,16,1,1]\n"
      "input v: f16[8,16,3,3]\na = conv2d(x, w)\n"
      "b = conv2d(x, v, pad=1)\nc = concat(a, b, x, axis=1)\n"
      "p = max_pool(c, kernel=[3 3], stride=2, pad=1)\noutput y = p\n"
      "output z = c\n");
  Compare(
      "input q: f16[1,50,192]\nr = reshape(q, shape=[1 50 3 64])\n"
      "t = transpose(r, perm=[0 2 1 3])\ns = softmax(t, axis=2)\n"
      "u = transpose(s, perm=[0 2 1 3])\no = reshape(u, shape=[1 50 192])\n"
      "output y = o\noutput z = t\n");
}

// Streams change nothing but when a kernel runs.
TEST_F(OnDevice, BranchesSideBySide) {
  auto g = ir::ParseGraph(
      "input x: f16[1,64,35,35]\nconst a: f16[64,64,1,1] = 0.02\n"
      "const b: f16[96,64,3,3] = 0.01\nconst c: f16[96,96,3,3] = 0.01\n"
      "const d: f16[32,64,1,1] = 0.05\nconst e: f16[64,288,3,3] = 0.003\n"
      "x1 = relu(x)\na1 = conv2d(x1, a)\n"
      "b1 = conv2d(x1, b, pad=1)\nb2 = relu(b1)\n"
      "c1 = conv2d(b2, c, pad=1)\nb3 = relu(c1)\n"
      "c2 = conv2d(b2, c, pad=1, dilation=1)\nc3 = sigmoid(c2)\n"
      "p = avg_pool(x1, kernel=[3 3], pad=1)\nd1 = conv2d(p, d)\n"
      "k = concat(a1, b3, d1, c3, axis=1)\nf = conv2d(k, e, pad=1)\n"
      "s = add(f, x1)\noutput y = s\noutput z = d1\n");
  ASSERT_TRUE(g.ok()) << g.status();
  const auto inputs = *runtime::RandomInputs(*g, 1);
  using Streams = ExecutorOptions::Streams;
  auto one = Load(*g, {.tune = false, .streams = Streams::kOne});
  auto several = Load(*g, {.tune = false, .streams = Streams::kSeveral});
  auto timed = Load(*g, {});
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(several.ok()) << several.status();
  ASSERT_TRUE(timed.ok()) << timed.status();
  EXPECT_EQ((*one)->streams(), 1);
  EXPECT_GT((*several)->streams(), 1);
  const auto on_one = (*one)->Time(20);
  const auto likewise = (*several)->TimeOnOneStream(20);
  ASSERT_TRUE(on_one.ok() && likewise.ok()) << likewise.status();
  EXPECT_GT(*likewise, 0.7 * *on_one);
  EXPECT_LT(*likewise, 1.4 * *on_one);
  ir::EvaluateOptions how;
  how.run = runtime::FastKernels();
  const auto want = ir::Evaluate(*g, inputs, how);
  const auto first = (*one)->Run(inputs), best = (*timed)->Run(inputs);
  ASSERT_TRUE(want.ok() && first.ok() && best.ok());
  for (int k = 0; k < 2; ++k) {
    for (const auto& got : {*first, *best}) {
      EXPECT_LE(runtime::RelativeError(got[k], (*want)[k]),
                runtime::DefaultTolerance(DType::kF16));
    }
  }
  for (int i = 0; i < 1000; ++i) {
    const auto again = (*several)->Run(inputs);
    ASSERT_TRUE(again.ok()) << again.status();
    for (int k = 0; k < 2; ++k) {
      ASSERT_TRUE(ToBytes((*again)[k]) == ToBytes((*first)[k])) << i;
    }
  }
}

TEST_F(OnDevice, TheSameBitsEveryTime) {
  auto g = ir::ParseGraph(
      "input x: f16[16,1024]\nconst w: f16[1024,256] = 0.01\n"
      "m = matmul(x, w)\ns = softmax(m)\noutput y = s\n");
  ASSERT_TRUE(g.ok());
  auto e = Load(*g, {});
  ASSERT_TRUE(e.ok()) << e.status();
  const auto inputs = *runtime::RandomInputs(*g, 1);
  const auto first = (*e)->Run(inputs);
  ASSERT_TRUE(first.ok()) << first.status();
  for (int i = 0; i < 10000; ++i) {
    const auto again = (*e)->Run(inputs);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_TRUE(ToBytes((*again)[0]) == ToBytes((*first)[0])) << i;
  }
}

// Kernels say when they run: one after the other, where each needs the one
// before, and no longer than a run takes.
TEST_F(OnDevice, StepsSayWhenTheyRun) {
  auto g = ir::ParseGraph(
      "input x: f16[64,512]\nconst w: f16[512,512] = 0.02\n"
      "m = matmul(x, w)\ns = softmax(m)\nn = matmul(s, w)\n"
      "t = softmax(n)\noutput y = t\n");
  ASSERT_TRUE(g.ok());
  auto e = Load(*g, {.tune = false});
  ASSERT_TRUE(e.ok()) << e.status();
  const auto inputs = *runtime::RandomInputs(*g, 1);
  const auto before = (*e)->Run(inputs);
  const auto us = (*e)->Time(20);
  const auto spans = (*e)->Spans(20);
  ASSERT_TRUE(before.ok() && us.ok()) << before.status() << us.status();
  ASSERT_TRUE(spans.ok()) << spans.status();
  ASSERT_EQ(spans->size(), 4u);
  double ended = 0;
  for (const auto& span : *spans) {
    ASSERT_TRUE(span.has_value());
    EXPECT_LE(span->start, span->ready);
    EXPECT_LT(span->ready, span->end);
    EXPECT_LE(ended, span->ready);
    ended = span->end;
  }
  EXPECT_GT(ended, 0.3 * *us);
  EXPECT_LT(ended, 2 * *us);
  // What runs is what ran before.
  const auto after = (*e)->Run(inputs);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_TRUE(ToBytes((*after)[0]) == ToBytes((*before)[0]));
}

TEST_F(OnDevice, TheClockIsWatched) {
  auto clock = Clock::Create(device_);
  ASSERT_TRUE(clock.ok()) << clock.status();
  int times = 0;
  auto work = [&]() -> absl::StatusOr<int> { return ++times; };
  const auto got = (*clock)->Watch(work);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, times);
  // Of any GPU there is.
  EXPECT_GT((*clock)->mhz(), 100);
  EXPECT_LT((*clock)->mhz(), 5000);
  const auto failed = (*clock)->Watch(
      [&]() -> absl::StatusOr<int> { return absl::InternalError("no"); });
  EXPECT_EQ(failed.status().message(), "no");
}

TEST_F(OnDevice, ExecutorsDoNotDisturbEachOther) {
  auto g = ir::ParseGraph(
      "input x: f16[64,512]\nconst w: f16[512,512] = 0.02\n"
      "m = matmul(x, w)\ns = softmax(m)\noutput y = s\n");
  ASSERT_TRUE(g.ok());
  std::vector<std::string> results[2];
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      auto e = Load(*g, {.tune = false});
      const auto inputs = *runtime::RandomInputs(*g, 1);
      for (int i = 0; e.ok() && i < 50; ++i) {
        const auto got = (*e)->Run(inputs);
        results[t].push_back(got.ok() ? ToBytes((*got)[0]) : "failed");
      }
    });
  }
  for (std::thread& t : threads) t.join();
  ASSERT_EQ(results[0].size(), 50u);
  ASSERT_EQ(results[1].size(), 50u);
  for (int t = 0; t < 2; ++t) {
    for (const std::string& r : results[t]) ASSERT_TRUE(r == results[0][0]);
  }
}

TEST_F(OnDevice, WrongInputsAreNamed) {
  auto g = ir::ParseGraph("input x: f32[4]\nr = relu(x)\noutput y = r\n");
  auto e = Load(*g, {});
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ((*e)->Run({}).status().message(), "input 'x' is missing");
  EXPECT_EQ((*e)->Run({{"x", FromDoubles({DType::kF32, {1}}, {1})}})
                .status()
                .message(),
            "input 'x' has type f32[1]; expected f32[4]");
  EXPECT_FALSE((*e)->input("z").ok());
  EXPECT_TRUE(
      absl::IsResourceExhausted(device_->Allocate(int64_t{1} << 50).status()));
}

TEST(DeviceNames, WrongOnesAreRefused) {
  for (absl::string_view name : {"", "cpu", "cuda:", "cuda:x", "cuda:-1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Device::Open(name).status())) << name;
  }
}

}  // namespace
}  // namespace isomer::cuda
