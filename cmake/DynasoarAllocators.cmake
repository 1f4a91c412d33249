set(DYNASOAR_FOREIGN_ALLOCATORS "" CACHE STRING
  "Folders with allocators of other projects, whose CMakeLists.txt calls dynasoar_add_allocator()")

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

# dynasoar_add_allocator(<name> HEADER <file> CLASS <class> [LIBRARIES <target or file>...] [SUITE <file>])
#
# For the CMakeLists.txt in a folder of DYNASOAR_FOREIGN_ALLOCATORS, see docs/how-to/own-allocator.md: applications,
# benchmarks and tests can be compiled for this allocator as for those above. Warnings in headers of its libraries are off.
#
# NAME        for --allocator and DYNASOAR_ALLOCATORS
# HEADER      defines the class, a DeviceMalloc that frees; relative to the calling CMakeLists.txt
# LIBRARIES   what programs link to that use the header
# SUITE       a header with a specialization of MallocSuite (tests/malloc/malloc_suite.h), where the class needs one
function(dynasoar_add_allocator name)
  cmake_parse_arguments(PARSE_ARGV 1 _allocator "" "HEADER;CLASS;SUITE" "LIBRARIES")
  set(_where "dynasoar: dynasoar_add_allocator(${name} ...) in ${CMAKE_CURRENT_SOURCE_DIR}")
  if(_allocator_UNPARSED_ARGUMENTS OR NOT _allocator_HEADER OR NOT _allocator_CLASS)
    message(FATAL_ERROR "${_where} takes HEADER <file> CLASS <class>, and may have LIBRARIES <target or file>... SUITE <file>")
  endif()
  if(NOT name MATCHES "^[a-z][a-z0-9-]*$")
    message(FATAL_ERROR "${_where}: a name begins with a letter and has lower-case letters, digits and '-'")
  endif()
  string(MAKE_C_IDENTIFIER "${name}" _identifier)
  if(TARGET dynasoar_malloc_${_identifier} OR name MATCHES "^(all|every|app|benchmarks|dynasoar|std)$")
    message(FATAL_ERROR "${_where}: the name '${name}' is taken; choose another one")
  endif()
  if(NOT _allocator_CLASS MATCHES "^(::)?[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$")
    message(FATAL_ERROR "${_where}: '${_allocator_CLASS}' is no name of a class; if it is a template with arguments, "
      "give it a name with `using` in the header")
  endif()
  foreach(_file HEADER SUITE)
    get_filename_component(_path "${_allocator_${_file}}" ABSOLUTE)
    if(_allocator_${_file} AND NOT EXISTS "${_path}")
      message(FATAL_ERROR "${_where}: there is no file '${_path}'")
    endif()
    set(_${_file} "\"${_path}\"")
  endforeach()
  _dynasoar_define_malloc(${name} "${_allocator_CLASS}" "${_HEADER}")
  set(_target dynasoar_malloc_${_identifier})
  if(_allocator_SUITE)
    target_compile_definitions(${_target} INTERFACE DYNASOAR_APP_MALLOC_SUITE=${_SUITE})
  endif()
  foreach(_library IN LISTS _allocator_LIBRARIES)
    if(TARGET ${_library})
      target_include_directories(${_target} SYSTEM INTERFACE $<TARGET_PROPERTY:${_library},INTERFACE_INCLUDE_DIRECTORIES>)
    elseif(NOT IS_ABSOLUTE "${_library}" OR NOT EXISTS "${_library}")
      message(FATAL_ERROR "${_where}: '${_library}' is neither a target of CMake nor the absolute path of a library")
    endif()
    target_link_libraries(${_target} INTERFACE ${_library})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY DYNASOAR_FOREIGN_MALLOCS ${name})
  message(STATUS "dynasoar: allocator '${name}' of ${CMAKE_CURRENT_SOURCE_DIR}, for -DDYNASOAR_ALLOCATORS=\"soa;${name}\"")
endfunction()

# The target dynasoar_malloc_<name>: what is compiled for an allocator links to it. app/allocator.h explains the definitions.
function(_dynasoar_define_malloc name class header)
  string(MAKE_C_IDENTIFIER "${name}" _identifier)
  string(REGEX REPLACE "^::" "" class "${class}")
  add_library(dynasoar_malloc_${_identifier} INTERFACE)
  target_compile_definitions(dynasoar_malloc_${_identifier} INTERFACE DYNASOAR_APP_ALLOCATOR=${_identifier}
    DYNASOAR_APP_ALLOCATOR_NAME="${name}" DYNASOAR_APP_MALLOC=::${class} "DYNASOAR_APP_MALLOC_HEADER=${header}")
endfunction()

