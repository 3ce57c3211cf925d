// The digest of an operator covers what it says of itself as text and what its
// functions give: inference and index semantics at symbolic sizes, the kernel
// over the field, all of which are exact.
#include "verify/trust.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/hashing.h"
#include "ops/example.h"
#include "ops/status.h"
#include "verify/scalar_facts.h"

namespace isomer::verify {

namespace {

// Raised when `proved` comes to mean something else.
constexpr int kVerifierVersion = 2;

constexpr absl::string_view kVerdicts[] = {"proved", "refuted", "unknown"};

// ---- Operators

std::string SchemaText(const OpDef& op) {
  std::string out =
      absl::StrCat(op.name, op.inputs.variadic ? "..." : "", " ", op.outputs,
                   " ", op.commutative, " ", op.parallel, "\n");
  for (const std::string& name : op.inputs.names) {
    absl::StrAppend(&out, name, "\n");
  }
  for (const AttrSpec& a : op.attrs) {
    absl::StrAppend(&out, a.name, " ", AttrKindName(a.kind), " ",
                    static_cast<int>(a.role), " ",
                    a.required ? "" : AttrText<int64_t>(a.default_value));
    for (const std::string& c : a.choices) absl::StrAppend(&out, " ", c);
    out += "\n";
  }
  absl::StrAppend(&out, op.expansion, "\n");
  for (const std::string& axiom : op.axioms) absl::StrAppend(&out, axiom, "\n");
  return out;
}

// The calls that the operator's own definition shows.
std::vector<TypedCall> CallsOf(const OpDef& op) {
  std::vector<TypedCall> out;
  for (const std::string& text : op.cases) {
    if (auto call = ParseTypedCall(text); call.ok()) out.push_back(*call);
  }
  for (const std::string& text : op.examples) {
    auto example = ParseExample(text);
    if (!example.ok()) continue;
    TypedCall call{example->op, {}, example->attrs};
    for (const Tensor& t : example->inputs) call.inputs.push_back(t.type);
    out.push_back(std::move(call));
  }
  return out;
}

// Types and index semantics with a symbol for every size.
std::string SymbolicText(const OpDef& op, const TypedCall& call) {
  std::vector<SymType> types;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    SymType t = ToSymbolic(call.inputs[k]);
    for (size_t d = 0; d < t.shape.size(); ++d) {
      t.shape[d] = DimExpr::Symbol(absl::StrCat("d", k, "_", d));
    }
    types.push_back(std::move(t));
  }
  auto inferred = InferOp(op, types, ToSymbolic(call.attrs));
  if (!inferred.ok()) return std::string(inferred.status().message());
  std::string out;
  for (const SymType& t : inferred->outputs) {
    absl::StrAppend(&out, TypeText(t), "\n");
  }
  for (const Obligation& o : inferred->obligations) {
    absl::StrAppend(&out, ObligationText(o), "\n");
  }
  if (!op.element) return out;
  const SymType& result = inferred->outputs[0];
  std::vector<DimExpr> index;
  const int rank = result.rank() +
                   (op.parallel ? static_cast<int>(result.device.size()) : 0);
  for (int d = 0; d < rank; ++d) {
    index.push_back(DimExpr::Symbol(absl::StrCat("i", d)));
  }
  auto elem = IndexOp(op, types, *inferred, index);
  return elem.ok() ? absl::StrCat(out, elem->ToString(), "\n") : out;
}

// The results over the field at values that depend on the place alone.
std::string ResultText(const OpDef& op, const TypedCall& call) {
  std::vector<Tensor> inputs;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    std::vector<double> values(NumElements(call.inputs[k]));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>((3 * i + k) % 5);
    }
    inputs.push_back(FromDoubles(call.inputs[k], values, Interp::kField));
  }
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : inputs) pointers.push_back(&t);
  auto outputs = EvalOp(op, pointers, call.attrs, Interp::kField);
  if (!outputs.ok()) return std::string(outputs.status().message());
  std::string out;
  for (const Tensor& t : *outputs) {
    absl::StrAppend(&out, TypeText(t.type), " ");
    if (const auto* v = std::get_if<std::vector<Field>>(&t.data)) {
      for (Field x : *v) absl::StrAppend(&out, x.value(), " ");
    } else {
      for (int64_t x : t.as<int64_t>()) absl::StrAppend(&out, x, " ");
    }
  }
  return out;
}

