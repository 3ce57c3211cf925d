#include "cuda/product_variants.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "cuda/bulk_kernel.h"
#include "cuda/depthwise_kernel.h"
#include "cuda/general_kernel.h"
#include "cuda/held_kernel.h"
#include "cuda/product_kernel.h"
#include "cuda/warpgroup_kernel.h"

namespace isomer::cuda {

namespace {

// Of 374 products whose variants were timed, warps alone did none of the large
// ones fastest and few of those in between, but for those of few rows, the copy
// engine none of the small.
constexpr double kLargeFlops = 4e8, kSomeFlops = 1e8, kSmallFlops = 2e7;
constexpr int64_t kManyRows = 1024;
constexpr size_t kFewTilings = 3;

}  // namespace

std::vector<OwnVariant> OwnVariants(
    const std::shared_ptr<const ir::Graph>& graph, const ProductCall& call,
    const Product& p, const ProgramOptions& options) {
  std::vector<Tiling> tilings = Tilings(p, options.units);
  const std::vector<WarpgroupTiling> groups =
      WarpgroupTilings(p, options.units);
  const bool general = tilings.empty();
  if (general && p.convolution && p.batch > 1) return {};
  if (groups.size() > 1 && p.m > kFewRows) {
    if (p.flops() >= kLargeFlops) {
      tilings.clear();
    } else if (tilings.size() > kFewTilings &&
               (p.flops() >= kSomeFlops || p.m >= kManyRows)) {
      tilings.resize(kFewTilings);
    }
  }
  std::vector<OwnVariant> out;
  // make(call, product, tiling)
  auto add = [&](const auto& t, auto make) {
    out.push_back({{t.ToString(),
                    [graph, call, p, t, make] { return make(call, p, t); }}});
  };
  for (const Tiling& t : tilings) add(t, TiledProduct);
  for (const HeldTiling& t : HeldTilings(call, p, options.units)) {
    add(t, HeldProduct);
    out.back().panels = t.panels;
  }
  for (const WarpgroupTiling& t : groups) add(t, WarpgroupProduct);
  if (p.flops() >= kSmallFlops) {
    for (const BulkTiling& t :
         BulkTilings(p, options.units, options.cached_bytes)) {
      add(t, BulkProduct);
    }
  }
  for (int width : DepthwiseWidths(p, options.units)) {
    out.push_back({{width > 1 ? absl::StrCat("depthwise ", width) : "depthwise",
                    [graph, call, p, width] {
                      return DepthwiseKernel(call, p, width);
                    }}});
  }
  if (general && !p.depthwise) {
    for (const GeneralTiling& t : GeneralTilings(p, options.units)) {
      add(t, GeneralProduct);
    }
  }
  return out;
}

}  // namespace isomer::cuda
