# `cpack`: Debian packages of what DynasoarInstall.cmake installs, with documentation, examples and man pages. A build for CPUs that
# has the applications also packages what is compiled: the library (component `cpu`) and the applications (`models`).
find_program(DYNASOAR_GZIP gzip)
mark_as_advanced(DYNASOAR_GZIP)
if(NOT DYNASOAR_GZIP)
  message(STATUS "dynasoar: gzip was not found, so cpack makes no packages, and pages and man pages are not installed")
  return()
endif()

set(_name libdynasoar-dev)
set(_components core allocators)
set(_core_package ${_name})
set(_allocators_package libdynasoar-allocators-dev)
set(_cpu_package libdynasoar-cpu-dev)
set(_models_package dynasoar-models)
set(_packaging "${PROJECT_SOURCE_DIR}/packaging")
set(_made "${PROJECT_BINARY_DIR}/packaging")
set(_doc "${CMAKE_INSTALL_DATADIR}/doc")
set(_contact "DynaSOAr contributors <noreply@dynasoar.invalid>")

# Debian wants man pages and changelogs to be compressed, and the same input to give the same file.
function(_dynasoar_compress input output)
  execute_process(COMMAND "${DYNASOAR_GZIP}" -9nc "${input}" OUTPUT_FILE "${_made}/${output}" COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${input}")
endfunction()

# The executables that the folders in apps/ make.
function(_dynasoar_applications result)
  set(_found "")
  get_property(_folders DIRECTORY "${PROJECT_SOURCE_DIR}/apps" PROPERTY SUBDIRECTORIES)
  foreach(_folder IN LISTS _folders)
    get_property(_targets DIRECTORY "${_folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(_target IN LISTS _targets)
      get_target_property(_type ${_target} TYPE)
      if(_type STREQUAL "EXECUTABLE")
        list(APPEND _found ${_target})
      endif()
    endforeach()
  endforeach()
  set(${result} "${_found}" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY "${_made}")
foreach(_page dynasoar-sweep dynasoar-plot-log dynasoar-models)
  _dynasoar_compress("${_packaging}/man/${_page}.1" ${_page}.1.gz)
endforeach()
install(FILES "${_made}/dynasoar-sweep.1.gz" "${_made}/dynasoar-plot-log.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")

# The applications go by their own names into a folder of their own: names such as "traffic" are too general for all programs of a
# system. The links have longer names.
if(DYNASOAR_APPS AND NOT DYNASOAR_CUDA_BACKEND)
  list(APPEND _components cpu models)
  _dynasoar_applications(_applications)
  install(TARGETS ${_applications} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/dynasoar" COMPONENT models EXCLUDE_FROM_ALL)
  file(RELATIVE_PATH _to_applications "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBEXECDIR}/dynasoar")
  set(_links "")
  set(_pages "${_made}/dynasoar-models.1.gz")
  foreach(_application IN LISTS _applications)
    file(CREATE_LINK "${_to_applications}/${_application}" "${_made}/dynasoar-${_application}" SYMBOLIC)
    file(CREATE_LINK dynasoar-models.1.gz "${_made}/dynasoar-${_application}.1.gz" SYMBOLIC)
    list(APPEND _links "${_made}/dynasoar-${_application}")
    list(APPEND _pages "${_made}/dynasoar-${_application}.1.gz")
  endforeach()
  install(FILES ${_links} DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT models EXCLUDE_FROM_ALL)
  install(FILES ${_pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT models EXCLUDE_FROM_ALL)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/apps" DESTINATION "${_doc}/${_models_package}" COMPONENT models EXCLUDE_FROM_ALL
    FILES_MATCHING REGEX "\\.(md|rle|geo|msh|toml|xml)$" PATTERN common EXCLUDE PATTERN bodies EXCLUDE)
endif()

# What every Debian package has. The license is Debian's "copyright"; the changelog's date is that of SOURCE_DATE_EPOCH, if it is set.
string(TIMESTAMP _now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${_made}/changelog" "dynasoar (${PROJECT_VERSION}) unstable; urgency=medium

  * Release ${PROJECT_VERSION}: see CHANGELOG.md in libdynasoar-dev.

 -- ${_contact}  ${_now}
")
_dynasoar_compress("${_made}/changelog" changelog.gz)
foreach(_component IN LISTS _components)
  set(_optional "")
  if(_component MATCHES "cpu|models")
    set(_optional EXCLUDE_FROM_ALL)
  endif()
  set(_package ${_${_component}_package})
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" RENAME copyright DESTINATION "${_doc}/${_package}" COMPONENT ${_component} ${_optional})
  install(FILES "${_made}/changelog.gz" DESTINATION "${_doc}/${_package}" COMPONENT ${_component} ${_optional})
endforeach()
install(FILES "${_packaging}/${_cpu_package}.lintian-overrides" RENAME ${_cpu_package}
  DESTINATION "${CMAKE_INSTALL_DATADIR}/lintian/overrides" COMPONENT cpu EXCLUDE_FROM_ALL)

install(FILES "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_SOURCE_DIR}/README.md" DESTINATION "${_doc}/${_name}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${_doc}/${_name}"
  FILES_MATCHING REGEX "\\.(md|png|svg|webp)$" PATTERN examples EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/examples" DESTINATION "${_doc}/${_name}/docs"
  FILES_MATCHING PATTERN "*.cpp" PATTERN "*.md" PATTERN own_program EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/examples/own_program" DESTINATION "${_doc}/${_name}/docs/examples")
install(FILES "${CMAKE_CURRENT_LIST_DIR}/InstalledExamples.cmake" DESTINATION "${_doc}/${_name}/docs/examples" RENAME CMakeLists.txt)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ${_name})
set(CPACK_PACKAGE_CONTACT "${_contact}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL ${_components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
foreach(_component IN LISTS _components)
  string(TOUPPER ${_component} _upper)
  set(CPACK_DEBIAN_${_upper}_PACKAGE_NAME ${_${_component}_package})
endforeach()
# Lines of at most 78 characters.
string(CONCAT CPACK_COMPONENT_CORE_DESCRIPTION
  "A C++20 library for programs that create, delete and loop over many objects.\n"
  "Classes are written as usual; each field lies in an array of its own, so that\n"
  "neighbouring threads read neighbouring addresses. One source runs on NVIDIA\n"
  "GPUs and on CPUs.\n"
  "\n"
  "This package has the headers and sources, which the build of a program\n"
  "compiles, the CMake package dynasoar, pretty-printers for gdb, documentation\n"
  "with examples, and dynasoar-sweep and dynasoar-plot-log, which run programs\n"
  "for many parameters and draw logs.")
string(CONCAT CPACK_COMPONENT_ALLOCATORS_DESCRIPTION
  "This package has other people's allocators for GPUs and CPUs: ScatterAlloc,\n"
  "Halloc, XMalloc, the circular allocators and others, and AosAllocator, with\n"
  "which programs written for DynaSOAr run on any of them.")
string(CONCAT CPACK_COMPONENT_CPU_DESCRIPTION
  "This package has the library compiled for CPUs, and a file for pkg-config,\n"
  "for programs that are built without CMake. Programs that are built with CMake\n"
  "compile the sources in libdynasoar-dev instead.")
string(CONCAT CPACK_COMPONENT_MODELS_DESCRIPTION
  "This package has simulations written with DynaSOAr, compiled for CPUs:\n"
  "Wa-Tor, Sugarscape, the Game of Life, traffic, flocking, an epidemic, a tumour\n"
  "and others. They write logs, charts and pictures.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_CORE_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_CORE_PACKAGE_DEPENDS "libboost-dev, python3 (>= 3.11)")
set(CPACK_DEBIAN_CORE_PACKAGE_RECOMMENDS "cmake, g++, libcli11-dev, libfmt-dev")
set(CPACK_DEBIAN_CORE_PACKAGE_SUGGESTS "${_allocators_package}, libopenmpi-dev, python3-matplotlib")
set(CPACK_DEBIAN_ALLOCATORS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_ALLOCATORS_PACKAGE_DEPENDS "${_name} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_CPU_PACKAGE_DEPENDS "${_name} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_MODELS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_MODELS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MODELS_PACKAGE_SUGGESTS "${_name}")
include(CPack)
