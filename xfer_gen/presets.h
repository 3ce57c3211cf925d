// The presets that come with Isomer, as text: the files of xfer_gen/presets/.
#ifndef ISOMER_XFER_GEN_PRESETS_H_
#define ISOMER_XFER_GEN_PRESETS_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace isomer::gen {

struct PresetText {
  absl::string_view name, text;
};

// All of them, by name.
const std::vector<PresetText>& AllPresets();

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_PRESETS_H_
