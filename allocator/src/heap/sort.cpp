#include <dynasoar/heap/sort.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/pointer_updates.h>
#include <dynasoar/heap/sort_tasks.h>
#include <dynasoar/loops/team_loops.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/sort.h>

namespace dynasoar::detail {

namespace {

/// The words of the fields of a class, in groups of four.
std::vector<FieldWords> words_of(const ClassInfo& info) {
  std::vector<FieldWords> all;
  int next = Record::kWords;
  const auto add = [&](std::size_t offset, std::size_t stride, std::size_t bytes) {
    if (next == Record::kWords) {
      all.emplace_back();
      next = 0;
    }
    all.back().words[next++] = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(stride),
                                static_cast<std::uint32_t>(bytes)};
  };
  for (const FieldInfo& field : info.fields) {
    const std::size_t bytes = std::min<std::size_t>(field.alignment, sizeof(std::uint32_t));
    for (std::size_t i = 0; i < field.count; ++i) {
      for (std::size_t at = 0; at < field.bytes; at += bytes) {
        add(field.offset + i * field.stride + at, field.bytes, bytes);
      }
    }
  }
  return all;
}

template <class Words>
void load_move(Executor& executor) {
  load_team_loop<PackLeavers<Words>>(executor);
  load_team_loop<PlaceObjects<Words>>(executor);
}

/// Loads the code of all steps. @throws Error
void load_steps(Executor& executor, const HeapMemory& memory, const ClassSet& moved) {
  load_move<FieldWords>(executor);
  load_team_loop<WriteDestinations>(executor);
  load_pointer_updates<SortedPlaces>(executor, memory.classes(), moved);
  if (memory.is_checked()) load_move<TagWords>(executor);
}

/// Moves some words of all objects.
///
/// @param teams     a good number of teams
/// @param records   memory for the words of objects that leave their team's blocks
template <class Words>
void move(Executor& executor, std::size_t teams, const SortStep& step, const std::uint32_t* destinations,
          const Words& words, Record* records) {
  loop_over_teams(executor, teams, PackLeavers<Words>{step, destinations, words, records});
  loop_over_teams(executor, teams, PlaceObjects<Words>{step, destinations, words, records});
}

/// The memory of a sort.
SortArrays& arrays_of(SortMemory& memory, std::size_t type, SortSize size) {
  if (size == SortSize::counted) return memory.direct;
  if (memory.recorded.size() <= type) memory.recorded.resize(type + 1);
  return memory.recorded[type];
}

}  // namespace

template <class Key>
ObjectSort<Key>::ObjectSort(Executor& executor, const HeapMemory& memory, std::size_t type, SortMemory& scratch,
                            SortSize size)
    : executor_(executor),
      memory_(memory),
      all_scratch_(scratch),
      size_(size),
      scratch_(arrays_of(scratch, type, size)) {
  ClassSet moved;
  moved.add(type);
  sorted_ = {memory.relocated(moved), memory.list(type), static_cast<int>(type), nullptr, nullptr};
  if (size == SortSize::bounded) bound();
  number_objects();
  if (size == SortSize::counted) count();
  if (objects_ > 1) lay_out();
}

template <class Key>
std::size_t ObjectSort<Key>::containers() const {
  return memory_.type(static_cast<std::size_t>(sorted_.type)).allocated.level_size(0);
}

template <class Key>
void ObjectSort<Key>::number_objects() {
  const std::size_t count = containers() + 1;  // so that the last sum is the total
  if (scratch_.counts.size() != 4 * count) {
    scratch_.counts = {};
    scratch_.sums.emplace(count);
    scratch_.counts = DeviceArray<std::uint32_t>(4 * count);
  }
  std::uint32_t* const numbers = scratch_.counts.data();
  const ContainerCounts counts{numbers, numbers + count};
  const ContainerCounts before{numbers + 2 * count, numbers + 3 * count};
  sorted_.entry_count = before.blocks + containers();
  sorted_.object_count = before.objects + containers();
  executor_.for_each_index(count, CountContainers{sorted_, counts});
  scratch_.sums->run(executor_, counts.blocks, before.blocks);
  scratch_.sums->run(executor_, counts.objects, before.objects);
  executor_.for_each_index(containers(), WriteSortedList{sorted_, before});
}

