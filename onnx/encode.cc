// Fields are written in the order of their numbers, as protobuf does; numbers
// in lists are not packed where the schema does not say so.
#include "onnx/encode.h"

#include <utility>

#include "onnx/wire.h"
#include "onnx_ml.pb.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

using onnx_pb::AttributeProto;
using onnx_pb::GraphProto;
using onnx_pb::NodeProto;
using onnx_pb::StringStringEntryProto;
using onnx_pb::TensorProto;
using onnx_pb::ValueInfoProto;

void PutTensorType(int32_t dtype, const std::vector<int64_t>& dims,
                   std::string* out) {
  for (int64_t d : dims) PutInt(TensorProto::kDimsFieldNumber, d, out);
  PutInt(TensorProto::kDataTypeFieldNumber, dtype, out);
}

std::string TensorMessage(const OnnxTensorRef& tensor) {
  std::string out;
  PutTensorType(tensor.dtype, tensor.dims, &out);
  for (const std::string& s : tensor.strings) {
    PutBytes(TensorProto::kStringDataFieldNumber, s, &out);
  }
  if (!tensor.name.empty()) {
    PutBytes(TensorProto::kNameFieldNumber, tensor.name, &out);
  }
  if (tensor.dtype != TensorProto::STRING) {
    PutBytes(TensorProto::kRawDataFieldNumber, tensor.bytes.view, &out);
  }
  return out;
}

// Appends an attribute's value and gives its type.
struct PutValue {
  std::string* out;

  int operator()(int64_t v) const {
    PutInt(AttributeProto::kIFieldNumber, v, out);
    return AttributeProto::INT;
  }
  int operator()(float v) const {
    PutFloat(AttributeProto::kFFieldNumber, v, out);
    return AttributeProto::FLOAT;
  }
  int operator()(const std::string& v) const {
    PutBytes(AttributeProto::kSFieldNumber, v, out);
    return AttributeProto::STRING;
  }
  int operator()(const std::vector<int64_t>& list) const {
    for (int64_t v : list) PutInt(AttributeProto::kIntsFieldNumber, v, out);
    return AttributeProto::INTS;
  }
  int operator()(const std::vector<float>& list) const {
    for (float v : list) PutFloat(AttributeProto::kFloatsFieldNumber, v, out);
    return AttributeProto::FLOATS;
  }
  int operator()(const std::vector<std::string>& list) const {
    for (const std::string& v : list) {
      PutBytes(AttributeProto::kStringsFieldNumber, v, out);
    }
    return AttributeProto::STRINGS;
  }
  int operator()(const OnnxTensorRef& v) const {
    PutBytes(AttributeProto::kTFieldNumber, TensorMessage(v), out);
    return AttributeProto::TENSOR;
  }
  int operator()(const OnnxOpaqueAttr& v) const { return v.type; }
};

std::string AttrMessage(const OnnxAttr& attr) {
  if (const auto* opaque = std::get_if<OnnxOpaqueAttr>(&attr.value)) {
    return std::string(opaque->wire.view);
  }
  std::string out;
  PutBytes(AttributeProto::kNameFieldNumber, attr.name, &out);
  const int type = std::visit(PutValue{&out}, attr.value);
  PutInt(AttributeProto::kTypeFieldNumber, type, &out);
  return out;
}

void PutPair(const std::string& key, const std::string& value,
             std::string* out) {
  std::string pair;
  PutBytes(StringStringEntryProto::kKeyFieldNumber, key, &pair);
  PutBytes(StringStringEntryProto::kValueFieldNumber, value, &pair);
  PutBytes(TensorProto::kExternalDataFieldNumber, pair, out);
}

bool HoldsData(int field) {
  switch (field) {
    case TensorProto::kRawDataFieldNumber:
    case TensorProto::kFloatDataFieldNumber:
    case TensorProto::kDoubleDataFieldNumber:
    case TensorProto::kInt32DataFieldNumber:
    case TensorProto::kInt64DataFieldNumber:
    case TensorProto::kUint64DataFieldNumber:
    case TensorProto::kExternalDataFieldNumber:
    case TensorProto::kDataLocationFieldNumber:
      return true;
    default:
      return false;
  }
}

// The message inside a field that was read before, so it is well-formed.
absl::string_view MessageOf(const SharedBytes& field) {
  absl::string_view message;
  absl::Status status =
      ForEachField(field.view, field.view.data(), [&](const Field& f) {
        message = f.payload;
        return absl::OkStatus();
      });
  Check(status.ok(), "an entry's bytes are a protobuf field");
  return message;
}

// Copies the fields of `message` for which `keep` holds.
template <class Keep>
void CopyFields(absl::string_view message, const Keep& keep, std::string* out) {
  absl::Status status =
      ForEachField(message, message.data(), [&](const Field& f) {
        if (keep(f.number)) out->append(f.whole.data(), f.whole.size());
        return absl::OkStatus();
      });
  Check(status.ok(), "an entry's bytes are a protobuf message");
}

// A short field of tag and payload.
std::string AsField(int number, absl::string_view payload) {
  std::string out;
  PutBytes(number, payload, &out);
  return out;
}

void SetDims(const std::vector<Dim>& dims, onnx_pb::TensorShapeProto* shape) {
  // Dimensions that stay keep what else is said about them.
  while (shape->dim_size() > static_cast<int>(dims.size())) {
    shape->mutable_dim()->RemoveLast();
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool old = static_cast<int>(i) < shape->dim_size();
    auto* dim = old ? shape->mutable_dim(i) : shape->add_dim();
    dim->clear_value();
    if (const auto* number = std::get_if<int64_t>(&dims[i])) {
      dim->set_dim_value(*number);
    } else if (const auto* name = std::get_if<std::string>(&dims[i])) {
      dim->set_dim_param(*name);
    }
  }
}

}  // namespace

