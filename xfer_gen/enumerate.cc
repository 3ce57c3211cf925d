// Level by level: the terms of a size, then the graphs of that many steps.
// Work on graphs is dealt out to threads in stretches; results are put
// together in the order of the graphs, so that numbers do not depend on how
// many threads there are.
#include "xfer_gen/enumerate.h"

#include <algorithm>
#include <mutex>
#include <thread>

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

// Runs `body(thread)` on every thread.
void OnThreads(int threads, const std::function<void(int)>& body) {
  std::vector<std::thread> pool;
  for (int i = 1; i < threads; ++i) pool.emplace_back(body, i);
  body(0);
  for (std::thread& t : pool) t.join();
}

}  // namespace

Enumerator::Enumerator(const Preset& preset, const EnumerateOptions& options)
    : preset_(preset),
      options_(options),
      symmetry_(Counts(preset), MaxArity(preset) * options.depth),
      world_(preset, 0, options.seed),
      terms_(symmetry_),
      max_arity_(MaxArity(preset)) {
  for (int i = 0; i < options_.threads; ++i) {
    tables_.push_back(std::make_unique<Table>());
  }
}

Enumerator::~Enumerator() = default;

int64_t Enumerator::bytes() const {
  int64_t n = terms_.bytes();
  n += static_cast<int64_t>(facts_.capacity() * sizeof(Facts));
  n += static_cast<int64_t>(graphs_.capacity() * sizeof(Node));
  for (const auto& block : values_) {
    n += static_cast<int64_t>(block.capacity() * sizeof(Field));
  }
  for (const auto& t : tables_) n += t->bytes();
  return n;
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
    // A leaf alone: what it equals becomes a rule that removes steps.
    if (i == symmetry_.first(symmetry_.class_of(i))) {
      tables_[0]->Add({ir::HashMix(f.print),
                       Code64::Make(kNone, static_cast<uint32_t>(i), 0, 1)});
      ++stats_.fingerprints;
    }
  }
}

bool Enumerator::Run(const GoOn& go_on) {
  AddLeaves();
  graphs_.push_back({kNone, kNone});
  level_start_ = {0, 1};
  stats_.graphs_by_size = {0};
  stats_.terms_by_size = {0};
  for (int level = 1; level <= options_.depth; ++level) {
    if (level < options_.depth) {
      const TermId first = terms_.size();
      MakeTerms(level);
      EvaluateTerms(first, level);
      MarkReducible(first);
    }
    if (!MakeGraphs(level, go_on)) return false;
    level_start_.push_back(static_cast<GraphId>(graphs_.size()));
  }
  return true;
}

