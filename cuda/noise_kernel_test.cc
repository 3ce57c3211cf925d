#include "cuda/noise_kernel.h"

#include "cuda/compiler.h"
#include "gtest/gtest.h"

namespace isomer::cuda {
namespace {

TEST(NoiseKernel, Compiles) {
  const auto compiler = Compiler::Open();
  if (!compiler.ok()) GTEST_SKIP() << "SKIPPED: " << compiler.status();
  const auto code = compiler->Compile(NoiseKernel(132).text, "sm_90a");
  EXPECT_TRUE(code.ok()) << code.status();
}

TEST(NoiseKernel, BuffersThatAreNotThereAreEmpty) {
  EXPECT_EQ(NoiseArguments({{4096, DType::kBF16, 60}, {512, DType::kF64, 24}}),
            (std::vector<DevicePointer>{4096, 30, 2, 1, 512, 3, 8, 0, 0, 0, 0,
                                        0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace isomer::cuda
