// The graph visited is small; what renamings do to it is computed once for
// each set of variables that its extensions use, and shared by them.
#include "xfer_gen/worker.h"

#include <algorithm>

#include "graph/hashing.h"
#include "ops/status.h"

namespace isomer::gen {

namespace {

constexpr int kLargest = 2 * kMaxSteps;

}  // namespace

// ---- The graph

void Worker::Visit(GraphId graph) {
  graph_ = graph;
  steps_ = 0;
  for (GraphId g = graph; g != 0; g = all_.graphs_[g].parent) {
    terms_[steps_++] = all_.graphs_[g].last;
  }
  std::reverse(terms_.begin(), terms_.begin() + steps_);
  leaves_ = consumed_ = 0;
  sinks_ = (1u << steps_) - 1;
  components_ = 0;
  tensors_.clear();
  num_images_ = num_computed_ = 0;
  spare_.clear();
  set_ = kNoTerms;
  for (int i = 0; i < steps_; ++i) {
    const Term& t = all_.terms_.term(terms_[i]);
    if (i < static_cast<int>(set_.size())) set_[i] = terms_[i];
    leaves_ |= t.leaves;
    component_[i] = i;
    for (int k = 0; k < t.arity; ++k) {
      if (all_.terms_.IsLeaf(t.operands[k])) continue;
      const TermId from = all_.terms_.term_of(t.operands[k]);
      const int at = static_cast<int>(
          std::find(terms_.begin(), terms_.begin() + i, from) - terms_.begin());
      sinks_ &= ~(1u << at);
      const int other = component_[at];
      for (int j = 0; j <= i; ++j) {
        if (component_[j] == other) component_[j] = component_[i];
      }
      const auto tensor =
          std::find(tensors_.begin(), tensors_.end(), t.operands[k]);
      consumed_ |= 1u << (tensor - tensors_.begin());
    }
    for (int k = 0; k < t.outputs; ++k) tensors_.push_back(t.first + k);
  }
  for (int i = 0; i < steps_; ++i) components_ += component_[i] == i;
  // Labels may have moved to later steps: count distinct ones.
  std::array<bool, kMaxSteps> seen = {};
  components_ = 0;
  for (int i = 0; i < steps_; ++i) {
    components_ += !seen[component_[i]];
    seen[component_[i]] = true;
  }
}

int Worker::Components(const Extension& e) const {
  std::array<bool, kMaxSteps> touched = {};
  int count = 0;
  auto touch = [&](TensorId t) {
    if (all_.terms_.IsLeaf(t)) return;
    const TermId from = all_.terms_.term_of(t);
    const int at = static_cast<int>(
        std::find(terms_.begin(), terms_.begin() + steps_, from) -
        terms_.begin());
    count += !touched[component_[at]];
    touched[component_[at]] = true;
  };
  if (e.fresh != nullptr) {
    for (TensorId t : e.fresh->span()) touch(t);
  } else {
    const Term& term = all_.terms_.term(e.term);
    for (int k = 0; k < term.arity; ++k) touch(term.operands[k]);
  }
  return components_ + 1 - count;
}

uint32_t Worker::LeavesOf(const Extension& e) const {
  if (e.fresh == nullptr) return leaves_ | all_.terms_.term(e.term).leaves;
  uint32_t mask = leaves_;
  for (TensorId t : e.fresh->span()) mask |= all_.terms_.leaves_of(t);
  return mask;
}

const Worker::Images& Worker::ImagesFor(uint32_t used) {
  for (size_t i = 0; i < num_images_; ++i) {
    if (images_[i].used == used) return images_[i];
  }
  if (num_images_ == images_.size()) images_.emplace_back();
  Images& out = images_[num_images_++];
  out.used = used;
  out.renamings = &all_.symmetry_.Permuting(used);
  out.terms.resize(out.renamings->size());
  out.prints.resize(out.renamings->size());
  for (size_t r = 0; r < out.renamings->size(); ++r) {
    const Renaming& renaming = (*out.renamings)[r];
    int at = 0;
    for (int i = 0; i < steps_; ++i) {
      const TermId image = all_.terms_.Act(renaming, terms_[i]);
      out.terms[r][i] = image;
      const Term& t = all_.terms_.term(image);
      for (int k = 0; k < t.outputs; ++k) {
        out.prints[r][at++] = all_.facts_[t.first + k].print;
      }
    }
    std::sort(out.terms[r].begin(), out.terms[r].begin() + steps_);
  }
  return out;
}

// ---- Steps over the whole graph

const Instance* Worker::FindKinds(int tmpl, absl::Span<const KindId> kinds) {
  std::array<int32_t, 5> key = {tmpl, -1, -1, -1, -1};
  std::copy(kinds.begin(), kinds.end(), key.begin() + 1);
  auto [it, fresh] = instances_.try_emplace(key, nullptr);
  if (fresh) {
    it->second = const_cast<World&>(all_.world_).Find(tmpl, kinds);
  }
  return it->second;
}

const Instance* Worker::Find(int tmpl, absl::Span<const TensorId> operands) {
  std::array<KindId, kMaxOperands> kinds;
  for (size_t i = 0; i < operands.size(); ++i) {
    kinds[i] = all_.facts_[operands[i]].kind;
  }
  return FindKinds(tmpl, {kinds.data(), operands.size()});
}

bool Worker::Takes(int tmpl, int place, TensorId t) const {
  const Template::Operand takes = all_.preset_.templates[tmpl].takes[place];
  if (takes == Template::Operand::kAny) return true;
  const bool leaf = all_.terms_.IsLeaf(t);
  if (takes == Template::Operand::kLeaf) return leaf;
  return !leaf || !all_.preset_.leaves[all_.symmetry_.class_of(t)].weight;
}

bool Worker::Usable(TensorId t) const {
  return !all_.options_.prune || !all_.facts_[t].reducible;
}

const std::vector<Worker::Partner>& Worker::PartnersOf(KindId kind) {
  if (static_cast<size_t>(kind) >= partners_.size()) {
    partners_.resize(kind + 1);
    has_partners_.resize(kind + 1, false);
  }
  if (has_partners_[kind]) return partners_[kind];
  has_partners_[kind] = true;
  const auto& templates = all_.preset_.templates;
  for (size_t t = 0; t < templates.size(); ++t) {
    if (templates[t].params.size() != 2) continue;
    const int places = templates[t].commutative ? 1 : 2;
    for (int place = 0; place < places; ++place) {
      for (int c = 0; c < all_.symmetry_.num_classes(); ++c) {
        const TensorId leaf = all_.symmetry_.first(c);
        if (!Takes(static_cast<int>(t), 1 - place, leaf)) continue;
        KindId kinds[2];
        kinds[place] = kind;
        kinds[1 - place] = all_.facts_[leaf].kind;
        const Instance* instance = FindKinds(static_cast<int>(t), kinds);
        if (instance == nullptr) continue;
        partners_[kind].push_back({static_cast<int>(t), place, c, instance});
      }
    }
  }
  return partners_[kind];
}

void Worker::Offer(NewStep& step,
                   absl::FunctionRef<void(const NewStep&)> found) {
  uint32_t mask = leaves_;
  for (TensorId t : step.span()) mask |= all_.terms_.leaves_of(t);
  if (!all_.symmetry_.IsPrefix(mask)) return;
  if (all_.preset_.templates[step.tmpl].commutative &&
      step.operands[1] < step.operands[0]) {
    std::swap(step.operands[0], step.operands[1]);
  }
  found(step);
}

bool Worker::UsesAllSinks(absl::Span<const TensorId> operands) const {
  uint32_t used = 0;
  for (TensorId t : operands) {
    if (all_.terms_.IsLeaf(t)) continue;
    const TermId from = all_.terms_.term_of(t);
    for (int i = 0; i < steps_; ++i) used |= (terms_[i] == from) << i;
  }
  return (sinks_ & ~used) == 0;
}

void Worker::Unary(absl::FunctionRef<void(const NewStep&)> found) {
  std::vector<TensorId> over;
  if (steps_ == 0) {
    for (int c = 0; c < all_.symmetry_.num_classes(); ++c) {
      over.push_back(all_.symmetry_.first(c));
    }
  } else {
    for (TensorId t : tensors_) {
      if (UsesAllSinks({&t, 1}) && Usable(t)) over.push_back(t);
    }
  }
  const auto& templates = all_.preset_.templates;
  for (size_t t = 0; t < templates.size(); ++t) {
    if (templates[t].params.size() != 1) continue;
    for (TensorId operand : over) {
      if (!Takes(static_cast<int>(t), 0, operand)) continue;
      NewStep step{static_cast<int>(t),
                   Find(static_cast<int>(t), {&operand, 1}),
                   {operand},
                   1};
      if (step.instance != nullptr) Offer(step, found);
    }
  }
}

void Worker::Binary(absl::FunctionRef<void(const NewStep&)> found) {
  const Terms& terms = all_.terms_;
  auto is_sink = [&](TensorId t) { return UsesAllSinks({&t, 1}); };
  // One operand is a tensor of the graph that every term is needed for (or a
  // leaf, if the graph is empty), the other a leaf.
  std::vector<TensorId> tops, inner;
  for (TensorId t : tensors_) {
    if (!Usable(t)) continue;
    inner.push_back(t);
    if (is_sink(t)) tops.push_back(t);
  }
  if (steps_ == 0) {
    for (int c = 0; c < all_.symmetry_.num_classes(); ++c) {
      tops.push_back(all_.symmetry_.first(c));
    }
  }
  for (TensorId top : tops) {
    for (const Partner& p : PartnersOf(all_.facts_[top].kind)) {
      if (!Takes(p.tmpl, p.place, top)) continue;
      // Pairs of leaves come from the left one alone.
      if (steps_ == 0 && p.place == 1) continue;
      const int first = all_.symmetry_.first(p.cls);
      for (int i = 0; i < all_.symmetry_.count(p.cls); ++i) {
        const TensorId leaf = first + i;
        if (steps_ == 0 && all_.preset_.templates[p.tmpl].commutative &&
            leaf < top) {
          continue;
        }
        NewStep step{p.tmpl, p.instance, {}, 2};
        step.operands[p.place] = top;
        step.operands[1 - p.place] = leaf;
        Offer(step, found);
      }
    }
  }
  // Both operands are tensors of the graph.
  const auto& templates = all_.preset_.templates;
  for (TensorId a : inner) {
    for (TensorId b : inner) {
      const TensorId both[2] = {a, b};
      if (!UsesAllSinks(both)) continue;
      for (size_t t = 0; t < templates.size(); ++t) {
        if (templates[t].params.size() != 2) continue;
        if (templates[t].commutative && b < a) continue;
        if (!Takes(static_cast<int>(t), 0, a) ||
            !Takes(static_cast<int>(t), 1, b)) {
          continue;
        }
        NewStep step{
            static_cast<int>(t), Find(static_cast<int>(t), both), {a, b}, 2};
        if (step.instance != nullptr) Offer(step, found);
      }
    }
  }
  (void)terms;
}

void Worker::Wide(int tmpl, NewStep& step,
                  absl::FunctionRef<void(const NewStep&)> found) {
  const int wanted =
      static_cast<int>(all_.preset_.templates[tmpl].params.size());
  if (step.arity == wanted) {
    if (!UsesAllSinks(step.span())) return;
    step.instance = Find(tmpl, step.span());
    if (step.instance == nullptr) return;
    NewStep offered = step;
    Offer(offered, found);
    return;
  }
  auto take = [&](TensorId t) {
    if (!Takes(tmpl, step.arity, t) || !Usable(t)) return;
    step.operands[step.arity++] = t;
    Wide(tmpl, step, found);
    --step.arity;
  };
  for (int leaf = 0; leaf < all_.symmetry_.num_leaves(); ++leaf) take(leaf);
  for (size_t i = 0; i < tensors_.size(); ++i) take(tensors_[i]);
}

void Worker::ForEachOver(absl::FunctionRef<void(const NewStep&)> found) {
  const auto& templates = all_.preset_.templates;
  if (steps_ == 0) {
    for (size_t t = 0; t < templates.size(); ++t) {
      if (!templates[t].params.empty()) continue;
      NewStep step{
          static_cast<int>(t), FindKinds(static_cast<int>(t), {}), {}, 0};
      if (step.instance != nullptr) found(step);
    }
  }
  Unary(found);
  Binary(found);
  for (size_t t = 0; t < templates.size(); ++t) {
    if (templates[t].params.size() < 3) continue;
    NewStep step{static_cast<int>(t), nullptr, {}, 0};
    Wide(static_cast<int>(t), step, found);
  }
}

// ---- Canonical extensions

bool Worker::IsCanonical(TermId t) {
  const uint32_t used = leaves_ | all_.terms_.term(t).leaves;
  if (!all_.symmetry_.IsPrefix(used)) return false;
  const Images& images = ImagesFor(used);
  for (size_t r = 1; r < images.renamings->size(); ++r) {
    const TermId image = all_.terms_.Act((*images.renamings)[r], t);
    const auto& other = images.terms[r];
    // The image's place among the others, and the first difference.
    int i = 0;
    bool placed = false, less = false;
    for (int k = 0; k <= steps_; ++k) {
      TermId b;
      if (!placed && (i == steps_ || image < other[i])) {
        b = image;
        placed = true;
      } else {
        b = other[i++];
      }
      const TermId a = k == steps_ ? t : terms_[k];
      if (a != b) {
        less = b < a;
        break;
      }
    }
    if (less) return false;
  }
  return true;
}

bool Worker::IsCanonical(const NewStep& step) {
  const Images& images = ImagesFor(LeavesOf({kNone, &step}));
  const bool commutative = all_.preset_.templates[step.tmpl].commutative;
  for (size_t r = 1; r < images.renamings->size(); ++r) {
    if (!std::equal(terms_.begin(), terms_.begin() + steps_,
                    images.terms[r].begin())) {
      continue;
    }
    std::array<TensorId, kMaxOperands> image = {};
    for (int k = 0; k < step.arity; ++k) {
      image[k] =
          all_.terms_.ActTensor((*images.renamings)[r], step.operands[k]);
    }
    if (commutative && image[1] < image[0]) std::swap(image[0], image[1]);
    if (std::lexicographical_compare(image.begin(), image.begin() + step.arity,
                                     step.operands.begin(),
                                     step.operands.begin() + step.arity)) {
      return false;
    }
  }
  return true;
}

void Worker::ForEachExtension(bool last,
                              absl::FunctionRef<void(const Extension&)> kept) {
  const TermId greatest = steps_ == 0 ? 0 : terms_[steps_ - 1];
  // Closed subsets of the graph, as masks; the whole comes last.
  for (uint32_t subset = 0; subset < (1u << steps_); ++subset) {
    TermSet below = kNoTerms;
    int n = 0;
    bool closed = true;
    for (int i = 0; i < steps_ && closed; ++i) {
      if (!(subset >> i & 1)) continue;
      below[n++] = terms_[i];
      for (TermId need : all_.terms_.term(terms_[i]).below) {
        if (need == kNone) break;
        closed = closed && std::find(below.begin(), below.begin() + n, need) !=
                               below.begin() + n;
      }
    }
    if (!closed) continue;
    const bool whole = subset == (1u << steps_) - 1;
    if (whole && last) {
      ForEachOver([&](const NewStep& step) {
        if (IsCanonical(step)) kept({kNone, &step});
      });
      continue;
    }
    const absl::Span<const TermId> over = all_.terms_.Over(below);
    auto it = steps_ == 0
                  ? over.begin()
                  : std::upper_bound(over.begin(), over.end(), greatest);
    for (; it != over.end(); ++it) {
      if (IsCanonical(*it)) kept({*it, nullptr});
    }
  }
}

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

const Field* Worker::SpareValues(TensorId t, int leaf) {
  if (all_.terms_.IsLeaf(t)) {
    return all_.world_.leaf_values(static_cast<int>(t),
                                   static_cast<int>(t) == leaf);
  }
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

uint32_t Worker::Depends(const NewStep& step, int k) {
  uint32_t depends = 0;
  for (TensorId t : step.span()) depends |= all_.facts_[t].depends;
  const Program& program = step.instance->program;
  if (program.faithful(k)) return depends;
  const int64_t n = NumElements(program.outputs()[k]);
  const int64_t offset = program.offset(k);
  std::vector<Field> plain(program.size()), other(program.size());
  const Field* inputs[kMaxOperands];
  for (int i = 0; i < step.arity; ++i) inputs[i] = ValuesOf(step.operands[i]);
  program.Run({inputs, static_cast<size_t>(step.arity)}, plain.data(), scratch);
  uint32_t out = 0;
  for (uint32_t rest = depends; rest != 0; rest &= rest - 1) {
    const int leaf = __builtin_ctz(rest);
    for (int i = 0; i < step.arity; ++i) {
      inputs[i] = SpareValues(step.operands[i], leaf);
    }
    program.Run({inputs, static_cast<size_t>(step.arity)}, other.data(),
                scratch);
    if (!std::equal(plain.begin() + offset, plain.begin() + offset + n,
                    other.begin() + offset)) {
      out |= 1u << leaf;
    }
  }
  return out;
}

// ---- Fingerprints

void Worker::FreshPrints(const NewStep& step, const Images& images) {
  fresh_prints_.resize(images.renamings->size());
  const Instance& instance = *step.instance;
  if (buffer_.size() < static_cast<size_t>(instance.program.size())) {
    buffer_.resize(instance.program.size());
  }
  const Field* inputs[kMaxOperands];
  for (size_t r = 0; r < images.renamings->size(); ++r) {
    for (int k = 0; k < step.arity; ++k) {
      inputs[k] = ValuesOf(
          all_.terms_.ActTensor((*images.renamings)[r], step.operands[k]));
    }
    instance.program.RunSampled({inputs, static_cast<size_t>(step.arity)},
                                buffer_.data(), scratch);
    ++evaluations;
    for (size_t k = 0; k < instance.outputs.size(); ++k) {
      fresh_prints_[r][k] =
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
  return o;
}

// The choices of outputs under which every step is needed.
std::vector<uint32_t> Worker::Choices(const Outputs& o) const {
  std::array<uint32_t, kMaxSteps> of_step = {};
  for (int i = 0; i < o.count; ++i) of_step[o.step[i]] |= 1u << i;
  const uint32_t all = (1u << o.count) - 1;
  if (!all_.options_.subsets) return {all & ~o.consumed};
  std::vector<uint32_t> out;
  for (uint32_t mask = 1; mask <= all; ++mask) {
    bool live = true;
    for (int s = 0; s < o.steps; ++s) {
      live = live && ((mask | o.consumed) & of_step[s]) != 0;
    }
    if (live) out.push_back(mask);
  }
  return out;
}

const Worker::Images& Worker::AllPrints(const Extension& e, const Outputs& o) {
  const Images& images = ImagesFor(LeavesOf(e));
  if (e.fresh != nullptr) FreshPrints(*e.fresh, images);
  const size_t n = images.renamings->size();
  prints_.resize(n);
  const int before = static_cast<int>(tensors_.size());
  for (size_t r = 0; r < n; ++r) {
    std::copy(images.prints[r].begin(), images.prints[r].begin() + before,
              prints_[r].begin());
    if (e.fresh != nullptr) {
      std::copy(fresh_prints_[r].begin(),
                fresh_prints_[r].begin() + (o.count - before),
                prints_[r].begin() + before);
      continue;
    }
    const TermId image = all_.terms_.Act((*images.renamings)[r], e.term);
    const TensorId first = all_.terms_.term(image).first;
    for (int i = before; i < o.count; ++i) {
      prints_[r][i] = all_.facts_[first + (i - before)].print;
    }
  }
  return images;
}

// The names must be the first ones of their classes. Where a value does not
// depend on a variable that is named, only some renamings make it so.
bool Worker::GivesPrefix(const Images& images, size_t r,
                         uint32_t depends) const {
  return depends == images.used ||
         all_.symmetry_.IsPrefix(
             all_.symmetry_.ActMask((*images.renamings)[r], depends));
}

namespace {

template <class O>
uint32_t DependsOf(const O& o, uint32_t mask) {
  uint32_t depends = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    depends |= o.depends[__builtin_ctz(rest)];
  }
  return depends;
}

uint64_t Sum(const std::array<uint64_t, kLargest>& prints, uint32_t mask) {
  uint64_t sum = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    sum += prints[__builtin_ctz(rest)];
  }
  return sum;
}

}  // namespace

Worker::Least Worker::FindLeast(const Images& images, const Outputs& o,
                                uint32_t mask) const {
  const uint32_t depends = DependsOf(o, mask);
  Least least{~uint64_t{0}, 0, 0};
  for (size_t r = 0; r < images.renamings->size(); ++r) {
    if (!GivesPrefix(images, r, depends)) continue;
    const uint64_t sum = Sum(prints_[r], mask);
    if (sum < least.print) least = {sum, r, 0};
    least.count += sum == least.print;
  }
  return least;
}

std::vector<size_t> Worker::Twins(const Extension& e, const Images& images,
                                  const Outputs& o, uint32_t mask,
                                  const Least& least) const {
  using Image = std::array<TensorId, kMaxOperands + 1>;
  const uint32_t depends = DependsOf(o, mask);
  std::vector<size_t> twins;
  std::vector<std::vector<Image>> seen;
  for (size_t r = least.renaming; r < images.renamings->size(); ++r) {
    if (!GivesPrefix(images, r, depends)) continue;
    if (Sum(prints_[r], mask) != least.print) continue;
    const Renaming& renaming = (*images.renamings)[r];
    std::vector<Image> image;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const TensorId t = o.tensors[__builtin_ctz(rest)];
      Image& i = image.emplace_back();
      i.fill(kNone);
      i[0] = t;
      if (t <= kNone - kMaxOperands) {
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
    if (twins.size() == 1u << Code64::kTwinBits) break;
  }
  return twins;
}

void Worker::Prepare(const Extension& e) {
  outputs_ = OutputsOf(e);
  prepared_ = &AllPrints(e, outputs_);
}

void Worker::AddPrints(const Extension& e, uint32_t ordinal, Table& table) {
  Prepare(e);
  const Outputs& o = outputs_;
  for (uint32_t mask : Choices(o)) {
    bool twice = false;
    for (int i = 0; i < o.count; ++i) {
      for (int j = 0; j < i && (mask >> i & 1); ++j) {
        twice = twice || ((mask >> j & 1) && prints_[0][i] == prints_[0][j]);
      }
    }
    if (twice) continue;
    const Least least = FindLeast(*prepared_, o, mask);
    const size_t twins =
        least.count == 1 ? 1 : Twins(e, *prepared_, o, mask, least).size();
    for (size_t twin = 0; twin < twins; ++twin) {
      table.Add(
          {ir::HashMix(least.print),
           Code64::Make(graph_, ordinal, static_cast<uint32_t>(twin), mask)});
    }
  }
}

Worker::Renamed Worker::Rename(const Extension& e, uint32_t mask,
                               uint32_t twin) const {
  const Outputs& o = outputs_;
  const Least least = FindLeast(*prepared_, o, mask);
  const size_t at =
      twin == 0 ? least.renaming : Twins(e, *prepared_, o, mask, least)[twin];
  const Renaming& r = (*prepared_->renamings)[at];
  Renamed out;
  for (int i = 0; i < o.count; ++i) {
    if (!(mask >> i & 1)) continue;
    const bool fresh = o.tensors[i] > kNone - kMaxOperands;
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
