// Names for sizes and attributes, and their values.
#include "ops/symbolic_calls.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace isomer {

namespace {

// The same call with integer attribute `name` as symbols; nothing if it holds
// no integers or names dimensions.
std::optional<SymbolicCall> WithSymbols(SymbolicCall call, const OpDef& op,
                                        const std::string& name) {
  for (const AttrSpec& spec : op.attrs) {
    if (spec.name == name && spec.role == AttrRole::kAxis) return {};
  }
  SymAttr value = *call.attrs.Find(name);
  auto replace = [&](DimExpr& e, int at) {
    const std::string symbol = absl::StrCat("attr_", name, at);
    call.values[symbol] = *e.constant();
    e = DimExpr::Symbol(symbol);
  };
  if (auto* number = std::get_if<DimExpr>(&value)) {
    replace(*number, 0);
  } else if (auto* list = std::get_if<std::vector<DimExpr>>(&value)) {
    if (list->empty()) return {};
    for (size_t i = 0; i < list->size(); ++i) {
      replace((*list)[i], static_cast<int>(i));
    }
  } else {
    return {};
  }
  call.attrs.Set(name, std::move(value));
  return call;
}

}  // namespace

SymbolicCall Symbolic(const TypedCall& call, const Attrs& attrs,
                      Naming naming) {
  SymbolicCall out{{}, ToSymbolic(attrs), {}};
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    SymType t = ToSymbolic(call.inputs[k]);
    for (int d = 0; d < t.rank() && naming != Naming::kNumbers; ++d) {
      const int64_t size = call.inputs[k].shape[d];
      const std::string name = naming == Naming::kEachSize
                                   ? absl::StrCat("size", size)
                                   : absl::StrCat("n", k, "_", d);
      out.values[name] = size;
      t.shape[d] = DimExpr::Symbol(name);
    }
    out.inputs.push_back(std::move(t));
  }
  return out;
}

SymbolicCall WithNumber(SymbolicCall call, const std::string& name) {
  const std::map<std::string, DimExpr> number = {{name, call.values.at(name)}};
  for (SymType& t : call.inputs) {
    for (DimExpr& d : t.shape) d = d.Substitute(number);
  }
  return call;
}

std::vector<SymbolicCall> SymbolicForms(const OpDef& op, const TypedCall& call,
                                        const Attrs& attrs) {
  std::vector<SymbolicCall> out;
  for (Naming naming :
       {Naming::kEachDimension, Naming::kEachSize, Naming::kNumbers}) {
    out.push_back(Symbolic(call, attrs, naming));
  }
  for (const auto& [name, value] : attrs.entries()) {
    if (auto form = WithSymbols(out[0], op, name)) {
      out.push_back(*std::move(form));
    }
  }
  return out;
}

bool Hold(const std::vector<Obligation>& demands, const SymbolValues& values) {
  return std::all_of(demands.begin(), demands.end(), [&](const Obligation& o) {
    const std::optional<int64_t> v = o.expr.Evaluate(values);
    return v && (o.kind == Obligation::kZero ? *v == 0 : *v >= 0);
  });
}

TensorType TypeAt(const SymType& t, const SymbolValues& values) {
  TensorType out{t.dtype, {}, {}};
  for (const DimExpr& d : t.shape) {
    out.shape.push_back(d.Evaluate(values).value_or(-1));
  }
  for (const auto& a : t.device) {
    out.device.push_back({a.name, a.size.Evaluate(values).value_or(-1)});
  }
  return out;
}

}  // namespace isomer
