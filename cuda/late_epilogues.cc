#include "cuda/late_epilogues.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cuda/held_kernel.h"
#include "cuda/kernel_uses.h"
#include "ops/dtype.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// Products of no more rows are computed together with what follows, however
// small they are: a launch is most of what that takes.
constexpr int64_t kFewRows = 64;

// True if it is launched to store one value, that is no output of the graph and
// lies nowhere else.
bool StoresOne(const ir::Graph& graph, const cost::Kernel& k) {
  return k.launches && k.in_place.empty() && k.outputs.size() == 1 &&
         graph.output_uses(k.outputs[0].node) == 0;
}

// The product of a kernel that stores one value of its type and shape, if all
// that follows it is a pointwise function of it alone.
std::optional<Value> ProductOf(const ir::Graph& graph, const cost::Kernel& k) {
  if (!StoresOne(graph, k)) return std::nullopt;
  const TensorType& type = graph.type(k.outputs[0]);
  std::optional<Value> product;
  for (NodeId id : k.nodes) {
    const ir::Node& node = graph.node(id);
    if (node.Is("matmul")) {
      if (product || graph.type({id, 0}) != type) return std::nullopt;
      product = Value{id, 0};
      continue;
    }
    if (!product) continue;  // before it
    const bool alone = absl::c_all_of(node.inputs, [&](Value v) {
      return v == *product || (absl::c_linear_search(k.nodes, v.node) &&
                               IsPointwise(graph.node(v.node)));
    });
    if (!alone || !IsPointwise(node) || graph.type({id, 0}) != type) {
      return std::nullopt;
    }
  }
  if (!product || *product == k.outputs[0]) return std::nullopt;
  return product;
}

// True if the kernel has a product and reads the value in what follows it only.
bool ReadsBehindProduct(const ir::Graph& graph, const cost::Kernel& k,
                        Value v) {
  if (!k.launches || !k.in_place.empty()) return false;
  bool product = false;
  for (NodeId id : k.nodes) {
    const ir::Node& node = graph.node(id);
    product = product || node.Is("matmul");
    if (!absl::c_linear_search(node.inputs, v)) continue;
    if (!product || !IsPointwise(node) ||
        graph.type({id, 0}) != graph.type(v)) {
      return false;
    }
  }
  return product;
}

// The only value that is no constant of those that nodes before a kernel's last
// read from outside of it; nothing if they are not all pointwise, or there are
// none.
std::optional<Value> ReadBeforeLast(const ir::Graph& graph,
                                    const cost::Kernel& k) {
  std::optional<Value> read;
  for (size_t i = 0; i + 1 < k.nodes.size(); ++i) {
    const ir::Node& node = graph.node(k.nodes[i]);
    if (!IsPointwise(node)) return std::nullopt;
    for (Value v : node.inputs) {
      if (absl::c_linear_search(k.nodes, v.node) || graph.IsConstant(v)) {
        continue;
      }
      if (read && !(*read == v)) return std::nullopt;
      read = v;
    }
  }
  return read;
}

// True if it is one of the equal parts of the last dimension of what it reads.
bool IsPart(const ir::Graph& graph, const ir::Node& node,
            const std::vector<int64_t>& shape) {
  if (!node.Is("slice")) return false;
  const std::vector<int64_t>& whole = graph.type(node.inputs[0]).shape;
  const auto last = static_cast<int64_t>(whole.size()) - 1;
  return node.attrs->Ints("axes") == std::vector<int64_t>{last} &&
         node.attrs->Ints("step") == std::vector<int64_t>{1} &&
         shape.back() > 0 && whole.back() % shape.back() == 0 &&
         node.attrs->Ints("from")[0] % shape.back() == 0;
}

Value WeightsOf(const ir::Graph& graph, Value product) {
  return graph.node(product.node).inputs[1];
}

// True if a product of this type may be computed with what follows it: of
// 16-bit floats by tiles, of f32 by weights that threads hold.
bool CanBeJoined(const TensorType& product) {
  return product.dtype == DType::kF16 || product.dtype == DType::kBF16 ||
         (product.dtype == DType::kF32 && HasRows(product, kHeldFloatRows));
}

// The only product of a kernel, if it is one by a constant matrix and can be
// joined.
std::optional<Value> MatrixProductOf(const ir::Graph& graph,
                                     const cost::Kernel& k) {
  std::optional<Value> product;
  for (NodeId id : k.nodes) {
    if (!graph.node(id).Is("matmul")) continue;
    if (product) return std::nullopt;
    product = Value{id, 0};
  }
  if (!product) return std::nullopt;
  const Value weights = WeightsOf(graph, *product);
  const TensorType& type = graph.type(*product);
  if (graph.type(weights).rank() != 2 || !graph.IsConstant(weights) ||
      absl::c_linear_search(k.nodes, weights.node) || !CanBeJoined(type)) {
    return std::nullopt;
  }
  return product;
}

