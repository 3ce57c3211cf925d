// Weights stand in the text as inputs called "weight:NAME"; they are put back
// when it is read, and given random values when graphs are compared.
#include "api/certificate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/graph_access.h"
#include "api/rule_files.h"
#include "graph/equal_in_field.h"
#include "graph/hashing.h"
#include "graph/text.h"
#include "onnx/writer.h"
#include "ops/status.h"
#include "runtime/fast.h"

namespace isomer {

namespace {

constexpr absl::string_view kHeader = "isomer certificate 1";

// The nodes that are neither inputs nor constants, in order.
std::vector<NodeId> Computed(const ir::Graph& g) {
  std::vector<NodeId> out;
  for (NodeId id : g.Order()) {
    if (g.node(id).op != nullptr || g.node(id).opaque != nullptr) {
      out.push_back(id);
    }
  }
  return out;
}

bool IsSmall(const ir::Constant& c) { return NumElements(c.type()) <= 64; }

// Makes the graph that was read out of the model's own: nodes that the model
// has keep their identity, so that export knows what was not touched.
class Grafter {
 public:
  Grafter(const ir::Graph& model, const ir::Graph& read)
      : model_(model), read_(read), graph_(model), to_(read.id_bound()) {
    for (NodeId id : model.Order()) {
      const ir::Node& n = model.node(id);
      if (n.name != nullptr) leaves_[*n.name] = id;
      if (n.constant != nullptr) leaves_[ir::WeightName(*n.constant)] = id;
      if (n.opaque != nullptr) leaves_[OpaqueName(*n.opaque)] = id;
      for (const ir::Mark& m : model.marks(id))
        holder_[m.mark] = {id, m.output};
    }
  }

  absl::StatusOr<ir::Graph> Run(absl::string_view marks) {
    for (NodeId id : read_.Order()) RETURN_IF_ERROR(Add(id));
    if (read_.outputs().size() != model_.outputs().size()) {
      return Invalid("the graph has ", read_.outputs().size(),
                     " outputs, the model ", model_.outputs().size());
    }
    for (size_t i = 0; i < model_.outputs().size(); ++i) {
      RETURN_IF_ERROR(Replace(model_.outputs()[i].value,
                              ValueOf(read_.outputs()[i].value)));
    }
    for (const auto& [from, to] : operands_) RETURN_IF_ERROR(Replace(from, to));
    RETURN_IF_ERROR(MoveMarks(marks));
    const std::vector<NodeId> order = model_.Order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const bool used =
          !model_.users(*id).empty() || model_.output_uses(*id) > 0;
      if (used && made_.count(*id) == 0) graph_.RemoveIfUnused(*id);
    }
    return std::move(graph_);
  }

 private:
  static std::string OpaqueName(const ir::Opaque& o) {
    return absl::StrCat("opaque:", o.key);
  }
  Value ValueOf(Value v) const { return {to_[v.node.value], v.output}; }

  absl::Status Add(NodeId id) {
    const ir::Node& n = read_.node(id);
    NodeId& to = to_[id.value];
    if (n.constant != nullptr) {
      to = graph_.AddConstant(n.constant).node;
      return absl::OkStatus();
    }
    std::vector<Value> in;
    for (Value v : n.inputs) in.push_back(ValueOf(v));
    if (n.op != nullptr) {
      ASSIGN_OR_RETURN(to, graph_.AddNode(*n.op, in, *n.attrs));
      made_.insert(to);
      return absl::OkStatus();
    }
    const std::string name =
        n.name != nullptr ? *n.name : OpaqueName(*n.opaque);
    const auto it = leaves_.find(name);
    if (it == leaves_.end() || *model_.node(it->second).types != *n.types) {
      return Invalid("the model has no ", name, " of that type");
    }
    to = it->second;
    if (n.opaque == nullptr) return absl::OkStatus();
    const ir::Node& was = model_.node(to);
    if (was.inputs.size() != in.size()) return Invalid(name, ": its operands");
    for (size_t i = 0; i < in.size(); ++i) {
      if (was.inputs[i] != in[i]) operands_.push_back({was.inputs[i], in[i]});
    }
    return absl::OkStatus();
  }

