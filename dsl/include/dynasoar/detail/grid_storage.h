/// @file
/// GridStorage: owns the arrays of a UniformGrid, and makes room in them for more objects.
///
/// On a CPU, the host runs the loops itself, so it knows the number of objects before they get their places. On a GPU,
/// each rebuild writes this number into a report in the host's memory. If there was no room for the objects, it also
/// writes the number into a second word of the report. The second word stays until the next `loops_done`, which reports
/// it even if later rebuilds had enough room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/detail/attachment.h>
#include <dynasoar/detail/grid_arrays.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Whether the host learns the number of objects only after a rebuild. Tests on a CPU set this to simulate a GPU.
inline bool numbers_come_late = kCudaBackend;
/// Whether a rebuild behaves as if it were being recorded. Tests on a CPU set this, because a CPU never records.
inline bool rebuilds_seem_recorded = false;

/// The error if there is no memory for the objects of a grid.
inline Error no_memory_for_grid(std::uint64_t objects, std::size_t bytes) {
  return Error("dynasoar: there is no memory for a UniformGrid of " + std::to_string(objects) +
               " objects, which takes " + std::to_string(bytes) +
               " bytes. The objects are as they were, and the rebuild has left the grid empty: free memory, or delete "
               "objects, and rebuild it");
}

/// Copies the contents of a grid to larger arrays.
template <class Seen>
struct CopyPlace {
  typename GridArrays<Seen>::Places from, to;

  __device__ void operator()(std::size_t i) const {
    to.seen[i] = from.seen[i];
    to.objects[i] = from.objects[i];
  }
};

template <class Seen>
class GridStorage {
 public:
  /// @param objects     the number of objects that exist
  /// @param asked_for   the number of objects that the host has asked for since the start
  /// @throws Error if there is not enough memory, or `capacity` is more than 2^31
  GridStorage(Executor& executor, std::uint32_t cells, std::size_t capacity, std::uint64_t objects,
              std::uint64_t asked_for)
      : executor_(executor),
        cells_(cells),
        places_(capacity),
        counts_(std::size_t{cells} + GridArrays<Seen>::kMoreCells),
        starts_(counts_.size()),
        report_(2),
        known_{objects, asked_for} {
    for (const auto* words : {&counts_, &starts_}) fill_with_zero(*words);
  }

  GridArrays<Seen> arrays() const {
    return {cells_,
            static_cast<std::uint32_t>(capacity()),
            reinterpret_cast<typename GridArrays<Seen>::Counter*>(counts_.data()),
            starts_.data(),
            report_.data(),
            {places_.seen.data(), places_.objects.data()},
            {places_.unordered_seen.data(), places_.unordered_objects.data()},
            places_.keys.data()};
  }

  std::size_t capacity() const { return places_.capacity(); }
  std::size_t bytes() const { return counts_.bytes() + starts_.bytes() + places_.bytes(); }
  std::uint64_t growths() const { return growths_; }

  /// Makes room before a rebuild, or before a step that may contain one. There must be room for the objects of the last
  /// report, and for those that the host has asked for since objects were last counted. The sum may be far too large,
  /// because objects may have been deleted or refused. Therefore the host waits and counts the objects before the grid
  /// grows. Does nothing while a step is recorded.
  ///
  /// @param asked_for       the number of objects that the host has asked for since the start
  /// @param count_objects   returns the number of objects that exist; called when the device is idle
  template <class Count>
  void make_room_in_time(std::uint64_t asked_for, const Count& count_objects) {
    if (!numbers_come_late || out_of_memory_ || rebuilds_seem_recorded || executor_.is_recording()) return;
    read_report();
    if (!is_much(known_.objects + (asked_for - known_.asked_for))) return;
    executor_.wait();
    known_ = {count_objects(), asked_for};
    report_.data()[0] = 0;  // older than this count
    // A lower threshold than that of is_much, so that the host has to count again only after many new objects.
    if (known_.objects > capacity() / 2 + capacity() / 8) out_of_memory_ = !grow(known_.objects);
  }

  /// Makes room for all objects, if the host can know their number. @pre the rebuild has counted them
  /// @throws Error if there is no memory
  void fit_all() {
    if (numbers_come_late) return;
    const std::uint32_t all = value_of(starts_.data() + cells_ + 1);
    if (all <= capacity()) return;
    std::optional<Places> larger = larger_places(all);
    if (!larger) throw no_memory_for_grid(all, Places::bytes_for(all));
    replace(std::move(*larger));
  }

  /// Empties the grid after a rebuild that has failed. Does nothing if the rebuild was being recorded.
  void abandon() noexcept {
    try {
      if (executor_.is_recording()) return;
      for (const auto* words : {&counts_, &starts_}) fill_with_zero(*words);
    } catch (const Error&) {  // the device has failed; the next loop reports that
    }
  }

  /// Makes room if objects needed most of it. @return the objects that did not fit since the last call
  /// @pre the device is idle
  Shortage loops_done() {
    retired_.clear();
    out_of_memory_ = false;
    const std::uint32_t reported = read_report();
    const auto left_out = static_cast<std::uint32_t>(report_[1]);
    for (int word : {0, 1}) report_.data()[word] = 0;
    const std::uint32_t needed = std::max(reported, left_out);
    if (is_much(needed) && grow(needed)) {
      executor_.wait();
      retired_.clear();
    }
    return left_out == 0 ? Shortage{} : shortage(left_out);
  }

