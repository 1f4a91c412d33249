/// @file
/// What all models whose state is objects do with their heap: choose its size, say when it is too small, report its
/// use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/dynasoar.h>
#include <dynasoar/program/saved_options.h>
#include <dynasoar/program/simulation.h>

namespace dynasoar::program {

/// Room for the blocks that the warps of a large GPU open at the same time when a population is created.
inline constexpr std::size_t kSlotsInFlight = std::size_t{1} << 20;

/// The size of a model's heap.
///
/// @param asked    by the user; 0: what is needed
/// @param needed   a size that is enough
/// @param least    what the allocator needs
/// @throws HeapTooSmall if an AllocatorHandle could not be made with it
std::size_t heap_bytes(std::uint64_t asked, std::size_t needed, std::size_t least);

[[noreturn]] void throw_too_small(std::size_t bytes, std::size_t needed, const char* model);

/// Waits for all loops.
///
/// @param model   what the heap is too small for: "ocean"
/// @throws HeapTooSmall if objects could not be created
template <class AllocatorT>
void synchronize(dynasoar::AllocatorHandle<AllocatorT>& handle, std::size_t needed, const char* model) {
  try {
    handle.synchronize();
  } catch (const dynasoar::AllocationError&) {
    throw_too_small(handle.statistics().heap_bytes, needed, model);
  }
}

Usage usage_of(const dynasoar::Statistics& now);

/// What a checkpoint of a run has: the step, the options that the run was made with, and the arrays that its model
/// adds.
class SavedRun {
 public:
  /// @param step   lives as long as this does; loading sets it
  SavedRun(const SavedOptions& options, std::uint32_t& step);
  SavedRun(const SavedRun&) = delete;
  SavedRun& operator=(const SavedRun&) = delete;
  ~SavedRun();

  dynasoar::CheckpointItems& items() { return items_; }

  /// @throws UsageError if the run in the file `path` is of another program, has other options, or more steps than a
  ///         run can make
  void check(const std::string& path) const;

 private:
  std::vector<char> options_;
  dynasoar::CheckpointItems items_;
};

}  // namespace dynasoar::program
