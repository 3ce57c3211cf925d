// Parameters, and stores of results.
#include "cuda/kernel.h"

#include "absl/strings/str_cat.h"
#include "cuda/preamble.h"

namespace isomer::cuda {

namespace {

// "const float* in0, float* out0"
std::string Parameters(const KernelFrame& frame) {
  std::string text;
  for (const Operand& o : frame.inputs) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", "const ",
                    StorageType(o.place.dtype), "* ", o.place.pointer);
  }
  for (const Operand& o : frame.outputs) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", StorageType(o.place.dtype),
                    "* ", o.place.pointer);
  }
  return text;
}

}  // namespace

std::string KernelText(const KernelFrame& frame, absl::string_view body) {
  return absl::StrCat(
      "#define ISO_LANES ", frame.lanes, "\n", Preamble(), frame.helpers,
      "extern \"C\" __global__ void __launch_bounds__(", frame.threads,
      frame.blocks > 0 ? absl::StrCat(", ", frame.blocks) : "", ") ", kEntry,
      "(", Parameters(frame), ") {\n  iso_release();\n", body, "}\n");
}

std::string StoreElements(const Place& place,
                          const std::vector<std::string>& values,
                          const std::vector<DimExpr>& offsets,
                          const ElementCode& code) {
  const int width = static_cast<int>(values.size());
  const std::string type(StorageType(place.dtype));
  bool together = width > 1 && width * ByteSize(place.dtype) <= 16;
  const Polynomial& first = offsets[0].polynomial();
  for (const Monomial& m : first.monomials()) {
    together = together && m.coefficient.num() % width == 0;
  }
  together = together && first.constant_term().num() % width == 0;
  for (int u = 0; u < width; ++u) {
    together = together && offsets[u] == offsets[0] + DimExpr(u);
  }
  std::string text;
  if (together) {
    absl::StrAppend(&text, "iso_pack<", type, ", ", width, "> pack;\n");
  }
  for (int u = 0; u < width; ++u) {
    absl::StrAppend(
        &text,
        together ? absl::StrCat("pack.at[", u, "]")
                 : absl::StrCat(place.pointer, "[", code.Text(offsets[u]), "]"),
        " = iso_store_as<", type, ">(", values[u], ");\n");
  }
  if (together) {
    absl::StrAppend(&text, "iso_store_pack<", type, ", ", width, ">(",
                    place.pointer, " + ", code.Text(offsets[0]), ", pack);\n");
  }
  return text;
}

}  // namespace isomer::cuda
