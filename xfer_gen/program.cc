// Every value of the graph gets places: those that are outputs in the output
// array, the others among the temporaries. What fingerprints do not look at is
// found by walking the code backwards.
#include "xfer_gen/program.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "graph/hashing.h"
#include "ops/status.h"
#include "ops/tensor.h"

namespace isomer::gen {

namespace {

constexpr int kSamples = 16;

}  // namespace

std::vector<uint32_t> SampledPlaces(const TensorType& type) {
  const int64_t n = NumElements(type);
  std::vector<uint32_t> places;
  if (n <= kSamples) {
    for (int64_t i = 0; i < n; ++i) places.push_back(static_cast<uint32_t>(i));
    return places;
  }
  uint64_t h = ir::HashMix(static_cast<uint64_t>(n));
  for (int64_t d : type.shape) h = ir::HashCombine(h, static_cast<uint64_t>(d));
  // One place in each of equal stretches, so that every part is looked at.
  for (int k = 0; k < kSamples; ++k) {
    h = ir::HashMix(h + k + 1);
    const int64_t low = n * k / kSamples, high = n * (k + 1) / kSamples;
    places.push_back(static_cast<uint32_t>(low + h % (high - low)));
  }
  return places;
}

// Numbers all places of a program but the constants.
class Program::Places {
 public:
  explicit Places(const Program& p) {
    first_[kTemporaries] = 0;
    first_[kOutput] = p.num_temporaries_;
    size_t next = p.num_temporaries_ + p.size_;
    for (size_t i = 0; i < p.inputs_.size(); ++i) {
      first_[kInputs + i] = next;
      next += NumElements(p.inputs_[i]);
    }
    size_ = next;
  }
  size_t size() const { return size_; }
  size_t Of(Ref r) const { return first_[r.array()] + r.place(); }

 private:
  size_t first_[Ref::kMaxArrays] = {};
  size_t size_ = 0;
};

class Program::Builder {
 public:
  Builder(const ir::Graph& graph, UnrolledOps& unrolled)
      : graph_(graph), unrolled_(unrolled) {}

  absl::StatusOr<Program> Run(bool only_whole) {
    std::map<Value, Ref> places;
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const Value v{graph_.inputs()[i], 0};
      out_.inputs_.push_back(graph_.type(v));
      places[v] = Ref(kInputs + static_cast<uint32_t>(i), 0);
    }
    if (kInputs + out_.inputs_.size() > Ref::kMaxArrays) {
      return Unsupported("a template with ", out_.inputs_.size(), " operands");
    }
    for (const ir::Output& o : graph_.outputs()) {
      const TensorType& type = graph_.type(o.value);
      if (!IsFloat(type.dtype)) {
        return Unsupported("an output of type ", TypeText(type));
      }
      // A value that is an output is computed in its place.
      final_.try_emplace(o.value,
                         Ref(kOutput, static_cast<uint32_t>(out_.size_)));
      out_.outputs_.push_back(type);
      out_.offsets_.push_back(out_.size_);
      out_.size_ += NumElements(type);
    }
    RETURN_IF_ERROR(AddGraph(graph_, places));
    for (size_t k = 0; k < out_.outputs_.size(); ++k) {
      CopyOut(places.at(graph_.outputs()[k].value), k);
    }
    out_.num_temporaries_ = next_.place();
    Merge();
    if (!only_whole) {
      out_.MarkSampled();
      out_.FindFaithful();
    }
    out_.MakeReady();
    if (!only_whole) RETURN_IF_ERROR(CheckAgainstDefinitions());
    return std::move(out_);
  }

