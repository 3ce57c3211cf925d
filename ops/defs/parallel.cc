// The operators that speak of devices. A tensor type carries named device
// axes; in memory they are leading dimensions, sorted by name:
//
//   partition(x, dim=d, axis=m, degree=n)  dimension d cut over n devices
//   combine(x, dim=d, axis=m)              its inverse
//   replicate(x, axis=m, degree=n)         a copy on each of n devices
//   reduce(x, axis=m)                      the sum over the devices
//
// All other operators are lifted over device axes. These four see the whole
// tensor, which index semantics has no words for, so they have kernels only.
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

// A type with a device axis, seen from that axis: its elements are
// [before, devices, after], where `after` takes in the other device axes that
// follow by name and the shape.
struct Blocks {
  int64_t before = 1, devices = 1, after = 1;
};

Blocks BlocksOf(const TensorType& t, absl::string_view name) {
  Blocks b;
  const int place = FindDevice(t, name);
  for (int p = 0; p < static_cast<int>(t.device.size()); ++p) {
    (p < place    ? b.before
     : p == place ? b.devices
                  : b.after) *= t.device[p].size;
  }
  b.after *= NumElements(t.shape);
  return b;
}

// Calls move(whole, part) for each pair of places that hold one element: in
// the tensor whose dimension `dim` is whole, and in the one, of type `cut`,
// that has it cut over device axis `name`.
template <class F>
void ForEachCut(const TensorType& cut, absl::string_view name, int dim,
                F move) {
  const Blocks b = BlocksOf(cut, name);
  // Below the dimension, and from it on.
  const int64_t inner = Strides(cut.shape)[dim];
  const int64_t chunk = inner * cut.shape[dim];
  const int64_t outer = chunk == 0 ? 0 : b.after / chunk;
  int64_t part = 0;
  for (int64_t before = 0; before < b.before; ++before) {
    for (int64_t device = 0; device < b.devices; ++device) {
      for (int64_t o = 0; o < outer; ++o) {
        const int64_t whole =
            ((before * outer + o) * b.devices + device) * chunk;
        for (int64_t j = 0; j < chunk; ++j) move(whole + j, part++);
      }
    }
  }
}

constexpr auto PartitionKernel = [](auto& c) -> absl::Status {
  ForEachCut(
      c.out_type(0), c.attrs.String("axis"),
      static_cast<int>(c.attrs.Int("dim")),
      [&](int64_t whole, int64_t part) { c.Set(0, part, c.At(0, whole)); });
  return absl::OkStatus();
};

constexpr auto CombineKernel = [](auto& c) -> absl::Status {
  ForEachCut(
      c.in_type(0), c.attrs.String("axis"),
      static_cast<int>(c.attrs.Int("dim")),
      [&](int64_t whole, int64_t part) { c.Set(0, whole, c.At(0, part)); });
  return absl::OkStatus();
};

constexpr auto ReplicateKernel = [](auto& c) -> absl::Status {
  const Blocks b = BlocksOf(c.out_type(0), c.attrs.String("axis"));
  for (int64_t at = 0; at < b.before * b.devices * b.after; ++at) {
    const int64_t before = at / (b.devices * b.after);
    c.Set(0, at, c.At(0, before * b.after + at % b.after));
  }
  return absl::OkStatus();
};

constexpr auto ReduceDeviceKernel = [](auto& c) -> absl::Status {
  using T = typename std::decay_t<decltype(c)>::Scalar;
  const Blocks b = BlocksOf(c.in_type(0), c.attrs.String("axis"));
  for (int64_t at = 0; at < b.before * b.after; ++at) {
    const int64_t before = at / b.after, after = at % b.after;
    Accumulator<T> sum;
    for (int64_t d = 0; d < b.devices; ++d) {
      sum.Add(c.At(0, (before * b.devices + d) * b.after + after));
    }
    c.Set(0, at, sum.Result());
  }
  return absl::OkStatus();
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
      .eval = Eval(PartitionKernel),
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
      .eval = Eval(CombineKernel),
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
      .eval = Eval(ReplicateKernel),
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
      .eval = Eval(ReduceDeviceKernel),
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
