/// @file
/// hdf5_image: columns as the bytes of an HDF5 file. Used by write_hdf5 in programs that are linked to dynasoar::hdf5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <hdf5.h>

#include <dynasoar/columns.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

/// Owns an HDF5 identifier, and closes it at the end.
class Hdf5Id {
 public:
  /// @throws Error if the identifier stands for an error
  Hdf5Id(hid_t id, herr_t (*close)(hid_t), const char* what) : id_(id), close_(close) {
    if (id < 0) throw Error(std::string("dynasoar: HDF5 cannot ") + what);
  }
  Hdf5Id(const Hdf5Id&) = delete;
  Hdf5Id& operator=(const Hdf5Id&) = delete;
  ~Hdf5Id() { close_(id_); }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

inline void check_hdf5(herr_t result, const char* what) {
  if (result < 0) throw Error(std::string("dynasoar: HDF5 cannot ") + what);
}

inline hid_t hdf5_type(ColumnType type) {
  const std::array<hid_t, 10> types = {H5T_NATIVE_INT8,  H5T_NATIVE_INT16,  H5T_NATIVE_INT32,  H5T_NATIVE_INT64,
                                       H5T_NATIVE_UINT8, H5T_NATIVE_UINT16, H5T_NATIVE_UINT32, H5T_NATIVE_UINT64,
                                       H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE};
  return types[static_cast<std::size_t>(type)];
}

inline void write_hdf5_column(hid_t group, const Columns& table, const Column& column) {
  const std::array<hsize_t, 2> sizes = {table.rows, column.components};
  const Hdf5Id space(H5Screate_simple(column.components == 1 ? 1 : 2, sizes.data(), nullptr), H5Sclose, "make a space");
  const hid_t number = hdf5_type(column.type);
  const Hdf5Id type(column.labels.empty() ? H5Tcopy(number) : H5Tenum_create(number), H5Tclose, "make a type");
  for (std::size_t i = 0; i < column.labels.size(); ++i) {
    const std::uint64_t value = i;  // little-endian: the low bytes, which HDF5 reads, come first
    check_hdf5(H5Tenum_insert(type, column.labels[i].c_str(), &value), "name a number");
  }
  const Hdf5Id set(H5Dcreate2(group, column.name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
                   "make a data set");
  if (table.rows > 0) {
    check_hdf5(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, column.data.data()), "write a data set");
  }
}

/// The bytes of a file with this table in a group of its name.
inline std::vector<std::byte> hdf5_image(const Columns& table, std::uint64_t step) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are thrown, not printed
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make a property list");
  check_hdf5(H5Pset_fapl_core(access, std::size_t{1} << 20, false), "write to memory");
  const Hdf5Id file(H5Fcreate("columns", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "make a file in memory");
  {
    const Hdf5Id group(H5Gcreate2(file, table.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                       "make a group");
    for (const Column& column : table.columns) write_hdf5_column(group, table, column);
    const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose, "make a space");
    const Hdf5Id attribute(H5Acreate2(group, "step", H5T_NATIVE_UINT64, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                           "make an attribute");
    check_hdf5(H5Awrite(attribute, H5T_NATIVE_UINT64, &step), "write an attribute");
  }
  check_hdf5(H5Fflush(file, H5F_SCOPE_LOCAL), "flush a file in memory");
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  check_hdf5(size < 0 ? -1 : 0, "read its file in memory");
  std::vector<std::byte> image(static_cast<std::size_t>(size));
  check_hdf5(H5Fget_file_image(file, image.data(), image.size()) < 0 ? -1 : 0, "read its file in memory");
  return image;
}

}  // namespace dynasoar::detail