void Enumerator::MakeTerms(int level) {
  Worker worker(*this);
  int64_t orbits = 0;
  for (GraphId g = level_start_[level - 1]; g < level_start_[level]; ++g) {
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
}

void Enumerator::EvaluateTerms(TermId first, int level) {
  const bool keep = level <= options_.depth - 2;
  constexpr TermId kStretch = 1024;
  std::atomic<TermId> next{first};
  std::mutex mutex;
  OnThreads(options_.threads, [&](int) {
    Worker worker(*this);
    worker.Visit(0);
    std::vector<Field> buffer;
    for (TermId from = next.fetch_add(kStretch); from < terms_.size();
         from = next.fetch_add(kStretch)) {
      const TermId to = std::min(from + kStretch, terms_.size());
      std::vector<Field> block;
      std::vector<std::pair<TensorId, size_t>> places;
      for (TermId t = from; t < to; ++t) {
        const Term& term = terms_.term(t);
        const absl::Span<const TensorId> operands(term.operands.data(),
                                                  term.arity);
        const Instance& instance = *worker.Find(term.tmpl, operands);
        const Field* inputs[kMaxOperands];
        for (int k = 0; k < term.arity; ++k) {
          inputs[k] = facts_[term.operands[k]].values;
        }
        buffer.resize(instance.program.size());
        if (keep) {
          instance.program.Run({inputs, term.arity}, buffer.data(),
                               worker.scratch);
        } else {
          instance.program.RunSampled({inputs, term.arity}, buffer.data(),
                                      worker.scratch);
        }
        ++worker.evaluations;
        for (int k = 0; k < term.outputs; ++k) {
          Facts& f = facts_[term.first + k];
          f.print = Worker::PrintOf(instance, k, buffer.data());
          if (keep) {
            places.emplace_back(term.first + k,
                                block.size() + instance.program.offset(k));
          }
        }
        if (keep) block.insert(block.end(), buffer.begin(), buffer.end());
      }
      std::lock_guard lock(mutex);
      values_.push_back(std::move(block));
      for (const auto& [tensor, place] : places) {
        facts_[tensor].values = values_.back().data() + place;
      }
    }
    std::lock_guard lock(mutex);
    stats_.evaluations += worker.evaluations;
  });
  // What the first member of an orbit depends on; the others follow.
  Worker worker(*this);
  for (TermId t = first; t < terms_.size(); ++t) {
    const Term& term = terms_.term(t);
    const bool representative = term.naming == Renaming{};
    for (int k = 0; k < term.outputs; ++k) {
      Facts& f = facts_[term.first + k];
      if (!representative) {
        const TermId rep = terms_.First(t);
        f.depends = symmetry_.ActMask(
            term.naming, facts_[terms_.term(rep).first + k].depends);
        continue;
      }
      NewStep step{term.tmpl, nullptr, term.operands, term.arity};
      step.instance = worker.Find(step.tmpl, step.span());
      worker.Visit(0);
      f.depends = worker.Depends(step, k);
    }
  }
}

void Enumerator::MarkReducible(TermId first) {
  Worker worker(*this);
  for (TermId t = first; t < terms_.size(); ++t) {
    const Term& term = terms_.term(t);
    for (int k = 0; k < term.outputs; ++k) {
      const TensorId tensor = term.first + k;
      Facts& f = facts_[tensor];
      if (term.naming != Renaming{}) {
        f.reducible = facts_[terms_.term(terms_.First(t)).first + k].reducible;
        continue;
      }
      const auto it = smallest_.find(f.print);
      if (it == smallest_.end()) continue;
      // The prints look at samples: the whole decides.
      worker.Visit(0);
      const int64_t n = NumElements(world_.type(f.kind));
      const Field *a = worker.ValuesOf(tensor),
                  *b = worker.ValuesOf(it->second);
      f.reducible = std::equal(a, a + n, b);
    }
  }
  for (TermId t = first; t < terms_.size(); ++t) {
    const Term& term = terms_.term(t);
    for (int k = 0; k < term.outputs; ++k) {
      smallest_.try_emplace(facts_[term.first + k].print, term.first + k);
    }
  }
}

bool Enumerator::Keeps(const Worker& worker, const Extension& e) const {
  if (!options_.connected) return true;
  const int left = options_.depth - worker.steps() - 1;
  return worker.Components(e) - 1 <= left * (max_arity_ - 1);
}

bool Enumerator::MakeGraphs(int level, const GoOn& go_on) {
  const bool last = level == options_.depth;
  const GraphId begin = level_start_[level - 1], end = level_start_[level];
  constexpr GraphId kStretch = 256;
  const size_t stretches = (end - begin + kStretch - 1) / kStretch;
  std::vector<std::vector<Node>> made(last ? 0 : stretches);
  std::atomic<size_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  int64_t graphs = 0;
  OnThreads(options_.threads, [&](int thread) {
    Worker worker(*this);
    int64_t count = 0;
    for (size_t s = next++; s < stretches && !stopped; s = next++) {
      if (thread == 0 && !go_on(level, static_cast<double>(s) /
                                           static_cast<double>(stretches))) {
        stopped = true;
      }
      const GraphId from = begin + static_cast<GraphId>(s) * kStretch;
      for (GraphId g = from; g < std::min(from + kStretch, end); ++g) {
        worker.Visit(g);
        uint32_t ordinal = 0;
        worker.ForEachExtension(last, [&](const Extension& e) {
          if (!Keeps(worker, e)) return;
          if (!options_.connected || worker.Components(e) == 1) {
            ++count;
            worker.AddPrints(e, ordinal, *tables_[thread]);
          }
          ++ordinal;
          if (!last) made[s].push_back({g, e.term});
        });
      }
    }
    std::lock_guard lock(mutex);
    graphs += count;
    stats_.evaluations += worker.evaluations;
  });
  for (const std::vector<Node>& nodes : made) {
    graphs_.insert(graphs_.end(), nodes.begin(), nodes.end());
  }
  stats_.graphs_by_size.push_back(graphs);
  stats_.graphs += graphs;
  stats_.fingerprints = 0;
  for (const auto& t : tables_) stats_.fingerprints += t->size();
  return !stopped;
}

}  // namespace isomer::gen