 private:
  absl::Status AddGraph(const ir::Graph& graph, std::map<Value, Ref>& places) {
    std::set<NodeId> needed;
    std::vector<NodeId> stack;
    for (const ir::Output& o : graph.outputs()) stack.push_back(o.value.node);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (!needed.insert(id).second) continue;
      for (const Value& v : graph.node(id).inputs) stack.push_back(v.node);
    }
    for (NodeId id : graph.Order()) {
      const ir::Node& n = graph.node(id);
      if (!needed.contains(id) || n.kind == ir::Node::Kind::kInput) continue;
      if (n.kind != ir::Node::Kind::kOp) {
        return Unsupported("a template with a constant or an opaque node");
      }
      RETURN_IF_ERROR(AddNode(graph, id, places));
    }
    return absl::OkStatus();
  }

  absl::Status AddNode(const ir::Graph& graph, NodeId id,
                       std::map<Value, Ref>& places) {
    const ir::Node& n = graph.node(id);
    std::vector<TensorType> types;
    std::vector<Ref> inputs;
    for (const Value& v : n.inputs) {
      types.push_back(graph.type(v));
      inputs.push_back(places.at(v));
    }
    std::vector<TensorType> out_types;
    for (int k = 0; k < n.num_outputs(); ++k) {
      out_types.push_back(graph.type({id, k}));
      if (!IsFloat(out_types.back().dtype)) {
        return Unsupported(n.op->name, " gives ", TypeText(out_types.back()));
      }
    }
    if (!n.op->element && !n.op->expansion.empty()) {
      return AddExpansion(*n.op, types, *n.attrs, inputs, id, places);
    }
    std::vector<Ref> outs;
    for (int k = 0; k < n.num_outputs(); ++k) {
      const auto it = final_.find({id, k});
      const bool final = &graph == &graph_ && it != final_.end();
      outs.push_back(final ? it->second : Allocate(out_types[k]));
      places[{id, k}] = outs[k];
    }
    Step step;
    const absl::StatusOr<std::shared_ptr<const Code>> code =
        unrolled_.Of(*n.op, types, *n.attrs);
    if (absl::IsUnimplemented(code.status())) {
      step = {.op = n.op,
              .attrs = *n.attrs,
              .types = types,
              .inputs = inputs,
              .outs = outs,
              .out_types = out_types};
    } else {
      RETURN_IF_ERROR(code.status());
      step.code = Placed(**code, inputs, outs[0]);
    }
    out_.steps_.push_back(std::move(step));
    return absl::OkStatus();
  }

  absl::Status AddExpansion(const OpDef& op, absl::Span<const TensorType> types,
                            const Attrs& attrs, const std::vector<Ref>& inputs,
                            NodeId id, std::map<Value, Ref>& places) {
    ASSIGN_OR_RETURN(std::shared_ptr<const ir::Graph> expanded,
                     unrolled_.Expand(op, types, attrs));
    std::map<Value, Ref> inner;
    for (size_t i = 0; i < inputs.size(); ++i) {
      inner[{expanded->inputs()[i], 0}] = inputs[i];
    }
    RETURN_IF_ERROR(AddGraph(*expanded, inner));
    for (size_t k = 0; k < expanded->outputs().size(); ++k) {
      places[{id, static_cast<int>(k)}] =
          inner.at(expanded->outputs()[k].value);
    }
    return absl::OkStatus();
  }

  // The code of an operator on the places of its operands and its output, and
  // on temporaries that are free.
  Code Placed(Code code, const std::vector<Ref>& inputs, Ref out) {
    absl::InlinedVector<Ref, 8> first = {Ref(), next_, out};
    first.insert(first.end(), inputs.begin(), inputs.end());
    next_ = Ref(kTemporaries, next_.place() + code.temporaries);
    auto place = [&](Ref& r) {
      if (r.array() == kConstants) return;
      const Ref to = first[r.array()];
      r = Ref(to.array(), to.place() + r.place());
    };
    for (Ref& r : code.operands) place(r);
    for (Instruction& i : code.instructions) place(i.out);
    return code;
  }

  Ref Allocate(const TensorType& type) {
    const Ref at = next_;
    next_ = Ref(kTemporaries,
                next_.place() + static_cast<uint32_t>(NumElements(type)));
    return at;
  }

  // Copies a value into output k, unless that is where it is: it may be another
  // output too, or an input, or what an operator was opened into.
  void CopyOut(Ref from, size_t k) {
    if (from == Ref(kOutput, static_cast<uint32_t>(out_.offsets_[k]))) return;
    const auto n = static_cast<uint32_t>(NumElements(out_.outputs_[k]));
    Step copy;
    for (uint32_t i = 0; i < n; ++i) {
      copy.code.instructions.push_back(
          {.kind = Instruction::Kind::kSum,
           .out = Ref(kOutput, static_cast<uint32_t>(out_.offsets_[k]) + i),
           .first = i,
           .count = 1});
      copy.code.operands.push_back(Ref(from.array(), from.place() + i));
    }
    out_.steps_.push_back(std::move(copy));
  }

  // Joins neighbouring pieces of code into one, then lets the instruction that
  // makes an output element write to its final place.
  void Merge() {
    std::vector<Step> merged;
    for (Step& s : out_.steps_) {
      if (s.op != nullptr || merged.empty() || merged.back().op != nullptr) {
        merged.push_back(std::move(s));
        continue;
      }
      Append(merged.back().code, s.code);
    }
    out_.steps_ = std::move(merged);
    for (Step& s : out_.steps_) Forward(s.code);
  }

  static void Append(Code& code, const Code& more) {
    const auto shift = static_cast<uint32_t>(code.operands.size());
    std::vector<Ref> constants;
    for (Field c : more.constants) {
      const auto it =
          std::find(code.constants.begin(), code.constants.end(), c);
      constants.push_back(
          Ref(kConstants, static_cast<uint32_t>(it - code.constants.begin())));
      if (it == code.constants.end()) code.constants.push_back(c);
    }
    for (Ref r : more.operands) {
      code.operands.push_back(r.array() == kConstants ? constants[r.place()]
                                                      : r);
    }
    for (Instruction i : more.instructions) {
      i.first += shift;
      code.instructions.push_back(i);
    }
  }

  static bool IsCopy(const Instruction& i) {
    return i.kind == Instruction::Kind::kSum && i.count == 1;
  }

  // Copies of temporaries that are read nowhere else vanish.
  void Forward(Code& code) const {
    const bool copies = std::any_of(
        code.instructions.begin(), code.instructions.end(),
        [&](const Instruction& i) {
          return IsCopy(i) && code.operands[i.first].array() == kTemporaries;
        });
    if (!copies) return;
    const Places places(out_);
    std::vector<int> reads(places.size(), 0), writer(places.size(), -1);
    for (const Instruction& i : code.instructions) {
      for (uint32_t k = 0; k < i.count; ++k) {
        const Ref r = code.operands[i.first + k];
        if (r.array() != kConstants) ++reads[places.Of(r)];
      }
    }
    std::vector<bool> gone(code.instructions.size(), false);
    for (size_t at = 0; at < code.instructions.size(); ++at) {
      const Instruction& i = code.instructions[at];
      const Ref from = IsCopy(i) ? code.operands[i.first] : Ref();
      const bool temporary = from.array() == kTemporaries;
      const int by = temporary ? writer[places.Of(from)] : -1;
      if (by >= 0 && reads[places.Of(from)] == 1) {
        code.instructions[by].out = i.out;
        writer[places.Of(i.out)] = by;
        gone[at] = true;
        continue;
      }
      writer[places.Of(i.out)] = static_cast<int>(at);
    }
    std::vector<Instruction> kept;
    for (size_t at = 0; at < code.instructions.size(); ++at) {
      if (!gone[at]) kept.push_back(code.instructions[at]);
    }
    code.instructions = std::move(kept);
  }

  absl::Status CheckAgainstDefinitions() {
    Scratch scratch;
    std::vector<std::vector<Field>> data;
    std::vector<const Field*> inputs;
    std::map<Value, Tensor> values;
    uint64_t h = 1;
    for (size_t i = 0; i < out_.inputs_.size(); ++i) {
      Tensor t = MakeTensor(out_.inputs_[i], Interp::kField);
      for (Field& f : t.as<Field>())
        f = Field::FromWide(h = ir::HashMix(h + 7));
      data.push_back(t.as<Field>());
      values[{graph_.inputs()[i], 0}] = std::move(t);
    }
    for (const auto& d : data) inputs.push_back(d.data());
    std::vector<Field> got(out_.size_), again(out_.size_);
    out_.Run(inputs, got.data(), scratch);
    again = got;
    out_.RunSampled(inputs, again.data(), scratch);
    Check(again == got, "sampled code disagrees with the whole");
    return CompareValues(values, got);
  }

  absl::Status CompareValues(std::map<Value, Tensor>& values,
                             const std::vector<Field>& got) {
    for (NodeId id : graph_.Order()) {
      const ir::Node& n = graph_.node(id);
      if (n.kind == ir::Node::Kind::kInput) continue;
      std::vector<const Tensor*> in;
      for (const Value& v : n.inputs) in.push_back(&values.at(v));
      absl::StatusOr<std::vector<Tensor>> result =
          EvalOp(*n.op, in, *n.attrs, Interp::kField);
      if (absl::IsUnimplemented(result.status())) return absl::OkStatus();
      RETURN_IF_ERROR(result.status());
      for (int k = 0; k < n.num_outputs(); ++k) {
        values[{id, k}] = std::move((*result)[k]);
      }
    }
    for (size_t k = 0; k < out_.outputs_.size(); ++k) {
      const std::vector<Field>& want =
          values.at(graph_.outputs()[k].value).as<Field>();
      for (size_t i = 0; i < want.size(); ++i) {
        Check(want[i] == got[out_.offsets_[k] + i],
              "unrolled code disagrees with the operator's kernel");
      }
    }
    return absl::OkStatus();
  }

  const ir::Graph& graph_;
  UnrolledOps& unrolled_;
  std::map<Value, Ref> final_;  // of the graph's outputs
  Program out_;
  Ref next_{kTemporaries, 0};
};

