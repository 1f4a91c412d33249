/// @file
/// Simulation: what a program runs. Plain C++, so that only the simulations themselves are compiled as CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <dynasoar/columns.h>
#include <dynasoar/statistics.h>

namespace dynasoar::program {

/// How a model is run, whatever it is: a base of the models' parameters.
struct RunParameters {
  std::string allocator = "soa";  ///< of objects; "soa" is DynaSOAr's own
  std::uint64_t heap_bytes = 0;   ///< for objects; 0: enough for the model
  int threads = 0;                ///< on the CPU; 0: one per processor
  int profile_every = 0;          ///< every n-th step is timed phase by phase; 0: none is, and no phase is waited for
};

/// Time spent in one phase of the steps, estimated from the steps that were timed.
struct PhaseTime {
  std::string name;
  double seconds;
};

/// What dynamic allocation did and needs.
struct HeapUsage {
  std::optional<std::uint64_t> allocations;  ///< nothing if not all of them are counted
  std::optional<std::uint64_t> frees;        ///< the same
  std::uint64_t heap_bytes = 0;
  std::uint64_t used_bytes = 0;
  double fragmentation = 0;  ///< share of the slots in occupied blocks that hold no object, 0 to 1
};

/// Where the objects of a simulation are.
struct Usage {
  std::optional<HeapUsage> heap;       ///< nothing if no class has its objects in the heap
  std::vector<TypeStatistics> placed;  ///< the classes that are on lattices
  double slots_used = 0;               ///< share of the slots of occupied blocks, and of places, that hold an object
};

/// The heap has no room for an object that should exist; the results after the last completed step are not valid.
class HeapTooSmall : public std::runtime_error {
 public:
  HeapTooSmall(const std::string& message, std::uint64_t needed_bytes)
      : std::runtime_error(message), needed_bytes_(needed_bytes) {}

  /// A heap size that is enough for this model.
  std::uint64_t needed_bytes() const { return needed_bytes_; }

 private:
  std::uint64_t needed_bytes_;
};

/// A running simulation. One thread uses it at a time.
///
/// On the GPU `step()` and `record()` only submit work; the other functions wait for it. Whatever went wrong
/// is thrown by the next function that waits, as HeapTooSmall or dynasoar::Error.
class Simulation {
 public:
  Simulation() = default;
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  virtual ~Simulation() = default;

  /// Advances by one step.
  virtual void step() = 0;

  /// Notes the present numbers of objects, for the model's history.
  virtual void record() = 0;

  /// Waits until all that was submitted is done.
  virtual void synchronize() = 0;

  /// Times of the phases, in the order in which they run; empty if none were timed.
  virtual std::vector<PhaseTime> phases() { return {}; }

  /// What a user can do so that `save` and `load` are there; empty if they are.
  virtual std::string why_not_saved() const {
    return "are for variants with objects in allocator soa: leave out --baseline and --allocator, or these two";
  }

  /// Writes a checkpoint, see docs/checkpoints.md. @pre why_not_saved() is empty
  virtual void save(const std::string&) { throw std::logic_error("this implementation has no checkpoints"); }

  /// Goes on from a checkpoint of this implementation and these parameters. @pre why_not_saved() is empty, nothing was
  /// recorded
  ///
  /// @return   the number of steps that had been made
  /// @throws dynasoar::Error if the file cannot be read or is of something else; UsageError if of other parameters
  virtual int load(const std::string&) { throw std::logic_error("this implementation has no checkpoints"); }

  /// What a user can do so that `columns` is there; empty if they are.
  virtual std::string why_no_objects() const { return "is for variants with objects: leave out --baseline, or this"; }

  /// The model's objects with their fields. Where they live in numbered cells, the column `cell` has the numbers.
  /// @pre why_no_objects() is empty
  virtual dynasoar::Columns columns() { throw std::logic_error("this implementation has no objects"); }

  /// Nothing for implementations without objects.
  virtual std::optional<Usage> usage() { return std::nullopt; }
};

}  // namespace dynasoar::program
