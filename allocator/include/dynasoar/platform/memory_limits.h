/// @file
/// How much memory of the host the process can still have: what the machine has available, what its control groups
/// leave, and what its resource limits leave. For the default limit of heaps (GrowingMemory, HeapMemory).
///
/// All functions that read files of the system take the folder that stands for `/`, so that they can be tested.
#pragma once

#include <cstddef>
#include <filesystem>

namespace dynasoar::detail {

/// No limit.
inline constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);

/// What the kernel says is available (/proc/meminfo); kUnlimited if it says nothing.
std::size_t available_memory(const std::filesystem::path& root = "/");

/// What the memory control groups of the process leave: the least of all that it is in, of versions 1 and 2, with the
/// groups around them. Files in the cache that can be dropped count as free.
std::size_t control_group_memory(const std::filesystem::path& root = "/");

/// What the process may still map, by RLIMIT_AS and RLIMIT_DATA. A quarter of it is left to stacks of threads and to
/// the rest of the program.
std::size_t mappable_memory(const std::filesystem::path& root = "/");

/// The least of the three.
std::size_t host_memory_left(const std::filesystem::path& root = "/");

/// What a heap can get of a device's memory, of which `free` bytes are free. Its addresses are the process's in any
/// case, so no more than the process may map.
///
/// @param is_hosts   whether it is the host's memory, as that of CPUs and integrated GPUs: then, no more than the host
///                   has left
std::size_t device_memory_left(std::size_t free, bool is_hosts, const std::filesystem::path& root = "/");

}  // namespace dynasoar::detail
