// Trees are copied node by node. What was read is printed and parsed, so that
// the parser's checks are the only ones and places in errors mean something.
#include "graph/rule_pb.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/rules.pb.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

constexpr absl::string_view kFormat = "isomer rules";
// Above what the parser's own bounds allow.
constexpr int kMaxNesting = 1500;

// ---- Writing

void Write(const ValueSyntax& v, rules_pb::Value& out) {
  out.set_kind(static_cast<rules_pb::Value::Kind>(v.kind));
  out.set_integer(v.integer);
  out.set_real(v.real);
  out.set_name(v.name);
  for (const ValueSyntax& a : v.args) Write(a, *out.add_args());
}

void Write(const ExprSyntax& e, rules_pb::Expr& out) {
  out.set_kind(static_cast<rules_pb::Expr::Kind>(e.kind));
  out.set_name(e.name);
  for (const ExprSyntax& a : e.args) Write(a, *out.add_args());
  for (const AttrSyntax& a : e.attrs) {
    rules_pb::Attr& attr = *out.add_attrs();
    attr.set_name(a.name);
    Write(a.value, *attr.mutable_value());
  }
  out.set_number(e.number);
  if (e.kind == ExprSyntax::Kind::kReal) Write(e.value, *out.mutable_value());
  out.set_output(e.output);
}

void Write(const SideSyntax& s, rules_pb::Side& out) {
  for (const BinderSyntax& b : s.binders) {
    rules_pb::Binder& binder = *out.add_binders();
    binder.set_choose(b.choose);
    binder.set_name(b.name);
    if (b.choose) {
      Write(b.low, *binder.mutable_low());
      Write(b.high, *binder.mutable_high());
    } else {
      Write(b.value, *binder.mutable_value());
    }
  }
  for (const ExprSyntax& e : s.outputs) Write(e, *out.add_outputs());
}

void Write(const RuleSyntax& r, rules_pb::Rule& out) {
  out.set_name(r.name);
  Write(r.source, *out.mutable_source());
  Write(r.target, *out.mutable_target());
  out.set_both_ways(r.both_ways);
  for (const ConditionSyntax& c : r.where) {
    rules_pb::Condition& condition = *out.add_where();
    condition.set_kind(static_cast<rules_pb::Condition::Kind>(c.kind));
    condition.set_name(c.name);
    if (c.kind >= ConditionSyntax::Kind::kConst) continue;
    Write(c.left, *condition.mutable_left());
    Write(c.right, *condition.mutable_right());
  }
}

// ---- Reading

// How many arguments a kind of value has; -1: any number.
int ArgsOf(ValueSyntax::Kind kind) {
  switch (kind) {
    case ValueSyntax::Kind::kInteger:
    case ValueSyntax::Kind::kFloat:
    case ValueSyntax::Kind::kName:
    case ValueSyntax::Kind::kRank:
    case ValueSyntax::Kind::kEnd:
      return 0;
    case ValueSyntax::Kind::kNegate:
    case ValueSyntax::Kind::kDim:
      return 1;
    case ValueSyntax::Kind::kList:
      return -1;
    default:
      return 2;
  }
}

absl::StatusOr<ValueSyntax> Read(const rules_pb::Value& v) {
  if (!rules_pb::Value::Kind_IsValid(v.kind())) {
    return Invalid("rules: no kind of value has number ", v.kind());
  }
  ValueSyntax out{.kind = static_cast<ValueSyntax::Kind>(v.kind()),
                  .integer = v.integer(),
                  .real = v.real(),
                  .name = v.name()};
  const int expected = ArgsOf(out.kind);
  if (expected >= 0 && v.args_size() != expected) {
    return Invalid("rules: a value of kind ", v.kind(), " has ", expected,
                   " arguments, not ", v.args_size());
  }
  for (const rules_pb::Value& a : v.args()) {
    ASSIGN_OR_RETURN(ValueSyntax arg, Read(a));
    out.args.push_back(std::move(arg));
  }
  return out;
}

absl::StatusOr<ExprSyntax> Read(const rules_pb::Expr& e) {
  if (!rules_pb::Expr::Kind_IsValid(e.kind())) {
    return Invalid("rules: no kind of expression has number ", e.kind());
  }
  ExprSyntax out{.kind = static_cast<ExprSyntax::Kind>(e.kind()),
                 .name = e.name(),
                 .number = e.number(),
                 .output = e.output()};
  for (const rules_pb::Expr& a : e.args()) {
    ASSIGN_OR_RETURN(ExprSyntax arg, Read(a));
    out.args.push_back(std::move(arg));
  }
  for (const rules_pb::Attr& a : e.attrs()) {
    ASSIGN_OR_RETURN(ValueSyntax value, Read(a.value()));
    out.attrs.push_back({a.name(), std::move(value)});
  }
  if (out.kind == ExprSyntax::Kind::kReal) {
    ASSIGN_OR_RETURN(out.value, Read(e.value()));
  }
  return out;
}

