// isomer convert: import and export, nothing else.
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/writer.h"
#include "ops/status.h"
#include "tools/json.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

absl::StatusOr<int> Convert(const Args& args) {
  const std::string& in = args.positionals()[0];
  const std::string& out = args.positionals()[1];
  ASSIGN_OR_RETURN(onnx::ImportOptions options, ImportOptionsFrom(args));
  ASSIGN_OR_RETURN(onnx::ImportedModel model, onnx::ImportFile(in, options));
  ASSIGN_OR_RETURN(
      onnx::ExportedModel exported,
      onnx::ExportModel(model, model.graph, {.rebuild = args.Has("rebuild")}));
  RETURN_IF_ERROR(onnx::WriteModel(exported.model, out));
  int opaque = 0;
  for (const onnx::Group& g : model.groups) opaque += !g.opaque_reason.empty();
  if (args.Has("json")) {
    Json report = Json::Object();
    report.Set("nodes", static_cast<int64_t>(model.groups.size()))
        .Set("opaque", opaque)
        .Set("kept", exported.kept)
        .Set("made", exported.made);
    absl::PrintF("%s\n", report.ToString());
  } else {
    absl::PrintF(
        "%s: %d nodes, %d of them opaque; %d written back "
        "verbatim, %d anew\n",
        out, model.groups.size(), opaque, exported.kept, exported.made);
  }
  return 0;
}

}  // namespace

Verb ConvertVerb() {
  std::vector<Flag> flags = ShapeFlags();
  flags.push_back({"rebuild", "",
                   "write every modelled node anew, as if it were rewritten"});
  flags.push_back({"json", "", "print the counts as JSON"});
  return {"convert",
          "import a model and export it again, unchanged",
          "Reads a model into Isomer's graph and writes it back. What no "
          "rewrite touches is\nwritten verbatim, so OUT computes exactly what "
          "MODEL computes.",
          {"MODEL", "OUT"},
          flags,
          Convert};
}

}  // namespace isomer::cli
