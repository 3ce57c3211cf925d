// slice(x, axes=[a ...], from=[f ...], to=[t ...], step=[s ...]): along each
// listed dimension the elements f, f + s, f + 2s, ... that come before t.
//
// from and to lie inside the dimension: 0 <= from <= to <= size. A negative
// step runs backwards and needs -1 <= to <= from < size. The importer resolves
// ONNX's negative and overshooting bounds.
#include <algorithm>
#include <numeric>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

// Demands that one range lies inside a dimension of size n and returns how
// many elements it takes.
template <class D>
absl::StatusOr<D> RangeLength(InferContext<D>& c, const D& n, const D& from,
                              const D& to, const D& step) {
  const std::optional<int64_t> number = AsNumber(step);
  if (!number) return c.Fail("a step must be a number");
  if (*number < 0) {
    RETURN_IF_ERROR(c.AtLeast(to, D(-1), "to is before the dimension"));
    RETURN_IF_ERROR(c.AtLeast(from, to, "from is before to"));
    RETURN_IF_ERROR(
        c.AtLeast(n - D(1), from, "from is not inside the dimension"));
    return CeilDiv(from - to, D(0) - step);
  }
  RETURN_IF_ERROR(c.AtLeast(step, D(1), "a step is zero"));
  RETURN_IF_ERROR(c.AtLeast(from, D(0), "from is negative"));
  RETURN_IF_ERROR(c.AtLeast(to, from, "to is before from"));
  RETURN_IF_ERROR(c.AtLeast(n, to, "to is past the dimension"));
  return CeilDiv(to - from, step);
}

template <class D>
Types<D> InferSlice(InferContext<D>& c) {
  ASSIGN_OR_RETURN(const std::vector<int> axes,
                   c.Axes("axes", c.in(0).rank(), /*sorted=*/false));
  const std::vector<D> from = c.Ints("from"), to = c.Ints("to");
  std::vector<D> step = c.Ints("step");
  if (step.empty()) step.assign(axes.size(), D(1));
  if (from.size() != axes.size() || to.size() != axes.size() ||
      step.size() != axes.size()) {
    return c.Fail("axes, from, to and step must have one length");
  }
  std::vector<int> order(axes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return axes[a] < axes[b]; });
  TypeT<D> out = c.in(0);
  std::vector<D> axes_in_order, from_in_order, to_in_order, step_in_order;
  for (int k : order) {
    ASSIGN_OR_RETURN(out.shape[axes[k]], RangeLength(c, c.in(0).shape[axes[k]],
                                                     from[k], to[k], step[k]));
    axes_in_order.push_back(D(axes[k]));
    from_in_order.push_back(from[k]);
    to_in_order.push_back(to[k]);
    step_in_order.push_back(step[k]);
  }
  c.SetAttr("axes", axes_in_order);
  c.SetAttr("from", from_in_order);
  c.SetAttr("to", to_in_order);
  c.SetAttr("step", step_in_order);
  return std::vector{out};
}

constexpr auto SliceElement = [](const auto& c) {
  return [&c, axes = c.Numbers("axes"), from = c.Ints("from"),
          step = c.Ints("step")](const auto& i) {
    auto at = i;
    for (size_t k = 0; k < axes.size(); ++k) {
      at[axes[k]] = from[k] + i[axes[k]] * step[k];
    }
    return c.At(0, at);
  };
};

// One range with ONNX's conventions resolved: negative bounds count from the
// end, and bounds outside the dimension move to its border.
struct Range {
  int64_t from, to, step;
  Range(int64_t n, int64_t start, int64_t end, int64_t stride) {
    const int64_t longest = std::max<int64_t>(n, 1);
    step = std::clamp(stride, -longest, longest);
    if (start < 0) start += n;
    if (end < 0) end += n;
    if (step < 0) {
      from = std::min(std::max<int64_t>(start, 0), n - 1);
      to = std::clamp<int64_t>(end, -1, from);
    } else {
      from = std::clamp<int64_t>(start, 0, n);
      to = std::clamp(end, from, std::max(from, n));
    }
  }
};

