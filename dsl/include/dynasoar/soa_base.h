/// @file
/// SoaBase: the root of all classes with objects in an allocator's blocks. DYNASOAR_FIELDS: declares the fields of a
/// class by name. field_names: names fields of classes that declare them as in the paper.
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
/// and `field_names`. The name comes first because a type may contain commas. A class can have from 0 to 340 fields.
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

/// Base of SoaBase, for its `operator delete`. A program that uses `delete` does not compile; the message says what to
/// call instead.
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

/// nvcc compiles `operator delete` for every class with a destructor, so it can have no message there.
template <class AllocatorT>
class NoDelete<AllocatorT, true> {
 public:
  static void operator delete(void*) = delete;
  static void operator delete[](void*) = delete;
};

}  // namespace detail

/// Base of your classes: `class Fish : public SoaBase<AllocatorT>`. A class can also derive from another such class.
///
/// A class declares its fields with DYNASOAR_FIELDS, or with `using FieldTypes = std::tuple<...>` and one SoaField per
/// entry; a subclass of another SOA class also says `using BaseClass = ThatClass;`. It has no other data members, no
/// virtual functions, and one base. Create objects with make_new, and not with `new` or as variables.
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

  /// Whether objects have a place on a lattice. To place them, write `static constexpr bool kPlaced = true;` in the
  /// class; its subclasses inherit this. See dynasoar/lattice.h.
  static constexpr bool kPlaced = false;

  /// Whether a place has room for only one object of all classes of the hierarchy together, instead of one of each
  /// class. If so, write `static constexpr bool kOnePerPlace = true;` in the first placed class of the hierarchy.
  static constexpr bool kOnePerPlace = false;

  /// Whether there is an object at every place of the lattice. If so, write `static constexpr bool kAtEveryPlace =
  /// true;` in the class, which must be placed and have no subclasses. Its lattice creates the objects, with the
  /// constructor that takes no arguments.
  static constexpr bool kAtEveryPlace = false;

  SoaBase(const SoaBase&) = delete;
  SoaBase& operator=(const SoaBase&) = delete;

  // All forms of `new`. A program that uses them does not compile; the message says what to call instead.
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

/// Names for the fields of a class that declares them as in the paper, one per type in FieldTypes. Do not repeat the
/// names of inherited fields.
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

/// The names of all fields of C, inherited ones first, in the order in which they lie in a block. If a class and its
/// base have fields with the same name, the name of the declaring class stands in front, as in "Agent::age_".
template <class C>
std::vector<std::string> all_field_names() {
  return detail::field_names_of(detail::field_infos_v<typename C::Allocator, C>);
}

}  // namespace dynasoar
