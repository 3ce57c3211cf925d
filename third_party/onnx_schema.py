"""Prints the ONNX schema as Isomer compiles it; both builds call this.

The schema is onnx-ml.proto of the installed Python package `onnx`. Two things
change: the protobuf package gets a name of its own, because two copies of the
package `onnx` in one process (ours and that of a Python module, say) abort it,
and the code is generated for the lite runtime.
"""

import importlib.util
import pathlib
import re
import sys


def main():
    spec = importlib.util.find_spec("onnx")
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"onnx schema: {sys.executable} has no package onnx")
    path = pathlib.Path(spec.submodule_search_locations[0], "onnx-ml.proto")
    if not path.is_file():
        sys.exit(f"onnx schema: the package onnx holds no file {path}")
    text = path.read_text(encoding="utf-8")
    if text.count("\npackage onnx;\n") != 1:
        sys.exit(f"onnx schema: {path} does not declare `package onnx;` once")
    # Some versions set the option themselves, and it may be set only once.
    text = re.sub(r"\noption optimize_for = \w+;", "", text)
    sys.stdout.write(
        text.replace(
            "\npackage onnx;\n",
            "\npackage isomer.onnx_pb;\n\noption optimize_for = LITE_RUNTIME;\n",
        )
    )


if __name__ == "__main__":
    main()
