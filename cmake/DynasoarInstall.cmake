# `cmake --install`: headers and sources, what find_package(dynasoar) reads, what gdb reads, and the commands dynasoar-sweep and
# dynasoar-plot-log.
# `cpack -G DEB`: the same as Debian packages, with the documentation and the examples.
# Components: `core`, and `allocators`, which needs it: the allocators of other people.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/dynasoar")
set(DYNASOAR_INSTALL_ALLOCATORSDIR "${CMAKE_INSTALL_INCLUDEDIR}/dynasoar-allocators")
set(DYNASOAR_INSTALL_SOURCEDIR "${CMAKE_INSTALL_DATADIR}/dynasoar/src")
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME core)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # headers and sources can be installed without building tests

get_target_property(DYNASOAR_INSTALLED_SOURCES dynasoar SOURCES)
list(TRANSFORM DYNASOAR_INSTALLED_SOURCES REPLACE "^.*/(dsl|allocator)/src/" "")
list(JOIN DYNASOAR_INSTALLED_SOURCES " " DYNASOAR_INSTALLED_SOURCES)
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/dynasoarConfig.cmake.in" "${PROJECT_BINARY_DIR}/dynasoarConfig.cmake"
  INSTALL_DESTINATION "${_package_dir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR DYNASOAR_INSTALL_ALLOCATORSDIR DYNASOAR_INSTALL_SOURCEDIR)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/dynasoarConfigVersion.cmake" COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/dsl/include/" "${PROJECT_SOURCE_DIR}/allocator/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/allocator/malloc/include/" COMPONENT allocators
  DESTINATION "${DYNASOAR_INSTALL_ALLOCATORSDIR}" FILES_MATCHING PATTERN "*.h")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/dsl/src/" "${PROJECT_SOURCE_DIR}/allocator/src/"
  DESTINATION "${DYNASOAR_INSTALL_SOURCEDIR}" FILES_MATCHING PATTERN "*.cpp" PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/dsl/gdb/dynasoar_gdb.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/dynasoar/gdb")
install(PROGRAMS "${PROJECT_SOURCE_DIR}/scripts/sweep" DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME dynasoar-sweep)
install(PROGRAMS "${PROJECT_SOURCE_DIR}/scripts/plot-log" DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME dynasoar-plot-log)
install(FILES
  "${PROJECT_BINARY_DIR}/dynasoarConfig.cmake"
  "${PROJECT_BINARY_DIR}/dynasoarConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarBackend.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarLibrary.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarProgram.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarDistributed.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarHdf5.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarPng.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/DynasoarZstd.cmake"
  DESTINATION "${_package_dir}")

# A package is made by the project that is built, not by one of its parts.
if(PROJECT_IS_TOP_LEVEL)
  set(_name libdynasoar-dev)
  set(_allocators_name libdynasoar-allocators-dev)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${_name}" RENAME copyright)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" COMPONENT allocators
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${_allocators_name}" RENAME copyright)
  install(FILES "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_SOURCE_DIR}/README.md"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${_name}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${_name}"
    FILES_MATCHING REGEX "\\.(md|png|svg|webp)$" PATTERN examples EXCLUDE)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/examples" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${_name}/docs"
    FILES_MATCHING PATTERN "*.cpp" PATTERN "*.md" PATTERN own_program EXCLUDE)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/examples/own_program" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${_name}/docs/examples")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/InstalledExamples.cmake"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${_name}/docs/examples" RENAME CMakeLists.txt)

  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME ${_name})
  set(CPACK_PACKAGE_CONTACT "DynaSOAr contributors <noreply@dynasoar.invalid>")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_ALL core allocators)
  set(CPACK_COMPONENTS_GROUPING IGNORE)
  set(CPACK_DEBIAN_CORE_PACKAGE_NAME ${_name})
  set(CPACK_DEBIAN_ALLOCATORS_PACKAGE_NAME ${_allocators_name})
  string(CONCAT CPACK_COMPONENT_CORE_DESCRIPTION
    "A C++20 library for programs that create, delete and loop over many objects.\n"
    "Classes are written as usual; each field lies in an array of its own, so that\n"
    "neighbouring threads read neighbouring addresses. One source runs on NVIDIA GPUs\n"
    "and on CPUs.\n"
    "\n"
    "This package has the headers and sources, which the build of a program compiles,\n"
    "the CMake package dynasoar, pretty-printers for gdb, the documentation with\n"
    "examples, and dynasoar-sweep and dynasoar-plot-log, which run programs for many parameters and draw logs.")
  string(CONCAT CPACK_COMPONENT_ALLOCATORS_DESCRIPTION
    "This package has other people's allocators for GPUs and CPUs: ScatterAlloc, Halloc,\n"
    "XMalloc, the circular allocators and others, and AosAllocator, with which programs\n"
    "written for DynaSOAr run on any of them.")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_CORE_PACKAGE_DEPENDS "libboost-dev, python3 (>= 3.11)")
  set(CPACK_DEBIAN_CORE_PACKAGE_RECOMMENDS "cmake, g++, libcli11-dev, libfmt-dev")
  set(CPACK_DEBIAN_CORE_PACKAGE_SUGGESTS "${_allocators_name}, libopenmpi-dev, python3-matplotlib")
  set(CPACK_DEBIAN_ALLOCATORS_PACKAGE_DEPENDS "${_name} (= ${PROJECT_VERSION})")
  include(CPack)
endif()
