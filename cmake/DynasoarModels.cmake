# dynasoar_add_model(<name> OBJECTS <file>... SOURCES <file>... [HEADER <file>] [ARGUMENTS <type>...]
#                    [ALLOCATORS <name>...] [EXACT] [PICTURES <file>...] [PROGRAM <name>])
#
# Adds the library <name>_models with the implementations of a model, which are compiled as CUDA. Only they see dynasoar:
# the header that declares them is plain C++, and so is what includes it, as "<name>/simulation.h".
#
# OBJECTS     the DSL variants: agents.cpp defines wa_tor::agents::<allocator>::make and is compiled once per allocator
#             (dynasoar_object_variants). For each of them the library gets a function, wa_tor::make_agents, that calls
#             the version for `parameters.allocator`
# SOURCES     the other implementations
# HEADER      that declares all of these functions; simulation.h unless it is named
# ARGUMENTS   types of their parameters; Parameters unless they are named
# EXACT       no products fused with sums: results are the same on every processor, bit by bit
# PICTURES    of plain C++, also where the models are CUDA: the library <name>_pictures, which tests use, too
# PROGRAM     of main.cpp, with the pictures if there are some
function(dynasoar_add_model name)
  cmake_parse_arguments(_model "EXACT" "HEADER;PROGRAM" "OBJECTS;SOURCES;ARGUMENTS;ALLOCATORS;PICTURES" ${ARGN})
  if(NOT _model_HEADER)
    set(_model_HEADER simulation.h)
  endif()
  if(NOT _model_ARGUMENTS)
    set(_model_ARGUMENTS Parameters)
  endif()
  set(_types "")
  set(_declared "")
  set(_passed "")
  foreach(_type IN LISTS _model_ARGUMENTS)
    list(LENGTH _types _index)
    list(APPEND _types "const ${_type}&")
    list(APPEND _declared "const ${_type}& argument_${_index}")
    list(APPEND _passed "argument_${_index}")
  endforeach()
  list(JOIN _types ", " _types)
  list(JOIN _declared ", " _declared)
  list(JOIN _passed ", " _passed)
  set(_functions "")
  foreach(_source IN LISTS _model_OBJECTS)
    get_filename_component(_variant "${_source}" NAME_WE)
    string(APPEND _functions "
DYNASOAR_MAKERS(${_variant})
std::unique_ptr<Simulation> make_${_variant}(${_declared}) {
  return app::make_with(${_variant}_makers, argument_0.allocator, ${_passed});
}
")
  endforeach()
  file(CONFIGURE OUTPUT object_variants.cpp CONTENT "// Written by dynasoar_add_model in CMake.
#include <memory>

#include <app/allocator_choice.h>

#include \"${name}/${_model_HEADER}\"

namespace ${name} {

using Maker = std::unique_ptr<Simulation>(${_types});
${_functions}
}  // namespace ${name}
" @ONLY)

  set(_library ${name}_models)
  add_library(${_library} STATIC ${_model_SOURCES} ${CMAKE_CURRENT_BINARY_DIR}/object_variants.cpp)
  target_compile_features(${_library} PUBLIC cxx_std_20)
  target_include_directories(${_library} PUBLIC ${PROJECT_SOURCE_DIR}/apps)
  target_link_libraries(${_library} PUBLIC dynasoar_model PRIVATE dynasoar::dynasoar dynasoar_warnings)
  dynasoar_compile_as_cuda(${_library})
  dynasoar_object_variants(${_library} SOURCES ${_model_OBJECTS} ALLOCATORS ${_model_ALLOCATORS})
  if(_model_EXACT)
    target_compile_options(${_library} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off> $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false -Xcompiler=-ffp-contract=off>)
  endif()
  if(_model_PICTURES)
    add_library(${name}_pictures STATIC ${_model_PICTURES})
    target_link_libraries(${name}_pictures PUBLIC ${_library} dynasoar_app PRIVATE PkgConfig::cairo dynasoar_warnings)
  endif()
  if(_model_PROGRAM)
    add_executable(${_model_PROGRAM} main.cpp)
    target_link_libraries(${_model_PROGRAM} PRIVATE
      ${_library} $<TARGET_NAME_IF_EXISTS:${name}_pictures> dynasoar_app dynasoar_warnings)
  endif()
endfunction()
