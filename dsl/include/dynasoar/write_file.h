/// @file
/// write_file: any contents as a file. Not part of dynasoar.h, because few files need it.
#pragma once

#include <string>
#include <string_view>

namespace dynasoar {

/// Writes a file that is there as a whole or not at all, whatever happens meanwhile: it is written under another name
/// in the same folder (temporary_path of output_path.h), flushed to the disk and renamed. Symbolic links are followed
/// to the real file, which keeps its mode, and its owner where the program may set it. What is not a regular file, such
/// as /dev/null or a FIFO, is written in place. All writers of the library do the same.
///
/// @throws Error if it cannot be written; then what was there is what it was
void write_file(const std::string& path, std::string_view contents);

}  // namespace dynasoar
