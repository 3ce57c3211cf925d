// The outermost message, a list of rules, is taken apart by hand, so that an
// error can say in which rule the bytes stop making sense.
#include "graph/foreign_wire.h"

#include <google/protobuf/io/coded_stream.h>

#include <limits>
#include <utility>

#include "graph/foreign_rules.pb.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

constexpr int kMaxOps = 64;          // of one side
constexpr int kMaxInputs = 64;       // of one operator
constexpr int kMaxOutputs = 64;      // of a rule or an operator
constexpr uint32_t kRuleTag = 0x0a;  // field 1, with a length

absl::StatusOr<WireTensor> ReadTensor(const foreign_pb::Tensor& t, int ops) {
  if (!t.has_op() || !t.has_output()) {
    return Invalid("an operand names no operator or no output");
  }
  if (t.op() >= ops || t.op() < -1000000) {
    return Invalid("an operand is operator ", t.op(), ", and there are ", ops);
  }
  if (t.output() < 0 || t.output() >= kMaxOutputs ||
      (t.op() < 0 && t.output() != 0)) {
    return Invalid("an operand is output ", t.output(), " of operator ",
                   t.op());
  }
  return WireTensor{t.op(), t.output()};
}

absl::StatusOr<WireOp> ReadOp(const foreign_pb::Operator& op, int ops) {
  if (!op.unknown_fields().empty()) {
    return Invalid("an operator has fields that the format does not have");
  }
  if (!op.has_type()) return Invalid("an operator has no type");
  if (op.input_size() > kMaxInputs) {
    return Invalid("an operator has ", op.input_size(), " operands");
  }
  WireOp out{.type = op.type()};
  for (const foreign_pb::Tensor& t : op.input()) {
    ASSIGN_OR_RETURN(WireTensor tensor, ReadTensor(t, ops));
    out.inputs.push_back(tensor);
  }
  for (const foreign_pb::Parameter& p : op.parameter()) {
    if (!p.has_key() || !p.has_value()) {
      return Invalid("a parameter has no key or no value");
    }
    if (out.Find(p.key()) != nullptr) {
      return Invalid("parameter ", p.key(), " is given twice");
    }
    out.parameters.push_back({p.key(), p.value()});
  }
  return out;
}

// Puts operators before their users; `place` is where each one went. Files
// mostly have them in order, and then they stay where they are.
absl::Status Order(std::vector<WireOp>& ops, std::vector<int>& place) {
  const int n = static_cast<int>(ops.size());
  place.assign(n, -1);
  std::vector<WireOp> ordered;
  for (bool grew = true; grew;) {
    grew = false;
    for (int k = 0; k < n; ++k) {
      bool ready = place[k] < 0;
      for (const WireTensor& t : ops[k].inputs) {
        ready = ready && (t.op < 0 || place[t.op] >= 0);
      }
      if (!ready) continue;
      place[k] = static_cast<int>(ordered.size());
      ordered.push_back(ops[k]);
      for (WireTensor& t : ordered.back().inputs) {
        if (t.op >= 0) t.op = place[t.op];
      }
      grew = true;
    }
  }
  for (int k = 0; k < n; ++k) {
    if (place[k] < 0) return Invalid("operator ", k, " depends on itself");
  }
  ops = std::move(ordered);
  return absl::OkStatus();
}

using PbOps = google::protobuf::RepeatedPtrField<foreign_pb::Operator>;

absl::StatusOr<std::vector<WireOp>> ReadSide(const PbOps& ops,
                                             absl::string_view side,
                                             std::vector<int>& place) {
  if (ops.size() > kMaxOps) {
    return Invalid("the ", side, " has ", ops.size(), " operators");
  }
  std::vector<WireOp> out;
  for (int k = 0; k < ops.size(); ++k) {
    auto op = ReadOp(ops[k], ops.size());
    if (!op.ok()) {
      return Prefixed(absl::StrCat(side, " operator ", k, ": "), op.status());
    }
    out.push_back(*std::move(op));
  }
  if (absl::Status s = Order(out, place); !s.ok()) {
    return Prefixed(absl::StrCat(side, ": "), s);
  }
  return out;
}

absl::StatusOr<WireOutput> ReadOutput(const foreign_pb::MappedOutput& o,
                                      const std::vector<int>& source,
                                      const std::vector<int>& target) {
  if (!o.has_source_op() || !o.has_target_op() || !o.has_source_output() ||
      !o.has_target_output()) {
    return Invalid("an output is not complete");
  }
  foreign_pb::Tensor s, t;
  s.set_op(o.source_op());
  s.set_output(o.source_output());
  t.set_op(o.target_op());
  t.set_output(o.target_output());
  WireOutput out;
  ASSIGN_OR_RETURN(out.source, ReadTensor(s, static_cast<int>(source.size())));
  ASSIGN_OR_RETURN(out.target, ReadTensor(t, static_cast<int>(target.size())));
  if (out.source.op < 0) return Invalid("an output of the source is an input");
  out.source.op = source[out.source.op];
  if (out.target.op >= 0) out.target.op = target[out.target.op];
  return out;
}

absl::StatusOr<WireRule> ReadRule(const foreign_pb::Rule& rule) {
  if (!rule.unknown_fields().empty()) {
    return Invalid("it has fields that the format does not have");
  }
  if (rule.source_size() == 0) return Invalid("it has no source operators");
  if (rule.output_size() == 0) return Invalid("it has no outputs");
  if (rule.output_size() > kMaxOutputs) {
    return Invalid("it has ", rule.output_size(), " outputs");
  }
  WireRule out;
  std::vector<int> source, target;
  ASSIGN_OR_RETURN(out.source, ReadSide(rule.source(), "source", source));
  ASSIGN_OR_RETURN(out.target, ReadSide(rule.target(), "target", target));
  for (const foreign_pb::MappedOutput& o : rule.output()) {
    ASSIGN_OR_RETURN(WireOutput output, ReadOutput(o, source, target));
    out.outputs.push_back(output);
  }
  return out;
}

void Write(const std::vector<WireOp>& ops, PbOps& out) {
  for (const WireOp& op : ops) {
    foreign_pb::Operator& to = *out.Add();
    to.set_type(op.type);
    for (const WireTensor& t : op.inputs) {
      foreign_pb::Tensor& tensor = *to.add_input();
      tensor.set_op(t.op);
      tensor.set_output(t.output);
    }
    for (const WireParameter& p : op.parameters) {
      foreign_pb::Parameter& parameter = *to.add_parameter();
      parameter.set_key(p.key);
      parameter.set_value(p.value);
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<WireRule>> ParseWire(absl::string_view bytes) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Invalid("substitution file: ", bytes.size(), " bytes are too many");
  }
  if (bytes.empty()) return Invalid("substitution file: it is empty");
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t*>(bytes.data()),
      static_cast<int>(bytes.size()));
  std::vector<WireRule> rules;
  while (stream.CurrentPosition() < static_cast<int>(bytes.size())) {
    const std::string where =
        absl::StrCat("substitution file: rule ", rules.size(), ": ");
    const int start = stream.CurrentPosition();
    uint32_t length = 0;
    if (stream.ReadTag() != kRuleTag) {
      return Invalid(where, "byte ", start, " does not begin a rule");
    }
    if (!stream.ReadVarint32(&length) ||
        length > bytes.size() - stream.CurrentPosition()) {
      return Invalid(where, "the file ends inside it");
    }
    foreign_pb::Rule pb;
    if (!pb.ParseFromArray(bytes.data() + stream.CurrentPosition(),
                           static_cast<int>(length))) {
      return Invalid(where, "the bytes are not those of a rule");
    }
    stream.Skip(static_cast<int>(length));
    auto rule = ReadRule(pb);
    if (!rule.ok()) return Prefixed(where, rule.status());
    rules.push_back(*std::move(rule));
  }
  return rules;
}

std::string SerializeWire(absl::Span<const WireRule> rules) {
  std::string out;
  for (const WireRule& rule : rules) {
    foreign_pb::Rule pb;
    Write(rule.source, *pb.mutable_source());
    Write(rule.target, *pb.mutable_target());
    for (const WireOutput& o : rule.outputs) {
      foreign_pb::MappedOutput& to = *pb.add_output();
      to.set_source_op(o.source.op);
      to.set_source_output(o.source.output);
      to.set_target_op(o.target.op);
      to.set_target_output(o.target.output);
    }
    // The list's own framing: a tag, a length, the rule.
    const std::string body = pb.SerializeAsString();
    out.push_back(static_cast<char>(kRuleTag));
    uint32_t length = static_cast<uint32_t>(body.size());
    for (; length >= 0x80; length >>= 7) {
      out.push_back(static_cast<char>(length | 0x80));
    }
    out.push_back(static_cast<char>(length));
    out += body;
  }
  return out;
}

}  // namespace isomer::ir
