// The operators that speak of devices. A tensor type carries named device
// axes; in memory they are leading dimensions, sorted by name:
//
//   partition(x, dim=d, axis=m, degree=n)  dimension d cut over n devices
//   combine(x, dim=d, axis=m)              its inverse
//   replicate(x, axis=m, degree=n)         a copy on each of n devices
//   reduce(x, axis=m)                      the sum over the devices
//
// All other operators are lifted over device axes. These four see the whole
// tensor: to their element functions the device axes are its first dimensions.
#include <algorithm>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

// The place of a device axis among those of a type; -1 if it is not there.
template <class D>
int FindDevice(const TypeT<D>& t, absl::string_view name) {
  for (size_t p = 0; p < t.device.size(); ++p) {
    if (t.device[p].name == name) return static_cast<int>(p);
  }
  return -1;
}

template <class D>
absl::StatusOr<TypeT<D>> WithDevice(InferContext<D>& c) {
  TypeT<D> out = c.in(0);
  const std::string& name = c.attrs().String("axis");
  if (name.empty()) return c.Fail("the device axis has no name");
  if (FindDevice(out, name) >= 0) {
    return c.Fail(absl::StrCat("device axis ", name, " is there already"));
  }
  const D degree = c.Int("degree");
  RETURN_IF_ERROR(c.AtLeast(degree, D(1), "degree must be positive"));
  auto place = std::find_if(out.device.begin(), out.device.end(),
                            [&](const auto& a) { return a.name > name; });
  out.device.insert(place, {name, degree});
  return out;
}

// The type without the device axis, whose size goes to `size`.
template <class D>
absl::StatusOr<TypeT<D>> WithoutDevice(InferContext<D>& c, D& size) {
  TypeT<D> out = c.in(0);
  const std::string& name = c.attrs().String("axis");
  const int place = FindDevice(out, name);
  if (place < 0) {
    return c.Fail(absl::StrCat("there is no device axis ", name));
  }
  size = out.device[place].size;
  out.device.erase(out.device.begin() + place);
  return out;
}

template <class D>
Types<D> InferPartition(InferContext<D>& c) {
  RETURN_IF_ERROR(c.RankAtLeast(0, 1));
  ASSIGN_OR_RETURN(const int dim, c.Axis("dim", c.in(0).rank()));
  ASSIGN_OR_RETURN(TypeT<D> out, WithDevice(c));
  const D degree = c.Int("degree");
  RETURN_IF_ERROR(
      c.Divides(degree, out.shape[dim],
                absl::StrCat("degree must divide dimension ", dim)));
  out.shape[dim] = FloorDiv(out.shape[dim], degree);
  return std::vector{out};
}

template <class D>
Types<D> InferCombine(InferContext<D>& c) {
  RETURN_IF_ERROR(c.RankAtLeast(0, 1));
  ASSIGN_OR_RETURN(const int dim, c.Axis("dim", c.in(0).rank()));
  D size = 1;
  ASSIGN_OR_RETURN(TypeT<D> out, WithoutDevice(c, size));
  out.shape[dim] = out.shape[dim] * size;
  return std::vector{out};
}

template <class D>
Types<D> InferReplicate(InferContext<D>& c) {
  ASSIGN_OR_RETURN(TypeT<D> out, WithDevice(c));
  return std::vector{out};
}

template <class D>
Types<D> InferReduceDevice(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Numeric(0));
  D size = 1;
  ASSIGN_OR_RETURN(TypeT<D> out, WithoutDevice(c, size));
  return std::vector{out};
}

// The index without, and with, the device axis at a place.
template <class Indices>
Indices Without(Indices i, int place) {
  i.erase(i.begin() + place);
  return i;
}
template <class Indices, class Index>
Indices With(Indices i, int place, const Index& device) {
  i.insert(i.begin() + place, device);
  return i;
}

// Where dimension `dim` of a type stands after its device axes.
template <class C, class Type>
int DimPlace(const C& c, const Type& t) {
  return static_cast<int>(t.device.size()) + static_cast<int>(c.Number("dim"));
}

