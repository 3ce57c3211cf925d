// Kernel parameters.
#include "cuda/kernel.h"

#include "absl/strings/str_cat.h"

namespace isomer::cuda {

std::string Parameters(const std::vector<Operand>& inputs,
                       const std::vector<Operand>& outputs) {
  std::string text;
  for (const Operand& o : inputs) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", "const ",
                    StorageType(o.place.dtype), "* ", o.place.pointer);
  }
  for (const Operand& o : outputs) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", StorageType(o.place.dtype),
                    "* ", o.place.pointer);
  }
  return text;
}

}  // namespace isomer::cuda
