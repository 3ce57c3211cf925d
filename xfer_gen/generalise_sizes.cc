// Equal numbers in slices of one axis are taken to be one size, and so are
// equal numbers in shapes; which size it is, trials tell.
#include "xfer_gen/generalise_sizes.h"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"

namespace isomer::gen {

namespace {

using ir::ExprSyntax;
using ir::ValueSyntax;
using VKind = ValueSyntax::Kind;

ValueSyntax Integer(int64_t value) {
  ValueSyntax v;
  v.integer = value;
  return v;
}

ValueSyntax DimOf(const SeenTensor& t, int dim) {
  ValueSyntax v;
  v.kind = VKind::kDim;
  v.name = t.name;
  v.args.push_back(Integer(dim));
  return v;
}

ValueSyntax Sum(ValueSyntax a, ValueSyntax b) {
  ValueSyntax v;
  v.kind = VKind::kAdd;
  v.args = {std::move(a), std::move(b)};
  return v;
}

// The axis that a call slices, if it is one.
std::optional<int64_t> SlicedAxis(const ExprSyntax& call) {
  for (const ir::AttrSyntax& a : call.attrs) {
    if (a.name == "axis" && a.value.kind == VKind::kInteger) {
      return a.value.integer;
    }
  }
  return std::nullopt;
}

bool IsBound(const std::string& attr) { return attr == "from" || attr == "to"; }

ValueSyntax Half(ValueSyntax a) {
  ValueSyntax v;
  v.kind = VKind::kDiv;
  v.args = {std::move(a), Integer(2)};
  return v;
}

// What a number may be: a size along `axis` first, then others of that value,
// then sums of two sizes along one axis and, in shapes, half a size.
std::vector<ValueSyntax> OptionsOf(int64_t value, std::optional<int64_t> axis,
                                   const SeenTensors& seen) {
  std::vector<ValueSyntax> along, others, sums;
  for (size_t i = 0; i < seen.size(); ++i) {
    const std::vector<int64_t>& shape = seen[i].type.shape;
    for (int d = 0; d < seen[i].type.rank(); ++d) {
      if (shape[d] == value) {
        (axis && *axis == d ? along : others).push_back(DimOf(seen[i], d));
      }
      if (axis && *axis != d) continue;
      for (size_t j = 0; j <= i; ++j) {
        if (d >= seen[j].type.rank()) continue;
        if (shape[d] + seen[j].type.shape[d] != value) continue;
        sums.push_back(Sum(DimOf(seen[j], d), DimOf(seen[i], d)));
      }
      if (!axis && shape[d] == 2 * value) {
        sums.push_back(Half(DimOf(seen[i], d)));
      }
    }
  }
  along.insert(along.end(), others.begin(), others.end());
  along.insert(along.end(), sums.begin(), sums.end());
  return along;
}

ValueSyntax* Find(ExprSyntax& call, const SizeGroup::Use& use) {
  for (ir::AttrSyntax& a : call.attrs) {
    if (a.name != use.attr) continue;
    return use.item < 0 ? &a.value : &a.value.args[use.item];
  }
  return nullptr;
}

// Whether a number of a list counts the parts that another item of it is made
// of (`[2 (dim(x, 0)/2)]`): it is then no size.
bool CountsParts(const ValueSyntax& list, const ValueSyntax& number) {
  return absl::c_any_of(list.args, [&](const ValueSyntax& v) {
    return v.kind == VKind::kDiv && v.args[1] == number;
  });
}

class Collector {
 public:
  Collector(const CallTypes& types, const SeenTensors& seen)
      : types_(types), seen_(seen) {}

  void Add(int call, const ExprSyntax& e) {
    const auto axis = SlicedAxis(e);
    for (const ir::AttrSyntax& a : e.attrs) {
      if (IsBound(a.name) && axis && a.value.kind == VKind::kInteger &&
          a.value.integer > 0) {
        AddBound(call, a, *axis);
      } else if (a.name == "group" && a.value.kind == VKind::kInteger) {
        AddNumber({call, a.name, -1}, a.value);
      } else if (a.name == "shape" && a.value.kind == VKind::kList) {
        AddShape(call, a);
      }
    }
  }

  std::vector<SizeGroup> Take() {
    std::vector<SizeGroup> out;
    for (auto& [key, group] : groups_) {
      if (!group.options.empty()) out.push_back(std::move(group));
    }
    return out;
  }

