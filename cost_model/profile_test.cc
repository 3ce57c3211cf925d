// Profiles as text: reading, writing, merging, and files that are wrong.
#include "cost_model/profile.h"

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace isomer::cost {
namespace {

constexpr char kText[] = R"(profile h200
matmul matmul(a,b) a:f16[1,8] b:f16[8,8]* | 3.25 2026-11-15 bench-1 cuBLASLt 13.1
pointwise relu(a) a:f16[8] | 0.9 2026-11-14 bench-2 NVRTC 13.0
)";

Profile Read(absl::string_view text) {
  auto p = Profile::Parse(text);
  EXPECT_TRUE(p.ok()) << p.status();
  return *p;
}

TEST(ProfileTest, TheOneOfTheH200IsAsItWouldBePrinted) {
  std::ifstream in("cost_model/profiles/h200.profile");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const Profile p = Read(text);
  EXPECT_EQ(p.target(), "h200");
  EXPECT_GE(p.entries().size(), 900u);
  EXPECT_TRUE(p.ToText() == text);
}

TEST(ProfileTest, ReadsBackWhatItPrints) {
  const Profile p = Read(kText);
  EXPECT_EQ(p.target(), "h200");
  EXPECT_EQ(p.ToText(), kText);
  const Measurement* m = p.Find("pointwise relu(a) a:f16[8]");
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->time_ps, 900'000);
  EXPECT_EQ(m->by, "bench-2");
  EXPECT_EQ(m->what, "NVRTC 13.0");
}

TEST(ProfileTest, KnowsNothingInBetween) {
  const Profile p = Read(kText);
  EXPECT_EQ(p.Find("pointwise relu(a) a:f16[9]"), nullptr);
  EXPECT_EQ(p.Find(""), nullptr);
  EXPECT_EQ(Profile().Find("x"), nullptr);
}

TEST(ProfileTest, OfTwoMeasurementsTheYoungerStays) {
  Profile p = Read(kText);
  ASSERT_TRUE(p.Merge(Read("profile h200\n"
                           "matmul matmul(a,b) a:f16[1,8] b:f16[8,8]* | "
                           "9 2026-11-16 other by hand\n"
                           "pointwise relu(a) a:f16[8] | "
                           "1.1 2026-11-14 other by hand\n"
                           "softmax softmax(a) a:f16[8] | "
                           "2 2026-01-01 other by hand\n"))
                  .ok());
  EXPECT_EQ(p.ToText(),
            "profile h200\n"
            "matmul matmul(a,b) a:f16[1,8] b:f16[8,8]* | "
            "9 2026-11-16 other by hand\n"
            "pointwise relu(a) a:f16[8] | 0.9 2026-11-14 bench-2 NVRTC 13.0\n"
            "softmax softmax(a) a:f16[8] | 2 2026-01-01 other by hand\n");
}

TEST(ProfileTest, OfAnotherTargetCannotBeMerged) {
  Profile p = Read(kText);
  EXPECT_EQ(p.Merge(Profile("a100")).message(),
            "a profile of a100 is not one of h200");
}

TEST(ProfileTest, AddChecks) {
  Profile p("h200");
  EXPECT_EQ(p.Add("a | b", {1, "2026-11-15", "me", ""}).message(),
            "'a | b' is no signature: it is empty, or has '|', '#' or a "
            "newline in it, or blanks around it");
  EXPECT_EQ(p.Add("a", {0, "2026-11-15", "me", ""}).message(),
            "a: the time must be more than zero");
  EXPECT_EQ(p.Add("a", {1, "yesterday", "me", ""}).message(),
            "a: 'yesterday' is not a day like 2026-11-15");
  EXPECT_EQ(p.Add("a", {1, "2026-11-15", "you and me", ""}).message(),
            "a: 'you and me' is not one word for who measured");
  EXPECT_EQ(p.Add("a", {1, "2026-11-15", "me", "a|b"}).message(),
            "a: 'a|b' has '|', '#' or a newline in it");
  EXPECT_TRUE(p.entries().empty());
}

TEST(Profile, TheOneThatComesWithATarget) {
  const auto h200 = Profile::Builtin("h200");
  ASSERT_TRUE(h200.ok()) << h200.status();
  EXPECT_EQ(h200->target(), "h200");
  EXPECT_GT(h200->entries().size(), 500u);
  for (absl::string_view name : {"a100", "no such target"}) {
    const auto none = Profile::Builtin(name);
    ASSERT_TRUE(none.ok()) << none.status();
    EXPECT_TRUE(none->entries().empty()) << name;
    EXPECT_EQ(none->target(), name);
  }
}

struct Wrong {
  const char* text;
  const char* message;
};

class WrongProfileTest : public testing::TestWithParam<Wrong> {};

TEST_P(WrongProfileTest, NamesTheLine) {
  EXPECT_EQ(Profile::Parse(GetParam().text).status().message(),
            GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Files, WrongProfileTest,
    testing::Values(
        Wrong{"", "it has no line 'profile TARGET'"},
        Wrong{"# nothing\n", "it has no line 'profile TARGET'"},
        Wrong{"h200\n", "line 1: a profile starts with 'profile TARGET'"},
        Wrong{"profile h200\na 3\n",
              "line 2: there is no ' | ' after the signature"},
        Wrong{"profile h200\na | 3 2026-11-15 me\n",
              "line 2: after '|' come a time, a day, who, and with what"},
        Wrong{"profile h200\na | fast 2026-11-15 me it\n",
              "line 2: 'fast' is not a time in microseconds"},
        Wrong{"profile h200\na | -1 2026-11-15 me it\n",
              "line 2: '-1' is not a time in microseconds"},
        Wrong{"profile h200\na | 1e-9 2026-11-15 me it\n",
              "line 2: a: the time must be more than zero"},
        Wrong{"profile h200\na | 1 15.11.2026 me it\n",
              "line 2: a: '15.11.2026' is not a day like 2026-11-15"},
        Wrong{"profile h200\nb | 1 2026-11-15 me it\n\na | 1 2026-11-15 me "
              "it\n",
              "line 4: 'a' comes after 'b'; signatures are sorted, each once"},
        Wrong{"profile h200\na | 1 2026-11-15 me it\na | 1 2026-11-15 me "
              "it\n",
              "line 3: 'a' comes after 'a'; signatures are sorted, each "
              "once"}));

}  // namespace
}  // namespace isomer::cost
