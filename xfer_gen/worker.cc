// The graph visited is small; what renamings do to it is computed once for
// each set of variables that its extensions use, and shared by them.
#include "xfer_gen/worker.h"

#include <algorithm>
#include <functional>

#include "graph/hashing.h"
#include "ops/status.h"

namespace isomer::gen {

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
  // Labels may have moved to later steps: count distinct ones.
  uint32_t labels = 0;
  for (int i = 0; i < steps_; ++i) labels |= 1u << component_[i];
  components_ = __builtin_popcount(labels);
  MarkOpen();
}

void Worker::MarkOpen() {
  open_ = 0;
  shut_ = sinks_;
  int at = 0;
  for (int i = 0; i < steps_; ++i) {
    const Term& t = all_.terms_.term(terms_[i]);
    for (int k = 0; k < t.outputs; ++k, ++at) {
      if (!all_.facts_[t.first + k].open) continue;
      open_ |= 1u << at;
      shut_ &= ~(1u << i);
    }
  }
}

Worker::Consumed Worker::ConsumedBy(const Extension& e) const {
  Consumed out;
  auto add = [&](TensorId t) {
    if (all_.terms_.IsLeaf(t)) return;
    const TermId from = all_.terms_.term_of(t);
    for (int i = 0; i < steps_; ++i) out.steps |= (terms_[i] == from) << i;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      out.tensors |= (tensors_[i] == t) << i;
    }
  };
  if (e.fresh != nullptr) {
    for (TensorId t : e.fresh->span()) add(t);
  } else {
    const Term& term = all_.terms_.term(e.term);
    for (int k = 0; k < term.arity; ++k) add(term.operands[k]);
  }
  return out;
}

int Worker::Components(const Extension& e) const {
  uint32_t touched = 0;
  for (uint32_t rest = ConsumedBy(e).steps; rest != 0; rest &= rest - 1) {
    touched |= 1u << component_[__builtin_ctz(rest)];
  }
  return components_ + 1 - __builtin_popcount(touched);
}

uint32_t Worker::LeavesOf(const Extension& e) const {
  if (e.fresh == nullptr) return leaves_ | all_.terms_.term(e.term).leaves;
  uint32_t mask = leaves_;
  for (TensorId t : e.fresh->span()) mask |= all_.terms_.leaves_of(t);
  return mask;
}

Worker::Images& Worker::ImagesFor(uint32_t used) {
  for (size_t i = 0; i < num_images_; ++i) {
    if (images_[i].used == used) return images_[i];
  }
  if (num_images_ == images_.size()) images_.emplace_back();
  Images& out = images_[num_images_++];
  out.used = used;
  out.renamings = &all_.symmetry_.Permuting(used);
  out.terms.resize(out.renamings->size());
  out.pivots.clear();
  out.has_prints = false;
  out.num_prefixes = 0;
  for (size_t r = 0; r < out.renamings->size(); ++r) {
    auto& image = out.terms[r];
    for (int i = 0; i < steps_; ++i) {
      image[i] = all_.terms_.Act((*out.renamings)[r], terms_[i]);
    }
    std::sort(image.begin(), image.begin() + steps_);
    int same = 0;
    while (same < steps_ && image[same] == terms_[same]) ++same;
    if (r > 0) {
      out.pivots.emplace_back(same < steps_ ? terms_[same] : kNone, r);
    }
  }
  std::sort(out.pivots.begin(), out.pivots.end(), std::greater<>());
  return out;
}

// ---- Steps over the whole graph

const Instance* Worker::FindKinds(int tmpl, absl::Span<const KindId> kinds) {
  auto [it, fresh] = instances_.try_emplace(InstanceKey(tmpl, kinds), nullptr);
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

const std::vector<Worker::Fit>& Worker::FitsOf(TensorId a, TensorId b) {
  const KindId kinds[2] = {all_.facts_[a].kind, all_.facts_[b].kind};
  auto [it, fresh] = fits_.try_emplace({kinds[0], kinds[1], b < a});
  std::vector<Fit>& fits = it->second;
  if (!fresh) return fits;
  const auto& templates = all_.preset_.templates;
  const int n = static_cast<int>(templates.size());
  for (int i = 0; i < n; ++i) {
    const int t = (first_ + i) % n;
    if (templates[t].params.size() != 2 ||
        (templates[t].commutative && b < a) || !all_.Takes(t, 0, a) ||
        !all_.Takes(t, 1, b)) {
      continue;
    }
    const Instance* instance = FindKinds(t, kinds);
    if (instance != nullptr) fits.push_back({t, instance});
  }
  std::sort(fits.begin(), fits.end(),
            [](const Fit& x, const Fit& y) { return x.tmpl < y.tmpl; });
  return fits;
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
      if (UsesAllSinks({&t, 1}) && all_.Usable(t)) over.push_back(t);
    }
  }
  const auto& templates = all_.preset_.templates;
  for (size_t t = 0; t < templates.size(); ++t) {
    if (templates[t].params.size() != 1) continue;
    for (TensorId operand : over) {
      if (!all_.Takes(static_cast<int>(t), 0, operand)) continue;
      NewStep step{static_cast<int>(t),
                   Find(static_cast<int>(t), {&operand, 1}),
                   {operand},
                   1};
      if (step.instance != nullptr) Offer(step, found);
    }
  }
}

