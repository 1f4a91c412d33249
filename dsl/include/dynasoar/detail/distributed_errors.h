/// @file
/// Errors and checks of DistributedHandle and DistributedLattice; compiled once for all programs.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <dynasoar/classes/class_table.h>

namespace dynasoar::detail {

/// A text for everything that must be the same on all ranks so that objects can be copied as bytes.
std::string text_of_classes(const ClassTable& classes);

/// A text for everything that must be the same on all ranks for a lattice.
std::string text_of_lattice(const std::vector<std::size_t>& sizes, const std::array<bool, 3>& periodic,
                            std::size_t halo, const std::vector<std::size_t>& layers);

[[noreturn]] void throw_failed_on(int rank, std::string message);
[[noreturn]] void throw_lost_lattice();
[[noreturn]] void throw_reaches_too_far(const std::string& loop, int reads, int writes, int valid);
[[noreturn]] void throw_stale_ghost(const std::string& difference);

}  // namespace dynasoar::detail
