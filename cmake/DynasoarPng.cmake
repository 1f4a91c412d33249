# dynasoar::png: what a program links to, beside dynasoar::dynasoar, for read_png and write_png. There is no such target
# where libpng is not installed (Debian, Ubuntu: apt-get install libpng-dev).

find_path(DYNASOAR_PNG_INCLUDE_DIR png.h)
find_library(DYNASOAR_PNG_LIBRARY NAMES png png16)
mark_as_advanced(DYNASOAR_PNG_INCLUDE_DIR DYNASOAR_PNG_LIBRARY)
if(DYNASOAR_PNG_INCLUDE_DIR AND DYNASOAR_PNG_LIBRARY AND NOT TARGET dynasoar::png)
  add_library(dynasoar::png INTERFACE IMPORTED GLOBAL)
  target_include_directories(dynasoar::png SYSTEM INTERFACE "${DYNASOAR_PNG_INCLUDE_DIR}")
  target_link_libraries(dynasoar::png INTERFACE "${DYNASOAR_PNG_LIBRARY}")
  target_compile_definitions(dynasoar::png INTERFACE DYNASOAR_PNG=1)
endif()
