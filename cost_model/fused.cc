// Members before the core are its prologue, those after it the epilogue, and
// the rest prepares other operands of the epilogue; the target says which
// classes of operators each may hold.
#include "cost_model/fused.h"

#include <algorithm>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cost_model/layout.h"
#include "graph/hashing.h"

namespace isomer::cost {

namespace {

const TensorType* TypeOf(const RegionProblem& r, const RegionInput& in,
                         int output) {
  if (in.leaf) return r.leaves[in.index].type;
  const auto& t = (*r.nodes[in.index].node->types)[output];
  return t ? &*t : nullptr;
}

int64_t BytesOf(const RegionProblem& r, const RegionInput& in) {
  return in.leaf ? r.leaves[in.index].bytes : r.nodes[in.index].bytes;
}

bool IsSame(const RegionInput& a, const RegionInput& b) {
  return a.leaf == b.leaf && a.index == b.index;
}

// One kernel under examination.
class Examiner {
 public:
  Examiner(const Target& target, const RegionProblem& region,
           const Fused& fused)
      : target_(target), r_(region), f_(fused), inside_(region.nodes.size()) {
    for (int m : f_.members) inside_[m] = true;
  }

  std::optional<KernelShape> Run() {
    if (!FindCore() || !WithinLimits()) return std::nullopt;
    if (f_.members.size() > 1 && !ClassesFit()) return std::nullopt;
    if (core_ >= 0 && !(CoreReadsOperands() && CoreWritesResult())) {
      return std::nullopt;
    }
    KernelShape k;
    k.family = family_;
    if (core_ >= 0) SetCore(k);
    for (int m : f_.members) {
      if (m != core_) k.flops += r_.nodes[m].flops;
    }
    SetMoves(k);
    k.launches = !IsView() && !k.moves.empty();
    return k;
  }

 private:
  const RegionNode& node(int i) const { return r_.nodes[i]; }
  int result() const { return f_.members.back(); }
  bool Inside(const RegionInput& in) const {
    return !in.leaf && inside_[in.index];
  }

  bool FindCore() {
    family_ = Family::kCopy;
    for (int m : f_.members) {
      const OpPlan& plan = node(m).plan;
      if (plan.op_class == OpClass::kCore) {
        if (core_ >= 0) return false;
        core_ = m;
      } else if (core_ < 0 && plan.family == Family::kPointwise) {
        family_ = Family::kPointwise;
      }
    }
    if (core_ >= 0) family_ = node(core_).plan.family;
    return true;
  }

  const FusionModel& fusion() const {
    // Kernels without a core are generated, whether or not they compute.
    return target_.fusion(core_ < 0 ? Family::kPointwise : family_);
  }

  bool WithinLimits() const {
    const FusionModel& m = fusion();
    if (f_.stored.size() > 1 && !m.many_outputs) return false;
    if (f_.members.size() == 1) return true;
    const int64_t ops = absl::c_count_if(f_.members, [this](int i) {
      return node(i).plan.op_class == OpClass::kPointwise ||
             node(i).plan.op_class == OpClass::kCast;
    });
    return ops <= m.max_ops &&
           static_cast<int64_t>(f_.members.size()) <= m.max_nodes &&
           static_cast<int64_t>(ReadsOf(r_, f_).size()) <= m.max_inputs;
  }

  bool ClassesFit() {
    const FusionModel& m = fusion();
    if (core_ >= 0) MarkSides();
    for (int i : f_.members) {
      if (i == core_) continue;
      const OpClass c = node(i).plan.op_class;
      if (core_ < 0) {
        if (!m.epilogue.Has(c)) return false;
        continue;
      }
      if (before_[i] && !m.prologue.Has(c)) return false;
      if (after_[i] && !m.epilogue.Has(c)) return false;
      if (!before_[i] && !after_[i] && !m.operands.Has(c)) return false;
    }
    return true;
  }

