"""A repository with onnx_ml.proto, made from the Python package onnx.

Asks the virtual environment of the tree (.venv, which quickstart.sh makes)
first, then the python3 of the machine.
"""

def _onnx_schema_impl(ctx):
    root = ctx.path(Label("//:WORKSPACE")).dirname
    script = ctx.path(Label("//third_party:onnx_schema.py"))

    # Changing the pinned version makes Bazel run this rule again.
    ctx.path(Label("//third_party:requirements.txt"))
    venv_python = root.get_child(".venv").get_child("bin").get_child("python")
    errors = []
    for python in [venv_python, ctx.which("python3")]:
        if python == None or not python.exists:
            continue
        result = ctx.execute([python, script])
        if result.return_code == 0:
            ctx.file("onnx_ml.proto", result.stdout, executable = False)
            ctx.file("BUILD", "exports_files([\"onnx_ml.proto\"])\n")
            return
        errors.append(result.stderr.strip())
    fail("no ONNX schema: %s; ./quickstart.sh sets it up, or: %s" % (
        "; ".join(errors) if errors else "there is no python3",
        "python3 -m venv .venv && .venv/bin/pip install " +
        "-r third_party/requirements.txt",
    ))

onnx_schema = repository_rule(
    implementation = _onnx_schema_impl,
    local = True,
)
