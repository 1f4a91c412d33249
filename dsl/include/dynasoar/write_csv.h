/// @file
/// write_csv: columns as a CSV file. Not part of dynasoar.h, because few files need it.
#pragma once

#include <string>

#include <dynasoar/columns.h>

namespace dynasoar {

/// Writes a line with the names, and one for each row; columns of several numbers are several, `name.0`, `name.1` and
/// so on, and numbers with labels are written as these.
///
/// The file is there as a whole or not at all, as write_file.h says. @throws Error if it cannot be written
void write_csv(const std::string& path, const Columns& table);

}  // namespace dynasoar
