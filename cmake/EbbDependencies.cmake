# Everything taken from outside, found in one place. docs/dependencies.md says
# what each is for.

find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED)

# oneDNN is looked up by header and library: its own package file also asks for
# OpenCL's development files, which nothing here needs.
set(EBB_HAVE_ONEDNN OFF)
if(NOT EBB_ONEDNN STREQUAL "OFF")
  find_path(EBB_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
  find_library(EBB_ONEDNN_LIBRARY dnnl)
  mark_as_advanced(EBB_ONEDNN_INCLUDE_DIR EBB_ONEDNN_LIBRARY)
  if(EBB_ONEDNN_INCLUDE_DIR AND EBB_ONEDNN_LIBRARY)
    set(EBB_HAVE_ONEDNN ON)
    add_library(ebb::onednn UNKNOWN IMPORTED)
    set_target_properties(ebb::onednn PROPERTIES
      IMPORTED_LOCATION "${EBB_ONEDNN_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${EBB_ONEDNN_INCLUDE_DIR}")
  elseif(EBB_ONEDNN STREQUAL "ON")
    message(FATAL_ERROR "EBB_ONEDNN is ON, but oneDNN's header or library was "
      "not found (Debian: libdnnl-dev)")
  endif()
endif()
message(STATUS "oneDNN kernels: ${EBB_HAVE_ONEDNN}")

if(EBB_COMPILER)
  find_path(EBB_PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)
  mark_as_advanced(EBB_PROTOZERO_INCLUDE_DIR)
endif()

if(EBB_TOOLS OR EBB_BENCH)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc)
endif()

if(EBB_TOOLS)
  find_package(Boost 1.74 REQUIRED COMPONENTS program_options json)
  find_package(spdlog REQUIRED)
  find_package(PNG REQUIRED)
endif()

if(EBB_TESTS)
  find_package(GTest REQUIRED)
  # The system's own interpreter first: it is the one that sees python3-onnx.
  find_program(EBB_PYTHON python3 HINTS /usr/bin)
  mark_as_advanced(EBB_PYTHON)
endif()

if(EBB_BENCH)
  find_package(benchmark REQUIRED)
endif()
