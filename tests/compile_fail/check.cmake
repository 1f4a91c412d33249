# Compiles one source file and says whether the outcome is as expected:
#
#   cmake -DSOURCE=<file> -DMISTAKE=<ON|OFF> -P check.cmake -- <compiler> <flags>...
#
# With MISTAKE the file must not compile, and the compiler's first error must be a message of this library with the text
# that the file's first line announces, `// expect: <text>`. If there is a second line `// names: <class>`, the compiler
# must also print the name of that class. Where nvcc has a message of its own instead, the second line is
# `// expect of nvcc: <text>`. Without MISTAKE, the file must compile: that the same flags compile the
# corrected code is what makes the failures believable.
cmake_minimum_required(VERSION 3.22)

set(_command "")
set(_in_command FALSE)
math(EXPR _last "${CMAKE_ARGC} - 1")
foreach(_i RANGE ${_last})
  if(_in_command)
    list(APPEND _command "${CMAKE_ARGV${_i}}")
  elseif(CMAKE_ARGV${_i} STREQUAL "--")
    set(_in_command TRUE)
  endif()
endforeach()

if(MISTAKE)
  list(APPEND _command -DMISTAKE)
endif()
execute_process(COMMAND ${_command} ${SOURCE}
  RESULT_VARIABLE _status OUTPUT_VARIABLE _text ERROR_VARIABLE _text)

if(NOT MISTAKE)
  if(NOT _status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} must compile, but:\n${_text}")
  endif()
  return()
endif()

file(READ "${SOURCE}" _source)
if(NOT _source MATCHES "^// expect: ([^\n]+)")
  message(FATAL_ERROR "${SOURCE} does not begin with '// expect: <text>'")
endif()
set(_expected "${CMAKE_MATCH_1}")
set(_parts "dynasoar: " "${_expected}")
list(GET _command 0 _compiler)
if(_compiler MATCHES "nvcc" AND _source MATCHES "^[^\n]+\n// expect of nvcc: ([^\n]+)")
  set(_parts "${CMAKE_MATCH_1}")
endif()
if(_status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, but must not: '${_expected}'")
endif()
string(REGEX REPLACE "[ \n]+" " " _line "${_text}")  # nvcc breaks lines
string(FIND "${_line}" "error" _begin)
string(SUBSTRING "${_line}" ${_begin} -1 _first)
string(REGEX MATCH "^error[^:]*:(.*)$" _first "${_first}")
string(REGEX REPLACE " error: .*" "" _first "${CMAKE_MATCH_1}")
foreach(_part IN LISTS _parts)
  string(FIND "${_first}" "${_part}" _found)
  if(_found EQUAL -1)
    message(FATAL_ERROR "${SOURCE} does not compile, but the compiler's first error is not '${_expected}':\n${_text}")
  endif()
endforeach()
if(_source MATCHES "^[^\n]+\n// names: ([^\n]+)")
  string(FIND "${_line}" "${CMAKE_MATCH_1}" _found)
  if(_found EQUAL -1)
    message(FATAL_ERROR "The errors in ${SOURCE} do not name '${CMAKE_MATCH_1}':\n${_text}")
  endif()
endif()
