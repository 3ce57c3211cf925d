// Short forms for building syntax trees.
#ifndef ISOMER_GRAPH_FOREIGN_SYNTAX_H_
#define ISOMER_GRAPH_FOREIGN_SYNTAX_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/rule_syntax.h"

namespace isomer::ir {

inline ValueSyntax IntSyntax(int64_t n) {
  return {.kind = ValueSyntax::Kind::kInteger, .integer = n};
}

inline ValueSyntax ListSyntax(std::vector<ValueSyntax> items) {
  return {.kind = ValueSyntax::Kind::kList, .args = std::move(items)};
}

inline ValueSyntax IntsSyntax(const std::vector<int>& numbers) {
  std::vector<ValueSyntax> items;
  for (int n : numbers) items.push_back(IntSyntax(n));
  return ListSyntax(std::move(items));
}

inline ValueSyntax DimSyntax(std::string tensor, int d) {
  return {.kind = ValueSyntax::Kind::kDim,
          .name = std::move(tensor),
          .args = {IntSyntax(d)}};
}

inline ValueSyntax BinarySyntax(ValueSyntax::Kind kind, ValueSyntax a,
                                ValueSyntax b) {
  return {.kind = kind, .args = {std::move(a), std::move(b)}};
}

inline ExprSyntax VariableSyntax(std::string name) {
  return {.kind = ExprSyntax::Kind::kVariable, .name = std::move(name)};
}

inline ExprSyntax CallSyntax(std::string op, std::vector<ExprSyntax> args,
                             std::vector<AttrSyntax> attrs = {}) {
  return {.kind = ExprSyntax::Kind::kCall,
          .name = std::move(op),
          .args = std::move(args),
          .attrs = std::move(attrs)};
}

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_FOREIGN_SYNTAX_H_