  void MarkSides() {
    before_.assign(r_.nodes.size(), false);
    after_.assign(r_.nodes.size(), false);
    for (int i : f_.members) {
      for (const RegionInput& in : node(i).inputs) {
        if (Inside(in) && (in.index == core_ || after_[in.index])) {
          after_[i] = true;
        }
      }
    }
    for (auto it = f_.members.rbegin(); it != f_.members.rend(); ++it) {
      if (*it != core_ && !before_[*it]) continue;
      for (const RegionInput& in : node(*it).inputs) {
        if (Inside(in)) before_[in.index] = true;
      }
    }
  }

  // Where views lie between memory and the core, the core must be able to read
  // memory that way.
  bool CoreReadsOperands() const {
    if (!IsStrided(family_)) return true;
    const RegionNode& core = node(core_);
    for (size_t i = 0; i < core.inputs.size(); ++i) {
      const RegionInput& in = core.inputs[i];
      if (!Inside(in) || node(in.index).plan.family != Family::kCopy) continue;
      const std::optional<Layout> layout = LayoutOf(in.index);
      if (!layout ||
          !Reads(family_, static_cast<int>(i), RightRank(), *layout)) {
        return false;
      }
    }
    return true;
  }

  int RightRank() const {
    const RegionNode& core = node(core_);
    if (core.inputs.size() < 2) return 0;
    const TensorType* right =
        TypeOf(r_, core.inputs[1], core.node->inputs[1].output);
    return right == nullptr ? 0 : right->rank();
  }

  // Where views lie between the core and the result, the core must be able to
  // write its output in the order of the result.
  bool CoreWritesResult() const {
    if (result() == core_ || !IsStrided(family_)) return true;
    std::optional<Layout> layout =
        Layout::Dense((*node(result()).node->types)[0]->shape);
    for (int at = result(); at != core_;) {
      const RegionNode& n = node(at);
      const auto below = absl::c_find_if(n.inputs, [&](const RegionInput& in) {
        return Inside(in) && (in.index == core_ || after_[in.index]);
      });
      if (n.plan.family == Family::kCopy) {
        const TensorType* type = TypeOf(r_, *below, 0);
        layout = WrittenThrough(*n.node, n.plan.op_class, type->shape, *layout);
        if (!layout) return false;
      }
      at = below->index;
    }
    return Writes(family_, RightRank(), *layout);
  }

  // How the output of a member lies in the memory of what the kernel reads, if
  // it is a view of that.
  std::optional<Layout> LayoutOf(int member) const {
    const RegionNode& n = node(member);
    if (n.inputs.empty()) return std::nullopt;
    const RegionInput& in = n.inputs[0];
    if (Inside(in)) {
      const std::optional<Layout> below = LayoutOf(in.index);
      return below ? ViewOf(*n.node, n.plan.op_class, *below) : std::nullopt;
    }
    const TensorType* type = TypeOf(r_, in, n.node->inputs[0].output);
    if (type == nullptr) return std::nullopt;
    return ViewOf(*n.node, n.plan.op_class, Layout::Dense(type->shape));
  }

  // True if the result is a dense part of what is read, as it is.
  bool IsView() const {
    if (family_ != Family::kCopy) return false;
    const std::optional<Layout> layout = LayoutOf(result());
    return layout && layout->IsDense();
  }

  void SetCore(KernelShape& k) const {
    k.core = &node(core_);
    for (size_t i = 0; i < k.core->inputs.size(); ++i) {
      k.core_inputs.push_back(
          TypeOf(r_, k.core->inputs[i], k.core->node->inputs[i].output));
    }
  }

  // How much of an operand a member looks at: a slice or a gather picks.
  int64_t Wanted(const RegionInput& read) const {
    int64_t wanted = 0;
    const int64_t all = BytesOf(r_, read);
    for (int m : f_.members) {
      const RegionNode& n = node(m);
      for (size_t i = 0; i < n.inputs.size(); ++i) {
        if (!IsSame(n.inputs[i], read) || IsInPlace(m, n.inputs[i])) continue;
        const bool picks = i == 0 && (n.plan.op_class == OpClass::kSlice ||
                                      n.plan.op_class == OpClass::kIndex);
        wanted += picks ? std::min(n.bytes, all) : all;
      }
    }
    return std::min(wanted, all);
  }

