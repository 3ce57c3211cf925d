// A program that embeds Isomer: reads an ONNX model, says what Isomer makes of
// it, and writes it back.
//   embed IN.onnx OUT.onnx
#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/writer.h"

namespace {

absl::Status Run(const std::string& in, const std::string& out) {
  absl::StatusOr<isomer::onnx::ImportedModel> imported =
      isomer::onnx::ImportFile(in);
  if (!imported.ok()) return imported.status();
  std::printf("%zu ONNX nodes are %d nodes of Isomer's graph\n",
              imported->groups.size(), imported->graph.size());
  absl::StatusOr<isomer::onnx::ExportedModel> exported =
      isomer::onnx::ExportModel(*imported, imported->graph);
  if (!exported.ok()) return exported.status();
  std::printf("%d nodes are written back as they came\n", exported->kept);
  return isomer::onnx::WriteModel(exported->model, out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: embed IN.onnx OUT.onnx\n");
    return 2;
  }
  absl::Status status = Run(argv[1], argv[2]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "embed: %s\n", status.ToString().c_str());
  return 1;
}
