// Choices of outputs of the graph visited with one step more: which there are,
// which may say something new, and how they are made.
#include <algorithm>

#include "graph/hashing.h"
#include "xfer_gen/worker.h"

namespace isomer::gen {

namespace {

constexpr int kLargest = 2 * kMaxSteps;

}  // namespace

int64_t Worker::CountChoices(const Extension& e) const {
  auto choices = [](int outputs, bool needed) {
    return (int64_t{1} << outputs) - (needed ? 0 : 1);
  };
  // Every step must be needed: by another or for an output.
  int64_t count = choices(
      e.fresh != nullptr ? static_cast<int>(e.fresh->instance->outputs.size())
                         : all_.terms_.term(e.term).outputs,
      false);
  const uint32_t needed = ~sinks_ | ConsumedBy(e).steps;
  for (int i = 0; i < steps_; ++i) {
    count *= choices(all_.terms_.term(terms_[i]).outputs, needed >> i & 1);
  }
  return count;
}

uint64_t Worker::MakingOf(const Extension& e, size_t r, int output) const {
  const Renaming& renaming = (*prepared_->renamings)[r];
  const TensorId t = outputs_.tensors[output];
  const bool fresh = t > kNone - kMaxOutputs;
  const Term* term =
      fresh ? nullptr : &all_.terms_.term(all_.terms_.term_of(t));
  const int tmpl = fresh ? e.fresh->tmpl : term->tmpl;
  const uint32_t k = fresh ? kNone - t : t - term->first;
  const absl::Span<const TensorId> operands =
      fresh ? e.fresh->span()
            : absl::Span<const TensorId>(term->operands.data(), term->arity);
  std::array<uint64_t, kMaxOperands> prints;
  for (size_t i = 0; i < operands.size(); ++i) {
    const TensorId image = all_.terms_.ActTensor(renaming, operands[i]);
    const auto& f = all_.facts_[image];
    prints[i] = f.impure ? ir::HashCombine(f.print, image) : f.print;
  }
  if (all_.preset_.templates[tmpl].commutative && prints[1] < prints[0]) {
    std::swap(prints[0], prints[1]);
  }
  uint64_t h = ir::HashCombine(tmpl, k);
  for (size_t i = 0; i < operands.size(); ++i) {
    h = ir::HashCombine(h, prints[i]);
  }
  return h;
}

Makings Worker::MakingsOf(const Extension& e, size_t r, uint32_t mask) const {
  Makings makings = {};
  const size_t n = __builtin_popcount(mask);
  if (n < 2 || n > makings.size()) return makings;
  std::array<std::pair<uint64_t, uint32_t>, kLargest> outputs;
  size_t at = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int output = __builtin_ctz(rest);
    // 0 stands for what is not known.
    outputs[at++] = {PrintAt(r, output),
                     static_cast<uint32_t>(MakingOf(e, r, output) >> 32) | 1};
  }
  std::sort(outputs.begin(), outputs.begin() + n);
  for (size_t k = 0; k < n; ++k) makings[k] = outputs[k].second;
  return makings;
}

void Worker::AddChoice(const Extension& e, uint32_t ordinal, uint32_t mask,
                       Table& table) const {
  const Least least = FindLeast(mask);
  auto add = [&](size_t r, size_t twin, bool known) {
    table.Add({ir::HashMix(least.print),
               Code64::Make(graph_, ordinal, static_cast<uint32_t>(twin), mask),
               known ? MakingsOf(e, r, mask) : Makings{}});
  };
  if (least.count == 1) return add(least.renaming, 0, true);
  const std::vector<size_t> twins = Twins(e, mask, least);
  const bool known = twins.size() < Code64::kMostTwins;
  for (size_t i = 0; i < twins.size(); ++i) add(twins[i], i, known);
}

void Worker::AddSingles(const Extension& e, uint32_t ordinal, Table& table) {
  if (e.fresh == nullptr && all_.terms_.term(e.term).size != steps_ + 1) return;
  Prepare(e, /*all=*/false);
  for (int i = static_cast<int>(tensors_.size()); i < outputs_.count; ++i) {
    AddChoice(e, ordinal, 1u << i, table);
  }
}

uint32_t Worker::FindOpen(const Extension& e, int most_ends) const {
  uint32_t fresh = e.fresh_open;
  if (e.fresh == nullptr) {
    const Term& t = all_.terms_.term(e.term);
    for (int k = 0; k < t.outputs; ++k) {
      fresh |= static_cast<uint32_t>(all_.facts_[t.first + k].open) << k;
    }
  }
  if (fresh == 0) return 0;
  const uint32_t left = ~ConsumedBy(e).steps;
  if ((shut_ & left) != 0) return 0;
  if (__builtin_popcount(sinks_ & left) >= most_ends) return 0;
  return open_ | fresh << tensors_.size();
}

int Worker::NumOpen(const Extension& e) const {
  return __builtin_popcount(FindOpen(e));
}

bool Worker::IsLive(uint32_t mask) const {
  for (int i = 0; i < outputs_.num_ends; ++i) {
    if ((mask & outputs_.ends[i]) == 0) return false;
  }
  return true;
}

