// matmul(x, y): the product of the last two dimensions, batched over the ones
// before. A right operand of rank 2 serves any left rank (a linear layer), so
// weights are never broadcast.
//
//   x [..., m, k] times y [..., k, n]  or  y [k, n]   gives [..., m, n]
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferMatmul(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Numeric(0));
  RETURN_IF_ERROR(c.SameDType(0, 1));
  RETURN_IF_ERROR(c.RankAtLeast(0, 2));
  RETURN_IF_ERROR(c.RankAtLeast(1, 2));
  const TypeT<D>&x = c.in(0), &y = c.in(1);
  if (y.rank() != 2 && y.rank() != x.rank()) {
    return c.Fail("the right operand must have rank 2 or that of the left");
  }
  const int r = x.rank();
  RETURN_IF_ERROR(c.Equal(x.shape[r - 1], y.shape[y.rank() - 2],
                          "inner dimensions differ"));
  if (y.rank() > 2) {
    for (int d = 0; d < r - 2; ++d) {
      RETURN_IF_ERROR(c.Equal(x.shape[d], y.shape[d],
                              absl::StrCat("batch dimension ", d, " differs")));
    }
  }
  TypeT<D> out = x;
  out.shape[r - 1] = y.shape[y.rank() - 1];
  return std::vector{out};
}

constexpr auto MatmulElement = [](const auto& c) {
  const bool batched = c.rank(1) > 2;
  const int r = c.rank(0);
  return [&c, batched, r, inner = c.dim(0, r - 1)](const auto& i) {
    auto x = i, y = i;
    if (!batched) y.erase(y.begin(), y.end() - 2);
    const int column = static_cast<int>(y.size()) - 1;
    return c.Dot(
        {inner},
        [&](const auto& k) {
          x[r - 1] = k[0];
          return c.At(0, x);
        },
        [&](const auto& k) {
          y[column - 1] = k[0];
          return c.At(1, y);
        });
  };
};

// ONNX's MatMul also takes vectors and broadcasts batch dimensions.
Imported FromMatMul(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(Value y, c.In(1));
  std::vector<int64_t> xs = c.type(x).shape, ys = c.type(y).shape;
  if (xs.empty() || ys.empty())
    return Invalid("MatMul: an operand is a scalar");
  const bool row = xs.size() == 1, column = ys.size() == 1;
  if (row) xs.insert(xs.begin(), 1);
  if (column) ys.push_back(1);
  std::vector<int64_t> x_batch(xs.begin(), xs.end() - 2);
  std::vector<int64_t> y_batch(ys.begin(), ys.end() - 2);
  ASSIGN_OR_RETURN(std::vector<int64_t> batch,
                   BroadcastShape({x_batch, y_batch}));
  auto with_batch = [&](std::vector<int64_t> shape) {
    std::vector<int64_t> out = batch;
    out.insert(out.end(), shape.end() - 2, shape.end());
    return out;
  };
  ASSIGN_OR_RETURN(x, c.Reshape(x, xs));
  ASSIGN_OR_RETURN(y, c.Reshape(y, ys));
  ASSIGN_OR_RETURN(x, c.BroadcastTo(x, with_batch(xs)));
  if (ys.size() > 2) {
    ASSIGN_OR_RETURN(y, c.BroadcastTo(y, with_batch(ys)));
  }
  ASSIGN_OR_RETURN(Value out, c.Add("matmul", {x, y}));
  std::vector<int64_t> shape = c.type(out).shape;
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return One(c.Reshape(out, shape));
}

// A product of two matrices with a bias along the columns is a Gemm.
std::optional<int64_t> BiasDim(absl::Span<const TensorType> in) {
  if (in[0].rank() != 2 || in[1].rank() != 2) return std::nullopt;
  return 1;
}

Exported ToMatMul(OnnxExport& c) {
  return c.Emit(c.size() == 3 ? "Gemm" : "MatMul", c.AllIn());
}

}  // namespace

std::vector<OpDef> DefineMatmul() {
  return {{
      .name = "matmul",
      .inputs = Inputs({"x", "y"}),
      .infer = Infer([](auto& c) { return InferMatmul(c); }),
      .element = Element(MatmulElement),
      .axioms = {"matmul(x, matmul(y, z)) <=> matmul(matmul(x, y), z)"},
      .examples = {"matmul([[1 2] [3 4]], [[1 0] [1 1]]) = [[3 2] [7 4]]",
                   "matmul([[[1 2]] [[3 4]]], [[1] [2]]) = [[[5]] [[11]]]"},
      .cases = {"matmul(f32[2,3], f32[3,4])", "matmul(f16[2,2,3], f16[3,2])",
                "matmul(f32[2,3,2], f32[2,2,3])"},
      .onnx = {.from = {{"MatMul", FromMatMul}},
               .to = ToMatMul,
               .broadcasts = true,
               .own_dims = 2,
               .bias_dim = BiasDim},
      .flops =
          [](absl::Span<const TensorType> in, absl::Span<const TensorType> out,
             const Attrs&) {
            return 2 * NumElements(out[0]) * in[0].shape.back();
          },
  }};
}

}  // namespace isomer
