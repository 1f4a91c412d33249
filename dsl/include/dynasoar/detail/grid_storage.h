/// @file
/// GridStorage: owns the arrays of a UniformGrid, and makes room in them for more objects.
///
/// A grid learns how many objects there are as a heap learns how full it is (heap_growth.h): each rebuild writes their
/// number into a report in the host's memory, which the host reads before the next one without waiting for it. A host
/// that runs the loops itself knows the number before the objects get their places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/detail/grid_arrays.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Whether the host learns only afterwards how many objects a rebuild has met. Tests on a CPU set it, to see what
/// happens on a GPU.
inline bool numbers_come_late = kCudaBackend;

/// The error for objects in a grid for which there is no memory.
inline Error no_memory_for_grid(std::size_t objects, std::size_t bytes) {
  return Error("dynasoar: there is no memory for a UniformGrid of " + std::to_string(objects) +
               " objects, which takes " + std::to_string(bytes) +
               " bytes. The objects are as they were, and the grid is empty: free memory, or delete objects, and "
               "rebuild it");
}

/// Copies what is in a grid to larger arrays.
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
  /// @param objects     that there are
  /// @param asked_for   objects that the host has asked for since the start
  /// @throws Error if there is not enough memory, or room for more than 2^31 objects is asked for
  GridStorage(Executor& executor, std::uint32_t cells, std::size_t capacity, std::uint64_t objects,
              std::uint64_t asked_for)
      : executor_(executor),
        cells_(cells),
        places_(cells, capacity),
        counts_(places_.starts.size()),
        most_(1),
        report_(1),
        objects_{objects, asked_for} {
    for (const auto* words : {&counts_, &places_.starts, &most_}) fill_with_zero(*words);
  }

  GridArrays<Seen> arrays() const {
    return {cells_,
            static_cast<std::uint32_t>(capacity()),
            rebuild_,
            reinterpret_cast<typename GridArrays<Seen>::Counter*>(counts_.data()),
            places_.starts.data(),
            most_.data(),
            report_.data(),
            {places_.seen.data(), places_.objects.data()},
            {places_.unordered_seen.data(), places_.unordered_objects.data()},
            places_.keys.data()};
  }

  std::size_t capacity() const { return places_.seen.size(); }
  std::size_t bytes() const { return counts_.bytes() + most_.bytes() + places_.bytes(); }
  std::uint64_t growths() const { return growths_; }

  /// A rebuild begins: makes room in good time, as far as the host knows and there is memory. Does not wait. While the
  /// rebuild is recorded, it makes no room.
  void begin_rebuild(std::uint64_t asked_for) {
    if (!executor_.is_recording()) {
      make_room_in_time(asked_for, [this](std::size_t objects) { replace(objects); });
    }
    ++rebuild_;
    if (!is_awaited_) awaited_ = {rebuild_, asked_for};
    is_awaited_ = true;
  }

  /// The same before a recorded step. If memory has to move, it waits, as the step has to be recorded again in any
  /// case.
  void begin_step(std::uint64_t asked_for) {
    make_room_in_time(asked_for, [this](std::size_t objects) {
      executor_.wait();
      grow(objects);
    });
  }

  /// The objects have been counted: makes room for all of them, if the host can know how many they are.
  /// @throws Error if there is no memory; the grid is empty then
  void fit_all() {
    if (numbers_come_late) return;
    const std::uint32_t all = value_of(places_.starts.data() + cells_ + 1);
    if (all <= capacity()) return;
    try {
      replace(with_reserve(all));
    } catch (const Error&) {
      fill_with_zero(counts_);
      fill_with_zero(places_.starts);
      throw no_memory_for_grid(all, Places::bytes_for(with_reserve(all)));
    }
    std::swap(places_.starts, retired_.back().starts);  // they are of this rebuild
  }

  /// Grows, if much of the room was needed. @return the objects for which there was not enough; or 0
  /// @pre the device is idle @throws Error if there is no memory for them
  std::uint32_t loops_done() {
    retired_.clear();
    read_report();
    const std::uint32_t most = most_reported_;
    const bool did_fit = most <= capacity();
    try {
      if (is_much(most)) grow(with_reserve(most));
    } catch (const Error&) {
      if (!did_fit) throw no_memory_for_grid(most, Places::bytes_for(with_reserve(most)));
    }
    return did_fit ? 0 : most;
  }

  /// There are other objects now, so many, and none is in the grid. @pre the device is idle
  void restart(std::uint64_t objects, std::uint64_t asked_for) {
    for (const auto* words : {&places_.starts, &most_}) fill_with_zero(*words);
    report_.data()[0] = 0;
    most_reported_ = 0;
    is_awaited_ = false;
    objects_ = {objects, asked_for};
  }

 private:
  static constexpr std::size_t kMostObjects = std::size_t{1} << 31;

  /// What there is for each object, and the starts that belong to it: a view that is older than these arrays shows what
  /// it has shown before.
  struct Places {
    Places(std::size_t cells, std::size_t capacity)
        : seen(checked(capacity)),
          unordered_seen(capacity),
          objects(capacity),
          unordered_objects(capacity),
          keys(capacity),
          starts(cells + GridArrays<Seen>::kMoreCells) {}

    static std::size_t checked(std::size_t capacity) {
      if (capacity <= kMostObjects) return capacity;
      throw Error("dynasoar: a UniformGrid has room for 2^31 objects at most, and not for " + std::to_string(capacity));
    }

    static std::size_t bytes_for(std::size_t capacity) {
      return capacity * (2 * sizeof(Seen) + 3 * sizeof(std::uint64_t));
    }
    std::size_t bytes() const { return bytes_for(seen.size()) + starts.bytes(); }

    DeviceArray<Seen> seen, unordered_seen;
    DeviceArray<std::uint64_t> objects, unordered_objects, keys;
    DeviceArray<std::uint32_t> starts;  // [cells + kMoreCells]
  };

  /// A number of objects, and what the host had asked for by then.
  struct Known {
    std::uint64_t objects, asked_for;
  };

  /// A rebuild, and what the host had asked for before it.
  struct Awaited {
    std::uint32_t rebuild;
    std::uint64_t asked_for;
  };

  static std::uint32_t value_of(const std::uint32_t* on_device) {
    std::uint32_t value = 0;
    copy_from_device(&value, on_device, sizeof value);
    return value;
  }

  /// Room for so many objects that grow in number.
  static std::size_t with_reserve(std::uint64_t objects) { return std::min<std::size_t>(2 * objects, kMostObjects); }

  bool is_much(std::uint64_t objects) const { return objects > capacity() - capacity() / 4; }

  void fill_with_zero(const DeviceArray<std::uint32_t>& words) { executor_.fill_bytes(words.data(), 0, words.bytes()); }

  /// Calls `make_room(objects)`, if there may soon be too many objects. Without memory, fewer must do: it may still
  /// suffice, and else somebody is told when it does not.
  template <class F>
  void make_room_in_time(std::uint64_t asked_for, const F& make_room) {
    read_report();
    const std::uint64_t expected = objects_.objects + (asked_for - objects_.asked_for);
    if (!is_much(expected)) return;
    for (const std::size_t room : {with_reserve(expected), static_cast<std::size_t>(expected)}) {
      if (room <= capacity() || room > kMostObjects) continue;
      try {
        make_room(room);
        return;
      } catch (const Error&) {
      }
    }
  }

  void read_report() {
    const std::uint64_t word = report_[0];
    if (word == 0) return;
    most_reported_ = static_cast<std::uint32_t>(word);
    const auto rebuild = static_cast<std::uint32_t>(word >> 32);
    if (is_awaited_ && static_cast<std::int32_t>(rebuild - awaited_.rebuild) >= 0) {
      objects_ = {most_reported_, awaited_.asked_for};
      is_awaited_ = false;
    } else {  // by a recorded rebuild, or an earlier one: it has counted those that were asked for before, at least
      objects_.objects = std::max<std::uint64_t>(objects_.objects, most_reported_);
    }
  }

  /// Puts larger, empty arrays in the place of those that there are, which loops that are under way may still use.
  void replace(std::size_t objects) {
    Places larger(cells_, objects);
    fill_with_zero(larger.starts);
    retired_.push_back(std::exchange(places_, std::move(larger)));
    ++growths_;
  }

  /// Makes room for so many objects. What is in the grid stays, if it had room. @pre the device is idle
  void grow(std::size_t objects) {
    const std::uint32_t all = value_of(places_.starts.data() + cells_ + 1);
    const Places& before = places_;
    Places larger(cells_, objects);
    if (all <= capacity()) {
      executor_.for_each_index(all, CopyPlace<Seen>{{before.seen.data(), before.objects.data()},
                                                    {larger.seen.data(), larger.objects.data()}});
      std::swap(larger.starts, places_.starts);
    } else {
      fill_with_zero(larger.starts);
    }
    executor_.wait();
    places_ = std::move(larger);
    ++growths_;
  }

  Executor& executor_;
  std::uint32_t cells_;
  Places places_;
  std::vector<Places> retired_;  // until the device is idle
  DeviceArray<std::uint32_t> counts_, most_;
  MailedWords report_;
  std::uint32_t most_reported_ = 0;
  Known objects_;
  std::uint32_t rebuild_ = 0;
  Awaited awaited_{};  // of which a report will tell which objects were counted
  bool is_awaited_ = false;
  std::uint64_t growths_ = 0;
};

}  // namespace dynasoar::detail
