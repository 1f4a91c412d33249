/// @file
/// Pointer updates: what makes pointers to objects that compaction has moved follow them. Used by
/// AllocatorHandle::compact, after compaction.h.
///
/// Source: M. Springer and H. Masuhara, Massively Parallel GPU Memory Compaction, ISMM 2019: one look at all fields
/// that may hold such a pointer, as their types say; a bitmap tells most pointers that stay as they are. Changed: it is
/// the bitmap of open blocks that does: a pointer into a closed block means that its object has moved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/allocator/bitmap.h>
#include <dynasoar/allocator/checks.h>
#include <dynasoar/allocator/compaction.h>
#include <dynasoar/allocator/compaction_state.h>
#include <dynasoar/allocator/handle.h>
#include <dynasoar/allocator/layout.h>
#include <dynasoar/allocator/type_list.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/loops.h>

namespace dynasoar::detail {

inline constexpr std::size_t kUpdatesPerTeam = 2048;  // pointers, or slots, that a team looks at

/// Finds out where objects are that have moved. @tparam T   the class that was compacted
template <class A, class T>
class Forwarding {
 public:
  explicit Forwarding(const CompactionState& state) : state_(state) {}

  /// Whether any object has moved.
  __device__ bool is_needed() const {
    bool needed = false;
    A::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      needed = needed || state_.flags[A::template index_of<S>].moved.load(Order::relaxed) != 0;
    });
    return needed;
  }

  /// Whether the pointer points to an object that has moved, or, as a stale one, into a block that is closed.
  template <class U>
  __device__ bool may_have_moved(U* pointer) const {
    const Handle handle(reinterpret_cast<std::uint64_t>(pointer));
    bool found = false;
    A::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      if (handle.type_index() != A::template index_of<S>) return;
      const std::uint32_t block = block_of<S>(handle);
      found = block != kNoPosition && !bound_state<A>().heap.types[A::template index_of<S>].allocated.get(block);
    });
    return found;
  }

  /// Makes a pointer to an object that has moved point to where it is now. Others stay as they are. @pre may_have_moved
  template <class U>
  __device__ void update(U*& pointer) const {
    const Handle handle(reinterpret_cast<std::uint64_t>(pointer));
    A::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      if (handle.type_index() == A::template index_of<S>) update<S>(handle, pointer);
    });
  }

 private:
  /// The block of an S, or kNoPosition if there is no such place. As A::is_position_of_object and A::block_of, but with
  /// constants only.
  template <class S>
  __device__ static std::uint32_t block_of(Handle handle) {
    constexpr auto kPages = A::pages();
    constexpr std::uint32_t kBlocks = kPages.blocks_per_page[static_cast<std::size_t>(A::template index_of<S>)];
    constexpr auto kBlockBytes = static_cast<std::uint32_t>(block_bytes_v<S>);
    const std::uint64_t page = handle.block_offset() / kPages.bytes;
    const auto within = static_cast<std::uint32_t>(handle.block_offset() - page * kPages.bytes);
    const std::uint32_t index = within / kBlockBytes;
    const bool exists = page < bound_state<A>().heap.pages && index < kBlocks && within == index * kBlockBytes;
    return exists ? static_cast<std::uint32_t>(page) * kPages.block_stride + index : kNoPosition;
  }

  template <class S, class U>
  __device__ void update(Handle handle, U*& pointer) const {
    const BlockList list = bound_state<A>().lists[A::template index_of<S>];
    const std::uint32_t block = block_of<S>(handle);
    // Both are old, or garbage, if the block is no source. Read together, because each takes a while.
    const std::uint32_t entry = state_.entry_of[block];
    const Forward to = forwards_of<A, S>(block)[handle.slot()];
    const std::uint32_t new_entry = entry / kBlocksPerGroup * kBlocksPerGroup + to.member();
    if (to.is_none() || entry >= *list.count || new_entry >= *list.count) return;
    const std::uint32_t source = list.entries[entry].block;
    const std::uint32_t target = list.entries[new_entry].block;
    if (source != block) return;  // it was closed when the list was made
    if constexpr (kChecked) {
      if (A::Checks::generation(block, handle.slot()) != handle.generation()) return;
    }
    const S* const object = A::template object<S>(target, to.slot());
    pointer = reinterpret_cast<U*>(reinterpret_cast<std::uint64_t>(object));
  }

  CompactionState state_;
};

/// What pointers a field's element is made of: `U*`, or arrays of them.
template <class Element>
struct PointersIn {
  using Pointee = void;
  static constexpr std::size_t kCount = 0;
};
template <class U>
struct PointersIn<U*> {
  using Pointee = U;
  static constexpr std::size_t kCount = 1;
};
template <class Element, std::size_t n>
struct PointersIn<std::array<Element, n>> {
  using Pointee = typename PointersIn<Element>::Pointee;
  static constexpr std::size_t kCount = n * PointersIn<Element>::kCount;
};

/// Whether a U* may point to an object of one of the listed classes.
template <class U, class Types>
inline constexpr bool may_point_to_v = false;
template <class U, class... Types>
inline constexpr bool may_point_to_v<U, TypeList<Types...>> = (false || ... ||
                                                               std::is_base_of_v<std::remove_cv_t<U>, Types>);

/// Whether an object of class C has a field that may point to one of the listed classes.
template <class C, class Types>
constexpr bool has_pointers_to() {
  bool found = false;
  for_each_field<C>([&]<class Field>(Field) {
    found = found || may_point_to_v<typename PointersIn<typename Field::Element>::Pointee, Types>;
  });
  return found;
}

/// Updates the pointers in all objects of class C.
template <class A, class T, class C>
class UpdateObjects {
 public:
  struct Scratch {};

  explicit UpdateObjects(const CompactionState& state) : forwarding_(state) {}

  __device__ std::size_t count() const {
    if constexpr (!has_pointers_to<C, Moved>()) return 0;
    return forwarding_.is_needed() ? (*list().count + kBlocksPerTeam - 1) / kBlocksPerTeam : 0;
  }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch&, std::size_t index) const {
    const auto first = static_cast<std::uint32_t>(index * kBlocksPerTeam);
    const std::uint32_t left = *list().count - first;
    const std::uint32_t blocks = left < kBlocksPerTeam ? left : kBlocksPerTeam;
    team.for_each(blocks * static_cast<std::uint32_t>(kSlotsPerBlock), [&](std::uint32_t i) {
      const ListedBlock entry = list().entries[first + i / kSlotsPerBlock];
      const std::uint32_t slot = i % kSlotsPerBlock;
      if ((entry.slots >> slot & 1) != 0) update(entry.block, slot);
    });
  }

 private:
  using Moved = typename A::template Subtypes<T>;

  static constexpr std::uint32_t kBlocksPerTeam = kUpdatesPerTeam / kSlotsPerBlock;

  __device__ static const BlockList& list() { return bound_state<A>().lists[A::template index_of<C>]; }

  __device__ void update(std::uint32_t block, std::uint32_t slot) const {
    char* const memory = memory_of<A, C>(block);
    for_each_field<C>([&]<class Field>(Field) {
      using Element = typename Field::Element;
      using Pointers = PointersIn<Element>;
      using Pointee = typename Pointers::Pointee;
      if constexpr (may_point_to_v<Pointee, Moved>) {
        for (std::size_t i = 0; i < Field::kCount; ++i) {
          char* const element = memory + Field::kOffset + i * Field::kStride + slot * sizeof(Element);
          auto* const pointers = reinterpret_cast<Pointee**>(element);
          for (std::size_t j = 0; j < Pointers::kCount; ++j) {
            if (forwarding_.may_have_moved(pointers[j])) forwarding_.update(pointers[j]);
          }
        }
      }
    });
  }

  Forwarding<A, T> forwarding_;
};

/// Updates the pointers in an array in device memory.
template <class A, class T, class U>
class UpdateArray {
 public:
  struct Scratch {};

  UpdateArray(const CompactionState& state, U** pointers, std::size_t size)
      : forwarding_(state), pointers_(pointers), size_(size) {}

  __device__ std::size_t count() const {
    return forwarding_.is_needed() ? (size_ + kUpdatesPerTeam - 1) / kUpdatesPerTeam : 0;
  }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch&, std::size_t index) const {
    constexpr std::uint32_t kAtOnce = 4;  // by each thread, because each step takes a while
    constexpr std::uint32_t kApart = kUpdatesPerTeam / kAtOnce;
    U** const first = pointers_ + index * kUpdatesPerTeam;
    const std::size_t left = size_ - index * kUpdatesPerTeam;
    team.for_each(kApart, [&](std::uint32_t i) {
      U* values[kAtOnce];
      bool moved[kAtOnce];
      for (std::uint32_t k = 0; k < kAtOnce; ++k) values[k] = i + k * kApart < left ? first[i + k * kApart] : nullptr;
      for (std::uint32_t k = 0; k < kAtOnce; ++k) moved[k] = forwarding_.may_have_moved(values[k]);
      for (std::uint32_t k = 0; k < kAtOnce; ++k) {
        if (moved[k]) forwarding_.update(first[i + k * kApart]);
      }
    });
  }

 private:
  Forwarding<A, T> forwarding_;
  U** pointers_;
  std::size_t size_;
};

}  // namespace dynasoar::detail
