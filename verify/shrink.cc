// Greedy descent: a step is kept if a counterexample is left. Every step makes
// a number smaller, so it ends.
#include "verify/shrink.h"

#include <cmath>
#include <random>
#include <utility>

namespace isomer::verify {

namespace {

class Shrinker {
 public:
  Shrinker(const ir::Rule& rule, Sized sized, Witness witness,
           ir::Expansions& expansions)
      : rule_(rule),
        sized_(std::move(sized)),
        witness_(std::move(witness)),
        expansions_(expansions) {}

  Counterexample Run() {
    while (SmallerSizes()) {
    }
    for (size_t t = 0; t < witness_.values.size(); ++t) SimplerTensor(t);
    const Assignment& a = sized_.assignment;
    return {a.case_index,
            a.tensors,
            a.attrs,
            std::move(witness_.values),
            witness_.difference.output,
            std::move(witness_.difference.source),
            std::move(witness_.difference.target)};
  }

 private:
  // ---- Sizes

  // One step to smaller sizes: one symbol as small as it can be, or two that
  // depend on each other one smaller.
  bool SmallerSizes() {
    const size_t n = sized_.values.size();
    for (size_t i = 0; i < n; ++i) {
      const int64_t low = sized_.sizes->is_size(static_cast<int>(i)) ? 1 : 0;
      for (int64_t v = low; v < sized_.values[i]; ++v) {
        std::vector<int64_t> values = sized_.values;
        values[i] = v;
        if (TakeSizes(std::move(values))) return true;
      }
    }
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = i + 1; j < n; ++j) {
        std::vector<int64_t> values = sized_.values;
        if (--values[i] < 0 || --values[j] < 0) continue;
        if (TakeSizes(std::move(values))) return true;
      }
    }
    return false;
  }

  bool TakeSizes(std::vector<int64_t> values) {
    if (size_steps_ <= 0) return false;
    auto a = sized_.sizes->At(values, sized_.real);
    if (!a.ok()) return false;
    --size_steps_;
    for (Draw draw :
         {Draw::kIntegers, Draw::kSparse, Draw::kReals, Draw::kWide}) {
      std::vector<Tensor> drawn = DrawValues(rule_, *a, draw, random_);
      auto difference = FindDifference(rule_, *a, drawn, expansions_);
      if (!difference) continue;
      sized_.values = std::move(values);
      sized_.assignment = *std::move(a);
      witness_ = {std::move(drawn), *std::move(difference)};
      return true;
    }
    return false;
  }

  // ---- Values

  void SimplerTensor(size_t t) {
    if (auto* v = std::get_if<std::vector<double>>(&witness_.values[t].data)) {
      Simplify<double>(t, v->size());
    } else {
      Simplify<int64_t>(t, witness_.values[t].size());
    }
  }

  // All zeros; else each element by itself.
  template <class T>
  void Simplify(size_t t, size_t n) {
    if (TakeValues(t, std::vector<T>(n, T{0}))) return;
    for (size_t i = 0; i < n; ++i) {
      for (T x : {T{0}, T{1}, T{-1}, T{2}}) {
        std::vector<T> values = witness_.values[t].template as<T>();
        if (values[i] == x) break;  // as simple as it gets
        values[i] = x;
        if (TakeValues(t, std::move(values))) break;
      }
    }
  }

  template <class T>
  bool TakeValues(size_t t, std::vector<T> data) {
    if (value_steps_-- <= 0) return false;
    std::vector<Tensor> values = witness_.values;
    values[t].data = std::move(data);
    auto difference =
        FindDifference(rule_, sized_.assignment, values, expansions_);
    if (!difference) return false;
    witness_ = {std::move(values), *std::move(difference)};
    return true;
  }

  const ir::Rule& rule_;
  Sized sized_;
  Witness witness_;
  ir::Expansions& expansions_;
  std::mt19937_64 random_{1};
  int size_steps_ = 100;
  int value_steps_ = 200;
};

}  // namespace

Counterexample Shrink(const ir::Rule& rule, Sized sized, Witness witness,
                      ir::Expansions& expansions) {
  return Shrinker(rule, std::move(sized), std::move(witness), expansions).Run();
}

}  // namespace isomer::verify