# dynasoar_define_allocators()
#
# Makes the targets of all allocators: those above, and those in the folders of DYNASOAR_FOREIGN_ALLOCATORS.
function(dynasoar_define_allocators)
  add_library(dynasoar_malloc_soa INTERFACE)
  target_compile_definitions(dynasoar_malloc_soa INTERFACE DYNASOAR_APP_ALLOCATOR=soa)
  foreach(_malloc IN LISTS DYNASOAR_MALLOCS DYNASOAR_PARTIAL_MALLOCS)
    string(REPLACE ":" ";" _malloc "${_malloc}")
    list(GET _malloc 0 _name)
    list(GET _malloc 1 _class)
    list(GET _malloc 2 _header)
    _dynasoar_define_malloc(${_name} dynasoar::${_class} "<dynasoar/malloc/${_header}>")
  endforeach()
  foreach(_malloc IN LISTS DYNASOAR_PARTIAL_MALLOCS)
    string(REGEX REPLACE ":.*" "" _name "${_malloc}")
    string(MAKE_C_IDENTIFIER "${_name}" _identifier)
    target_compile_definitions(dynasoar_malloc_${_identifier} INTERFACE DYNASOAR_APP_MALLOC_IS_PARTIAL)
  endforeach()
  set(_number 0)
  foreach(_folder IN LISTS DYNASOAR_FOREIGN_ALLOCATORS)
    get_filename_component(_folder "${_folder}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
    if(NOT EXISTS "${_folder}/CMakeLists.txt")
      message(FATAL_ERROR "dynasoar: DYNASOAR_FOREIGN_ALLOCATORS has '${_folder}', but there is no CMakeLists.txt in it; "
        "docs/how-to/own-allocator.md says what to write into it")
    endif()
    get_property(_before GLOBAL PROPERTY DYNASOAR_FOREIGN_MALLOCS)
    math(EXPR _number "${_number} + 1")
    add_subdirectory("${_folder}" "${PROJECT_BINARY_DIR}/foreign_allocators/${_number}" EXCLUDE_FROM_ALL)
    get_property(_after GLOBAL PROPERTY DYNASOAR_FOREIGN_MALLOCS)
    if("${_before}" STREQUAL "${_after}")
      message(FATAL_ERROR "dynasoar: ${_folder}/CMakeLists.txt does not call dynasoar_add_allocator(), so it has no allocator")
    endif()
  endforeach()
endfunction()

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
  get_property(_foreign GLOBAL PROPERTY DYNASOAR_FOREIGN_MALLOCS)
  string(REGEX REPLACE ":[^;]*" "" _all "soa;${DYNASOAR_MALLOCS};${_foreign}")
  string(REGEX REPLACE ":[^;]*" "" _every "${_all};${DYNASOAR_PARTIAL_MALLOCS}")
  if(_variants_ALLOCATORS STREQUAL "all")
    set(_variants_ALLOCATORS ${_all})
  elseif(_variants_ALLOCATORS STREQUAL "every")
    set(_variants_ALLOCATORS ${_every})
  endif()
  set_target_properties(${library} PROPERTIES DYNASOAR_ALLOCATORS "${_variants_ALLOCATORS}")
  set(_list "")
  foreach(_name IN LISTS _variants_ALLOCATORS)
    if(NOT _name IN_LIST _every)
      list(JOIN _every " " _every)
      message(FATAL_ERROR "dynasoar: there is no allocator '${_name}', but: ${_every}")
    endif()
    string(MAKE_C_IDENTIFIER "${_name}" _identifier)
    set(_target ${library}_${_identifier})
    set(_malloc dynasoar_malloc_${_identifier})
    add_library(${_target} OBJECT ${_variants_SOURCES})
    target_include_directories(${_target} PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(${_target} PRIVATE dynasoar_model dynasoar::allocators ${_malloc} dynasoar_warnings)
    target_compile_options(${_target} PRIVATE $<TARGET_PROPERTY:${library},COMPILE_OPTIONS>)
    target_compile_definitions(${_target} PRIVATE $<TARGET_PROPERTY:${library},COMPILE_DEFINITIONS>)
    dynasoar_compile_as_cuda(${_target})
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${_target}>)
    get_target_property(_libraries ${_malloc} INTERFACE_LINK_LIBRARIES)
    if(_libraries)
      target_link_libraries(${library} PRIVATE ${_libraries})
    endif()
    string(APPEND _list " X(${_identifier}, \"${_name}\", argument)")
  endforeach()
  file(CONFIGURE OUTPUT allocators/app_allocators.h CONTENT "#pragma once
#define DYNASOAR_APP_ALLOCATORS(X, argument)@_list@
" @ONLY)
  target_include_directories(${library} PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/allocators)
endfunction()
