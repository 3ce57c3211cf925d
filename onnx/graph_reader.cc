// One function per message of the schema. Field numbers come from the schema;
// fields it does not know are kept as bytes by whoever contains them.
#include "onnx/graph_reader.h"

#include <set>

#include "onnx/scope.h"
#include "onnx_ml.pb.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

using onnx_pb::AttributeProto;
using onnx_pb::GraphProto;
using onnx_pb::NodeProto;
using onnx_pb::SparseTensorProto;
using onnx_pb::StringStringEntryProto;
using onnx_pb::TensorAnnotation;
using onnx_pb::TensorShapeProto;
using onnx_pb::TypeProto;
using onnx_pb::ValueInfoProto;
using Dimension = onnx_pb::TensorShapeProto_Dimension;
using TensorTypeProto = onnx_pb::TypeProto_Tensor;

// Protobuf itself stops at 100 nested messages; a graph in a graph takes three.
constexpr int kMaxDepth = 32;

// What an AttributeProto holds. A field that is absent has its default.
struct AttrFields {
  std::string name;
  int32_t type = AttributeProto::UNDEFINED;
  bool refers = false;  // to an attribute of the function around it
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::optional<absl::string_view> t;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::vector<absl::string_view> tensors, sparse_tensors, graphs;
  int value_field = 0;  // the last value field seen
};

absl::Status ReadAttrField(const Field& f, AttrFields* a) {
  switch (f.number) {
    case AttributeProto::kNameFieldNumber:
      return Read(f, &a->name);
    case AttributeProto::kTypeFieldNumber:
      return Read(f, &a->type);
    case AttributeProto::kRefAttrNameFieldNumber:
      a->refers = !f.payload.empty();
      return absl::OkStatus();
    case AttributeProto::kDocStringFieldNumber:
      return absl::OkStatus();
    default:
      a->value_field = f.number;
  }
  switch (f.number) {
    case AttributeProto::kFFieldNumber:
      return Read(f, &a->f);
    case AttributeProto::kIFieldNumber:
      return Read(f, &a->i);
    case AttributeProto::kSFieldNumber:
      return Read(f, &a->s);
    case AttributeProto::kTFieldNumber:
      return ReadMessage(f, &a->t.emplace());
    case AttributeProto::kFloatsFieldNumber:
      return ReadRepeated(f, &a->floats);
    case AttributeProto::kIntsFieldNumber:
      return ReadRepeated(f, &a->ints);
    case AttributeProto::kStringsFieldNumber:
      return Read(f, &a->strings.emplace_back());
    case AttributeProto::kTensorsFieldNumber:
      return ReadMessage(f, &a->tensors.emplace_back());
    case AttributeProto::kSparseTensorFieldNumber:
    case AttributeProto::kSparseTensorsFieldNumber:
      return ReadMessage(f, &a->sparse_tensors.emplace_back());
    case AttributeProto::kGFieldNumber:
    case AttributeProto::kGraphsFieldNumber:
      return ReadMessage(f, &a->graphs.emplace_back());
    default:
      return absl::OkStatus();
  }
}

// Models from before attributes had a type say it by the field they use.
int32_t TypeOfField(int field) {
  switch (field) {
    case AttributeProto::kFFieldNumber:
      return AttributeProto::FLOAT;
    case AttributeProto::kIFieldNumber:
      return AttributeProto::INT;
    case AttributeProto::kSFieldNumber:
      return AttributeProto::STRING;
    case AttributeProto::kTFieldNumber:
      return AttributeProto::TENSOR;
    case AttributeProto::kFloatsFieldNumber:
      return AttributeProto::FLOATS;
    case AttributeProto::kIntsFieldNumber:
      return AttributeProto::INTS;
    case AttributeProto::kStringsFieldNumber:
      return AttributeProto::STRINGS;
    default:
      return AttributeProto::UNDEFINED;
  }
}

// What is collected over all attributes of a node.
struct Uses {
  std::set<std::string> captured;
  std::set<std::string> external;

  void AddExternal(const TensorEntry& tensor) {
    if (tensor.external) external.insert(tensor.external->location);
  }
};

