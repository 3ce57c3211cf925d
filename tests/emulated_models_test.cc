// Models with random weights, as they are and optimised, run on the CPU kernel
// by kernel as they would on a GPU, and compute what the reference does:
//
//   emulated_models_test PATTERN...    those whose names contain one
//
// Each step runs the kernel of our own that is likeliest; libraries are not
// there.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "api/graph_access.h"
#include "api/isomer.h"
#include "cuda/emulator/emulator.h"
#include "cuda/graph_case.h"
#include "cuda/program.h"
#include "gtest/gtest.h"
#include "onnx/model.h"
#include "onnx/randomize.h"
#include "onnx/writer.h"
#include "ops/status.h"
#include "runtime/compare.h"
#include "runtime/random_inputs.h"

namespace isomer {
namespace {

using cuda::emulator::Order;
using Tensors = std::vector<Tensor>;

std::vector<std::string> patterns;

absl::StatusOr<Graph> Randomized(const std::string& path) {
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string to =
      absl::StrCat(folder == nullptr ? "/tmp" : folder, "/model.onnx");
  ASSIGN_OR_RETURN(onnx::Model model, onnx::ReadModel(path));
  RETURN_IF_ERROR(onnx::Randomize(0, &model).status());
  RETURN_IF_ERROR(onnx::WriteModel(model, to));
  return Graph::FromOnnx(to);
}

// How far what kernels compute is from `want`, and how many there are.
struct Outcome {
  double error = 0;
  size_t kernels = 0;
};
absl::StatusOr<Outcome> Run(const ir::Graph& graph,
                            const std::map<std::string, Tensor>& inputs,
                            const Tensors& want, Order order) {
  ASSIGN_OR_RETURN(const cuda::Program program,
                   cuda::MakeProgram(graph, cuda::H200()));
  ASSIGN_OR_RETURN(const Tensors got,
                   cuda::emulator::Emulate(program, {}, inputs, order));
  Outcome out{0, program.steps.size()};
  for (size_t i = 0; i < want.size(); ++i) {
    out.error = std::max(out.error, runtime::RelativeError(got[i], want[i]));
  }
  return out;
}

void Compare(const std::string& path) {
  SCOPED_TRACE(path);
  const auto graph = Randomized(path);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const ir::Graph& original = GraphAccess::Ir(*graph);
  const auto inputs = *runtime::RandomInputs(original, 0);
  const auto want = cuda::GraphCase{original, inputs, {}}.Evaluate();
  ASSERT_TRUE(want.ok()) << want.status();
  const auto found = graph->optimize(
      {.time_limit = absl::InfiniteDuration(), .expansions = 60});
  ASSERT_TRUE(found.ok()) << found.status();
  const ir::Graph& optimised = GraphAccess::Ir(found->graph);
  double most = 0;
  for (const Tensor& t : *want) {
    most = std::max(most, runtime::DefaultTolerance(t.type.dtype));
  }
  for (const auto& [form, g, order] :
       {std::tuple("as it is", &original, Order::kLate),
        std::tuple("optimised", &optimised, Order::kEarly),
        std::tuple("optimised", &optimised, Order::kLate)}) {
    const absl::Time start = absl::Now();
    const auto outcome = Run(*g, inputs, *want, order);
    ASSERT_TRUE(outcome.ok()) << form << ": " << outcome.status();
    EXPECT_LE(outcome->error, most) << form;
    absl::PrintF("%s, %s, %s: %d kernels, error %.1e, %.0f s\n",
                 std::filesystem::path(path).stem().string(), form,
                 order == Order::kEarly ? "early" : "late", outcome->kernels,
                 outcome->error, absl::ToDoubleSeconds(absl::Now() - start));
  }
}

TEST(EmulatedModels, ComputeWhatTheReferenceDoes) {
  if (!cuda::emulator::HasCompiler()) {
    GTEST_SKIP() << "SKIPPED: there is no compiler";
  }
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator("models")) {
    const std::string path = file.path().string();
    const bool wanted = absl::c_any_of(patterns, [&](const std::string& p) {
      return absl::StrContains(path, p);
    });
    if (wanted && absl::EndsWith(path, ".onnx")) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths) Compare(path);
}

}  // namespace
}  // namespace isomer

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  isomer::patterns.assign(argv + 1, argv + argc);
  return RUN_ALL_TESTS();
}
