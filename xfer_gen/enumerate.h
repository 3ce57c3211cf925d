// All graphs over a preset's templates and leaves up to a number of steps,
// each once up to the names of its variables, with the fingerprints of their
// outputs.
//
// A graph is a set of terms (xfer_gen/terms.h) that holds what its terms need.
// Written in ascending order, it is kept if no renaming gives a smaller list;
// a prefix of a kept list is kept, so graphs grow by their greatest term.
// The terms of the last level are needed nowhere else: they are evaluated on
// the spot and not stored.
//
// The fingerprint of a choice of outputs is the least one over the renamings
// of the variables that the outputs depend on. It looks at sampled elements:
// equal graphs have equal fingerprints, and whether the converse holds is for
// xfer_gen/confirm.h to say.
#ifndef ISOMER_XFER_GEN_ENUMERATE_H_
#define ISOMER_XFER_GEN_ENUMERATE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xfer_gen/table.h"
#include "xfer_gen/terms.h"
#include "xfer_gen/world.h"

namespace isomer::gen {

struct EnumerateOptions {
  int depth = 3;
  bool connected = false;  // only graphs connected through operators
  bool subsets = true;     // any subset of the tensors as outputs
  bool prune = true;       // do not extend a tensor that equals a smaller one
  int threads = 1;
  uint64_t seed = 1;
};

// Numbers of the canonical graphs that have been kept.
using GraphId = uint32_t;

struct EnumerateStats {
  int64_t graphs = 0;        // canonical ones, of all sizes
  int64_t fingerprints = 0;  // choices of outputs
  int64_t evaluations = 0;   // of terms
  std::vector<int64_t> graphs_by_size, terms_by_size;
};

// What an entry of the table stands for: an extension of a graph, by its place
// among all, a choice of outputs, and, where several renamings give the same
// fingerprint, which one.
struct Code64 {
  static constexpr int kMaskBits = 12, kTwinBits = 4;
  static uint64_t Make(GraphId parent, uint32_t ordinal, uint32_t twin,
                       uint32_t mask) {
    return uint64_t{parent} << 32 |
           uint64_t{ordinal} << (kMaskBits + kTwinBits) |
           uint64_t{twin} << kMaskBits | mask;
  }
  static GraphId Parent(uint64_t code) {
    return static_cast<GraphId>(code >> 32);
  }
  static uint32_t Ordinal(uint64_t code) {
    return static_cast<uint32_t>(code) >> (kMaskBits + kTwinBits);
  }
  static uint32_t Twin(uint64_t code) {
    return static_cast<uint32_t>(code) >> kMaskBits & ((1u << kTwinBits) - 1);
  }
  static uint32_t Mask(uint64_t code) {
    return static_cast<uint32_t>(code) & ((1u << kMaskBits) - 1);
  }
};

class Worker;
struct Extension;

class Enumerator {
 public:
  Enumerator(const Preset& preset, const EnumerateOptions& options);
  ~Enumerator();

  // Asked now and then, with the level and the share of it that is done;
  // false stops the enumeration.
  using GoOn = std::function<bool(int level, double share)>;

  // Enumerates everything; returns false if it was stopped.
  bool Run(const GoOn& go_on);

  const EnumerateStats& stats() const { return stats_; }
  std::vector<std::unique_ptr<Table>>& tables() { return tables_; }
  const Preset& preset() const { return preset_; }
  World& world() { return world_; }
  const Terms& terms() const { return terms_; }
  const EnumerateOptions& options() const { return options_; }
  int64_t bytes() const;

  // True if the extensions of a graph are of the last level.
  bool IsLastParent(GraphId graph) const {
    return static_cast<int>(level_start_.size()) > options_.depth - 1 &&
           graph >= level_start_[options_.depth - 1];
  }
  // True if an extension of the graph that the worker visits counts: with
  // `connected`, it is connected or can become so.
  bool Keeps(const Worker& worker, const Extension& e) const;

 private:
  friend class Worker;

  struct Node {
    GraphId parent;
    TermId last;
  };
  // What is known of a tensor that has a number.
  struct Facts {
    uint64_t print = 0;  // its sampled values and type, mixed
    const Field* values = nullptr;
    uint32_t depends = 0;  // the leaves that its value depends on
    KindId kind = 0;
    bool reducible = false;  // it equals a smaller tensor
  };

  void AddLeaves();
  void MakeTerms(int level);
  void EvaluateTerms(TermId first, int level);
  void MarkReducible(TermId first);
  bool MakeGraphs(int level, const GoOn& go_on);

  const Preset& preset_;
  EnumerateOptions options_;
  Symmetry symmetry_;
  World world_;
  Terms terms_;
  std::vector<Facts> facts_;
  std::deque<std::vector<Field>> values_;
  std::vector<Node> graphs_;
  std::vector<GraphId> level_start_;
  absl::flat_hash_map<uint64_t, TensorId> smallest_;
  std::vector<std::unique_ptr<Table>> tables_;
  EnumerateStats stats_;
  int max_arity_ = 0;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_ENUMERATE_H_