absl::StatusOr<Program> Program::Compile(const ir::Graph& graph,
                                         UnrolledOps& unrolled,
                                         bool only_whole) {
  return Builder(graph, unrolled).Run(only_whole);
}

// ---- Analysis

std::vector<bool> Program::Needed(const std::vector<Ref>& wanted) const {
  const Places places(*this);
  std::vector<bool> need(places.size(), false);
  for (Ref r : wanted) need[places.Of(r)] = true;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    for (size_t i = 0; i < step->inputs.size(); ++i) {
      const size_t first = places.Of(step->inputs[i]);
      std::fill_n(need.begin() + first, NumElements(step->types[i]), true);
    }
    const std::vector<Instruction>& code = step->code.instructions;
    for (auto i = code.rbegin(); i != code.rend(); ++i) {
      if (!need[places.Of(i->out)]) continue;
      for (uint32_t k = 0; k < i->count; ++k) {
        const Ref r = step->code.operands[i->first + k];
        if (r.array() != kConstants) need[places.Of(r)] = true;
      }
    }
  }
  return need;
}

void Program::MarkSampled() {
  std::vector<Ref> wanted;
  for (size_t k = 0; k < outputs_.size(); ++k) {
    for (uint32_t place : SampledPlaces(outputs_[k])) {
      wanted.push_back(
          Ref(kOutput, static_cast<uint32_t>(offsets_[k]) + place));
    }
  }
  const Places places(*this);
  const std::vector<bool> need = Needed(wanted);
  for (Step& step : steps_) {
    std::vector<Instruction> sampled;
    for (const Instruction& i : step.code.instructions) {
      if (need[places.Of(i.out)]) sampled.push_back(i);
    }
    step.sampled = Blocks(step.code, sampled);
  }
}