  bool IsInPlace(int member, const RegionInput& in) const {
    return member == result() && in.in_place && !Inside(in);
  }

  void SetMoves(KernelShape& k) const {
    for (const RegionInput& read : ReadsOf(r_, f_)) {
      const int64_t bytes = Wanted(read);
      const bool constant = read.leaf && r_.leaves[read.index].constant;
      if (bytes > 0) k.moves.push_back({bytes, constant});
    }
    for (int s : f_.stored) {
      int64_t bytes = node(s).bytes;
      for (const RegionInput& in : node(s).inputs) {
        if (IsInPlace(s, in)) bytes -= BytesOf(r_, in);
      }
      if (bytes > 0) k.moves.push_back({bytes, false});
    }
  }

  const Target& target_;
  const RegionProblem& r_;
  const Fused& f_;
  std::vector<char> inside_, before_, after_;
  int core_ = -1;
  Family family_ = Family::kCopy;
};

// Prints the expression from the result down. Operands of commutative operators
// are put in an order that depends on nothing but what they are, and so are the
// terms of a sum of several: all orders are one kernel.
class Printer {
 public:
  Printer(const RegionProblem& region, const Fused& fused)
      : r_(region),
        f_(fused),
        uses_(region.nodes.size()),
        inside_(region.nodes.size()),
        name_(region.nodes.size()),
        hash_(region.nodes.size()) {
    for (int m : f_.members) inside_[m] = true;
    for (int m : f_.members) {
      for (const RegionInput& in : r_.nodes[m].inputs) {
        if (IsMember(in)) ++uses_[in.index];
      }
    }
  }

  std::string Run(Family family) {
    const std::string result = Print(f_.members.back());
    return absl::StrCat(FamilyName(family), " ", lets_, result, types_);
  }

 private:
  // An operand of a member, and which output of it that is.
  struct Term {
    RegionInput in;
    int output = 0;
  };

  bool IsMember(const RegionInput& in) const {
    return !in.leaf && inside_[in.index];
  }
  const std::string& NameOf(int m) const {
    const ir::Node& n = *r_.nodes[m].node;
    return n.op ? n.op->name : n.opaque->op;
  }
  std::string AttrsOf(int m) const {
    const ir::Node& n = *r_.nodes[m].node;
    return n.attrs ? AttrsText(*n.attrs) : "";
  }
  bool IsStored(int m) const {
    return m != f_.members.back() && absl::c_binary_search(f_.stored, m);
  }
  std::string TypeTextOf(const Term& t) const {
    const TensorType* type = TypeOf(r_, t.in, t.output);
    const bool constant = t.in.leaf && r_.leaves[t.in.index].constant;
    return absl::StrCat(type ? TypeText(*type) : "?", constant ? "*" : "");
  }

  // A sum, or what else is the same in any order: of two of a type that makes
  // another of it.
  bool IsSum(int m) const {
    const RegionNode& n = r_.nodes[m];
    if (n.node->op == nullptr || !n.node->op->commutative) return false;
    const TensorType* from = TypeOf(r_, n.inputs[0], n.node->inputs[0].output);
    const auto& to = (*n.node->types)[0];
    return from != nullptr && to && from->dtype == to->dtype;
  }

  std::vector<Term> InputsOf(int m) const {
    const RegionNode& n = r_.nodes[m];
    std::vector<Term> out;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      out.push_back({n.inputs[i], n.node->inputs[i].output});
    }
    return out;
  }

  void AddTerms(int m, std::vector<Term>& terms) const {
    for (const Term& t : InputsOf(m)) {
      const int i = t.in.index;
      if (IsMember(t.in) && uses_[i] == 1 && !IsStored(i) && IsSum(i) &&
          NameOf(i) == NameOf(m)) {
        AddTerms(i, terms);
      } else {
        terms.push_back(t);
      }
    }
  }

