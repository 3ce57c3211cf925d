// Attribute schemas are checked and attributes printed here, once for numbers
// and once for expressions.
#include "ops/attr.h"

#include <charconv>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/status.h"
#include "ops/tensor_type.h"

namespace isomer {

absl::string_view AttrKindName(AttrKind kind) {
  static constexpr absl::string_view kNames[] = {"int",    "ints",   "float",
                                                 "floats", "string", "dtype"};
  return kNames[static_cast<int>(kind)];
}

namespace {

template <class T>
std::string ShortestText(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return std::string(buffer, end);
}

}  // namespace

std::string DoubleText(double value) { return ShortestText(value); }
std::string FloatText(float value) { return ShortestText(value); }

namespace {

// Widens a default or sample to the dimension type D.
template <class D>
AttrT<D> Widen(const Attr& a) {
  if (auto* i = std::get_if<int64_t>(&a)) return D(*i);
  if (auto* v = std::get_if<std::vector<int64_t>>(&a)) {
    return std::vector<D>(v->begin(), v->end());
  }
  if (auto* f = std::get_if<double>(&a)) return *f;
  if (auto* v = std::get_if<std::vector<double>>(&a)) return *v;
  if (auto* s = std::get_if<std::string>(&a)) return *s;
  return std::get<DType>(a);
}

std::optional<int64_t> ConstantOf(int64_t v) { return v; }
std::optional<int64_t> ConstantOf(const DimExpr& v) { return v.constant(); }

// Turns `value` into the declared kind where the text form is ambiguous.
template <class D>
AttrT<D> Coerce(AttrKind kind, AttrT<D> value) {
  if (auto* i = std::get_if<D>(&value)) {
    if (kind == AttrKind::kInts) return std::vector<D>{*i};
    if (auto c = ConstantOf(*i); c && kind == AttrKind::kFloat) {
      return static_cast<double>(*c);
    }
  }
  if (auto* f = std::get_if<double>(&value); f && kind == AttrKind::kFloats) {
    return std::vector<double>{*f};
  }
  if (auto* v = std::get_if<std::vector<D>>(&value);
      v && kind == AttrKind::kFloats) {
    std::vector<double> out;
    for (const D& d : *v) {
      if (auto c = ConstantOf(d)) out.push_back(static_cast<double>(*c));
    }
    if (out.size() == v->size()) return out;
  }
  if (auto* s = std::get_if<std::string>(&value);
      s && kind == AttrKind::kDType) {
    if (auto t = ParseDType(*s); t.ok()) return *t;
  }
  return value;
}

}  // namespace

template <class D>
absl::StatusOr<AttrsT<D>> Complete(absl::Span<const AttrSpec> schema,
                                   const AttrsT<D>& given,
                                   absl::string_view op) {
  for (const auto& [name, value] : given.entries()) {
    if (absl::c_none_of(schema, [&, &n = name](const AttrSpec& s) {
          return s.name == n;
        })) {
      return Invalid(
          op, ": no attribute '", name, "'; it has ",
          absl::StrJoin(schema, ", ", [](std::string* out, const AttrSpec& s) {
            absl::StrAppend(out, s.name);
          }));
    }
  }
  AttrsT<D> out;
  for (const AttrSpec& spec : schema) {
    const AttrT<D>* found = given.Find(spec.name);
    if (found == nullptr && spec.required) {
      return Invalid(op, ": attribute '", spec.name, "' is missing");
    }
    AttrT<D> value =
        Coerce<D>(spec.kind, found ? *found : Widen<D>(spec.default_value));
    if (value.index() != static_cast<size_t>(spec.kind)) {
      return Invalid(op, ": attribute '", spec.name, "' is ",
                     AttrText<D>(value), "; expected ",
                     AttrKindName(spec.kind));
    }
    if (!spec.choices.empty() &&
        !absl::c_linear_search(spec.choices, std::get<std::string>(value))) {
      return Invalid(op, ": attribute '", spec.name, "' is ",
                     AttrText<D>(value), "; expected one of ",
                     absl::StrJoin(spec.choices, ", "));
    }
    out.Set(spec.name, std::move(value));
  }
  return out;
}

template <class D>
std::string AttrText(const AttrT<D>& value) {
  if (auto* i = std::get_if<D>(&value)) return DimText(*i);
  if (auto* v = std::get_if<std::vector<D>>(&value)) {
    return absl::StrCat("[",
                        absl::StrJoin(*v, " ",
                                      [](std::string* out, const D& d) {
                                        std::string text = DimText(d);
                                        bool sum = absl::StrContains(text, ' ');
                                        absl::StrAppend(out, sum ? "(" : "",
                                                        text, sum ? ")" : "");
                                      }),
                        "]");
  }
  if (auto* f = std::get_if<double>(&value)) return DoubleText(*f);
  if (auto* v = std::get_if<std::vector<double>>(&value)) {
    return absl::StrCat("[",
                        absl::StrJoin(*v, " ",
                                      [](std::string* out, double d) {
                                        absl::StrAppend(out, DoubleText(d));
                                      }),
                        "]");
  }
  if (auto* s = std::get_if<std::string>(&value)) return *s;
  return std::string(DTypeName(std::get<DType>(value)));
}

template <class D>
std::string AttrsText(const AttrsT<D>& attrs) {
  return absl::StrJoin(
      attrs.entries(), ", ", [](std::string* out, const auto& e) {
        absl::StrAppend(out, e.first, "=", AttrText<D>(e.second));
      });
}

SymAttrs ToSymbolic(const Attrs& attrs) {
  SymAttrs out;
  for (const auto& [name, value] : attrs.entries()) {
    out.Set(name, Widen<DimExpr>(value));
  }
  return out;
}

template absl::StatusOr<Attrs> Complete(absl::Span<const AttrSpec>,
                                        const Attrs&, absl::string_view);
template absl::StatusOr<SymAttrs> Complete(absl::Span<const AttrSpec>,
                                           const SymAttrs&, absl::string_view);
template std::string AttrText<int64_t>(const Attr&);
template std::string AttrText<DimExpr>(const SymAttr&);
template std::string AttrsText<int64_t>(const Attrs&);
template std::string AttrsText<DimExpr>(const SymAttrs&);

}  // namespace isomer
