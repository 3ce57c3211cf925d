// What a concat wants in place is found out beforehand, because it decides
// where earlier kernels write.
#include "cuda/placement.h"

#include <algorithm>
#include <utility>

#include "cuda/constants.h"
#include "cuda/kernel_uses.h"
#include "cuda/late_epilogues.h"
#include "cuda/layouts.h"
#include "graph/move_bytes.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int64_t kRowAlignment = 8;  // in elements

}  // namespace

Placement::Placement(const ir::Graph& graph, Program& program, bool is_part)
    : graph_(graph),
      program_(program),
      channels_last_(ChannelsLast(graph, is_part)) {}

absl::Status Placement::Start(const std::vector<cost::Kernel>& kernels,
                              const Progress& progress) {
  FindInPlace(kernels);
  RETURN_IF_ERROR(Fold(kernels, progress));
  for (NodeId id : graph_.inputs()) AddInput(id);
  return absl::OkStatus();
}

absl::StatusOr<Storage> Placement::ReadBy(const cost::Kernel& k, Value v) {
  if (graph_.IsConstant(v)) return ConstantAt(v, FormFor(k, v));
  const auto it = storage_.find(v);
  if (it == storage_.end()) return Invalid("a value was not computed");
  return it->second;
}

absl::StatusOr<Storage> Placement::Result(Value v) {
  if (graph_.IsConstant(v)) return ConstantAt(v, {});
  return storage_.at(v);
}

bool Placement::IsInPlace(Value v, Value concat, int64_t at) const {
  const auto it = in_place_.find(v);
  return it != in_place_.end() && it->second.concat == concat &&
         it->second.at == at;
}

int Placement::NewBuffer(Buffer::Kind kind, DType dtype, int64_t bytes) {
  Buffer b;
  b.kind = kind;
  b.dtype = dtype;
  b.bytes = bytes;
  program_.buffers.push_back(std::move(b));
  return static_cast<int>(program_.buffers.size()) - 1;
}

void Placement::AddInput(NodeId id) {
  const TensorType* type = graph_.FindType({id, 0});
  if (type == nullptr || graph_.users(id).empty()) {
    if (type == nullptr || graph_.output_uses(id) == 0) return;
  }
  const int buffer =
      NewBuffer(Buffer::Kind::kInput, type->dtype, BytesOf(*type));
  const bool channels_last = channels_last_.count({id, 0}) > 0;
  storage_[{id, 0}] = {buffer, 0, DenseSteps(type->shape, channels_last)};
  program_.inputs.push_back({*graph_.node(id).name, *type, buffer});
}

Placement::ConstantForm Placement::FormFor(const cost::Kernel& k,
                                           Value v) const {
  if (IsFilter(k, v)) return {ConstantForm::kFilter};
  if (IsPointwiseOperand(k, v)) return {ConstantForm::kOnce};
  for (NodeId id : k.nodes) {
    const ir::Node& node = graph_.node(id);
    if (!node.Is("matmul") || !(node.inputs[1] == v)) continue;
    const int parts = PartsOf(graph_, k);
    if (parts > 1) return {ConstantForm::kParts, parts};
  }
  return {};
}

bool Placement::IsFilter(const cost::Kernel& k, Value v) const {
  for (NodeId id : k.nodes) {
    const ir::Node& node = graph_.node(id);
    if (node.Is("conv2d") && node.inputs[1] == v) return true;
  }
  return false;
}

bool Placement::IsPointwiseOperand(const cost::Kernel& k, Value v) const {
  bool used = false;
  for (NodeId id : k.nodes) {
    const ir::Node& node = graph_.node(id);
    if (!std::count(node.inputs.begin(), node.inputs.end(), v)) continue;
    used = true;
    if (!IsPointwise(node)) return false;
  }
  return used;
}

Value Placement::SourceOf(Value v) const {
  while (graph_.node(v.node).Is("broadcast")) {
    v = graph_.node(v.node).inputs[0];
  }
  return v;
}

std::vector<int64_t> Placement::RepeatedSteps(
    Value v, const std::vector<int64_t>& source_steps) const {
  const ir::Node& node = graph_.node(v.node);
  if (!node.Is("broadcast")) return source_steps;
  const std::vector<int64_t> inner =
      RepeatedSteps(node.inputs[0], source_steps);
  const std::vector<int64_t>& from = graph_.type(node.inputs[0]).shape;
  const std::vector<int64_t>& shape = graph_.type(v).shape;
  std::vector<int64_t> steps(shape.size(), 0);
  const std::vector<int64_t>& dims = node.attrs->Ints("dims");
  for (size_t i = 0; i < dims.size(); ++i) {
    if (from[i] == shape[dims[i]]) steps[dims[i]] = inner[i];
  }
  return steps;
}