void Worker::Binary(absl::FunctionRef<void(const NewStep&)> found) {
  auto is_sink = [&](TensorId t) { return UsesAllSinks({&t, 1}); };
  // One operand is a tensor of the graph that every term is needed for (or a
  // leaf, if the graph is empty), the other a leaf.
  std::vector<TensorId> tops, inner;
  for (TensorId t : tensors_) {
    if (!all_.Usable(t)) continue;
    inner.push_back(t);
    if (is_sink(t)) tops.push_back(t);
  }
  if (steps_ == 0) {
    for (int c = 0; c < all_.symmetry_.num_classes(); ++c) {
      tops.push_back(all_.symmetry_.first(c));
    }
  }
  for (TensorId top : tops) {
    for (const auto& p : all_.partners_.at(all_.facts_[top].kind)) {
      if (!all_.Takes(p.tmpl, p.place, top)) continue;
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
  for (TensorId a : inner) {
    for (TensorId b : inner) {
      const TensorId both[2] = {a, b};
      if (!UsesAllSinks(both)) continue;
      for (const Fit& fit : FitsOf(a, b)) {
        NewStep step{fit.tmpl, fit.instance, {a, b}, 2};
        Offer(step, found);
      }
    }
  }
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
    if (!all_.Takes(tmpl, step.arity, t) || !all_.Usable(t)) return;
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

bool Worker::IsLess(const std::array<TermId, kMaxSteps>& images, TermId image,
                    TermId t) const {
  int i = 0;
  bool placed = false;
  for (int k = 0; k <= steps_; ++k) {
    TermId b;
    if (!placed && (i == steps_ || image < images[i])) {
      b = image;
      placed = true;
    } else {
      b = images[i++];
    }
    const TermId a = k == steps_ ? t : terms_[k];
    if (a != b) return b < a;
  }
  return false;
}

bool Worker::IsCanonical(TermId t) {
  const uint32_t used = leaves_ | all_.terms_.term(t).leaves;
  if (!all_.symmetry_.IsPrefix(used)) return false;
  const Images& images = ImagesFor(used);
  // No image of `t` comes before the first of its orbit.
  const TermId first = all_.terms_.First(t);
  for (const auto& [pivot, r] : images.pivots) {
    if (pivot < first) break;
    const TermId image = all_.terms_.Act((*images.renamings)[r], t);
    if (image < (pivot == kNone ? t : pivot)) return false;
    if (image == pivot && IsLess(images.terms[r], image, t)) return false;
  }
  return true;
}

bool Worker::IsCanonical(const NewStep& step) {
  const Images& images = ImagesFor(LeavesOf({kNone, &step}));
  const bool commutative = all_.preset_.templates[step.tmpl].commutative;
  for (const auto& [pivot, r] : images.pivots) {
    if (pivot != kNone) break;
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

void Worker::FindOver() {
  over_.clear();
  const TermId greatest = steps_ == 0 ? 0 : terms_[steps_ - 1];
  for (uint32_t subset = 0; subset < 1u << steps_; ++subset) {
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
    const absl::Span<const TermId> over = all_.terms_.Over(below);
    const auto from =
        steps_ == 0 ? over.begin()
                    : std::upper_bound(over.begin(), over.end(), greatest);
    over_.push_back(over.subspan(from - over.begin()));
  }
}

void Worker::ForEachNumbered(bool whole,
                             absl::FunctionRef<void(TermId, uint32_t)> found) {
  FindOver();
  if (!whole) over_.pop_back();
  uint32_t place = 0;
  for (const absl::Span<const TermId> over : over_) {
    for (TermId t : over) found(t, place++);
  }
}

TermId Worker::NumberedAt(uint32_t place) {
  FindOver();
  for (const absl::Span<const TermId> over : over_) {
    if (place < over.size()) return over[place];
    place -= static_cast<uint32_t>(over.size());
  }
  return kNone;
}

NewStep Worker::StepOf(FreshSteps::Step step) {
  NewStep out{step.tmpl(),
              Find(step.tmpl(), step.operands()),
              {},
              static_cast<int>(step.operands().size())};
  std::copy(step.operands().begin(), step.operands().end(),
            out.operands.begin());
  out.full = step.full();
  return out;
}

void Worker::ForEachOpenFresh(
    absl::FunctionRef<void(const Extension&, uint32_t)> found) {
  uint32_t ordinal = Code64::kFirstFresh;
  all_.ForEachFresh(graph_, [&](FreshSteps::Step step) {
    const uint32_t at = ordinal++;
    if (step.open() == 0) return;
    const NewStep fresh = StepOf(step);
    found({kNone, &fresh, step.open()}, at);
  });
}

}  // namespace isomer::gen
