/// @file
/// Values of options: sizes with units, and output files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dynasoar::program {

/// Parses a number of bytes: a whole number, which B, KiB, MiB or GiB may follow, with or without a space.
///
/// @return   nothing if `text` is something else, or the number is too large for 64 bits
std::optional<std::uint64_t> parse_size(const std::string& text);

/// The value of an output option for no output.
inline constexpr const char* kNoOutput = "none";

/// @throws UsageError unless the file can be created or overwritten. Changes nothing on the disk
void require_writable_file(const std::string& path);

}  // namespace dynasoar::program
