# The CMakeLists.txt beside the examples of an installed library.
cmake_minimum_required(VERSION 3.22)
project(dynasoar_examples LANGUAGES CXX)

find_package(dynasoar REQUIRED OPTIONAL_COMPONENTS allocators)

file(GLOB _examples *.cpp)
if(NOT TARGET dynasoar::allocators)
  list(FILTER _examples EXCLUDE REGEX "own_allocator")
endif()
foreach(_example IN LISTS _examples)
  get_filename_component(_name ${_example} NAME_WE)
  add_executable(${_name} ${_example})
  target_link_libraries(${_name} PRIVATE dynasoar::dynasoar $<TARGET_NAME_IF_EXISTS:dynasoar::allocators>)
  dynasoar_compile_as_cuda(${_name})
endforeach()
