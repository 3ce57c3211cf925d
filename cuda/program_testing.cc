#include "cuda/program_testing.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cuda/graph_case.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "ops/status.h"

namespace isomer::cuda {

absl::StatusOr<Program> ProgramOf(absl::string_view text,
                                  const ProgramOptions& options) {
  ASSIGN_OR_RETURN(const ir::Graph graph, ir::ParseGraph(text));
  return MakeProgram(graph, H200(), options);
}

std::string StepNames(const Program& p) {
  std::string text;
  for (const Step& s : p.steps) {
    absl::StrAppend(&text, s.family, " ", s.variants[0].name, "\n");
  }
  return text;
}

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

std::vector<Variant> VariantsOf(const Program& p, absl::string_view prefix) {
  std::vector<Variant> out;
  for (const Variant& v : p.steps[0].variants) {
    if (absl::StartsWith(v.name, prefix)) out.push_back(v);
  }
  return out;
}

}  // namespace isomer::cuda
