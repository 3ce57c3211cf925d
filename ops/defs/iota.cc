// iota(shape=[...], axis=a, dtype=t): each element is its own index along
// dimension a. ONNX's Range is an iota, scaled and shifted.
#include <cmath>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

// Tensors up to this size leave as initializers.
constexpr int64_t kInitializer = 1024;

template <class D>
Types<D> InferIota(InferContext<D>& c) {
  TypeT<D> out{c.attrs().Type("dtype"), c.Ints("shape")};
  if (out.dtype == DType::kBool) return c.Fail("dtype must be numeric");
  for (const D& d : out.shape) {
    RETURN_IF_ERROR(c.AtLeast(d, D(0), "a size is negative"));
  }
  RETURN_IF_ERROR(c.Axis("axis", out.rank()).status());
  return std::vector{out};
}

// Range(start, limit, delta), all known: delta * iota + start.
Imported FromRange(OnnxImport& c) {
  double bound[3];
  DType dtype = DType::kF32;
  for (int k = 0; k < 3; ++k) {
    std::optional<Tensor> t = c.Known(k);
    if (!t || t->size() != 1) {
      return Unsupported("Range: input ", k, " must be known");
    }
    dtype = t->type.dtype;
    bound[k] = ToDoubles(*t)[0];
  }
  const auto [start, limit, delta] = bound;
  if (delta == 0) return Invalid("Range: delta is 0");
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  if (!(count < 0x1p31)) return Unsupported("Range: ", count, " elements");
  const std::vector<int64_t> shape = {static_cast<int64_t>(count)};
  ASSIGN_OR_RETURN(
      Value out,
      c.Add("iota", {},
            {{"shape", shape}, {"axis", int64_t{0}}, {"dtype", dtype}}));
  auto apply = [&](absl::string_view op, double by) -> absl::Status {
    ASSIGN_OR_RETURN(Value v, c.Scalar(dtype, by));
    ASSIGN_OR_RETURN(v, c.BroadcastTo(v, shape));
    ASSIGN_OR_RETURN(out, c.Add(op, {out, v}));
    return absl::OkStatus();
  };
  if (delta != 1) RETURN_IF_ERROR(apply("mul", delta));
  if (start != 0) RETURN_IF_ERROR(apply("add", start));
  return One(out);
}

Tensor IotaTensor(const TensorType& type, int axis) {
  const int64_t n = NumElements(type), size = type.shape[axis];
  const int64_t stride = Strides(type.shape)[axis];
  std::vector<int64_t> values(n);
  for (int64_t at = 0; at < n; ++at) values[at] = at / stride % size;
  if (!IsFloat(type.dtype)) return FromInts(type, values);
  return FromDoubles(type, std::vector<double>(values.begin(), values.end()));
}

bool HasRange(DType t) {
  return t == DType::kF32 || t == DType::kF64 || t == DType::kI16 ||
         t == DType::kI32 || t == DType::kI64;
}

// Large tensors leave as a Range that is expanded.
Exported ToIota(OnnxExport& c) {
  const TensorType& type = c.out_type(0);
  const int axis = static_cast<int>(c.attrs().Int("axis"));
  if (NumElements(type) <= kInitializer || c.opset() < 11 ||
      !HasRange(type.dtype)) {
    return std::vector<std::string>{c.Constant(IotaTensor(type, axis))};
  }
  const double size = static_cast<double>(type.shape[axis]);
  std::vector<std::string> out =
      c.Emit("Range", {c.Scalar(type.dtype, 0), c.Scalar(type.dtype, size),
                       c.Scalar(type.dtype, 1)});
  if (type.rank() == 1) return out;
  std::vector<int64_t> ones(type.rank(), 1);
  ones[axis] = type.shape[axis];
  out = c.Emit("Reshape", {out[0], c.Ints(ones)});
  return c.Emit("Expand", {out[0], c.Ints(type.shape)});
}

}  // namespace

std::vector<OpDef> DefineIota() {
  return {{
      .name = "iota",
      .inputs = Inputs({}),
      .attrs = {IntsAttr("shape").Samples({std::vector<int64_t>{2, 3}}),
                AxisAttr("axis").Samples({0, 1}),
                DTypeAttr("dtype").Default(DType::kF32)},
      .infer = Infer([](auto& c) { return InferIota(c); }),
      .element = Element([](const auto& c) {
        const int axis = static_cast<int>(c.Number("axis"));
        return [&c, axis](const auto& i) { return c.FromIndex(i[axis]); };
      }),
      .examples = {"iota(shape=[2 3], axis=1) = [[0 1 2] [0 1 2]]",
                   "iota(shape=[2 2], axis=-2, dtype=i64) = "
                   "[[0 0] [1 1]]:i64"},
      .cases = {"iota(shape=[4], axis=0, dtype=f16)",
                "iota(shape=[2 3 2], axis=1, dtype=i32)",
                "iota(shape=[2 600], axis=1)"},
      .onnx = {.from = {{"Range", FromRange}}, .to = ToIota},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer
