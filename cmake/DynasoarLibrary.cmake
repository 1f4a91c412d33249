# What the header-only library needs, and dynasoar_define_library(), which says so of a target.

find_package(Threads REQUIRED)
find_path(DYNASOAR_HANA_INCLUDE_DIR boost/hana/tuple.hpp)
if(NOT DYNASOAR_HANA_INCLUDE_DIR)
  message(FATAL_ERROR "dynasoar: Boost.Hana was not found. Install it (Debian, Ubuntu: apt-get install libboost-dev)")
endif()
if(NOT DYNASOAR_CUDA_BACKEND AND NOT DYNASOAR_STD_THREADS)
  find_package(OpenMP COMPONENTS CXX)
  if(NOT OpenMP_CXX_FOUND)
    message(STATUS "dynasoar: no OpenMP; host loops run on plain threads")
  endif()
endif()

# dynasoar_define_library(<target> <include directory>...)
#
# Makes an interface library the dynasoar library, for the backend that DynasoarBackend.cmake chose. Serves our own build
# and find_package(dynasoar) alike: an installed library is not tied to the backend of the build that installed it.
function(dynasoar_define_library target)
  target_include_directories(${target} INTERFACE ${ARGN})
  target_include_directories(${target} SYSTEM INTERFACE "${DYNASOAR_HANA_INCLUDE_DIR}")
  target_compile_features(${target} INTERFACE cxx_std_20)
  set_target_properties(${target} PROPERTIES DYNASOAR_CUDA_BACKEND ${DYNASOAR_CUDA_BACKEND})  # for dynasoar_compile_as_cuda
  target_link_libraries(${target} INTERFACE Threads::Threads)
  if(DYNASOAR_CHECKED MATCHES "^(ON|OFF)$")
    target_compile_definitions(${target} INTERFACE DYNASOAR_CHECKED=$<BOOL:${DYNASOAR_CHECKED}>)
  elseif(NOT DYNASOAR_CHECKED STREQUAL "AUTO")
    message(FATAL_ERROR "dynasoar: DYNASOAR_CHECKED is '${DYNASOAR_CHECKED}', but must be AUTO, ON or OFF")
  endif()
  if(DYNASOAR_COUNT_ACCESSES)
    target_compile_definitions(${target} INTERFACE DYNASOAR_COUNT_ACCESSES=1)
  endif()

  if(DYNASOAR_CUDA_BACKEND)
    target_compile_definitions(${target} INTERFACE DYNASOAR_TARGET_USES_CUDA)
    # Device code calls constexpr functions of the standard library, and loops take lambdas.
    target_compile_options(${target} INTERFACE
      $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --extended-lambda>)
    target_link_libraries(${target} INTERFACE CUDA::cudart_static)
  elseif(DYNASOAR_STD_THREADS OR NOT OpenMP_CXX_FOUND)
    target_compile_definitions(${target} INTERFACE DYNASOAR_STD_THREADS)
  else()
    target_link_libraries(${target} INTERFACE OpenMP::OpenMP_CXX)
  endif()
endfunction()
