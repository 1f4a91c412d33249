/// @file
/// UpdatePointers: rewrites pointers to objects that have moved. Used by compaction.cpp and sort.cpp. Each has a
/// Relocation, which finds the new places of these objects.
///
/// Source: M. Springer and H. Masuhara, Massively Parallel GPU Memory Compaction, ISMM 2019: a single pass
/// over all fields that may hold such a pointer according to their types.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <dynasoar/base/view.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/device_classes.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/heap/relocated_heap.h>
#include <dynasoar/heap/relocation.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/loops/team_loops.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

/// Finds the new places of moved objects:
///
///   - `heap()` returns the RelocatedHeap. Its objects of the classes `wanted` may have moved.
///   - `is_needed()` returns whether any object has moved.
///   - `may_have_moved(pointer)` returns whether the pointer may point to an object that has moved, ignoring its
///     generation. It reads no memory that is separate for each object.
///   - `update(pointer)` updates a pointer to an object that has moved, and does not change others. It requires that
///     may_have_moved is true.
template <class R>
concept Relocation = requires(const R& relocation, std::uint64_t pointer) {
  { relocation.heap() } -> std::same_as<const RelocatedHeap&>;
  { relocation.is_needed() } -> std::same_as<bool>;
  { relocation.may_have_moved(pointer) } -> std::same_as<bool>;
  { relocation.update(pointer) } -> std::same_as<void>;
};

/// Updates pointers in objects of the heap, in arrays of handles, and in placed objects. Each class and each array is a
/// part of the loop.
///
/// @tparam R       a Relocation
/// @tparam Field   the kind of fields to update: PointerField or CompressedField. Decoding compressed pointers takes
///                 twice as many registers, so handles have a kernel of their own
template <class R, class Field>
class UpdatePointers {
 public:
  static constexpr std::size_t kMost = 8;
  struct Scratch {};

  /// @param objects   whether to update the objects in the heap
  /// @param others    up to kMost arrays and up to kMost placed classes
  UpdatePointers(const R& relocation, bool objects, const OtherPointers& others)
      : relocation_(relocation), classes_(objects ? static_cast<int>(relocation.heap().heap.types.size()) : 0) {
    for (const HandleArray& array : others.arrays) arrays_[array_count_++] = array;
    for (const PlacedBlocks& of_class : others.placed) placed_[placed_count_++] = of_class;
  }

  __device__ int parts() const { return relocation_.is_needed() ? classes_ + array_count_ + placed_count_ : 0; }

