# Installs a build into a folder of its own, builds the project beside this file
# against nothing but that, and runs what it built.
#
# cmake -D SOURCE_DIR=... -D BUILD_DIR=... -D WORK_DIR=... -D VERSION=...
#       -D C_COMPILER=... -D CXX_COMPILER=... [-D COMPILER=ON]
#       [-D READELF=...] -P install_test.cmake

function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUTPUT" "COMMAND")
  execute_process(COMMAND ${arg_COMMAND} RESULT_VARIABLE result
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN arg_COMMAND " " command)
    message(FATAL_ERROR "${command}\nfailed (${result}):\n${output}")
  endif()
  if(arg_OUTPUT)
    set(${arg_OUTPUT} "${output}" PARENT_SCOPE)
  endif()
endfunction()

set(prefix "${WORK_DIR}/prefix")
set(outside "${WORK_DIR}/build")
file(REMOVE_RECURSE "${WORK_DIR}")

run(COMMAND "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")
run(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${outside}"
  -G Ninja -D "CMAKE_PREFIX_PATH=${prefix}" -D CMAKE_BUILD_TYPE=Release
  -D "CMAKE_C_COMPILER=${C_COMPILER}" -D "CMAKE_CXX_COMPILER=${CXX_COMPILER}")
run(COMMAND "${CMAKE_COMMAND}" --build "${outside}")

set(model "")
set(programs run_c run_cc)
if(COMPILER)
  list(APPEND programs compile)
  set(model "${WORK_DIR}/relu.ebb")
  run(COMMAND "${outside}/compile" "${WORK_DIR}/relu.onnx" "${model}")
endif()
run(COMMAND "${outside}/run_c" "${VERSION}" ${model})
run(COMMAND "${outside}/run_cc" "${VERSION}" ${model})

# Neither part carries any of the libraries that the tools use.
if(READELF)
  foreach(program IN LISTS programs)
    run(COMMAND "${READELF}" -d "${outside}/${program}" OUTPUT output)
    if(output MATCHES "lib(boost|spdlog|fmt|jemalloc|png)[^]]*")
      message(FATAL_ERROR "${program} needs ${CMAKE_MATCH_0}")
    endif()
  endforeach()
endif()

# The installed package may be moved: it holds no path of the build.
file(GLOB_RECURSE files "${prefix}/*.cmake" "${prefix}/include/*")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  foreach(path "${SOURCE_DIR}" "${BUILD_DIR}" "${prefix}")
    string(FIND "${text}" "${path}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} holds the path ${path}")
    endif()
  endforeach()
endforeach()
