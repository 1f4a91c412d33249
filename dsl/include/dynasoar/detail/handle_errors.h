/// @file
/// Errors of AllocatorHandle that do not depend on its type; compiled once for all programs.
#pragma once

#include <cstddef>
#include <string_view>

namespace dynasoar::detail {

/// @param is_one_alive   whether there is a handle of the same allocator type
/// @throws Error if there is one, or if files of this program were compiled with different options
void check_handle_may_be_made(bool is_one_alive);

[[noreturn]] void throw_cannot_fail_on_purpose();

/// @param name   the name of the objects' class
[[noreturn]] void throw_no_room(std::size_t objects, std::string_view name, std::size_t limit_bytes);

[[noreturn]] void throw_does_not_count_accesses();

[[noreturn]] void throw_lists_are_kept();
[[noreturn]] void throw_lists_outlive_step();

[[noreturn]] void throw_objects_have_changed();

}  // namespace dynasoar::detail