void Program::MakeReady() {
  for (Step& step : steps_) {
    has_extremes_ = has_extremes_ || step.op != nullptr;
    for (const Instruction& i : step.code.instructions) {
      has_extremes_ = has_extremes_ || i.kind == Instruction::Kind::kMax ||
                      i.kind == Instruction::Kind::kMin;
    }
    step.whole = Blocks(step.code, step.code.instructions);
    step.code.instructions = {};
    step.code.operands = {};
  }
}

void Program::FindFaithful() {
  const Places places(*this);
  for (size_t k = 0; k < outputs_.size(); ++k) {
    std::vector<Ref> wanted;
    for (int64_t e = 0; e < NumElements(outputs_[k]); ++e) {
      wanted.push_back(Ref(kOutput, static_cast<uint32_t>(offsets_[k] + e)));
    }
    const std::vector<bool> need = Needed(wanted);
    bool faithful = true;
    for (const Step& step : steps_) {
      faithful = faithful && step.op == nullptr;
      for (const Instruction& i : step.code.instructions) {
        if (!need[places.Of(i.out)]) continue;
        faithful = faithful && i.kind != Instruction::Kind::kDiv;
        for (uint32_t j = 0; j < i.count; ++j) {
          const Ref r = step.code.operands[i.first + j];
          // Whatever looks like a negative number may be one.
          faithful = faithful && (r.array() != kConstants ||
                                  step.code.constants[r.place()].Signed() >= 0);
        }
      }
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const size_t first =
          places.Of(Ref(kInputs + static_cast<uint32_t>(i), 0));
      for (int64_t e = 0; e < NumElements(inputs_[i]); ++e) {
        faithful = faithful && need[first + e];
      }
    }
    faithful_.push_back(faithful);
  }
}

