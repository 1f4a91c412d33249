/// @file
/// Four classes of very different sizes under one base, and the heaps that the allocator tests fill with them.
#pragma once

#include <array>
#include <cstdint>

#include <dynasoar/dynasoar.h>

namespace dynasoar::test {

class Tiny;
class Small;
class Medium;
class Large;
using FourTypes = SoaAllocator<Tiny, Small, Medium, Large>;

/// 4 bytes; every class writes its stamp over all of its bytes, to find out about other objects' writes.
class Stamped : public SoaBase<FourTypes> {
 public:
  DYNASOAR_FIELDS(Stamped, (stamp_, std::uint32_t))
  __device__ explicit Stamped(std::uint32_t stamp) : stamp_(stamp) {}
  __device__ bool holds(std::uint32_t stamp) const { return stamp_ == stamp; }
};

/// 4 bytes.
class Tiny : public Stamped {
 public:
  using BaseClass = Stamped;
  DYNASOAR_FIELDS(Tiny)
  __device__ explicit Tiny(std::uint32_t stamp) : Stamped(stamp) {}
  /// For make_new_n: with stamps that ascend, and puts itself into a table.
  __device__ Tiny(std::uint32_t index, Stamped** first, std::size_t stride, std::uint32_t stamp)
      : Stamped(stamp + index) {
    first[index * stride] = this;
  }
};

/// 12 bytes.
class Small : public Stamped {
 public:
  using BaseClass = Stamped;
  DYNASOAR_FIELDS(Small, (a_, std::uint32_t), (b_, float))
  __device__ explicit Small(std::uint32_t stamp) : Stamped(stamp), a_(~stamp), b_(static_cast<float>(stamp % 1024)) {}
  __device__ bool holds(std::uint32_t stamp) const {
    return Stamped::holds(stamp) && a_ == ~stamp && b_ == static_cast<float>(stamp % 1024);
  }
};

/// 40 bytes.
class Medium : public Stamped {
 public:
  using BaseClass = Stamped;
  DYNASOAR_FIELDS(Medium, (values_, std::array<double, 4>), (last_, std::uint32_t))
  __device__ explicit Medium(std::uint32_t stamp) : Stamped(stamp), last_(stamp * 7) {
    for (std::uint32_t i = 0; i < 4; ++i) values_[i] = stamp * 4.0 + i;
  }
  __device__ bool holds(std::uint32_t stamp) const {
    bool good = Stamped::holds(stamp) && last_ == stamp * 7;
    for (std::uint32_t i = 0; i < 4; ++i) good = good && values_[i] == stamp * 4.0 + i;
    return good;
  }
};

/// 204 bytes.
class Large : public Stamped {
 public:
  using BaseClass = Stamped;
  DYNASOAR_FIELDS(Large, (values_, std::array<std::uint64_t, 25>))
  __device__ explicit Large(std::uint32_t stamp) : Stamped(stamp) {
    for (std::uint32_t i = 0; i < 25; ++i) values_[i] = std::uint64_t{stamp} << 8 | i;
  }
  __device__ bool holds(std::uint32_t stamp) const {
    bool good = Stamped::holds(stamp);
    for (std::uint32_t i = 0; i < 25; ++i) good = good && values_[i] == (std::uint64_t{stamp} << 8 | i);
    return good;
  }
};

/// Creates an object of the type with the given index.
__device__ inline Stamped* make_of_type(std::uint32_t type, std::uint32_t stamp) {
  switch (type) {
    case 0: return make_new<Tiny>(stamp);
    case 1: return make_new<Small>(stamp);
    case 2: return make_new<Medium>(stamp);
    default: return make_new<Large>(stamp);
  }
}

/// Whether all bytes of an object are as its constructor left them.
__device__ inline bool intact(Stamped* object, std::uint32_t stamp) {
  if (Tiny* tiny = cast<Tiny>(object)) return tiny->holds(stamp);
  if (Small* small = cast<Small>(object)) return small->holds(stamp);
  if (Medium* medium = cast<Medium>(object)) return medium->holds(stamp);
  if (Large* large = cast<Large>(object)) return large->holds(stamp);
  return false;
}

/// Position of an object's slot among all slots of the heap.
template <class T>
__device__ std::uint32_t slot_number(T* object) {
  const detail::Handle handle(reinterpret_cast<std::uint64_t>(object));
  return T::Allocator::block_of(handle) * 64 + handle.slot();
}

/// Which of its allocator's types an object is of.
template <class T>
__device__ std::uint32_t type_of(T* object) {
  return static_cast<std::uint32_t>(detail::Handle(reinterpret_cast<std::uint64_t>(object)).type_index());
}

/// A heap of exactly that many pages.
template <class Allocator>
HandleOptions heap_of_pages(std::size_t pages, OnRefusal on_refusal = OnRefusal::record) {
  return {.heap_bytes = pages * Allocator::pages().bytes, .on_refusal = on_refusal, .threads = 8};
}

}  // namespace dynasoar::test
