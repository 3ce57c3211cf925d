// A pair of equal graphs as a short code that does not depend on the names of
// its variables, so that the many pairs that say the same are told apart from
// new ones without writing them out.
#ifndef ISOMER_XFER_GEN_PAIR_CODE_H_
#define ISOMER_XFER_GEN_PAIR_CODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "xfer_gen/dag.h"
#include "xfer_gen/side_text.h"

namespace isomer::gen {

// One side of a pair; there may be millions, most of few outputs.
using SideOutputs = absl::InlinedVector<TensorId, 4>;

struct PairCode {
  uint64_t skeleton = 0;  // a hash of all but the variables
  // At every place where a variable stands, which one it is, numbered from the
  // left; both sides.
  std::string places;
  int variables = 0;
  // Steps of each side, without those above which a variable stands.
  int larger = 0, smaller = 0;
};

// A hash of a code.
uint64_t KeyOf(const PairCode& code);

// True if giving variables names turns `general` into `special`; both have the
// same skeleton.
bool IsInstance(const PairCode& special, const PairCode& general);

class PairCoder {
 public:
  PairCoder(const Dag& dag, DagValues& values) : dag_(dag), values_(values) {}

  // The code of a pair in which the tensors `cuts` stand as variables. The side
  // with more steps comes first.
  PairCode Code(absl::Span<const TensorId> a, absl::Span<const TensorId> b,
                absl::Span<const TensorId> cuts);
  // The variables of the last code, by their numbers.
  absl::Span<const TensorId> variables() const { return variables_; }
  // A hash of the last code, the templates of its steps and the kinds of its
  // variables: pairs that have the same differ in names alone.
  uint64_t NamelessKey();

 private:
  struct Text {
    uint64_t hash = 0;
    uint32_t operands = 0;
  };
  struct Side {
    std::vector<uint64_t> tokens;
    uint64_t templates = 0;           // hashed
    std::vector<TensorId> variables;  // at every place
    std::vector<TensorId> met;        // tensors, in order
    Dag::Steps steps;
  };

  void Write(absl::Span<const TensorId> outputs,
             absl::Span<const TensorId> cuts, Side& side);
  void WriteTensor(TensorId t, absl::Span<const TensorId> cuts, Side& side);
  const Text& TextFor(TensorId t);

  const Dag& dag_;
  DagValues& values_;
  Side sides_[2];
  std::vector<TensorId> variables_;
  uint64_t last_ = 0;  // a hash of the last code and the templates
  absl::flat_hash_map<std::pair<const Instance*, uint32_t>, Text> texts_;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_PAIR_CODE_H_
