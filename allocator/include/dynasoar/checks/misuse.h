/// @file
/// Misuse: what a program can do wrong with objects, and the record in which device code notes it for the host.
/// Filled by checks.h in checked builds; read by AllocatorHandle, which throws MisuseError.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>

namespace dynasoar {

/// What checked builds detect in device code.
enum class Misuse : int {
  none = -1,
  outside_heap,         ///< a constructor that runs on a variable or other memory, and not in the allocator's heap
  unset_field,          ///< a field that is read, although neither the constructor nor anything else has set it
  null_access,          ///< a field of a null pointer
  stale_access,         ///< a field of an object that has been destroyed
  wrong_class,          ///< a field, or destruction, of an object that is not of the pointer's class
  foreign_pointer,      ///< a pointer that does not come from this allocator
  double_destroy,       ///< destruction, or become, of an object that has been destroyed
  never_created,        ///< destruction or a field of an object that never was
  destroyed_by_other,   ///< destruction, or become, in a loop, of another object that the loop visits
  index_out_of_range,   ///< an element beyond the end of an array field
  nested_construction,  ///< make_new in a constructor in a constructor ..., without end
  outside_loop,         ///< make_new, destroy or become in host code that is not part of a loop
  lost_race  ///< make_new_at or move_to, on a divided lattice, whose place another thread took in the same loop
};
inline constexpr int kMisuses = 13;

/// What the program was doing.
enum class Operation : std::uint32_t { create, destroy, access, construct, become };

/// One offence: who did what to which object.
struct Offence {
  std::uint64_t object = 0;       ///< bits of the pointer
  std::uint64_t by = 0;           ///< bits of the pointer to the object that the loop ran on; 0 if there is none
  Operation operation{};          ///< what was done to it
  std::uint32_t class_index = 0;  ///< the pointer's class, or the first listed one derived from it
  std::uint32_t field = 0;        ///< of that class, inherited ones first
  std::uint64_t element = 0;      ///< index into an array field, if that is the offence
};

/// Counts the offences of each kind and keeps the first of them. Zero at first.
struct MisuseRecord {
  AtomicWord<std::uint64_t> count[kMisuses];
  Offence first[kMisuses];  ///< valid once the count is not 0 and the device is idle

  /// @par Concurrency   any number of threads; the one that counts first writes `first`
  __device__ void add(Misuse kind, const Offence& offence) {
    const auto index = static_cast<int>(kind);
    // relaxed: read when the device is idle.
    if (count[index].fetch_add(1, Order::relaxed) == 0) first[index] = offence;
  }
};

/// All offences of one kind since the last report.
struct MisuseReport {
  Misuse kind;
  std::uint64_t count;
  Offence first;
  std::string text;  ///< for people
};

/// A checked build found misuse since the last synchronizing call; what was asked for was not done (see checks.h).
class MisuseError : public Error {
 public:
  MisuseError(const std::string& message, std::vector<MisuseReport> reports)
      : Error(message), reports_(std::move(reports)) {}

  /// One report per kind that occurred.
  const std::vector<MisuseReport>& reports() const { return reports_; }

 private:
  std::vector<MisuseReport> reports_;
};

}  // namespace dynasoar
