/// @file
/// Checks before a run that its results can be written after it. Used for pictures, charts and folders of frames.
#pragma once

#include <string>

namespace app {

/// What an output option says if there is to be no such output.
inline constexpr const char* kNoOutput = "none";

/// @throws UsageError unless the file can be created or overwritten; leaves the disk as it was
void require_writable_file(const std::string& path);

/// Creates the folder and its parents if needed. @throws UsageError unless files can be created in it
void require_writable_folder(const std::string& path);

}  // namespace app
