// What the generator enumerates over, as text that a user can write: classes
// of leaves with named sizes, assignments of those sizes, and templates.
//
//   depth 3                            # steps of a graph, unless told
//   otherwise elements 512                       # larger tensors are not
//   computed with leaf x(3): f32[b,c]                # activations x1, x2, x3
//   weight w(3): f32[c,c]              # weights w1, w2, w3
//   sizes b=2 c=4                      # what is enumerated and fingerprinted
//   sizes b=3 c=5,6,7                  # what hits are confirmed at: x1 has
//                                      # c = 5, x2 has c = 6, ...
//   template matmul(a, b): matmul(a, b)
//   template join(a, b) joins 1: concat(a, b, axis=1)
//   template split(a) parts 1:
//     slice(a, axis=1, from=0, to=seam), slice(a, axis=1, from=seam, to=end)
//   template conv(x, w) x data: conv2d(x, w, pad=1)
//   use algebra depth=3                # the rules of another preset too
//
// A template is one step, whatever its expression holds; several expressions
// are several outputs of one step. Sizes may be named in attributes. `joins D`
// says that the output's dimension D is that of the first operand followed by
// that of the second; `parts D` asks for an operand that was joined so along D
// and takes it apart at `seam`. `P data` refuses a leaf that is a weight for
// the operand P, `P leaf` takes leaves alone; `where dim(a, 2) == 3` after the
// expressions puts conditions on sizes. `P on m` takes a tensor that lies along
// the device axis m.
#ifndef ISOMER_XFER_GEN_PRESET_H_
#define ISOMER_XFER_GEN_PRESET_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/rule.h"
#include "graph/rule_syntax.h"
#include "ops/tensor_type.h"

namespace isomer::gen {

inline constexpr int kMaxParams = 4;  // of a template

// One assignment: the value of each size, for the first, second, ... variable
// of a class (the last value serves all further ones).
using Sizes = std::map<std::string, std::vector<int64_t>>;

struct LeafClass {
  std::string name;
  int count = 1;
  bool weight = false;
  DType dtype = DType::kF32;
  std::vector<std::string> shape = {};  // size names or numbers
  int line = 0;
};

struct Template {
  enum class Operand { kAny, kData, kLeaf };

  std::string name;
  std::vector<std::string> params = {};
  std::vector<Operand> takes = {};           // by parameter
  std::vector<std::string> on = {};          // by parameter: a device axis
  std::vector<ir::ExprSyntax> outputs = {};  // as written
  std::vector<ir::RuleCondition> where = {};
  std::vector<int> where_variables = {};     // by node that they speak of
  int joins = -1, parts = -1;                // a dimension, or -1
  ir::RuleSide side = {};                    // bound
  std::vector<int> param_variables = {};     // by parameter: its variable
  std::vector<std::string> attr_names = {};  // sizes and `seam`, as variables
  std::vector<bool> attr_words = {};         // those that are words
  bool commutative = false;  // the two operands may change places
  int line = 0;
};

struct UsedPreset {
  std::string name = {};
  int depth = 0;  // 0: its own
  int line = 0;
};

struct Preset {
  std::string name;
  int depth = 3;
  int64_t max_elements = 512;
  std::vector<LeafClass> leaves;
  std::vector<Sizes> sizes;
  std::vector<Template> templates;
  std::vector<UsedPreset> uses;
};

// Reads a preset; an error starts with the line it is about. Besides the
// syntax this checks that names are known, that every template binds, and that
// every leaf has a type in every assignment of sizes.
absl::StatusOr<Preset> ParsePreset(absl::string_view name,
                                   absl::string_view text);

// The type of variable `index` (from 0) of a class in one assignment.
TensorType LeafType(const LeafClass& leaf, int index, const Sizes& sizes);

// The value of a size name for variable `index` of a class.
int64_t SizeOf(const Sizes& sizes, absl::string_view name, int index);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_PRESET_H_
