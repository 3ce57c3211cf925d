// Sizes are drawn blindly, since equations between them were solved when the
// rule was checked; what does not fit is mended step by step, a symbol of a
// condition that does not hold at a time.
#include "verify/size_sampler.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "graph/at_sizes.h"

namespace isomer::verify {

namespace {

constexpr int kTries = 12;  // per draw
constexpr int kBlind = 6;   // of them are not mended
constexpr int kMendSteps = 60;
constexpr int kDeadAfter = 3;  // draws in vain, per case
constexpr double kReals[] = {1, -0.5, 2, 0, 0.25};
constexpr int64_t kAttributes[] = {1, 0, 2, 1, 3, 0, 1, 4};

// A size, or an attribute; `place` is that of its symbol.
int64_t DrawNumber(int style, bool size, int place, std::mt19937_64& random) {
  const int64_t r = static_cast<int64_t>(random() >> 8);
  if (!size) return kAttributes[r % std::size(kAttributes)];
  switch (style % 4) {
    case 0:
      return 1 + r % 3;
    case 1:  // all different, so that nothing fits by accident
      return 2 + (place + r % 2) % 5;
    case 2:
      return r % 2 == 0 ? 1 : 2 + (r / 2) % 3;
    default:
      return 1 + r % 6;
  }
}

// Values that are changed one by one until all conditions of a case hold.
class Mending {
 public:
  Mending(const CaseSizes& sizes, const std::vector<int64_t>& values)
      : sizes_(sizes) {
    for (size_t k = 0; k < values.size(); ++k) {
      values_[sizes.symbols()[k]] = values[k];
    }
  }

  // True if it succeeded.
  bool Run(std::mt19937_64& random) {
    for (int step = 0; step < kMendSteps; ++step) {
      const std::vector<const Obligation*> broken = Broken();
      if (broken.empty()) return true;
      const Obligation& o = *broken[random() % broken.size()];
      const std::set<std::string> symbols = o.expr.Symbols();
      if (symbols.empty()) return false;
      const std::string& symbol = *std::next(
          symbols.begin(), static_cast<int64_t>(random() % symbols.size()));
      Improve(symbol, random);
    }
    return false;
  }

  std::vector<int64_t> values() const {
    std::vector<int64_t> out;
    for (const std::string& s : sizes_.symbols()) out.push_back(values_.at(s));
    return out;
  }

 private:
  std::vector<const Obligation*> Broken() const {
    std::vector<const Obligation*> out;
    for (const Obligation& o : sizes_.constraints()) {
      if (!ir::HoldsAtSizes(o, values_)) out.push_back(&o);
    }
    return out;
  }

  // Gives the symbol the value that breaks least; of equal ones a random one,
  // so that the walk does not stand still.
  void Improve(const std::string& symbol, std::mt19937_64& random) {
    constexpr int64_t kMost = 7;
    const auto place =
        std::find(sizes_.symbols().begin(), sizes_.symbols().end(), symbol);
    const bool size =
        sizes_.is_size(static_cast<int>(place - sizes_.symbols().begin()));
    size_t fewest = SIZE_MAX;
    std::vector<int64_t> best;
    const int64_t before = values_[symbol];
    for (int64_t v = size ? 1 : 0; v <= kMost; ++v) {
      if (v == before) continue;
      values_[symbol] = v;
      const size_t broken = Broken().size();
      if (broken < fewest) best.clear();
      if (broken <= fewest) best.push_back(v);
      fewest = std::min(fewest, broken);
    }
    values_[symbol] = best[random() % best.size()];
  }

  const CaseSizes& sizes_;
  std::map<std::string, int64_t> values_;
};

}  // namespace

std::optional<Sized> SizeSampler::Draw(int i, int count,
                                       std::mt19937_64& random) {
  const int cases = static_cast<int>(rule_.cases().size());
  const int visited = std::min(cases, count);
  const int64_t place = i % visited;
  return DrawIn(static_cast<int>(place * cases / visited), i + i / visited,
                random);
}

std::optional<Sized> SizeSampler::DrawIn(int case_index, int style,
                                         std::mt19937_64& random) {
  OneCase& one = cases_[case_index];
  if (one.failures >= kDeadAfter) return std::nullopt;
  if (!one.sizes) one.sizes = std::make_unique<CaseSizes>(rule_, case_index);
  const CaseSizes& sizes = *one.sizes;
  std::optional<double> real;
  if (sizes.has_reals() && style % 2 == 1) {
    real = kReals[style / 2 % std::size(kReals)];
  }
  for (int n = 0; n < kTries; ++n) {
    // Small sizes satisfy more conditions.
    const int s = n < kBlind ? style : 0;
    std::vector<int64_t> values;
    for (int k = 0; k < static_cast<int>(sizes.symbols().size()); ++k) {
      values.push_back(DrawNumber(s, sizes.is_size(k), k, random));
    }
    if (n >= kBlind) {
      Mending mending(sizes, values);
      if (!mending.Run(random)) continue;
      values = mending.values();
    }
    auto a = sizes.At(values, real);
    if (!a.ok() || WorkOf(rule_, *a) > work_) continue;
    return Sized{&sizes, std::move(values), real, *std::move(a)};
  }
  ++one.failures;
  return std::nullopt;
}

}  // namespace isomer::verify
