# dynasoar::zstd: what a program links to, beside dynasoar::dynasoar, to write and read compressed checkpoints. There is no
# such target where zstd is not installed (Debian, Ubuntu: apt-get install libzstd-dev).

find_path(DYNASOAR_ZSTD_INCLUDE_DIR zstd.h)
find_library(DYNASOAR_ZSTD_LIBRARY zstd)
mark_as_advanced(DYNASOAR_ZSTD_INCLUDE_DIR DYNASOAR_ZSTD_LIBRARY)
if(DYNASOAR_ZSTD_INCLUDE_DIR AND DYNASOAR_ZSTD_LIBRARY AND NOT TARGET dynasoar::zstd)
  add_library(dynasoar::zstd INTERFACE IMPORTED GLOBAL)
  target_include_directories(dynasoar::zstd SYSTEM INTERFACE "${DYNASOAR_ZSTD_INCLUDE_DIR}")
  target_link_libraries(dynasoar::zstd INTERFACE "${DYNASOAR_ZSTD_LIBRARY}")
  target_compile_definitions(dynasoar::zstd INTERFACE DYNASOAR_ZSTD=1)
endif()
