/// @file
/// The host memory that the process can still allocate: the memory available on the machine, and the memory that its
/// control groups and its resource limits leave. For the default limit of heaps (GrowingMemory, HeapMemory).
///
/// All functions that read files of the system take the folder that stands for `/`, so that they can be tested.
#pragma once

#include <cstddef>
#include <filesystem>

namespace dynasoar::detail {

/// No limit.
inline constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);

/// The available memory from /proc/meminfo, in bytes; kUnlimited if it is unknown.
std::size_t available_memory(const std::filesystem::path& root = "/");

/// The memory that the memory control groups of the process leave: the least of all its groups, of versions 1 and 2,
/// and of the groups around them. Cached files that can be dropped count as free.
std::size_t control_group_memory(const std::filesystem::path& root = "/");

/// The memory that the process may still map according to RLIMIT_AS and RLIMIT_DATA, minus a quarter for stacks of
/// threads and the rest of the program.
std::size_t mappable_memory(const std::filesystem::path& root = "/");

/// The least of the three values.
std::size_t host_memory_left(const std::filesystem::path& root = "/");

/// The memory of a device that a heap can have, if `free` bytes are free. The heap takes addresses of the process in
/// any case, so this is at most what the process may map.
///
/// @param is_hosts   whether it is the host's memory, as for CPUs and integrated GPUs. The result is then at most the
///                   free memory of the host
std::size_t device_memory_left(std::size_t free, bool is_hosts, const std::filesystem::path& root = "/");

}  // namespace dynasoar::detail
