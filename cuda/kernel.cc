// Parameters, and stores of results.
#include "cuda/kernel.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cuda/preamble.h"

namespace isomer::cuda {

namespace {

// "const __grid_constant__ iso_map map0, const float* in0, float* out0"
std::string Parameters(const KernelFrame& frame) {
  std::string text;
  for (int i = 0; i < frame.maps; ++i) {
    absl::StrAppend(&text, text.empty() ? "" : ", ",
                    "const __grid_constant__ iso_map map", i);
  }
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

std::string Ahead(const KernelFrame& frame) {
  std::string text;
  for (const Operand& o : frame.inputs) {
    if (o.ahead_bytes == 0) continue;
    absl::StrAppend(&text, "  iso_ahead(", o.place.pointer, ", ", o.ahead_bytes,
                    ");\n");
  }
  return text;
}

}  // namespace

std::string KernelText(const KernelFrame& frame, absl::string_view body) {
  return absl::StrCat(
      "#define ISO_LANES ", frame.lanes, "\n", Preamble(), frame.helpers,
      "extern \"C\" __global__ void __launch_bounds__(", frame.threads,
      frame.blocks > 0 ? absl::StrCat(", ", frame.blocks) : "", ") ", kEntry,
      "(", Parameters(frame), ") {\n  iso_note(0);\n",
      frame.releases ? "" : "  iso_release();\n", Ahead(frame), body,
      "  iso_note(2);\n}\n");
}

bool IsUniform(const Place& place) {
  return absl::c_all_of(place.stride, [](int64_t s) { return s == 0; });
}

std::string WaitText(const std::vector<Operand>& inputs, ElementCode& code) {
  std::string before, after;
  for (const Operand& o : inputs) {
    if (!IsUniform(o.place)) continue;
    const std::string name = absl::StrCat(o.place.pointer, "_all");
    absl::StrAppend(o.there ? &before : &after, "const ",
                    ComputeType(o.place.dtype), " ", name, " = iso_value(",
                    o.place.pointer, "[", o.place.offset, "]);\n");
    code.BindAll(o.value, name);
  }
  return absl::StrCat(before, "iso_wait();\n", after);
}

std::string NotingText(const std::string& text, uint64_t address) {
  return absl::StrCat("#define ISO_NOTES ", address, "ULL\n", text);
}

std::string PackType(const Place& place, size_t count) {
  return absl::StrCat("iso_pack<", StorageType(place.dtype), ", ", count, ">");
}

std::string PackElements(const Place& place,
                         const std::vector<std::string>& values) {
  std::string text;
  for (size_t u = 0; u < values.size(); ++u) {
    absl::StrAppend(&text, "pack.at[", u, "] = iso_store_as<",
                    StorageType(place.dtype), ">(", values[u], ");\n");
  }
  return text;
}

std::string StorePack(const Place& place, const std::vector<DimExpr>& offsets,
                      const ElementCode& code, const PackPart& part) {
  const int width = static_cast<int>(offsets.size());
  bool together =
      width > 1 && width == part.of && width * ByteSize(place.dtype) <= 16;
  const Polynomial& first = offsets[0].polynomial();
  for (const Monomial& m : first.monomials()) {
    together = together && m.coefficient.num() % width == 0;
  }
  together = together && first.constant_term().num() % width == 0;
  for (int u = 0; u < width; ++u) {
    together = together && offsets[u] == offsets[0] + DimExpr(u);
  }
  if (together) {
    return absl::StrCat("iso_store_pack<", StorageType(place.dtype), ", ",
                        width, ">(", place.pointer, " + ",
                        code.Text(offsets[0]), ", pack);\n");
  }
  std::string text;
  for (int u = 0; u < width; ++u) {
    absl::StrAppend(&text, place.pointer, "[", code.Text(offsets[u]),
                    "] = pack.at[", part.from + u, "];\n");
  }
  return text;
}

std::string StoreElements(const Place& place,
                          const std::vector<std::string>& values,
                          const std::vector<DimExpr>& offsets,
                          const ElementCode& code) {
  return absl::StrCat(
      PackType(place, values.size()), " pack;\n", PackElements(place, values),
      StorePack(place, offsets, code, {0, static_cast<int>(values.size())}));
}

}  // namespace isomer::cuda
