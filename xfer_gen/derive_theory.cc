// Rules become equations; what a source needs is noted, so that most rules are
// passed over without a look at the graph.
#include "xfer_gen/derive_theory.h"

#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ops/status.h"

namespace isomer::gen {

namespace {

Traits TraitsOf(const ir::RuleSide& side) {
  Traits out;
  for (const ir::RuleNode& n : side.nodes) {
    if (n.op == nullptr) continue;
    out.Add(n.op);
    for (ir::RuleOperand o : n.inputs) {
      const OpDef* operand = side.nodes[o.node].op;
      if (operand != nullptr) out.Add(n.op, operand);
    }
  }
  return out;
}

bool IsBare(const ir::RuleSide& side) {
  return absl::c_all_of(side.outputs, [&](const ir::RuleOperand& o) {
    return side.nodes[o.node].kind == ir::RuleNode::Kind::kVariable;
  });
}

}  // namespace

absl::Status Theory::Add(const ir::RuleSyntax& rule) {
  auto forward = ir::Rule::Create(rule);
  auto backward = ir::Rule::Create(rule, /*reversed=*/true);
  const bool reversible = forward.ok() && backward.ok();
  for (auto* made : {&forward, &backward}) {
    if (!made->ok()) continue;
    if (IsBare((*made)->target())) {
      collapsing_.push_back(static_cast<int>(equations_.size()));
    }
    const Traits needs = TraitsOf((*made)->source());
    equations_.push_back({std::make_shared<const ir::Rule>(*std::move(*made)),
                          needs, rules(), reversible});
  }
  if (!forward.ok() && !backward.ok()) return forward.status();
  enabled_.push_back(true);
  return absl::OkStatus();
}

size_t Theory::Next(size_t e, const Traits& graph, bool reversible) const {
  for (; e < equations_.size(); ++e) {
    const Equation& q = equations_[e];
    if (graph.Has(q.needs) && (q.reversible || !reversible) && enabled(q)) {
      break;
    }
  }
  return e;
}

absl::Status Theory::AddFile(const ir::RuleFileSyntax& file) {
  for (const ir::RuleItem& item : file.items) {
    const auto* rule = std::get_if<ir::RuleSyntax>(&item);
    if (rule == nullptr) continue;
    absl::Status s = Add(*rule);
    if (!s.ok()) return Prefixed(absl::StrCat("rule ", rule->name, ": "), s);
  }
  return absl::OkStatus();
}

absl::Status Theory::AddStated(const Registry& registry) {
  for (const OpDef* op : registry.all()) {
    std::vector<std::pair<std::string, std::string>> stated;
    if (!op->expansion.empty()) {
      stated.push_back({absl::StrCat(op->name, "_expansion"), op->expansion});
    }
    for (size_t i = 0; i < op->axioms.size(); ++i) {
      stated.push_back(
          {absl::StrCat(op->name, "_axiom_", i + 1), op->axioms[i]});
    }
    for (const auto& [name, text] : stated) {
      ASSIGN_OR_RETURN(ir::RuleSyntax rule, ir::ParseRuleBody(text));
      rule.name = name;
      RETURN_IF_ERROR(Add(rule));
    }
  }
  return absl::OkStatus();
}

std::string OtherWay(const std::string& name) {
  if (absl::EndsWith(name, "'")) return name.substr(0, name.size() - 1);
  return name + "'";
}

}  // namespace isomer::gen
