// The rules that a derivation may use, each as an equation: read from left to
// right and, where that binds its variables, from right to left.
#ifndef ISOMER_XFER_GEN_DERIVE_THEORY_H_
#define ISOMER_XFER_GEN_DERIVE_THEORY_H_

#include <bitset>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "graph/rule.h"
#include "ops/registry.h"

namespace isomer::gen {

// Which operators there are, and which are operands of which, as bits that may
// coincide: where a graph lacks one of a source, the source is not in it.
class Traits {
 public:
  void Add(const OpDef* op) { bits_.set(Hash(op) % kBits); }
  void Add(const OpDef* op, const OpDef* operand) {
    bits_.set((Hash(op) * 31 + Hash(operand)) % kBits);
  }
  bool Has(const Traits& others) const {
    return (others.bits_ & ~bits_).none();
  }

 private:
  static constexpr size_t kBits = 256;
  static size_t Hash(const OpDef* op) { return absl::HashOf(op); }
  std::bitset<kBits> bits_;
};

// A rule in one direction. A name ends in ' when it is read from right to left.
// What is asked of every equation for every graph lies in it.
struct Equation {
  std::shared_ptr<const ir::Rule> rule;
  Traits needs;             // of the source
  int of = 0;               // which rule of the theory it is
  bool reversible = false;  // it can also be read the other way
};

// May be copied: copies share their rules.
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
  // The first equation from number `e` on that is not left out and whose needs
  // a graph with these traits meets, or else how many there are. If
  // `reversible`, only such count.
  size_t Next(size_t e, const Traits& graph, bool reversible) const;

  const std::vector<Equation>& equations() const { return equations_; }
  // Those that leave a bare variable of what they match (`identity(x) => x`).
  const std::vector<int>& collapsing() const { return collapsing_; }

 private:
  std::vector<Equation> equations_;
  std::vector<int> collapsing_;
  std::vector<bool> enabled_;  // by rule
};

// The name of a rule read in the other direction.
std::string OtherWay(const std::string& name);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_DERIVE_THEORY_H_
