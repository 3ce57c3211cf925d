// Level by level: the terms of a size, then the graphs of that many steps.
// Work on graphs is dealt out to threads in stretches; results are put
// together in the order of the graphs, so that numbers do not depend on how
// many threads there are.
#include "xfer_gen/enumerate.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include "graph/hashing.h"
#include "ops/status.h"
#include "xfer_gen/worker.h"

namespace isomer::gen {

namespace {

std::vector<int> Counts(const Preset& preset) {
  std::vector<int> counts;
  for (const LeafClass& c : preset.leaves) counts.push_back(c.count);
  return counts;
}

int MaxArity(const Preset& preset) {
  size_t most = 1;
  for (const Template& t : preset.templates) {
    most = std::max(most, t.params.size());
  }
  return static_cast<int>(most);
}

// Graphs are dealt out to threads in stretches of so many.
constexpr GraphId kStretch = 64;

size_t NumStretches(GraphId begin, GraphId end) {
  return (end - begin + kStretch - 1) / kStretch;
}

}  // namespace

Enumerator::Enumerator(const Preset& preset, const EnumerateOptions& options)
    : preset_(preset),
      options_(options),
      symmetry_(Counts(preset), MaxArity(preset) * options.depth),
      world_(preset, 0, options.seed),
      terms_(symmetry_),
      fresh_(kStretch),
      max_arity_(MaxArity(preset)) {
  for (int i = 0; i < options_.threads; ++i) {
    tables_.push_back(std::make_unique<Table>(slice_));
  }
  DropCaches();
}

Enumerator::~Enumerator() = default;

void Enumerator::OnThreads(absl::FunctionRef<void(int)> body) const {
  std::vector<std::thread> pool;
  for (int i = 1; i < options_.threads; ++i) pool.emplace_back(body, i);
  body(0);
  for (std::thread& t : pool) t.join();
}

void Enumerator::DropGraphs() {
  terms_.Clear();
  facts_.clear();
  values_.clear();
  graphs_.clear();
  fresh_ = FreshSteps(kStretch);
  open_pairs_.Clear();
  smallest_ = {};
  workers_.clear();
}

void Enumerator::DropCaches() {
  const int threads = options_.threads;
  workers_.resize(threads);
  for (int i = 0; i < threads; ++i) {
    const auto first = static_cast<int>(preset_.templates.size()) * i / threads;
    workers_[i] = std::make_unique<Worker>(*this, first);
  }
}

void Enumerator::AddLeaves() {
  std::vector<uint32_t> places;
  for (int i = 0; i < symmetry_.num_leaves(); ++i) {
    Facts f;
    f.kind = world_.leaf_kind(i);
    f.values = world_.leaf_values(i);
    f.depends = 1u << i;
    const TensorType& type = world_.type(f.kind);
    // As in Worker::PrintOf.
    uint64_t h = TypeHash(type);
    for (uint32_t place : SampledPlaces(type)) {
      h = (h ^ f.values[place].value()) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    }
    f.print = ir::HashMix(h);
    facts_.push_back(f);
    smallest_.try_emplace(f.print, i);
  }
  stats_.fingerprints += symmetry_.num_classes();
  AddLeafPrints();
}

// A leaf alone: what it equals becomes a rule that removes steps.
void Enumerator::AddLeafPrints() {
  for (int c = 0; c < symmetry_.num_classes(); ++c) {
    const auto leaf = static_cast<uint32_t>(symmetry_.first(c));
    tables_[0]->Add({ir::HashMix(facts_[leaf].print),
                     Code64::Make(Code64::kLeaves, leaf, 0, 1),
                     {}});
  }
}

bool Enumerator::Run(const GoOn& go_on) {
  AddLeaves();
  graphs_.push_back({kNone, kNone});
  level_start_ = {0, 1};
  stats_.graphs_by_size = {0};
  stats_.terms_by_size = {0};
  for (int level = 1; level < options_.depth; ++level) {
    const TermId first = terms_.size();
    if (!MakeTerms(level, go_on)) return false;
    if (level + 1 == options_.depth) terms_.Finish();
    if (!EvaluateTerms(first, level, go_on)) return false;
    if (!MarkReducible(first, level, go_on)) return false;
    if (!MakeGraphs(level, go_on)) return false;
    level_start_.push_back(static_cast<GraphId>(graphs_.size()));
  }
  return MakeFresh(go_on);
}

bool Enumerator::Takes(int tmpl, int place, TensorId t) const {
  const Template::Operand takes = preset_.templates[tmpl].takes[place];
  if (takes == Template::Operand::kAny) return true;
  const bool leaf = terms_.IsLeaf(t);
  if (takes == Template::Operand::kLeaf) return leaf;
  return !leaf || !preset_.leaves[symmetry_.class_of(t)].weight;
}

bool Enumerator::Usable(TensorId t) const {
  return !options_.prune || !facts_[t].reducible;
}

std::vector<Enumerator::Partner> Enumerator::PartnersIn(int tmpl, KindId kind) {
  std::vector<Partner> out;
  const int places = preset_.templates[tmpl].commutative ? 1 : 2;
  for (int place = 0; place < places; ++place) {
    for (int c = 0; c < symmetry_.num_classes(); ++c) {
      const TensorId leaf = symmetry_.first(c);
      if (!Takes(tmpl, 1 - place, leaf)) continue;
      KindId kinds[2];
      kinds[place] = kind;
      kinds[1 - place] = facts_[leaf].kind;
      const Instance* instance = world_.Find(tmpl, kinds);
      if (instance != nullptr) out.push_back({tmpl, place, c, instance});
    }
  }
  return out;
}

void Enumerator::FindPartners() {
  std::vector<KindId> kinds;
  for (TensorId t = 0; t < facts_.size(); ++t) {
    const KindId kind = facts_[t].kind;
    if (Usable(t) && partners_.try_emplace(kind).second) kinds.push_back(kind);
  }
  std::vector<std::vector<std::vector<Partner>>> found(
      preset_.templates.size());
  std::atomic<size_t> next{0};
  OnThreads([&](int) {
    for (size_t t = next++; t < found.size(); t = next++) {
      const size_t arity = preset_.templates[t].params.size();
      for (KindId kind : kinds) {
        const int tmpl = static_cast<int>(t);
        if (arity == 1) world_.Find(tmpl, {kind});
        if (arity == 2) found[t].push_back(PartnersIn(tmpl, kind));
      }
    }
  });
  for (const auto& of : found) {
    for (size_t i = 0; i < of.size(); ++i) {
      std::vector<Partner>& partners = partners_.at(kinds[i]);
      partners.insert(partners.end(), of[i].begin(), of[i].end());
    }
  }
}

bool Enumerator::MakeTerms(int level, const GoOn& go_on) {
  FindPartners();
  // Terms are numbered one after the other; what they are instances of is found
  // side by side before, which takes longer.
  if (options_.threads > 1 && level > 1 &&
      !OnGraphs(level, go_on, [](Worker& worker, int, size_t, GraphId) {
        worker.ForEachOver([](const NewStep&) {});
      })) {
    return false;
  }
  Worker& worker = *workers_[0];
  int64_t orbits = 0;
  for (GraphId g = level_start_[level - 1]; g < level_start_[level]; ++g) {
    if (g % kStretch == 0 && !go_on(level, 0)) return false;
    worker.Visit(g);
    worker.ForEachOver([&](const NewStep& step) {
      if (terms_.Find(step.tmpl, step.span()) != kNone) return;
      const TermId first = terms_.AddOrbit(
          step.tmpl, preset_.templates[step.tmpl].commutative,
          static_cast<int>(step.instance->outputs.size()), step.span());
      ++orbits;
      facts_.resize(terms_.num_tensors());
      for (TermId t = first; t < terms_.size(); ++t) {
        for (size_t k = 0; k < step.instance->outputs.size(); ++k) {
          facts_[terms_.term(t).first + k].kind = step.instance->outputs[k];
        }
      }
    });
  }
  stats_.terms_by_size.push_back(orbits);
  return true;
}

bool Enumerator::OnTerms(
    TermId first, int level, const GoOn& go_on,
    const std::function<void(Worker&, TermId from, TermId to)>& work) {
  constexpr TermId kTerms = 256;  // dealt out to threads at once
  std::atomic<TermId> next{first};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  OnThreads([&](int thread) {
    Worker& worker = *workers_[thread];
    for (TermId from = next.fetch_add(kTerms); from < terms_.size() && !stopped;
         from = next.fetch_add(kTerms)) {
      work(worker, from, std::min(from + kTerms, terms_.size()));
      if (thread == 0 && !go_on(level, 0)) stopped = true;
    }
    std::lock_guard lock(mutex);
    stats_.evaluations += std::exchange(worker.evaluations, 0);
  });
  return !stopped;
}

bool Enumerator::EvaluateTerms(TermId first, int level, const GoOn& go_on) {
  const bool keep = level <= options_.depth - 2;
  std::mutex mutex;
  auto evaluate = [&](Worker& worker, TermId from, TermId to) {
    std::vector<Field> block, buffer;
    std::vector<std::pair<TensorId, size_t>> places;
    for (TermId t = from; t < to; ++t) {
      worker.Visit(0);
      const Instance& instance = worker.Evaluate(t, keep, buffer);
      const Term& term = terms_.term(t);
      for (int k = 0; k < term.outputs; ++k) {
        facts_[term.first + k].print =
            Worker::PrintOf(instance, k, buffer.data());
        if (keep) {
          places.emplace_back(term.first + k,
                              block.size() + instance.program.offset(k));
        }
      }
      if (keep) block.insert(block.end(), buffer.begin(), buffer.end());
      if (term.naming == Renaming{}) FindDepends(worker, t);
    }
    if (!keep) return;
    std::lock_guard lock(mutex);
    values_.push_back(std::move(block));
    for (const auto& [tensor, place] : places) {
      facts_[tensor].values = values_.back().data() + place;
    }
  };
  if (!OnTerms(first, level, go_on, evaluate)) return false;
  return OnTerms(first, level, go_on, [&](Worker&, TermId from, TermId to) {
    for (TermId t = from; t < to; ++t) {
      const Term& term = terms_.term(t);
      const Term& rep = terms_.term(terms_.First(t));
      for (int k = 0; k < term.outputs; ++k) {
        facts_[term.first + k].depends =
            symmetry_.ActMask(term.naming, facts_[rep.first + k].depends);
      }
    }
  });
}

void Enumerator::FindDepends(Worker& worker, TermId t) {
  const Term& term = terms_.term(t);
  NewStep step{term.tmpl, nullptr, term.operands, term.arity};
  step.instance = worker.Find(step.tmpl, step.span());
  for (int k = 0; k < term.outputs; ++k) {
    facts_[term.first + k].depends = worker.Depends(step, k);
  }
}

bool Enumerator::MarkReducible(TermId first, int level, const GoOn& go_on) {
  Worker& worker = *workers_[0];
  // The prints look at samples: the whole decides.
  auto equal = [&](TensorId a, TensorId b) {
    worker.Visit(0);
    const Field *x = worker.ValuesOf(a), *y = worker.ValuesOf(b);
    return std::equal(x, x + NumElements(world_.type(facts_[a].kind)), y);
  };
  auto mark = [&](TensorId t, bool impure, bool reducible) {
    OnOrbit(t, [&](Facts& f) {
      f.reducible = f.reducible || reducible;
      f.impure = f.impure || impure;
    });
  };
  constexpr TermId kAsked = 4096;
  absl::flat_hash_map<uint64_t, TensorId> same_size;
  for (TermId t = first; t < terms_.size(); ++t) {
    if (t % kAsked == 0 && !go_on(level, 0)) return false;
    const Term& term = terms_.term(t);
    for (int k = 0; k < term.outputs; ++k) {
      same_size.try_emplace(facts_[term.first + k].print, term.first + k);
    }
  }
  for (TermId t = first; t < terms_.size(); ++t) {
    const Term& term = terms_.term(t);
    if (term.naming != Renaming{}) continue;
    for (int k = 0; k < term.outputs; ++k) {
      const TensorId tensor = term.first + k;
      const uint64_t print = facts_[tensor].print;
      const auto it = smallest_.find(print);
      if (it != smallest_.end()) {
        const bool same = equal(tensor, it->second);
        mark(tensor, !same, same);
        if (!same) mark(it->second, true, false);
      }
      if (const TensorId other = same_size.at(print); other != tensor) {
        if (!equal(tensor, other)) {
          mark(tensor, true, false);
          mark(other, true, false);
        }
      }
      // The first of an orbit may have the print of another of its members.
      for (TermId member : terms_.OrbitOf(t)) {
        const TensorId other = terms_.term(member).first + k;
        if (other == tensor || facts_[other].print != print) continue;
        if (!equal(tensor, other)) mark(tensor, true, false);
        break;
      }
    }
  }
  // Larger terms than those of the last but one level have no numbers.
  if (level + 1 < options_.depth) {
    smallest_.insert(same_size.begin(), same_size.end());
  }
  return true;
}

bool Enumerator::Keeps(const Worker& worker, const Extension& e) const {
  if (!options_.connected) return true;
  const int left = options_.depth - worker.steps() - 1;
  return worker.Components(e) - 1 <= left * (max_arity_ - 1);
}

GraphId Enumerator::FirstChild(GraphId parent) const {
  // Graphs lie in the order of their parents; the first has none.
  return static_cast<GraphId>(
      std::lower_bound(graphs_.begin() + 1, graphs_.end(), parent,
                       [](const Node& n, GraphId g) { return n.parent < g; }) -
      graphs_.begin());
}

bool Enumerator::OnGraphs(int level, const GoOn& go_on, const Work& work) {
  const GraphId begin = level_start_[level - 1], end = level_start_[level];
  const size_t stretches = NumStretches(begin, end);
  std::atomic<size_t> next{0};
  std::atomic<GraphId> done{0};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  OnThreads([&](int thread) {
    Worker& worker = *workers_[thread];
    for (size_t s = next++; s < stretches && !stopped; s = next++) {
      if (thread == 0 && !go_on(level, static_cast<double>(s) /
                                           static_cast<double>(stretches))) {
        stopped = true;
      }
      const GraphId from = begin + static_cast<GraphId>(s) * kStretch;
      for (GraphId g = from; g < std::min(from + kStretch, end); ++g) {
        worker.Visit(g);
        work(worker, thread, s, g);
      }
      done += std::min(kStretch, end - from);
    }
    std::lock_guard lock(mutex);
    stats_.evaluations += std::exchange(worker.evaluations, 0);
  });
  if (level == options_.depth) {
    stats_.to_extend = end - begin;
    stats_.extended = done;
  }
  return !stopped;
}

void Enumerator::AddUp(absl::Span<const Count> counts) {
  int64_t graphs = 0;
  for (const Count& c : counts) {
    graphs += c.graphs;
    stats_.fingerprints += c.choices;
  }
  stats_.graphs_by_size.back() += graphs;
  stats_.graphs += graphs;
}

bool Enumerator::MakeGraphs(int level, const GoOn& go_on) {
  std::vector<std::vector<Node>> made(
      NumStretches(level_start_[level - 1], level_start_[level]));
  std::vector<Count> counts(options_.threads);
  const bool ended = OnGraphs(
      level, go_on, [&](Worker& worker, int thread, size_t stretch, GraphId g) {
        uint32_t ordinal = 0;
        worker.ForEachNumbered(/*whole=*/true, [&](TermId t, uint32_t) {
          const Extension e{t, nullptr};
          if (!worker.IsCanonical(t) || !Keeps(worker, e)) return;
          worker.AddSingles(e, ordinal++, *tables_[thread]);
          made[stretch].push_back({g, t});
          if (options_.connected && worker.Components(e) != 1) return;
          ++counts[thread].graphs;
          counts[thread].choices += worker.CountChoices(e);
        });
        Check(ordinal < Code64::kFirstFresh,
              "a graph with too many extensions");
      });
  for (const std::vector<Node>& nodes : made) {
    for (const Node& n : nodes) graphs_.push_back(n);
  }
  stats_.graphs_by_size.push_back(0);
  AddUp(counts);
  return ended;
}

bool Enumerator::MakeFresh(const GoOn& go_on) {
  const int level = options_.depth;
  FindPartners();
  std::vector<FreshSteps::Block> made(
      NumStretches(level_start_[level - 1], level_start_[level]));
  std::vector<Count> counts(options_.threads);
  const bool ended = OnGraphs(
      level, go_on, [&](Worker& worker, int thread, size_t stretch, GraphId) {
        uint32_t ordinal = Code64::kFirstFresh;
        made[stretch].StartGraph();
        worker.ForEachOver([&](const NewStep& step) {
          const Extension e{kNone, &step};
          if (!worker.IsCanonical(step) || !Keeps(worker, e)) return;
          worker.AddSingles(e, ordinal++, *tables_[thread]);
          made[stretch].Add(step.tmpl, step.span(), worker.FullOutputs(step));
          ++counts[thread].graphs;
          counts[thread].choices += worker.CountChoices(e);
        });
        Check(ordinal < 2 * Code64::kFirstFresh,
              "a graph with too many extensions");
      });
  for (FreshSteps::Block& block : made) fresh_.Add(std::move(block));
  stats_.graphs_by_size.push_back(0);
  AddUp(counts);
  return ended;
}

}  // namespace isomer::gen
