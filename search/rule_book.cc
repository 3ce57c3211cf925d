// Expansions come first: they are few and open what other rules look into.
#include "search/rule_book.h"

#include <map>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ops/registry.h"
#include "ops/status.h"
#include "verify/trust.h"

namespace isomer::search {

namespace {

// Composites with sums or exponentials have kernels that avoid overflow and
// cancellation; taken apart they would lose that.
bool IsDelicate(const ir::Rule& expansion) {
  return absl::c_any_of(expansion.target().nodes, [](const ir::RuleNode& n) {
    return n.op != nullptr &&
           (n.op->name == "exp" || absl::StartsWith(n.op->name, "reduce_"));
  });
}

// True for `mul(f(x), c) => f'(mul(x, c))` with a constant c: repeated, such
// rules bring a factor to the weights, where it costs nothing.
bool SinksFactor(const ir::Rule& rule) {
  auto root = [](const ir::RuleSide& side) {
    return side.nodes[side.outputs[0].node].op;
  };
  const OpDef *from = root(rule.source()), *to = root(rule.target());
  return rule.source().outputs.size() == 1 && from != nullptr &&
         from->name == "mul" && to != nullptr && to->name != "mul" &&
         absl::c_any_of(rule.where(), [](const ir::RuleCondition& c) {
           return c.kind == ir::RuleCondition::Kind::kConst;
         });
}

}  // namespace

absl::StatusOr<RuleBook> RuleBook::Create(ir::RuleSet set) {
  RuleBook book;
  for (const OpDef* op : Ops().all()) {
    if (op->expansion.empty()) continue;
    ASSIGN_OR_RETURN(ir::RuleSyntax syntax, ir::ParseRuleBody(op->expansion));
    syntax.name = absl::StrCat("open_", op->name);
    ASSIGN_OR_RETURN(ir::Rule rule, ir::Rule::Create(syntax));
    if (IsDelicate(rule)) continue;
    book.Add({.rule = std::move(rule),
              .definition = true,
              .proof = "the definition of the operator"});
  }
  for (ir::Rule& rule : set.rules) {
    const bool fold = absl::c_linear_search(set.folds, rule.name());
    const bool sinks = SinksFactor(rule);
    book.Add({.rule = std::move(rule), .fold = fold, .sinks = sinks});
  }
  return book;
}

absl::StatusOr<RuleBook> RuleBook::FromText(absl::string_view text,
                                            std::vector<std::string>& refused) {
  ASSIGN_OR_RETURN(ir::RuleFileSyntax file, ir::ParseRuleFile(text));
  verify::TrustedRules trusted = verify::TakeProved(file);
  refused = std::move(trusted.refused);
  ASSIGN_OR_RETURN(RuleBook book, Create(std::move(trusted.rules)));
  std::map<std::string, std::string> proofs;
  for (const ir::RuleItem& item : file.items) {
    const auto* rule = std::get_if<ir::RuleSyntax>(&item);
    if (rule == nullptr) continue;
    if (auto stamp = verify::FindStamp(*rule)) proofs[rule->name] = stamp->hash;
  }
  for (BookRule& r : book.rules_) {
    std::string name = r.rule.name();
    if (absl::EndsWith(name, "'")) name.pop_back();  // read backwards
    if (!r.definition) r.proof = proofs[name];
  }
  return book;
}

absl::StatusOr<RuleBook> RuleBook::BuiltIn(std::vector<std::string>& refused) {
  // Read once by a program, however many models it optimises.
  struct Reading {
    std::vector<std::string> refused;
    absl::StatusOr<RuleBook> book = FromText(BuiltInRules(), refused);
  };
  static const Reading& reading = *new Reading();
  refused = reading.refused;
  return reading.book;
}

void RuleBook::KeepExact() {
  std::vector<BookRule> kept;
  for (BookRule& r : rules_) {
    if (r.rule.numerics() == ir::Numerics::kExact) kept.push_back(std::move(r));
  }
  rules_ = std::move(kept);
}

}  // namespace isomer::search