// True if what a kernel that stores one value stores does not stay in the
// cache, where it costs little to read it again.
bool IsLarge(const ir::Graph& graph, const cost::Kernel& k,
             int64_t cached_bytes) {
  return BytesOf(graph.type(k.outputs[0])) > cached_bytes;
}

// True if all that it stores is a product by a constant.
bool IsProductByConstant(const ir::Graph& graph, const cost::Kernel& k) {
  return StoresOne(graph, k) && MatrixProductOf(graph, k) == k.outputs[0];
}

// True if it is nothing but another look at a value, for one kernel.
bool IsViewForOne(const ir::Graph& graph, const cost::Kernel& k,
                  const std::map<Value, std::vector<size_t>>& readers) {
  if (k.launches || k.outputs.size() != 1 || k.inputs.size() != 1) return false;
  const auto by = readers.find(k.outputs[0]);
  return graph.output_uses(k.outputs[0].node) == 0 && by != readers.end() &&
         by->second.size() == 1;
}

// Those that became part of others.
void EraseEmpty(std::vector<cost::Kernel>& kernels) {
  kernels.erase(
      std::remove_if(kernels.begin(), kernels.end(),
                     [](const cost::Kernel& k) { return k.nodes.empty(); }),
      kernels.end());
}

// Signature and time of two kernels that are one.
void AddTo(const cost::Kernel& first, cost::Kernel& whole) {
  whole.signature = absl::StrCat(first.signature, "; ", whole.signature);
  whole.time_ps += first.time_ps;
}

// The graph in which two products are one, and the kernel of all.
struct TwoProducts {
  ir::Graph graph;
  cost::Kernel whole;
};

// `first` is a product alone that `last` reads; nothing if they cannot be one.
absl::StatusOr<std::optional<TwoProducts>> Joined(const ir::Graph& graph,
                                                  const cost::Kernel& first,
                                                  const cost::Kernel& last) {
  const Value a = first.outputs[0];
  const std::optional<Value> b = MatrixProductOf(graph, last);
  if (!b || !last.launches || !last.in_place.empty() ||
      !(graph.node(a.node).inputs[0] == graph.node(b->node).inputs[0]) ||
      graph.type(WeightsOf(graph, a)) != graph.type(WeightsOf(graph, *b))) {
    return std::nullopt;
  }
  TwoProducts out{graph, last};
  ir::Graph& g = out.graph;
  const auto axis = static_cast<int64_t>(g.type(a).rank()) - 1;
  const int64_t size = g.type(a).shape.back();
  ASSIGN_OR_RETURN(const Value weights,
                   g.Add("concat", {WeightsOf(g, a), WeightsOf(g, *b)},
                         {{"axis", int64_t{1}}}));
  ASSIGN_OR_RETURN(const Value both,
                   g.Add("matmul", {g.node(a.node).inputs[0], weights}));
  std::vector<NodeId> nodes = {both.node};
  for (const auto& [product, from] :
       {std::pair(a, int64_t{0}), std::pair(*b, size)}) {
    using Ints = std::vector<int64_t>;
    ASSIGN_OR_RETURN(const Value part, g.Add("slice", {both},
                                             {{"axes", Ints{axis}},
                                              {"from", Ints{from}},
                                              {"to", Ints{from + size}}}));
    g.ReplaceUses(product, part);
    g.RemoveIfUnused(product.node);
    nodes.push_back(part.node);
  }
  absl::c_copy_if(last.nodes, std::back_inserter(nodes),
                  [&](NodeId id) { return id != b->node; });
  out.whole.nodes = std::move(nodes);
  out.whole.inputs = ReadsOf(g, out.whole.nodes);
  AddTo(first, out.whole);
  if (PartsOf(g, out.whole) == 1) return std::nullopt;
  return out;
}

// A kernel and those before it that would be one.
struct Join {
  size_t last = 0;
  std::vector<size_t> before;  // the product, then views of it
  cost::Kernel whole;
  Value weights;
  int parts = 1;
};

