// The values and fingerprints of the graph visited with one step more. What
// renamings do to the graph's own prints is found once and shared.
#include <algorithm>

#include "graph/hashing.h"
#include "ops/status.h"
#include "xfer_gen/worker.h"

namespace isomer::gen {

// ---- Values

uint64_t Worker::PrintOf(const Instance& instance, int k, const Field* values) {
  uint64_t h = instance.type_hashes[k];
  for (uint32_t place : instance.samples[k]) {
    h = (h ^ values[place].value()) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return ir::HashMix(h);
}

const Field* Worker::ValuesOf(TensorId t) {
  if (const Field* stored = all_.facts_[t].values) return stored;
  const TermId id = all_.terms_.term_of(t);
  const Term& term = all_.terms_.term(id);
  for (size_t i = 0; i < num_computed_; ++i) {
    if (computed_[i].first == id) {
      const Instance* instance =
          Find(term.tmpl, {term.operands.data(), term.arity});
      return computed_[i].second.data() +
             instance->program.offset(static_cast<int>(t - term.first));
    }
  }
  const Instance* instance =
      Find(term.tmpl, {term.operands.data(), term.arity});
  const Field* inputs[kMaxOperands];
  for (int k = 0; k < term.arity; ++k) inputs[k] = ValuesOf(term.operands[k]);
  if (num_computed_ == computed_.size()) computed_.emplace_back();
  auto& [key, values] = computed_[num_computed_++];
  key = id;
  values.resize(instance->program.size());
  instance->program.Run({inputs, term.arity}, values.data(), scratch);
  ++evaluations;
  return values.data() +
         instance->program.offset(static_cast<int>(t - term.first));
}

const Instance& Worker::Evaluate(TermId t, bool all,
                                 std::vector<Field>& values) {
  const Term& term = all_.terms_.term(t);
  const Instance& instance =
      *Find(term.tmpl, {term.operands.data(), term.arity});
  const Field* inputs[kMaxOperands];
  for (int k = 0; k < term.arity; ++k) inputs[k] = ValuesOf(term.operands[k]);
  values.resize(instance.program.size());
  const absl::Span<const Field* const> operands(inputs, term.arity);
  if (all) {
    instance.program.Run(operands, values.data(), scratch);
  } else {
    instance.program.RunSampled(operands, values.data(), scratch);
  }
  ++evaluations;
  return instance;
}

const Field* Worker::SpareValues(TensorId t, int leaf) {
  if (all_.terms_.IsLeaf(t)) {
    return all_.world_.leaf_values(static_cast<int>(t),
                                   static_cast<int>(t) == leaf);
  }
  if ((all_.terms_.leaves_of(t) >> leaf & 1) == 0) return ValuesOf(t);
  const TermId id = all_.terms_.term_of(t);
  const Term& term = all_.terms_.term(id);
  const Instance* instance =
      Find(term.tmpl, {term.operands.data(), term.arity});
  const int64_t offset =
      instance->program.offset(static_cast<int>(t - term.first));
  for (const Spare& known : spare_) {
    if (known.term == id && known.leaf == leaf) {
      return known.values.data() + offset;
    }
  }
  const Field* inputs[kMaxOperands];
  for (int k = 0; k < term.arity; ++k) {
    inputs[k] = SpareValues(term.operands[k], leaf);
  }
  std::vector<Field> out(instance->program.size());
  instance->program.Run({inputs, term.arity}, out.data(), scratch);
  spare_.push_back({id, leaf, std::move(out)});
  return spare_.back().values.data() + offset;
}

uint32_t Worker::MostDepends(const NewStep& step) const {
  uint32_t depends = 0;
  for (TensorId t : step.span()) depends |= all_.facts_[t].depends;
  return depends;
}

uint32_t Worker::FullOutputs(const NewStep& step) const {
  const uint32_t most = MostDepends(step);
  uint32_t full = 0;
  for (size_t k = 0; k < step.instance->outputs.size(); ++k) {
    full |= static_cast<uint32_t>(outputs_.depends[tensors_.size() + k] == most)
            << k;
  }
  return full;
}

uint32_t Worker::Depends(const NewStep& step, int k) {
  const uint32_t depends = MostDepends(step);
  const Program& program = step.instance->program;
  if ((step.full >> k & 1) != 0 || program.faithful(k)) return depends;
  const size_t arity = static_cast<size_t>(step.arity);
  const Field *inputs[kMaxOperands], *others[kMaxOperands];
  for (int i = 0; i < step.arity; ++i) inputs[i] = ValuesOf(step.operands[i]);
  plain_.resize(program.size());
  other_.resize(program.size());
  program.RunSampled({inputs, arity}, plain_.data(), scratch);
  // A leaf that some sampled place depends on is one; the others are looked at
  // on all places.
  uint32_t out = 0;
  for (uint32_t rest = depends; rest != 0; rest &= rest - 1) {
    const int leaf = __builtin_ctz(rest);
    for (int i = 0; i < step.arity; ++i) {
      others[i] = SpareValues(step.operands[i], leaf);
    }
    program.RunSampled({others, arity}, other_.data(), scratch);
    for (uint32_t place : step.instance->samples[k]) {
      if (plain_[place] == other_[place]) continue;
      out |= 1u << leaf;
      break;
    }
  }
  if (out == depends) return out;
  program.Run({inputs, arity}, plain_.data(), scratch);
  const int64_t n = NumElements(program.outputs()[k]);
  const int64_t offset = program.offset(k);
  for (uint32_t rest = depends & ~out; rest != 0; rest &= rest - 1) {
    const int leaf = __builtin_ctz(rest);
    for (int i = 0; i < step.arity; ++i) {
      others[i] = SpareValues(step.operands[i], leaf);
    }
    program.Run({others, arity}, other_.data(), scratch);
    if (!std::equal(plain_.begin() + offset, plain_.begin() + offset + n,
                    other_.begin() + offset)) {
      out |= 1u << leaf;
    }
  }
  return out;
}

// ---- Fingerprints

void Worker::FreshPrints(const NewStep& step,
                         const std::vector<Renaming>& renamings) {
  const Instance& instance = *step.instance;
  if (buffer_.size() < static_cast<size_t>(instance.program.size())) {
    buffer_.resize(instance.program.size());
  }
  const Field* inputs[kMaxOperands];
  for (size_t r = 0; r < renamings.size(); ++r) {
    for (int k = 0; k < step.arity; ++k) {
      inputs[k] =
          ValuesOf(all_.terms_.ActTensor(renamings[r], step.operands[k]));
    }
    instance.program.RunSampled({inputs, static_cast<size_t>(step.arity)},
                                buffer_.data(), scratch);
    ++evaluations;
    for (size_t k = 0; k < instance.outputs.size(); ++k) {
      new_prints_[r][k] =
          PrintOf(instance, static_cast<int>(k), buffer_.data());
    }
  }
}

Worker::Outputs Worker::OutputsOf(const Extension& e) {
  Outputs o;
  int step = 0;
  for (int i = 0; i < steps_; ++i, ++step) {
    const Term& t = all_.terms_.term(terms_[i]);
    for (int k = 0; k < t.outputs; ++k) {
      o.tensors[o.count] = t.first + k;
      o.depends[o.count] = all_.facts_[t.first + k].depends;
      o.step[o.count++] = step;
    }
  }
  o.consumed = consumed_;
  auto consume = [&](TensorId t) {
    for (int i = 0; i < o.count; ++i) {
      if (o.tensors[i] == t) o.consumed |= 1u << i;
    }
  };
  if (e.fresh != nullptr) {
    for (TensorId t : e.fresh->span()) consume(t);
    for (size_t k = 0; k < e.fresh->instance->outputs.size(); ++k) {
      o.tensors[o.count] = kNone - static_cast<uint32_t>(k);
      o.depends[o.count] = Depends(*e.fresh, static_cast<int>(k));
      o.step[o.count++] = step;
    }
  } else {
    const Term& t = all_.terms_.term(e.term);
    for (int k = 0; k < t.arity; ++k) consume(t.operands[k]);
    for (int k = 0; k < t.outputs; ++k) {
      o.tensors[o.count] = t.first + k;
      o.depends[o.count] = all_.facts_[t.first + k].depends;
      o.step[o.count++] = step;
    }
  }
  o.steps = step + 1;
  for (int at = 0, i = 0; at < o.steps; ++at) {
    uint32_t outputs = 0;
    for (; i < o.count && o.step[i] == at; ++i) outputs |= 1u << i;
    if ((outputs & o.consumed) == 0) o.ends[o.num_ends++] = outputs;
  }
  return o;
}

void Worker::FillPrints(Images& images) const {
  images.has_prints = true;
  images.prints.resize(images.renamings->size());
  for (size_t r = 0; r < images.renamings->size(); ++r) {
    int at = 0;
    for (int i = 0; i < steps_; ++i) {
      const TermId image = all_.terms_.Act((*images.renamings)[r], terms_[i]);
      const Term& t = all_.terms_.term(image);
      for (int k = 0; k < t.outputs; ++k) {
        images.prints[r][at++] = all_.facts_[t.first + k].print;
      }
    }
  }
}

Worker::Images& Worker::FindPrints(const Extension& e, const Outputs& o,
                                   bool all) {
  Images& images = ImagesFor(LeavesOf(e));
  if (all && !images.has_prints) FillPrints(images);
  const std::vector<Renaming>& renamings = *images.renamings;
  if (new_prints_.size() < renamings.size()) {
    new_prints_.resize(renamings.size());
  }
  if (e.fresh != nullptr) {
    FreshPrints(*e.fresh, renamings);
    return images;
  }
  const int count = o.count - static_cast<int>(tensors_.size());
  for (size_t r = 0; r < renamings.size(); ++r) {
    const TermId image = all_.terms_.Act(renamings[r], e.term);
    const TensorId first = all_.terms_.term(image).first;
    for (int k = 0; k < count; ++k) {
      new_prints_[r][k] = all_.facts_[first + k].print;
    }
  }
  return images;
}

// The names must be the first ones of their classes. Where a value does not
// depend on a variable that is named, only some renamings make it so.
const std::vector<uint32_t>& Worker::GivingPrefix(uint32_t mask) const {
  uint32_t depends = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    depends |= outputs_.depends[__builtin_ctz(rest)];
  }
  Images& images = *prepared_;
  for (size_t i = 0; i < images.num_prefixes; ++i) {
    if (images.prefixes[i].depends == depends) {
      return images.prefixes[i].renamings;
    }
  }
  if (images.num_prefixes == images.prefixes.size()) {
    images.prefixes.emplace_back();
  }
  Images::Prefix& prefix = images.prefixes[images.num_prefixes++];
  prefix.depends = depends;
  prefix.renamings.clear();
  for (uint32_t r = 0; r < images.renamings->size(); ++r) {
    if (depends == images.used ||
        all_.symmetry_.IsPrefix(
            all_.symmetry_.ActMask((*images.renamings)[r], depends))) {
      prefix.renamings.push_back(r);
    }
  }
  return prefix.renamings;
}

uint64_t Worker::SumOf(size_t r, uint32_t mask) const {
  const uint32_t old = mask & ((1u << tensors_.size()) - 1);
  uint64_t sum = 0;
  for (uint32_t rest = old; rest != 0; rest &= rest - 1) {
    sum += prepared_->prints[r][__builtin_ctz(rest)];
  }
  for (uint32_t rest = mask >> tensors_.size(); rest != 0; rest &= rest - 1) {
    sum += new_prints_[r][__builtin_ctz(rest)];
  }
  return sum;
}

Worker::Least Worker::FindLeast(uint32_t mask) const {
  Least least{~uint64_t{0}, 0, 0};
  for (uint32_t r : GivingPrefix(mask)) {
    const uint64_t sum = SumOf(r, mask);
    if (sum < least.print) least = {sum, r, 0};
    least.count += sum == least.print;
  }
  return least;
}

std::vector<size_t> Worker::Twins(const Extension& e, uint32_t mask,
                                  const Least& least) const {
  using Image = std::array<TensorId, kMaxOperands + 1>;
  std::vector<size_t> twins;
  std::vector<std::vector<Image>> seen;
  for (uint32_t r : GivingPrefix(mask)) {
    if (SumOf(r, mask) != least.print) continue;
    const Renaming& renaming = (*prepared_->renamings)[r];
    std::vector<Image> image;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const TensorId t = outputs_.tensors[__builtin_ctz(rest)];
      Image& i = image.emplace_back();
      i.fill(kNone);
      i[0] = t;
      if (t <= kNone - kMaxOutputs) {
        i[0] = all_.terms_.ActTensor(renaming, t);
        continue;
      }
      for (int k = 0; k < e.fresh->arity; ++k) {
        i[k + 1] = all_.terms_.ActTensor(renaming, e.fresh->operands[k]);
      }
      if (all_.preset_.templates[e.fresh->tmpl].commutative && i[2] < i[1]) {
        std::swap(i[1], i[2]);
      }
    }
    std::sort(image.begin(), image.end());
    if (std::find(seen.begin(), seen.end(), image) != seen.end()) continue;
    seen.push_back(std::move(image));
    twins.push_back(r);
    if (twins.size() == Code64::kMostTwins) break;
  }
  return twins;
}

void Worker::Prepare(const Extension& e, bool all) {
  outputs_ = OutputsOf(e);
  prepared_ = &FindPrints(e, outputs_, all);
}

}  // namespace isomer::gen
