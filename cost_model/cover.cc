// A greedy cover first; then, on small regions, branch and bound over which
// nodes end kernels.
#include "cost_model/cover.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/container/node_hash_map.h"
#include "absl/types/span.h"
#include "cost_model/roofline.h"

namespace isomer::cost {

namespace {

// Which nodes of a region are descendants of which.
class Reach {
 public:
  explicit Reach(const RegionProblem& region)
      : n_(region.nodes.size()), bits_(n_ * n_) {
    for (size_t i = 0; i < n_; ++i) {
      for (const RegionInput& in : region.nodes[i].inputs) {
        if (in.leaf) continue;
        bits_[in.index * n_ + i] = true;
        for (size_t a = 0; a < n_; ++a) {
          if (bits_[a * n_ + in.index]) bits_[a * n_ + i] = true;
        }
      }
    }
  }
  bool operator()(int from, int to) const { return bits_[from * n_ + to]; }

 private:
  size_t n_;
  std::vector<bool> bits_;
};

// The kernel, of those that read node `i`, that computes it: all others come
// after it. -1 if there is none.
int HostOf(const RegionNode& node, absl::Span<const int> readers,
           const Reach& reach) {
  for (int h : readers) {
    const bool first =
        absl::c_all_of(readers, [&](int r) { return r == h || reach(h, r); });
    if (!first) continue;
    if (node.outside && !absl::c_linear_search(node.hosts, h)) return -1;
    return h;
  }
  return -1;
}

std::optional<std::vector<Fused>> Kernels(const RegionProblem& region,
                                          const Reach& reach,
                                          const std::vector<char>& results) {
  const int n = static_cast<int>(region.nodes.size());
  using Indices = absl::InlinedVector<int, 4>;
  std::vector<Indices> in(n);  // the kernels that compute a node
  std::vector<Fused> at(n);
  for (int i = n - 1; i >= 0; --i) {
    const RegionNode& node = region.nodes[i];
    if (results[i]) {
      in[i] = {i};
      at[i] = {{i}, {i}};
      continue;
    }
    Indices readers;
    for (int u : node.users) {
      readers.insert(readers.end(), in[u].begin(), in[u].end());
    }
    absl::c_sort(readers);
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    if (readers.empty()) return std::nullopt;
    if (node.recomputed) {
      in[i] = std::move(readers);
    } else {
      const int host = HostOf(node, readers, reach);
      if (host < 0) return std::nullopt;
      in[i] = {host};
      if (node.outside || readers.size() > 1) at[host].stored.push_back(i);
    }
    for (int k : in[i]) at[k].members.push_back(i);
  }
  std::vector<Fused> kernels;
  for (Fused& f : at) {
    if (f.members.empty()) continue;
    std::reverse(f.members.begin(), f.members.end());
    std::reverse(f.stored.begin(), f.stored.end());
    kernels.push_back(std::move(f));
  }
  return kernels;
}

struct Total {
  int64_t time_ps = 0;
  int64_t launches = 0;
  friend auto operator<=>(const Total&, const Total&) = default;
};

class Search {
 public:
  Search(const Target& target, const Profile& profile,
         const RegionProblem& region)
      : target_(target),
        profile_(profile),
        region_(region),
        reach_(region),
        n_(static_cast<int>(region.nodes.size())) {
    for (const RegionNode& node : region.nodes) least_.push_back(Least(node));
    cores_ps_ = LeastOfCores();
  }

  Cover Run() {
    best_.assign(n_, true);
    best_total_ = *Evaluate(best_);
    const int64_t open = absl::c_count_if(
        region_.nodes, [](const RegionNode& n) { return !n.users.empty(); });
    if (open > 0) Improve();
    if (open <= kExactNodes && open > 0) {
      std::vector<char> results(n_, true);
      Branch(n_ - 1, cores_ps_, results);
    }
    return Describe();
  }

 private:
  struct Entry {
    bool legal = false;
    CoverKernel kernel;
  };

  // Flips nodes one by one as long as that helps, the last ones first: all in
  // kernels of their own to begin with.
  void Improve() {
    constexpr int kSweeps = 4, kSmall = 24;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      bool changed = false;
      for (int i = n_ - 1; i >= 0; --i) {
        if (region_.nodes[i].users.empty()) continue;
        // What was taken in is rarely better outside.
        if (sweep > 0 && n_ > kSmall && !best_[i]) continue;
        std::vector<char> flipped = best_;
        flipped[i] = !flipped[i];
        const std::optional<Total> total = Evaluate(flipped);
        // In the first sweep what costs nothing is taken in too: it may make
        // room for more.
        if (!total || *total > best_total_ ||
            (sweep > 0 && *total == best_total_)) {
          continue;
        }
        best_ = std::move(flipped);
        best_total_ = *total;
        changed = true;
      }
      if (!changed) break;
    }
  }

