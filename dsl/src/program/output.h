/// @file
/// Checks before a run that its results can be written after it.
#pragma once

#include <string>

namespace dynasoar::program {

/// What an output option says if there is to be no such output.
inline constexpr const char* kNoOutput = "none";

/// @throws UsageError unless the file can be created or overwritten; leaves the disk as it was
void require_writable_file(const std::string& path);

}  // namespace dynasoar::program
