// Presets as text: what is read, and what is refused with which words.
#include "xfer_gen/preset.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "xfer_gen/generate.h"
#include "xfer_gen/presets.h"

namespace isomer::gen {
namespace {

constexpr absl::string_view kGood = R"(
# A comment.
depth 2
leaf x(2): f32[b,c]
weight w(1): f32[c,c]     # square
sizes b=2 c=4
sizes b=3,4 c=5
template matmul(a, b): matmul(a, b)
template add(a, b): add(a, b)
template half(a):
  slice(a, axis=1, from=0, to=dim(a, 1)/2)
template eye(): eye(shape=[c c])
)";

std::string Error(absl::string_view text) {
  const absl::StatusOr<Preset> p = ParsePreset("p", text);
  return p.ok() ? "no error" : std::string(p.status().message());
}

std::string With(absl::string_view line) {
  return Error(absl::StrCat(kGood, line, "\n"));
}

TEST(Preset, ReadsWhatItSays) {
  const absl::StatusOr<Preset> p = ParsePreset("p", kGood);
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->depth, 2);
  ASSERT_EQ(p->leaves.size(), 2);
  EXPECT_FALSE(p->leaves[0].weight);
  EXPECT_TRUE(p->leaves[1].weight);
  EXPECT_EQ(TypeText(LeafType(p->leaves[0], 1, p->sizes[0])), "f32[2,4]");
  EXPECT_EQ(TypeText(LeafType(p->leaves[0], 1, p->sizes[1])), "f32[4,5]");
  ASSERT_EQ(p->templates.size(), 4);
  EXPECT_FALSE(p->templates[0].commutative);
  EXPECT_TRUE(p->templates[1].commutative);
}

TEST(Preset, NamesWhatIsWrong) {
  EXPECT_EQ(Error(""),
            "preset p: the preset has no leaves and uses no other preset");
  EXPECT_EQ(With("colour red"),
            "preset p: line 13: 'colour' is not leaf, weight, sizes, template, "
            "use, depth or elements");
  EXPECT_EQ(With("leaf x(2): f32[b]"),
            "preset p: line 13: there are two classes of leaves 'x'");
  EXPECT_EQ(With("leaf y(9): f32[b]"),
            "preset p: line 13: '9' is not a number from 1 to 4");
  EXPECT_EQ(With("leaf y(1): q8[b]").find("preset p: line 13: "), 0);
  EXPECT_EQ(With("leaf y(1): f32[q]"),
            "preset p: line 13: size 'q' has no value in every line of sizes");
  EXPECT_EQ(With("leaf y(1): f32[0]"),
            "preset p: line 13: size 0 is impossible");
  EXPECT_EQ(With("leaf y(1): f32[90,90]"),
            "preset p: line 13: leaf y1 of type f32[90,90] has more than 512 "
            "elements");
  EXPECT_EQ(With("leaf y2(1): f32[b]"),
            "preset p: line 13: the class 'y2' ends in a digit; its leaves are "
            "numbered");
  EXPECT_EQ(With("leaf t(1): f32[b]"),
            "preset p: line 13: the name 't' is taken: rules call intermediate "
            "values so");
  EXPECT_EQ(With("depth 40"),
            "preset p: line 13: '40' is not a number from 1 to 6");
  EXPECT_EQ(With("sizes b"),
            "preset p: line 13: 'b' is not of the form NAME=N or NAME=N,N");
}

TEST(Preset, NamesTheTemplateThatIsWrong) {
  EXPECT_EQ(With("template add(a, b): mul(a, b)"),
            "preset p: line 13: there are two templates 'add'");
  EXPECT_EQ(
      With("template t(a): nosuch(a)"),
      "preset p: line 13: template t: 1:1: there is no operator 'nosuch'");
  EXPECT_EQ(With("template t(a): add(a, b)"),
            "preset p: line 13: template t: 'b' is not an operand");
  EXPECT_EQ(With("template t(a, b): relu(a)"),
            "preset p: line 13: template t: the operand 'b' is not used");
  EXPECT_EQ(With("template t(a): relu(a"),
            "preset p: line 13: template t: 1:8: expected ',' or ')', found "
            "'=>'");
  EXPECT_TRUE(
      absl::StrContains(With("template t(a): matmul(a, reshape(a, shape=[2]))"),
                        "preset p: line 13: template t: "));
  EXPECT_EQ(With("template t(a): slice(a, axis=0, from=0, to=q)"),
            "preset p: line 13: size 'q' has no value in every line of sizes");
  EXPECT_EQ(With("template t(a) joins 0: relu(a)"),
            "preset p: line 13: template t: joins takes two operands, parts "
            "one");
  EXPECT_EQ(With("template t(a) soon: relu(a)"),
            "preset p: line 13: template t: 'soon' says nothing alone");
  EXPECT_EQ(With("template t(a) a late: relu(a)"),
            "preset p: line 13: template t: 'a late' is not joins D, parts D, "
            "PARAM data, PARAM leaf or PARAM on AXIS");
}

TEST(Preset, NeedsSizesToConfirmAt) {
  EXPECT_EQ(Error("leaf x(1): f32[2]\nsizes b=2\ntemplate r(a): relu(a)\n"),
            "preset p: the preset needs two or more lines of sizes: one to "
            "enumerate at, others to confirm at");
  const absl::StatusOr<Preset> p = ParsePreset(
      "p",
      "leaf x(2): f32[b]\nsizes b=2,3\nsizes b=4\ntemplate r(a): relu(a)\n");
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(CheckPreset(*p).message(),
            "preset p: size 'b' has several values in the first line of sizes, "
            "where the leaves of a class must be alike");
}

TEST(Preset, AllThatShipAreGood) {
  ASSERT_FALSE(AllPresets().empty());
  for (const PresetText& text : AllPresets()) {
    const absl::StatusOr<Preset> p = ParsePreset(text.name, text.text);
    ASSERT_TRUE(p.ok()) << p.status();
    if (!p->leaves.empty()) {
      EXPECT_TRUE(CheckPreset(*p).ok());
    }
    EXPECT_TRUE(absl::StartsWith(text.text, "# ")) << text.name;
    for (const UsedPreset& use : p->uses) {
      bool found = false;
      for (const PresetText& other : AllPresets()) {
        found = found || other.name == use.name;
      }
      EXPECT_TRUE(found) << text.name << " uses " << use.name;
    }
  }
}

}  // namespace
}  // namespace isomer::gen
