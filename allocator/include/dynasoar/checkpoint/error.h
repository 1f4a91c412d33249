/// @file
/// CheckpointError: the reason why a checkpoint was not loaded. Thrown by AllocatorHandle::load. docs/checkpoints.md
/// has a table of the reasons.
#pragma once

#include <string>

#include <dynasoar/platform/error.h>

namespace dynasoar {

/// The reason why a file cannot be loaded by a program.
enum class CheckpointFault {
  not_a_checkpoint,   ///< the file is something else
  truncated,          ///< its end is missing
  damaged,            ///< its contents have changed since it was written
  older_format,       ///< from an old library: its format can no longer be read
  newer_format,       ///< from a library newer than this one
  other_classes,      ///< the program's classes, or their fields, are not those of the file
  other_values,       ///< the values and arrays named by the program are not those of the file
  checked_build,      ///< a checked build wrote it, and this program is not checked
  heap_too_small,     ///< it has objects behind the end of the heap
  needs_memory,       ///< its contents would take more memory than the caller allows, see LoadOptions
  needs_compression,  ///< it is compressed, and the program was built without zstd
  missing_part,       ///< several ranks saved it, and the file of one is missing or belongs to another save
  lost_while_reading  ///< the file could not be read a second time; the heap is empty now
};

/// A checkpoint could not be loaded. Nothing has changed, except with `lost_while_reading`.
class CheckpointError : public Error {
 public:
  CheckpointError(CheckpointFault fault, const std::string& path, const std::string& text)
      : Error("dynasoar: checkpoint '" + path + "' " + text), fault_(fault) {}

  CheckpointFault fault() const { return fault_; }

 private:
  CheckpointFault fault_;
};

}  // namespace dynasoar
