// What only moves elements is done on their bytes: rounding before or after it
// is the same. The rest is computed. A piece of a value is computed from pieces
// of operands, as a device would compute its share: what may be cut is read off
// the operators' index semantics (ops/sharding.h).
#include "graph/fold.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include "graph/for_all.h"
#include "graph/move_bytes.h"
#include "ops/sharding.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

// How many pieces a value is cut into along its first dimension: the fewest
// equal ones that are small enough.
int64_t PiecesOf(const TensorType& type, int64_t piece_elements) {
  const int64_t n = NumElements(type);
  if (n <= piece_elements || type.shape.empty()) return 1;
  const int64_t rows = type.shape[0];
  int64_t pieces = std::min(rows, (n + piece_elements - 1) / piece_elements);
  while (rows % pieces != 0) ++pieces;
  return pieces;
}

// The part of a constant that piece `piece` of `pieces` along `dim` is.
absl::StatusOr<std::shared_ptr<const Constant>> CutConstant(
    const Constant& constant, int dim, int64_t piece, int64_t pieces) {
  TensorType type = constant.type();
  const int64_t size = type.shape[dim] / pieces;
  int64_t outer = 1, inner = ByteSize(type.dtype);
  for (int d = 0; d < type.rank(); ++d) {
    if (d < dim) outer *= type.shape[d];
    if (d > dim) inner *= type.shape[d];
  }
  const int64_t row = type.shape[dim] * inner;
  std::string bytes;
  bytes.reserve(outer * size * inner);
  for (int64_t i = 0; i < outer; ++i) {
    bytes.append(constant.bytes().view.data() + i * row + piece * size * inner,
                 size * inner);
  }
  type.shape[dim] = size;
  return Constant::FromBytes(type, SharedBytes::Own(std::move(bytes)));
}

// Builds the graph of one piece.
class Piece {
 public:
  Piece(const Graph& graph, int64_t piece, int64_t pieces)
      : graph_(graph), piece_(piece), pieces_(pieces) {}

  // The value cut along `dim`, or whole if that is -1. Unimplemented if an
  // operator cannot be cut there.
  absl::StatusOr<Value> Make(Value v, int dim) {
    if (auto it = made_.find({v, dim}); it != made_.end()) return it->second;
    const Node& n = graph_.node(v.node);
    Value out;
    if (n.kind == Node::Kind::kConstant) {
      std::shared_ptr<const Constant> part = n.constant;
      if (dim >= 0) {
        ASSIGN_OR_RETURN(part, CutConstant(*n.constant, dim, piece_, pieces_));
      }
      out = out_.AddConstant(std::move(part));
    } else {
      ASSIGN_OR_RETURN(const NodeId node, MakeNode(v.node, dim));
      out = {node, v.output};
    }
    return made_[{v, dim}] = out;
  }

  const Graph& graph() const { return out_; }

 private:
  absl::StatusOr<NodeId> MakeNode(NodeId id, int dim) {
    const Node& n = graph_.node(id);
    std::vector<int> cut(n.inputs.size(), -1);
    Attrs attrs = *n.attrs;
    if (dim >= 0) {
      ASSIGN_OR_RETURN(const Sharding how, HowToCut(n, dim));
      cut = how.input_dims;
      for (const AttrEntry& e : how.resized) Resize(attrs, e);
    }
    std::vector<Value> inputs;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      ASSIGN_OR_RETURN(const Value in, Make(n.inputs[i], cut[i]));
      inputs.push_back(in);
    }
    ASSIGN_OR_RETURN(const NodeId made, out_.AddNode(*n.op, inputs, attrs));
    return MoveConstants(made);
  }

  // A node that moves elements of constants is a constant.
  absl::StatusOr<NodeId> MoveConstants(NodeId id) {
    if (!OnlyMoves(out_, id)) return id;
    std::vector<SharedBytes> inputs;
    for (Value v : out_.node(id).inputs) {
      const Node& in = out_.node(v.node);
      if (in.kind != Node::Kind::kConstant) return id;
      inputs.push_back(in.constant->bytes());
    }
    ASSIGN_OR_RETURN(
        std::shared_ptr<const Constant> moved,
        Constant::FromBytes(out_.type({id, 0}), MoveBytes(out_, id, inputs)));
    return out_.AddConstant(std::move(moved)).node;
  }

  absl::StatusOr<Sharding> HowToCut(const Node& n, int dim) const {
    std::vector<TensorType> types;
    for (Value v : n.inputs) types.push_back(graph_.type(v));
    ASSIGN_OR_RETURN(const std::vector<Sharding> all,
                     LegalShardings(*n.op, types, *n.attrs));
    for (const Sharding& s : all) {
      if (s.output_dim == dim && n.num_outputs() == 1) return s;
    }
    return absl::UnimplementedError(n.op->name + " is computed whole");
  }

  void Resize(Attrs& attrs, const AttrEntry& e) const {
    Attr value = *attrs.Find(e.name);
    if (auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      (*list)[e.at] /= pieces_;
    } else if (auto* number = std::get_if<int64_t>(&value)) {
      *number /= pieces_;
    }
    attrs.Set(e.name, std::move(value));
  }

  const Graph& graph_;
  const int64_t piece_, pieces_;
  Graph out_;
  std::map<std::pair<Value, int>, Value> made_;
};

