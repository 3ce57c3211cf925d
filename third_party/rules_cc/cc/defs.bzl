"""The names that Bazel's own tools load from rules_cc, taken from Bazel itself."""

cc_binary = native.cc_binary
cc_import = native.cc_import
cc_library = native.cc_library
cc_proto_library = native.cc_proto_library
cc_test = native.cc_test
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
fdo_profile = native.fdo_profile

# Loaded by name but never called in a build of this project.
cc_flags_supplier = None
compiler_flag = None
