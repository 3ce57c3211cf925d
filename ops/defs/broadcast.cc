// broadcast(x, shape=[n ...], dims=[d ...]): x repeated along new dimensions.
// Output dimension d[i] is input dimension i; all others are new:
//
//   broadcast(b, shape=[2 3], dims=[1])   one row b[3] becomes two
//
// It never stretches a dimension of size 1: the importer reshapes such
// dimensions away first.
#include <algorithm>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferBroadcast(InferContext<D>& c) {
  TypeT<D> out = c.in(0);
  out.shape = c.Ints("shape");
  ASSIGN_OR_RETURN(const std::vector<int> dims,
                   c.Axes("dims", out.rank(), /*sorted=*/false));
  if (static_cast<int>(dims.size()) != c.in(0).rank()) {
    return c.Fail("dims must have one entry per dimension of the input");
  }
  if (!std::is_sorted(dims.begin(), dims.end())) {
    return c.Fail("dims must increase");
  }
  for (const D& size : out.shape) {
    RETURN_IF_ERROR(c.AtLeast(size, D(0), "a size is negative"));
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    RETURN_IF_ERROR(
        c.Equal(c.in(0).shape[d], out.shape[dims[d]],
                absl::StrCat("input dimension ", d, " differs from output ",
                             "dimension ", dims[d])));
  }
  return std::vector{out};
}

constexpr auto BroadcastElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  return [&c, dims = c.Numbers("dims")](const auto& i) {
    typename C::Indices at;
    for (int64_t d : dims) at.push_back(i[d]);
    return c.At(0, at);
  };
};

// ONNX aligns trailing dimensions and stretches those of size 1.
Exported ToBroadcast(OnnxExport& c) {
  if (c.opset() < 8) return Unsupported("Expand: needs opset 8");
  const std::vector<int64_t>& shape = c.attrs().Ints("shape");
  const std::vector<int64_t>& dims = c.attrs().Ints("dims");
  std::vector<int64_t> ones;
  for (size_t d = dims.empty() ? shape.size() : dims[0]; d < shape.size();
       ++d) {
    const bool kept = std::binary_search(dims.begin(), dims.end(), d);
    ones.push_back(kept ? shape[d] : 1);
  }
  std::string x = c.In(0);
  if (ones.size() != dims.size()) {
    x = c.Emit("Reshape", {x, c.Ints(ones)})[0];
  }
  return c.Emit("Expand", {x, c.Ints(shape)});
}

using List = std::vector<int64_t>;

}  // namespace

std::vector<OpDef> DefineBroadcast() {
  return {{
      .name = "broadcast",
      .inputs = Inputs({"x"}),
      .attrs = {IntsAttr("shape"),
                AxesAttr("dims").Samples({List{0}, List{1}, List{}})},
      .infer = Infer([](auto& c) { return InferBroadcast(c); }),
      .element = Element(BroadcastElement),
      .examples = {"broadcast([1 2 3], shape=[2 3], dims=[1]) = "
                   "[[1 2 3] [1 2 3]]",
                   "broadcast([1 2], shape=[2 3], dims=[0]) = "
                   "[[1 1 1] [2 2 2]]",
                   "broadcast(4, shape=[2], dims=[]) = [4 4]",
                   "broadcast([[1] [2]], shape=[2 2 1], dims=[0 -1]) = "
                   "[[[1] [1]] [[2] [2]]]"},
      .cases = {"broadcast(f32[3], shape=[2 3], dims=[1])",
                "broadcast(f16[3], shape=[2 3 4 4], dims=[1])",
                "broadcast(i64[2,3], shape=[2 5 3], dims=[0 2])",
                "broadcast(bool[], shape=[2 2], dims=[])",
                "broadcast(f32[2], shape=[2], dims=[0])"},
      .onnx = {.to = ToBroadcast},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer
