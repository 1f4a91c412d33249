# dynasoar::hdf5: what a program links to, beside dynasoar::dynasoar, for write_hdf5. There is no such target where HDF5's C
# library is not installed (Debian, Ubuntu: apt-get install libhdf5-dev).

find_path(DYNASOAR_HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(DYNASOAR_HDF5_LIBRARY NAMES hdf5_serial hdf5)
mark_as_advanced(DYNASOAR_HDF5_INCLUDE_DIR DYNASOAR_HDF5_LIBRARY)
if(DYNASOAR_HDF5_INCLUDE_DIR AND DYNASOAR_HDF5_LIBRARY AND NOT TARGET dynasoar::hdf5)
  add_library(dynasoar::hdf5 INTERFACE IMPORTED GLOBAL)
  target_include_directories(dynasoar::hdf5 SYSTEM INTERFACE "${DYNASOAR_HDF5_INCLUDE_DIR}")
  target_link_libraries(dynasoar::hdf5 INTERFACE "${DYNASOAR_HDF5_LIBRARY}")
  target_compile_definitions(dynasoar::hdf5 INTERFACE DYNASOAR_HDF5=1)
endif()
