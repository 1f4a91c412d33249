/// @file
/// The soak test's objects: six classes of them, and what their fields hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <dynasoar/dynasoar.h>

namespace soak {

using namespace dynasoar;
using dynasoar::detail::Handle;

class Object4;
class Object12;
template <class Value, std::size_t kValues>
class ArrayObject;
using Object28 = ArrayObject<std::uint64_t, 3>;
using Object60 = ArrayObject<std::uint32_t, 14>;
using Object100 = ArrayObject<std::uint64_t, 12>;
using Object200 = ArrayObject<std::uint32_t, 49>;
using Allocator = SoaAllocator<Object4, Object12, Object28, Object60, Object100, Object200>;
constexpr std::uint32_t kTypes = Allocator::kTypes;

/// What a field holds in the object of that id and class: different fields hold different values.
__device__ inline std::uint32_t value_of(std::uint32_t id, std::uint32_t type, std::uint32_t field) {
  return (id ^ (type * 8 + field)) * 2654435761u;
}

/// 4 bytes.
class Object : public SoaBase<Allocator> {
 public:
  DYNASOAR_FIELDS(Object, (id_, std::uint32_t))
  __device__ explicit Object(std::uint32_t id) : id_(id) {}
  __device__ std::uint32_t id() const { return id_; }
};

/// Writes and reads the first, the last and one more element: these are random accesses, and the others would tell no
/// more about the allocator.
template <class Array>
__device__ void write_some(Array& array, std::uint32_t id, std::uint32_t type) {
  const std::size_t any = id % array.size();
  array[any] = value_of(id, type, 2);
  array[0] = value_of(id, type, 0);
  array[array.size() - 1] = value_of(id, type, 1);
}
template <class Array>
__device__ inline bool holds_some(const Array& array, std::uint32_t id, std::uint32_t type) {
  const std::size_t any = id % array.size();
  if (array[0] != value_of(id, type, 0) || array[array.size() - 1] != value_of(id, type, 1)) return false;
  return any == 0 || any == array.size() - 1 || array[any] == value_of(id, type, 2);
}

class Object4 : public Object {
 public:
  using BaseClass = Object;
  DYNASOAR_FIELDS(Object4)
  __device__ explicit Object4(std::uint32_t id) : Object(id) {}
  __device__ bool holds(std::uint32_t id) const { return this->id() == id; }
};

class Object12 : public Object {
 public:
  using BaseClass = Object;
  DYNASOAR_FIELDS(Object12, (a_, std::uint32_t), (b_, std::uint16_t), (c_, std::uint8_t), (d_, std::uint8_t))
  __device__ explicit Object12(std::uint32_t id)
      : Object(id),
        a_(value_of(id, 1, 0)),
        b_(static_cast<std::uint16_t>(value_of(id, 1, 1))),
        c_(static_cast<std::uint8_t>(value_of(id, 1, 2))),
        d_(static_cast<std::uint8_t>(value_of(id, 1, 3))) {}
  __device__ bool holds(std::uint32_t id) const {
    return this->id() == id && a_ == value_of(id, 1, 0) && b_ == static_cast<std::uint16_t>(value_of(id, 1, 1)) &&
           c_ == static_cast<std::uint8_t>(value_of(id, 1, 2)) && d_ == static_cast<std::uint8_t>(value_of(id, 1, 3));
  }
};

template <class Value, std::size_t kValues>
class ArrayObject : public Object {
 public:
  using BaseClass = Object;
  DYNASOAR_FIELDS(ArrayObject, (values_, std::array<Value, kValues>))
  __device__ explicit ArrayObject(std::uint32_t id) : Object(id) { write_some(values_, id, type()); }
  __device__ bool holds(std::uint32_t id) const { return this->id() == id && holds_some(values_, id, type()); }

 private:
  __device__ static constexpr std::uint32_t type() { return Allocator::index_of<ArrayObject>; }
};

__device__ inline Object* create(std::uint32_t type, std::uint32_t id) {
  switch (type) {
    case 0: return dynasoar::make_new<Object4>(id);
    case 1: return dynasoar::make_new<Object12>(id);
    case 2: return dynasoar::make_new<Object28>(id);
    case 3: return dynasoar::make_new<Object60>(id);
    case 4: return dynasoar::make_new<Object100>(id);
    default: return dynasoar::make_new<Object200>(id);
  }
}

__device__ inline std::uint32_t type_of(Object* object) {
  return static_cast<std::uint32_t>(Handle(reinterpret_cast<std::uint64_t>(object)).type_index());
}

__device__ inline bool intact(Object* object, std::uint32_t id) {
  switch (type_of(object)) {
    case 0: return static_cast<Object4*>(object)->holds(id);
    case 1: return static_cast<Object12*>(object)->holds(id);
    case 2: return static_cast<Object28*>(object)->holds(id);
    case 3: return static_cast<Object60*>(object)->holds(id);
    case 4: return static_cast<Object100*>(object)->holds(id);
    case 5: return static_cast<Object200*>(object)->holds(id);
    default: return false;
  }
}

/// Position of an object's slot among all slots of the heap.
__device__ inline std::uint32_t slot_number(Object* object) {
  const Handle handle(reinterpret_cast<std::uint64_t>(object));
  return Allocator::block_of(handle) * 64 + handle.slot();
}

/// Bytes of a page that a slot of the type takes.
__host__ __device__ constexpr std::uint32_t bytes_of(std::uint32_t type) {
  constexpr auto kPages = Allocator::pages();
  return static_cast<std::uint32_t>(kPages.bytes / (kPages.blocks_per_page[type] * 64));
}

}  // namespace soak
