# Installs the libraries, the public headers, the ebb command and the package
# files behind find_package(ebb).

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(targets GLOBAL PROPERTY EBB_INSTALLED_TARGETS)
if(targets)
  install(TARGETS ${targets} EXPORT ebbTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT ebbTargets NAMESPACE ebb:: FILE ebbTargets.cmake
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/ebb")
endif()
install(FILES ${EBB_PUBLIC_HEADERS}
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/ebb")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(TARGET ebb)
  install(TARGETS ebb RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/ebbConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/ebbConfig.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/ebb")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ebbConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ebbConfig.cmake"
  "${PROJECT_BINARY_DIR}/ebbConfigVersion.cmake"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/ebb")
