// Reading: bytes, then operators, then syntax, then the check that every rule
// of ours passes. What fails after the bytes are in order is a rejection.
#include "graph/foreign_rules.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/foreign_ops.h"
#include "graph/foreign_read.h"
#include "graph/foreign_wire.h"
#include "graph/rule.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

bool HasDegree(const std::vector<WireRule>& rules) {
  for (const WireRule& r : rules) {
    for (const auto* side : {&r.source, &r.target}) {
      for (const WireOp& op : *side) {
        if (op.Find(WireKey::kParallelDegree) != nullptr) return true;
      }
    }
  }
  return false;
}

std::vector<ParallelStep> ParallelSteps(const WireRule& rule) {
  std::vector<ParallelStep> out;
  for (bool target : {false, true}) {
    const auto& ops = target ? rule.target : rule.source;
    for (size_t k = 0; k < ops.size(); ++k) {
      const ForeignOp* info =
          FindForeignOp(ForeignDialect::kUnity, ops[k].type);
      const int* dim = ops[k].Find(WireKey::kParallelDim);
      const int* degree = ops[k].Find(WireKey::kParallelDegree);
      if (info == nullptr || info->kind < ForeignOp::Kind::kPartition ||
          dim == nullptr || degree == nullptr) {
        continue;
      }
      const int kind = static_cast<int>(info->kind) -
                       static_cast<int>(ForeignOp::Kind::kPartition);
      out.push_back({static_cast<ParallelStep::Kind>(kind), target,
                     static_cast<int>(k), *dim, *degree});
    }
  }
  return out;
}

}  // namespace

bool IsForeignRules(absl::string_view bytes) {
  // A list's first rule, and in it a first operator of its source.
  if (bytes.size() < 4 || bytes[0] != '\x0a') return false;
  size_t i = 1;
  while (i < bytes.size() && i < 6 && (bytes[i] & 0x80) != 0) ++i;
  return i + 1 < bytes.size() && bytes[i + 1] == '\x0a';
}

absl::StatusOr<std::vector<ForeignRule>> ReadForeignRules(
    absl::string_view bytes, ForeignDialect dialect, ForeignCheck check) {
  ASSIGN_OR_RETURN(std::vector<WireRule> wire, ParseWire(bytes));
  if (dialect == ForeignDialect::kDetect) {
    dialect = HasDegree(wire) ? ForeignDialect::kUnity : ForeignDialect::kTaso;
  }
  const bool unity = dialect == ForeignDialect::kUnity;
  const ForeignNames names = [&](int id) {
    return ForeignInputName(dialect, id);
  };
  std::vector<ForeignRule> out;
  for (size_t i = 0; i < wire.size(); ++i) {
    ForeignRule& rule = out.emplace_back();
    rule.index = static_cast<int>(i);
    if (unity) rule.parallel = ParallelSteps(wire[i]);
    auto syntax = TranslateRule(wire[i], dialect, names);
    if (!syntax.ok()) {
      rule.rejected = std::string(syntax.status().message());
      continue;
    }
    syntax->name = absl::StrCat(unity ? "unity_" : "taso_", i);
    if (check == ForeignCheck::kCreate) {
      if (auto checked = Rule::Create(*syntax); !checked.ok()) {
        rule.rejected = std::string(checked.status().message());
        continue;
      }
    }
    rule.rule = *std::move(syntax);
  }
  return out;
}

}  // namespace isomer::ir