absl::StatusOr<SparseEntry> ReadSparse(absl::string_view message,
                                       const Source& source) {
  SparseEntry entry;
  RETURN_IF_ERROR(ForEachField(message, source.origin(), [&](const Field& f) {
    absl::string_view part;
    switch (f.number) {
      case SparseTensorProto::kDimsFieldNumber:
        return ReadRepeated(f, &entry.dims);
      case SparseTensorProto::kValuesFieldNumber:
      case SparseTensorProto::kIndicesFieldNumber: {
        RETURN_IF_ERROR(ReadMessage(f, &part));
        ASSIGN_OR_RETURN(TensorEntry tensor,
                         ReadTensor(source.file.Part(part), source.origin(),
                                    source.external));
        (f.number == SparseTensorProto::kValuesFieldNumber ? entry.values
                                                           : entry.indices) =
            std::move(tensor);
        return absl::OkStatus();
      }
      default:
        return absl::OkStatus();
    }
  }));
  RETURN_IF_ERROR(ElementCount(entry.dims).status());
  return entry;
}

// Checks the parts of an attribute that stay opaque, and collects their uses.
absl::Status ReadOpaqueParts(const AttrFields& a, const Source& source,
                             Uses* uses) {
  for (absl::string_view message : a.tensors) {
    ASSIGN_OR_RETURN(TensorEntry tensor,
                     ReadTensor(source.file.Part(message), source.origin(),
                                source.external));
    uses->AddExternal(tensor);
  }
  for (absl::string_view message : a.sparse_tensors) {
    ASSIGN_OR_RETURN(SparseEntry sparse, ReadSparse(message, source));
    uses->AddExternal(sparse.values);
    uses->AddExternal(sparse.indices);
  }
  if (a.graphs.empty()) return absl::OkStatus();
  if (source.depth >= kMaxDepth) {
    return Invalid("graphs are nested more than ", kMaxDepth, " deep");
  }
  Source inner = source;
  ++inner.depth;
  for (absl::string_view message : a.graphs) {
    ASSIGN_OR_RETURN(GraphEntry graph, ReadGraph(message, inner));
    ASSIGN_OR_RETURN(std::vector<FreeName> free, FreeNames(graph));
    for (FreeName& f : free) uses->captured.insert(std::move(f.name));
    for (const TensorEntry& t : graph.initializers) uses->AddExternal(t);
    for (const NodeEntry& n : graph.nodes) {
      uses->external.insert(n.external.begin(), n.external.end());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<OnnxAttr::Value> AttrValue(AttrFields& a,
                                          absl::string_view message,
                                          const Source& source, Uses* uses) {
  if (a.type == AttributeProto::UNDEFINED) a.type = TypeOfField(a.value_field);
  if (!a.refers) {
    switch (a.type) {
      case AttributeProto::FLOAT:
        return a.f;
      case AttributeProto::INT:
        return a.i;
      case AttributeProto::STRING:
        return std::move(a.s);
      case AttributeProto::FLOATS:
        return std::move(a.floats);
      case AttributeProto::INTS:
        return std::move(a.ints);
      case AttributeProto::STRINGS:
        return std::move(a.strings);
      case AttributeProto::TENSOR: {
        if (!a.t) return Invalid("is a tensor, but holds none");
        ASSIGN_OR_RETURN(TensorEntry tensor,
                         ReadTensor(source.file.Part(*a.t), source.origin(),
                                    source.external));
        uses->AddExternal(tensor);
        return TensorRef(tensor);
      }
      default:
        break;
    }
  }
  RETURN_IF_ERROR(ReadOpaqueParts(a, source, uses));
  return OnnxOpaqueAttr{a.type, source.file.Part(message)};
}

absl::StatusOr<OnnxAttr> ReadAttr(absl::string_view message,
                                  const Source& source, Uses* uses) {
  AttrFields fields;
  RETURN_IF_ERROR(ForEachField(message, source.origin(), [&](const Field& f) {
    return ReadAttrField(f, &fields);
  }));
  absl::StatusOr<OnnxAttr::Value> value =
      AttrValue(fields, message, source, uses);
  if (!value.ok()) {
    return Prefixed(absl::StrCat("attribute '", fields.name, "': "),
                    value.status());
  }
  return OnnxAttr{std::move(fields.name), *std::move(value)};
}

absl::Status ReadNodeField(const Field& f, const Source& source, OnnxNode* node,
                           Uses* uses) {
  switch (f.number) {
    case NodeProto::kInputFieldNumber:
      return Read(f, &node->inputs.emplace_back());
    case NodeProto::kOutputFieldNumber:
      return Read(f, &node->outputs.emplace_back());
    case NodeProto::kNameFieldNumber:
      return Read(f, &node->name);
    case NodeProto::kOpTypeFieldNumber:
      return Read(f, &node->op_type);
    case NodeProto::kDomainFieldNumber:
      return Read(f, &node->domain);
    case NodeProto::kOverloadFieldNumber:
      return Read(f, &node->overload);
    case NodeProto::kAttributeFieldNumber: {
      absl::string_view message;
      RETURN_IF_ERROR(ReadMessage(f, &message));
      ASSIGN_OR_RETURN(OnnxAttr attr, ReadAttr(message, source, uses));
      if (node->Has(attr.name)) {
        return Invalid("attribute '", attr.name, "' is given twice");
      }
      node->attrs.push_back(std::move(attr));
      return absl::OkStatus();
    }
    default:
      return absl::OkStatus();
  }
}

absl::Status ReadDim(absl::string_view message, const Source& source,
                     Dim* dim) {
  return ForEachField(message, source.origin(), [&](const Field& f) {
    if (f.number == Dimension::kDimValueFieldNumber) {
      int64_t value = 0;
      RETURN_IF_ERROR(Read(f, &value));
      // Exporters write -1 for a dimension they do not know.
      *dim = value >= 0 ? Dim(value) : Dim();
    } else if (f.number == Dimension::kDimParamFieldNumber) {
      std::string name;
      RETURN_IF_ERROR(Read(f, &name));
      *dim = name.empty() ? Dim() : Dim(std::move(name));
    }
    return absl::OkStatus();
  });
}

absl::Status ReadTensorType(absl::string_view message, const Source& source,
                            ValueEntry* value) {
  return ForEachField(message, source.origin(), [&](const Field& f) {
    if (f.number == TensorTypeProto::kElemTypeFieldNumber) {
      return Read(f, &value->elem_type);
    }
    if (f.number != TensorTypeProto::kShapeFieldNumber) return absl::OkStatus();
    absl::string_view shape;
    RETURN_IF_ERROR(ReadMessage(f, &shape));
    value->dims.emplace();
    return ForEachField(shape, source.origin(), [&](const Field& d) {
      if (d.number != TensorShapeProto::kDimFieldNumber) {
        return absl::OkStatus();
      }
      absl::string_view dim;
      RETURN_IF_ERROR(ReadMessage(d, &dim));
      return ReadDim(dim, source, &value->dims->emplace_back());
    });
  });
}

absl::StatusOr<ValueEntry> ReadValue(absl::string_view message,
                                     const Source& source) {
  ValueEntry value;
  RETURN_IF_ERROR(ForEachField(message, source.origin(), [&](const Field& f) {
    if (f.number == ValueInfoProto::kNameFieldNumber) {
      return Read(f, &value.name);
    }
    if (f.number != ValueInfoProto::kTypeFieldNumber) {
      return absl::OkStatus();
    }
    absl::string_view type;
    RETURN_IF_ERROR(ReadMessage(f, &type));
    return ForEachField(type, source.origin(), [&](const Field& t) {
      if (t.number != TypeProto::kTensorTypeFieldNumber) {
        return absl::OkStatus();
      }
      absl::string_view tensor;
      RETURN_IF_ERROR(ReadMessage(t, &tensor));
      return ReadTensorType(tensor, source, &value);
    });
  }));
  return value;
}

absl::StatusOr<AnnotationEntry> ReadAnnotation(absl::string_view message,
                                               const Source& source) {
  AnnotationEntry entry;
  RETURN_IF_ERROR(ForEachField(message, source.origin(), [&](const Field& f) {
    if (f.number == TensorAnnotation::kTensorNameFieldNumber) {
      return Read(f, &entry.tensor_name);
    }
    if (f.number != TensorAnnotation::kQuantParameterTensorNamesFieldNumber) {
      return absl::OkStatus();
    }
    absl::string_view pair;
    RETURN_IF_ERROR(ReadMessage(f, &pair));
    return ForEachField(pair, source.origin(), [&](const Field& p) {
      if (p.number != StringStringEntryProto::kValueFieldNumber) {
        return absl::OkStatus();
      }
      return Read(p, &entry.parameters.emplace_back());
    });
  }));
  return entry;
}

// Appends what was read of `field` to its list.
template <class Entry>
absl::Status Append(const Field& field, absl::StatusOr<Entry> entry,
                    const Source& source, std::vector<Entry>* list) {
  if (!entry.ok()) return entry.status();
  entry->raw = source.file.Part(field.whole);
  entry->order = static_cast<int>(list->size());
  list->push_back(*std::move(entry));
  return absl::OkStatus();
}

bool IsListed(int field) {
  switch (field) {
    case GraphProto::kNodeFieldNumber:
    case GraphProto::kInitializerFieldNumber:
    case GraphProto::kSparseInitializerFieldNumber:
    case GraphProto::kInputFieldNumber:
    case GraphProto::kOutputFieldNumber:
    case GraphProto::kValueInfoFieldNumber:
    case GraphProto::kQuantizationAnnotationFieldNumber:
      return true;
    default:
      return false;
  }
}

// Reads a field of one of the lists.
absl::Status ReadListed(const Field& f, const Source& source,
                        GraphEntry* graph) {
  absl::string_view m;
  RETURN_IF_ERROR(ReadMessage(f, &m));
  switch (f.number) {
    case GraphProto::kNodeFieldNumber:
      return Append(f, ReadNode(m, graph->nodes.size(), source), source,
                    &graph->nodes);
    case GraphProto::kInitializerFieldNumber:
      return Append(
          f, ReadTensor(source.file.Part(m), source.origin(), source.external),
          source, &graph->initializers);
    case GraphProto::kSparseInitializerFieldNumber:
      return Append(f, ReadSparse(m, source), source,
                    &graph->sparse_initializers);
    case GraphProto::kInputFieldNumber:
      return Append(f, ReadValue(m, source), source, &graph->inputs);
    case GraphProto::kOutputFieldNumber:
      return Append(f, ReadValue(m, source), source, &graph->outputs);
    case GraphProto::kValueInfoFieldNumber:
      return Append(f, ReadValue(m, source), source, &graph->value_infos);
    default:
      return Append(f, ReadAnnotation(m, source), source, &graph->annotations);
  }
}

}  // namespace

absl::StatusOr<NodeEntry> ReadNode(absl::string_view message, int64_t position,
                                   const Source& source) {
  NodeEntry entry;
  Uses uses;
  absl::Status status =
      ForEachField(message, source.origin(), [&](const Field& f) {
        return ReadNodeField(f, source, &entry.node, &uses);
      });
  if (status.ok() && entry.node.op_type.empty()) {
    status = Invalid("has no op_type");
  }
  if (!status.ok()) {
    return Prefixed(absl::StrCat(NodeText(entry.node, position), ": "), status);
  }
  entry.captured.assign(uses.captured.begin(), uses.captured.end());
  entry.external.assign(uses.external.begin(), uses.external.end());
  return entry;
}

absl::StatusOr<GraphEntry> ReadGraph(absl::string_view message,
                                     const Source& source) {
  GraphEntry graph;
  graph.message = source.file.Part(message);
  RETURN_IF_ERROR(ForEachField(message, source.origin(), [&](const Field& f) {
    if (f.number == GraphProto::kNameFieldNumber) {
      RETURN_IF_ERROR(Read(f, &graph.name));
    }
    if (IsListed(f.number)) {
      graph.layout.push_back({f.number, {}});
      return ReadListed(f, source, &graph);
    }
    graph.layout.push_back({f.number, source.file.Part(f.whole)});
    return absl::OkStatus();
  }));
  return graph;
}

}  // namespace isomer::onnx
