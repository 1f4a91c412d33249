/// @file
/// What DistributedHandle and DistributedLattice report; compiled once for all programs.
#pragma once

#include <string>

#include <dynasoar/classes/class_table.h>

namespace dynasoar::detail {

/// All that ranks must agree on for objects to be copied as bytes.
std::string text_of_classes(const ClassTable& classes);

[[noreturn]] void throw_reaches_too_far(const std::string& loop, int reads, int writes, int valid);
[[noreturn]] void throw_stale_ghost(const std::string& difference);
[[noreturn]] void throw_is_recorded(const std::string& loop);

}  // namespace dynasoar::detail
