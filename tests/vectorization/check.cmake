# Compiles each loop of loops.cpp and fails if the compiler's report does not say that the loop over the slots of a full
# block is vectorized.
#
#   cmake -DCOMPILER=<g++ or clang++> -DSOURCE=<loops.cpp> -P check.cmake -- <option>...
set(_options "")
set(_after_dashes OFF)
math(EXPR _last "${CMAKE_ARGC} - 1")
foreach(_i RANGE ${_last})
  if(_after_dashes)
    list(APPEND _options "${CMAKE_ARGV${_i}}")
  elseif(CMAKE_ARGV${_i} STREQUAL "--")
    set(_after_dashes ON)
  endif()
endforeach()
if(COMPILER MATCHES "clang")
  list(APPEND _options -Rpass=loop-vectorize -gline-tables-only)
else()
  list(APPEND _options -fopt-info-vec)
endif()

set(_failed "")
set(_last 8)
if(COMPILER MATCHES "clang")
  set(_last 6)
endif()
foreach(_loop RANGE 1 ${_last})
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -O3 -DNDEBUG -DDYNASOAR_CHECKED=0 -DLOOP=${_loop} ${_options}
      -S -o /dev/null ${SOURCE}
    RESULT_VARIABLE _status OUTPUT_VARIABLE _report ERROR_VARIABLE _report)
  if(NOT _status EQUAL 0)
    message(FATAL_ERROR "${COMPILER} failed:\n${_report}")
  endif()
  if(NOT _report MATCHES "(object_loops|bits|place_calls)\\.h:[0-9]+:[0-9]+: (optimized: loop|remark: vectorized loop)")
    list(APPEND _failed ${_loop})
    message("Report of loop ${_loop}:\n${_report}")
  endif()
endforeach()
if(_failed)
  message(FATAL_ERROR "${COMPILER} has not vectorized these loops of ${SOURCE} over the slots of a full block: ${_failed}. "
    "What it needs is said in visited_block.h, soa_base.h and soa_field.h (assign_byte)")
endif()
