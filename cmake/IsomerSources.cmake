# The sources, by listing the folders. x_test.cc, x_fuzz.cc and x_bench.cc are
# programs of their own; what the BUILD file of the folder calls testonly serves
# tests alone; everything else in these folders is the library.
set(folders
    ops
    ops/defs
    graph
    onnx
    onnx/lower
    runtime
    cost_model
    search
    xfer_gen
    verify
    parallel
    cuda
    api)
set(program "_(test|fuzz|bench)\\.cc$")

# isomer_test_only(folder variable): the files of the folder's testonly
# libraries, read from its BUILD file.
function(isomer_test_only folder variable)
  set(files "")
  set(build "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/BUILD")
  if(EXISTS "${build}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${build}")
    file(READ "${build}" text)
    string(REGEX MATCHALL "cc_library\\([^()]*testonly = True[^()]*\\)"
                 libraries "${text}")
    string(REGEX MATCHALL "\"[^\"/:]+\\.(cc|h|inc)\"" names "${libraries}")
    foreach(name IN LISTS names)
      string(REPLACE "\"" "" name "${name}")
      list(APPEND files "${folder}/${name}")
    endforeach()
  endif()
  set(${variable} "${files}" PARENT_SCOPE)
endfunction()

# isomer_glob(variable folder ending...): appends what the library or the tool
# has of the folder's files.
function(isomer_glob variable folder)
  list(TRANSFORM ARGN PREPEND "${folder}/*." OUTPUT_VARIABLE patterns)
  file(GLOB found CONFIGURE_DEPENDS
       RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" ${patterns})
  list(FILTER found EXCLUDE REGEX "${program}")
  isomer_test_only("${folder}" test_only)
  list(REMOVE_ITEM found ${test_only})
  set(${variable} ${${variable}} ${found} PARENT_SCOPE)
endfunction()

foreach(folder IN LISTS folders)
  isomer_glob(ISOMER_SOURCES "${folder}" cc)
  isomer_glob(ISOMER_HEADERS "${folder}" h inc)
  isomer_glob(ISOMER_PROTOS "${folder}" proto)
endforeach()
isomer_glob(ISOMER_TOOL_SOURCES tools cc)

# For the comparison with Bazel.
list(JOIN ISOMER_SOURCES "\n" lines)
list(JOIN ISOMER_TOOL_SOURCES "\n" tool_lines)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/sources.txt"
     "${lines}\n${tool_lines}\n")
