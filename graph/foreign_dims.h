// Sizes in a foreign rule: sums of symbols, and the equations between them that
// typing implies. That is all it takes to find the sizes of constants, which
// the files leave out.
#ifndef ISOMER_GRAPH_FOREIGN_DIMS_H_
#define ISOMER_GRAPH_FOREIGN_DIMS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/rule_syntax.h"

namespace isomer::ir {

// A size that has to be found out, or one that a rule can speak of. The first
// kinds are eliminated first.
struct SizeSymbol {
  enum class Kind {
    kConstant,   // of a constant in a target
    kOpaque,     // nothing is known about it
    kAttribute,  // an attribute variable of the source
    kDimension,  // dim(name, dim)
  };
  Kind kind = Kind::kOpaque;
  std::string name = {};
  int dim = 0;
  friend auto operator<=>(const SizeSymbol&, const SizeSymbol&) = default;
};

// An integer combination of symbols.
struct Size {
  std::map<SizeSymbol, int64_t> terms = {};  // no zeros
  int64_t constant = 0;

  static Size Number(int64_t n) { return {{}, n}; }
  static Size Of(SizeSymbol s) { return {{{std::move(s), 1}}, 0}; }

  std::optional<int64_t> number() const {
    return terms.empty() ? std::optional<int64_t>(constant) : std::nullopt;
  }
  // Whether a rule can say it: it speaks of dimensions and attributes alone.
  bool Expressible() const;
  // The expression; only where it is expressible.
  ValueSyntax Syntax() const;
  friend bool operator==(const Size&, const Size&) = default;
};

Size operator+(const Size& a, const Size& b);
Size operator-(const Size& a, const Size& b);
Size operator*(int64_t k, const Size& a);

// Linear equations, solved as they come.
class SizeEquations {
 public:
  // Adds a == b.
  void Add(const Size& a, const Size& b);
  // The size with what is solved put in.
  Size Reduce(const Size& size) const;
  bool Equal(const Size& a, const Size& b) const {
    return Reduce(a - b) == Size();
  }

 private:
  std::map<SizeSymbol, Size> solved_;  // in terms of symbols that are not
};

// Where a dimension was joined: at `at`, from parts that may be joined too.
struct Joint {
  Size at = {};
  std::shared_ptr<const Joint> left = {}, right = {};
};

// What is known of a tensor's shape; no sizes: not even its rank.
struct ForeignShape {
  std::vector<Size> sizes = {};
  std::vector<std::shared_ptr<const Joint>> joints = {};  // one per size

  int rank() const { return static_cast<int>(sizes.size()); }
};

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_FOREIGN_DIMS_H_
