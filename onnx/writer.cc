// The model file is planned as a rope first, so its size is known before
// anything is written. Lists are merged into the file's field order: at the
// n-th field of a kind, the list is written up to its entry of order n.
#include "onnx/writer.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "onnx/encode.h"
#include "onnx/mapped_file.h"
#include "onnx/output_file.h"
#include "onnx/rope.h"
#include "onnx/wire.h"
#include "onnx_ml.pb.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

namespace fs = std::filesystem;
using onnx_pb::GraphProto;
using onnx_pb::ModelProto;

// Smaller tensors stay in the model: shapes and scalars have to be there for
// tools that do not load external data.
constexpr int64_t kMinExternalBytes = 1024;
// Pages, so that readers can map each tensor.
constexpr int64_t kAlignment = 4096;

// A data file in the making: what will be in it, and its name.
struct DataFile {
  std::string location;
  Rope rope;
};

// Moves the tensor's data to the end of `data` if it is large enough, and
// gives the field that refers to it; else the field as it would be anyway.
absl::StatusOr<Rope> InitializerField(const TensorEntry& tensor,
                                      DataFile* data) {
  Rope field;
  const bool strings = tensor.place == TensorEntry::Place::kStrings;
  const bool stays_external = tensor.external && !tensor.raw.empty();
  if (data != nullptr && !strings && !stays_external) {
    ASSIGN_OR_RETURN(Rope bytes, TensorData(tensor));
    if (bytes.size() >= kMinExternalBytes) {
      const int64_t padding = -data->rope.size() & (kAlignment - 1);
      data->rope.AppendString(std::string(padding, '\0'));
      const ExternalRef ref{data->location, data->rope.size(), bytes.size()};
      data->rope.Append(std::move(bytes));
      ASSIGN_OR_RETURN(std::string encoded, EncodeExternal(tensor, ref));
      field.AppendString(std::move(encoded));
      return field;
    }
  }
  if (tensor.raw.empty()) return EncodeInitializer(tensor);
  field.Append(tensor.raw);
  return field;
}

// One of the graph's lists on its way into the file.
class ListWriter {
 public:
  using Encode = std::function<absl::StatusOr<Rope>(size_t index)>;

  ListWriter(std::vector<int> orders, Encode encode)
      : size_(orders.size()), encode_(std::move(encode)) {
    for (size_t i = 0; i < size_; ++i) index_of_.emplace(orders[i], i);
  }
  void CountSlot() { ++slots_; }

  // Writes what belongs at the list's next slot in the file's order.
  absl::Status WriteSlot(Rope* out) {
    const int order = seen_++;
    if (seen_ == slots_) return WriteUpTo(size_, out);
    const auto it = index_of_.find(order);
    return it == index_of_.end() ? absl::OkStatus()
                                 : WriteUpTo(it->second + 1, out);
  }
  absl::Status WriteRest(Rope* out) { return WriteUpTo(size_, out); }

 private:
  absl::Status WriteUpTo(size_t end, Rope* out) {
    for (; next_ < end; ++next_) {
      ASSIGN_OR_RETURN(Rope field, encode_(next_));
      out->Append(std::move(field));
    }
    return absl::OkStatus();
  }

  size_t size_;
  Encode encode_;
  std::map<int, size_t> index_of_;  // by order
  size_t next_ = 0;
  int slots_ = 0, seen_ = 0;
};

// A writer for `list`; `encode_new` gives the field of an entry without bytes.
template <class Entry, class EncodeNew>
ListWriter MakeListWriter(const std::vector<Entry>& list,
                          const EncodeNew& encode_new) {
  std::vector<int> orders;
  for (const Entry& entry : list) orders.push_back(entry.order);
  return ListWriter(std::move(orders),
                    [&list, encode_new](size_t i) -> absl::StatusOr<Rope> {
                      if (list[i].raw.empty()) return encode_new(list[i]);
                      Rope rope;
                      rope.Append(list[i].raw);
                      return rope;
                    });
}

absl::StatusOr<Rope> FromString(std::string bytes) {
  Rope rope;
  rope.AppendString(std::move(bytes));
  return rope;
}