absl::StatusOr<Storage> Placement::ConstantAt(Value v, ConstantForm form) {
  if (form.kind == ConstantForm::kOnce && !(SourceOf(v) == v)) {
    ASSIGN_OR_RETURN(Storage s, ConstantAt(SourceOf(v), form));
    s.steps = RepeatedSteps(v, s.steps);
    return s;
  }
  const auto key = std::make_pair(v, form);
  if (const auto it = constants_.find(key); it != constants_.end()) {
    return it->second;
  }
  const auto found = folded_.find(v);
  if (found == folded_.end()) return Invalid("a constant was not folded");
  const TensorType& type = graph_.type(v);
  SharedBytes data = found->second;
  std::vector<int64_t> steps = DenseSteps(type.shape, false);
  if (form.kind == ConstantForm::kFilter) {
    steps = FilterSteps(type.shape);
    data = ir::WithSteps(data, type, steps);
  } else if (form.kind == ConstantForm::kOnce) {
    steps = WithoutRepeats(type, data);
  } else if (form.kind == ConstantForm::kParts) {
    const int64_t columns = type.shape[1], parts = form.parts;
    data = ir::WithSteps(data,
                         {type.dtype, {type.shape[0], parts, columns / parts}},
                         {columns, 1, parts});
  }
  const auto bytes = static_cast<int64_t>(data.view.size());
  Storage s{NewBuffer(Buffer::Kind::kConstant, type.dtype, bytes), 0,
            std::move(steps)};
  program_.buffers.back().data = std::move(data);
  return constants_[key] = s;
}

Storage Placement::NewStorage(Value v) {
  if (const auto it = storage_.find(v); it != storage_.end()) {
    return it->second;
  }
  if (const auto it = in_place_.find(v); it != in_place_.end()) {
    const InPlace& p = it->second;
    Storage s = NewStorage(p.concat);
    s.offset += p.at * s.steps[p.axis];
    return storage_[v] = s;
  }
  const TensorType& type = graph_.type(v);
  std::vector<int64_t> steps =
      DenseSteps(type.shape, channels_last_.count(v) > 0);
  int64_t bytes = BytesOf(type);
  if (WantsAlignedRows(v)) {
    std::vector<int64_t> padded = type.shape;
    padded.back() = CeilDiv(padded.back(), kRowAlignment) * kRowAlignment;
    steps = DenseSteps(padded, false);
    bytes = NumElements(padded) * ByteSize(type.dtype);
  }
  return storage_[v] = {NewBuffer(Buffer::Kind::kScratch, type.dtype, bytes), 0,
                        steps};
}

bool Placement::WantsAlignedRows(Value v) const {
  const TensorType& type = graph_.type(v);
  if (type.rank() < 2 || ByteSize(type.dtype) != 2 || !IsFloat(type.dtype) ||
      type.shape.back() % kRowAlignment == 0 || channels_last_.count(v) ||
      type.shape.back() < kRowAlignment || graph_.output_uses(v.node) > 0) {
    return false;
  }
  for (NodeId user : graph_.users(v.node)) {
    if (graph_.node(user).Is("matmul")) return true;
  }
  return false;
}

void Placement::FindInPlace(const std::vector<cost::Kernel>& kernels) {
  std::set<Value> computed;  // by a launch, or all in place
  std::set<Value> results;
  for (const ir::Output& o : graph_.outputs()) results.insert(o.value);
  for (const cost::Kernel& k : kernels) {
    if (k.launches || !k.in_place.empty()) {
      computed.insert(k.outputs.begin(), k.outputs.end());
    }
    const ir::Node& node = graph_.node(k.nodes.back());
    if (k.in_place.empty() || !node.Is("concat")) continue;
    const int64_t axis = node.attrs->Int("axis");
    int64_t at = 0;
    for (Value in : node.inputs) {
      if (std::count(k.in_place.begin(), k.in_place.end(), in) &&
          computed.count(in) && !results.count(in) && !in_place_.count(in)) {
        in_place_[in] = {{k.nodes.back(), 0}, axis, at};
      }
      at += graph_.type(in).shape[axis];
    }
  }
}

int64_t Placement::FoldedBytes() const {
  int64_t bytes = 0;
  for (const auto& [v, data] : folded_) bytes += BytesOf(graph_.type(v));
  return bytes;
}

absl::Status Placement::Fold(const std::vector<cost::Kernel>& kernels,
                             const Progress& progress) {
  std::set<Value> wanted;
  for (const cost::Kernel& k : kernels) {
    std::set<NodeId> own(k.nodes.begin(), k.nodes.end());
    std::vector<Value> reads = k.inputs;
    for (NodeId id : k.nodes) {
      for (Value v : graph_.node(id).inputs) {
        if (!own.count(v.node)) reads.push_back(v);
      }
    }
    for (Value v : reads) {
      if (!graph_.IsConstant(v)) continue;
      wanted.insert(IsPointwiseOperand(k, v) ? SourceOf(v) : v);
    }
  }
  for (const ir::Output& o : graph_.outputs()) {
    if (graph_.IsConstant(o.value)) wanted.insert(o.value);
  }
  const std::vector<Value> values(wanted.begin(), wanted.end());
  ASSIGN_OR_RETURN(folded_, FoldConstants(graph_, values, progress));
  return absl::OkStatus();
}

}  // namespace isomer::cuda
