# Compiles one source file and says whether the outcome is as expected:
#
#   cmake -DSOURCE=<file> [-DMISTAKE=<name>] -P check.cmake -- <compiler> <flags>...
#
# With a mistake, which stands behind `#if defined(MISTAKE_<name>)` or such an `#elif`, the file must not compile, and the
# compiler's first error must be a message of this library with the text that the next line announces, `// expect: <text>`.
# If a line `// names: <class>` follows, the compiler must also print the name of that class. Where nvcc has a message of its
# own instead, a line `// expect of nvcc: <text>` stands in between. Without a mistake, the file must compile: that the same
# flags compile the corrected code is what makes the failures believable.
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
  list(APPEND _command -DMISTAKE_${MISTAKE})
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
if(NOT _source MATCHES
   "if defined\\(MISTAKE_${MISTAKE}\\)[^\n]*\n *// expect: ([^\n]+)(\n *// expect of nvcc: ([^\n]+))?(\n *// names: ([^\n]+))?")
  message(FATAL_ERROR "${SOURCE} has no '#if defined(MISTAKE_${MISTAKE})' with '// expect: <text>' behind it")
endif()
set(_expected "${CMAKE_MATCH_1}")
set(_expected_of_nvcc "${CMAKE_MATCH_3}")
set(_class "${CMAKE_MATCH_5}")
set(_parts "dynasoar: " "${_expected}")
list(GET _command 0 _compiler)
if(_compiler MATCHES "nvcc" AND _expected_of_nvcc)
  set(_parts "${_expected_of_nvcc}")
endif()
if(_status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} with ${MISTAKE} compiles, but must not: '${_expected}'")
endif()
string(REGEX REPLACE "[ \n]+" " " _line "${_text}")  # nvcc breaks lines
string(FIND "${_line}" "error" _begin)
string(SUBSTRING "${_line}" ${_begin} -1 _first)
string(REGEX MATCH "^error[^:]*:(.*)$" _first "${_first}")
string(REGEX REPLACE " error: .*" "" _first "${CMAKE_MATCH_1}")
foreach(_part IN LISTS _parts)
  string(FIND "${_first}" "${_part}" _found)
  if(_found EQUAL -1)
    message(FATAL_ERROR "${SOURCE} with ${MISTAKE} does not compile, but the compiler's first error is not '${_expected}':\n${_text}")
  endif()
endforeach()
string(FIND "${_line}" "${_class}" _found)
if(_found EQUAL -1)
  message(FATAL_ERROR "The errors of ${MISTAKE} in ${SOURCE} do not name '${_class}':\n${_text}")
endif()
