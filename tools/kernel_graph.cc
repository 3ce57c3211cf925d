// A signature is nearly the text form of a graph: calls within calls become
// lines of their own.
#include "tools/kernel_graph.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/text.h"
#include "ops/status.h"
#include "runtime/random_inputs.h"

namespace isomer::cli {

namespace {

// Constants of this many elements and fewer are made.
constexpr int64_t kMaxElements = int64_t{1} << 30;

class Reader {
 public:
  explicit Reader(absl::string_view signature) : all_(signature) {}

  // family [name[!]=expression]... expression [operand:type[*]]...
  absl::Status Read() {
    rest_ = all_;
    Word();  // the family
    std::string result;
    while (result.empty()) {
      SkipSpace();
      absl::string_view before = rest_;
      const std::string name = Word();
      const bool stored = absl::ConsumePrefix(&rest_, "!");
      if (absl::ConsumePrefix(&rest_, "=")) {
        ASSIGN_OR_RETURN(names_[name], Expression());
        if (stored) outputs_.push_back(names_[name]);
        continue;
      }
      rest_ = before;
      ASSIGN_OR_RETURN(result, Expression());
    }
    outputs_.push_back(std::move(result));
    for (absl::string_view operand :
         absl::StrSplit(rest_, ' ', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(operand, absl::MaxSplits(':', 1));
      absl::string_view type = parts.second;
      if (type.empty()) return Wrong(operand);
      if (absl::ConsumeSuffix(&type, "*")) constants_.insert(parts.first);
      absl::StrAppend(&inputs_, "input ", parts.first, ": ", type, "\n");
    }
    return absl::OkStatus();
  }

  std::string Text() const {
    std::string text = absl::StrCat(inputs_, lines_);
    for (const std::string& v : outputs_) {
      absl::StrAppend(&text, "output ", v, " = ", v, "\n");
    }
    return text;
  }
  const std::set<std::string>& constants() const { return constants_; }

 private:
  absl::Status Wrong(absl::string_view at) const {
    return Invalid("'", all_, "' is not what a profile calls a kernel: at '",
                   at.substr(0, 40), "'");
  }

  void SkipSpace() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }

  std::string Word() {
    size_t n = 0;
    while (n < rest_.size() &&
           (absl::ascii_isalnum(rest_[n]) || rest_[n] == '_')) {
      ++n;
    }
    std::string word(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return word;
  }

  // What follows the '=' of an attribute, up to the next argument.
  std::string AttributeValue() {
    int depth = 0;
    bool quoted = false;
    size_t n = 0;
    for (; n < rest_.size(); ++n) {
      const char c = rest_[n];
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      if (depth == 0 && (c == ',' || c == ')')) break;
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    }
    std::string value(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return value;
  }

  // An operand, a name, or a call, which becomes a line; its name.
  absl::StatusOr<std::string> Expression() {
    const absl::string_view start = rest_;
    const std::string word = Word();
    if (word.empty()) return Wrong(start);
    if (!absl::ConsumePrefix(&rest_, "(")) {
      const auto it = names_.find(word);
      return it == names_.end() ? word : it->second;
    }
    std::vector<std::string> arguments;
    while (!absl::ConsumePrefix(&rest_, ")")) {
      if (rest_.empty()) return Wrong(start);
      absl::ConsumePrefix(&rest_, ",");
      SkipSpace();
      const absl::string_view before = rest_;
      const std::string name = Word();
      if (absl::ConsumePrefix(&rest_, "=")) {
        arguments.push_back(absl::StrCat(name, "=", AttributeValue()));
        continue;
      }
      rest_ = before;
      ASSIGN_OR_RETURN(std::string value, Expression());
      arguments.push_back(std::move(value));
    }
    const std::string made = absl::StrCat("value_", ++made_);
    absl::StrAppend(&lines_, made, " = ", word, "(",
                    absl::StrJoin(arguments, ", "), ")\n");
    return made;
  }

  const absl::string_view all_;
  absl::string_view rest_;
  std::string inputs_, lines_;
  // Of what stands before the result.
  std::map<std::string, std::string> names_;
  std::set<std::string> constants_;
  std::vector<std::string> outputs_;
  int made_ = 0;
};

}  // namespace

absl::StatusOr<ir::Graph> KernelGraph(absl::string_view signature) {
  Reader reader(signature);
  RETURN_IF_ERROR(reader.Read());
  ASSIGN_OR_RETURN(ir::Graph graph, ir::ParseGraph(reader.Text()));
  int64_t elements = 0;
  for (NodeId id : graph.inputs()) {
    elements += NumElements(graph.type({id, 0}));
  }
  if (elements > kMaxElements) {
    return Invalid("'", signature, "' reads ", elements, " elements; at most ",
                   kMaxElements, " are made");
  }
  ASSIGN_OR_RETURN(const auto tensors, runtime::RandomInputs(graph, 1));
  const std::vector<NodeId> inputs(graph.inputs().begin(),
                                   graph.inputs().end());
  for (NodeId id : inputs) {
    const std::string name = *graph.node(id).name;
    if (reader.constants().count(name) == 0) continue;
    const Value constant =
        graph.AddConstant(ir::Constant::FromTensor(tensors.at(name), name));
    graph.ReplaceUses({id, 0}, constant);
  }
  return graph;
}

bool IsPlannedAs(const ir::Graph& graph, absl::string_view signature,
                 const cost::CostModel& cost) {
  int launches = 0;
  bool same = false;
  for (const cost::Kernel& k : cost.MakePlan(graph).Kernels(graph)) {
    launches += k.launches ? 1 : 0;
    same = same || k.signature == signature;
  }
  return launches == 1 && same;
}

}  // namespace isomer::cli
