# The public headers stand beside their sources and are installed as
# include/ebb/NAME. The same tree is made in the build folder, so that examples
# include them exactly as an embedder does: #include <ebb/ebb.h>.

set(EBB_PUBLIC_HEADERS "")
foreach(header vm/ebb.h vm/ebb.hpp compiler/ebb_compiler.h compiler/ebb_compiler.hpp)
  # The glob makes the next build notice a header that is added later.
  file(GLOB found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${header}")
  if(NOT found OR (header MATCHES "^compiler/" AND NOT EBB_COMPILER))
    continue()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${found}")
  cmake_path(GET header FILENAME name)
  set(out "${PROJECT_BINARY_DIR}/include/ebb/${name}")
  # Installed, the headers lie side by side. Brackets and semicolons mean
  # something in CMake lists, so the text is handled as one string throughout.
  file(READ "${found}" text)
  string(REGEX REPLACE "#include \"(vm|compiler)/" "#include \"" text "${text}")
  file(WRITE "${out}.part" "${text}")
  file(COPY_FILE "${out}.part" "${out}" ONLY_IF_DIFFERENT)
  file(REMOVE "${out}.part")
  list(APPEND EBB_PUBLIC_HEADERS "${out}")
endforeach()