absl::StatusOr<std::string> FoldPiece(const Graph& graph, Value v, int64_t i,
                                      int64_t pieces,
                                      const EvaluateOptions& how) {
  Piece piece(graph, i, pieces);
  ASSIGN_OR_RETURN(const Value part, piece.Make(v, 0));
  ASSIGN_OR_RETURN(const std::vector<Tensor> t,
                   EvaluateValues(piece.graph(), {part}, {}, how));
  return ToBytes(t[0]);
}

absl::StatusOr<std::string> FoldInPieces(const Graph& graph, Value v,
                                         int64_t pieces,
                                         const EvaluateOptions& how) {
  const TensorType& type = graph.type(v);
  const int64_t size = NumElements(type) * ByteSize(type.dtype) / pieces;
  std::string bytes(size * pieces, '\0');
  std::vector<absl::Status> failed(pieces);
  std::atomic<bool> stopped{false};
  ForAll(pieces, [&](int64_t i) {
    if (stopped) return;
    const auto part = FoldPiece(graph, v, i, pieces, how);
    failed[i] = part.status();
    if (!part.ok()) stopped = true;
    if (part.ok()) std::copy(part->begin(), part->end(), &bytes[i * size]);
  });
  for (const absl::Status& s : failed) RETURN_IF_ERROR(s);
  return bytes;
}

// Computes a value in double, in pieces where it is large.
absl::StatusOr<SharedBytes> Compute(const Graph& graph, Value v,
                                    const RunNode& run,
                                    int64_t piece_elements) {
  const EvaluateOptions how{.interp = Interp::kReal, .run = run};
  const int64_t pieces = PiecesOf(graph.type(v), piece_elements);
  if (pieces > 1) {
    absl::StatusOr<std::string> bytes = FoldInPieces(graph, v, pieces, how);
    if (bytes.ok()) return SharedBytes::Own(*std::move(bytes));
    if (!absl::IsUnimplemented(bytes.status())) return bytes.status();
  }
  ASSIGN_OR_RETURN(const std::vector<Tensor> t,
                   EvaluateValues(graph, {v}, {}, how));
  return SharedBytes::Own(ToBytes(t[0]));
}

}  // namespace

absl::StatusOr<SharedBytes> FoldConstant(const Graph& graph, Value v,
                                         const RunNode& run,
                                         int64_t piece_elements) {
  std::map<Value, SharedBytes> done;
  std::vector<Value> todo = {v};
  while (!todo.empty()) {
    const Value now = todo.back();
    const Node& n = graph.node(now.node);
    if (n.kind == Node::Kind::kConstant) {
      done[now] = n.constant->bytes();
    } else if (!OnlyMoves(graph, now.node)) {
      ASSIGN_OR_RETURN(done[now], Compute(graph, now, run, piece_elements));
    } else {
      std::vector<SharedBytes> inputs;
      for (Value in : n.inputs) {
        const auto it = done.find(in);
        if (it == done.end()) {
          todo.push_back(in);
        } else {
          inputs.push_back(it->second);
        }
      }
      if (inputs.size() < n.inputs.size()) continue;
      done[now] = MoveBytes(graph, now.node, inputs);
    }
    todo.pop_back();
  }
  return done.at(v);
}

}  // namespace isomer::ir
