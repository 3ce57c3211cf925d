// A program that embeds Isomer: makes a model faster, with a limit by count, so
// that the result is the same everywhere, and times it on a GPU if there is
// one.
//   embed_cpp IN.onnx OUT.onnx
#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "isomer/gpu.h"
#include "isomer/isomer.h"

namespace {

absl::Status Run(const std::string& in, const std::string& out) {
  absl::StatusOr<isomer::Graph> graph = isomer::Graph::FromOnnx(in);
  if (!graph.ok()) return graph.status();
  absl::StatusOr<isomer::OptimizeResult> r =
      graph->optimize({.target = "h200",
                       .time_limit = absl::InfiniteDuration(),
                       .expansions = 20});
  if (!r.ok()) return r.status();
  std::printf("%.1f us become %.1f us\n", r->before.time_us, r->after.time_us);
  absl::StatusOr<isomer::GpuModel> model = isomer::GpuModel::Load(r->graph);
  absl::StatusOr<double> us =
      model.ok() ? model->Time(100) : absl::StatusOr<double>(model.status());
  if (us.ok()) {
    std::printf("%.1f us on the GPU\n", *us);
  } else {
    std::printf("not timed: %s\n", std::string(us.status().message()).c_str());
  }
  return r->graph.ToOnnx(out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: embed_cpp IN.onnx OUT.onnx\n");
    return 2;
  }
  const absl::Status status = Run(argv[1], argv[2]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "embed_cpp: %s\n", status.ToString().c_str());
  return 1;
}