  // Tries both ways for node `i` and all before it. `bound` is what the kernels
  // that end after it take at least.
  void Branch(int i, int64_t bound, std::vector<char>& results) {
    if (bound >= best_total_.time_ps) return;
    if (i < 0) {
      const std::optional<Total> total = Evaluate(results);
      if (total && *total < best_total_) {
        best_ = results;
        best_total_ = *total;
      }
      return;
    }
    if (!region_.nodes[i].users.empty()) {
      results[i] = false;
      Branch(i - 1, bound, results);
    }
    results[i] = true;
    Branch(i - 1, bound + least_[i], results);
  }

  // What a kernel that ends in the node takes at least.
  int64_t Least(const RegionNode& node) const {
    const OpClass c = node.plan.op_class;
    if (c != OpClass::kPointwise && c != OpClass::kCast &&
        c != OpClass::kCore) {
      return 0;  // may be a view, or in place
    }
    if (node.bytes == 0) return 0;
    const double us =
        target_.launch_us() +
        static_cast<double>(node.bytes) /
            (std::max(target_.cache_gbps(), target_.dram_gbps()) * 1e3);
    return static_cast<int64_t>(us * 1e6);
  }

  // What kernels take beyond the least of their results because there are cores
  // to be computed: each core is in one kernel, which may do so while it stores
  // its result.
  int64_t LeastOfCores() const {
    int64_t sum = 0;
    const int64_t longest = std::max(*absl::c_max_element(least_), LaunchPs());
    for (int i = 0; i < n_; ++i) {
      const RegionNode& node = region_.nodes[i];
      if (node.bytes == 0) return 0;
      if (node.plan.op_class != OpClass::kCore) continue;
      std::optional<KernelShape> alone = ShapeOf(target_, region_, {{i}, {i}});
      alone->moves.clear();
      sum += std::max<int64_t>(RooflinePs(target_, *alone) - longest, 0);
    }
    return sum;
  }

  int64_t LaunchPs() const {
    return static_cast<int64_t>(target_.launch_us() * 1e6);
  }

  const Entry& CostOf(const Fused& fused) {
    auto [it, added] = costs_.try_emplace(fused);
    if (added) it->second = Examine(fused);
    return it->second;
  }

  Entry Examine(const Fused& fused) const {
    Entry e;
    const std::optional<KernelShape> shape = ShapeOf(target_, region_, fused);
    if (!shape) return e;
    e.legal = true;
    e.kernel.family = shape->family;
    e.kernel.launches = shape->launches;
    if (shape->core != nullptr) e.kernel.core_flops = shape->core->flops;
    if (shape->launches) e.kernel.estimate_ps = RooflinePs(target_, *shape);
    return e;
  }

  std::optional<Total> Evaluate(const std::vector<char>& results) {
    const std::optional<std::vector<Fused>> kernels =
        Kernels(region_, reach_, results);
    if (!kernels) return std::nullopt;
    Total total;
    for (const Fused& f : *kernels) {
      const Entry& e = CostOf(f);
      if (!e.legal) return std::nullopt;
      total.time_ps += e.kernel.estimate_ps;
      total.launches += e.kernel.launches;
    }
    return total;
  }

  Cover Describe() {
    Cover cover;
    const std::optional<std::vector<Fused>> kernels =
        Kernels(region_, reach_, best_);
    for (const Fused& f : *kernels) {
      CoverKernel k = CostOf(f).kernel;
      k.fused = f;
      k.reads = ReadsOf(region_, f);
      if (k.launches) Time(k);
      cover.time_ps += k.time_ps;
      cover.measured_ps += k.measured ? k.time_ps : 0;
      cover.launches += k.launches;
      cover.kernels.push_back(std::move(k));
    }
    return cover;
  }

  // Names a kernel, and says how long it takes.
  void Time(CoverKernel& k) const {
    k.signature = SignatureOf(region_, k.family, k.fused);
    if (const Measurement* m = profile_.Find(k.signature)) {
      k.time_ps = m->time_ps;
      k.measured = true;
    } else {
      k.time_ps = std::llround(static_cast<double>(k.estimate_ps) *
                               target_.ScaleOf(k.family, k.core_flops));
    }
  }

  const Target& target_;
  const Profile& profile_;
  const RegionProblem& region_;
  const Reach reach_;
  const int n_;
  std::vector<int64_t> least_;
  int64_t cores_ps_ = 0;
  absl::node_hash_map<Fused, Entry> costs_;
  std::vector<char> best_;
  Total best_total_;
};

}  // namespace

Cover FindCover(const Target& target, const Profile& profile,
                const RegionProblem& region) {
  return Search(target, profile, region).Run();
}

std::optional<std::vector<Fused>> KernelsOf(const RegionProblem& region,
                                            const std::vector<char>& results) {
  return Kernels(region, Reach(region), results);
}

}  // namespace isomer::cost
