# The generated sources: the protobuf messages (the ONNX schema, and our own
# .proto files) and the two registries, made by the same scripts as in Bazel.
set(ISOMER_GENERATED_DIR "${CMAKE_CURRENT_BINARY_DIR}/generated")
set(ISOMER_GENERATED_SOURCES "")
file(MAKE_DIRECTORY "${ISOMER_GENERATED_DIR}")

# A Python with the package onnx: that of the tree's virtual environment if it
# is there, else the machine's.
set(venv_python "${CMAKE_CURRENT_SOURCE_DIR}/.venv/bin/python")
if(EXISTS "${venv_python}")
  set(default_python "${venv_python}")
else()
  set(default_python python3)
endif()
set(ISOMER_PYTHON "${default_python}"
    CACHE STRING "A Python that has the package onnx")

set(schema_script "${CMAKE_CURRENT_SOURCE_DIR}/third_party/onnx_schema.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                                       "${schema_script}")
execute_process(
  COMMAND "${ISOMER_PYTHON}" "${schema_script}"
  OUTPUT_VARIABLE schema
  ERROR_VARIABLE schema_error
  RESULT_VARIABLE schema_result)
if(NOT schema_result EQUAL 0)
  string(STRIP "${schema_error}" schema_error)
  message(FATAL_ERROR "Isomer: no ONNX schema: ${schema_error} "
                      "(pip install onnx, or set ISOMER_PYTHON)")
endif()
set(proto "${ISOMER_GENERATED_DIR}/onnx_ml.proto")
file(CONFIGURE OUTPUT "${proto}" CONTENT "${schema}" @ONLY)

# isomer_protobuf(root name): compiles <root>/<name>.proto, to be included as
# "<name>.pb.h".
function(isomer_protobuf root name)
  set(path "${ISOMER_GENERATED_DIR}/${name}.pb")
  add_custom_command(
    OUTPUT "${path}.cc" "${path}.h"
    COMMAND protobuf::protoc "--proto_path=${root}"
            "--cpp_out=${ISOMER_GENERATED_DIR}" "${root}/${name}.proto"
    DEPENDS "${root}/${name}.proto"
    VERBATIM)
  set_source_files_properties(
    "${path}.cc" PROPERTIES COMPILE_OPTIONS -w SKIP_PRECOMPILE_HEADERS ON)
  list(APPEND ISOMER_GENERATED_SOURCES "${path}.cc" "${path}.h")
  set(ISOMER_GENERATED_SOURCES "${ISOMER_GENERATED_SOURCES}" PARENT_SCOPE)
endfunction()
isomer_protobuf("${ISOMER_GENERATED_DIR}" onnx_ml)
foreach(proto IN LISTS ISOMER_PROTOS)
  string(REGEX REPLACE "\\.proto$" "" name "${proto}")
  isomer_protobuf("${CMAKE_CURRENT_SOURCE_DIR}" "${name}")
endforeach()

# isomer_registry(folder output argument...): output collects what the sources
# of the folder define; the arguments are those of ops/gen_registry.sh.
function(isomer_registry folder output)
  set(files ${ISOMER_SOURCES})
  list(FILTER files INCLUDE REGEX "^${folder}/[^/]*$")
  if(NOT files)
    return()
  endif()
  set(path "${ISOMER_GENERATED_DIR}/${output}")
  add_custom_command(
    OUTPUT "${path}"
    COMMAND sh ops/gen_registry.sh ${ARGN} ${files} > "${path}"
    DEPENDS ops/gen_registry.sh ${files}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    VERBATIM)
  list(APPEND ISOMER_GENERATED_SOURCES "${path}")
  set(ISOMER_GENERATED_SOURCES "${ISOMER_GENERATED_SOURCES}" PARENT_SCOPE)
endfunction()
isomer_registry(ops/defs all_op_defs.cc
                isomer OpDef Define AllOpDefs ops/op_def.h)
isomer_registry(onnx/lower all_lowerings.cc
                isomer::onnx OnnxLowering Lower AllLowerings ops/onnx_mapping.h)

# The targets that the cost model comes with, compiled in.
file(GLOB target_files CONFIGURE_DEPENDS
     RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" cost_model/targets/*.target
     cost_model/profiles/*.profile)
set(targets_source "${ISOMER_GENERATED_DIR}/builtin_targets.cc")
add_custom_command(
  OUTPUT "${targets_source}"
  COMMAND sh cost_model/gen_targets.sh ${target_files} > "${targets_source}"
  DEPENDS cost_model/gen_targets.sh ${target_files}
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
  VERBATIM)
list(APPEND ISOMER_GENERATED_SOURCES "${targets_source}")

# isomer_rules(namespace header function files...): the text of files of rules,
# compiled in.
function(isomer_rules namespace header function)
  set(path "${ISOMER_GENERATED_DIR}/${function}.cc")
  add_custom_command(
    OUTPUT "${path}"
    COMMAND sh rules/embed.sh ${namespace} ${header} ${function} ${ARGN}
            > "${path}"
    DEPENDS rules/embed.sh ${ARGN}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    VERBATIM)
  list(APPEND ISOMER_GENERATED_SOURCES "${path}")
  set(ISOMER_GENERATED_SOURCES "${ISOMER_GENERATED_SOURCES}" PARENT_SCOPE)
endfunction()
isomer_rules(isomer::search search/rule_book.h BuiltInRules
             rules/chosen.rules rules/hand_written.rules)
isomer_rules(isomer::verify verify/axioms.h AxiomRules rules/axioms.rules)

# The presets of the generator, compiled in.
file(GLOB preset_files CONFIGURE_DEPENDS
     RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" xfer_gen/presets/*.preset)
set(presets_source "${ISOMER_GENERATED_DIR}/presets.cc")
add_custom_command(
  OUTPUT "${presets_source}"
  COMMAND sh xfer_gen/embed.sh ${preset_files} > "${presets_source}"
  DEPENDS xfer_gen/embed.sh ${preset_files}
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
  VERBATIM)
list(APPEND ISOMER_GENERATED_SOURCES "${presets_source}")