  // The operands of a member as they are printed: members before what is read.
  std::vector<Term> TermsOf(int m) {
    if (!IsSum(m)) return InputsOf(m);
    std::vector<Term> terms;
    AddTerms(m, terms);
    using Key = std::tuple<bool, std::string, uint64_t>;
    std::vector<std::pair<Key, Term>> keyed;
    for (const Term& t : terms) {
      if (IsMember(t.in)) {
        keyed.push_back({{false, NameOf(t.in.index), HashOf(t.in.index)}, t});
      } else {
        keyed.push_back({{true, TypeTextOf(t), 0}, t});
      }
    }
    absl::c_stable_sort(
        keyed, [](const auto& a, const auto& b) { return a.first < b.first; });
    terms.clear();
    for (const auto& [key, t] : keyed) terms.push_back(t);
    return terms;
  }

  // Of what a member computes of what types.
  uint64_t HashOf(int m) {
    if (hash_[m]) return *hash_[m];
    uint64_t h = ir::HashText(absl::StrCat(NameOf(m), " ", AttrsOf(m)));
    for (const Term& t : TermsOf(m)) {
      h = ir::HashCombine(
          h, IsMember(t.in) ? HashOf(t.in.index) : ir::HashText(TypeTextOf(t)));
    }
    hash_[m] = h;
    return h;
  }

  // The text of a member; one that is used more than once, or stored, gets a
  // name.
  std::string Print(int m) {
    if (!name_[m].empty()) return name_[m];
    const std::vector<Term> terms = TermsOf(m);
    const bool is_sum = IsSum(m);
    std::string text;
    for (size_t i = 0; i < terms.size(); ++i) {
      const Term& t = terms[i];
      absl::StrAppend(&text, i ? "," : "",
                      IsMember(t.in) ? Print(t.in.index) : Operand(t));
      if (is_sum && i > 0) text = absl::StrCat(NameOf(m), "(", text, ")");
    }
    if (!is_sum) {
      const std::string attrs = AttrsOf(m);
      text =
          absl::StrCat(NameOf(m), "(", text,
                       attrs.empty() || terms.empty() ? "" : ",", attrs, ")");
    }
    if (uses_[m] < 2 && !IsStored(m)) return text;
    name_[m] = absl::StrCat("x", names_++);
    absl::StrAppend(&lets_, name_[m], IsStored(m) ? "!" : "", "=", text, " ");
    return name_[m];
  }

  std::string Operand(const Term& t) {
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (IsSame(operands_[i].in, t.in) && operands_[i].output == t.output) {
        return Letter(i);
      }
    }
    operands_.push_back(t);
    const std::string name = Letter(operands_.size() - 1);
    absl::StrAppend(&types_, " ", name, ":", TypeTextOf(t));
    return name;
  }

  static std::string Letter(size_t i) {
    return i < 26 ? std::string(1, static_cast<char>('a' + i))
                  : absl::StrCat("a", i);
  }

  const RegionProblem& r_;
  const Fused& f_;
  std::vector<int> uses_;
  std::vector<char> inside_;
  std::vector<std::string> name_;
  std::vector<std::optional<uint64_t>> hash_;
  int names_ = 0;
  std::string lets_, types_;
  std::vector<Term> operands_;
};

}  // namespace

std::optional<KernelShape> ShapeOf(const Target& target,
                                   const RegionProblem& region,
                                   const Fused& fused) {
  return Examiner(target, region, fused).Run();
}

std::string SignatureOf(const RegionProblem& region, Family family,
                        const Fused& fused) {
  return Printer(region, fused).Run(family);
}

std::vector<RegionInput> ReadsOf(const RegionProblem& region,
                                 const Fused& fused) {
  std::vector<RegionInput> reads;
  for (int m : fused.members) {
    for (const RegionInput& in : region.nodes[m].inputs) {
      if (!in.leaf && absl::c_binary_search(fused.members, in.index)) continue;
      if (absl::c_none_of(
              reads, [&](const RegionInput& r) { return IsSame(r, in); })) {
        reads.push_back(in);
      }
    }
  }
  return reads;
}

}  // namespace isomer::cost
