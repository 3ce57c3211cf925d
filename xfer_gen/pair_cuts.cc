#include "xfer_gen/pair_cuts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/hashing.h"

namespace isomer::gen {

SideOutputs PairCutter::Cuts(absl::Span<const TensorId> a,
                             absl::Span<const TensorId> b, PairCode& code) {
  const Side x{a, dag_.Cone(a)}, y{b, dag_.Cone(b)};
  const SideOutputs cuts = Shared(x, y);
  if (cuts.empty()) return {};
  PairCode cut = coder_.Code(a, b, cuts);
  // The same has often been asked before.
  const auto [it, fresh] = holds_.try_emplace(coder_.NamelessKey(), false);
  if (fresh) it->second = Holds(x, y, coder_.variables());
  if (!it->second) return {};
  code = std::move(cut);
  return cuts;
}

SideOutputs PairCutter::Shared(const Side& a, const Side& b) {
  SideOutputs cuts;
  auto shared = [&](uint32_t s) {
    return Contains(a.cone, s) && Contains(b.cone, s);
  };
  for (const Dag::Steps* cone : {&a.cone, &b.cone}) {
    for (uint32_t s : *cone) {
      if (shared(s)) continue;
      for (TensorId t : dag_.step(s).span()) {
        if (dag_.IsLeaf(t) || !shared(dag_.step_of(t))) continue;
        if (std::find(cuts.begin(), cuts.end(), t) == cuts.end()) {
          cuts.push_back(t);
        }
      }
    }
  }
  // An output of one side may be what the other side is made of; a rule that
  // has a bare variable on both sides has no source.
  bool bare[2] = {false, false};
  for (const Side* side : {&a, &b}) {
    for (TensorId t : side->outputs) {
      if (dag_.IsLeaf(t) || !shared(dag_.step_of(t))) continue;
      bare[side == &b] = true;
      if (std::find(cuts.begin(), cuts.end(), t) == cuts.end()) {
        cuts.push_back(t);
      }
    }
  }
  if (bare[0] && bare[1]) return {};
  if (cuts.empty()) return {};
  std::sort(cuts.begin(), cuts.end());
  for (TensorId t : cuts) {
    // A rule's variables lie on no devices.
    if (!values_.world().type(values_.Kind(t)).device.empty()) return {};
  }
  return cuts;
}

bool PairCutter::HasExtremes(const Side& side) {
  return std::any_of(side.cone.begin(), side.cone.end(), [&](uint32_t step) {
    return values_.InstanceOf(step)->program.has_extremes();
  });
}

bool PairCutter::Holds(const Side& a, const Side& b,
                       absl::Span<const TensorId> variables) {
  const int draws = HasExtremes(a) || HasExtremes(b) ? 3 : 1;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<std::vector<Field>> values(variables.size());
    DagValues::Replaced replaced;
    for (size_t i = 0; i < variables.size(); ++i) {
      const uint64_t h = ir::HashCombine(ir::HashCombine(seed_, draw + 17), i);
      const int64_t n =
          NumElements(values_.world().type(values_.Kind(variables[i])));
      for (int64_t e = 0; e < n; ++e) {
        values[i].push_back(Field::FromWide(ir::HashCombine(h, e)));
      }
      replaced.emplace_back(variables[i], values[i].data());
    }
    for (size_t k = 0; k < a.outputs.size(); ++k) {
      if (values_.ValuesWith(a.outputs[k], replaced) !=
          values_.ValuesWith(b.outputs[k], replaced)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace isomer::gen
