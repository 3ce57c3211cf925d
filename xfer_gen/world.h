// The templates at one assignment of sizes: which operands each takes, what it
// gives, and how it is computed; and random values for the leaves.
//
// The kind of a tensor is its type and its seams: where, along each dimension,
// it was joined of two tensors. Seams come from templates that say so, are
// carried along by every operator that maps a dimension to one of its
// operands' (as its legal shardings tell), and let a template take a tensor
// apart where it was joined.
#ifndef ISOMER_XFER_GEN_WORLD_H_
#define ISOMER_XFER_GEN_WORLD_H_

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/rule.h"
#include "ops/field.h"
#include "xfer_gen/preset.h"
#include "xfer_gen/program.h"
#include "xfer_gen/unrolled_ops.h"

namespace isomer::gen {

// One leaf: which class, and which variable of it, from 0.
struct Leaf {
  int cls = 0;
  int index = 0;
};

// All leaves of a preset, class by class.
std::vector<Leaf> LeavesOf(const Preset& preset);
// The name of a leaf: x1.
std::string LeafName(const Preset& preset, const Leaf& leaf);

// The hash of a type: the same in every run.
uint64_t TypeHash(const TensorType& type);

// Numbers a kind within one world.
using KindId = int32_t;

// An operand's dimension that a dimension of an output is.
struct Carried {
  int operand, dim;
  friend bool operator==(const Carried&, const Carried&) = default;
};

// A template on operands of given types, and seams that it takes apart.
struct Shape {
  // Compiles the program if that has not been done; false if it cannot be run.
  // May be called from several threads.
  bool Ready() const;

  mutable Program program;
  std::vector<TensorType> types;  // of the outputs
  // Per output: the hash of its type, and the places that fingerprints look at
  // among the elements of all outputs.
  std::vector<uint64_t> type_hashes;
  std::vector<std::vector<uint32_t>> samples;
  // The attributes of each node of the template's side, as typed.
  std::vector<ir::TypedNode<int64_t>> typing;
  // Null where no template takes anything apart.
  const std::vector<std::vector<std::vector<Carried>>>* carried = nullptr;
  // What the program is made from, until it is.
  mutable std::unique_ptr<ir::Graph> graph;
  UnrolledOps* unrolled = nullptr;

 private:
  mutable absl::once_flag compiled_;
};

// A template on operands of given kinds.
struct Instance {
  explicit Instance(const Shape& shape)
      : shape(shape),
        program(shape.program),
        type_hashes(shape.type_hashes),
        samples(shape.samples),
        typing(shape.typing) {}

  std::vector<KindId> outputs;
  const Shape& shape;
  // At other than the first sizes it must be made ready.
  const Program& program;
  const std::vector<uint64_t>& type_hashes;
  const std::vector<std::vector<uint32_t>>& samples;
  const std::vector<ir::TypedNode<int64_t>>& typing;
};

// Which dimensions templates carry along: per output and dimension the
// operands' dimensions that it is. This depends on ranks and attributes, not
// on sizes, so worlds of one preset share it.
class CarriedDims {
 public:
  using Outputs = std::vector<std::vector<std::vector<Carried>>>;

  // What is known under `key`, computed from the graph if nothing is.
  const Outputs& Of(const std::string& key, const ir::Graph& graph);

 private:
  std::mutex mutex_;
  std::map<std::string, Outputs> known_;
};

// Random values of a leaf; different seeds and leaves give different ones. A
// single element is above zero or not as asked: one that is below wherever it
// is drawn would let relu pass for zero.
std::vector<Field> LeafValues(uint64_t seed, int leaf, const TensorType& type,
                              bool above);

// A template and the kinds of its operands, at most kMaxParams.
struct InstanceKey {
  InstanceKey(int t, absl::Span<const KindId> kinds) {
    words[0] = static_cast<uint64_t>(t);
    for (size_t i = 0; i < kinds.size(); ++i) {
      // No kind is 0 here, so that the number of operands tells keys apart.
      words[(i + 1) / 2] |= static_cast<uint64_t>(kinds[i] + 1)
                            << ((i + 1) % 2 * 32);
    }
  }
  template <class H>
  friend H AbslHashValue(H h, const InstanceKey& k) {
    return H::combine(std::move(h), k.words[0], k.words[1], k.words[2]);
  }
  friend bool operator==(const InstanceKey& a, const InstanceKey& b) {
    return a.words[0] == b.words[0] && a.words[1] == b.words[1] &&
           a.words[2] == b.words[2];
  }

  uint64_t words[(kMaxParams + 2) / 2] = {};
};

class World {
 public:
  // `assignment` picks a line of sizes; `seed` the values of the leaves.
  World(const Preset& preset, int assignment, uint64_t seed,
        std::shared_ptr<CarriedDims> carried = nullptr);

  const std::shared_ptr<CarriedDims>& carried() const { return carried_; }