// ---- Running

void Program::Run(absl::Span<const Field* const> inputs, Field* out,
                  Scratch& scratch) const {
  RunSteps(inputs, out, scratch, /*sampled=*/false);
}

void Program::RunSampled(absl::Span<const Field* const> inputs, Field* out,
                         Scratch& scratch) const {
  RunSteps(inputs, out, scratch, /*sampled=*/true);
}

void Program::RunSteps(absl::Span<const Field* const> inputs, Field* out,
                       Scratch& scratch, bool sampled) const {
  if (scratch.temporaries.size() < static_cast<size_t>(num_temporaries_)) {
    scratch.temporaries.resize(num_temporaries_);
  }
  const Field* arrays[Ref::kMaxArrays];
  Field* written[kInputs] = {nullptr, scratch.temporaries.data(), out};
  arrays[kTemporaries] = written[kTemporaries];
  arrays[kOutput] = out;
  for (size_t i = 0; i < inputs.size(); ++i) arrays[kInputs + i] = inputs[i];
  for (const Step& step : steps_) {
    arrays[kConstants] = step.code.constants.data();
    if (step.op != nullptr) {
      RunOperator(step, arrays, written);
    } else {
      (sampled ? step.sampled : step.whole).Run(arrays, written);
    }
  }
}

void Program::RunOperator(const Step& step, const Field* const* arrays,
                          Field* const* written) {
  std::vector<Tensor> in;
  std::vector<const Tensor*> pointers;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Ref r = step.inputs[i];
    const Field* from = arrays[r.array()] + r.place();
    in.push_back({step.types[i],
                  std::vector<Field>(from, from + NumElements(step.types[i]))});
  }
  for (const Tensor& t : in) pointers.push_back(&t);
  absl::StatusOr<std::vector<Tensor>> result =
      EvalOp(*step.op, pointers, step.attrs, Interp::kField);
  Check(result.ok(), "an operator that typed does not run");
  for (size_t k = 0; k < step.outs.size(); ++k) {
    const std::vector<Field>& v = (*result)[k].as<Field>();
    const Ref r = step.outs[k];
    std::copy(v.begin(), v.end(), written[r.array()] + r.place());
  }
}

}  // namespace isomer::gen