  /// Empties the grid, because `objects` new objects have replaced the old ones. @pre the device is idle
  void restart(std::uint64_t objects, std::uint64_t asked_for) {
    fill_with_zero(starts_);
    for (int word : {0, 1}) report_.data()[word] = 0;
    out_of_memory_ = false;
    known_ = {objects, asked_for};
  }

 private:
  static constexpr std::size_t kMostObjects = std::size_t{1} << 31;

  /// The arrays with one element per object.
  struct Places {
    explicit Places(std::size_t capacity)
        : seen(checked(capacity) + kReadBehind),
          unordered_seen(capacity),
          objects(capacity + kReadBehind),
          unordered_objects(capacity),
          keys(capacity) {
      if constexpr (kCudaBackend) {  // searches read behind objects, and initcheck reports uninitialized memory
        seen.fill_bytes(0);
        objects.fill_bytes(0);
      }
    }

    static std::size_t checked(std::size_t capacity) {
      if (capacity <= kMostObjects) return capacity;
      throw Error("dynasoar: a UniformGrid has room for 2^31 objects at most, and not for " + std::to_string(capacity));
    }

    static std::size_t bytes_for(std::size_t capacity) {
      return capacity * (2 * sizeof(Seen) + 3 * sizeof(std::uint64_t));
    }
    std::size_t capacity() const { return keys.size(); }
    std::size_t bytes() const { return bytes_for(capacity()); }

    DeviceArray<Seen> seen, unordered_seen;
    DeviceArray<std::uint64_t> objects, unordered_objects, keys;
  };

  /// A number of objects, and the number that the host had asked for at some time before these were counted.
  struct Known {
    std::uint64_t objects, asked_for;
  };

  static std::uint32_t value_of(const std::uint32_t* on_device) {
    std::uint32_t value = 0;
    copy_from_device(&value, on_device, sizeof value);
    return value;
  }

  bool is_much(std::uint64_t objects) const { return objects > capacity() - capacity() / 4; }

  void fill_with_zero(const DeviceArray<std::uint32_t>& words) { executor_.fill_bytes(words.data(), 0, words.bytes()); }

  /// @return the number of objects in the last report that has arrived; 0 if none has
  std::uint32_t read_report() {
    const auto objects = static_cast<std::uint32_t>(report_[0]);
    if (objects > 0) known_.objects = objects;
    return objects;
  }

  /// The report on a rebuild in which `objects` objects did not fit.
  Shortage shortage(std::uint32_t objects) const {
    if (capacity() < objects) return {no_memory_for_grid(objects, Places::bytes_for(objects)).what(), false};
    return {"dynasoar: a rebuild of a UniformGrid has met " + std::to_string(objects) +
                " objects, more than there was room for, so the grid was empty, and loops over it have run for no "
                "object until it was rebuilt. There is room for " +
                std::to_string(capacity()) +
                " now: repeat the step (see retry_with_growth), or give the grid a greater capacity from the start",
            true};
  }

  /// Arrays that are larger than the current ones: for twice as many objects or, if there is no memory for those, for
  /// exactly `objects`. @return nothing, if there is no memory for these either
  std::optional<Places> larger_places(std::uint64_t objects) const {
    for (const std::uint64_t room : {std::min<std::uint64_t>(2 * objects, kMostObjects), objects}) {
      if (room <= capacity() || room > kMostObjects) continue;
      try {
        return std::optional<Places>(std::in_place, static_cast<std::size_t>(room));
      } catch (const Error&) {
      }
    }
    return std::nullopt;
  }

  /// Makes room for at least `objects` objects. Keeps the contents of the grid, unless the last rebuild left it empty.
  /// @return false if there is no memory for larger arrays @pre the device is idle
  bool grow(std::uint64_t objects) {
    std::optional<Places> larger = larger_places(objects);
    if (!larger) return false;
    const std::uint32_t all = value_of(starts_.data() + cells_ + 1);
    if (all <= capacity()) {
      executor_.for_each_index(all, CopyPlace<Seen>{{places_.seen.data(), places_.objects.data()},
                                                    {larger->seen.data(), larger->objects.data()}});
    } else {
      fill_with_zero(starts_);
    }
    replace(std::move(*larger));
    return true;
  }

  /// Replaces the current arrays by larger ones. Keeps the old ones, because views may still refer to them.
  void replace(Places larger) {
    retired_.push_back(std::exchange(places_, std::move(larger)));
    ++growths_;
  }

  Executor& executor_;
  std::uint32_t cells_;
  Places places_;
  std::vector<Places> retired_;  // old arrays, kept until the next loops_done
  DeviceArray<std::uint32_t> counts_, starts_;
  MailedWords report_;  // see GridArrays
  Known known_;
  bool out_of_memory_ = false;  // reset by the next loops_done
  std::uint64_t growths_ = 0;
};

}  // namespace dynasoar::detail