  const Preset& preset() const { return preset_; }
  const TensorType& type(KindId kind) const;
  // A seam along a dimension, or -1: true if the kind has one there.
  bool HasSeam(KindId kind, int dim) const;

  KindId leaf_kind(int leaf) const { return leaf_kinds_[leaf]; }
  // Whether it has the first line of sizes.
  bool first() const { return first_; }
  // The values of a leaf; `spare` gives values that no leaf has.
  const Field* leaf_values(int leaf, bool spare = false) const {
    return (spare ? spare_values_ : leaf_values_)[leaf].data();
  }

  // The instance of template `t` on operands of these kinds, or null if it
  // does not type there. May be called from several threads.
  const Instance* Find(int t, absl::Span<const KindId> kinds);

  // The error that Find turned into null, for messages.
  absl::Status WhyNot(int t, absl::Span<const KindId> kinds);

 private:
  // A binary tree of joins; none is -1.
  struct Seam {
    int left = -1, right = -1;
    int64_t place = 0;
    friend auto operator<=>(const Seam&, const Seam&) = default;
  };
  struct Kind {
    TensorType type;
    int type_number = 0;          // equal types have equal ones
    std::vector<int> seams;       // per dimension
    std::vector<int64_t> places;  // of the seams
  };
  // Kinds stay where they are once they are made: whoever has been given a
  // number may read what it stands for while others are added.
  class Kinds {
   public:
    KindId size() const { return size_; }
    const Kind& operator[](KindId id) const {
      const auto [chunk, at] = PlaceOf(id);
      return chunks_[chunk][at];
    }
    void Add(Kind kind) {
      const auto [chunk, at] = PlaceOf(size_++);
      if (at == 0) chunks_[chunk] = std::make_unique<Kind[]>(kFirst << chunk);
      chunks_[chunk][at] = std::move(kind);
    }

   private:
    static constexpr uint32_t kFirst = 256;  // then twice as many, and so on
    static std::pair<int, uint32_t> PlaceOf(KindId id) {
      const uint32_t at = static_cast<uint32_t>(id) + kFirst;
      const int chunk = std::bit_width(at / kFirst) - 1;
      return {chunk, at - (kFirst << chunk)};
    }
    std::array<std::unique_ptr<Kind[]>, 24> chunks_;
    KindId size_ = 0;
  };
  // A template, the types of its operands, and where it takes one apart.
  using ShapeKey = std::array<int64_t, kMaxParams + 2>;

  // A shape that one thread makes while others that ask for it wait.
  struct Slot {
    absl::once_flag once;
    std::unique_ptr<Shape> shape;
  };
  // A part of a map, so that threads seldom wait for each other.
  template <class Key, class Value>
  struct alignas(64) Shard {
    std::mutex mutex;
    absl::flat_hash_map<Key, std::unique_ptr<Value>> map;
  };
  // Which part it is, the first bits of a hash say: the map goes by the last.
  static constexpr int kShardBits = 6, kShardShift = 64 - kShardBits;
  template <class Key, class Value>
  using Shards = std::array<Shard<Key, Value>, 1 << kShardBits>;

  // The shape of an instance, or null if there is none; made once.
  const Shape* ShapeOf(int t, absl::Span<const KindId> kinds);
  absl::StatusOr<std::unique_ptr<Shape>> MakeShape(
      int t, absl::Span<const KindId> kinds);
  absl::StatusOr<ShapeKey> KeyOf(int t, absl::Span<const KindId> kinds) const;
  // The attributes of a template on operands of these kinds, where the template
  // leaves them open.
  absl::StatusOr<std::vector<std::optional<Attr>>> AttrsOf(
      const Template& t, absl::Span<const KindId> kinds) const;
  // The kinds of an instance's outputs.
  std::vector<KindId> OutputsOf(int t, const Shape& shape,
                                absl::Span<const KindId> kinds);
  KindId Intern(const TensorType& type, std::vector<int> seams);
  int InternSeam(Seam seam);
  std::vector<int> SeamsOf(const Template& t, const Shape& shape, int number,
                           absl::Span<const KindId> kinds);

  const Preset& preset_;
  const Sizes& sizes_;
  const bool first_;
  int64_t max_elements_;
  bool has_seams_ = false;
  Kinds kinds_;
  std::map<std::string, int> type_numbers_;
  std::map<std::pair<int, std::vector<int>>, KindId> kind_ids_;
  std::vector<Seam> seams_;
  std::map<Seam, int> seam_ids_;
  std::vector<KindId> leaf_kinds_;
  std::vector<std::vector<Field>> leaf_values_, spare_values_;
  Shards<InstanceKey, Instance> instances_;
  UnrolledOps unrolled_;
  Shards<ShapeKey, Slot> shapes_;
  std::shared_ptr<CarriedDims> carried_;
  std::mutex mutex_;  // of kinds, types and seams that are added
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_WORLD_H_
