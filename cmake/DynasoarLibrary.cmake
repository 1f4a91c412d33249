# What the library needs, and dynasoar_add_library(), which makes it.

find_package(Threads REQUIRED)
find_path(DYNASOAR_HANA_INCLUDE_DIR boost/hana/tuple.hpp)
if(NOT DYNASOAR_HANA_INCLUDE_DIR)
  message(FATAL_ERROR "dynasoar: Boost.Hana was not found. Install it (Debian, Ubuntu: apt-get install libboost-dev)")
endif()

# dynasoar_add_library(<target> INCLUDES <directory>... SOURCES <file>...)
#
# Makes the dynasoar library: a static one, of what need not be compiled in every program, for the backend that
# DynasoarBackend.cmake chose. Serves our own build and find_package(dynasoar) alike: an installed library is headers and
# sources, so it is not tied to the backend, the compiler or the options of the build that installed it. A macro, because
# sources are CUDA's only in the folder that says so.
macro(dynasoar_add_library target)
  _dynasoar_look_for_build_type()
  cmake_parse_arguments(_dynasoar "" "" "INCLUDES;SOURCES" ${ARGN})
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${_dynasoar_SOURCES})
  _dynasoar_set_up_library(${target} ${_dynasoar_INCLUDES})
  if(DYNASOAR_CUDA_BACKEND)
    _dynasoar_sources_are_cuda(${target})
  endif()
endmacro()

# Without a build type CMake asks for no optimization, and nothing but the clock would tell.
function(_dynasoar_look_for_build_type)
  get_property(_several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT _several AND NOT CMAKE_BUILD_TYPE AND NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CUDA_FLAGS}" MATCHES "(^| )-O[0-9a-z]?")
    message(WARNING "dynasoar: there is no build type, so programs are not optimized, and loops run up to 22 times as long. "
      "Configure with -DCMAKE_BUILD_TYPE=Release, or Debug if that is what you want.")
  endif()
endfunction()

function(_dynasoar_set_up_library target)
  target_include_directories(${target} PUBLIC ${ARGN})
  target_include_directories(${target} SYSTEM PUBLIC "${DYNASOAR_HANA_INCLUDE_DIR}")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_definitions(${target} PRIVATE DYNASOAR_LIBRARY_SOURCE)
  set_target_properties(${target} PROPERTIES
    DYNASOAR_CUDA_BACKEND ${DYNASOAR_CUDA_BACKEND}  # for dynasoar_compile_as_cuda
    POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PUBLIC Threads::Threads)
  if(DYNASOAR_CHECKED MATCHES "^(ON|OFF)$")
    target_compile_definitions(${target} INTERFACE DYNASOAR_CHECKED=$<BOOL:${DYNASOAR_CHECKED}>)
  elseif(NOT DYNASOAR_CHECKED STREQUAL "AUTO")
    message(FATAL_ERROR "dynasoar: DYNASOAR_CHECKED is '${DYNASOAR_CHECKED}', but must be AUTO, ON or OFF")
  endif()
  if(DYNASOAR_COUNT_ACCESSES)
    target_compile_definitions(${target} INTERFACE DYNASOAR_COUNT_ACCESSES=1)
  endif()

  if(DYNASOAR_CUDA_BACKEND)
    target_compile_definitions(${target} PUBLIC DYNASOAR_TARGET_USES_CUDA)
    # Device code calls constexpr functions of the standard library, and loops take lambdas.
    target_compile_options(${target} PUBLIC
      $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --extended-lambda>)
    target_link_libraries(${target} PUBLIC CUDA::cudart_static)
  endif()
endfunction()
