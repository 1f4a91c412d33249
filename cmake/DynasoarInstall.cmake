# `cmake --install`: the headers, and what find_package(dynasoar) reads.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/dynasoar")

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/dynasoarConfig.cmake.in" "${PROJECT_BINARY_DIR}/dynasoarConfig.cmake"
  INSTALL_DESTINATION "${_package_dir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/dynasoarConfigVersion.cmake" COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/dsl/include/" "${PROJECT_SOURCE_DIR}/allocator/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(FILES
  "${PROJECT_BINARY_DIR}/dynasoarConfig.cmake"
  "${PROJECT_BINARY_DIR}/dynasoarConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarBackend.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarLibrary.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarZstd.cmake"
  DESTINATION "${_package_dir}")
