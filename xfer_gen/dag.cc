// Values are kept while there is room and computed again when asked for after
// they were dropped; prints stay.
#include "xfer_gen/dag.h"

#include <algorithm>
#include <utility>

#include "graph/hashing.h"

namespace isomer::gen {

namespace {

// The hash of a type's hash and all elements; not 0.
uint64_t HashOf(uint64_t type, int64_t n, const Field* values) {
  uint64_t h = type;
  for (int64_t i = 0; i < n; ++i) {
    h = (h ^ values[i].value()) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return ir::HashMix(h) | 1;
}

}  // namespace

TensorId Dag::Add(int tmpl, absl::Span<const TensorId> operands, int outputs) {
  std::array<uint32_t, kMaxOperands + 1> key;
  key.fill(kNone);
  key[0] = static_cast<uint32_t>(tmpl);
  std::copy(operands.begin(), operands.end(), key.begin() + 1);
  auto [it, fresh] = ids_.try_emplace(key, num_steps());
  if (!fresh) return steps_[it->second].first;
  DagStep s{tmpl, static_cast<int>(operands.size()), outputs, num_tensors()};
  std::copy(operands.begin(), operands.end(), s.operands.begin());
  for (int k = 0; k < outputs; ++k) step_of_.push_back(num_steps());
  steps_.push_back(s);
  used_.push_back(false);
  for (TensorId t : operands) {
    if (!IsLeaf(t)) used_[step_of_[t]] = true;
  }
  return s.first;
}

void Dag::Collect(TensorId t, Steps& out) const {
  if (IsLeaf(t)) return;
  const uint32_t s = step_of_[t];
  if (std::find(out.begin(), out.end(), s) != out.end()) return;
  for (TensorId operand : steps_[s].span()) Collect(operand, out);
  out.push_back(s);
}

Dag::Steps Dag::Cone(absl::Span<const TensorId> tensors) const {
  Steps out;
  for (TensorId t : tensors) Collect(t, out);
  return out;
}

Dag::Variables Dag::VariablesOf(TensorId t,
                                absl::Span<const TensorId> cuts) const {
  Variables out;
  CollectVariables(t, cuts, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void Dag::CollectVariables(TensorId t, absl::Span<const TensorId> cuts,
                           Variables& out) const {
  if (IsLeaf(t) || std::find(cuts.begin(), cuts.end(), t) != cuts.end()) {
    out.push_back(t);
    return;
  }
  for (TensorId operand : step(step_of(t)).span()) {
    CollectVariables(operand, cuts, out);
  }
}

DagValues::DagValues(const Dag& dag, World& world, uint64_t seed,
                     DagFacts* shared)
    : dag_(dag), world_(world), facts_(shared != nullptr ? *shared : own_) {
  for (int leaf = 0; leaf < dag.num_leaves(); ++leaf) {
    leaf_values_.push_back(LeafValues(
        seed, leaf, world.type(world.leaf_kind(leaf)), !world.first()));
  }
}

const Instance* DagValues::InstanceOf(uint32_t step) {
  constexpr uintptr_t kUnknown = 0, kNoInstance = 1;
  if (facts_.instances.size() < dag_.num_steps()) {
    facts_.instances.resize(dag_.num_steps());
  }
  std::atomic_ref known(facts_.instances[step]);
  uintptr_t at = known.load(std::memory_order_acquire);
  if (at == kUnknown) {
    const DagStep& s = dag_.step(step);
    std::array<KindId, kMaxOperands> kinds;
    bool ok = true;
    for (int k = 0; k < s.arity && ok; ++k) {
      kinds[k] = Kind(s.operands[k]);
      ok = kinds[k] >= 0;
    }
    const Instance* instance =
        !ok ? nullptr
            : world_.Find(s.tmpl, {kinds.data(), static_cast<size_t>(s.arity)});
    at = instance == nullptr ? kNoInstance
                             : reinterpret_cast<uintptr_t>(instance);
    known.store(at, std::memory_order_release);
  }
  return at == kNoInstance ? nullptr : reinterpret_cast<const Instance*>(at);
}

KindId DagValues::Kind(TensorId t) {
  if (dag_.IsLeaf(t)) return world_.leaf_kind(static_cast<int>(t));
  const uint32_t s = dag_.step_of(t);
  const Instance* instance = InstanceOf(s);
  return instance == nullptr ? -1 : instance->outputs[t - dag_.step(s).first];
}

const Field* DagValues::Compute(TensorId t) {
  if (dag_.IsLeaf(t)) return leaf_values_[t].data();
  const uint32_t s = dag_.step_of(t);
  const DagStep& step = dag_.step(s);
  const Instance* instance = InstanceOf(s);
  if (!instance->shape.Ready()) return nullptr;
  const int64_t offset =
      instance->program.offset(static_cast<int>(t - step.first));
  if (auto it = held_.find(s); it != held_.end()) {
    return it->second.get() + offset;
  }
  const Field* inputs[kMaxOperands];
  if (!ComputeOperands(step, inputs)) return nullptr;
  auto values = std::make_unique<Field[]>(instance->program.size());
  instance->program.Run({inputs, static_cast<size_t>(step.arity)}, values.get(),
                        scratch_);
  bytes_ += instance->program.size() * static_cast<int64_t>(sizeof(Field));
  return (held_[s] = std::move(values)).get() + offset;
}

bool DagValues::ComputeOperands(const DagStep& step, const Field** inputs) {
  for (int k = 0; k < step.arity; ++k) {
    inputs[k] = Compute(step.operands[k]);
    if (inputs[k] == nullptr) return false;
  }
  return true;
}

void DagValues::DropIfMany() {
  if (bytes_ > most_bytes_) Forget();
}

void DagValues::Forget() {
  held_ = {};
  bytes_ = 0;
}

const Field* DagValues::Values(TensorId t) {
  if (Kind(t) < 0) return nullptr;
  DropIfMany();
  return Compute(t);
}

uint64_t DagValues::ComputePrint(TensorId t) {
  if (facts_.prints.size() < dag_.num_tensors()) {
    facts_.prints.resize(dag_.num_tensors());
  }
  const KindId kind = Kind(t);
  if (kind < 0) return 0;
  const TensorType& type = world_.type(kind);
  const Field* values = Values(t);
  if (values == nullptr) return 0;
  const uint64_t print = HashOf(TypeHash(type), NumElements(type), values);
  std::atomic_ref(facts_.prints[t]).store(print, std::memory_order_relaxed);
  return print;
}

void DagValues::PrintStep(uint32_t step, uint64_t* prints) {
  const DagStep& s = dag_.step(step);
  const Instance* instance = InstanceOf(step);
  const Field* values = nullptr;
  if (instance != nullptr && instance->shape.Ready()) {
    DropIfMany();
    const Field* inputs[kMaxOperands];
    if (dag_.IsUsed(step)) {
      values = Compute(s.first);
    } else if (ComputeOperands(s, inputs)) {
      buffer_.resize(instance->program.size());
      instance->program.Run({inputs, static_cast<size_t>(s.arity)},
                            buffer_.data(), scratch_);
      values = buffer_.data();
    }
  }
  if (values == nullptr) {
    std::fill_n(prints, s.outputs, 0);
    return;
  }
  for (int k = 0; k < s.outputs; ++k) {
    prints[k] = HashOf(instance->type_hashes[k],
                       NumElements(instance->program.outputs()[k]),
                       values + instance->program.offset(k));
  }
}

std::vector<Field> DagValues::ValuesWith(TensorId t, const Replaced& replaced) {
  std::vector<std::pair<uint32_t, std::vector<Field>>> done;
  done.reserve(kMaxSteps + 1);
  auto value = [&](auto& self, TensorId x) -> const Field* {
    for (const auto& [from, to] : replaced) {
      if (from == x) return to;
    }
    if (dag_.IsLeaf(x)) return leaf_values_[x].data();
    const uint32_t s = dag_.step_of(x);
    const DagStep& step = dag_.step(s);
    const Instance* instance = InstanceOf(s);
    const int64_t offset =
        instance->program.offset(static_cast<int>(x - step.first));
    for (const auto& [key, values] : done) {
      if (key == s) return values.data() + offset;
    }
    const Field* inputs[kMaxOperands];
    for (int k = 0; k < step.arity; ++k) {
      inputs[k] = self(self, step.operands[k]);
    }
    std::vector<Field> values(instance->program.size());
    instance->program.Run({inputs, static_cast<size_t>(step.arity)},
                          values.data(), scratch_);
    done.emplace_back(s, std::move(values));
    return done.back().second.data() + offset;
  };
  const Field* from = value(value, t);
  return {from, from + NumElements(world_.type(Kind(t)))};
}

}  // namespace isomer::gen
