// Tensors of a dag as one side of a rule: templates put in place of steps,
// their attributes as the numbers that typing gave or, in shapes, as the sizes
// of operands that the template names.
#ifndef ISOMER_XFER_GEN_SIDE_TEXT_H_
#define ISOMER_XFER_GEN_SIDE_TEXT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/rule_syntax.h"
#include "xfer_gen/dag.h"

namespace isomer::gen {

// How a shape that a template gives by sizes of its operands is written.
enum class ShapeText { kNumbers, kSizes };

// Whether a template gives a shape by sizes of its operands.
bool GivesSizes(const Template& tmpl);

// The outputs as expressions. Tensors in `names` stand as variables; what is
// used more than once is bound by `let`.
ir::SideSyntax SideOf(const Dag& dag, DagValues& values,
                      absl::Span<const TensorId> outputs,
                      const std::map<TensorId, std::string>& names,
                      ShapeText shapes);

// What output `output` of a step is, as text in which "#k" stands for its
// operand k, and the operands that it names, as a mask.
struct StepText {
  std::string text;
  uint32_t operands = 0;
};
StepText TextOf(const Template& tmpl, const Instance& instance, int output);

// The variables of a side in the order in which its text names them.
std::vector<std::string> VariablesOf(const ir::SideSyntax& side);

// The text of a side with the names left out.
std::string SkeletonOf(const ir::SideSyntax& side);

// Gives every variable of a side another name.
void RenameVariables(ir::SideSyntax& side,
                     const std::map<std::string, std::string>& names);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_SIDE_TEXT_H_
