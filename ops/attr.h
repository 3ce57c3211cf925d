// Attributes of an operator: values, the schema an operator declares, and the
// set of values that one node carries. Like types they are generic in the
// dimension: an integer attribute of a rule may be an expression.
//
// A node always carries every attribute of its operator, in schema order, with
// defaults filled in, so that equal nodes have equal attributes.
#ifndef ISOMER_OPS_ATTR_H_
#define ISOMER_OPS_ATTR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ops/dim.h"
#include "ops/dtype.h"

namespace isomer {

// What an attribute may hold; the order is that of AttrT's alternatives.
enum class AttrKind { kInt, kInts, kFloat, kFloats, kString, kDType };

// The kind's name in messages: int, ints, float, floats, string, dtype.
absl::string_view AttrKindName(AttrKind kind);

template <class D>
using AttrT = std::variant<D, std::vector<D>, double, std::vector<double>,
                           std::string, DType>;

// The attributes of one node, by name. Small, so lookups are linear.
template <class D>
class AttrsT {
 public:
  using Entry = std::pair<std::string, AttrT<D>>;

  AttrsT() = default;
  AttrsT(std::initializer_list<Entry> entries) : entries_(entries) {}

  const AttrT<D>* Find(absl::string_view name) const {
    for (const Entry& e : entries_) {
      if (e.first == name) return &e.second;
    }
    return nullptr;
  }
  // Sets or replaces an attribute.
  void Set(absl::string_view name, AttrT<D> value) {
    for (Entry& e : entries_) {
      if (e.first == name) {
        e.second = std::move(value);
        return;
      }
    }
    entries_.emplace_back(std::string(name), std::move(value));
  }
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  // Typed access; the attribute must be there (Complete() guarantees it).
  const D& Int(absl::string_view name) const {
    return std::get<D>(*Find(name));
  }
  const std::vector<D>& Ints(absl::string_view name) const {
    return std::get<std::vector<D>>(*Find(name));
  }
  double Float(absl::string_view name) const {
    return std::get<double>(*Find(name));
  }
  const std::vector<double>& Floats(absl::string_view name) const {
    return std::get<std::vector<double>>(*Find(name));
  }
  const std::string& String(absl::string_view name) const {
    return std::get<std::string>(*Find(name));
  }
  DType Type(absl::string_view name) const {
    return std::get<DType>(*Find(name));
  }

  friend bool operator==(const AttrsT& a, const AttrsT& b) {
    return a.entries_ == b.entries_;
  }

 private:
  std::vector<Entry> entries_;
};

using Attr = AttrT<int64_t>;
using Attrs = AttrsT<int64_t>;
using SymAttr = AttrT<DimExpr>;
using SymAttrs = AttrsT<DimExpr>;

// How an integer attribute relates to axes: it names dimensions of an operand
// and may be written negative, counting from the end.
enum class AttrRole { kPlain, kAxis };

// One attribute that an operator declares. `samples` are values the generator
// and the operator test try.
struct AttrSpec {
  std::string name;
  AttrKind kind;
  AttrRole role = AttrRole::kPlain;
  bool required = true;
  Attr default_value = {};
  std::vector<std::string> choices = {};  // allowed strings; empty: any
  std::vector<Attr> samples = {};

  AttrSpec Default(Attr value) && {
    required = false;
    default_value = std::move(value);
    return std::move(*this);
  }
  AttrSpec Samples(std::vector<Attr> values) && {
    samples = std::move(values);
    return std::move(*this);
  }
};

inline AttrSpec IntAttr(std::string name) {
  return {std::move(name), AttrKind::kInt};
}
inline AttrSpec IntsAttr(std::string name) {
  return {std::move(name), AttrKind::kInts};
}
inline AttrSpec AxisAttr(std::string name) {
  return {std::move(name), AttrKind::kInt, AttrRole::kAxis};
}
inline AttrSpec AxesAttr(std::string name) {
  return {std::move(name), AttrKind::kInts, AttrRole::kAxis};
}
inline AttrSpec FloatAttr(std::string name) {
  return {std::move(name), AttrKind::kFloat};
}
inline AttrSpec FloatsAttr(std::string name) {
  return {std::move(name), AttrKind::kFloats};
}
inline AttrSpec StringAttr(std::string name, std::vector<std::string> choices) {
  AttrSpec s{std::move(name), AttrKind::kString};
  s.choices = std::move(choices);
  return s;
}
inline AttrSpec DTypeAttr(std::string name) {
  return {std::move(name), AttrKind::kDType};
}

// Checks `given` against `schema` and returns all attributes in schema order,
// defaults filled in. An int stands for a one-element list and for a float.
template <class D>
absl::StatusOr<AttrsT<D>> Complete(absl::Span<const AttrSpec> schema,
                                   const AttrsT<D>& given,
                                   absl::string_view op);

// Prints a value: 3, [1 2], 0.5, nearest, f16.
template <class D>
std::string AttrText(const AttrT<D>& value);

// Prints "axis=1, pads=[0 0]"; "" for none.
template <class D>
std::string AttrsText(const AttrsT<D>& attrs);

// The symbolic form of attributes with known values.
SymAttrs ToSymbolic(const Attrs& attrs);

// A floating-point number as the shortest decimal text that reads back to it.
std::string DoubleText(double value);
std::string FloatText(float value);

}  // namespace isomer

#endif  // ISOMER_OPS_ATTR_H_
