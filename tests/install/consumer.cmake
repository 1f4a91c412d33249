# Builds a program outside of this project, from the CMakeLists.txt that docs/install.md shows for the WAY:
# find_package (of what `cmake --install` installs from BUILD), package (of what is in the Debian package), add_subdirectory, FetchContent.
cmake_policy(VERSION 3.22)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The block that docs/install.md marks with <!-- consumer: <name> -->.
function(write_cmakelists name file)
  file(READ "${SOURCE}/docs/install.md" _page)
  set(_mark "<!-- consumer: ${name} -->\n```cmake\n")
  string(FIND "${_page}" "${_mark}" _begin)
  if(_begin LESS 0)
    message(FATAL_ERROR "docs/install.md has no CMakeLists.txt for ${name}")
  endif()
  string(LENGTH "${_mark}" _length)
  math(EXPR _begin "${_begin} + ${_length}")
  string(SUBSTRING "${_page}" ${_begin} -1 _page)
  string(FIND "${_page}" "```" _length)
  string(SUBSTRING "${_page}" 0 ${_length} _block)
  file(WRITE "${file}" "${_block}")
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/consumer/" DESTINATION "${WORK}/project")
set(_options -C "${CONSUMER_CACHE}" -G "${GENERATOR}")
if(ARCHITECTURE)
  list(APPEND _options "-DCMAKE_CUDA_ARCHITECTURES=${ARCHITECTURE}")
endif()

if(WAY STREQUAL "find_package")
  run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
  list(APPEND _options "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
  write_cmakelists(find_package "${WORK}/project/CMakeLists.txt")
elseif(WAY STREQUAL "package")
  run("${CPACK}" --config "${BUILD}/CPackConfig.cmake" -B "${WORK}/package")
  file(GLOB _package "${WORK}/package/libdynasoar-dev_*_all.deb")
  run("${DPKG_DEB}" --contents "${_package}")
  foreach(_expected "Depends:[^\n]*libboost-dev" "Depends:[^\n]*python3 \\(>= 3.11\\)" "Maintainer: [^\n]+ <[^\n]+@[^\n]+>"
      "Description: Objects in structure-of-arrays layout[^\n]*\n A C\\+\\+20 library" "Architecture: all" "Section: libdevel")
    execute_process(COMMAND "${DPKG_DEB}" --field "${_package}" OUTPUT_VARIABLE _fields COMMAND_ERROR_IS_FATAL ANY)
    if(NOT _fields MATCHES "${_expected}")
      message(FATAL_ERROR "the package says nothing like '${_expected}', but:\n${_fields}")
    endif()
  endforeach()
  run("${DPKG_DEB}" --extract "${_package}" "${WORK}/root")
  foreach(_file include/dynasoar/dynasoar.h include/dynasoar/heap/soa_allocator.h share/doc/libdynasoar-dev/copyright
      share/dynasoar/gdb/dynasoar_gdb.py bin/dynasoar-sweep share/doc/libdynasoar-dev/README.md
      share/doc/libdynasoar-dev/docs/how-to/sweep.md share/doc/libdynasoar-dev/docs/pictures/sweep.svg
      share/doc/libdynasoar-dev/docs/examples/1_hello_objects.cpp share/doc/libdynasoar-dev/docs/examples/CMakeLists.txt)
    if(NOT EXISTS "${WORK}/root/usr/${_file}")
      message(FATAL_ERROR "the package does not have ${_file}")
    endif()
  endforeach()
  run("${WORK}/root/usr/bin/dynasoar-sweep" --help)
  list(APPEND _options "-DCMAKE_PREFIX_PATH=${WORK}/root/usr")
  write_cmakelists(find_package "${WORK}/project/CMakeLists.txt")
else()
  file(CREATE_LINK "${SOURCE}" "${WORK}/project/dynasoar" SYMBOLIC)
  write_cmakelists(${WAY} "${WORK}/project/CMakeLists.txt")
endif()

run("${CMAKE_COMMAND}" -S "${WORK}/project" -B "${WORK}/build" ${_options})
# An option without the prefix, or a test or application in the consumer's build, would be a surprise.
file(STRINGS "${WORK}/build/CMakeCache.txt" _switched_on REGEX "^DYNASOAR_(APPS|TESTS|BENCHMARKS|INSTALL):BOOL=ON")
if(_switched_on)
  message(FATAL_ERROR "not the top-level project, but these are on: ${_switched_on}")
endif()
# Checks are for whoever builds the program to choose, also with an installed library.
if(WAY STREQUAL "find_package")
  run("${CMAKE_COMMAND}" -S "${WORK}/project" -B "${WORK}/checked" ${_options} -DDYNASOAR_CHECKED=ON
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
  file(READ "${WORK}/checked/compile_commands.json" _commands)
  if(NOT _commands MATCHES "-DDYNASOAR_CHECKED=1")
    message(FATAL_ERROR "DYNASOAR_CHECKED=ON does not reach the program:\n${_commands}")
  endif()
endif()
# Who forgets the build type is told, also by an installed library; who chose one, or says -O, is not.
if(WAY MATCHES "find_package|add_subdirectory" AND NOT GENERATOR MATCHES "Multi-Config|Visual Studio|Xcode")
  foreach(_choice "-DCMAKE_BUILD_TYPE=" "-DCMAKE_BUILD_TYPE=Debug" "-DCMAKE_BUILD_TYPE=;-DCMAKE_CXX_FLAGS=-O2")
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK}/project" -B "${WORK}/no_type" ${_options} -DDYNASOAR_CUDA=OFF ${_choice}
      ERROR_VARIABLE _messages OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX REPLACE "[ \n]+" " " _messages "${_messages}")
    string(FIND "${_messages}" "dynasoar: there is no build type" _place)
    if((_choice STREQUAL "-DCMAKE_BUILD_TYPE=" AND _place EQUAL -1) OR (NOT _choice STREQUAL "-DCMAKE_BUILD_TYPE=" AND _place GREATER -1))
      message(FATAL_ERROR "with ${_choice} CMake says: ${_messages}")
    endif()
  endforeach()
endif()
# The library's sources are the same in every way, and compilers take long for them, nvcc takes minutes: FetchContent is
# add_subdirectory, and with an ARCHITECTURE, only the program's own file is compiled.
if((ARCHITECTURE OR WAY STREQUAL "FetchContent") AND GENERATOR STREQUAL "Ninja")
  run("${CMAKE_COMMAND}" --build "${WORK}/build" --target CMakeFiles/my_simulation.dir/main.cpp.o)
  return()
endif()
if(WAY STREQUAL "package")  # has the same files as find_package has installed, and examples
  run("${CMAKE_COMMAND}" -S "${WORK}/root/usr/share/doc/libdynasoar-dev/docs/examples" -B "${WORK}/examples" ${_options})
  run("${CMAKE_COMMAND}" --build "${WORK}/examples" --target 1_hello_objects)
  run("${WORK}/examples/1_hello_objects")
  return()
endif()
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/my_simulation")
