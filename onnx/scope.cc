// One walk over the nodes in their order, with the set of names defined so far.
#include "onnx/scope.h"

#include <functional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

using Names = absl::flat_hash_set<absl::string_view>;

absl::Status Define(const std::string& name, absl::string_view what,
                    Names* names) {
  if (name.empty()) return Invalid(what, " has no name");
  if (names->insert(name).second) return absl::OkStatus();
  return Invalid(what, " '", name, "': the name is defined twice");
}

// Inputs and initializers. An initializer may give an input its default.
absl::Status DefineLeaves(const GraphEntry& graph, Names* defined) {
  for (const ValueEntry& input : graph.inputs) {
    RETURN_IF_ERROR(Define(input.name, "graph input", defined));
  }
  Names initialized;
  for (const TensorEntry& t : graph.initializers) {
    RETURN_IF_ERROR(Define(t.name, "initializer", &initialized));
  }
  for (const SparseEntry& s : graph.sparse_initializers) {
    RETURN_IF_ERROR(Define(s.values.name, "sparse initializer", &initialized));
  }
  defined->insert(initialized.begin(), initialized.end());
  return absl::OkStatus();
}

template <class Visit>
void ForEachUse(const NodeEntry& entry, const Visit& visit) {
  for (const std::string& name : entry.node.inputs) {
    if (!name.empty()) visit(name);
  }
  for (const std::string& name : entry.captured) visit(name);
}

// Whether no order of the nodes defines each value before its uses.
bool HasCycle(const GraphEntry& graph) {
  absl::flat_hash_map<absl::string_view, size_t> producer;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& name : graph.nodes[i].node.outputs) {
      producer.emplace(name, i);
    }
  }
  const size_t n = graph.nodes.size();
  std::vector<std::vector<size_t>> users(n);
  std::vector<size_t> waiting(n, 0);
  for (size_t i = 0; i < n; ++i) {
    ForEachUse(graph.nodes[i], [&](const std::string& name) {
      const auto it = producer.find(name);
      if (it == producer.end()) return;
      users[it->second].push_back(i);
      ++waiting[i];
    });
  }
  std::vector<size_t> ready;
  for (size_t i = 0; i < n; ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  size_t done = 0;
  for (; done < ready.size(); ++done) {
    for (size_t user : users[ready[done]]) {
      if (--waiting[user] == 0) ready.push_back(user);
    }
  }
  return done < n;
}

absl::Status OutOfOrder(const GraphEntry& graph, const std::string& name,
                        const std::string& user, const std::string& producer) {
  return Invalid(
      user, " uses '", name, "', which ", producer,
      " defines only later: the nodes ",
      HasCycle(graph) ? "form a cycle" : "are not in topological order");
}

}  // namespace

absl::StatusOr<std::vector<FreeName>> FreeNames(const GraphEntry& graph) {
  Names defined;
  RETURN_IF_ERROR(DefineLeaves(graph, &defined));
  std::vector<FreeName> free;
  absl::flat_hash_map<absl::string_view, std::string> first_user;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeEntry& entry = graph.nodes[i];
    ForEachUse(entry, [&](const std::string& name) {
      if (defined.contains(name) || first_user.contains(name)) return;
      std::string user = NodeText(entry.node, i);
      free.push_back({name, user});
      first_user.emplace(name, std::move(user));
    });
    for (const std::string& name : entry.node.outputs) {
      if (name.empty()) continue;
      const std::string text = NodeText(entry.node, i);
      if (const auto it = first_user.find(name); it != first_user.end()) {
        return OutOfOrder(graph, name, it->second, text);
      }
      RETURN_IF_ERROR(Define(name, absl::StrCat(text, ": output"), &defined));
    }
  }
  for (const ValueEntry& output : graph.outputs) {
    if (output.name.empty()) return Invalid("graph output has no name");
    if (defined.contains(output.name)) continue;
    if (!first_user.emplace(output.name, "").second) continue;
    free.push_back({output.name, "graph output"});
  }
  return free;
}

absl::Status CheckClosed(const GraphEntry& graph) {
  ASSIGN_OR_RETURN(const std::vector<FreeName> free, FreeNames(graph));
  if (free.empty()) return absl::OkStatus();
  return Invalid(free[0].user, " uses '", free[0].name,
                 "', which nothing defines");
}

}  // namespace isomer::onnx
