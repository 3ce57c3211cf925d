// reshape(x, shape=[n ...]): the same elements in the same row-major order,
// counted in other dimensions. All sizes are explicit; the importer resolves
// ONNX's 0 and -1.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
D Product(const std::vector<D>& sizes) {
  D product(1);
  for (const D& size : sizes) product = product * size;
  return product;
}

template <class D>
Types<D> InferReshape(InferContext<D>& c) {
  TypeT<D> out = c.in(0);
  out.shape = c.Ints("shape");
  for (const D& size : out.shape) {
    RETURN_IF_ERROR(c.AtLeast(size, D(0), "a size is negative"));
  }
  RETURN_IF_ERROR(c.Equal(Product(c.in(0).shape), Product(out.shape),
                          "the numbers of elements differ"));
  return std::vector{out};
}

// Input dimensions [in, in_end) that hold the same elements as the output
// dimensions [out, out_end): both have the same product.
struct Group {
  size_t in, in_end, out, out_end;
};

// Cuts both shapes into the smallest groups with equal products, so that
// dimensions which a reshape leaves alone keep their index as it is.
template <class D>
std::vector<Group> Groups(const std::vector<D>& in, const std::vector<D>& out) {
  std::vector<D> in_product = {D(1)}, out_product = {D(1)};
  for (const D& d : in) in_product.push_back(in_product.back() * d);
  for (const D& d : out) out_product.push_back(out_product.back() * d);
  std::vector<Group> groups;
  size_t i = 0, o = 0;
  // The cut after (i, o) with the fewest dimensions; the very end always is
  // one, since the totals are equal.
  auto next = [&]() -> Group {
    if (i < in.size() && o < out.size() && in[i] == out[o]) {
      return {i, i + 1, o, o + 1};
    }
    for (size_t more = 1; i + o + more < in.size() + out.size(); ++more) {
      for (size_t k = 0; k <= more; ++k) {
        const size_t i_end = i + k, o_end = o + more - k;
        if (i_end > in.size() || o_end > out.size()) continue;
        if (in_product[i_end] == out_product[o_end]) {
          return {i, i_end, o, o_end};
        }
      }
    }
    return {i, in.size(), o, out.size()};
  };
  while (i < in.size() || o < out.size()) {
    groups.push_back(next());
    i = groups.back().in_end;
    o = groups.back().out_end;
  }
  return groups;
}

constexpr auto ReshapeElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  using Index = typename C::Index;
  std::vector<Index> in, out;
  for (int d = 0; d < c.rank(0); ++d) in.push_back(c.dim(0, d));
  for (int d = 0; d < c.out_rank(); ++d) out.push_back(c.out_dim(d));
  return [&c, in, out, groups = Groups(in, out)](const auto& i) {
    typename C::Indices at(in.size(), Index(0));
    for (const Group& g : groups) {
      Index linear(0);
      for (size_t d = g.out; d < g.out_end; ++d) {
        linear = linear * out[d] + i[d];
      }
      // The first dimension of a group takes the quotient that is left.
      for (size_t d = g.in_end; d-- > g.in;) {
        at[d] = d == g.in ? linear : Mod(linear, in[d]);
        if (d != g.in) linear = FloorDiv(linear, in[d]);
      }
    }
    return c.At(0, at);
  };
};

Imported FromReshape(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(auto given, c.AttrOrInput("shape", 1));
  if (!given) return Invalid("Reshape: the shape is missing");
  const std::vector<int64_t> from = c.type(x).shape;
  std::vector<int64_t> shape = *given;
  int64_t rest = NumElements(from), unknown = -1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && c.node().Int("allowzero") == 0) {
      if (d >= from.size()) {
        return Invalid("Reshape: size 0 at ", d, " has nothing to copy from ",
                       ShapeText(from));
      }
      shape[d] = from[d];
    }
    if (shape[d] == -1) {
      if (unknown >= 0) return Invalid("Reshape: two sizes are -1");
      unknown = static_cast<int64_t>(d);
    } else if (shape[d] != 0 && rest % shape[d] == 0) {
      rest /= shape[d];
    } else if (shape[d] != 0 || rest != 0) {
      return Invalid("Reshape: ", ShapeText(from), " does not become ",
                     ShapeText(*given));
    }
  }
  if (unknown >= 0) shape[unknown] = rest;
  return One(c.Reshape(x, shape));
}

Exported ToReshape(OnnxExport& c) {
  const std::vector<int64_t>& shape = c.attrs().Ints("shape");
  // A size of 0 means a copy of the input's unless allowzero is set.
  const std::vector<int64_t>& from = c.in_type(0).shape;
  bool zero = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    zero = zero || (shape[d] == 0 && (d >= from.size() || from[d] != 0));
  }
  if (!zero) return c.Emit("Reshape", {c.In(0), c.Ints(shape)});
  if (c.opset() < 14) {
    return Unsupported("Reshape: a size of 0 needs opset 14");
  }
  return c.Emit("Reshape", {c.In(0), c.Ints(shape)},
                {{"allowzero", int64_t{1}}});
}

}  // namespace

std::vector<OpDef> DefineReshape() {
  return {{
      .name = "reshape",
      .inputs = Inputs({"x"}),
      .attrs = {IntsAttr("shape")},
      .infer = Infer([](auto& c) { return InferReshape(c); }),
      .element = Element(ReshapeElement),
      .axioms = {"reshape(reshape(x, shape=s), shape=t) => "
                 "reshape(x, shape=t)"},
      .examples = {"reshape([[1 2 3] [4 5 6]], shape=[3 2]) = "
                   "[[1 2] [3 4] [5 6]]",
                   "reshape([[1 2] [3 4]], shape=[4]) = [1 2 3 4]",
                   "reshape([[7]], shape=[]) = 7",
                   "reshape([1 2 3 4], shape=[1 2 1 2]) = [[[[1 2]] [[3 4]]]]"},
      .cases = {"reshape(f32[2,3], shape=[3 2])",
                "reshape(f16[2,3,4], shape=[2 12])",
                "reshape(f32[4,6,5], shape=[2 2 3 2 5])",
                "reshape(i64[2,1,3], shape=[1 6])",
                "reshape(f32[], shape=[1 1])",
                "reshape(f32[0,3], shape=[5 0])"},
      .onnx = {.from = {{"Reshape", FromReshape}}, .to = ToReshape},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer
