// Helpers that many ONNX mappings share.
#include "ops/onnx_mapping.h"

#include <algorithm>

#include "ops/status.h"

namespace isomer {

absl::StatusOr<std::vector<Value>> OnnxImport::AllIn() {
  std::vector<Value> values;
  for (int i = 0; i < static_cast<int>(node().inputs.size()); ++i) {
    ASSIGN_OR_RETURN(Value v, In(i));
    values.push_back(v);
  }
  return values;
}

absl::StatusOr<std::vector<int64_t>> OnnxImport::KnownInts(int i) {
  std::optional<Tensor> t = Known(i);
  if (!t) {
    return Unsupported(node().op_type, ": input ", i,
                       " is computed at run time; its value must be known");
  }
  if (auto* v = std::get_if<std::vector<int64_t>>(&t->data)) return *v;
  return Unsupported(node().op_type, ": input ", i, " has type ",
                     TypeText(t->type), "; expected integers");
}

absl::StatusOr<std::optional<std::vector<int64_t>>> OnnxImport::AttrOrInput(
    absl::string_view name, int i) {
  if (node().Has(name)) {
    return std::optional<std::vector<int64_t>>(node().Ints(name));
  }
  if (!Has(i)) return std::optional<std::vector<int64_t>>();
  ASSIGN_OR_RETURN(std::vector<int64_t> values, KnownInts(i));
  return std::optional<std::vector<int64_t>>(std::move(values));
}

absl::StatusOr<Value> OnnxImport::BroadcastTo(Value v,
                                              std::vector<int64_t> shape) {
  const std::vector<int64_t> from = type(v).shape;
  if (from == shape) return v;
  const int skip =
      static_cast<int>(shape.size()) - static_cast<int>(from.size());
  // Dimensions of size 1 that are stretched go away; the others keep a place.
  std::vector<int64_t> kept, dims;
  for (int d = 0; d < static_cast<int>(from.size()); ++d) {
    if (d + skip < 0 || (from[d] != shape[d + skip] && from[d] != 1)) {
      return Invalid(node().op_type, ": ", ShapeText(from),
                     " does not broadcast to ", ShapeText(shape));
    }
    if (from[d] != shape[d + skip]) continue;
    kept.push_back(from[d]);
    dims.push_back(d + skip);
  }
  ASSIGN_OR_RETURN(v, Reshape(v, kept));
  return Add("broadcast", {v}, {{"shape", shape}, {"dims", dims}});
}

absl::StatusOr<std::vector<Value>> OnnxImport::Broadcast(
    std::vector<Value> values) {
  std::vector<std::vector<int64_t>> shapes;
  for (Value v : values) shapes.push_back(type(v).shape);
  ASSIGN_OR_RETURN(std::vector<int64_t> shape, BroadcastShape(shapes));
  for (Value& v : values) {
    ASSIGN_OR_RETURN(v, BroadcastTo(v, shape));
  }
  return values;
}

absl::StatusOr<Value> OnnxImport::Scalar(DType dtype, double value) {
  TensorType type{dtype, {}};
  if (IsFloat(dtype)) return Constant(FromDoubles(type, {value}));
  return Constant(FromInts(type, {static_cast<int64_t>(value)}));
}

std::vector<std::string> OnnxExport::AllIn() {
  std::vector<std::string> names;
  for (int i = 0; i < size(); ++i) names.push_back(In(i));
  return names;
}

std::string OnnxExport::Ints(absl::Span<const int64_t> values) {
  return Constant(
      FromInts({DType::kI64, {static_cast<int64_t>(values.size())}}, values));
}

std::string OnnxExport::Scalar(DType dtype, double value) {
  TensorType type{dtype, {}};
  return Constant(IsFloat(dtype)
                      ? FromDoubles(type, {value})
                      : FromInts(type, {static_cast<int64_t>(value)}));
}

std::vector<std::string> OnnxExport::EmitWithAxes(
    absl::string_view op_type, std::vector<std::string> inputs,
    absl::string_view name, std::vector<int64_t> axes, int since,
    std::vector<OnnxAttr> attrs) {
  if (opset() >= since) {
    inputs.push_back(Ints(axes));
  } else {
    attrs.push_back({std::string(name), std::move(axes)});
  }
  return Emit(op_type, std::move(inputs), std::move(attrs));
}

namespace {

struct DTypeRow {
  DType dtype;
  int32_t onnx;
};
constexpr DTypeRow kDTypes[] = {
    {DType::kF32, 1},  {DType::kU8, 2},   {DType::kI8, 3},   {DType::kU16, 4},
    {DType::kI16, 5},  {DType::kI32, 6},  {DType::kI64, 7},  {DType::kBool, 9},
    {DType::kF16, 10}, {DType::kF64, 11}, {DType::kU32, 12}, {DType::kU64, 13},
    {DType::kBF16, 16}};

}  // namespace

int32_t OnnxDType(DType dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype) return row.onnx;
  }
  return 0;
}

absl::StatusOr<DType> FromOnnxDType(int32_t dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.onnx == dtype) return row.dtype;
  }
  return Unsupported("element type ", dtype, " of ONNX is not modelled");
}

absl::StatusOr<std::vector<int64_t>> BroadcastShape(
    absl::Span<const std::vector<int64_t>> shapes) {
  size_t rank = 0;
  for (const auto& s : shapes) rank = std::max(rank, s.size());
  std::vector<int64_t> out(rank, 1);
  for (const auto& s : shapes) {
    for (size_t d = 0; d < s.size(); ++d) {
      int64_t& o = out[rank - s.size() + d];
      if (o != s[d] && o != 1 && s[d] != 1) {
        return Invalid("shapes do not broadcast: ", ShapeText(shapes[0]),
                       " and ", ShapeText(s));
      }
      if (o == 1) o = s[d];
    }
  }
  return out;
}

}  // namespace isomer