/// Waits until the objects are counted.
template <class Key>
void ObjectSort<Key>::count() {
  std::uint32_t counts[2];
  executor_.wait();
  all_scratch_.replaced.clear();
  copy_from_device(&counts[0], sorted_.entry_count, sizeof counts[0]);
  copy_from_device(&counts[1], sorted_.object_count, sizeof counts[1]);
  entries_ = counts[0];
  objects_ = counts[1];
  check_entries("has ");
}

/// Uses the number of objects for which the heap has room.
template <class Key>
void ObjectSort<Key>::bound() {
  entries_ = memory_.list_capacity(static_cast<std::size_t>(sorted_.type));
  objects_ = entries_ * kSlotsPerBlock;
  check_entries("may have ");
  if (scratch_.counts.size() == 4 * (containers() + 1) && scratch_.objects.size() >= bytes_needed()) return;
  // Without arrays for objects, no recording has been completed that uses the rest.
  if (scratch_.objects.size() > 0) all_scratch_.replaced.push_back(std::move(scratch_));
  scratch_ = {};
}

template <class Key>
void ObjectSort<Key>::check_entries(const char* has) const {
  constexpr std::uint32_t kMostEntries = 0xffffffff / kSlotsPerBlock;
  if (entries_ <= kMostEntries) return;
  throw Error("dynasoar: sort can put the objects of " + std::to_string(kMostEntries) +
              " blocks into order, but this class " + has + std::to_string(entries_) + " blocks. " +
              (size_ == SortSize::counted ? "If most of their slots are free, call compact first"
                                          : "Give the heap less memory, or sort between steps"));
}

/// The bytes of an array with `per_object` bytes per object, rounded up so that the next array is aligned.
template <class Key>
std::size_t ObjectSort<Key>::bytes_of(std::size_t per_object) const {
  constexpr std::size_t kAlignment = 256;
  return (per_object * objects_ + kAlignment - 1) / kAlignment * kAlignment;
}

/// The bytes of both arrays of keys, or those of the records if they need more.
template <class Key>
template <class K>
std::size_t ObjectSort<Key>::key_bytes() const {
  return std::max(2 * bytes_of(sizeof(K)), bytes_of(sizeof(Record)));
}

/// An upper bound, with a byte for each of them.
template <class Key>
std::size_t ObjectSort<Key>::destination_teams() const {
  return entries_ / kBlocksPerDestinationTeam + 1;
}

/// Recorded sorts of a class share memory, even with different keys.
template <class Key>
std::size_t ObjectSort<Key>::bytes_needed() const {
  const auto bytes_for = [this]<class K>(K) {
    return 2 * bytes_of(sizeof(std::uint32_t)) + key_bytes<K>() + sort_scratch_bytes<K>(objects_) + destination_teams();
  };
  return size_ == SortSize::counted ? bytes_for(Key{}) : std::max(bytes_for(Key{}), bytes_for(std::uint64_t{}));
}