std::string EncodeNode(const OnnxNode& node) {
  std::string out;
  for (const std::string& name : node.inputs) {
    PutBytes(NodeProto::kInputFieldNumber, name, &out);
  }
  for (const std::string& name : node.outputs) {
    PutBytes(NodeProto::kOutputFieldNumber, name, &out);
  }
  if (!node.name.empty())
    PutBytes(NodeProto::kNameFieldNumber, node.name, &out);
  PutBytes(NodeProto::kOpTypeFieldNumber, node.op_type, &out);
  for (const OnnxAttr& attr : node.attrs) {
    PutBytes(NodeProto::kAttributeFieldNumber, AttrMessage(attr), &out);
  }
  if (!node.domain.empty()) {
    PutBytes(NodeProto::kDomainFieldNumber, node.domain, &out);
  }
  if (!node.overload.empty()) {
    PutBytes(NodeProto::kOverloadFieldNumber, node.overload, &out);
  }
  return AsField(GraphProto::kNodeFieldNumber, out);
}

absl::StatusOr<Rope> TensorData(const TensorEntry& tensor) {
  Rope rope;
  if (tensor.place != TensorEntry::Place::kGenerated) {
    ASSIGN_OR_RETURN(SharedBytes bytes, TensorBytes(tensor));
    rope.Append(bytes);
    return rope;
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> size,
                   DataSize(tensor.dtype, tensor.dims));
  if (!size || !tensor.fill) {
    return Invalid("tensor '", tensor.name, "' cannot be generated");
  }
  rope.AppendGenerated(*size, tensor.fill);
  return rope;
}

absl::StatusOr<Rope> EncodeInitializer(const TensorEntry& tensor) {
  ASSIGN_OR_RETURN(Rope data, TensorData(tensor));
  std::string message;
  PutTensorType(tensor.dtype, tensor.dims, &message);
  PutBytes(TensorProto::kNameFieldNumber, tensor.name, &message);
  PutHeader(TensorProto::kRawDataFieldNumber, data.size(), &message);
  std::string header;
  PutHeader(GraphProto::kInitializerFieldNumber, message.size() + data.size(),
            &header);
  Rope rope;
  rope.AppendString(header + message);
  rope.Append(std::move(data));
  return rope;
}

absl::StatusOr<std::string> EncodeExternal(const TensorEntry& tensor,
                                           const ExternalRef& ref) {
  std::string message;
  if (tensor.raw.empty()) {
    PutTensorType(tensor.dtype, tensor.dims, &message);
    PutBytes(TensorProto::kNameFieldNumber, tensor.name, &message);
  } else {
    CopyFields(
        MessageOf(tensor.raw), [](int f) { return !HoldsData(f); }, &message);
  }
  PutPair("location", ref.location, &message);
  PutPair("offset", absl::StrCat(ref.offset), &message);
  PutPair("length", absl::StrCat(ref.length), &message);
  PutInt(TensorProto::kDataLocationFieldNumber, TensorProto::EXTERNAL,
         &message);
  return AsField(GraphProto::kInitializerFieldNumber, message);
}

std::string EncodeValue(const ValueEntry& value, int number) {
  ValueInfoProto proto;
  proto.set_name(value.name);
  if (value.elem_type != 0) {
    auto* type = proto.mutable_type()->mutable_tensor_type();
    type->set_elem_type(value.elem_type);
    if (value.dims) SetDims(*value.dims, type->mutable_shape());
  }
  return AsField(number, proto.SerializeAsString());
}

NodeEntry Rewired(const NodeEntry& entry, std::vector<std::string> inputs,
                  std::vector<std::string> outputs) {
  NodeEntry result = entry;
  result.node.inputs = std::move(inputs);
  result.node.outputs = std::move(outputs);
  if (entry.raw.empty()) return result;
  std::string message;
  for (const std::string& name : result.node.inputs) {
    PutBytes(NodeProto::kInputFieldNumber, name, &message);
  }
  for (const std::string& name : result.node.outputs) {
    PutBytes(NodeProto::kOutputFieldNumber, name, &message);
  }
  CopyFields(
      MessageOf(entry.raw),
      [](int f) {
        return f != NodeProto::kInputFieldNumber &&
               f != NodeProto::kOutputFieldNumber;
      },
      &message);
  result.raw = SharedBytes::Own(AsField(GraphProto::kNodeFieldNumber, message));
  return result;
}

absl::StatusOr<ValueEntry> WithDims(const ValueEntry& value,
                                    std::vector<Dim> dims) {
  if (value.elem_type == 0) {
    return Invalid("value '", value.name, "' is not a dense tensor");
  }
  ValueEntry result = value;
  result.dims = std::move(dims);
  if (value.raw.empty()) return result;
  int number = 0;
  ValueInfoProto proto;
  RETURN_IF_ERROR(
      ForEachField(value.raw.view, value.raw.view.data(), [&](const Field& f) {
        number = f.number;
        return proto.ParseFromArray(f.payload.data(), f.payload.size())
                   ? absl::OkStatus()
                   : Invalid("value '", value.name, "' cannot be parsed");
      }));
  SetDims(*result.dims,
          proto.mutable_type()->mutable_tensor_type()->mutable_shape());
  result.raw = SharedBytes::Own(AsField(number, proto.SerializeAsString()));
  return result;
}

}  // namespace isomer::onnx
