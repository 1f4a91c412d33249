# Allocators that classes can be compiled for: "soa", DynaSOAr's own, and these, as name:class:header, each a DeviceMalloc
# that frees.
set(DYNASOAR_MALLOCS
  toolkit:ToolkitMalloc:toolkit_malloc.h
  bitmap:BitmapMalloc:bitmap_malloc.h
  scatter:ScatterMalloc:scatter_malloc.h
  scatter-separate:ScatterMallocSeparate:scatter_malloc.h
  size-list:SizeListMalloc:list_malloc.h
  mp-lists:MultiprocessorListMalloc:list_malloc.h
  circular:CMalloc:circular_malloc.h
  circular-fused:CFMalloc:circular_malloc.h
  circular-multi:CMMalloc:circular_malloc.h
  circular-fused-multi:CFMMalloc:circular_malloc.h
  rw:RwPages:random_walk.h
  rw-bm:RwBmPages:random_walk.h
  corw:CoRwPages:random_walk.h
  rw-malloc:RwMalloc:rw_malloc.h
  xmalloc:XMalloc:xmalloc.h
  halloc:Halloc:halloc.h
  coalescing:CoalescingMalloc:dynamic_coalescing_malloc.h
  )

# Those that cannot give a single object back, or must be called by many threads together; only benchmarks use them.
set(DYNASOAR_PARTIAL_MALLOCS
  atomic:AtomicMalloc:bump_malloc.h
  atomic-wrap:AWMalloc:bump_malloc.h
  fdg:FdgMalloc:fdg_malloc.h
  coalescing-block:BlockMalloc:coalescing_malloc.h
  coalescing-header-block:HeaderBlockMalloc:coalescing_malloc.h
  coalescing-warp:WarpMalloc:coalescing_malloc.h
  )

# dynasoar_object_variants(<library> SOURCES <file>... [ALLOCATORS <name>...])
#
# Adds DSL variants to a library of models: each source is compiled once per allocator (see app/allocator.h), with the
# library's own options and definitions, and the library gets app_allocators.h, which lists them (see
# app/allocator_choice.h). Names may be "all": those that the applications can use; or "every": also those for benchmarks. The library's property DYNASOAR_ALLOCATORS has the names.
function(dynasoar_object_variants library)
  cmake_parse_arguments(_variants "" "" "SOURCES;ALLOCATORS" ${ARGN})
  if(NOT _variants_ALLOCATORS)
    set(_variants_ALLOCATORS ${DYNASOAR_ALLOCATORS})
  endif()
  if(_variants_ALLOCATORS STREQUAL "all")
    string(REGEX REPLACE ":[^;]*" "" _variants_ALLOCATORS "soa;${DYNASOAR_MALLOCS}")
  endif()
  if(_variants_ALLOCATORS STREQUAL "every")
    string(REGEX REPLACE ":[^;]*" "" _variants_ALLOCATORS "soa;${DYNASOAR_MALLOCS};${DYNASOAR_PARTIAL_MALLOCS}")
  endif()
  set_target_properties(${library} PROPERTIES DYNASOAR_ALLOCATORS "${_variants_ALLOCATORS}")
  set(_list "")
  foreach(_name IN LISTS _variants_ALLOCATORS)
    string(MAKE_C_IDENTIFIER "${_name}" _identifier)
    set(_target ${library}_${_identifier})
    add_library(${_target} OBJECT ${_variants_SOURCES})
    target_include_directories(${_target} PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(${_target} PRIVATE dynasoar_model dynasoar::allocators dynasoar_warnings)
    target_compile_options(${_target} PRIVATE $<TARGET_PROPERTY:${library},COMPILE_OPTIONS>)
    target_compile_definitions(${_target} PRIVATE
      DYNASOAR_APP_ALLOCATOR=${_identifier} $<TARGET_PROPERTY:${library},COMPILE_DEFINITIONS>)
    if(NOT _name STREQUAL "soa")
      if(NOT "${DYNASOAR_MALLOCS};${DYNASOAR_PARTIAL_MALLOCS}" MATCHES "(^|;)${_name}:([A-Za-z]+):([a-z_]+\\.h)")
        message(FATAL_ERROR "dynasoar: there is no allocator '${_name}'; cmake/DynasoarAllocators.cmake has the list")
      endif()
      target_compile_definitions(${_target} PRIVATE
        DYNASOAR_APP_MALLOC=${CMAKE_MATCH_2} DYNASOAR_APP_MALLOC_HEADER=<dynasoar/malloc/${CMAKE_MATCH_3}>)
      if("${DYNASOAR_PARTIAL_MALLOCS}" MATCHES "(^|;)${_name}:")
        target_compile_definitions(${_target} PRIVATE DYNASOAR_APP_MALLOC_IS_PARTIAL)
      endif()
    endif()
    dynasoar_compile_as_cuda(${_target})
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${_target}>)
    string(APPEND _list " X(${_identifier}, \"${_name}\", argument)")
  endforeach()
  file(CONFIGURE OUTPUT allocators/app_allocators.h CONTENT "#pragma once
#define DYNASOAR_APP_ALLOCATORS(X, argument)@_list@
" @ONLY)
  target_include_directories(${library} PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/allocators)
endfunction()
