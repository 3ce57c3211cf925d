// Questions about sizes and indices: does a goal follow from facts, for all
// integers? A few integer points that satisfy the facts answer most questions
// with no. A goal is shown if its negative parts are paid for by facts, with
// what is left positive by itself. An SMT solver is asked for the rest, if
// there is one.
//
// Sizes and indices are integers, and a divisor is positive (ops/dim.h).
#ifndef ISOMER_VERIFY_ARITHMETIC_H_
#define ISOMER_VERIFY_ARITHMETIC_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "ops/infer.h"
#include "verify/points.h"
#include "verify/smt.h"

namespace isomer::verify {

// All symbols are integers; every fact holds.
struct ArithmeticQuery {
  std::vector<Obligation> facts;
  Obligation goal;
  // How the prover showed it: facts, each times something not negative, whose
  // sum is at most the goal.
  struct Payment {
    DimExpr factor, fact;
  };
  std::vector<Payment> payments = {};
};

// Prints a query whose unsatisfiability is the goal.
std::string SmtText(const ArithmeticQuery& query);

// What a proof may spend, and what it has spent. Shared by all facts of it.
struct Effort {
  SmtSolver solver = nullptr;
  bool record = false;  // keep what was settled without the solver
  absl::Time deadline = absl::InfiniteFuture();
  int64_t steps_left = 1'000'000;

  int solver_calls = 0;
  std::vector<ArithmeticQuery> settled = {};

  // Counts a step; false if there is nothing left to spend.
  bool Step();
  bool exhausted() const { return steps_left <= 0; }
};

// Facts in scopes: what a scope adds is gone when it ends.
class Facts {
 public:
  explicit Facts(Effort* effort) : effort_(effort) {}

  class Scope {
   public:
    explicit Scope(Facts& facts) : facts_(facts), size_(facts.facts_.size()) {}
    ~Scope() { facts_.Truncate(size_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Facts& facts_;
    const size_t size_;
  };

  void Add(const Obligation& fact);
  void AddNonNegative(const DimExpr& e) { Add({Obligation::kNonNegative, e}); }

  // Looks for points that satisfy the facts so far; later ones build on them.
  void FindPoints() { CurrentPoints(); }

  // True if it is shown; false may mean that it is not known.
  bool NonNegative(const DimExpr& e);
  bool Positive(const DimExpr& e) { return NonNegative(e - 1); }
  bool Zero(const DimExpr& e);
  // A number that the expression is at all points that were tried.
  std::optional<int64_t> PlausibleValue(const DimExpr& e);
  // The value of a symbol, if the facts leave only one.
  std::optional<int64_t> OnlyValue(const std::string& symbol);
  // True if the facts cannot all hold.
  bool Contradictory();
  // True or false if either is shown for e >= 0.
  std::optional<bool> Sign(const DimExpr& e);

  Effort& effort() { return *effort_; }

 private:
  struct Fact {
    Polynomial nonnegative;
    std::vector<Monomial> monomials;
    std::vector<uint64_t> masks;  // of the monomials' atoms
    // Set where the fact says that an atom is at least a number.
    std::optional<Atom> atom;
    Rational least;
  };
  // Scopes come back to the same facts again and again: each list of facts, in
  // its order, has a number, by which what was found under it is known again.
  using List = int;
  struct Listed {
    const Fact* fact;
    List list;  // that ends with the fact
  };
  List list() const { return facts_.empty() ? 0 : facts_.back().list; }
  using Question = std::pair<List, Polynomial>;
  // What an atom means: facts in the order in which they are added. If all of
  // `needed` are shown not to be negative, each asked after its fact, the atom
  // is not either.
  struct Meaning {
    struct Part {
      const Fact* fact;
      std::optional<Polynomial> needed = {};
    };
    std::vector<Part> parts;
    const Fact* itself = nullptr;
  };
  struct HashAtom {
    size_t operator()(const Atom& atom) const { return atom.hash(); }
  };

  // Points at which the first so many facts hold.
  struct Satisfied {
    size_t facts = 0;
    std::shared_ptr<const Points> points;
  };

  void Truncate(size_t size);
  const Points& CurrentPoints();
  // A symbol that points have no value for yet, with what bounds it.
  struct OpenSymbol {
    Atom symbol;
    std::vector<Polynomial> low, high;
  };
  std::vector<OpenSymbol> OpenSymbols(size_t first, const Points& known) const;
  Points Extend(const Points& before, size_t first);
  uint32_t Draw(Points& points, const OpenSymbol& open, bool shy);
  const Fact* FactOf(const Polynomial& nonnegative);
  const Meaning& MeaningOf(const Atom& atom);
  void Push(const Fact* fact);
  void Push(const Polynomial& nonnegative) { Push(FactOf(nonnegative)); }
  void Describe(const Polynomial& p, int depth);
  void DescribeAtom(const Atom& atom, int depth);
  std::optional<Rational> Least(const Atom& atom) const;
  // `how` takes the payments, if it is given.
  using Payments = std::vector<ArithmeticQuery::Payment>;
  bool Shown(const Polynomial& p);
  bool ShownAnew(const Polynomial& p, Payments* how) const;
  // A sum with a minimum, or less a maximum, is what it is at one of their
  // values: shown if it is at each.
  bool ShownAtEach(const Polynomial& p);
  bool PositiveAsItIs(const Monomial& m) const;
  bool PositiveAsItIs(const Polynomial& p) const;
  bool Pay(const Polynomial& p, int depth, int& budget, Payments* how) const;
  bool AskSolver(const DimExpr& e);
  ArithmeticQuery Query(const DimExpr& e) const;

  Effort* effort_;
  std::vector<Listed> facts_;
  std::vector<const Fact*> bounds_;  // those of the facts that bound an atom
  // Divisions and the like whose meaning is among the facts, with the number
  // of facts before it was.
  std::vector<std::pair<Atom, size_t>> described_;
  std::vector<Satisfied> points_;  // for growing numbers of facts
  // Goals that were shown, with the number of facts at that time.
  std::vector<std::pair<Polynomial, size_t>> shown_;
  // All facts and lists there ever were; a list is the one before it and a
  // fact.
  absl::flat_hash_map<Polynomial, std::unique_ptr<const Fact>> known_facts_;
  absl::flat_hash_map<std::pair<List, const Fact*>, List> lists_;
  absl::flat_hash_map<Atom, Meaning, HashAtom> meanings_;
  // What was found before under the same facts: points, whether payments show
  // a goal, and goals that nothing shows.
  absl::flat_hash_map<List, std::shared_ptr<const Points>> known_points_;
  absl::flat_hash_map<Question, bool> paid_;
  absl::flat_hash_set<Question> not_shown_;
  std::mt19937_64 random_{1};
};

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_ARITHMETIC_H_
