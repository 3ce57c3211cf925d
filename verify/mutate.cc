// A side is walked twice in step: the n-th place that can change is changed in
// the n-th copy.
#include "verify/mutate.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace isomer::verify {

namespace {

using ir::ExprSyntax;
using ir::RuleSyntax;
using ir::SideSyntax;
using ir::ValueSyntax;

// Operators that are easily taken for each other.
const char* const kSiblings[][2] = {{"add", "sub"},
                                    {"sub", "add"},
                                    {"mul", "add"},
                                    {"div", "mul"},
                                    {"max", "min"},
                                    {"min", "max"},
                                    {"relu", "abs"},
                                    {"exp", "sigmoid"},
                                    {"tanh", "relu"},
                                    {"and", "or"},
                                    {"or", "and"},
                                    {"less", "less_equal"},
                                    {"sqrt", "rsqrt"},
                                    {"reduce_sum", "reduce_mean"},
                                    {"reduce_max", "reduce_min"},
                                    {"avg_pool", "max_pool"}};

class Mutator {
 public:
  explicit Mutator(const RuleSyntax& rule) : rule_(rule) {
    seen_.insert(ir::PrintRule(rule));
  }

  std::vector<RuleSyntax> Run() {
    EachExpr([](ExprSyntax& e, int n) { return SwapOperands(e, n); });
    EachExpr([](ExprSyntax& e, int n) { return DropOperator(e, n); });
    EachExpr([](ExprSyntax& e, int n) { return Replace(e, n); });
    EachExpr([this](ExprSyntax& e, int n) { return Rename(e, n); });
    EachExpr([](ExprSyntax& e, int n) { return DropAttr(e, n); });
    EachExpr([](ExprSyntax& e, int n) { return Wrap(e, n); });
    EachValue([](ValueSyntax& v, int n) { return ChangeNumber(v, n); });
    EachValue([](ValueSyntax& v, int n) { return SwapElements(v, n); });
    Outputs();
    Conditions();
    return std::move(out_);
  }

 private:
  // A change returns false once there are no more than n ways to change.
  using ExprChange = std::function<bool(ExprSyntax&, int n)>;
  using ValueChange = std::function<bool(ValueSyntax&, int n)>;

  void Keep(RuleSyntax mutant) {
    if (seen_.insert(ir::PrintRule(mutant)).second) {
      out_.push_back(std::move(mutant));
    }
  }

  // ---- Walking

  template <class F>
  static void WalkExpr(ExprSyntax& e, const F& f) {
    f(e);
    for (ExprSyntax& a : e.args) WalkExpr(a, f);
  }
  template <class F>
  static void WalkSide(SideSyntax& side, const F& f) {
    for (ir::BinderSyntax& b : side.binders) {
      if (!b.choose) WalkExpr(b.value, f);
    }
    for (ExprSyntax& e : side.outputs) WalkExpr(e, f);
  }
  template <class F>
  static void WalkValue(ValueSyntax& v, const F& f) {
    f(v);
    for (ValueSyntax& a : v.args) WalkValue(a, f);
  }

  // Changes each place in each way; `walk` visits the places of a copy.
  template <class Place, class Walk, class Change>
  void Each(const Walk& walk, const Change& change) {
    int places = 0;
    RuleSyntax counted = rule_;
    walk(counted, [&](Place&) { ++places; });
    for (int place = 0; place < places; ++place) {
      for (int n = 0;; ++n) {
        RuleSyntax mutant = rule_;
        int at = 0;
        bool changed = false;
        // A change may remove places, so only the first hit counts.
        walk(mutant, [&](Place& p) {
          if (at++ == place && !changed) changed = change(p, n);
        });
        if (!changed) break;
        Keep(std::move(mutant));
      }
    }
  }
  void EachExpr(const ExprChange& change) {
    Each<ExprSyntax>(
        [](RuleSyntax& r, const auto& f) { WalkSide(r.target, f); }, change);
  }
  void EachValue(const ValueChange& change) {
    Each<ValueSyntax>(
        [](RuleSyntax& r, const auto& f) {
          WalkSide(r.target, [&](ExprSyntax& e) {
            for (ir::AttrSyntax& a : e.attrs) WalkValue(a.value, f);
            if (e.kind == ExprSyntax::Kind::kReal) WalkValue(e.value, f);
          });
        },
        change);
  }

