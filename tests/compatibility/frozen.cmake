# A frozen example: it is the file that was released and, if nothing compiles it, the same as the example that is compiled.
#
# cmake -DFILE=... -DCHECKSUM=... [-DSAME_AS=...] [-DBROKEN=...] -P frozen.cmake
file(SHA256 "${FILE}" found)
if(NOT found STREQUAL CHECKSUM)
  message(FATAL_ERROR "${FILE} has changed. Files of a released version never change: restore it. If a program of that version does not compile any more, "
    "keep the old name as well, or say in broken.txt beside it why that is not possible.")
endif()
if(BROKEN)
  message("not compiled, on purpose: ${BROKEN}")
elseif(SAME_AS)
  file(SHA256 "${SAME_AS}" current)
  if(NOT current STREQUAL CHECKSUM)
    message(FATAL_ERROR "${SAME_AS} has changed since CMake ran: run CMake again, which adds a program for ${FILE}.")
  endif()
  message("not compiled a second time: it is the same as ${SAME_AS}, which is compiled and run")
endif()