 private:
  // Ends first, then whole shapes, then numbers.
  enum Kind { kEndOfSlice, kWholeShape, kNumber };

  void AddBound(int call, const ir::AttrSyntax& a, int64_t axis) {
    const int64_t value = a.value.integer;
    const auto type = types_.find(call + 1);
    const bool end = a.name == "to" && type != types_.end() &&
                     axis < type->second.operand.rank() &&
                     type->second.operand.shape[axis] == value;
    SizeGroup& g = groups_[{end ? kEndOfSlice : kNumber, axis, value}];
    g.uses.push_back({call, a.name, -1});
    if (!g.options.empty()) return;
    if (end) {
      ValueSyntax v;
      v.kind = VKind::kEnd;
      g.options.push_back(std::move(v));
    } else {
      g.options = OptionsOf(value, axis, seen_);
    }
  }

  // One number, which may stand in shapes and be a number of groups.
  void AddNumber(SizeGroup::Use use, const ValueSyntax& v) {
    if (v.kind != VKind::kInteger || v.integer < 2) return;
    SizeGroup& g = groups_[{kNumber, -1, v.integer}];
    g.uses.push_back(std::move(use));
    g.options = OptionsOf(v.integer, std::nullopt, seen_);
  }

  // A shape that is a leaf's is that first of all.
  void AddShape(int call, const ir::AttrSyntax& a) {
    SizeGroup& whole = groups_[{kWholeShape, call, 0}];
    whole.uses.push_back({call, a.name, -1});
    for (const SeenTensor& t : seen_) {
      bool same = t.type.shape.size() == a.value.args.size();
      ValueSyntax list;
      list.kind = VKind::kList;
      for (int d = 0; d < t.type.rank() && same; ++d) {
        same = a.value.args[d] == Integer(t.type.shape[d]);
        list.args.push_back(DimOf(t, d));
      }
      if (same && !list.args.empty()) whole.options.push_back(std::move(list));
    }
    for (size_t i = 0; i < a.value.args.size(); ++i) {
      if (CountsParts(a.value, a.value.args[i])) continue;
      AddNumber({call, a.name, static_cast<int>(i)}, a.value.args[i]);
    }
  }

  const CallTypes& types_;
  const SeenTensors& seen_;
  std::map<std::tuple<Kind, int64_t, int64_t>, SizeGroup> groups_;
};

}  // namespace

std::vector<SizeGroup> SizesOf(const ir::RuleSyntax& rule,
                               const CallTypes& types,
                               const SeenTensors& seen) {
  ir::RuleSyntax copy = rule;
  Collector collector(types, seen);
  const std::vector<ExprSyntax*> calls = Calls(copy);
  for (size_t c = 0; c < calls.size(); ++c) {
    collector.Add(static_cast<int>(c), *calls[c]);
  }
  return collector.Take();
}

bool SaysSizes(const std::string& attr) {
  return attr == "shape" || IsBound(attr);
}

bool NamesSizes(const ir::RuleSyntax& rule, const SeenTensors& seen) {
  ir::RuleSyntax copy = rule;
  auto is_size = [&](const ValueSyntax& v) {
    if (v.kind != VKind::kInteger || v.integer < 2) return false;
    // Two and three may count parts, or be a kernel's.
    return v.integer > 3 || seen.empty() ||
           !OptionsOf(v.integer, std::nullopt, seen).empty();
  };
  for (const ExprSyntax* call : Calls(copy)) {
    for (const ir::AttrSyntax& a : call->attrs) {
      if (!SaysSizes(a.name)) continue;
      if (is_size(a.value)) return true;
      const bool sized = absl::c_any_of(a.value.args, [&](const auto& v) {
        return is_size(v) && !CountsParts(a.value, v);
      });
      if (sized) return true;
    }
  }
  return false;
}

ir::RuleSyntax WithSize(ir::RuleSyntax rule, const SizeGroup& group,
                        const ValueSyntax& size) {
  const std::vector<ExprSyntax*> calls = Calls(rule);
  for (const SizeGroup::Use& use : group.uses) {
    ValueSyntax* v = Find(*calls[use.call], use);
    const bool number = v != nullptr && v->kind == VKind::kInteger;
    if (number || (v != nullptr && size.kind == VKind::kList)) *v = size;
  }
  return rule;
}

}  // namespace isomer::gen