  __device__ std::size_t count(int part) const {
    if (part < classes_) return has_pointers(part) ? teams_for(length_of(heap().lists[part]), kBlocksPerTeam) : 0;
    const int array = part - classes_;
    if (array < array_count_) return teams_for(arrays_[array].size, kUpdatesPerTeam);
    return teams_for(placed_[array - array_count_].blocks.blocks, kBlocksPerTeam);
  }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch&, int part, std::size_t index) const {
    const int array = part - classes_;
    if (array < 0) {
      update_objects(team, heap().lists[part], part, index,
                     [&](std::uint32_t block) { return heap().memory_of(block, part); });
    } else if (array < array_count_) {
      update_array(team, arrays_[array], index);
    } else {
      const PlacedBlocks& placed = placed_[array - array_count_];
      const std::size_t bytes = heap().table.classes[placed.type].block_bytes;
      update_objects(team, placed.blocks, placed.type, index,
                     [&](std::uint32_t block) { return placed.base + block * bytes; });
    }
  }

 private:
  static constexpr std::uint32_t kBlocksPerTeam = kUpdatesPerTeam / kSlotsPerBlock;

  __device__ const RelocatedHeap& heap() const { return relocation_.heap(); }

  __device__ static std::size_t teams_for(std::size_t things, std::size_t per_team) {
    return (things + per_team - 1) / per_team;
  }

  /// Whether objects of a class have fields that may point to moved objects.
  __device__ bool has_pointers(int type) const {
    bool found = false;
    for_each_field(type, [&](const Field&) { found = true; });
    return found;
  }

  /// Calls a function with the fields of a class that may point to moved objects.
  template <class F>
  __device__ void for_each_field(int type, const F& function) const {
    const ClassView& table = heap().table;
    const CopiedClass& info = table.classes[type];
    const Field* fields;
    std::uint32_t first, end;
    if constexpr (Field::kIsCompressed) {
      fields = table.compressed_fields;
      first = info.first_compressed_field;
      end = info.end_compressed_field;
    } else {
      fields = table.pointer_fields;
      first = info.first_pointer_field;
      end = info.end_pointer_field;
    }
    for (std::uint32_t i = first; i < end; ++i) {
      if (fields[i].targets.overlaps(heap().wanted)) function(fields[i]);
    }
  }

  /// @param memory_of   returns the address of a block of the list
  template <class Team, class List, class MemoryOf>
  __device__ void update_objects(const Team& team, const List& list, int type, std::size_t index,
                                 const MemoryOf& memory_of) const {
    const auto first = static_cast<std::uint32_t>(index * kBlocksPerTeam);
    const std::uint32_t left = length_of(list) - first;
    const std::uint32_t blocks = left < kBlocksPerTeam ? left : kBlocksPerTeam;
    team.for_each(blocks * static_cast<std::uint32_t>(kSlotsPerBlock), [&](std::uint32_t i) {
      const ListedBlock entry = load_entry(list, first + i / static_cast<std::uint32_t>(kSlotsPerBlock));
      const std::uint32_t slot = i % kSlotsPerBlock;
      if ((entry.slots >> slot & 1) != 0) update_object(memory_of(entry.block), slot, type);
    });
  }

  __device__ void update_object(char* memory, std::uint32_t slot, int type) const {
    for_each_field(type, [&](const Field& field) {
      for (std::uint32_t i = 0; i < field.field.count; ++i) {
        char* const value =
            memory + field.field.offset + std::size_t{i} * field.field.stride + std::size_t{slot} * field.field.bytes;
        auto* const pointers = reinterpret_cast<typename Field::Bits*>(value);
        for (std::uint32_t j = 0; j < field.pointers; ++j) update(pointers[j], field);
      }
    });
  }

  __device__ void update(std::uint64_t& handle, const PointerField&) const {
    if (relocation_.may_have_moved(handle)) relocation_.update(handle);
  }

  /// Updates a compressed pointer as the Relocation updates its handle.
  __device__ void update(std::uint32_t& pointer, const CompressedField& field) const {
    const Handle found = field.format.decode(pointer);
    if (!relocation_.may_have_moved(found.bits())) return;
    const std::uint32_t block = heap().block_of(found, found.type_index());
    if (block == kNoPosition) return;  // an undefined value
    const std::uint32_t generation = heap().generation_of(block, found.slot());
    const std::uint64_t before = found.with_generation(field.format.generation_of(pointer, generation)).bits();
    std::uint64_t now = before;
    relocation_.update(now);
    if (now != before) pointer = field.format.encode(Handle(now));
  }

  template <class Team>
  __device__ void update_array(const Team& team, const HandleArray& array, std::size_t index) const {
    constexpr std::uint32_t kApart = kUpdatesPerTeam / kUpdatesAtOnce;
    std::uint64_t* const first = array.handles + index * kUpdatesPerTeam;
    const std::size_t left = array.size - index * kUpdatesPerTeam;
    team.for_each(kApart, [&](std::uint32_t i) {
      std::uint64_t values[kUpdatesAtOnce];
      bool moved[kUpdatesAtOnce];
      for (std::uint32_t k = 0; k < kUpdatesAtOnce; ++k) values[k] = i + k * kApart < left ? first[i + k * kApart] : 0;
      for (std::uint32_t k = 0; k < kUpdatesAtOnce; ++k) moved[k] = relocation_.may_have_moved(values[k]);
      for (std::uint32_t k = 0; k < kUpdatesAtOnce; ++k) {
        if (moved[k]) relocation_.update(first[i + k * kApart]);
      }
    });
  }

  R relocation_;
  HandleArray arrays_[kMost] = {};
  PlacedBlocks placed_[kMost] = {};
  int array_count_ = 0;
  int placed_count_ = 0;
  int classes_;
};

