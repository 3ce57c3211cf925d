# Finds the libraries that Isomer links, once for the build and once, installed
# beside isomerConfig.cmake, for the projects that use it. Defines
# isomer::dependencies, and isomer::z3 where Z3 is there.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(absl)
find_dependency(Protobuf)

# Neither has a CMake package on every system.
find_library(ISOMER_OPENBLAS_LIBRARY openblas)
find_path(ISOMER_CBLAS_INCLUDE_DIR cblas.h
          PATH_SUFFIXES openblas "${CMAKE_LIBRARY_ARCHITECTURE}")
if(NOT ISOMER_OPENBLAS_LIBRARY OR NOT ISOMER_CBLAS_INCLUDE_DIR)
  message(FATAL_ERROR "Isomer: OpenBLAS with cblas.h not found "
                      "(Debian and Ubuntu: libopenblas-dev)")
endif()
find_library(ISOMER_Z3_LIBRARY z3)
find_path(ISOMER_Z3_INCLUDE_DIR z3++.h)

if(NOT TARGET isomer::dependencies)
  add_library(isomer::dependencies INTERFACE IMPORTED)
  target_include_directories(isomer::dependencies
                             INTERFACE "${ISOMER_CBLAS_INCLUDE_DIR}")
  target_link_libraries(
    isomer::dependencies
    INTERFACE absl::btree
              absl::cleanup
              absl::flat_hash_map
              absl::flat_hash_set
              absl::function_ref
              absl::hash
              absl::inlined_vector
              absl::int128
              absl::node_hash_map
              absl::random_random
              absl::span
              absl::status
              absl::statusor
              absl::str_format
              absl::strings
              absl::synchronization
              absl::time
              protobuf::libprotobuf-lite
              "${ISOMER_OPENBLAS_LIBRARY}"
              Threads::Threads)
endif()

if(ISOMER_Z3_LIBRARY AND ISOMER_Z3_INCLUDE_DIR AND NOT TARGET isomer::z3)
  add_library(isomer::z3 INTERFACE IMPORTED)
  target_include_directories(isomer::z3 INTERFACE "${ISOMER_Z3_INCLUDE_DIR}")
  target_link_libraries(isomer::z3 INTERFACE "${ISOMER_Z3_LIBRARY}")
  target_link_libraries(isomer::dependencies INTERFACE isomer::z3)
endif()