  absl::Status Replace(Value from, Value to) {
    const TensorType *a = model_.FindType(from), *b = graph_.FindType(to);
    if ((a == nullptr) != (b == nullptr) || (a != nullptr && *a != *b)) {
      return Invalid("a value changed its type");
    }
    if (from != to && graph_.Has(from.node)) {
      graph_.ReplaceUses(from, to,
                         std::vector<NodeId>(made_.begin(), made_.end()));
    }
    return absl::OkStatus();
  }

  // Names go to the values that stand for them now.
  absl::Status MoveMarks(absl::string_view marks) {
    const std::vector<NodeId> order = Computed(read_);
    for (absl::string_view line : absl::StrSplit(marks, '\n')) {
      if (line.empty()) continue;
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      size_t place = 0;
      int32_t output = 0, mark = 0;
      if (words.size() != 4 || words[0] != "mark" ||
          !absl::SimpleAtoi(words[1], &place) ||
          !absl::SimpleAtoi(words[2], &output) ||
          !absl::SimpleAtoi(words[3], &mark) || place >= order.size() ||
          output < 0 || output >= read_.node(order[place]).num_outputs()) {
        return Invalid("'", line, "' is no mark of the graph");
      }
      const auto it = holder_.find(mark);
      if (it == holder_.end()) return Invalid("'", line, "': no such name");
      if (made_.count(it->second.node) > 0) continue;
      RETURN_IF_ERROR(Replace(it->second, ValueOf({order[place], output})));
    }
    return absl::OkStatus();
  }

  const ir::Graph& model_;
  const ir::Graph& read_;
  ir::Graph graph_;
  std::vector<NodeId> to_;  // by id in read_
  std::set<NodeId> made_;   // the operators that the graph consists of
  // What opaque nodes used, and use now.
  std::vector<std::pair<Value, Value>> operands_;
  std::map<std::string, NodeId> leaves_;
  std::map<int32_t, Value> holder_;  // of names, in the model
};

}  // namespace

std::string GraphWithMarks(const ir::Graph& graph) {
  std::string out;
  const std::vector<NodeId> order = Computed(graph);
  for (size_t i = 0; i < order.size(); ++i) {
    for (const ir::Mark& m : graph.marks(order[i])) {
      absl::StrAppend(&out, "mark ", i, " ", m.output, " ", m.mark, "\n");
    }
  }
  auto open = ir::OpenWeights(graph, IsSmall);
  Check(open.ok(), "a graph can be copied");
  absl::StrAppend(&out, "graph\n", ir::PrintGraph(*open));
  return out;
}

absl::StatusOr<ir::Graph> ReadGraphWithMarks(absl::string_view text,
                                             const ir::Graph& model) {
  const size_t at = text.find("graph\n");
  if (at == absl::string_view::npos) return Invalid("there is no graph");
  ASSIGN_OR_RETURN(const ir::Graph read, ir::ParseGraph(text.substr(at + 6)));
  return Grafter(model, read).Run(text.substr(0, at));
}

std::string FileDigest(absl::string_view bytes) {
  return absl::StrFormat("%016x %d", ir::HashText(bytes), bytes.size());
}

std::string PrintCertificate(const Certificate& c) {
  std::string out = absl::StrCat(kHeader, "\noriginal ", c.original,
                                 "\noptimized ", c.optimized, "\n");
  for (const auto& [name, dims] : c.options.shapes) {
    absl::StrAppend(&out, "shape ", absl::StrJoin(dims, ","), " ", name, "\n");
  }
  for (const auto& [name, size] : c.options.dims) {
    absl::StrAppend(&out, "dim ", size, " ", name, "\n");
  }
  for (const std::string& r : c.rules) absl::StrAppend(&out, "rule ", r, "\n");
  return out + c.graph;
}

