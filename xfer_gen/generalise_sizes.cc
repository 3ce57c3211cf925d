// Equal numbers in slices of one axis are taken to be one size, and so are
// equal numbers in shapes; which size it is, trials tell.
#include "xfer_gen/generalise_sizes.h"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

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

// What a number may be: a size along `axis` first, then others of that value,
// then sums along the axis.
std::vector<ValueSyntax> OptionsOf(int64_t value, std::optional<int64_t> axis,
                                   const SeenTensors& seen) {
  std::vector<ValueSyntax> along, others, sums;
  for (size_t i = 0; i < seen.size(); ++i) {
    const std::vector<int64_t>& shape = seen[i].type.shape;
    for (int d = 0; d < seen[i].type.rank(); ++d) {
      if (shape[d] != value) continue;
      (axis && *axis == d ? along : others).push_back(DimOf(seen[i], d));
    }
    for (size_t j = 0; axis && j <= i; ++j) {
      const std::vector<int64_t>& other = seen[j].type.shape;
      const auto d = static_cast<size_t>(*axis);
      if (d >= shape.size() || d >= other.size()) continue;
      if (shape[d] + other[d] != value) continue;
      sums.push_back(Sum(DimOf(seen[j], static_cast<int>(d)),
                         DimOf(seen[i], static_cast<int>(d))));
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

}  // namespace

std::vector<SizeGroup> SizesOf(const ir::RuleSyntax& rule,
                               const CallTypes& types,
                               const SeenTensors& seen) {
  ir::RuleSyntax copy = rule;
  // Ends first; by what is sliced (-1: a shape) and the number.
  std::map<std::tuple<bool, int64_t, int64_t>, SizeGroup> groups;
  const std::vector<ExprSyntax*> calls = Calls(copy);
  for (size_t c = 0; c < calls.size(); ++c) {
    const auto type = types.find(static_cast<int>(c) + 1);
    const auto axis = SlicedAxis(*calls[c]);
    for (const ir::AttrSyntax& a : calls[c]->attrs) {
      const int call = static_cast<int>(c);
      if (IsBound(a.name) && axis && a.value.kind == VKind::kInteger &&
          a.value.integer > 0) {
        const bool end = a.name == "to" && type != types.end() &&
                         *axis < type->second.rank() &&
                         type->second.shape[*axis] == a.value.integer;
        SizeGroup& g = groups[{!end, *axis, a.value.integer}];
        g.uses.push_back({call, a.name, -1});
        if (g.options.empty() && end) {
          ValueSyntax v;
          v.kind = VKind::kEnd;
          g.options.push_back(std::move(v));
        } else if (g.options.empty()) {
          g.options = OptionsOf(a.value.integer, axis, seen);
        }
      } else if (a.name == "shape" && a.value.kind == VKind::kList) {
        for (size_t i = 0; i < a.value.args.size(); ++i) {
          const ValueSyntax& item = a.value.args[i];
          if (item.kind != VKind::kInteger || item.integer < 2) continue;
          SizeGroup& g = groups[{true, -1, item.integer}];
          g.uses.push_back({call, a.name, static_cast<int>(i)});
          g.options = OptionsOf(item.integer, std::nullopt, seen);
        }
      }
    }
  }
  std::vector<SizeGroup> out;
  for (auto& [key, group] : groups) {
    if (!group.options.empty()) out.push_back(std::move(group));
  }
  return out;
}

ir::RuleSyntax WithSize(ir::RuleSyntax rule, const SizeGroup& group,
                        const ValueSyntax& size) {
  const std::vector<ExprSyntax*> calls = Calls(rule);
  for (const SizeGroup::Use& use : group.uses) {
    if (ValueSyntax* v = Find(*calls[use.call], use)) *v = size;
  }
  return rule;
}

}  // namespace isomer::gen
