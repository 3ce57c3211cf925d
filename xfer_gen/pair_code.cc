// Sides are written from the outputs down. A step is the hash of its text, so
// that templates that say the same are the same; a tensor met before is where
// it was met.
#include "xfer_gen/pair_code.h"

#include <algorithm>
#include <array>
#include <utility>

#include "graph/hashing.h"

namespace isomer::gen {

namespace {

constexpr uint64_t kVariable = 0, kAgain = 1, kEnd = 2;

}  // namespace

uint64_t KeyOf(const PairCode& code) {
  return ir::HashCombine(code.skeleton, ir::HashText(code.places));
}

bool IsInstance(const PairCode& special, const PairCode& general) {
  if (special.places.size() != general.places.size()) return false;
  std::array<int16_t, 256> image;
  image.fill(-1);
  for (size_t i = 0; i < special.places.size(); ++i) {
    int16_t& to = image[static_cast<uint8_t>(general.places[i])];
    const auto name = static_cast<uint8_t>(special.places[i]);
    if (to >= 0 && to != name) return false;
    to = name;
  }
  return true;
}

const PairCoder::Text& PairCoder::TextFor(TensorId t) {
  const uint32_t s = dag_.step_of(t);
  const DagStep& step = dag_.step(s);
  const Instance* instance = values_.InstanceOf(s);
  const uint32_t output = t - step.first;
  auto [it, fresh] = texts_.try_emplace({instance, output});
  if (fresh) {
    const StepText text = TextOf(values_.world().preset().templates[step.tmpl],
                                 *instance, static_cast<int>(output));
    it->second = {ir::HashText(text.text), text.operands};
  }
  return it->second;
}

void PairCoder::WriteTensor(TensorId t, absl::Span<const TensorId> cuts,
                            Side& side) {
  if (dag_.IsLeaf(t) || std::find(cuts.begin(), cuts.end(), t) != cuts.end()) {
    side.tokens.push_back(kVariable);
    side.variables.push_back(t);
    return;
  }
  const auto met = std::find(side.met.begin(), side.met.end(), t);
  if (met != side.met.end()) {
    side.tokens.push_back(kAgain);
    side.tokens.push_back(static_cast<uint64_t>(met - side.met.begin()));
    return;
  }
  side.met.push_back(t);
  const uint32_t s = dag_.step_of(t);
  if (std::find(side.steps.begin(), side.steps.end(), s) == side.steps.end()) {
    side.steps.push_back(s);
  }
  const Text& text = TextFor(t);
  side.tokens.push_back(text.hash);
  const uint32_t operands = text.operands;
  const DagStep& step = dag_.step(s);
  side.templates = ir::HashCombine(side.templates, step.tmpl);
  for (int k = 0; k < step.arity; ++k) {
    if (operands >> k & 1) WriteTensor(step.operands[k], cuts, side);
  }
}

void PairCoder::Write(absl::Span<const TensorId> outputs,
                      absl::Span<const TensorId> cuts, Side& side) {
  side.tokens.clear();
  side.templates = 0;
  side.variables.clear();
  side.met.clear();
  side.steps.clear();
  for (TensorId t : outputs) WriteTensor(t, cuts, side);
  side.tokens.push_back(kEnd);
}

PairCode PairCoder::Code(absl::Span<const TensorId> a,
                         absl::Span<const TensorId> b,
                         absl::Span<const TensorId> cuts) {
  Write(a, cuts, sides_[0]);
  Write(b, cuts, sides_[1]);
  const Side *first = &sides_[0], *second = &sides_[1];
  if (std::make_pair(second->steps.size(), std::cref(second->tokens)) >
      std::make_pair(first->steps.size(), std::cref(first->tokens))) {
    std::swap(first, second);
  }
  PairCode code;
  code.larger = static_cast<int>(first->steps.size());
  code.smaller = static_cast<int>(second->steps.size());
  variables_.clear();
  for (const Side* side : {first, second}) {
    for (uint64_t token : side->tokens) {
      code.skeleton = ir::HashCombine(code.skeleton, token);
    }
    for (TensorId t : side->variables) {
      const auto at = std::find(variables_.begin(), variables_.end(), t) -
                      variables_.begin();
      if (at == static_cast<int64_t>(variables_.size())) {
        variables_.push_back(t);
      }
      code.places.push_back(static_cast<char>(at));
    }
  }
  code.variables = static_cast<int>(variables_.size());
  last_ = ir::HashCombine(KeyOf(code),
                          ir::HashCombine(first->templates, second->templates));
  return code;
}

uint64_t PairCoder::NamelessKey() {
  uint64_t key = last_;
  for (TensorId t : variables_) {
    key = ir::HashCombine(key, static_cast<uint64_t>(values_.Kind(t)));
  }
  return key;
}

}  // namespace isomer::gen