constexpr auto PartitionElement = [](const auto& c) {
  const int place = FindDevice(c.out_type(), c.String("axis"));
  const int whole = DimPlace(c, c.in_type(0)), part = DimPlace(c, c.out_type());
  return [&c, place, whole, part](const auto& i) {
    auto at = Without(i, place);
    at[whole] = i[place] * c.out_dim(part) + i[part];
    return c.At(0, at);
  };
};

constexpr auto CombineElement = [](const auto& c) {
  const int place = FindDevice(c.in_type(0), c.String("axis"));
  const int part = DimPlace(c, c.in_type(0)), whole = DimPlace(c, c.out_type());
  return [&c, place, whole, part](const auto& i) {
    auto at = With(i, place, FloorDiv(i[whole], c.dim(0, part)));
    at[part] = Mod(i[whole], c.dim(0, part));
    return c.At(0, at);
  };
};

constexpr auto ReplicateElement = [](const auto& c) {
  const int place = FindDevice(c.out_type(), c.String("axis"));
  return [&c, place](const auto& i) { return c.At(0, Without(i, place)); };
};

constexpr auto ReduceDeviceElement = [](const auto& c) {
  const int place = FindDevice(c.in_type(0), c.String("axis"));
  return [&c, place](const auto& i) {
    return c.Sum({c.dim(0, place)},
                 [&](const auto& k) { return c.At(0, With(i, place, k[0])); });
  };
};

AttrSpec DeviceAxis() {
  return StringAttr("axis", {}).Samples({std::string("m")});
}

OpDef PartitionOp() {
  return {
      .name = "partition",
      .inputs = Inputs({"x"}),
      .attrs = {AxisAttr("dim").Samples({0, 1}), DeviceAxis(),
                IntAttr("degree").Samples({2})},
      .parallel = true,
      .infer = Infer([](auto& c) { return InferPartition(c); }),
      .element = Element(PartitionElement),
      .cases = {"partition(f32[4,3], dim=0, axis=m, degree=2)",
                "partition(i64[2,6]@{n:2}, dim=-1, axis=m, degree=3)"},
      .flops = NoFlops(),
  };
}

OpDef CombineOp() {
  return {
      .name = "combine",
      .inputs = Inputs({"x"}),
      .attrs = {AxisAttr("dim").Samples({0, 1}), DeviceAxis()},
      .parallel = true,
      .infer = Infer([](auto& c) { return InferCombine(c); }),
      .element = Element(CombineElement),
      .cases = {"combine(f32[2,3]@{m:2}, dim=0, axis=m)",
                "combine(f16[2,3]@{a:2,m:3,z:2}, dim=-1, axis=m)"},
      .flops = NoFlops(),
  };
}

OpDef ReplicateOp() {
  return {
      .name = "replicate",
      .inputs = Inputs({"x"}),
      .attrs = {DeviceAxis(), IntAttr("degree").Samples({2})},
      .parallel = true,
      .infer = Infer([](auto& c) { return InferReplicate(c); }),
      .element = Element(ReplicateElement),
      .cases = {"replicate(f32[4,3], axis=m, degree=2)",
                "replicate(i64[2]@{n:2}, axis=m, degree=3)"},
      .flops = NoFlops(),
  };
}

OpDef ReduceDeviceOp() {
  return {
      .name = "reduce",
      .inputs = Inputs({"x"}),
      .attrs = {DeviceAxis()},
      .parallel = true,
      .infer = Infer([](auto& c) { return InferReduceDevice(c); }),
      .element = Element(ReduceDeviceElement),
      .cases = {"reduce(f32[2,3]@{m:2}, axis=m)",
                "reduce(i64[2]@{a:2,m:3}, axis=m)"},
      .flops = [](absl::Span<const TensorType> in, auto,
                  const Attrs&) { return NumElements(in[0]); },
  };
}

}  // namespace

std::vector<OpDef> DefineParallel() {
  return {PartitionOp(), CombineOp(), ReplicateOp(), ReduceDeviceOp()};
}

}  // namespace isomer
