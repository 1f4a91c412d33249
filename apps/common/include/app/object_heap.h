/// @file
/// What all models whose state is objects do with their heap: choose its size, say when it is too small, report its
/// use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <app/saved_options.h>
#include <app/simulation.h>
#include <dynasoar/dynasoar.h>

namespace app {

/// Room for the blocks that the warps of a large GPU open at the same time when a population is created.
inline constexpr std::size_t kSlotsInFlight = std::size_t{1} << 20;

/// The size of a model's heap.
///
/// @param asked    by the user; 0: what is needed
/// @param needed   a size that is enough
/// @param least    what the allocator needs
/// @throws HeapTooSmall if an AllocatorHandle could not be made with it
std::size_t heap_bytes(std::uint64_t asked, std::size_t needed, std::size_t least);

[[noreturn]] void throw_too_small(std::size_t bytes, std::size_t needed, const std::string& model);

/// Waits for all loops.
///
/// @param model   what the heap is too small for: "ocean"
/// @throws HeapTooSmall if objects could not be created
template <class AllocatorT>
void synchronize(dynasoar::AllocatorHandle<AllocatorT>& handle, std::size_t needed, const std::string& model) {
  try {
    handle.synchronize();
  } catch (const dynasoar::AllocationError&) {
    throw_too_small(handle.statistics().heap_bytes, needed, model);
  }
}

Usage usage_of(const dynasoar::Statistics& now);

/// What a checkpoint of a run has beside the objects and their arrays: the step, and the options it was made with.
dynasoar::CheckpointItems run_items(std::uint32_t& step, std::vector<char>& options);

/// @throws UsageError if the run in the file `path` has other options
void check_saved_options(const SavedOptions& options, const std::string& path);

}  // namespace app
