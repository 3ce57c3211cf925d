// The outermost message. Everything below the graph is in graph_reader.
#include "onnx/model.h"

#include <set>

#include "onnx/graph_reader.h"
#include "onnx/mapped_file.h"
#include "onnx/scope.h"
#include "onnx/wire.h"
#include "onnx_ml.pb.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

using onnx_pb::FunctionProto;
using onnx_pb::GraphProto;
using onnx_pb::ModelProto;
using onnx_pb::OperatorSetIdProto;

absl::Status ReadOpset(absl::string_view message, const char* origin,
                       OpsetImport* opset) {
  return ForEachField(message, origin, [&](const Field& f) {
    switch (f.number) {
      case OperatorSetIdProto::kDomainFieldNumber:
        return Read(f, &opset->domain);
      case OperatorSetIdProto::kVersionFieldNumber:
        return Read(f, &opset->version);
      default:
        return absl::OkStatus();
    }
  });
}

// Reads a function into `function` and its body into `body`.
absl::Status ReadFunctionField(const Field& f, const Source& source,
                               FunctionEntry* function, GraphEntry* body) {
  switch (f.number) {
    case FunctionProto::kNameFieldNumber:
      return Read(f, &function->name);
    case FunctionProto::kDomainFieldNumber:
      return Read(f, &function->domain);
    case FunctionProto::kOverloadFieldNumber:
      return Read(f, &function->overload);
    case FunctionProto::kInputFieldNumber:
      return Read(f, &body->inputs.emplace_back().name);
    case FunctionProto::kOutputFieldNumber:
      return Read(f, &body->outputs.emplace_back().name);
    case FunctionProto::kNodeFieldNumber: {
      absl::string_view message;
      RETURN_IF_ERROR(ReadMessage(f, &message));
      ASSIGN_OR_RETURN(NodeEntry node,
                       ReadNode(message, body->nodes.size(), source));
      body->nodes.push_back(std::move(node));
      return absl::OkStatus();
    }
    default:
      return absl::OkStatus();
  }
}

absl::Status ReadFunction(absl::string_view message, const Source& source,
                          Model* model, std::set<std::string>* external) {
  FunctionEntry function;
  GraphEntry body;
  absl::Status status =
      ForEachField(message, source.origin(), [&](const Field& f) {
        return ReadFunctionField(f, source, &function, &body);
      });
  if (status.ok()) status = CheckClosed(body);
  for (const FunctionEntry& other : model->functions) {
    if (status.ok() && other.name == function.name &&
        other.domain == function.domain &&
        other.overload == function.overload) {
      status = Invalid("is defined twice");
    }
  }
  if (!status.ok()) {
    return Prefixed(absl::StrCat("function '", function.name, "': "), status);
  }
  for (const NodeEntry& n : body.nodes) {
    external->insert(n.external.begin(), n.external.end());
  }
  model->functions.push_back(std::move(function));
  return absl::OkStatus();
}

absl::Status ReadPlainField(const Field& f, const char* origin, Model* model) {
  absl::string_view message;
  switch (f.number) {
    case ModelProto::kIrVersionFieldNumber:
      return Read(f, &model->ir_version);
    case ModelProto::kProducerNameFieldNumber:
      return Read(f, &model->producer_name);
    case ModelProto::kProducerVersionFieldNumber:
      return Read(f, &model->producer_version);
    case ModelProto::kDomainFieldNumber:
      return Read(f, &model->domain);
    case ModelProto::kModelVersionFieldNumber:
      return Read(f, &model->model_version);
    case ModelProto::kOpsetImportFieldNumber:
      RETURN_IF_ERROR(ReadMessage(f, &message));
      return ReadOpset(message, origin, &model->opsets.emplace_back());
    case ModelProto::kMetadataPropsFieldNumber:
      RETURN_IF_ERROR(ReadMessage(f, &message));
      return ReadPair(message, origin, &model->metadata.emplace_back());
    default:
      return absl::OkStatus();
  }
}

