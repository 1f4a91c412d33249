# dynasoar_add_program_library(<target> SOURCES <directory> INCLUDES <directory>...)
#
# Makes what a program links to, beside dynasoar::dynasoar, for the headers in dynasoar/program: command line, log,
# checkpoints, exit codes. Needs CLI11 and fmt; where they are not installed, there is no such target. What sees the device,
# in the folder `device`, is a library of its own, which is compiled as CUDA. A macro, as dynasoar_add_library is.
macro(dynasoar_add_program_library target)
  cmake_parse_arguments(_program "" "SOURCES" "INCLUDES" ${ARGN})
  find_package(CLI11 2.1 QUIET)
  find_package(fmt 9.1 QUIET)
  if(CLI11_FOUND AND fmt_FOUND)
    file(GLOB _program_plain CONFIGURE_DEPENDS "${_program_SOURCES}/*.cpp")
    file(GLOB _program_device CONFIGURE_DEPENDS "${_program_SOURCES}/device/*.cpp")
    add_library(${target} STATIC EXCLUDE_FROM_ALL ${_program_plain})
    add_library(${target}_device STATIC EXCLUDE_FROM_ALL ${_program_device})
    foreach(_library IN ITEMS ${target} ${target}_device)
      target_compile_features(${_library} PUBLIC cxx_std_20)
      target_include_directories(${_library} PUBLIC ${_program_INCLUDES})
      set_target_properties(${_library} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endforeach()
    # Not dynasoar::dynasoar for all: with CUDA its headers want to be compiled by nvcc, but those that are used here.
    target_link_libraries(${target} PUBLIC CLI11::CLI11 PRIVATE fmt::fmt Threads::Threads ${target}_device)
    target_link_libraries(${target}_device PRIVATE dynasoar::dynasoar ${target})
    if(TARGET dynasoar::hdf5)
      target_link_libraries(${target} PRIVATE dynasoar::hdf5)
    endif()
    dynasoar_compile_as_cuda(${target}_device)
  endif()
endmacro()
