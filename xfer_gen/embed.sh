#!/bin/sh
# Prints C++ that holds the given preset files as text: embed.sh FILE...
# A preset is called what its file is called.
set -eu
echo '// Made by xfer_gen/embed.sh.'
echo '#include "xfer_gen/presets.h"'
echo 'namespace isomer::gen {'
echo 'const std::vector<PresetText>& AllPresets() {'
echo '  static const auto* const kAll = new std::vector<PresetText>{'
for file in "$@"; do
  name=$(basename "$file" .preset)
  printf '      {"%s", R"preset(' "$name"
  cat "$file"
  printf ')preset"},\n'
done
echo '  };'
echo '  return *kAll;'
echo '}'
echo '}  // namespace isomer::gen'
