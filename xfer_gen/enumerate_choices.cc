// Choices of several outputs, once it is known which single tensors have equals
// that are made in another way: all graphs are gone through again.
#include <algorithm>
#include <atomic>
#include <utility>

#include "xfer_gen/enumerate.h"
#include "xfer_gen/worker.h"

namespace isomer::gen {

void Enumerator::ForTensors(
    std::vector<uint64_t> codes, absl::FunctionRef<void(TensorId)> numbered,
    absl::FunctionRef<void(FreshSteps::Step, int)> fresh) {
  if (codes.empty()) return;
  // Those that stem from one graph come together, its steps in order.
  std::sort(codes.begin(), codes.end());
  constexpr size_t kStretch = 1024;
  auto starts = [&](size_t i) {
    return i == 0 || i >= codes.size() ||
           Code64::Parent(codes[i]) != Code64::Parent(codes[i - 1]);
  };
  std::atomic<size_t> next{0};
  OnThreads([&](int thread) {
    Worker& worker = *workers_[thread];
    for (size_t from = next.fetch_add(kStretch); from < codes.size();
         from = next.fetch_add(kStretch)) {
      const size_t to = std::min(from + kStretch, codes.size());
      size_t i = from;
      while (i < to && !starts(i)) ++i;
      for (size_t j = i; i < to; i = j) {
        while (!starts(++j)) continue;
        ForTensorsOf(worker, absl::MakeConstSpan(codes).subspan(i, j - i),
                     numbered, fresh);
      }
    }
  });
}

void Enumerator::ForTensorsOf(
    Worker& worker, absl::Span<const uint64_t> codes,
    absl::FunctionRef<void(TensorId)> numbered,
    absl::FunctionRef<void(FreshSteps::Step, int)> fresh) {
  const GraphId parent = Code64::Parent(codes[0]);
  if (parent == Code64::kLeaves) {
    for (uint64_t code : codes) numbered(Code64::Ordinal(code));
    return;
  }
  worker.Visit(parent);
  const absl::Span<const TensorId> tensors = worker.tensors();
  size_t at = 0;
  // Takes the codes of one extension.
  auto take = [&](uint32_t ordinal, auto of_last) {
    for (; at < codes.size() && Code64::Ordinal(codes[at]) == ordinal; ++at) {
      for (uint32_t rest = Code64::Mask(codes[at]); rest != 0;
           rest &= rest - 1) {
        const size_t k = __builtin_ctz(rest);
        if (k < tensors.size()) {
          numbered(tensors[k]);
        } else {
          of_last(static_cast<uint32_t>(k - tensors.size()));
        }
      }
    }
  };
  while (at < codes.size() &&
         Code64::Ordinal(codes[at]) < Code64::kFirstFresh) {
    const uint32_t ordinal = Code64::Ordinal(codes[at]);
    const TermId last = IsLastParent(parent) ? worker.NumberedAt(ordinal)
                                             : Child(parent, ordinal);
    take(ordinal, [&](uint32_t k) { numbered(terms_.term(last).first + k); });
  }
  if (at == codes.size()) return;
  uint32_t ordinal = Code64::kFirstFresh;
  ForEachFresh(parent, [&](FreshSteps::Step step) {
    take(ordinal++, [&](uint32_t k) { fresh(step, static_cast<int>(k)); });
  });
}

namespace {

// Sets a mark that other threads may set too; false if it was there.
bool Mark(bool& mark) {
  return !std::atomic_ref(mark).exchange(true, std::memory_order_relaxed);
}

}  // namespace

// Marks are set under all names: one that is there is, or will be, there under
// all.
void Enumerator::MarkOrbit(TensorId t, bool Facts::*mark) {
  if (!Mark(facts_[t].*mark)) return;
  OnOrbit(t, [mark](Facts& f) { Mark(f.*mark); });
}

void Enumerator::MarkOpen(std::vector<uint64_t> codes) {
  ForTensors(
      std::move(codes), [&](TensorId t) { MarkOrbit(t, &Facts::open); },
      [](FreshSteps::Step step, int output) { step.Open(output); });
}

void Enumerator::MarkImpure(std::vector<uint64_t> codes) {
  // What has no number is no operand, and impurity is asked of operands alone.
  ForTensors(
      std::move(codes), [&](TensorId t) { MarkOrbit(t, &Facts::impure); },
      [](FreshSteps::Step, int) {});
}

void Enumerator::MarkOpenNext(std::vector<uint64_t> codes) {
  ForTensors(
      std::move(codes), [&](TensorId t) { MarkOrbit(t, &Facts::open_next); },
      [](FreshSteps::Step step, int output) { step.OpenNext(output); });
}

void Enumerator::TurnOpen() {
  for (Facts& f : facts_) f.open = std::exchange(f.open_next, false);
  fresh_.ForAll([](FreshSteps::Step step) { step.Turn(); });
  open_pairs_.Finish();
  for (const auto& worker : workers_) worker->ForgetPairs();
}

void Enumerator::AddOpenPairs(absl::Span<const uint64_t> fingerprints) {
  open_pairs_.Add(fingerprints);
}

bool Enumerator::RunSingles(const GoOn& go_on) {
  AddLeafPrints();
  const bool ended = OnLowerLevels(
      go_on, [&](Worker& worker, int thread, TermId t, uint32_t ordinal) {
        worker.AddSingles({t, nullptr}, ordinal, *tables_[thread]);
      });
  if (!ended) return false;
  return OnGraphs(
      options_.depth, go_on,
      [&](Worker& worker, int thread, size_t, GraphId graph) {
        uint32_t ordinal = Code64::kFirstFresh;
        ForEachFresh(graph, [&](FreshSteps::Step step) {
          const NewStep fresh = worker.StepOf(step);
          worker.AddSingles({kNone, &fresh}, ordinal++, *tables_[thread]);
        });
      });
}

bool Enumerator::RunPairs(const GoOn& go_on) {
  // Of three outputs that hang together two may not: graphs of lower levels
  // that can become connected are looked at, too.
  bool ended = OnLowerLevels(
      go_on, [&](Worker& worker, int thread, TermId t, uint32_t ordinal) {
        worker.AddPairs({t, nullptr}, ordinal, *tables_[thread]);
      });
  if (!ended) return false;
  std::vector<Count> counts(options_.threads);
  ended = OnGraphs(
      options_.depth, go_on, [&](Worker& worker, int thread, size_t, GraphId) {
        worker.ForEachNumbered(/*whole=*/false, [&](TermId t, uint32_t place) {
          const Extension e{t, nullptr};
          if (!worker.IsCanonical(t) || !Keeps(worker, e)) return;
          worker.AddPairs(e, place, *tables_[thread]);
          ++counts[thread].graphs;
          counts[thread].choices += worker.CountChoices(e);
        });
        worker.ForEachOpenFresh([&](const Extension& e, uint32_t ordinal) {
          worker.AddPairs(e, ordinal, *tables_[thread]);
        });
      });
  if (slice_.Holds(0)) AddUp(counts);
  return ended;
}

bool Enumerator::RunMore(const GoOn& go_on) {
  const bool ended = OnLowerLevels(
      go_on, [&](Worker& worker, int thread, TermId t, uint32_t ordinal) {
        const Extension e{t, nullptr};
        if (options_.connected && worker.Components(e) != 1) return;
        worker.AddMore(e, ordinal, *tables_[thread]);
      });
  if (!ended) return false;
  return OnGraphs(
      options_.depth, go_on, [&](Worker& worker, int thread, size_t, GraphId) {
        worker.ForEachNumbered(/*whole=*/false, [&](TermId t, uint32_t place) {
          const Extension e{t, nullptr};
          if (worker.NumOpen(e) < 3 || !worker.IsCanonical(t)) return;
          if (Keeps(worker, e)) worker.AddMore(e, place, *tables_[thread]);
        });
        worker.ForEachOpenFresh([&](const Extension& e, uint32_t ordinal) {
          worker.AddMore(e, ordinal, *tables_[thread]);
        });
      });
}

bool Enumerator::OnLowerLevels(
    const GoOn& go_on,
    const std::function<void(Worker&, int, TermId, uint32_t)>& add) {
  for (int level = 1; level < options_.depth; ++level) {
    const bool ended = OnGraphs(
        level, go_on, [&](Worker& worker, int thread, size_t, GraphId g) {
          uint32_t ordinal = 0;
          for (GraphId c = FirstChild(g);
               c < graphs_.size() && graphs_[c].parent == g; ++c) {
            add(worker, thread, graphs_[c].last, ordinal++);
          }
        });
    if (!ended) return false;
  }
  return true;
}

}  // namespace isomer::gen
