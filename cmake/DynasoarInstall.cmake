# `cmake --install`: headers and sources, what find_package(dynasoar) reads, what gdb reads, and the commands dynasoar-sweep and
# dynasoar-plot-log. DynasoarPackage.cmake makes Debian packages of it.
# Components: `core`, and `allocators`, which needs it: the allocators of other people. Only if it is named: `cpu`, the library
# compiled for CPUs, with what pkg-config reads; build the target `dynasoar` first.

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

if(NOT DYNASOAR_CUDA_BACKEND)
  # Found from where the file is, so that the folder can be moved; some distributions have a folder for each kind of file instead.
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(_dynasoar_pc_prefix "${CMAKE_INSTALL_PREFIX}")
  else()
    file(RELATIVE_PATH _dynasoar_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /)
    string(REGEX REPLACE "/$" "" _dynasoar_pc_prefix "\${pcfiledir}/${_dynasoar_pc_prefix}")
  endif()
  foreach(_folder includedir libdir)
    string(TOUPPER ${_folder} _upper)
    set(_dynasoar_pc_${_folder} "${CMAKE_INSTALL_${_upper}}")
    if(NOT IS_ABSOLUTE "${_dynasoar_pc_${_folder}}")
      string(PREPEND _dynasoar_pc_${_folder} "\${prefix}/")
    endif()
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/packaging/dynasoar.pc.in" "${PROJECT_BINARY_DIR}/dynasoar.pc" @ONLY)
  install(FILES "$<TARGET_FILE:dynasoar>" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT cpu EXCLUDE_FROM_ALL)
  install(FILES "${PROJECT_BINARY_DIR}/dynasoar.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT cpu EXCLUDE_FROM_ALL)
endif()