Join NewJoin(const ir::Graph& graph, const std::vector<cost::Kernel>& kernels,
             const std::vector<size_t>& before, size_t last) {
  const cost::Kernel& first = kernels[before[0]];
  Join join{last, before, kernels[last], WeightsOf(graph, first.outputs[0])};
  cost::Kernel& whole = join.whole;
  whole.nodes.clear();
  for (size_t i : before) {
    whole.nodes.insert(whole.nodes.end(), kernels[i].nodes.begin(),
                       kernels[i].nodes.end());
  }
  whole.nodes.insert(whole.nodes.end(), kernels[last].nodes.begin(),
                     kernels[last].nodes.end());
  whole.inputs = ReadsOf(graph, whole.nodes);
  whole.family = first.family;
  AddTo(first, whole);
  join.parts = PartsOf(graph, whole);
  return join;
}

// True if a product is to be computed together with what follows it.
bool IsToBeJoined(const ir::Graph& graph, const cost::Kernel& k,
                  int64_t cached_bytes) {
  if (!IsProductByConstant(graph, k)) return false;
  return IsLarge(graph, k, cached_bytes) ||
         HasRows(graph.type(k.outputs[0]), kFewRows);
}

// The products that each kernel can be joined with: one at most.
std::vector<Join> FindJoins(const ir::Graph& graph,
                            const std::vector<cost::Kernel>& kernels,
                            int64_t cached_bytes) {
  const auto readers = ReadersOf(kernels);
  std::map<Value, size_t> products, views;  // by what they make
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (IsToBeJoined(graph, kernels[i], cached_bytes)) {
      products[kernels[i].outputs[0]] = i;
    } else if (IsViewForOne(graph, kernels[i], readers)) {
      views[kernels[i].outputs[0]] = i;
    }
  }
  std::vector<Join> joins;
  for (size_t last = 0; last < kernels.size(); ++last) {
    const cost::Kernel& k = kernels[last];
    if (!k.launches || !k.in_place.empty() || k.family != "pointwise") {
      continue;
    }
    // The products that it reads, with the views through which it does.
    std::map<Value, std::vector<size_t>> read;
    for (Value v : k.inputs) {
      const auto view = views.find(v);
      const bool seen = view != views.end();
      const Value from = seen ? kernels[view->second].inputs[0] : v;
      const auto product = products.find(from);
      if (product == products.end()) continue;
      std::vector<size_t>& all = read[from];
      if (all.empty()) all.push_back(product->second);
      if (seen) all.push_back(view->second);
    }
    for (const auto& [product, before] : read) {
      Join join = NewJoin(graph, kernels, before, last);
      if (join.parts == 1) continue;
      joins.push_back(std::move(join));
      products.erase(product);
      break;
    }
  }
  return joins;
}

}  // namespace

int PartsOf(const ir::Graph& graph, const cost::Kernel& k) {
  const std::optional<Value> product = MatrixProductOf(graph, k);
  if (!product) return 1;
  const std::vector<int64_t> whole = graph.type(*product).shape;
  std::vector<int64_t> part;
  // Pointwise functions of whole rows, and of parts of them.
  std::set<NodeId> of_whole = {product->node}, of_part;
  const auto reads = [&](const ir::Node& node, const std::set<NodeId>& of) {
    return absl::c_any_of(node.inputs,
                          [&](Value v) { return of.count(v.node) > 0; });
  };
  for (NodeId id : k.nodes) {
    const ir::Node& node = graph.node(id);
    const bool reads_whole = reads(node, of_whole);
    const bool reads_part = reads(node, of_part);
    if (!reads_whole && !reads_part) continue;
    const std::vector<int64_t>& shape = graph.type({id, 0}).shape;
    if (reads_whole && !reads_part && IsPointwise(node) && shape == whole) {
      of_whole.insert(id);
    } else if (reads_whole && IsPart(graph, node, shape) &&
               (part.empty() || shape == part)) {
      part = shape;
      of_part.insert(id);
    } else if (!reads_whole && IsPointwise(node) && shape == part) {
      of_part.insert(id);
    } else {
      return 1;
    }
  }
  // Nothing else reads what is between the product and the results.
  std::set<NodeId> results;
  for (Value v : k.outputs) {
    if (!of_part.count(v.node) ||
        graph.type(v) != graph.type(k.outputs.back())) {
      return 1;
    }
    results.insert(v.node);
  }
  of_whole.insert(of_part.begin(), of_part.end());
  for (NodeId id : of_whole) {
    if (results.count(id)) continue;
    if (graph.output_uses(id) > 0) return 1;
    for (NodeId user : graph.users(id)) {
      if (!absl::c_linear_search(k.nodes, user)) return 1;
    }
  }
  const int64_t parts = whole.back() / part.back();
  const bool tiles = parts == 2 || parts == 4 || parts == 8;
  return tiles && whole.back() % 8 == 0 ? static_cast<int>(parts) : 1;
}

