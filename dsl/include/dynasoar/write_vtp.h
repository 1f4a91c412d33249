/// @file
/// write_vtp: columns as points with data, in a VTK file (XML poly data) that ParaView opens. Not part of dynasoar.h,
/// because few files need it.
#pragma once

#include <string>

#include <dynasoar/columns.h>

namespace dynasoar {

/// Which columns say where the points are. An empty name: 0 for all.
struct VtpOptions {
  std::string x = "x";
  std::string y = "y";
  std::string z;
  double time = 0;  ///< of the frame, which ParaView shows
};

/// Writes a point for each row, with all columns as its data. Coordinates are doubles in the file. What labels mean is
/// an array of texts in the field data, `class names`.
///
/// The file is there as a whole or not at all, as write_file.h says.
/// @throws Error if it cannot be written, or there are no columns of these names
void write_vtp(const std::string& path, const Columns& table, const VtpOptions& options = {});

}  // namespace dynasoar
