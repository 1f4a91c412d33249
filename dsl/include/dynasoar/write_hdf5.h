/// @file
/// write_hdf5: writes columns to an HDF5 file, for h5py, pandas and others. Not included by dynasoar.h. Needs the
/// target dynasoar::hdf5, and throws in programs that are not linked to it.
#pragma once

#include <cstdint>
#include <string>

#include <dynasoar/columns.h>
#include <dynasoar/platform/durable_file.h>
#include <dynasoar/platform/error.h>

#if defined(DYNASOAR_HDF5)
#include <cstddef>
#include <vector>

#include <dynasoar/detail/hdf5_image.h>
#endif

namespace dynasoar {

namespace detail {
#if defined(DYNASOAR_HDF5)
inline constexpr bool kHasHdf5 = true;
#else
inline constexpr bool kHasHdf5 = false;
#endif
}  // namespace detail

/// Writes a group with the name of the class, a data set for each column, and the attribute `step`. The data set of a
/// column with several numbers in a row has two dimensions. That of a column with labels has an enumeration type.
///
/// The file is written as a whole or not at all, see write_file.h. Call this in one thread at a time: HDF5, as Linux
/// distributions build it, does not lock.
/// @throws Error if it cannot be written, or the program is not linked to dynasoar::hdf5
/// @par Cost   takes memory for the whole file, in addition to the columns
inline void write_hdf5([[maybe_unused]] const std::string& path, [[maybe_unused]] const Columns& table,
                       [[maybe_unused]] std::uint64_t step = 0) {
#if defined(DYNASOAR_HDF5)
  const std::vector<std::byte> image = detail::hdf5_image(table, step);
  detail::DurableFile file(path);
  file.write(image.data(), image.size());
  file.commit();
#else
  throw Error("dynasoar: this program was built without HDF5: link it to dynasoar::hdf5, or write CSV or VTK files");
#endif
}

}  // namespace dynasoar
