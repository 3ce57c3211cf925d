// The two graphs run at the same time, a thread each.
#include "graph/equal_in_field.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include "graph/copy.h"
#include "graph/hashing.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

// Constants that stay as they are: numbers that rules may look at.
bool KeepsItsValue(const Constant& c) {
  return NumElements(c.type()) <= 1 || !IsFloat(c.type().dtype) ||
         c.Splat().has_value();
}

Tensor RandomField(const TensorType& type, uint64_t seed) {
  Tensor t = MakeTensor(type, Interp::kField);
  std::mt19937_64 random(seed);
  if (auto* elements = std::get_if<std::vector<Field>>(&t.data)) {
    for (Field& f : *elements) f = Field::FromWide(random());
  } else {
    for (int64_t& i : std::get<std::vector<int64_t>>(t.data)) {
      i = static_cast<int64_t>(random() % 2);  // a legal index mostly
    }
  }
  return t;
}

// A bound on the degree of the outputs as polynomials in inputs and weights.
double Degree(const Graph& g) {
  std::vector<double> degree(g.id_bound(), 1);
  double most = 1;
  for (NodeId id : g.Order()) {
    const Node& n = g.node(id);
    if (n.op == nullptr || n.inputs.empty()) continue;
    const bool linear = n.Is("add") || n.Is("sub") || n.Is("concat") ||
                        n.Is("max") || n.Is("min") || n.Is("where");
    double d = 0;
    for (Value v : n.inputs) {
      const double x = degree[v.node.value];
      d = linear ? std::max(d, x) : d + x;
    }
    degree[id.value] = d;
    most = std::max(most, d);
  }
  return most;
}

// Random values for the inputs of both, the same for the same name.
absl::StatusOr<std::map<std::string, Tensor>> RandomInputs(const Graph& x,
                                                           const Graph& y,
                                                           uint64_t seed) {
  std::map<std::string, Tensor> inputs;
  for (const Graph* g : {&x, &y}) {
    for (NodeId id : g->inputs()) {
      const std::string& name = *g->node(id).name;
      const TensorType* type = g->FindType({id, 0});
      if (type == nullptr) return Invalid("input ", name, " has no type");
      if (inputs.count(name) > 0) continue;
      inputs.emplace(name,
                     RandomField(*type, HashCombine(seed, HashText(name))));
    }
  }
  return inputs;
}

}  // namespace

std::string WeightName(const Constant& c) {
  return absl::StrFormat("weight:%s:%016x", c.name(), c.digest());
}

absl::StatusOr<Graph> OpenWeights(
    const Graph& graph, const std::function<bool(const Constant&)>& keep) {
  auto replace = [&](NodeId id, absl::Span<const Value>,
                     Graph& out) -> absl::StatusOr<std::optional<NodeId>> {
    const Node& n = graph.node(id);
    if (n.constant == nullptr || keep(*n.constant)) return std::nullopt;
    return out.AddInput(WeightName(*n.constant), n.constant->type()).node;
  };
  ASSIGN_OR_RETURN(GraphCopy copy, CopyGraph(graph, replace));
  return std::move(copy.graph);
}

absl::StatusOr<FieldAgreement> EqualInField(const Graph& a, const Graph& b,
                                            uint64_t seed, const RunNode& run) {
  ASSIGN_OR_RETURN(const Graph x, OpenWeights(a, KeepsItsValue));
  ASSIGN_OR_RETURN(const Graph y, OpenWeights(b, KeepsItsValue));
  ASSIGN_OR_RETURN(const auto inputs, RandomInputs(x, y, seed));
  auto evaluate = [&](const Graph& g) {
    std::map<std::string, Tensor> own;
    for (NodeId id : g.inputs()) {
      own[*g.node(id).name] = inputs.at(*g.node(id).name);
    }
    return Evaluate(g, own, {.interp = Interp::kField, .run = run});
  };
  absl::StatusOr<std::vector<Tensor>> p = absl::UnknownError(""), q = p;
  std::thread other([&] { q = evaluate(y); });
  p = evaluate(x);
  other.join();
  RETURN_IF_ERROR(p.status());
  RETURN_IF_ERROR(q.status());
  if (p->size() != q->size()) return Invalid("the number of outputs differs");
  FieldAgreement out;
  for (size_t i = 0; i < p->size(); ++i) {
    if ((*p)[i].type != (*q)[i].type || (*p)[i].data != (*q)[i].data) {
      return absl::DataLossError(absl::StrCat("output '", a.outputs()[i].name,
                                              "' differs in the field"));
    }
    out.elements += (*p)[i].size();
  }
  out.error_bound = (Degree(x) + Degree(y)) *
                    static_cast<double>(out.elements) /
                    static_cast<double>(Field::kPrime);
  return out;
}

}  // namespace isomer::ir
