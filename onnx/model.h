// A model file as a value: everything a ModelProto holds, read without
// protobuf objects. Tensor data stays in the mapped file; whatever is not
// edited is written back byte for byte (writer.h). Reading checks the whole
// model, so what has been read is well-formed: encoding, names, order, tensors.
#ifndef ISOMER_ONNX_MODEL_H_
#define ISOMER_ONNX_MODEL_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "onnx/graph_entry.h"
#include "ops/onnx_node.h"

namespace isomer::onnx {

// Protobuf's limit for one message, and so for a model file.
inline constexpr int64_t kMaxModelBytes = (int64_t{1} << 31) - 1;

struct OpsetImport {
  std::string domain;
  int64_t version = 0;
};

// A function that the model itself defines; nodes call it by its name.
struct FunctionEntry {
  std::string name;
  std::string domain;
  std::string overload;
};

struct Model {
  std::string path;  // where it was read; "" if it never was a file
  SharedBytes file;
  int64_t ir_version = 0;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  int64_t model_version = 0;
  std::vector<OpsetImport> opsets;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<FunctionEntry> functions;
  // External files that tensors inside functions lie in; sorted.
  std::vector<std::string> function_external;
  GraphEntry graph;
  // The fields of the ModelProto in file order; the graph's slot holds its
  // original bytes.
  std::vector<Slot> layout;

  // The version of a domain's operators, or 0 if the model does not import it.
  // "" and "ai.onnx" are the same domain.
  int64_t OpsetVersion(absl::string_view domain) const;
};

// Reads and checks a model file. Errors name the file, the node and the reason.
absl::StatusOr<Model> ReadModel(const std::string& path);

// The same for bytes in memory. External data is looked for beside `path`; if
// that is empty, there is none.
absl::StatusOr<Model> ParseModel(SharedBytes bytes, const std::string& path);

// A model with an empty graph, to be filled.
absl::StatusOr<Model> NewModel(int64_t ir_version,
                               const std::vector<OpsetImport>& opsets,
                               const std::string& graph_name);

// Appends an initializer. Before IR version 4 each one had to be a graph input
// too, and so it becomes one.
void AddInitializer(TensorEntry tensor, Model* model);

// Checks the names and the order of an edited model, and that the data of new
// tensors matches their shapes.
absl::Status CheckModel(const Model& model);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_MODEL_H_