absl::Status ReadFields(const Source& source, Model* model) {
  bool has_graph = false;
  std::set<std::string> external;
  RETURN_IF_ERROR(
      ForEachField(source.file.view, source.origin(), [&](const Field& f) {
        absl::string_view message;
        model->layout.push_back({f.number, source.file.Part(f.whole)});
        if (f.number == ModelProto::kGraphFieldNumber) {
          RETURN_IF_ERROR(ReadMessage(f, &message));
          if (has_graph) return Invalid("has two graphs");
          has_graph = true;
          ASSIGN_OR_RETURN(model->graph, ReadGraph(message, source));
          return absl::OkStatus();
        }
        if (f.number == ModelProto::kFunctionsFieldNumber) {
          RETURN_IF_ERROR(ReadMessage(f, &message));
          return ReadFunction(message, source, model, &external);
        }
        return ReadPlainField(f, source.origin(), model);
      }));
  model->function_external.assign(external.begin(), external.end());
  if (!has_graph) return Invalid("has no graph: not an ONNX model");
  if (model->ir_version <= 0) return Invalid("has no IR version");
  // Before IR version 3 there were no opsets to import.
  if (model->ir_version >= 3 && model->opsets.empty()) {
    return Invalid("imports no opset");
  }
  return CheckClosed(model->graph);
}

absl::Status CheckNewTensor(const TensorEntry& tensor) {
  if (!tensor.raw.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::optional<int64_t> size,
                   DataSize(tensor.dtype, tensor.dims));
  const int64_t found = tensor.data.view.size();
  if (tensor.place != TensorEntry::Place::kBytes || !size || found == *size) {
    return absl::OkStatus();
  }
  return Invalid("data has ", found, " bytes, but the shape needs ", *size);
}

}  // namespace

int64_t Model::OpsetVersion(absl::string_view domain) const {
  const auto canonical = [](absl::string_view d) {
    return d == "ai.onnx" ? absl::string_view() : d;
  };
  for (const OpsetImport& opset : opsets) {
    if (canonical(opset.domain) == canonical(domain)) return opset.version;
  }
  return 0;
}

absl::StatusOr<Model> ParseModel(SharedBytes bytes, const std::string& path) {
  const std::string prefix = absl::StrCat(path.empty() ? "model" : path, ": ");
  if (static_cast<int64_t>(bytes.view.size()) > kMaxModelBytes) {
    return Invalid(prefix, "has ", bytes.view.size(),
                   " bytes, but a protobuf file ends at 2 GB; larger models "
                   "keep their weights as external data");
  }
  if (bytes.empty()) return Invalid(prefix, "is empty");
  Model model;
  model.path = path;
  model.file = bytes;
  ExternalFiles external(path);
  const Source source{bytes, &external, 0};
  if (absl::Status status = ReadFields(source, &model); !status.ok()) {
    return Prefixed(prefix, status);
  }
  return model;
}

absl::StatusOr<Model> ReadModel(const std::string& path) {
  ASSIGN_OR_RETURN(SharedBytes bytes, MapFile(path));
  return ParseModel(std::move(bytes), path);
}

absl::StatusOr<Model> NewModel(int64_t ir_version,
                               const std::vector<OpsetImport>& opsets,
                               const std::string& graph_name) {
  std::string bytes;
  PutInt(ModelProto::kIrVersionFieldNumber, ir_version, &bytes);
  std::string graph;
  PutBytes(GraphProto::kNameFieldNumber, graph_name, &graph);
  PutBytes(ModelProto::kGraphFieldNumber, graph, &bytes);
  for (const OpsetImport& opset : opsets) {
    std::string message;
    PutBytes(OperatorSetIdProto::kDomainFieldNumber, opset.domain, &message);
    PutInt(OperatorSetIdProto::kVersionFieldNumber, opset.version, &message);
    PutBytes(ModelProto::kOpsetImportFieldNumber, message, &bytes);
  }
  return ParseModel(SharedBytes::Own(std::move(bytes)), "");
}

void AddInitializer(TensorEntry tensor, Model* model) {
  if (model->ir_version < 4) {
    ValueEntry input;
    input.name = tensor.name;
    input.elem_type = tensor.dtype;
    input.dims.emplace(tensor.dims.begin(), tensor.dims.end());
    model->graph.inputs.push_back(std::move(input));
  }
  model->graph.initializers.push_back(std::move(tensor));
}

absl::Status CheckModel(const Model& model) {
  for (const TensorEntry& tensor : model.graph.initializers) {
    if (absl::Status status = CheckNewTensor(tensor); !status.ok()) {
      return Prefixed(absl::StrCat("initializer '", tensor.name, "': "),
                      status);
    }
  }
  return CheckClosed(model.graph);
}

}  // namespace isomer::onnx
