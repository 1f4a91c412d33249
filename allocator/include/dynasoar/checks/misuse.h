/// @file
/// Misuse: the mistakes that a program can make with objects, and the record in which device code notes them for the
/// host. Filled by checks.h in checked builds; read by AllocatorHandle, which throws MisuseError.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>

namespace dynasoar {

/// The mistakes in device code that checked builds detect.
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
  nested_construction,  ///< make_new in constructors that call each other without end
  outside_loop,         ///< make_new, destroy or become in host code that is not part of a loop
  lost_race  ///< make_new_at or move_to on a divided lattice, to a place that another thread took in the same loop
};
inline constexpr int kMisuses = 13;

/// The operation that was misused.
enum class Operation : std::uint32_t { create, destroy, access, construct, become };

/// One case of misuse: the operation, the object, and the object that did it.
struct Offence {
  std::uint64_t object = 0;       ///< bits of the pointer
  std::uint64_t by = 0;           ///< bits of the pointer to the object that the loop ran on; 0 if there is none
  Operation operation{};          ///< the operation
  std::uint32_t class_index = 0;  ///< the pointer's class, or the first listed one derived from it
  std::uint32_t field = 0;        ///< of that class, inherited ones first
  std::uint64_t element = 0;      ///< index into an array field, for index_out_of_range
};

/// Counts the cases of each kind and keeps the first one. Initially zero.
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

/// All cases of one kind since the last report.
struct MisuseReport {
  Misuse kind;
  std::uint64_t count;
  Offence first;
  std::string text;  ///< the message
};

/// A checked build found misuse since the last synchronizing call. The operations were not carried out (see checks.h).
class MisuseError : public Error {
 public:
  MisuseError(const std::string& message, std::vector<MisuseReport> reports)
      : Error(message), reports_(std::move(reports)) {}

  /// One report for each kind that occurred.
  const std::vector<MisuseReport>& reports() const { return reports_; }

 private:
  std::vector<MisuseReport> reports_;
};

}  // namespace dynasoar
