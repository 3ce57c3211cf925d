// The rules that a derivation may use, each as an equation: read from left to
// right and, where that binds its variables, from right to left.
#ifndef ISOMER_XFER_GEN_DERIVE_THEORY_H_
#define ISOMER_XFER_GEN_DERIVE_THEORY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/rule.h"
#include "ops/registry.h"

namespace isomer::gen {

// A rule in one direction. A name ends in ' when it is read from right to left.
struct Equation {
  ir::Rule rule;
  std::vector<const OpDef*> needs;  // operators of the source, each once
  int of = 0;                       // which rule of the theory it is
  bool reversible = false;          // it can also be read the other way
};

// May be copied: copies share their equations.
class Theory {
 public:
  // Adds a rule in each direction in which it is well-formed; rules are
  // numbered from 0. An error, if it is well-formed in neither, is that of the
  // first.
  absl::Status Add(const ir::RuleSyntax& rule);
  // Adds all rules of a file, folds left out: they say nothing new.
  absl::Status AddFile(const ir::RuleFileSyntax& file);
  // Adds what operators state: their expansions and axioms, named after them.
  absl::Status AddStated(const Registry& registry = Ops());

  int rules() const { return static_cast<int>(enabled_.size()); }
  // Leaves a rule out of derivations, or takes it in again.
  void Enable(int rule, bool on) { enabled_[rule] = on; }
  bool enabled(const Equation& e) const { return enabled_[e.of]; }

  using Equations = std::vector<std::shared_ptr<const Equation>>;
  const Equations& equations() const { return equations_; }
  // Those that leave a bare variable of what they match (`identity(x) => x`).
  const std::vector<int>& collapsing() const { return collapsing_; }

 private:
  Equations equations_;
  std::vector<int> collapsing_;
  std::vector<bool> enabled_;  // by rule
};

// The name of a rule read in the other direction.
std::string OtherWay(const std::string& name);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_DERIVE_THEORY_H_
