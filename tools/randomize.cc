// isomer randomize: real weights for a light model.
#include "onnx/randomize.h"

#include "absl/strings/str_format.h"
#include "onnx/model.h"
#include "onnx/writer.h"
#include "ops/status.h"
#include "tools/json.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

absl::StatusOr<int> RandomizeModel(const Args& args) {
  ASSIGN_OR_RETURN(int64_t seed, args.Int("seed", 0, 0, INT64_MAX));
  ASSIGN_OR_RETURN(onnx::Model model, onnx::ReadModel(args.positionals()[0]));
  ASSIGN_OR_RETURN(onnx::RandomizeResult r,
                   onnx::Randomize(static_cast<uint64_t>(seed), &model));
  RETURN_IF_ERROR(onnx::WriteModel(model, args.positionals()[1]));
  if (args.Has("json")) {
    Json report = Json::Object();
    report.Set("tensors", r.tensors).Set("bytes", r.bytes).Set("seed", seed);
    absl::PrintF("%s\n", report.ToString());
  } else {
    absl::PrintF("%s: %d tensors, %.1f MB of random weights, seed %d\n",
                 args.positionals()[1], r.tensors,
                 static_cast<double>(r.bytes) / 1e6, seed);
  }
  return 0;
}

}  // namespace

Verb RandomizeVerb() {
  return {"randomize",
          "give a light model seeded random weights",
          "The bundled models are light: large weights are ConstantOfShape "
          "nodes, all equal,\nwhich hides wrong rewrites. This replaces them "
          "by random initializers; the same\nseed gives the same bytes on any "
          "machine.",
          {"MODEL", "OUT"},
          {{"seed", "N", "which random weights (default 0)"},
           {"json", "", "print the counts as JSON"}},
          RandomizeModel};
}

}  // namespace isomer::cli
