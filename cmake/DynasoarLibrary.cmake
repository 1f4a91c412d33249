# The targets: dynasoar::dynasoar (the library, header-only) and dynasoar_warnings (for our own code only).

find_package(Threads REQUIRED)
find_path(DYNASOAR_HANA_INCLUDE_DIR boost/hana/tuple.hpp)
if(NOT DYNASOAR_HANA_INCLUDE_DIR)
  message(FATAL_ERROR "dynasoar: Boost.Hana was not found. Install it (Debian, Ubuntu: apt-get install libboost-dev)")
endif()

add_library(dynasoar INTERFACE)
add_library(dynasoar::dynasoar ALIAS dynasoar)
target_include_directories(dynasoar INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/dsl/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/allocator/include>
  $<INSTALL_INTERFACE:include>)
target_include_directories(dynasoar SYSTEM INTERFACE $<BUILD_INTERFACE:${DYNASOAR_HANA_INCLUDE_DIR}>)
target_compile_features(dynasoar INTERFACE cxx_std_20)
target_link_libraries(dynasoar INTERFACE Threads::Threads)

if(DYNASOAR_CUDA_BACKEND)
  target_compile_definitions(dynasoar INTERFACE DYNASOAR_TARGET_USES_CUDA)
  # Device code calls constexpr functions of the standard library, and loops take lambdas.
  target_compile_options(dynasoar INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --extended-lambda>)
  target_link_libraries(dynasoar INTERFACE CUDA::cudart_static)
elseif(DYNASOAR_STD_THREADS)
  target_compile_definitions(dynasoar INTERFACE DYNASOAR_STD_THREADS)
else()
  find_package(OpenMP COMPONENTS CXX)
  if(OpenMP_CXX_FOUND)
    target_link_libraries(dynasoar INTERFACE OpenMP::OpenMP_CXX)
  else()
    message(STATUS "dynasoar: no OpenMP; host loops run on plain threads")
    target_compile_definitions(dynasoar INTERFACE DYNASOAR_STD_THREADS)
  endif()
endif()

add_library(dynasoar_warnings INTERFACE)
set(_warnings -Wall -Wextra)
target_compile_options(dynasoar_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${_warnings} -Wpedantic>)
# -Wpedantic is not for code that nvcc generates.
target_compile_options(dynasoar_warnings INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(DYNASOAR_WERROR)
  target_compile_options(dynasoar_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
endif()
