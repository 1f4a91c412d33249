/// @file
/// become: implements dynasoar::become, and checks which classes may become which. Used by objects.h, and by
/// become_objects.h for many objects at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <dynasoar/checks/access_counts.h>
#include <dynasoar/checks/checks.h>
#include <dynasoar/checks/misuse.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// C or the nearest base of it that is To or a base of To, in a std::type_identity; void if there is none.
template <class C, class To>
constexpr auto common_base() {
  if constexpr (std::is_void_v<C>) {
    return std::type_identity<void>();
  } else if constexpr (std::is_base_of_v<C, To>) {
    return std::type_identity<C>();
  } else {
    return common_base<typename C::BaseClass, To>();
  }
}

/// The number of fields that an object of class C keeps if it becomes a To.
template <class C, class To>
inline constexpr std::size_t kept_fields_v = ClassLayout<typename decltype(common_base<C, To>())::type>::field_count;

/// Checks that objects to which a T* may point can become a To. The most helpful message comes first.
template <class T, class To>
__host__ __device__ constexpr void check_may_become() {
  using A = typename T::Allocator;
  static_assert(!std::is_const_v<T>, "dynasoar: become destroys the object, and this is a pointer to a const object");
  static_assert(A::template index_of<To> >= 0,
                "dynasoar: become: the class that the object is to become is not in the allocator's list, so there are "
                "no objects of it. Add it to SoaAllocator<...>, or, if it is a base class, name one of its subclasses");
  check_listed_or_base<A, T>();
  if constexpr (A::template index_of<To> >= 0) {
    static_assert(ClassRules<A, To>::check());
    constexpr bool kPlaced = is_placed<T>() || is_placed<To>();
    static_assert(!kPlaced,
                  "dynasoar: become: this class is placed on a lattice, and an object at a place cannot become one of "
                  "another class. Destroy it, and create the other one with make_new_at in the next loop");
    constexpr bool kSame = std::is_same_v<T, To> && A::template Subtypes<T>::size == 1;
    static_assert(!kSame, "dynasoar: become: the object is of this class already. Set its fields instead");
    if constexpr (!kPlaced && !kSame) {
      A::template Subtypes<T>::for_each([]<class S>(std::type_identity<S>) {
        static_assert(kept_fields_v<S, To> > 0,
                      "dynasoar: become: the object's class, or a subclass of it, and the class that it is to become "
                      "have no base class with fields in common, so that nothing would be kept. Put the common fields "
                      "into a base class that both name as BaseClass, or use make_new and destroy");
      });
    }
  }
}

/// Copies field I of class C from `from` to `to`.
template <class C, std::size_t I>
__device__ void keep_field(Handle from, Handle to) {
  using A = typename C::Allocator;
  using Arrays = FieldArrays<C, I>;
  using Element = typename Arrays::Element;
  constexpr auto kNumber = static_cast<std::uint32_t>(inherited_fields_v<C> + I);
  if constexpr (A::kFindsMisuse) Checks<A>::carry_unset(from, to, kNumber);
  auto* source = reinterpret_cast<const char*>(A::template field<C, static_cast<int>(I), Element>(from));
  auto* target = reinterpret_cast<char*>(A::template field<C, static_cast<int>(I), Element>(to));
  for (std::size_t i = 0; i < Arrays::kCount; ++i) {
    if constexpr (kCountsAccesses) {
      count_access<A, Access::read>(from, kNumber);
      count_access<A, Access::write>(to, kNumber);
    }
    *reinterpret_cast<Element*>(target) = *reinterpret_cast<const Element*>(source);
    source += A::template kArrayStride<Element>;
    target += A::template kArrayStride<Element>;
  }
}

/// Copies all fields that C and its bases have in common with the class of `from` from there to `to`.
///
/// @tparam T    the class of `from`, or a base of it
/// @tparam C    the class of `to`, or a base of it
template <class T, class C>
__device__ void keep_fields(Handle from, Handle to) {
  if constexpr (!std::is_void_v<C>) {
    keep_fields<T, typename C::BaseClass>(from, to);
    if constexpr (std::is_base_of_v<C, T> || std::is_base_of_v<T, C>) {
      if (std::is_base_of_v<C, T> || is_of_class<C>(from.type_index())) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          (keep_field<C, I>(from, to), ...);
        }
        (std::make_index_sequence<ClassLayout<C>::Own::count>{});
      }
    }
  }
}

/// Creates a To with the values of all common fields of `object`. @return nullptr if the heap is full
template <class To, class T, class... Args>
__device__ To* make_successor(T* object, Args&&... args) {
  To* const successor = To::Allocator::template make_new<To>(std::forward<Args>(args)...);
  if (successor != nullptr) {
    keep_fields<T, To>(Handle(reinterpret_cast<std::uint64_t>(object)),
                       Handle(reinterpret_cast<std::uint64_t>(successor)));
  }
  return successor;
}

/// Implements dynasoar::become.
template <class To, class T, class... Args>
__device__ To* become(T* object, Args&&... args) {
  using A = typename T::Allocator;
  if (object == nullptr) return nullptr;
  const Handle handle(reinterpret_cast<std::uint64_t>(object));
  if constexpr (std::is_base_of_v<T, To>) {
    if (handle.type_index() == A::template index_of<To>) return static_cast<To*>(object);
  }
  if constexpr (A::kFindsMisuse) {
    // Claim the object before creating its successor, so that only one thread creates one.
    if (!Checks<A>::template begin_destroy<T>(handle, Operation::become)) return nullptr;
    To* const successor = make_successor<To>(object, std::forward<Args>(args)...);
    if (successor != nullptr) {
      A::free_checked(object);
    } else {
      Checks<A>::cancel_destroy(handle);
    }
    return successor;
  } else {
    To* const successor = make_successor<To>(object, std::forward<Args>(args)...);
    if (successor != nullptr) A::free(object);
    return successor;
  }
}

}  // namespace dynasoar::detail
