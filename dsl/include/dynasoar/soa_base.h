/// @file
/// SoaBase: the root of every class whose objects live in an allocator's blocks. DYNASOAR_FIELDS: declares the fields
/// of a class by name. And names of fields, for classes in the paper's form.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/detail/compressed_pointer.h>
#include <dynasoar/detail/field_functions.h>
#include <dynasoar/detail/field_macros.h>
#include <dynasoar/detail/field_names.h>
#include <dynasoar/platform/config.h>

/// `DYNASOAR_FIELDS(Fish, (position_, Cell*), (egg_timer_, std::uint32_t))` declares FieldTypes, one SoaField per pair,
/// and `field_names`. The name comes first because a type may contain commas. Up to 340 fields; none is allowed.
#define DYNASOAR_FIELDS(Class, ...)                                                                                 \
  static_assert(::dynasoar::detail::is_class_text(#Class),                                                          \
                "dynasoar: DYNASOAR_FIELDS begins with the class: DYNASOAR_FIELDS(ThisClass, " #Class ", ...)");    \
  DYNASOAR_FOR_EACH_(DYNASOAR_CHECK_, Class, __VA_ARGS__)                                                           \
  using FieldOwner = Class;                                                                                         \
  using FieldTypes = ::dynasoar::detail::FieldTypesOf<void DYNASOAR_FOR_EACH_(DYNASOAR_TYPE_, Class, __VA_ARGS__)>; \
  static constexpr ::dynasoar::detail::FieldNames<std::tuple_size_v<FieldTypes>> field_names{                       \
      {DYNASOAR_FOR_EACH_(DYNASOAR_NAME_, Class, __VA_ARGS__)}};                                                    \
  DYNASOAR_FOR_EACH_(DYNASOAR_FIELD_, Class, __VA_ARGS__)                                                           \
  DYNASOAR_NEVER_CALLED(__device__ void dynasoar_fields_of_this_class() const {                                     \
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(*this)>, Class>,                                      \
                  "dynasoar: DYNASOAR_FIELDS(" #Class ", ...) names another class than the one it stands in");      \
  })

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

  /// A pointer of 4 bytes to an object of this allocator, for fields: `(next_, CompressedPointer<Node>)`. See
  /// dynasoar::CompressedPointer.
  template <class T>
  using CompressedPointer = dynasoar::CompressedPointer<T, AllocatorT>;

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

/// Names for the fields of a class in the paper's form, one per type in FieldTypes; inherited fields have names
/// already:
///
///     using FieldTypes = std::tuple<float, float>;
///     static constexpr auto field_names = dynasoar::field_names("x_", "y_");
///     dynasoar::SoaField<Body, 0> x_;
///     dynasoar::SoaField<Body, 1> y_;
///
/// A class without them has "field0", "field1" and so on. DYNASOAR_FIELDS declares fields and names at once.
template <class... Names>
requires(std::is_convertible_v<const Names&, const char*>&&...) constexpr detail::FieldNames<
    sizeof...(Names)> field_names(const Names&... names) {
  if constexpr (sizeof...(Names) > 0) {
    return {{names...}};
  } else {
    return {{nullptr}};
  }
}

/// Names of all fields of C, inherited ones first, as they lie in a block; each of them once: where two are alike, as
/// C++ allows for a class and its base, the class that declares each is in front, as in "Agent::age_".
template <class C>
std::vector<std::string> all_field_names() {
  return detail::field_names_of(detail::field_infos_v<typename C::Allocator, C>);
}

}  // namespace dynasoar
