// Reading targets, right ones and wrong ones.
#include "cost_model/target.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace isomer::cost {
namespace {

constexpr char kSmall[] = R"(# a small target
target tiny
device  Some device, 2 cores
engine none
launch_us 2.5
dram_gbps 10
units 2
peak f32 0.5
peak f16 1
vector f32 0.1
family matmul fixed_us=1 efficiency=0.5 tiles=64x32:0.5,16x16:0.25 wave_us=0.5
fuse matmul prologue=reshape,slice epilogue=pointwise max_ops=3 outputs=many
concat in_place
least_gain 0.25
)";

TEST(TargetTest, ReadsEveryKey) {
  auto t = Target::Parse(kSmall);
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->name(), "tiny");
  EXPECT_EQ(t->device(), "Some device, 2 cores");
  EXPECT_EQ(t->engine(), "none");
  EXPECT_EQ(t->launch_us(), 2.5);
  EXPECT_EQ(t->units(), 2);
  EXPECT_EQ(t->cache_gbps(), 10);  // as memory, where it says nothing
  EXPECT_EQ(t->peak(DType::kF16), 1);
  EXPECT_EQ(t->peak(DType::kI8), 0.5);  // as f32
  EXPECT_EQ(t->vector_peak(DType::kF16), 0.1);
  EXPECT_TRUE(t->concat_in_place());
  EXPECT_EQ(t->least_gain(), 0.25);
  const FamilyModel& matmul = t->family(Family::kMatmul);
  EXPECT_EQ(matmul.efficiency, 0.5);
  ASSERT_EQ(matmul.tiles.size(), 2u);
  EXPECT_EQ(matmul.tiles[0].n, 32);
  EXPECT_EQ(matmul.tiles[1].efficiency, 0.25);
  const FusionModel& fusion = t->fusion(Family::kMatmul);
  EXPECT_TRUE(fusion.prologue.Has(OpClass::kSlice));
  EXPECT_FALSE(fusion.prologue.Has(OpClass::kTranspose));
  EXPECT_TRUE(fusion.many_outputs);
  EXPECT_EQ(fusion.max_ops, 3);
  EXPECT_TRUE(t->fusion(Family::kConv).epilogue.empty());
}

TEST(TargetTest, ThoseOfIsomerAreRight) {
  EXPECT_EQ(Target::Names(), (std::vector<std::string>{
                                 "a100", "cpu", "cpu-onnxruntime", "h200"}));
  for (const std::string& name : Target::Names()) {
    auto t = Target::Named(name);
    ASSERT_TRUE(t.ok()) << name << ": " << t.status();
    EXPECT_EQ(t->name(), name);
    EXPECT_FALSE(t->device().empty());
    EXPECT_FALSE(t->engine().empty());
  }
}

TEST(TargetTest, AnUnknownNameListsThoseThereAre) {
  EXPECT_EQ(Target::Named("h100").status().message(),
            "there is no target 'h100'; there are a100, cpu, cpu-onnxruntime, "
            "h200");
}

struct Wrong {
  const char* line;
  const char* message;
};

class WrongTargetTest : public testing::TestWithParam<Wrong> {};

TEST_P(WrongTargetTest, NamesTheLine) {
  const auto t = Target::Parse(absl::StrCat(kSmall, GetParam().line, "\n"));
  ASSERT_FALSE(t.ok());
  EXPECT_EQ(t.status().message(),
            absl::StrCat("line 15: ", GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Lines, WrongTargetTest,
    testing::Values(
        Wrong{"speed 3", "there is no key 'speed'"},
        Wrong{"units 3", "'units' is given twice"},
        Wrong{"cache_bytes", "'cache_bytes' takes one value"},
        Wrong{"cache_bytes 0", "'0' is not a whole number of one or more"},
        Wrong{"cache_bytes 1e6", "'1e6' is not a whole number of one or more"},
        Wrong{"cache_gbps 0", "it must be more than zero"},
        Wrong{"cache_gbps -1", "'-1' is not a number of zero or more"},
        Wrong{"cache_gbps nan", "'nan' is not a number of zero or more"},
        Wrong{"peak f16 2", "'peak f16' is given twice"},
        Wrong{"peak f64", "peak takes a type and TFLOP/s"},
        Wrong{"family", "family names a family"},
        Wrong{"family matmul", "'family matmul' is given twice"},
        Wrong{"family conv fixed=1",
              "fixed=1: there is no 'fixed'; there are fixed_us, efficiency, "
              "bandwidth, tiles, wave_us, split_k, split_us"},
        Wrong{"family conv efficiency=2",
              "efficiency=2: a share is at most one"},
        Wrong{"family conv tiles=64",
              "tiles=64: '' is not a whole number of one or more"},
        Wrong{"family conv tiles=64x64",
              "tiles=64x64: '' is not a number of zero or more"},
        Wrong{"fuse conv epilogue=core",
              "epilogue=core: a kernel has one core"},
        Wrong{"fuse conv outputs=two", "outputs=two: it is one or many"},
        Wrong{"fuse conv max_ops=x",
              "max_ops=x: 'x' is not a whole number of one or more"}));

TEST(WrongTargetTest, SaysWhatIsMissing) {
  EXPECT_EQ(Target::Parse("target x\nlaunch_us 1\n").status().message(),
            "the key 'dram_gbps' is missing");
  EXPECT_EQ(Target::Parse("").status().message(),
            "the key 'target' is missing");
}

}  // namespace
}  // namespace isomer::cost
