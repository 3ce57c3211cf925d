// Normal forms of tensor elements. An element at a symbolic index is a sum of
// terms; a term is
//
//   coefficient * sum over bound variables [guards hold] product of factors
//
// and a factor is an input element, a function of sums, a maximum over sets, a
// product over ranges, or the inverse of a sum, each to a power. What operators
// do to structure (concat, pad, slice, conv, pool, reshape) becomes ranges and
// guards here, so proofs need no axioms about structure.
#ifndef ISOMER_VERIFY_NF_TERM_H_
#define ISOMER_VERIFY_NF_TERM_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ops/dim.h"
#include "ops/infer.h"

namespace isomer::verify {

struct Term;
using Sum = std::vector<Term>;  // the empty sum is 0
using Substitution = std::map<std::string, DimExpr>;

// lo <= var < hi.
struct Bound {
  std::string var;
  DimExpr lo, hi;
};

// One set of a maximum: the values of `body` over the bound variables. It is
// never empty.
struct Item {
  std::vector<Bound> bound;
  std::vector<Obligation> guards;
  std::shared_ptr<const Sum> body;
};

struct Leaf {
  enum class Kind {
    kInput,     // name[index]
    kConstant,  // a number that is not worth computing with, by its text
    kFunction,  // name(args)
    kMax,       // the greatest value of all items
    kProduct,   // the product over the only item
    kInverse,   // 1 / args[0]
  };
  Kind kind = Kind::kInput;
  std::string name = {};
  std::vector<DimExpr> index = {};
  std::vector<Sum> args = {};
  std::vector<Item> items = {};
};
using LeafPtr = std::shared_ptr<const Leaf>;

struct Power {
  LeafPtr leaf;
  int power = 1;
};

struct Term {
  Polynomial coefficient = 1;  // over sizes and attributes
  std::vector<Bound> bound = {};
  std::vector<Obligation> guards = {};
  std::vector<Power> factors = {};
};

// Makes names of variables that no rule can hold.
class Names {
 public:
  std::string Fresh() { return "#" + std::to_string(next_++); }

 private:
  int next_ = 0;
};

// ---- Building

Sum NumberSum(const Polynomial& value);
Sum LeafSum(Leaf leaf);
Sum Add(Sum a, const Sum& b);
Sum Scale(Sum a, const Polynomial& factor);
// The product; bound variables are renamed, so that none is shared.
Sum Multiply(const Sum& a, const Sum& b, Names& names);
// `a` where the guard holds, else 0.
Sum Guarded(Sum a, const Obligation& guard);

// The number that a sum is, if it is one.
std::optional<Polynomial> NumberOf(const Sum& s);

// ---- Looking and replacing

// Symbols that occur free: bound variables of outer terms, indices, sizes.
void FreeSymbols(const Sum& s, std::set<std::string>& out);
void FreeSymbols(const Term& t, std::set<std::string>& out);
void FreeSymbols(const Leaf& leaf, std::set<std::string>& out);
bool Mentions(const DimExpr& e, const std::vector<Bound>& bound);

// Replaces free symbols. Variables bound in `s` do not occur in the values.
Sum Substitute(const Sum& s, const Substitution& values);
Term Substitute(const Term& t, const Substitution& values);
Leaf Substitute(const Leaf& leaf, const Substitution& values);

// Calls f on every expression for an index, range or guard, at any depth, and
// puts its result in its place.
using ExprMap = std::function<DimExpr(const DimExpr&)>;
Sum MapExprs(const Sum& s, const ExprMap& f);

// ---- Comparing

// What a term looks like, up to the names of bound variables: equal terms have
// equal keys. `order` lists the bound variables as the key numbers them.
struct TermKey {
  std::string body;                 // factors and guards
  std::vector<std::string> ranges;  // of the variables, in order
  std::vector<int> order;

  std::string Text() const;
};
TermKey KeyOf(const Term& t);
std::string KeyOf(const Sum& s);
std::string KeyOf(const Leaf& leaf);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_NF_TERM_H_
