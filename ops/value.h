// Names for the values of a graph: which node, which of its outputs.
#ifndef ISOMER_OPS_VALUE_H_
#define ISOMER_OPS_VALUE_H_

#include <cstdint>

namespace isomer {

// A node of one graph; ids are small and dense.
struct NodeId {
  int32_t value = -1;
  friend auto operator<=>(const NodeId&, const NodeId&) = default;
  friend bool operator==(const NodeId&, const NodeId&) = default;
};

// One output of one node.
struct Value {
  NodeId node;
  int32_t output = 0;
  friend auto operator<=>(const Value&, const Value&) = default;
  friend bool operator==(const Value&, const Value&) = default;
};

}  // namespace isomer

#endif  // ISOMER_OPS_VALUE_H_
