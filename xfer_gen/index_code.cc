#include "xfer_gen/index_code.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ops/dim.h"

namespace isomer::gen {

namespace {

int64_t Value(const IndexCode::Factor& f,
              const std::vector<int64_t>& variables) {
  if (f.call == IndexCode::Call::kVariable) return variables[f.variable];
  int64_t v = Value(f.args[0], variables);
  for (size_t i = 1; i < f.args.size(); ++i) {
    const int64_t w = Value(f.args[i], variables);
    if (f.call == IndexCode::Call::kFloorDiv) v = FloorDiv(v, w);
    if (f.call == IndexCode::Call::kMax) v = std::max(v, w);
    if (f.call == IndexCode::Call::kMin) v = std::min(v, w);
  }
  return v;
}

// True if an expression names none but the first `count` variables.
bool IsOuter(const IndexCode& e, int count);

bool IsOuter(const IndexCode::Product& p, int count) {
  return std::all_of(
      p.factors.begin(), p.factors.end(), [&](const IndexCode::Factor& f) {
        if (f.call == IndexCode::Call::kVariable) return f.variable < count;
        return std::all_of(
            f.args.begin(), f.args.end(),
            [&](const IndexCode& a) { return IsOuter(a, count); });
      });
}

bool IsOuter(const IndexCode& e, int count) {
  return std::all_of(e.multiples.begin(), e.multiples.end(),
                     [&](const auto& m) { return m.variable < count; }) &&
         std::all_of(e.products.begin(), e.products.end(),
                     [&](const auto& p) { return IsOuter(p, count); });
}

}  // namespace

int64_t Value(const IndexCode::Product& p,
              const std::vector<int64_t>& variables) {
  int64_t v = p.coefficient;
  for (const IndexCode::Factor& f : p.factors) v *= Value(f, variables);
  return v;
}

void AddTo(IndexCode& to, int64_t times, const IndexCode& from) {
  to.constant += times * from.constant;
  for (const IndexCode::Multiple& m : from.multiples) {
    auto it = std::find_if(
        to.multiples.begin(), to.multiples.end(),
        [&](const IndexCode::Multiple& o) { return o.variable == m.variable; });
    if (it == to.multiples.end()) {
      to.multiples.push_back({times * m.coefficient, m.variable});
    } else {
      it->coefficient += times * m.coefficient;
    }
  }
  for (IndexCode::Product p : from.products) {
    p.coefficient *= times;
    to.products.push_back(std::move(p));
  }
}

void SplitHoists(IndexCode& e, int count) {
  e.hoisted = e.constant;
  const auto first_inner = std::stable_partition(
      e.multiples.begin(), e.multiples.end(),
      [&](const IndexCode::Multiple& m) { return m.variable < count; });
  e.hoists.assign(e.multiples.begin(), first_inner);
  e.multiples.erase(e.multiples.begin(), first_inner);
  const auto inner = std::stable_partition(
      e.products.begin(), e.products.end(),
      [&](const IndexCode::Product& p) { return IsOuter(p, count); });
  std::move(e.products.begin(), inner, std::back_inserter(e.hoisted_products));
  e.products.erase(e.products.begin(), inner);
  for (auto* products : {&e.products, &e.hoisted_products}) {
    for (IndexCode::Product& p : *products) {
      for (IndexCode::Factor& f : p.factors) {
        for (IndexCode& arg : f.args) SplitHoists(arg, count);
      }
    }
  }
}

void Hoist(IndexCode& e, const std::vector<int64_t>& variables) {
  for (auto* products : {&e.products, &e.hoisted_products}) {
    for (IndexCode::Product& p : *products) {
      for (IndexCode::Factor& f : p.factors) {
        for (IndexCode& arg : f.args) Hoist(arg, variables);
      }
    }
  }
  e.hoisted = e.constant;
  for (const IndexCode::Multiple& m : e.hoists) {
    e.hoisted += m.coefficient * variables[m.variable];
  }
  for (const IndexCode::Product& p : e.hoisted_products) {
    e.hoisted += Value(p, variables);
  }
}

}  // namespace isomer::gen
