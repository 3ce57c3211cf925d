// Certificates of graphs that a well-known optimiser gets wrong: ours are
// equal, and a third party can see it. Wrong certificates do not hold.
#include "api/certificate.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/strings/str_replace.h"
#include "onnx/export.h"
#include "onnx/writer.h"
#include "search/search_testing.h"

namespace isomer {
namespace {

std::string TempFile(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The files of a graph that was optimised, and its certificate.
struct Files {
  std::string original = TempFile("a.onnx"), optimized = TempFile("b.onnx");
  std::string certificate = {};
  bool improved = false;
};

Files Optimized(absl::string_view text) {
  Files files;
  auto model = onnx::ModelFromGraph(search::MakeGraph(text), 17);
  EXPECT_TRUE(model.ok()) << model.status();
  Write(files.original, *onnx::SerializeModel(*model));
  auto graph = Graph::FromOnnx(files.original);
  EXPECT_TRUE(graph.ok()) << graph.status();
  OptimizeOptions options;
  options.time_limit = absl::InfiniteDuration();
  options.expansions = 200;
  auto r = graph->optimize(options);
  EXPECT_TRUE(r.ok()) << r.status();
  files.improved = r->improved;
  auto check = Check(*graph, r->graph);
  EXPECT_TRUE(check.ok() && check->passed) << check.status();
  auto certified = Certify(files.original, *r);
  EXPECT_TRUE(certified.ok()) << certified.status();
  files.certificate = certified->text;
  EXPECT_TRUE(certified->graph.ToOnnx(files.optimized).ok());
  return files;
}

absl::Status Judge(const Files& files, const std::string& certificate) {
  auto parsed = ParseCertificate(certificate);
  if (!parsed.ok()) return parsed.status();
  return CheckCertificate(files.original, files.optimized, *parsed).status();
}

TEST(CertificateTest, TrapsAreEqual) {
  for (absl::string_view trap : search::Traps()) {
    const Files files = Optimized(trap);
    EXPECT_TRUE(Judge(files, files.certificate).ok())
        << Judge(files, files.certificate) << trap;
  }
}

constexpr absl::string_view kProducts = R"(
input x: f32[2,8]
const w: f32[8,8] = random
const v: f32[8,8] = random
a = matmul(x, w)
b = matmul(a, v)
c = relu(b)
output y = c
)";

TEST(CertificateTest, WrongOnesDoNotHold) {
  const Files files = Optimized(kProducts);
  ASSERT_TRUE(files.improved);
  EXPECT_TRUE(Judge(files, files.certificate).ok());
  // Another function, another order of factors, other files.
  EXPECT_TRUE(absl::IsDataLoss(Judge(
      files, absl::StrReplaceAll(files.certificate, {{"relu(", "tanh("}}))));
  Files swapped = files;
  std::swap(swapped.original, swapped.optimized);
  EXPECT_FALSE(Judge(swapped, files.certificate).ok());
  EXPECT_FALSE(Judge(files, "").ok());
  EXPECT_FALSE(Judge(files, "isomer certificate 1\n").ok());
  EXPECT_FALSE(
      Judge(files, files.certificate.substr(0, files.certificate.size() / 2))
          .ok());
}

TEST(CertificateTest, AnotherModelThanTheCertifiedOneIsFound) {
  const Files files = Optimized(kProducts);
  std::ofstream(files.optimized, std::ios::app) << '\0';
  EXPECT_FALSE(Judge(files, files.certificate).ok());
}

}  // namespace
}  // namespace isomer
