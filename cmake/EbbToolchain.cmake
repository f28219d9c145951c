# Language level, warnings, sanitizers, compiler cache and linker: everything
# that holds for every target of the build.

include(CheckCXXSourceCompiles)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL)
  find_program(EBB_CCACHE ccache)
  mark_as_advanced(EBB_CCACHE)
  if(EBB_CCACHE)
    foreach(lang C CXX)
      if(NOT CMAKE_${lang}_COMPILER_LAUNCHER)
        set(CMAKE_${lang}_COMPILER_LAUNCHER "${EBB_CCACHE}")
      endif()
    endforeach()
  endif()

  # The first linker that links a program with this compiler.
  foreach(linker lld mold)
    set(CMAKE_REQUIRED_LINK_OPTIONS "-fuse-ld=${linker}")
    check_cxx_source_compiles("int main() { return 0; }" EBB_LINKS_WITH_${linker})
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
    if(EBB_LINKS_WITH_${linker})
      add_link_options("-fuse-ld=${linker}")
      break()
    endif()
  endforeach()
endif()

# Warnings for our own targets (see ebb_configure_target).
set(EBB_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wno-sign-conversion
    # Designated initialisers leave members out on purpose.
    -Wno-missing-field-initializers)
if(EBB_WERROR)
  list(APPEND EBB_WARNINGS -Werror)
endif()
set(EBB_CXX_WARNINGS "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports both of these inside libstdc++ (std::string, std::expected)
  # on correct code; clang and the sanitizers look for the same mistakes.
  list(APPEND EBB_CXX_WARNINGS -Wno-restrict -Wno-maybe-uninitialized)
  if(EBB_SANITIZE)
    # Instrumented code confuses the flow-based warnings further.
    list(APPEND EBB_CXX_WARNINGS -Wno-array-bounds -Wno-stringop-overflow)
  endif()
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND EBB_CXX_WARNINGS -Wno-missing-designated-field-initializers)
endif()

if(EBB_SANITIZE)
  add_compile_options("-fsanitize=${EBB_SANITIZE}" -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options("-fsanitize=${EBB_SANITIZE}" -fno-sanitize-recover=all)
endif()
