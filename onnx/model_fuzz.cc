// libFuzzer target for the model reader: any bytes give a model or an error. A
// model comes out byte for byte, and its tensors can be read.
#include <cstddef>
#include <cstdint>
#include <string>

#include "onnx/writer.h"
#include "ops/status.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace isomer;  // NOLINT: a file of one function
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<onnx::Model> model =
      onnx::ParseModel(SharedBytes::Own(bytes), "");
  if (!model.ok()) return 0;
  for (const onnx::TensorEntry& t : model->graph.initializers) {
    const bool readable = onnx::TensorRef(t).ok();
    Check(readable, "a tensor that was accepted can be read");
  }
  absl::StatusOr<std::string> same = onnx::SerializeModel(*model);
  Check(same.ok() && *same == bytes, "an untouched model is unchanged");

  for (onnx::NodeEntry& n : model->graph.nodes) n.raw = {};
  absl::StatusOr<std::string> rewritten = onnx::SerializeModel(*model);
  Check(rewritten.ok(), "an accepted model can be written");
  const bool again = onnx::ParseModel(SharedBytes::Own(*rewritten), "").ok();
  Check(again, "what was written can be read");
  return 0;
}