// The graph's lists by field number; a map, because lists that the file does
// not have yet follow in this order.
std::map<int, ListWriter> ListsOf(const GraphEntry& graph, DataFile* data) {
  const auto value_list = [](const std::vector<ValueEntry>& list, int number) {
    return MakeListWriter(list, [number](const ValueEntry& value) {
      return FromString(EncodeValue(value, number));
    });
  };
  std::vector<int> orders;
  for (const TensorEntry& t : graph.initializers) orders.push_back(t.order);
  std::map<int, ListWriter> lists;
  lists.emplace(GraphProto::kNodeFieldNumber,
                MakeListWriter(graph.nodes, [](const NodeEntry& entry) {
                  return FromString(EncodeNode(entry.node));
                }));
  lists.emplace(GraphProto::kInitializerFieldNumber,
                ListWriter(std::move(orders), [&graph, data](size_t i) {
                  return InitializerField(graph.initializers[i], data);
                }));
  lists.emplace(GraphProto::kInputFieldNumber,
                value_list(graph.inputs, GraphProto::kInputFieldNumber));
  lists.emplace(GraphProto::kOutputFieldNumber,
                value_list(graph.outputs, GraphProto::kOutputFieldNumber));
  lists.emplace(
      GraphProto::kValueInfoFieldNumber,
      value_list(graph.value_infos, GraphProto::kValueInfoFieldNumber));
  lists.emplace(
      GraphProto::kSparseInitializerFieldNumber,
      MakeListWriter(graph.sparse_initializers,
                     [](const SparseEntry& e) -> absl::StatusOr<Rope> {
                       return Invalid("sparse initializer '", e.values.name,
                                      "' has lost its bytes");
                     }));
  lists.emplace(
      GraphProto::kQuantizationAnnotationFieldNumber,
      MakeListWriter(graph.annotations,
                     [](const AnnotationEntry& e) -> absl::StatusOr<Rope> {
                       return Invalid("annotation of '", e.tensor_name,
                                      "' has lost its bytes");
                     }));
  return lists;
}

absl::StatusOr<Rope> PlanGraph(const GraphEntry& graph, DataFile* data) {
  std::map<int, ListWriter> lists = ListsOf(graph, data);
  for (const Slot& slot : graph.layout) {
    if (slot.raw.empty()) lists.at(slot.field).CountSlot();
  }
  Rope rope;
  for (const Slot& slot : graph.layout) {
    if (slot.raw.empty()) {
      RETURN_IF_ERROR(lists.at(slot.field).WriteSlot(&rope));
    } else {
      rope.Append(slot.raw);
    }
  }
  for (auto& [field, list] : lists) RETURN_IF_ERROR(list.WriteRest(&rope));
  return rope;
}

// The whole model file. With `data`, large initializers go there.
absl::StatusOr<Rope> PlanModel(const Model& model, DataFile* data) {
  Rope rope;
  for (const Slot& slot : model.layout) {
    if (slot.field != ModelProto::kGraphFieldNumber) {
      rope.Append(slot.raw);
      continue;
    }
    ASSIGN_OR_RETURN(Rope graph, PlanGraph(model.graph, data));
    if (graph.IsExactly(model.graph.message)) {
      rope.Append(slot.raw);
      continue;
    }
    std::string header;
    PutHeader(slot.field, graph.size(), &header);
    rope.AppendString(std::move(header));
    rope.Append(std::move(graph));
  }
  return rope;
}

// The external files that the written model refers to.
std::set<std::string> ExternalLocations(const Model& model) {
  std::set<std::string> locations(model.function_external.begin(),
                                  model.function_external.end());
  const auto add = [&](const TensorEntry& t) {
    if (t.external) locations.insert(t.external->location);
  };
  for (const NodeEntry& n : model.graph.nodes) {
    locations.insert(n.external.begin(), n.external.end());
  }
  for (const TensorEntry& t : model.graph.initializers) {
    if (!t.raw.empty()) add(t);
  }
  for (const SparseEntry& s : model.graph.sparse_initializers) {
    add(s.values);
    add(s.indices);
  }
  return locations;
}