void MoveParts(const ir::Graph& graph, std::vector<cost::Kernel>& kernels,
               int64_t cached_bytes) {
  std::vector<Join> joins = FindJoins(graph, kernels, cached_bytes);
  // Weights lie in the order that parts want, and in their own for what else
  // reads them: that has to be less.
  std::map<Value, int> readers;
  for (const cost::Kernel& k : kernels) {
    for (Value v : ReadsOf(graph, k.nodes)) ++readers[v];
  }
  std::map<std::pair<Value, int>, int> joined;
  for (const Join& j : joins) ++joined[{j.weights, j.parts}];
  for (Join& j : joins) {
    if (2 * joined[{j.weights, j.parts}] <= readers[j.weights]) continue;
    kernels[j.last] = std::move(j.whole);
    for (size_t i : j.before) kernels[i].nodes.clear();
  }
  EraseEmpty(kernels);
}

absl::Status JoinProducts(ir::Graph& graph, std::vector<cost::Kernel>& kernels,
                          int64_t cached_bytes) {
  const auto readers = ReadersOf(kernels);
  for (cost::Kernel& k : kernels) {
    if (!IsProductByConstant(graph, k) || k.nodes.size() != 1 ||
        !IsLarge(graph, k, cached_bytes)) {
      continue;
    }
    const Value product = k.outputs[0];
    const auto by = readers.find(product);
    if (by == readers.end() || by->second.size() != 1) continue;
    cost::Kernel& reader = kernels[by->second[0]];
    ASSIGN_OR_RETURN(const std::optional<TwoProducts> two,
                     Joined(graph, k, reader));
    if (!two) continue;
    graph = two->graph;
    reader = two->whole;
    k.nodes.clear();
  }
  EraseEmpty(kernels);
  return absl::OkStatus();
}

void MoveSums(const ir::Graph& graph, std::vector<cost::Kernel>& kernels) {
  auto readers = ReadersOf(kernels);
  std::map<Value, size_t> made;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (StoresOne(graph, kernels[i])) made[kernels[i].outputs[0]] = i;
  }
  for (cost::Kernel& k : kernels) {
    if (k.family != "norm" || k.outputs.size() != 1) continue;
    const std::optional<Value> read = ReadBeforeLast(graph, k);
    if (!read || readers[*read].size() != 1 || made.count(*read) == 0) continue;
    const ir::Node& norm = graph.node(k.nodes.back());
    const Value sum = norm.inputs[0];
    cost::Kernel& product = kernels[made[*read]];
    const bool of_product = absl::c_any_of(
        product.nodes, [&](NodeId id) { return graph.node(id).Is("matmul"); });
    if (!of_product || sum.node != k.nodes.end()[-2] ||
        graph.type(sum) != graph.type(*read) ||
        absl::c_any_of(norm.inputs, [&](Value v) {
          return !(v == sum) && absl::c_linear_search(k.nodes, v.node);
        })) {
      continue;
    }
    product.nodes.insert(product.nodes.end(), k.nodes.begin(),
                         k.nodes.end() - 1);
    product.outputs = {sum};
    product.inputs = ReadsOf(graph, product.nodes);
    k.nodes.erase(k.nodes.begin(), k.nodes.end() - 1);
    k.inputs = ReadsOf(graph, k.nodes);
  }
}

void MoveEpilogues(const ir::Graph& graph, std::vector<cost::Kernel>& kernels,
                   int64_t cached_bytes) {
  auto readers = ReadersOf(kernels);
  for (cost::Kernel& k : kernels) {
    const std::optional<Value> product = ProductOf(graph, k);
    if (!product || !IsLarge(graph, k, cached_bytes)) continue;
    const Value result = k.outputs[0];
    const std::vector<size_t>& by = readers[result];
    if (by.size() != 1 || !ReadsBehindProduct(graph, kernels[by[0]], result)) {
      continue;
    }
    cost::Kernel& reader = kernels[by[0]];
    const auto after = absl::c_find(k.nodes, product->node) + 1;
    // Behind the reader's own product there may be no place for them: they need
    // nothing of it, so they come first.
    reader.nodes.insert(reader.nodes.begin(), after, k.nodes.end());
    absl::c_replace(reader.inputs, result, *product);
    k.nodes.erase(after, k.nodes.end());
    k.outputs = {*product};
  }
}

}  // namespace isomer::cuda
