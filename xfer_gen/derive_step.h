// One step of a derivation: all graphs that a rule makes of a graph, and the
// key by which graphs that differ in the order of commutative operands alone
// are the same.
#ifndef ISOMER_XFER_GEN_DERIVE_STEP_H_
#define ISOMER_XFER_GEN_DERIVE_STEP_H_

#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"
#include "graph/constant_facts.h"
#include "graph/graph.h"
#include "graph/match.h"
#include "xfer_gen/derive_theory.h"

namespace isomer::gen {

// 128 bits over the whole structure: graphs of one key are taken to be equal.
using GraphKey = std::pair<uint64_t, uint64_t>;

// The key of what the outputs compute, whatever the ids of nodes and the order
// of commutative operands.
GraphKey KeyOf(const ir::Graph& graph);

// How many operators, literals and constants a graph has.
int StepsOf(const ir::Graph& graph);

// A graph that is about to be rewritten, with what matching needs of it.
class StepMaker {
 public:
  explicit StepMaker(const ir::Graph& graph);

  // Calls `f` on each result of applying the equation once, and on whether the
  // match was of the graph's outputs themselves. `f` returns false to stop.
  void Run(const Equation& equation,
           absl::FunctionRef<bool(ir::Graph result, bool whole)> f);
  const Traits& traits() const { return traits_; }

 private:
  bool Whole(const ir::Match& match) const;

  const ir::Graph& graph_;
  Traits traits_;
  ir::OpIndex index_;
  ir::ConstantFacts facts_;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_DERIVE_STEP_H_
