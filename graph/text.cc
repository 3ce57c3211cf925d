// Printer and parser of the graph text form.
#include "graph/text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/lexer.h"
#include "ops/registry.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

// A name as it is if it is one word, else quoted.
std::string Quoted(absl::string_view name) {
  auto tokens = Tokenize(name);
  const bool plain = tokens.ok() && tokens->size() == 2 &&
                     (*tokens)[0].kind == Token::Kind::kName &&
                     (*tokens)[0].text == name;
  if (plain) return std::string(name);
  return absl::StrCat("\"", absl::CEscape(name), "\"");
}

class Printer {
 public:
  Printer(const Graph& graph, const PrintOptions& options)
      : graph_(graph), options_(options) {}

  std::string Print() {
    // Inputs come first, in their own order, whoever uses them.
    for (NodeId id : graph_.inputs()) PrintNode(id);
    for (NodeId id : graph_.Order()) {
      if (graph_.node(id).kind != Node::Kind::kInput) PrintNode(id);
    }
    for (const Output& o : graph_.outputs()) {
      absl::StrAppend(&out_, "output ", Quoted(o.name), " = ",
                      names_.at(o.value), "\n");
    }
    return std::move(out_);
  }

 private:
  static std::string TypeOrUnknown(const std::optional<TensorType>& t) {
    return t ? TypeText(*t) : "?";
  }

  // `wanted` if no other value has it, else a numbered name.
  std::string NameFor(Value v, absl::string_view wanted) {
    std::string name = wanted.empty() ? "" : Quoted(wanted);
    while (name.empty() || !taken_.emplace(name, v).second) {
      name = absl::StrCat("v", next_++);
    }
    names_[v] = name;
    return name;
  }

  void PrintNode(NodeId id) {
    const Node& n = graph_.node(id);
    switch (n.kind) {
      case Node::Kind::kInput:
        absl::StrAppend(&out_, "input ", NameFor({id, 0}, *n.name), ": ",
                        TypeOrUnknown((*n.types)[0]), "\n");
        return;
      case Node::Kind::kConstant:
        absl::StrAppend(&out_, "const ", NameFor({id, 0}, n.constant->name()),
                        ": ", TypeText(n.constant->type()), " = ",
                        ConstantText(*n.constant), "\n");
        return;
      case Node::Kind::kOp:
      case Node::Kind::kOpaque:
        PrintOperator(id, n);
        return;
    }
  }

  std::string ConstantText(const Constant& c) const {
    if (std::optional<double> value = c.Splat();
        value && NumElements(c.type()) > 1 && IsFloat(c.type().dtype)) {
      return DoubleText(*value);
    }
    if (NumElements(c.type()) == 0) return "[]";
    if (NumElements(c.type()) > options_.max_constant) return "...";
    return TensorText(c.ToTensor());
  }

  void PrintOperator(NodeId id, const Node& n) {
    std::vector<std::string> inputs;
    for (Value v : n.inputs) inputs.push_back(names_.at(v));
    std::vector<std::string> outputs;
    for (int k = 0; k < n.num_outputs(); ++k) {
      outputs.push_back(NameFor({id, k}, ""));
    }
    absl::StrAppend(&out_, absl::StrJoin(outputs, ", "), " = ");
    if (n.kind == Node::Kind::kOpaque) {
      std::vector<std::string> types;
      for (const auto& t : *n.types) types.push_back(TypeOrUnknown(t));
      absl::StrAppend(&out_, "opaque \"", absl::CEscape(n.opaque->op), "\" \"",
                      absl::CEscape(n.opaque->key), "\" (",
                      absl::StrJoin(inputs, ", "),
                      "): ", absl::StrJoin(types, ", "), "\n");
      return;
    }
    if (!n.attrs->empty()) inputs.push_back(AttrsText<int64_t>(*n.attrs));
    absl::StrAppend(&out_, n.op->name, "(", absl::StrJoin(inputs, ", "), ")\n");
  }

  const Graph& graph_;
  const PrintOptions& options_;
  std::map<Value, std::string> names_;
  std::map<std::string, Value> taken_;
  int next_ = 0;
  std::string out_;
};

class Parser {
 public:
  Parser(std::vector<Token> tokens, const ParseOptions& options)
      : tokens_(std::move(tokens)),
        options_(options),
        elements_left_(options.max_elements) {}

  absl::StatusOr<Graph> Parse() {
    while (Peek().kind != Token::Kind::kEnd) RETURN_IF_ERROR(Statement());
    return std::move(graph_);
  }

 private:
  const Token& Peek() const { return tokens_[at_]; }
  const Token& Next() const {
    return tokens_[std::min(at_ + 1, tokens_.size() - 1)];
  }
  bool Accept(absl::string_view what) {
    if (!Peek().Is(what)) return false;
    ++at_;
    return true;
  }
  absl::Status Expect(absl::string_view what) {
    if (Accept(what)) return absl::OkStatus();
    return Error(
        absl::StrCat("expected '", what, "', found ", Describe(Peek())));
  }
  absl::Status Error(absl::string_view what) const {
    return ErrorAt(Peek().at, what);
  }
  // An error from below, with the place of the statement.
  static absl::Status At(Position at, const absl::Status& s) {
    return ErrorAt(at, s.message());
  }
  absl::StatusOr<std::string> Name() {
    const Token& t = Peek();
    if (t.kind != Token::Kind::kName && t.kind != Token::Kind::kString) {
      return Error(absl::StrCat("expected a name, found ", Describe(t)));
    }
    ++at_;
    return t.kind == Token::Kind::kString ? t.string : std::string(t.text);
  }