/// A good number of teams to update this number of pointers or slots.
inline std::size_t teams_for_updates(std::size_t updates) {
  return updates / kUpdatesPerTeam + 1;
}

/// Updates the pointers to objects that have moved: those in fields of one kind, and those in arrays.
///
/// @param blocks   the number of blocks in the heap
template <class Field, class R>
void update_fields(Executor& executor, bool objects, std::size_t blocks, const R& relocation,
                   const OtherPointers& others) {
  constexpr std::size_t kMost = UpdatePointers<R, Field>::kMost;
  View<HandleArray> arrays = others.arrays;
  View<PlacedBlocks> placed = others.placed;
  while (objects || !arrays.empty() || !placed.empty()) {
    const OtherPointers now{arrays.first(std::min(arrays.size(), kMost)), placed.first(std::min(placed.size(), kMost))};
    std::size_t most = objects ? teams_for_updates(blocks * kSlotsPerBlock) : 0;
    for (const HandleArray& array : now.arrays) most += teams_for_updates(array.size);
    for (const PlacedBlocks& of_class : now.placed) most += teams_for_updates(of_class.blocks.blocks * kSlotsPerBlock);
    loop_over_teams(executor, most, UpdatePointers<R, Field>(relocation, objects, now));
    arrays = arrays.without_first(now.arrays.size());
    placed = placed.without_first(now.placed.size());
    objects = false;
  }
}

/// Whether objects in the heap, or those of placed classes, have fields of a kind that may point to some classes.
template <class Field>
bool have_fields(const ClassTable& classes, const ClassSet& targets, bool are_placed) {
  bool found = false;
  for (const ClassInfo& info : classes.classes) {
    for (const FieldInfo& field : info.fields) {
      found = found || (info.is_placed == are_placed && (field.format != nullptr) == Field::kIsCompressed &&
                        field.targets.overlaps(targets));
    }
  }
  return found;
}

/// Loads the code of update_pointers, so that it does not fail after objects have moved. @throws Error
///
/// @param wanted   classes whose objects may move
template <class R>
void load_pointer_updates(Executor& executor, const ClassTable& classes, const ClassSet& wanted) {
  load_team_loop<UpdatePointers<R, PointerField>>(executor);
  if (have_fields<CompressedField>(classes, wanted, false) || have_fields<CompressedField>(classes, wanted, true)) {
    load_team_loop<UpdatePointers<R, CompressedField>>(executor);
  }
}

/// Updates the pointers to objects that have moved. Submits one kernel, another one if there are compressed pointers,
/// and another one for every eight arrays or placed classes after the first eight. The kernels return at once if
/// nothing has moved.
///
/// @param blocks   the number of blocks in the heap
template <class R>
void update_pointers(Executor& executor, const ClassTable& classes, std::size_t blocks, const R& relocation,
                     const OtherPointers& others) {
  static_assert(Relocation<R>);
  const ClassSet wanted = relocation.heap().wanted;
  update_fields<PointerField>(executor, have_fields<PointerField>(classes, wanted, false), blocks, relocation, others);
  View<PlacedBlocks> placed;
  if (have_fields<CompressedField>(classes, wanted, true)) placed = others.placed;
  update_fields<CompressedField>(executor, have_fields<CompressedField>(classes, wanted, false), blocks, relocation,
                                 {{}, placed});
}

}  // namespace dynasoar::detail