using Outputs = std::vector<std::unique_ptr<OutputFile>>;

// Writes `rope` beside `path`; it takes its place when `outputs` are committed.
absl::Status WriteRope(const Rope& rope, const std::string& path,
                       Outputs* outputs) {
  ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(path));
  RETURN_IF_ERROR(rope.ForEachPiece(
      [&](absl::string_view bytes) { return file->Write(bytes); }));
  RETURN_IF_ERROR(file->Finish());
  outputs->push_back(std::move(file));
  return absl::OkStatus();
}

absl::Status CopyExternal(const Model& model, const std::string& location,
                          const std::string& folder, Outputs* outputs) {
  ASSIGN_OR_RETURN(SharedBytes bytes, ExternalFiles(model.path).Open(location));
  const fs::path target = fs::path(folder) / location;
  std::error_code error;
  if (fs::exists(target, error)) {
    ASSIGN_OR_RETURN(SharedBytes there, MapFile(target.string()));
    if (there.view == bytes.view) return absl::OkStatus();
    return Invalid(target.string(),
                   ": holds other data than the model's external file of this "
                   "name; remove it or write to another folder");
  }
  fs::create_directories(target.parent_path(), error);
  if (error) return Invalid(target.string(), ": ", error.message());
  Rope rope;
  rope.Append(bytes);
  return WriteRope(rope, target.string(), outputs);
}

// A name for the data file that no tensor refers to already.
std::string DataLocation(const std::string& path,
                         const std::set<std::string>& taken) {
  const std::string base = fs::path(path).filename().string() + ".data";
  std::string name = base;
  for (int i = 1; taken.contains(name); ++i) name = absl::StrCat(base, i);
  return name;
}

}  // namespace

absl::Status WriteModel(const Model& model, const std::string& path,
                        const WriteOptions& options) {
  if (absl::Status status = CheckModel(model); !status.ok()) {
    return Prefixed(absl::StrCat(path, ": "), status);
  }
  const std::string folder = FolderOf(path);
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return absl::NotFoundError(
        absl::StrCat(path, ": there is no folder '", folder, "'"));
  }
  const std::set<std::string> external = ExternalLocations(model);
  DataFile data{DataLocation(path, external), {}};
  ASSIGN_OR_RETURN(Rope rope, PlanModel(model, nullptr));
  if (rope.size() > options.max_model_bytes) {
    ASSIGN_OR_RETURN(rope, PlanModel(model, &data));
  }
  if (rope.size() > options.max_model_bytes) {
    return Invalid(path, ": needs ", rope.size(), " bytes without its weights,",
                   " but a model file ends at ", options.max_model_bytes);
  }
  Outputs outputs;
  if (!external.empty() &&
      !fs::equivalent(folder, FolderOf(model.path), error)) {
    for (const std::string& location : external) {
      RETURN_IF_ERROR(CopyExternal(model, location, folder, &outputs));
    }
  }
  if (data.rope.size() > 0) {
    const fs::path data_path = fs::path(folder) / data.location;
    RETURN_IF_ERROR(WriteRope(data.rope, data_path.string(), &outputs));
  }
  RETURN_IF_ERROR(WriteRope(rope, path, &outputs));
  for (const auto& output : outputs) RETURN_IF_ERROR(output->Commit());
  return absl::OkStatus();
}

absl::StatusOr<std::string> SerializeModel(const Model& model) {
  RETURN_IF_ERROR(CheckModel(model));
  ASSIGN_OR_RETURN(Rope rope, PlanModel(model, nullptr));
  if (rope.size() > kMaxModelBytes) {
    return Invalid("the model needs ", rope.size(),
                   " bytes, but a protobuf message ends at 2 GB");
  }
  std::string bytes;
  bytes.reserve(rope.size());
  RETURN_IF_ERROR(rope.ForEachPiece([&](absl::string_view piece) {
    bytes.append(piece.data(), piece.size());
    return absl::OkStatus();
  }));
  return bytes;
}

}  // namespace isomer::onnx