  absl::Status Define(const std::string& name, Value v, Position at) {
    if (name.empty()) return ErrorAt(at, "a value has a name");
    if (values_.emplace(name, v).second) return absl::OkStatus();
    return ErrorAt(at, absl::StrCat("'", name, "' is defined twice"));
  }

  absl::Status Statement() {
    const Position at = Peek().at;
    // A keyword is one only where a name follows.
    const Token::Kind next = Next().kind;
    if (next == Token::Kind::kName || next == Token::Kind::kString) {
      if (Accept("input")) return Input(at);
      if (Accept("const")) return ConstantStatement(at);
      if (Accept("output")) return OutputStatement();
    }
    std::vector<std::string> names;
    do {
      ASSIGN_OR_RETURN(std::string name, Name());
      names.push_back(std::move(name));
    } while (Accept(","));
    RETURN_IF_ERROR(Expect("="));
    NodeId id;
    if (Accept("opaque")) {
      ASSIGN_OR_RETURN(id, OpaqueCall());
    } else {
      ASSIGN_OR_RETURN(id, Call());
    }
    const int outputs = graph_.node(id).num_outputs();
    if (outputs != static_cast<int>(names.size())) {
      return ErrorAt(
          at, absl::StrCat(names.size(), " names for ", outputs, " outputs"));
    }
    for (int k = 0; k < outputs; ++k) {
      RETURN_IF_ERROR(Define(names[k], {id, k}, at));
    }
    return absl::OkStatus();
  }

  // A type reaches to its last bracket: f32[2,3] or f32[2]@{m:2}.
  absl::StatusOr<std::optional<TensorType>> Type() {
    const Position at = Peek().at;
    if (Accept("?")) return std::optional<TensorType>();
    const char* begin = Peek().text.data();
    RETURN_IF_ERROR(Name().status());
    RETURN_IF_ERROR(SkipTo("[", "]"));
    if (Peek().Is("@")) {
      ++at_;
      RETURN_IF_ERROR(SkipTo("{", "}"));
    }
    const absl::string_view last = tokens_[at_ - 1].text;
    auto type =
        ParseType(absl::string_view(begin, last.data() + last.size() - begin));
    if (!type.ok()) return At(at, type.status());
    return std::optional<TensorType>(*std::move(type));
  }
  absl::Status SkipTo(absl::string_view open, absl::string_view close) {
    RETURN_IF_ERROR(Expect(open));
    for (int depth = 1; depth > 0; ++at_) {
      if (Peek().kind == Token::Kind::kEnd) {
        return Error(absl::StrCat("expected '", close, "'"));
      }
      depth += Peek().Is(open) ? 1 : Peek().Is(close) ? -1 : 0;
    }
    return absl::OkStatus();
  }

  absl::Status Input(Position at) {
    ASSIGN_OR_RETURN(std::string name, Name());
    RETURN_IF_ERROR(Expect(":"));
    ASSIGN_OR_RETURN(std::optional<TensorType> type, Type());
    return Define(name, graph_.AddInput(name, std::move(type)), at);
  }

  absl::Status ConstantStatement(Position at) {
    ASSIGN_OR_RETURN(std::string name, Name());
    RETURN_IF_ERROR(Expect(":"));
    ASSIGN_OR_RETURN(std::optional<TensorType> type, Type());
    if (!type) return ErrorAt(at, "a constant has a type");
    if (NumElements(*type) > elements_left_) {
      return ErrorAt(at, absl::StrCat("the constants of a text have at most ",
                                      options_.max_elements, " elements"));
    }
    elements_left_ -= NumElements(*type);
    RETURN_IF_ERROR(Expect("="));
    const Position value_at = Peek().at;
    const char* begin = Peek().text.data();
    if (Peek().Is("[")) {
      RETURN_IF_ERROR(SkipTo("[", "]"));
    } else {
      Accept("-");
      if (Peek().kind == Token::Kind::kEnd) return Error("expected a value");
      ++at_;
    }
    const absl::string_view last = tokens_[at_ - 1].text;
    const absl::string_view text(begin, last.data() + last.size() - begin);
    auto tensor = ParseTensor(absl::StrCat(text, ":", DTypeName(type->dtype)));
    if (!tensor.ok()) return At(value_at, tensor.status());
    const std::vector<int64_t> dims = AllDims(*type);
    const std::vector<int64_t>& given = tensor->type.shape;
    // `[]` stands for whatever has no elements.
    const bool none =
        NumElements(dims) == 0 && given == std::vector<int64_t>{0};
    if (given.empty()) {  // one value for all elements
      std::visit(
          [&](auto& v) {
            const auto value = v[0];
            v.assign(NumElements(*type), value);
          },
          tensor->data);
    } else if (given != dims && !none) {
      return ErrorAt(value_at,
                     absl::StrCat("the value has shape ", ShapeText(given),
                                  ", the type ", TypeText(*type)));
    }
    tensor->type = *type;
    return Define(name, graph_.AddConstant(Constant::FromTensor(*tensor, name)),
                  at);
  }