  // ---- Changes

  static bool SwapOperands(ExprSyntax& e, int n) {
    if (n + 1 >= static_cast<int>(e.args.size())) return false;
    std::swap(e.args[n], e.args[n + 1]);
    return true;
  }
  // The operator's n-th operand in its place.
  static bool DropOperator(ExprSyntax& e, int n) {
    if (n >= static_cast<int>(e.args.size())) return false;
    ExprSyntax operand = e.args[n];
    e = std::move(operand);
    return true;
  }
  static bool Replace(ExprSyntax& e, int n) {
    if (n > 0 || e.kind != ExprSyntax::Kind::kCall) return false;
    for (const auto& pair : kSiblings) {
      if (e.name != pair[0]) continue;
      e.name = pair[1];
      return true;
    }
    return false;
  }
  // Another variable of the source.
  bool Rename(ExprSyntax& e, int n) const {
    if (e.kind == ExprSyntax::Kind::kNumber) {
      if (n > 1) return false;
      e.number += n == 0 ? 1 : -1;
      return true;
    }
    if (e.kind != ExprSyntax::Kind::kVariable) return false;
    std::set<std::string> names;
    RuleSyntax copy = rule_;
    WalkSide(copy.source, [&](ExprSyntax& v) {
      if (v.kind == ExprSyntax::Kind::kVariable) names.insert(v.name);
    });
    if (n >= static_cast<int>(names.size())) return false;
    e.name = *std::next(names.begin(), n);
    return true;
  }
  // One operator more.
  static bool Wrap(ExprSyntax& e, int n) {
    static const char* const kAround[] = {"neg", "relu"};
    if (n >= static_cast<int>(std::size(kAround))) return false;
    ExprSyntax call{.kind = ExprSyntax::Kind::kCall, .name = kAround[n]};
    call.args = {std::move(e)};
    e = std::move(call);
    return true;
  }
  // The attribute takes its default.
  static bool DropAttr(ExprSyntax& e, int n) {
    if (n >= static_cast<int>(e.attrs.size())) return false;
    e.attrs.erase(e.attrs.begin() + n);
    return true;
  }
  static bool ChangeNumber(ValueSyntax& v, int n) {
    using Kind = ValueSyntax::Kind;
    if (n > 1) return false;
    if (v.kind == Kind::kInteger) {
      v.integer += n == 0 ? 1 : -1;
      return true;
    }
    if (v.kind != Kind::kDim && v.kind != Kind::kEnd && v.kind != Kind::kName) {
      return false;
    }
    // One more or less than what it says.
    ValueSyntax one{.kind = Kind::kInteger, .integer = 1};
    ValueSyntax before = std::move(v);
    v = ValueSyntax{.kind = n == 0 ? Kind::kAdd : Kind::kSub};
    v.args = {std::move(before), std::move(one)};
    return true;
  }
  static bool SwapElements(ValueSyntax& v, int n) {
    if (v.kind != ValueSyntax::Kind::kList ||
        n + 1 >= static_cast<int>(v.args.size())) {
      return false;
    }
    std::swap(v.args[n], v.args[n + 1]);
    return true;
  }

  void Outputs() {
    for (size_t i = 0; i + 1 < rule_.target.outputs.size(); ++i) {
      RuleSyntax mutant = rule_;
      std::swap(mutant.target.outputs[i], mutant.target.outputs[i + 1]);
      Keep(std::move(mutant));
    }
  }
  void Conditions() {
    for (size_t i = 0; i < rule_.where.size(); ++i) {
      RuleSyntax mutant = rule_;
      mutant.where.erase(mutant.where.begin() + static_cast<int>(i));
      Keep(std::move(mutant));
    }
  }

  const RuleSyntax& rule_;
  std::set<std::string> seen_;
  std::vector<RuleSyntax> out_;
};

}  // namespace

std::vector<RuleSyntax> Mutants(const RuleSyntax& rule) {
  std::vector<RuleSyntax> out = Mutator(rule).Run();
  RuleSyntax turned = rule;
  std::swap(turned.source, turned.target);
  for (RuleSyntax& mutant : Mutator(turned).Run()) {
    std::swap(mutant.source, mutant.target);
    out.push_back(std::move(mutant));
  }
  return out;
}

}  // namespace isomer::verify