Imported FromSlice(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const std::vector<int64_t> shape = c.type(x).shape;
  const int64_t rank = static_cast<int64_t>(shape.size());
  ASSIGN_OR_RETURN(auto starts, c.AttrOrInput("starts", 1));
  ASSIGN_OR_RETURN(auto ends, c.AttrOrInput("ends", 2));
  ASSIGN_OR_RETURN(auto axes, c.AttrOrInput("axes", 3));
  ASSIGN_OR_RETURN(auto steps, c.AttrOrInput("steps", 4));
  if (!starts || !ends) return Invalid("Slice: starts or ends are missing");
  const size_t count = starts->size();
  if (!axes) {
    axes.emplace(count);
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (!steps) steps.emplace(count, 1);
  if (ends->size() != count || axes->size() != count ||
      steps->size() != count) {
    return Invalid("Slice: starts, ends, axes and steps differ in length");
  }
  std::vector<int64_t> kept, from, to, step;
  for (size_t k = 0; k < count; ++k) {
    int64_t axis = (*axes)[k];
    if (axis < -rank || axis >= rank) {
      return Invalid("Slice: axis ", axis, " is not in [-", rank, ", ", rank,
                     ")");
    }
    if (axis < 0) axis += rank;
    if ((*steps)[k] == 0) return Invalid("Slice: step of axis ", axis, " is 0");
    const Range r(shape[axis], (*starts)[k], (*ends)[k], (*steps)[k]);
    if (r.from == 0 && r.to == shape[axis] && r.step == 1) continue;
    kept.push_back(axis);
    from.push_back(r.from);
    to.push_back(r.to);
    step.push_back(r.step);
  }
  if (kept.empty()) return std::vector<Value>{x};
  return One(
      c.Add("slice", {x},
            {{"axes", kept}, {"from", from}, {"to", to}, {"step", step}}));
}

Exported ToSlice(OnnxExport& c) {
  const std::vector<int64_t> axes = c.attrs().Ints("axes");
  const std::vector<int64_t> step = c.attrs().Ints("step");
  std::vector<int64_t> to = c.attrs().Ints("to");
  const bool strided =
      std::any_of(step.begin(), step.end(), [](int64_t s) { return s != 1; });
  for (size_t k = 0; k < axes.size(); ++k) {
    // ONNX reads -1 as the last element; further out is before the first.
    if (to[k] < 0) to[k] = -c.in_type(0).shape[axes[k]] - 1;
  }
  if (c.opset() < 10) {
    if (strided) return Unsupported("Slice: no steps before opset 10");
    return c.Emit(
        "Slice", {c.In(0)},
        {{"starts", c.attrs().Ints("from")}, {"ends", to}, {"axes", axes}});
  }
  std::vector<std::string> in = {c.In(0), c.Ints(c.attrs().Ints("from")),
                                 c.Ints(to), c.Ints(axes)};
  if (strided) in.push_back(c.Ints(step));
  return c.Emit("Slice", in);
}

using List = std::vector<int64_t>;

}  // namespace

std::vector<OpDef> DefineSlice() {
  return {{
      .name = "slice",
      .inputs = Inputs({"x"}),
      .attrs = {AxesAttr("axes").Samples({List{0}, List{1}}),
                IntsAttr("from").Samples({List{0}, List{1}}),
                IntsAttr("to").Samples({List{1}, List{2}}),
                IntsAttr("step").Default(List{}).Samples({List{1}})},
      .infer = Infer([](auto& c) { return InferSlice(c); }),
      .element = Element(SliceElement),
      .axioms = {"slice(slice(x, axis=a, from=f, to=t), axis=a, from=g, to=h) "
                 "=> slice(x, axis=a, from=f + g, to=f + h)",
                 "slice(x, axis=a, from=0, to=end) => x"},
      .examples =
          {"slice([1 2 3 4], axes=[0], from=[1], to=[3]) = [2 3]",
           "slice([[1 2 3] [4 5 6]], axes=[-1 0], from=[0 1], to=[3 2], "
           "step=[2 1]) = [[4 6]]",
           "slice([1 2 3 4], axes=[0], from=[3], to=[-1], step=[-2]) = [4 2]",
           "slice([1 2], axes=[0], from=[1], to=[1]) = []"},
      .cases = {"slice(f32[4,5], axes=[0 1], from=[1 0], to=[3 5])",
                "slice(f16[2,7,3], axes=[1], from=[1], to=[6], step=[2])",
                "slice(i64[5], axes=[0], from=[4], to=[-1], step=[-1])",
                "slice(bool[3,3], axes=[-1], from=[2], to=[3])"},
      .onnx = {.from = {{"Slice", FromSlice}}, .to = ToSlice},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer
