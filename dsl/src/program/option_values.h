/// @file
/// What values of options mean: sizes as people write them, and files that are to be written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dynasoar::program {

/// The bytes of a whole number that B, KiB, MiB or GiB may follow, with or without a space.
///
/// @return   nothing if `text` is not that, or too large for 64 bits
std::optional<std::uint64_t> parse_size(const std::string& text);

/// What an output option says if there is to be no such output.
inline constexpr const char* kNoOutput = "none";

/// @throws UsageError unless the file can be created or overwritten; leaves the disk as it was
void require_writable_file(const std::string& path);

}  // namespace dynasoar::program
