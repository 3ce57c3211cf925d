// Text in, text out: printing is canonical, parsing rejects what is wrong.
#include "graph/text.h"

#include "gtest/gtest.h"

namespace isomer::ir {
namespace {

// Texts in canonical form print back as they are.
TEST(Text, PrintsBack) {
  for (absl::string_view text : {
           "input x: f32[2,3]\noutput y = x\n",
           "input \"a b\": ?\nv0, v1 = opaque \"c:Op\" \"k\\n\" (\"a b\"): "
           "f32[2]@{m:2}, ?\noutput y = v0\n",
           "const w: f32[2,2] = 0.5\nconst v0: f16[3] = [1 0.33325195 -2]\n"
           "output y = w\noutput z = v0\n",
           "const w: i64[2] = [9223372036854775807 -1]\noutput y = w\n",
           "const w: f32[0] = []\noutput y = w\n",
           "const w: f64[0,4] = []\nconst v: i8[99999999999,0] = []\n",
           "const w: i32[2]@{m:2} = [[1 2] [3 4]]\noutput y = w\n",
           "const w: f32[]@{m:1} = [3]\noutput y = w\n",
           "const w: bool[2] = [true false]\noutput y = w\n",
           "input x: f32[2,3]\nv0 = transpose(x, perm=[1 0])\noutput y = v0\n",
       }) {
    absl::StatusOr<Graph> g = ParseGraph(text);
    if (!g.ok()) {
      ADD_FAILURE() << g.status() << "\n" << text;
      continue;
    }
    const std::string printed = PrintGraph(*g);
    absl::StatusOr<Graph> again = ParseGraph(printed);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
    EXPECT_TRUE(Equal(*g, *again)) << printed;
    EXPECT_EQ(PrintGraph(*again), printed);
  }
}

TEST(Text, LongConstantsMayBeElided) {
  absl::StatusOr<Graph> g =
      ParseGraph("const w: f32[3] = [1 2 3]\noutput y = w\n");
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_EQ(PrintGraph(*g, {.max_constant = 2}),
            "const w: f32[3] = ...\noutput y = w\n");
}

TEST(Text, ErrorsPointAtThePlace) {
  const std::pair<absl::string_view, absl::string_view> cases[] = {
      {"input x f32[2]", "1:9: expected ':', found 'f32'"},
      {"input x: f33[2]", "1:10: "},
      {"input x: f32[2\n", "2:1: expected ']'"},
      {"input x: f32[-2]", "1:10: "},
      {"input x: f32[2]\ny = no_such(x)",
       "2:5: there is no operator 'no_such'"},
      {"input x: f32[2]\ny = relu(z)", "2:10: 'z' is not defined"},
      {"input x: f32[2]\ny = relu(x", "2:11: expected ')'"},
      {"input x: f32[2]\ny = relu(", "2:10: expected a name"},
      {"input x: f32[2]\ninput x: f32[2]", "2:1: 'x' is defined twice"},
      {"input x: f32[2]\na, b = relu(x)", "2:1: 2 names for 1 outputs"},
      {"input x: f32[2]\ny = relu(x, alpha=1)",
       "2:5: relu: no attribute 'alpha'"},
      {"input x: f32[2]\ny = concat(x, axis=[1 two])", "2:23: a list holds"},
      {"const w: f32[2] = [1 2 3]", "1:19: the value has shape [3]"},
      {"const w: f32[2] = [1 [2]]", "1:19: "},
      {"const w: f32[2] = []", "1:19: the value has shape [0]"},
      {"const w: f32[0,2] = [[]]", "1:21: the value has shape [1,0]"},
      {"const w: f32[2]@{m:2} = [1 2]", "1:25: the value has shape [2]"},
      {"const w: f32[99999999] = 1", "1:1: the constants of a text have at"},
      {"const v: f32[9999999] = 1\nconst w: f32[9999999] = 1",
       "2:1: the constants of a text have at most 16777216 elements"},
      {"const w: ? = 1", "1:1: a constant has a type"},
      {"input \"\": ?", "1:1: a value has a name"},
      {"output y = x", "1:12: 'x' is not defined"},
      {"y = \"unended", "1:5: the string does not end"},
      {"= relu(x)", "1:1: expected a name, found '='"},
  };
  for (const auto& [text, error] : cases) {
    absl::StatusOr<Graph> g = ParseGraph(text);
    ASSERT_FALSE(g.ok()) << text;
    EXPECT_EQ(g.status().message().substr(0, error.size()), error)
        << g.status();
  }
}

}  // namespace
}  // namespace isomer::ir
