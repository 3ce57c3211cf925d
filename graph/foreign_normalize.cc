// Depth first from the outputs; an operator is known by its text.
#include "graph/foreign_normalize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

class SideNormalizer {
 public:
  SideNormalizer(const std::vector<WireOp>& ops, ForeignDialect dialect)
      : ops_(ops), dialect_(dialect), done_(ops.size()) {}

  absl::StatusOr<WireTensor> Tensor(WireTensor t) {
    if (t.op < 0) return t;
    if (!done_[t.op]) {
      ASSIGN_OR_RETURN(done_[t.op], Op(ops_[t.op]));
    }
    return WireTensor{*done_[t.op], t.output};
  }
  std::vector<WireOp> TakeOps() { return std::move(out_); }

 private:
  absl::StatusOr<int> Op(WireOp op) {
    for (WireTensor& t : op.inputs) {
      ASSIGN_OR_RETURN(t, Tensor(t));
    }
    std::string activation;
    if (const ForeignOp* info = FindForeignOp(dialect_, op.type)) {
      ASSIGN_OR_RETURN(activation, ForeignActivation(op, *info));
    }
    // The layout of a transposed matrix is no matter of its value.
    std::erase_if(op.parameters, [](const WireParameter& p) {
      return p.key == WireKey::kActivation || p.key == WireKey::kOutShuffle;
    });
    std::sort(op.parameters.begin(), op.parameters.end(),
              [](const WireParameter& a, const WireParameter& b) {
                return a.key < b.key;
              });
    const int plain = Add(std::move(op));
    if (activation.empty()) return plain;
    return Add(
        {.type = FindForeignOp(activation)->number, .inputs = {{plain, 0}}});
  }

  int Add(WireOp op) {
    std::string text = absl::StrCat(op.type);
    for (const WireTensor& t : op.inputs) {
      absl::StrAppend(&text, " ", t.op, ".", t.output);
    }
    for (const WireParameter& p : op.parameters) {
      absl::StrAppend(&text, " ", p.key, "=", p.value);
    }
    const int next = static_cast<int>(out_.size());
    const auto [it, added] = places_.emplace(std::move(text), next);
    if (added) out_.push_back(std::move(op));
    return it->second;
  }

  const std::vector<WireOp>& ops_;
  const ForeignDialect dialect_;
  std::vector<std::optional<int>> done_;
  std::vector<WireOp> out_;
  std::map<std::string, int> places_;
};

}  // namespace

absl::StatusOr<WireRule> NormalizeWire(const WireRule& rule,
                                       ForeignDialect dialect) {
  SideNormalizer source(rule.source, dialect), target(rule.target, dialect);
  WireRule out;
  for (const WireOutput& o : rule.outputs) {
    WireOutput& to = out.outputs.emplace_back();
    ASSIGN_OR_RETURN(to.source, source.Tensor(o.source));
    ASSIGN_OR_RETURN(to.target, target.Tensor(o.target));
  }
  out.source = source.TakeOps();
  out.target = target.TakeOps();
  return out;
}

}  // namespace isomer::ir
