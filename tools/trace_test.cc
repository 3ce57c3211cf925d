#include "tools/trace.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace isomer::cli {
namespace {

// As text on one line.
std::string Line(const Json& json) {
  std::string out;
  for (absl::string_view line : absl::StrSplit(json.ToString(), '\n')) {
    absl::StrAppend(&out, absl::StripAsciiWhitespace(line));
  }
  return out;
}

std::string RowNames(int stream) {
  auto name = [&](int row, absl::string_view more) {
    return absl::StrCat(R"({"name": "thread_name","ph": "M","pid": 0,"tid": )",
                        row, R"(,"args": {"name": "stream )", stream, more,
                        R"("}},)");
  };
  return name(2 * stream, "") + name(2 * stream + 1, ", set up early");
}

TEST(Trace, StepsRunWhenTheySayAndLibrariesBehindThem) {
  const Json trace = TraceOf({
      {"matmul 16x64", "a", 0, 2, cuda::StepSpan{0, 0, 2.5}},
      {"matmul library 0", "b", 0, 4},
      {"reduce element", "c", 1, 1, cuda::StepSpan{2, 3, 4}},
  });
  EXPECT_EQ(
      Line(trace),
      absl::StrCat(
          R"({"traceEvents": [)", RowNames(0),
          R"({"name": "matmul 16x64","ph": "X","ts": 0,"dur": 2.5,"pid": 0,)",
          R"("tid": 0,"args": {"kernel": "a","us by itself": 2}},)",
          R"({"name": "matmul library 0","ph": "X","ts": 2.5,"dur": 4,)",
          R"("pid": 0,"tid": 0,"args": {"kernel": "b","us by itself": 4,)",
          R"("when": "not known: a library's"}},)", RowNames(1),
          R"({"name": "reduce element","ph": "X","ts": 3,"dur": 1,"pid": 0,)",
          R"("tid": 2,"args": {"kernel": "c","us by itself": 1}},)",
          R"({"name": "reduce element","ph": "X","ts": 2,"dur": 1,"pid": 0,)",
          R"("tid": 3}]})"));
}

}  // namespace
}  // namespace isomer::cli
