/// @file
/// SoaBase: the root of every class whose objects live in an allocator's blocks.
#pragma once

#include <cstddef>
#include <type_traits>

#include <dynasoar/platform/config.h>

namespace dynasoar {

namespace detail {

/// Base of SoaBase: `delete`, compiled only for a program that uses it, which has a message of its own then.
template <class AllocatorT, bool kIsCompiledByDestructors = kCudaBackend>
class NoDelete {
 public:
  static void operator delete(void*) { refuse(); }
  static void operator delete[](void*) { refuse(); }

 private:
  static void refuse() {
    static_assert(
        !std::is_same_v<AllocatorT, AllocatorT>,
        "dynasoar: 'delete' cannot destroy an object of this allocator's classes, which has no address of its "
        "own. Call dynasoar::destroy(object), or dynasoar::destroy(this)");
  }
};

/// nvcc compiles them for every class with a destructor, so they can have no message there.
template <class AllocatorT>
class NoDelete<AllocatorT, true> {
 public:
  static void operator delete(void*) = delete;
  static void operator delete[](void*) = delete;
};

}  // namespace detail

/// Base of user classes. `class Fish : public SoaBase<AllocatorT>`, or from a class that derives from it.
///
/// A class declares its fields with DYNASOAR_FIELDS, or with `using FieldTypes = std::tuple<...>` and one SoaField per
/// entry; a subclass of another SOA class also says `using BaseClass = ThatClass;`. It has no other data members, no
/// virtual functions, and one base. Objects are made by make_new, and not by
/// `new` or as variables.
///
/// @tparam AllocatorT   the allocator, as in SoaAllocator<Cell, Fish, Shark>
template <class AllocatorT>
class SoaBase : public detail::NoDelete<AllocatorT> {
 public:
  using Allocator = AllocatorT;
  using BaseClass = void;

  /// Whether objects have a place on a lattice. A class says `static constexpr bool kPlaced = true;` if so; its
  /// subclasses inherit that. See dynasoar/lattice.h.
  static constexpr bool kPlaced = false;

  /// Whether a place has room for one object over all classes of the hierarchy, and not for one of each. The first
  /// class of a placed hierarchy says `static constexpr bool kOnePerPlace = true;` if so.
  static constexpr bool kOnePerPlace = false;

  /// Whether there is an object at every place of the lattice. A placed class without subclasses says `static constexpr
  /// bool kAtEveryPlace = true;` if so. Its lattice creates the objects, with the constructor that takes no arguments.
  static constexpr bool kAtEveryPlace = false;

  SoaBase(const SoaBase&) = delete;
  SoaBase& operator=(const SoaBase&) = delete;

  // `new` in all forms: compiled only for a program that uses it, which has a message of its own then.
  __host__ __device__ static void* operator new(std::size_t) { return refuse_new(); }
  __host__ __device__ static void* operator new[](std::size_t) { return refuse_new(); }
  template <class Place, class... More>
  __host__ __device__ static void* operator new(std::size_t, const Place&, const More&...) {
    return refuse_new();
  }
  template <class Place, class... More>
  __host__ __device__ static void* operator new[](std::size_t, const Place&, const More&...) {
    return refuse_new();
  }

 protected:
  __device__ SoaBase() {}
  ~SoaBase() = default;

 private:
  template <class A = AllocatorT>
  __host__ __device__ static void* refuse_new() {
    static_assert(
        !std::is_same_v<A, A>,
        "dynasoar: 'new' cannot create an object of this allocator's classes, which has no address of its own. "
        "Call dynasoar::make_new<Class>(...) in a loop, or handle.parallel_new<Class>(count, ...)");
    return nullptr;
  }

  // Never read or written. Fields lie behind it, because g++ does not see that a first member's address is the
  // object's.
  char place_;
};

}  // namespace dynasoar