// ---- Stamps

std::optional<Stamp> AsStamp(absl::string_view comment) {
  const std::vector<std::string> words =
      absl::StrSplit(comment, ' ', absl::SkipWhitespace());
  if (words.size() != 2 || !absl::c_linear_search(kVerdicts, words[0]) ||
      words[1].size() != 16 ||
      !absl::c_all_of(words[1], absl::ascii_isxdigit)) {
    return std::nullopt;
  }
  return Stamp{words[0], words[1]};
}

// Why a rule may not be used; "" if it may.
std::string Refusal(const ir::RuleSyntax& rule, uint64_t operators) {
  const std::optional<Stamp> stamp = FindStamp(rule);
  if (!stamp) return "it has no verdict";
  if (stamp->hash != RuleHash(rule, operators)) {
    return "its verdict is about another text or other operators";
  }
  return stamp->verdict == "proved" ? ""
                                    : absl::StrCat("it is ", stamp->verdict);
}

}  // namespace

uint64_t OperatorDigest(const Registry& registry) {
  uint64_t digest = ir::HashText(absl::StrCat("verifier ", kVerifierVersion));
  for (const std::string& fact : AllScalarFacts()) {
    digest = ir::HashCombine(digest, ir::HashText(fact));
  }
  for (const OpDef* op : registry.all()) {
    digest = ir::HashCombine(digest, ir::HashText(SchemaText(*op)));
    for (const TypedCall& call : CallsOf(*op)) {
      digest = ir::HashCombine(digest, ir::HashText(SymbolicText(*op, call)));
      digest = ir::HashCombine(digest, ir::HashText(ResultText(*op, call)));
    }
  }
  return digest;
}

std::string RuleHash(const ir::RuleSyntax& rule, uint64_t operators) {
  ir::RuleSyntax body = rule;
  body.comments.clear();
  body.name.clear();
  const uint64_t hash =
      ir::HashCombine(operators, ir::HashText(ir::PrintRule(body)));
  return absl::StrCat(absl::Hex(hash, absl::kZeroPad16));
}

std::optional<Stamp> FindStamp(const ir::RuleSyntax& rule) {
  for (auto it = rule.comments.rbegin(); it != rule.comments.rend(); ++it) {
    if (auto stamp = AsStamp(*it)) return stamp;
  }
  return std::nullopt;
}

void SetStamp(ir::RuleSyntax& rule, const Stamp& stamp) {
  std::erase_if(rule.comments,
                [](const std::string& c) { return AsStamp(c).has_value(); });
  rule.comments.push_back(absl::StrCat(stamp.verdict, " ", stamp.hash));
}

TrustedRules TakeProved(const ir::RuleFileSyntax& file,
                        const Registry& registry) {
  TrustedRules out;
  const uint64_t operators = OperatorDigest(registry);
  for (const ir::RuleItem& item : file.items) {
    if (const auto* fold = std::get_if<ir::FoldSyntax>(&item)) {
      if (out.rules.Find(fold->name) != nullptr) {
        out.rules.folds.push_back(fold->name);
      }
      continue;
    }
    const auto& syntax = std::get<ir::RuleSyntax>(item);
    std::string why = Refusal(syntax, operators);
    std::vector<ir::Rule> checked;
    for (bool reversed : {false, true}) {
      if (!why.empty() || (reversed && !syntax.both_ways)) continue;
      auto rule = ir::Rule::Create(syntax, reversed, registry);
      if (rule.ok()) {
        checked.push_back(*std::move(rule));
      } else {
        why = std::string(rule.status().message());
      }
    }
    if (!why.empty()) {
      out.refused.push_back(absl::StrCat(syntax.name, ": ", why));
      continue;
    }
    for (ir::Rule& rule : checked) out.rules.rules.push_back(std::move(rule));
  }
  return out;
}

}  // namespace isomer::verify
