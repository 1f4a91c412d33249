/// @file
/// Texts for numbers in the output of programs: with thousands separators, SI prefixes, binary sizes and times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dynasoar::program {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);

/// 12345678 as "12.3 M": three significant digits and an SI prefix, also for small values.
std::string si(double value);

/// 1536 as "1.50 KiB".
std::string bytes(std::uint64_t value);

/// 0.0123 as "12.3 ms", 75 as "1 min 15 s".
std::string duration(double seconds);

/// 0.1234 as "12.3%".
std::string percent(double fraction);

/// `one` if `count` is 1, otherwise `many`, after the number: "1 step", "2 steps".
std::string counted(std::uint64_t count, const char* one, const char* many);

/// `text` for messages: control characters and bytes that are not UTF-8 are escaped, and the text is cut after `most`
/// bytes.
std::string shown(std::string_view text, std::size_t most = 40);

}  // namespace dynasoar::program
