/// @file
/// Sizes as people write them, for options such as `--heap 4GiB`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dynasoar::program {

/// The bytes of a whole number that B, KiB, MiB or GiB may follow, with or without a space.
///
/// @return   nothing if `text` is not that, or too large for 64 bits
std::optional<std::uint64_t> parse_size(const std::string& text);

}  // namespace dynasoar::program
