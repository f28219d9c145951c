# Everything taken from outside, found in one place. docs/dependencies.md says
# what each is for.

find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED)

set(EBB_HAVE_ONEDNN OFF)
if(NOT EBB_ONEDNN STREQUAL "OFF")
  if(EBB_ONEDNN STREQUAL "ON")
    find_package(dnnl CONFIG REQUIRED)
  else()
    find_package(dnnl CONFIG QUIET)
  endif()
  if(dnnl_FOUND)
    set(EBB_HAVE_ONEDNN ON)
  endif()
endif()

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