void Worker::AddPairs(const Extension& e, uint32_t ordinal, Table& table) {
  const uint32_t open = FindOpen(e, 2);
  // One of the two is the new step's, which nothing consumes.
  const uint32_t tops = open >> tensors_.size() << tensors_.size();
  if (tops == 0 || (open & (open - 1)) == 0) return;
  Prepare(e, /*all=*/true);
  for (uint32_t a = tops; a != 0; a &= a - 1) {
    const uint32_t top = a & -a;
    for (uint32_t b = open & (top - 1); b != 0; b &= b - 1) {
      const uint32_t mask = top | (b & -b);
      if (IsLive(mask) && !HasTwice(mask)) AddChoice(e, ordinal, mask, table);
    }
  }
}

bool Worker::DependsOnAll(TensorId t) const {
  return all_.facts_[t].depends == all_.terms_.leaves_of(t);
}

bool Worker::IsOpenPair(const Extension& e, int a, int b, bool& prepared) {
  constexpr size_t kKnown = 1 << 17;
  const int n = static_cast<int>(tensors_.size());
  auto tensor = [&](int output) -> TensorId {
    if (output < n) return tensors_[output];
    if (e.fresh != nullptr) return kNone;
    return all_.terms_.term(e.term).first + static_cast<uint32_t>(output - n);
  };
  const TensorId older = std::min(tensor(a), tensor(b));
  const TensorId newer = std::max(tensor(a), tensor(b));
  const uint64_t key = uint64_t{older} << 33 | uint64_t{newer} << 1;
  known_pairs_.resize(kKnown, ~uint64_t{0});
  // Extensions come in the order of their numbers: neighbours lie together.
  uint64_t& known = known_pairs_[(ir::HashMix(older) + newer) % kKnown];
  // What depends on all variables that it names has one fingerprint in all
  // graphs; with others, the names that a graph leaves them matter.
  const bool keep =
      newer != kNone && DependsOnAll(older) && DependsOnAll(newer);
  if (keep && (known & ~uint64_t{1}) == key) return known & 1;
  if (!prepared) Prepare(e, /*all=*/true);
  prepared = true;
  const bool found = all_.open_pairs_.Contains(
      ir::HashMix(FindLeast(1u << a | 1u << b).print));
  if (keep) known = key | static_cast<uint64_t>(found);
  return found;
}

void Worker::AddMore(const Extension& e, uint32_t ordinal, Table& table) {
  const uint32_t open = FindOpen(e);
  if (__builtin_popcount(open) < 3) return;
  bool prepared = false;
  // The outputs that each output is an open pair with.
  std::array<uint32_t, kLargest> with = {};
  auto pair = [&](int a, int b) {
    if (!IsOpenPair(e, a, b, prepared)) return;
    with[a] |= 1u << b;
    with[b] |= 1u << a;
  };
  // One of them is the new step's: its pairs come first, the others are needed
  // only between what they hold.
  const int before = static_cast<int>(tensors_.size());
  uint32_t partners = 0;
  for (uint32_t a = open >> before << before; a != 0; a &= a - 1) {
    const int top = __builtin_ctz(a);
    for (uint32_t b = open & ((1u << top) - 1); b != 0; b &= b - 1) {
      pair(top, __builtin_ctz(b));
    }
    partners |= with[top] | (with[top] != 0 ? 1u << top : 0);
  }
  if (__builtin_popcount(partners) < 3) return;
  const uint32_t inner = partners & ((1u << before) - 1);
  for (uint32_t a = inner; a != 0; a &= a - 1) {
    for (uint32_t b = a & (a - 1); b != 0; b &= b - 1) {
      pair(__builtin_ctz(a), __builtin_ctz(b));
    }
  }
  for (uint32_t mask = partners; mask != 0; mask = (mask - 1) & partners) {
    if (__builtin_popcount(mask) < 3) continue;
    bool all = true;
    for (uint32_t a = mask; a != 0 && all; a &= a - 1) {
      const uint32_t others = mask & ~(a & -a);
      all = (others & ~with[__builtin_ctz(a)]) == 0;
    }
    if (!all) continue;
    if (!prepared) Prepare(e, /*all=*/true);
    prepared = true;
    if (IsLive(mask) && !HasTwice(mask)) AddChoice(e, ordinal, mask, table);
  }
}

bool Worker::HasTwice(uint32_t mask) const {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint64_t print = PrintAt(0, __builtin_ctz(rest));
    for (uint32_t more = rest & (rest - 1); more != 0; more &= more - 1) {
      if (PrintAt(0, __builtin_ctz(more)) == print) return true;
    }
  }
  return false;
}

Worker::Renamed Worker::Rename(const Extension& e, uint32_t mask,
                               uint32_t twin) const {
  const Outputs& o = outputs_;
  const Least least = FindLeast(mask);
  const size_t at = twin == 0 ? least.renaming : Twins(e, mask, least)[twin];
  const Renaming& r = (*prepared_->renamings)[at];
  Renamed out;
  for (int i = 0; i < o.count; ++i) {
    if (!(mask >> i & 1)) continue;
    const bool fresh = o.tensors[i] > kNone - kMaxOutputs;
    out.outputs.push_back(fresh ? o.tensors[i]
                                : all_.terms_.ActTensor(r, o.tensors[i]));
  }
  if (e.fresh == nullptr) return out;
  out.fresh = *e.fresh;
  for (int k = 0; k < out.fresh.arity; ++k) {
    out.fresh.operands[k] = all_.terms_.ActTensor(r, e.fresh->operands[k]);
  }
  if (all_.preset_.templates[out.fresh.tmpl].commutative &&
      out.fresh.operands[1] < out.fresh.operands[0]) {
    std::swap(out.fresh.operands[0], out.fresh.operands[1]);
  }
  return out;
}

}  // namespace isomer::gen
