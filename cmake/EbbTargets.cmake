# The few functions that the folders' CMakeLists.txt are written with.

# ebb_sources(out folder... [RECURSE] [EXCLUDE regex...])
# The .cc files of the folders, tests and benchmarks left out. A file added
# later is picked up by the next build.
function(ebb_sources out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RECURSE" "" "EXCLUDE")
  set(mode GLOB)
  if(arg_RECURSE)
    set(mode GLOB_RECURSE)
  endif()
  set(all "")
  foreach(folder IN LISTS arg_UNPARSED_ARGUMENTS)
    file(${mode} found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cc")
    list(APPEND all ${found})
  endforeach()
  set(kept "")
  foreach(file IN LISTS all)
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${file}")
    set(keep ON)
    foreach(regex IN LISTS arg_EXCLUDE ITEMS "(_test|_benchmark|_fuzz)\\.cc$")
      if(name MATCHES "${regex}")
        set(keep OFF)
      endif()
    endforeach()
    if(keep)
      list(APPEND kept "${file}")
    endif()
  endforeach()
  set(${out} "${kept}" PARENT_SCOPE)
endfunction()

# What every target of ours has: warnings, the repository root as the root of
# includes, and the header-only part of Boost.
function(ebb_configure_target target)
  target_compile_options(${target} PRIVATE ${EBB_WARNINGS}
    "$<$<COMPILE_LANGUAGE:CXX>:${EBB_CXX_WARNINGS}>")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}"
    "${PROJECT_BINARY_DIR}/include")
  target_include_directories(${target} SYSTEM PRIVATE ${Boost_INCLUDE_DIRS})
endfunction()

# Links those of the libraries that this configuration has.
function(ebb_link target scope)
  foreach(library IN LISTS ARGN)
    if(TARGET ${library})
      target_link_libraries(${target} ${scope} ${library})
    endif()
  endforeach()
endfunction()

# ebb_library(name SOURCES ... [LINK ...])
# A static library ebb_<name>, exported as ebb::<name>. Nothing where there are
# no sources.
function(ebb_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  if(NOT arg_SOURCES)
    return()
  endif()
  set(target ebb_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(ebb::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  ebb_configure_target(${target})
  target_include_directories(${target} INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
    "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
    "$<INSTALL_INTERFACE:include>")
  ebb_link(${target} PUBLIC ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY EBB_INSTALLED_TARGETS ${target})
endfunction()

# ebb_program(name SOURCES ... [LINK ...])
function(ebb_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  ebb_configure_target(${name})
  ebb_link(${name} PRIVATE ${arg_LINK})
endfunction()