  absl::Status OutputStatement() {
    ASSIGN_OR_RETURN(std::string name, Name());
    RETURN_IF_ERROR(Expect("="));
    ASSIGN_OR_RETURN(Value v, Operand());
    graph_.AddOutput(name, v);
    return absl::OkStatus();
  }

  absl::StatusOr<Value> Operand() {
    const Position at = Peek().at;
    ASSIGN_OR_RETURN(std::string name, Name());
    auto it = values_.find(name);
    if (it == values_.end()) {
      return ErrorAt(at, absl::StrCat("'", name, "' is not defined"));
    }
    return it->second;
  }

  absl::StatusOr<NodeId> OpaqueCall() {
    Opaque opaque;
    ASSIGN_OR_RETURN(opaque.op, Name());
    ASSIGN_OR_RETURN(opaque.key, Name());
    RETURN_IF_ERROR(Expect("("));
    std::vector<Value> inputs;
    while (!Peek().Is(")")) {
      ASSIGN_OR_RETURN(Value v, Operand());
      inputs.push_back(v);
      if (!Accept(",")) break;
    }
    RETURN_IF_ERROR(Expect(")"));
    RETURN_IF_ERROR(Expect(":"));
    std::vector<std::optional<TensorType>> types;
    do {
      ASSIGN_OR_RETURN(std::optional<TensorType> t, Type());
      types.push_back(std::move(t));
    } while (Accept(","));
    return graph_.AddOpaque(std::move(opaque), inputs, std::move(types));
  }

  absl::StatusOr<NodeId> Call() {
    const Position at = Peek().at;
    ASSIGN_OR_RETURN(std::string name, Name());
    const OpDef* op = Ops().Find(name);
    if (op == nullptr) {
      return ErrorAt(at, absl::StrCat("there is no operator '", name, "'"));
    }
    RETURN_IF_ERROR(Expect("("));
    std::vector<Value> inputs;
    Attrs attrs;
    while (!Peek().Is(")")) {
      if (Next().Is("=")) {
        ASSIGN_OR_RETURN(std::string attr, Name());
        RETURN_IF_ERROR(Expect("="));
        ASSIGN_OR_RETURN(Attr value, AttrValue());
        attrs.Set(attr, std::move(value));
      } else {
        ASSIGN_OR_RETURN(Value v, Operand());
        inputs.push_back(v);
      }
      if (!Accept(",")) break;
    }
    RETURN_IF_ERROR(Expect(")"));
    absl::StatusOr<NodeId> id = graph_.AddNode(*op, inputs, attrs);
    if (!id.ok()) return At(at, id.status());
    return id;
  }

  absl::StatusOr<Attr> AttrValue() {
    if (!Accept("[")) return Scalar();
    std::vector<int64_t> ints;
    std::vector<double> reals;
    while (!Accept("]")) {
      const Position at = Peek().at;
      ASSIGN_OR_RETURN(Attr item, Scalar());
      if (auto* i = std::get_if<int64_t>(&item)) {
        ints.push_back(*i);
        reals.push_back(static_cast<double>(*i));
      } else if (auto* d = std::get_if<double>(&item)) {
        reals.push_back(*d);
      } else {
        return ErrorAt(at, "a list holds numbers");
      }
    }
    if (ints.size() == reals.size()) return Attr(std::move(ints));
    return Attr(std::move(reals));
  }

  absl::StatusOr<Attr> Scalar() {
    const bool negative = Accept("-");
    const Token& t = Peek();
    if (t.kind == Token::Kind::kInteger) {
      ++at_;
      return Attr(negative ? -t.integer : t.integer);
    }
    if (t.kind == Token::Kind::kFloat) {
      ++at_;
      return Attr(negative ? -t.real : t.real);
    }
    ASSIGN_OR_RETURN(std::string word, Name());
    if (word == "inf" || word == "nan") {
      const double v = word == "inf" ? HUGE_VAL : std::nan("");
      return Attr(negative ? -v : v);
    }
    if (negative) return Error("expected a number after '-'");
    return Attr(std::move(word));
  }

  std::vector<Token> tokens_;
  const ParseOptions& options_;
  int64_t elements_left_;
  size_t at_ = 0;
  Graph graph_;
  std::map<std::string, Value> values_;
};

}  // namespace

std::string PrintGraph(const Graph& graph, const PrintOptions& options) {
  return Printer(graph, options).Print();
}

absl::StatusOr<Graph> ParseGraph(absl::string_view text,
                                 const ParseOptions& options) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text));
  return Parser(std::move(tokens), options).Parse();
}

}  // namespace isomer::ir
