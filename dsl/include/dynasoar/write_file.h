/// @file
/// write_file: any contents as a file. What a program can find out about its outputs before it computes for hours:
/// check_output_path, same_file. Not part of dynasoar.h, because few files need it.
#pragma once

#include <string>
#include <string_view>

namespace dynasoar {

/// Writes a file that is there as a whole or not at all, whatever happens meanwhile: it is written under another name
/// in the same folder (temporary_path), flushed to the disk and renamed. Symbolic links are followed to the real file,
/// which keeps its mode, and its owner where the program may set it. What is not a regular file, such as /dev/null or a
/// FIFO, is written in place. All writers of the library do the same.
///
/// @throws Error if it cannot be written; then what was there is what it was
void write_file(const std::string& path, std::string_view contents);

/// How an output is written.
enum class OutputUse {
  whole_file,  ///< as a whole or not at all: write_file, write_csv, write_vtp, write_hdf5, layout_svg, heap_svg
  checkpoint,  ///< so, too, but not in order, which FIFOs and terminals do not allow: AllocatorHandle::save
  in_place,    ///< grows while the program runs, such as a log
};

/// Finds out whether an output can be written: whether its folder exists and may be written to, whether names are not
/// too long, whether what is there may be replaced, and whether the name of the temporary file is free. What is there
/// stays as it is. A FIFO is not opened, since its reader would see its end.
///
/// @throws Error with the reason and what to do about it
void check_output_path(const std::string& path, OutputUse use = OutputUse::whole_file);

/// Whether two paths lead to the same file, also by symbolic and hard links, and also if it does not exist yet. Devices
/// such as /dev/null are no files in this sense: several outputs may have the same one.
bool same_file(const std::string& a, const std::string& b);

/// The temporary file that is written before it takes the place of `path`, which therefore cannot be the name of
/// another output. @throws Error if symbolic links lead in a circle
std::string temporary_path(const std::string& path);

}  // namespace dynasoar
