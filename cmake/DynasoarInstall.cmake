# `cmake --install`: headers and sources, what find_package(dynasoar) reads, and what gdb reads. `cpack -G DEB`: the same as a Debian package.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/dynasoar")
set(DYNASOAR_INSTALL_SOURCEDIR "${CMAKE_INSTALL_DATADIR}/dynasoar/src")
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # headers and sources can be installed without building tests

get_target_property(DYNASOAR_INSTALLED_SOURCES dynasoar SOURCES)
list(TRANSFORM DYNASOAR_INSTALLED_SOURCES REPLACE "^.*/" "")
list(JOIN DYNASOAR_INSTALLED_SOURCES " " DYNASOAR_INSTALLED_SOURCES)
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/dynasoarConfig.cmake.in" "${PROJECT_BINARY_DIR}/dynasoarConfig.cmake"
  INSTALL_DESTINATION "${_package_dir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR DYNASOAR_INSTALL_SOURCEDIR)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/dynasoarConfigVersion.cmake" COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/dsl/include/" "${PROJECT_SOURCE_DIR}/allocator/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/dsl/src/" "${PROJECT_SOURCE_DIR}/allocator/src/"
  DESTINATION "${DYNASOAR_INSTALL_SOURCEDIR}" FILES_MATCHING PATTERN "*.cpp")
install(FILES "${PROJECT_SOURCE_DIR}/dsl/gdb/dynasoar_gdb.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/dynasoar/gdb")
install(FILES
  "${PROJECT_BINARY_DIR}/dynasoarConfig.cmake"
  "${PROJECT_BINARY_DIR}/dynasoarConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarBackend.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarLibrary.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarHdf5.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarZstd.cmake"
  DESTINATION "${_package_dir}")

# A package is made by the project that is built, not by one of its parts.
if(PROJECT_IS_TOP_LEVEL)
  set(_name libdynasoar-dev)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${_name}" RENAME copyright)
  install(FILES "${PROJECT_SOURCE_DIR}/CHANGELOG.md" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${_name}")

  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME ${_name})
  set(CPACK_PACKAGE_CONTACT "DynaSOAr contributors")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS libboost-dev)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "cmake, g++")
  include(CPack)
endif()