// The arrays lie one after the other: numbers, keys, keys, numbers, and the scratch memory of the sort of keys. The
// resulting order is in one of the two arrays of numbers; the other three arrays are then reused for records and
// destinations. Behind all of these is a byte for each team that writes destinations.
template <class Key>
void ObjectSort<Key>::lay_out() {
  const std::size_t numbers = bytes_of(sizeof(std::uint32_t));
  const std::size_t keys = key_bytes<Key>();
  const std::size_t bytes = bytes_needed();
  if (scratch_.objects.size() < bytes) {
    scratch_.objects = {};
    try {
      scratch_.objects = DeviceArray<char>(bytes);
    } catch (const Error& error) {
      throw Error("dynasoar: there is not enough memory to sort " + std::to_string(objects_) + " objects, " +
                  (size_ == SortSize::counted ? "" : "as many as the heap has room for, ") + "which takes " +
                  std::to_string(bytes) + " bytes beside the heap; no object has moved. Give the heap less memory. (" +
                  error.what() + ")");
    }
  }
  char* const first = scratch_.objects.data();
  const auto numbers_at = [&](std::size_t at) { return reinterpret_cast<std::uint32_t*>(first + at); };
  const auto keys_at = [&](std::size_t at) { return reinterpret_cast<Key*>(first + at); };
  pairs_ = {{keys_at(numbers), keys_at(numbers + bytes_of(sizeof(Key)))}, {numbers_at(0), numbers_at(numbers + keys)}};
  // Entries without an object have the largest key. They come last, because the sort is stable.
  if (size_ == SortSize::bounded) executor_.fill_bytes(first, 0xff, numbers + bytes_of(sizeof(Key)));
}

template <class Key>
void ObjectSort<Key>::run(int bits, const OtherPointers& pointers) {
  const std::size_t numbers = bytes_of(sizeof(std::uint32_t));
  char* const radix = reinterpret_cast<char*>(pairs_.numbers[1]) + numbers;
  const int result = sort_pairs(executor_, pairs_, objects_, bits, radix, sort_scratch_bytes<Key>(objects_));
  const std::uint32_t* const order = pairs_.numbers[result];
  char* const room = scratch_.objects.data() + (result == 0 ? numbers : 0);
  auto* const records = reinterpret_cast<Record*>(room);
  auto* const destinations = reinterpret_cast<std::uint32_t*>(room + bytes_of(sizeof(Record)));
  const SortStep step{sorted_, order};
  const std::size_t teams = entries_ / kBlocksPerSortTeam + 1;  // a good number
  load_steps(executor_, memory_, sorted_.heap.wanted);
  // Windows do not pay on a CPU. Checked builds have several for small classes, too, so that tests cover this.
  const std::size_t unchecked_window = kCudaBackend ? kRanksPerSortWindow : objects_;
  const std::size_t window = memory_.is_checked() ? objects_ / 3 + 1 : unchecked_window;
  const std::uint32_t near_ranks = memory_.is_checked() ? kSlotsPerBlock : kNearRanks;
  auto* const moves_far = reinterpret_cast<std::uint8_t*>(radix + sort_scratch_bytes<Key>(objects_));
  for (std::size_t first = 0; first < objects_; first += window) {
    const auto end = static_cast<std::uint32_t>(std::min(first + window, objects_));
    loop_over_teams(
        executor_, destination_teams(),
        WriteDestinations{step, static_cast<std::uint32_t>(first), end, near_ranks, destinations, moves_far});
  }
  for (const FieldWords& words : words_of(memory_.classes()[static_cast<std::size_t>(sorted_.type)])) {
    move(executor_, teams, step, destinations, words, records);
  }
  update_pointers(executor_, memory_.classes(), sorted_.heap.heap.blocks(), SortedPlaces(sorted_, destinations),
                  pointers);
  // Tags move last, because the sweep recognizes stale pointers by the old tags.
  if (memory_.is_checked()) move(executor_, teams, step, destinations, TagWords{}, records);
}

void check_disjoint(View<HandleArray> arrays) {
  for (const HandleArray& one : arrays) {
    for (const HandleArray& other : arrays) {
      if (&one == &other || other.size == 0) continue;
      if (std::greater_equal<>()(other.handles, one.handles) && std::less<>()(other.handles, one.handles + one.size)) {
        throw Error("dynasoar: two arrays of pointers that sort is to update overlap; name each pointer once");
      }
    }
  }
}

template class ObjectSort<std::uint32_t>;
template class ObjectSort<std::uint64_t>;

}  // namespace dynasoar::detail
