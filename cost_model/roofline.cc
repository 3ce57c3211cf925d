// Products are cut into tiles, tiles run in waves of as many as the device has
// units, and every wave takes as long as a full one.
#include "cost_model/roofline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/algorithm/container.h"

namespace isomer::cost {

namespace {

// A batch of products of an m x k and a k x n matrix.
struct Product {
  double batch = 1, m = 1, n = 1, k = 1;
  double flops() const { return 2 * batch * m * n * k; }
};

double Elements(absl::Span<const int64_t> shape) {
  return static_cast<double>(NumElements(shape));
}

Product OfMatmul(const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
  Product p;
  const size_t rank = x.size();
  p.k = static_cast<double>(x[rank - 1]);
  p.n = static_cast<double>(y.back());
  const absl::Span<const int64_t> leading(x.data(), rank - 2);
  const double rows = static_cast<double>(x[rank - 2]);
  p.batch = y.size() > 2 ? Elements(leading) : 1;
  p.m = y.size() > 2 ? rows : rows * Elements(leading);
  return p;
}

// Groups are packed into tiles side by side, the sum running over all of the
// inputs of the groups in a tile; a channel count is rounded up to what loads
// are aligned to.
Product OfConv(const KernelShape& kernel, const Target& target) {
  constexpr double kAligned = 8, kPacked = 64;
  const std::vector<int64_t>&x = kernel.core_inputs[0]->shape,
        &w = kernel.core_inputs[1]->shape;
  const std::vector<int64_t>& y = (*kernel.core->node->types)[0]->shape;
  const double group =
      static_cast<double>(kernel.core->node->attrs->Int("group"));
  const double in = static_cast<double>(x[1]) / group;
  const double out = static_cast<double>(y[1]) / group;
  const double taps = Elements(absl::MakeSpan(w).subspan(2));
  const double together =
      target.family(Family::kConv).tiles.empty()
          ? 1
          : std::min(group, std::max(1.0, std::floor(kPacked / out)));
  Product p;
  p.m = Elements(y) / static_cast<double>(y[1]);
  p.n = out * together;
  p.batch = group / together;
  p.k = std::ceil(in * together / kAligned) * kAligned * taps;
  return p;
}

double TiledUs(const Target& target, const FamilyModel& family,
               const Product& p, double tflops) {
  const double per_unit = tflops * 1e6 / static_cast<double>(target.units());
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : family.tiles) {
    const double tiles =
        p.batch * std::ceil(p.m / tile.m) * std::ceil(p.n / tile.n);
    for (int64_t split = 1; split <= family.split_k; split *= 2) {
      const double waves = std::ceil(tiles * split / target.units());
      const double tile_us = 2.0 * tile.m * tile.n * std::ceil(p.k / split) /
                             (per_unit * tile.efficiency);
      const double us = waves * (tile_us + family.wave_us) +
                        (split > 1 ? family.split_us : 0);
      best = std::min(best, us);
    }
  }
  return best;
}

bool KnownTypes(const KernelShape& kernel) {
  return kernel.core != nullptr &&
         absl::c_none_of(kernel.core_inputs,
                         [](const TensorType* t) { return t == nullptr; });
}

// A convolution whose window is one element is a product.
Family ModelOf(const KernelShape& kernel) {
  if (kernel.family != Family::kConv || !KnownTypes(kernel)) {
    return kernel.family;
  }
  const std::vector<int64_t>& w = kernel.core_inputs[1]->shape;
  return kernel.core->node->attrs->Int("group") == 1 &&
                 NumElements(absl::MakeSpan(w).subspan(2)) == 1
             ? Family::kMatmul
             : Family::kConv;
}

bool IsDepthwise(const KernelShape& kernel) {
  return kernel.family == Family::kConv &&
         kernel.core_inputs[0]->shape[1] ==
             kernel.core->node->attrs->Int("group");
}

double ProductUs(const Target& target, const KernelShape& kernel) {
  const FamilyModel& family = target.family(ModelOf(kernel));
  const DType type = kernel.core_inputs[0]->dtype;
  if (IsDepthwise(kernel)) {
    return kernel.core->flops / (target.vector_peak(type) * 1e6);
  }
  const Product p =
      kernel.family == Family::kMatmul
          ? OfMatmul(kernel.core_inputs[0]->shape, kernel.core_inputs[1]->shape)
          : OfConv(kernel, target);
  const double peak = target.peak(type) * family.efficiency;
  if (family.tiles.empty()) return p.flops() / (peak * 1e6);
  return TiledUs(target, family, p, peak);
}

double MoveUs(const Target& target, const KernelShape& kernel) {
  double us = 0;
  for (const KernelShape::Move& m : kernel.moves) {
    // What was just written and is small is still in the cache.
    const bool cached = !m.constant && 2 * m.bytes <= target.cache_bytes();
    us += static_cast<double>(m.bytes) /
          ((cached ? target.cache_gbps() : target.dram_gbps()) * 1e3);
  }
  return us;
}

double ComputeUs(const Target& target, const KernelShape& kernel) {
  const DType type = !kernel.core_inputs.empty() && kernel.core_inputs[0]
                         ? kernel.core_inputs[0]->dtype
                         : DType::kF32;
  double us = kernel.flops / (target.vector_peak(type) * 1e6);
  if (!KnownTypes(kernel)) return us;
  switch (kernel.family) {
    case Family::kMatmul:
    case Family::kConv:
      return us + ProductUs(target, kernel);
    case Family::kAttention:
      return us +
             kernel.core->flops / (target.peak(type) * 1e6 *
                                   target.family(kernel.family).efficiency);
    default:
      return us + kernel.core->flops / (target.vector_peak(type) * 1e6);
  }
}

}  // namespace

int64_t RooflinePs(const Target& target, const KernelShape& kernel) {
  if (!kernel.launches) return 0;
  const FamilyModel& family = target.family(ModelOf(kernel));
  const double work = std::max(ComputeUs(target, kernel),
                               MoveUs(target, kernel) / family.bandwidth);
  // What waits for itself is as many kernels in a row.
  const double kernels = 1 + (kernel.core == nullptr ? 0 : kernel.core->waits);
  const double us = kernels * (target.launch_us() + family.fixed_us) + work;
  return std::llround(us * 1e6);
}

}  // namespace isomer::cost
