/// @file
/// write_hdf5: columns as an HDF5 file, for h5py, pandas and others. Not part of dynasoar.h; needs the target
/// dynasoar::hdf5, and throws in programs that are not linked to it.
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

/// Writes a group of the class's name, with a data set for each column (of two dimensions if it has several numbers in
/// a row; of an enumeration if these have labels) and the attribute `step`.
///
/// The file is there as a whole or not at all, as write_file.h says. One thread at a time: HDF5, as distributions have
/// it, does not lock.
/// @throws Error if it cannot be written, or the program is not linked to dynasoar::hdf5
/// @par Cost   memory for the file, beside the columns
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