absl::StatusOr<SideSyntax> Read(const rules_pb::Side& s) {
  SideSyntax out;
  for (const rules_pb::Binder& b : s.binders()) {
    BinderSyntax binder{.choose = b.choose(), .name = b.name()};
    if (b.choose()) {
      ASSIGN_OR_RETURN(binder.low, Read(b.low()));
      ASSIGN_OR_RETURN(binder.high, Read(b.high()));
    } else {
      ASSIGN_OR_RETURN(binder.value, Read(b.value()));
    }
    out.binders.push_back(std::move(binder));
  }
  for (const rules_pb::Expr& e : s.outputs()) {
    ASSIGN_OR_RETURN(ExprSyntax output, Read(e));
    out.outputs.push_back(std::move(output));
  }
  return out;
}

absl::StatusOr<RuleSyntax> Read(const rules_pb::Rule& r) {
  RuleSyntax out{.name = r.name(), .both_ways = r.both_ways()};
  ASSIGN_OR_RETURN(out.source, Read(r.source()));
  ASSIGN_OR_RETURN(out.target, Read(r.target()));
  for (const rules_pb::Condition& c : r.where()) {
    if (!rules_pb::Condition::Kind_IsValid(c.kind())) {
      return Invalid("rules: no kind of condition has number ", c.kind());
    }
    ConditionSyntax condition{
        .kind = static_cast<ConditionSyntax::Kind>(c.kind()), .name = c.name()};
    if (condition.kind < ConditionSyntax::Kind::kConst) {
      ASSIGN_OR_RETURN(condition.left, Read(c.left()));
      ASSIGN_OR_RETURN(condition.right, Read(c.right()));
    }
    out.where.push_back(std::move(condition));
  }
  return out;
}

absl::StatusOr<RuleFileSyntax> Read(const rules_pb::RuleFile& file) {
  RuleFileSyntax out;
  for (const rules_pb::Item& item : file.items()) {
    std::vector<std::string> comments(item.comments().begin(),
                                      item.comments().end());
    if (item.has_rule()) {
      ASSIGN_OR_RETURN(RuleSyntax rule, Read(item.rule()));
      rule.comments = std::move(comments);
      out.items.emplace_back(std::move(rule));
    } else if (item.kind_case() == rules_pb::Item::kFold) {
      out.items.emplace_back(
          FoldSyntax{.comments = std::move(comments), .name = item.fold()});
    } else {
      return Invalid("rules: an item is neither a rule nor a fold");
    }
  }
  out.trailing_comments.assign(file.trailing_comments().begin(),
                               file.trailing_comments().end());
  return out;
}

}  // namespace

std::string SerializeRules(const RuleFileSyntax& file) {
  rules_pb::RuleFile out;
  out.set_format(std::string(kFormat));
  out.set_version(kRulesVersion);
  for (const RuleItem& item : file.items) {
    rules_pb::Item& to = *out.add_items();
    const std::vector<std::string>* comments = nullptr;
    if (const auto* rule = std::get_if<RuleSyntax>(&item)) {
      comments = &rule->comments;
      Write(*rule, *to.mutable_rule());
    } else {
      const auto& fold = std::get<FoldSyntax>(item);
      comments = &fold.comments;
      to.set_fold(fold.name);
    }
    for (const std::string& c : *comments) to.add_comments(c);
  }
  for (const std::string& c : file.trailing_comments) {
    out.add_trailing_comments(c);
  }
  return out.SerializeAsString();
}

bool IsRulesPb(absl::string_view bytes) {
  // Field 1, a string of this length.
  const std::string start = absl::StrCat(
      "\x0a", std::string(1, static_cast<char>(kFormat.size())), kFormat);
  return absl::StartsWith(bytes, start);
}

absl::StatusOr<RuleFileSyntax> DeserializeRules(absl::string_view bytes) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Invalid("rules: a file of ", bytes.size(), " bytes is too large");
  }
  rules_pb::RuleFile file;
  google::protobuf::io::ArrayInputStream array(bytes.data(),
                                               static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetRecursionLimit(kMaxNesting);
  if (!file.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return Invalid("rules: the bytes are not a protobuf of rules");
  }
  if (file.format() != kFormat) {
    return Invalid("rules: the file is not one of Isomer's rules");
  }
  if (file.version() != kRulesVersion) {
    return Invalid("rules: the file has version ", file.version(),
                   "; this program reads version ", kRulesVersion);
  }
  ASSIGN_OR_RETURN(RuleFileSyntax read, Read(file));
  const std::string text = PrintRuleFile(read);
  auto parsed = ParseRuleFile(text);
  if (!parsed.ok()) {
    return Prefixed("rules: in the canonical text: ", parsed.status());
  }
  if (!(*parsed == read)) {
    return Invalid("rules: the tree is not one that a text can have");
  }
  return parsed;
}

}  // namespace isomer::ir