absl::StatusOr<Certificate> ParseCertificate(absl::string_view text) {
  Certificate c;
  int number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const absl::string_view line = text.substr(0, end);
    if (number++ == 0) {
      if (line != kHeader) return Invalid("line 1: this is no certificate");
      text.remove_prefix(std::min(end + 1, text.size()));
      continue;
    }
    if (line == "graph" || absl::StartsWith(line, "mark ")) {
      c.graph = std::string(text);
      return c;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    const auto& [key, value] = parts;
    const std::pair<std::string, std::string> named =
        absl::StrSplit(value, absl::MaxSplits(' ', 1));
    bool good = true;
    if (key == "original") {
      c.original = value;
    } else if (key == "optimized") {
      c.optimized = value;
    } else if (key == "rule") {
      c.rules.push_back(value);
    } else if (key == "dim") {
      good = absl::SimpleAtoi(named.first, &c.options.dims[named.second]);
    } else if (key == "shape") {
      for (absl::string_view d :
           absl::StrSplit(named.first, ',', absl::SkipEmpty())) {
        int64_t n = 0;
        good = good && absl::SimpleAtoi(d, &n);
        c.options.shapes[named.second].push_back(n);
      }
    } else {
      good = false;
    }
    if (!good) return Invalid("line ", number, ": '", line, "' is not known");
  }
  return Invalid("the certificate has no graph");
}

absl::StatusOr<Certified> Certify(const std::string& path,
                                  const OptimizeResult& result) {
  ASSIGN_OR_RETURN(const std::string original, ReadText(path));
  Certificate c;
  c.original = FileDigest(original);
  c.options = GraphAccess::Options(result.graph);
  for (const RuleApplied& r : result.rules) {
    c.rules.push_back(absl::StrCat(r.rule, " ", r.proof));
  }
  c.graph = GraphWithMarks(GraphAccess::Ir(result.graph));
  // What is written is made from the text, so that whoever reads the text makes
  // the same.
  ASSIGN_OR_RETURN(
      ir::Graph graph,
      ReadGraphWithMarks(c.graph, GraphAccess::Model(result.graph).graph));
  const Graph out = GraphAccess::With(result.graph, std::move(graph));
  ASSIGN_OR_RETURN(const std::string bytes, out.ToOnnxBytes());
  c.optimized = FileDigest(bytes);
  return Certified{PrintCertificate(c), out};
}

absl::StatusOr<ir::FieldAgreement> CheckCertificate(
    const std::string& original, const std::string& optimized,
    const Certificate& certificate, uint64_t seed) {
  ASSIGN_OR_RETURN(const std::string a, ReadText(original));
  ASSIGN_OR_RETURN(const std::string b, ReadText(optimized));
  if (FileDigest(a) != certificate.original) {
    return Invalid(original, " is not the original that was certified");
  }
  if (FileDigest(b) != certificate.optimized) {
    return Invalid(optimized, " is not the model that was certified");
  }
  ASSIGN_OR_RETURN(Graph from,
                   Graph::FromOnnx(original, {certificate.options.shapes,
                                              certificate.options.dims}));
  ASSIGN_OR_RETURN(ir::Graph graph, ReadGraphWithMarks(certificate.graph,
                                                       GraphAccess::Ir(from)));
  ASSIGN_OR_RETURN(ir::FieldAgreement check,
                   ir::EqualInField(GraphAccess::Ir(from), graph, seed,
                                    runtime::FastKernels()));
  ASSIGN_OR_RETURN(const std::string bytes,
                   GraphAccess::With(from, std::move(graph)).ToOnnxBytes());
  if (bytes != b) {
    return absl::DataLossError(
        absl::StrCat("folding the certified graph does not give ", optimized));
  }
  return check;
}

}  // namespace isomer
