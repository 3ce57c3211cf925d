// A graph of tensor operators: a value with explicit inputs, constants and
// outputs, in which equal nodes are the same node.
//
// A graph is copied by copying a few pointers; a rewrite of the copy costs what
// the rewrite touches. Its hash is kept up to date on the way and depends on
// neither node ids nor the order of construction: every node is hashed
// together with its ancestors up to three steps away, and the hashes are
// summed. Equal() decides.
#ifndef ISOMER_GRAPH_GRAPH_H_
#define ISOMER_GRAPH_GRAPH_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/constant.h"
#include "graph/persistent_array.h"
#include "ops/op_def.h"
#include "ops/value.h"

namespace isomer::ir {

// A node of the model that Isomer does not look into. It is never equal to
// another node and never removed.
struct Opaque {
  std::string op;   // what it is, for people: "com.microsoft:BiasGelu"
  std::string key;  // tells it apart from the other opaque nodes of the graph
};

struct Node {
  enum class Kind { kInput, kConstant, kOp, kOpaque };
  using Inputs = std::vector<Value>;

  Kind kind = Kind::kOp;
  Inputs inputs = {};
  // The types of the outputs; nothing where an opaque node's is unknown.
  std::shared_ptr<const std::vector<std::optional<TensorType>>> types = nullptr;
  const OpDef* op = nullptr;                           // kOp
  std::shared_ptr<const Attrs> attrs = nullptr;        // kOp
  std::shared_ptr<const std::string> name = nullptr;   // kInput
  std::shared_ptr<const Constant> constant = nullptr;  // kConstant
  std::shared_ptr<const Opaque> opaque = nullptr;      // kOpaque
  uint64_t label = 0;  // hash of all of this but the inputs

  int num_outputs() const { return static_cast<int>(types->size()); }
  // True for an operator called `op_name`.
  bool Is(absl::string_view op_name) const {
    return op != nullptr && op->name == op_name;
  }
};

struct Output {
  std::string name;
  Value value;
};

struct Mark {
  int32_t output;
  int32_t mark;
};

class Graph {
 public:
  // ---- Building
  // An input whose type is not known can feed opaque nodes alone.
  Value AddInput(absl::string_view name, std::optional<TensorType> type);
  Value AddConstant(std::shared_ptr<const Constant> constant);
  // Adds an operator after inference and returns the node; an equal node that
  // is already there is returned instead.
  absl::StatusOr<NodeId> AddNode(const OpDef& op,
                                 absl::Span<const Value> inputs,
                                 const Attrs& attrs);
  // The same where what inference says is known.
  NodeId AddInferred(const OpDef& op, absl::Span<const Value> inputs,
                     Inferred<int64_t> inferred);
  // The same by name, for operators with one output.
  absl::StatusOr<Value> Add(absl::string_view op,
                            absl::Span<const Value> inputs,
                            const Attrs& attrs = {});
  NodeId AddOpaque(Opaque opaque, absl::Span<const Value> inputs,
                   std::vector<std::optional<TensorType>> types);
  void AddOutput(absl::string_view name, Value value);
  // Marks a value with a number of the caller's (a name in a model file, say).
  // Marks go along when a value is replaced by an equal one and vanish with
  // it; they keep nothing alive and are no part of equality.
  void SetMark(Value value, int32_t mark);

  // ---- Reading
  // True if the node is there (not removed).
  bool Has(NodeId id) const;
  const Node& node(NodeId id) const;
  // The type of a value, which must be known.
  const TensorType& type(Value v) const;
  // The type of a value, or null where an opaque node's output has none.
  const TensorType* FindType(Value v) const;
  // The nodes that use any output of `id`, each once, in the order they came.
  absl::Span<const NodeId> users(NodeId id) const;
  // The marks on the outputs of `id`.
  absl::Span<const Mark> marks(NodeId id) const;
  // How many graph outputs are an output of `id`.
  int output_uses(NodeId id) const;
  const std::vector<NodeId>& inputs() const { return inputs_; }
  const std::vector<Output>& outputs() const { return outputs_; }
  // The number of live nodes, inputs and constants included.
  int size() const { return size_; }
  // Ids are below this number.
  int32_t id_bound() const { return next_id_; }
  // All live nodes, each after its inputs: first what outputs need, in the
  // order in which outputs ask for it, then the rest by id.
  std::vector<NodeId> Order() const;
  // True if the value depends on constants alone.
  bool IsConstant(Value v) const;

  // Equal graphs have equal hashes, whatever their ids.
  uint64_t hash() const { return HashOfAll(); }

  // ---- Changing
  // Makes every use of `from` (by nodes other than `except` and by outputs) a
  // use of `to`. Users that thereby become equal to other nodes are merged
  // with them. The caller must know that no cycle arises.
  void ReplaceUses(Value from, Value to, absl::Span<const NodeId> except = {});
  // Removes `id` if nothing uses it, then inputs of it that become unused in
  // turn. Graph inputs, opaque nodes and marked constants stay.
  void RemoveIfUnused(NodeId id);

 private:
  static constexpr int kRounds = 3;
  struct Slot {
    std::shared_ptr<const Node> node;
    std::shared_ptr<std::vector<NodeId>> users;
    std::shared_ptr<const std::vector<Mark>> marks;
    std::array<uint64_t, kRounds> hash = {};
  };
  // Nodes whose label and inputs hash alike, for finding equal ones.
  using Bucket = std::vector<NodeId>;

  const Slot& slot(NodeId id) const { return *slots_.Find(id.value); }
  NodeId Insert(Node node);
  std::optional<NodeId> FindEqual(const Node& node) const;
  static int64_t BucketOf(const Node& node);
  void Enter(const Node& node, NodeId id);
  void Leave(const Node& node, NodeId id);
  void AddUser(NodeId of, NodeId user);
  void DropUser(NodeId of, NodeId user);
  void SetInputs(NodeId id, Node::Inputs inputs);
  void Remove(NodeId id);
  void MoveMarks(Value from, Value to);
  uint64_t Round(const Slot& s, int round) const;
  void Rehash(NodeId id);
  uint64_t HashOfAll() const;

  PersistentArray<Slot> slots_;
  PersistentArray<Bucket> buckets_;
  std::vector<NodeId> inputs_;
  std::vector<Output> outputs_;
  int32_t next_id_ = 0;
  int size_ = 0;
  uint64_t sum_ = 0;  // of the last-round hashes of all nodes
};

// True if the graphs are the same up to the ids of their nodes.
bool Equal(const Graph& a, const Graph& b);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_GRAPH_H_
