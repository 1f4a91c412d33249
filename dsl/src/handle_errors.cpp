#include <dynasoar/detail/handle_errors.h>

#include <string>

#include <dynasoar/base/number_text.h>
#include <dynasoar/checks/access_counts.h>
#include <dynasoar/checks/checks.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

void check_handle_may_be_made(bool is_one_alive) {
  if (is_one_alive) {
    throw Error(
        "dynasoar: an AllocatorHandle of this allocator type is alive already; destroy it first, or give the "
        "second one an allocator type of its own");
  }
  if (kinds_of_build == (kCheckedBuild | kUncheckedBuild)) {
    throw Error(
        "dynasoar: some files of this program were compiled with DYNASOAR_CHECKED=1 and some with 0 (the default "
        "is 1 where NDEBUG is not defined); they do not fit together. Compile all of them with the same setting");
  }
  if (counting_of_files == (kFileCounts | kFileDoesNotCount)) {
    throw Error(
        "dynasoar: some files of this program were compiled with DYNASOAR_COUNT_ACCESSES=1 and some without; they do "
        "not fit together. Compile all of them with the same setting");
  }
}

void throw_cannot_fail_on_purpose() {
  throw Error(
      "dynasoar: only a SoaAllocator in a checked build lets allocations fail on purpose; compile with "
      "DYNASOAR_CHECKED=1");
}

void throw_no_room(std::size_t objects, std::string_view name, std::size_t limit_bytes) {
  throw Error("dynasoar: there is no room for " + std::to_string(objects) + " more objects of " + std::string(name) +
              " in a heap that may have " + std::to_string(limit_bytes) +
              " bytes; make the handle with a higher heap_limit_bytes");
}

void throw_does_not_count_accesses() {
  throw Error(
      "dynasoar: this build does not count accesses to fields; compile all files with DYNASOAR_COUNT_ACCESSES=1 "
      "(-DDYNASOAR_COUNT_ACCESSES=ON)");
}

void throw_lists_are_kept() {
  throw Error(
      "dynasoar: neither load nor become can be called while lists are kept, for they are of the objects before; end "
      "the scope of what keep_lists returned");
}

void throw_lists_outlive_step() {
  throw Error(
      "dynasoar: a recorded step has called keep_lists() and keeps the result, but the step makes its lists only while "
      "it runs; call keep_lists() before the step, or end the scope of its result in the step");
}

void throw_objects_have_changed() {
  throw Error(
      "dynasoar: objects were created or deleted since keep_lists(), so this loop would visit objects that there "
      "are not; end the scope of what keep_lists returned before it");
}

}  // namespace dynasoar::detail

namespace dynasoar {

void CompactionOptions::check() const {
  if (above >= 0 && above <= 1) return;
  throw Error("dynasoar: CompactionOptions::above is a fraction of free slots, from 0 to 1, and not " +
              detail::number_text(above));
}

void SortOptions::check() const {
  constexpr int kMost = 64;
  if (key_bits >= 0 && key_bits <= kMost) return;
  throw Error(
      "dynasoar: SortOptions::key_bits is a number of bits, from 1 to 64, or 0 for all bits of a key, and not " +
      std::to_string(key_bits));
}

}  // namespace dynasoar
