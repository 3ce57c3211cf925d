// isomer show: what a model consists of.
#include <algorithm>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "onnx/import.h"
#include "ops/status.h"
#include "tools/json.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

using ir::Graph;
using ir::Node;

struct Row {
  int64_t count = 0;
  int64_t flops = 0;
};

struct Stats {
  std::map<std::string, Row> onnx;     // nodes of the file
  std::map<std::string, Row> ops;      // our operators
  std::map<std::string, int> reasons;  // why nodes are opaque
  int64_t nodes = 0, opaque = 0, parameters = 0, parameter_bytes = 0, flops = 0;
};

Stats Count(const onnx::ImportedModel& m) {
  Stats s;
  for (size_t i = 0; i < m.groups.size(); ++i) {
    const OnnxNode& node = m.model->graph.nodes[i].node;
    ++s.nodes;
    ++s.onnx[node.op_type].count;
    if (m.groups[i].opaque_reason.empty()) continue;
    ++s.opaque;
    ++s.reasons[absl::StrCat(node.op_type, ": ", m.groups[i].opaque_reason)];
  }
  for (NodeId id : m.graph.Order()) {
    const Node& n = m.graph.node(id);
    if (n.kind == Node::Kind::kConstant) {
      s.parameters += NumElements(n.constant->type());
      s.parameter_bytes +=
          static_cast<int64_t>(n.constant->bytes().view.size());
    }
    if (n.kind != Node::Kind::kOp) continue;
    // Constants are computed once, before the model runs.
    const int64_t flops =
        m.graph.IsConstant({id, 0}) ? 0 : ir::FlopsOf(m.graph, id);
    Row& row = s.ops[n.op->name];
    ++row.count;
    row.flops += flops;
    s.flops += flops;
  }
  return s;
}

void PrintStats(const Stats& s) {
  absl::PrintF(
      "%d nodes, %d of them opaque; %.3f M parameters (%.1f MB), "
      "%.3f GFLOP\n\n",
      s.nodes, s.opaque, static_cast<double>(s.parameters) / 1e6,
      static_cast<double>(s.parameter_bytes) / 1e6,
      static_cast<double>(s.flops) / 1e9);
  absl::PrintF("%-22s %7s\n", "ONNX operator", "nodes");
  for (const auto& [name, row] : s.onnx) {
    absl::PrintF("%-22s %7d\n", name, row.count);
  }
  absl::PrintF("\n%-22s %7s %12s\n", "operator of Isomer", "nodes", "MFLOP");
  for (const auto& [name, row] : s.ops) {
    absl::PrintF("%-22s %7d %12.3f\n", name, row.count,
                 static_cast<double>(row.flops) / 1e6);
  }
  if (!s.reasons.empty()) absl::PrintF("\nopaque because\n");
  for (const auto& [reason, count] : s.reasons) {
    absl::PrintF("%6d  %s\n", count, reason);
  }
}

Json StatsJson(const Stats& s) {
  Json report = Json::Object(), onnx = Json::Object(), ops = Json::Object(),
       reasons = Json::Object();
  for (const auto& [name, row] : s.onnx) onnx.Set(name, row.count);
  for (const auto& [name, row] : s.ops) ops.Set(name, row.count);
  for (const auto& [reason, count] : s.reasons) reasons.Set(reason, count);
  return report.Set("nodes", s.nodes)
      .Set("opaque", s.opaque)
      .Set("parameters", s.parameters)
      .Set("parameter_bytes", s.parameter_bytes)
      .Set("flops", s.flops)
      .Set("onnx", std::move(onnx))
      .Set("operators", std::move(ops))
      .Set("reasons", std::move(reasons));
}

// A drawing for Graphviz; constants are left out.
void PrintDot(const Graph& g) {
  absl::PrintF(
      "digraph model {\n  rankdir=TB;\n"
      "  node [shape=box, style=rounded, fontname=Helvetica];\n");
  for (NodeId id : g.Order()) {
    const Node& n = g.node(id);
    if (n.kind == Node::Kind::kConstant) continue;
    std::string label = n.kind == Node::Kind::kInput    ? *n.name
                        : n.kind == Node::Kind::kOpaque ? n.opaque->op
                                                        : n.op->name;
    if (const TensorType* t = g.FindType({id, 0})) {
      absl::StrAppend(&label, "\n", TypeText(*t));
    }
    absl::PrintF("  n%d [label=\"%s\"%s];\n", id.value, absl::CEscape(label),
                 n.kind == Node::Kind::kOpaque ? ", style=filled" : "");
    for (Value v : n.inputs) {
      if (g.node(v.node).kind == Node::Kind::kConstant) continue;
      absl::PrintF("  n%d -> n%d;\n", v.node.value, id.value);
    }
  }
  absl::PrintF("}\n");
}

absl::StatusOr<int> Show(const Args& args) {
  ASSIGN_OR_RETURN(onnx::ImportOptions options, ImportOptionsFrom(args));
  ASSIGN_OR_RETURN(onnx::ImportedModel model,
                   onnx::ImportFile(args.positionals()[0], options));
  if (args.Has("text")) {
    absl::PrintF("%s", ir::PrintGraph(model.graph, {.max_constant = 16}));
  } else if (args.Has("dot")) {
    PrintDot(model.graph);
  } else if (args.Has("json")) {
    absl::PrintF("%s\n", StatsJson(Count(model)).ToString());
  } else {
    PrintStats(Count(model));
  }
  return 0;
}

}  // namespace

Verb ShowVerb() {
  std::vector<Flag> flags = ShapeFlags();
  flags.push_back({"stats", "", "a table of operators (the default)"});
  flags.push_back({"text", "", "the graph as text"});
  flags.push_back({"dot", "", "a drawing for Graphviz: | dot -Tsvg > g.svg"});
  flags.push_back({"json", "", "the table as JSON"});
  return {"show",
          "show what a model consists of",
          "Prints the model's operators, parameters and floating-point "
          "operations, which nodes\nIsomer knows and which stay opaque, and "
          "why.",
          {"MODEL"},
          flags,
          Show};
}

}  // namespace isomer::cli
