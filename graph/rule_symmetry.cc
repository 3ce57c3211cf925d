// Sides are compared as texts in which variables have the names that a
// permutation gives them. Only variables that play the same part, as far as
// the text with all others blanked out tells, are permuted.
#include "graph/rule_symmetry.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace isomer::ir {

namespace {

constexpr int64_t kMaxPermutations = 5040;

// The names that texts give to variables.
struct Names {
  std::vector<int> tensors, attrs;
};

class Texts {
 public:
  Texts(const RuleSide& side, const Names& names, bool loose = false)
      : side_(side), names_(names), loose_(loose) {}

  std::string Of(RuleOperand o) const {
    const RuleNode& n = side_.nodes[o.node];
    switch (n.kind) {
      case RuleNode::Kind::kVariable:
        return absl::StrCat("t", names_.tensors[n.variable]);
      case RuleNode::Kind::kLiteral:
        return absl::StrCat("#", Of(n.literal));
      case RuleNode::Kind::kCall:
        break;
    }
    std::vector<std::string> parts;
    for (RuleOperand in : n.inputs) parts.push_back(Of(in));
    if (n.op->commutative || (loose_ && n.op->inputs.variadic)) {
      std::sort(parts.begin(), parts.end());
    }
    for (const RuleAttr& a : n.attrs) {
      if (loose_) break;
      parts.push_back(
          absl::StrCat(a.complement ? "~" : "", a.spec, "=", Of(a.value)));
    }
    return absl::StrCat(n.op->name, "(", absl::StrJoin(parts, ","), ").",
                        o.output);
  }

  std::string Of(const ValueExpr& v) const {
    std::string s = absl::StrCat("<", static_cast<int>(v.kind), " ", v.integer,
                                 " ", v.real, " ", v.word);
    if (v.variable >= 0) absl::StrAppend(&s, " a", names_.attrs[v.variable]);
    if (v.tensor.node >= 0) absl::StrAppend(&s, " ", Of(v.tensor));
    for (const ValueExpr& a : v.args) absl::StrAppend(&s, " ", Of(a));
    return s + ">";
  }

  std::vector<std::string> Outputs() const {
    std::vector<std::string> out;
    for (RuleOperand o : side_.outputs) out.push_back(Of(o));
    return out;
  }

  std::vector<std::string> Conditions(
      const std::vector<RuleCondition>& where) const {
    std::vector<std::string> out;
    for (const RuleCondition& c : where) {
      out.push_back(
          absl::StrCat(static_cast<int>(c.kind), " ",
                       c.kind >= RuleCondition::Kind::kConst
                           ? Of(c.tensor)
                           : absl::StrCat(Of(c.left), " ", Of(c.right))));
    }
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  const RuleSide& side_;
  const Names& names_;
  bool loose_;
};

class Finder {
 public:
  explicit Finder(const BoundRule& rule) : rule_(rule) {
    identity_.tensors.resize(rule.tensors.size());
    identity_.attrs.resize(rule.attrs.size());
    std::iota(identity_.tensors.begin(), identity_.tensors.end(), 0);
    std::iota(identity_.attrs.begin(), identity_.attrs.end(), 0);
    source_ = Texts(rule.source, identity_).Outputs();
    where_ = Texts(rule.source, identity_).Conditions(rule.where);
    target_ = Texts(rule.target, identity_).Outputs();
    loose_ = Texts(rule.target, identity_, true).Outputs();
  }

  std::vector<Symmetry> Run() {
    Names blank{std::vector<int>(rule_.tensors.size(), -1),
                std::vector<int>(rule_.attrs.size(), -1)};
    std::map<std::string, std::vector<int>> tensors, attrs;
    for (size_t i = 0; i < rule_.tensors.size(); ++i) {
      blank.tensors[i] = 0;
      tensors[Part(blank)].push_back(static_cast<int>(i));
      blank.tensors[i] = -1;
    }
    for (size_t i = 0; i < rule_.attrs.size(); ++i) {
      if (rule_.attrs[i].chosen()) continue;
      blank.attrs[i] = 0;
      attrs[Part(blank)].push_back(static_cast<int>(i));
      blank.attrs[i] = -1;
    }
    int64_t count = 1;
    for (auto* classes : {&tensors, &attrs}) {
      for (auto& [text, members] : *classes) {
        for (size_t k = 2; k <= members.size(); ++k) {
          count =
              std::min(count * static_cast<int64_t>(k), kMaxPermutations + 1);
        }
        if (members.size() < 2) continue;
        classes_.push_back({classes == &tensors, members});
      }
    }
    if (count > 1 && count <= kMaxPermutations) Permute(0, identity_);
    return std::move(found_);
  }

 private:
  struct Class {
    bool tensors;
    std::vector<int> members;
  };

  // The part that the one named variable plays in the source.
  std::string Part(const Names& names) const {
    std::vector<std::string> texts = Texts(rule_.source, names).Outputs();
    std::sort(texts.begin(), texts.end());
    return absl::StrJoin(texts, ";");
  }

  void Permute(size_t k, Names names) {
    if (k == classes_.size()) return Check(names);
    std::vector<int> order = classes_[k].members;
    do {
      std::vector<int>& list =
          classes_[k].tensors ? names.tensors : names.attrs;
      for (size_t i = 0; i < order.size(); ++i) {
        list[classes_[k].members[i]] = order[i];
      }
      Permute(k + 1, names);
    } while (std::next_permutation(order.begin(), order.end()));
  }

  void Check(const Names& names) {
    if (names.tensors == identity_.tensors && names.attrs == identity_.attrs) {
      return;
    }
    const Texts source(rule_.source, names);
    const std::vector<std::string> texts = source.Outputs();
    std::vector<int> outputs;
    for (const std::string& t : texts) {
      int to = -1;
      for (size_t j = 0; j < source_.size() && to < 0; ++j) {
        const bool taken = std::find(outputs.begin(), outputs.end(),
                                     static_cast<int>(j)) != outputs.end();
        if (source_[j] == t && !taken) to = static_cast<int>(j);
      }
      if (to < 0) return;
      outputs.push_back(to);
    }
    if (source.Conditions(rule_.where) != where_) return;
    const bool moved = !std::is_sorted(outputs.begin(), outputs.end());
    if (Same(Texts(rule_.target, names).Outputs(), target_, outputs) ||
        (moved &&
         Same(Texts(rule_.target, names, true).Outputs(), loose_, outputs))) {
      found_.push_back({outputs, names.tensors, names.attrs});
    }
  }

  static bool Same(const std::vector<std::string>& texts,
                   const std::vector<std::string>& plain,
                   const std::vector<int>& outputs) {
    for (size_t i = 0; i < texts.size(); ++i) {
      if (texts[i] != plain[outputs[i]]) return false;
    }
    return true;
  }

  const BoundRule& rule_;
  Names identity_;
  std::vector<std::string> source_, where_, target_, loose_;
  std::vector<Class> classes_;
  std::vector<Symmetry> found_;
};

}  // namespace

std::vector<Symmetry> FindSymmetries(const BoundRule& rule) {
  return Finder(rule).Run();
}

}  // namespace isomer::ir
