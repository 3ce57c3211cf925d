// Command lines, right and wrong.
#include "tools/args.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace isomer::cli {
namespace {

const std::vector<Flag>& Flags() {
  static const auto* flags = new std::vector<Flag>{
      {"seed", "N", ""}, {"json", "", ""}, {"dim", "NAME=N", ""}};
  return *flags;
}

TEST(Args, ReadsFlagsAndPositionals) {
  auto args = Args::Parse(
      {"a", "--seed", "7", "--dim=n=3", "--dim", "m=4", "--json", "--", "--b"},
      Flags(), {"A", "B"});
  ASSERT_TRUE(args.ok()) << args.status();
  EXPECT_EQ(args->positionals(), (std::vector<std::string>{"a", "--b"}));
  EXPECT_EQ(*args->Int("seed", 0, 0, 9), 7);
  EXPECT_EQ(args->All("dim"), (std::vector<std::string>{"n=3", "m=4"}));
  EXPECT_TRUE(args->Has("json"));
  EXPECT_FALSE(args->Has("no"));
}

TEST(Args, ErrorsNameTheFlag) {
  const std::pair<std::vector<std::string>, absl::string_view> cases[] = {
      {{"a", "--sed", "7"}, "there is no flag --sed"},
      {{"a", "--seed"}, "flag --seed needs a value: N"},
      {{"a", "--json=1"}, "flag --json takes no value"},
      {{}, "argument A is missing"},
      {{"a", "b"}, "unexpected argument 'b'"},
  };
  for (const auto& [words, error] : cases) {
    EXPECT_EQ(Args::Parse(words, Flags(), {"A"}).status().message(), error);
  }
  auto args = Args::Parse({"a", "--seed", "x"}, Flags(), {"A"});
  EXPECT_EQ(args->Int("seed", 0, 0, 9).status().message(),
            "flag --seed is 'x'; expected an integer in [0, 9]");
  for (const char* wrong : {"x", "7", "-1s", ""}) {
    args = Args::Parse({"a", "--seed", wrong}, Flags(), {"A"});
    EXPECT_EQ(args->Time("seed", absl::Seconds(1)).status().message(),
              absl::StrCat("flag --seed is '", wrong,
                           "'; expected a time such as 10s, 500ms or 15m"));
  }
  args = Args::Parse({"a", "--seed", "0s"}, Flags(), {"A"});
  EXPECT_EQ(*args->Time("seed", absl::Seconds(1)), absl::ZeroDuration());
  EXPECT_FALSE(args->Time("seed", absl::Seconds(1), Args::Zero::kRefused).ok());
}

TEST(Args, Times) {
  auto args = Args::Parse({"a", "--seed", "1h30m"}, Flags(), {"A"});
  ASSERT_TRUE(args.ok()) << args.status();
  EXPECT_EQ(*args->Time("seed", absl::Seconds(1)), absl::Minutes(90));
  EXPECT_EQ(*args->Time("dim", absl::Seconds(1)), absl::Seconds(1));
}

}  // namespace
}  // namespace isomer::cli
