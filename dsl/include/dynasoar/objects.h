/// @file
/// Functions for objects in device code: make_new, make_new_n, destroy, become, cast, is_a, device_do; call, for
/// methods that subclasses override; print, for debugging.
///
/// Source: DynaSOAr, section 2.1. Each class names its allocator, so you do not pass one.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/detail/become.h>
#include <dynasoar/detail/calls.h>
#include <dynasoar/detail/print_object.h>
#include <dynasoar/heap/placed_objects.h>
#include <dynasoar/heap/soa_allocator.h>
#include <dynasoar/platform/config.h>

/// Defines a callable type for all methods with a name: after `DYNASOAR_METHOD(Step, step);`, `Step{}(object, args...)`
/// calls `object->step(args...)`. C++ cannot find the method of a subclass from `&Agent::step`, only from its name.
///
///     DYNASOAR_METHOD(Step, step);
///     dynasoar::call<Step>(agent, dt);        // in device code: the step of the agent's own class
///     handle.parallel_do<Agent>(Step{}, dt);  // the steps of all agents
///     dynasoar::device_do<Agent>(Step{}, dt);
#define DYNASOAR_METHOD(Name, method)                               \
  struct Name {                                                     \
    template <class T, class... Args>                               \
    __device__ auto operator()(T* object, Args&&... args) const     \
        -> decltype(object->method(static_cast<Args&&>(args)...)) { \
      return object->method(static_cast<Args&&>(args)...);          \
    }                                                               \
  }

namespace dynasoar {

/// Creates a T with the given constructor arguments. A namespace-scope constant has no address in device code, so pass
/// its value, as in `make_new<Fish>(int{kAge})`.
///
/// @return the object, or nullptr if the heap is full (the host's next `synchronize()` throws then)
/// @par Concurrency   any number of threads may call it. Other threads may use the object in the next loop. In this
///                    loop, they may use it only if they acquire its pointer from a release.
template <class T, class... Args>
__device__ T* make_new([[maybe_unused]] Args&&... args) {  // nvcc drops the body on the host
  return T::Allocator::template make_new<T>(std::forward<Args>(args)...);
}

/// Creates `count` objects, `make_new<T>(i, args...)` for 0 <= i < count, where i is a std::uint32_t: like
/// AllocatorHandle::parallel_new, but in the calling thread. With a SoaAllocator it takes about as long as creating one
/// object, if the threads of a warp together ask for 64 objects or few more. In checked builds it is a loop.
///
/// Objects that a full heap refuses take no time, however many they are.
///
/// @return the number of objects that were created. It is less than `count` if the heap is full, where make_new would
///         return nullptr. It is unspecified which of the indices i they have
template <class T, class... Args>
__device__ std::uint32_t make_new_n(std::uint32_t count, [[maybe_unused]] const Args&... args) {
  return T::Allocator::template make_new_n<T>(count, args...);
}

/// Deletes an object as one of its run-time class. Does nothing if the object is null. @pre no thread uses it any more
///
/// Several threads may delete the same object of a placed class, and others may read it until the loop ends. `destroy`
/// then returns whether this call deleted the object. It did not if another thread has deleted or moved it before.
template <class T>
__device__ auto destroy(T* object) {
  if constexpr (detail::is_placed<T>()) {
    return detail::PlacedObjects<typename T::Allocator>::destroy(object);
  } else {
    T::Allocator::free(object);
  }
}

/// Changes the class of an object to another class of its hierarchy: `become<Tumour>(this, grade)`.
///
/// Creates a Tumour with the given constructor arguments. Copies all fields of the nearest common base class from the
/// object to it, array fields and pointers included. Then destroys the object, as one of its run-time class. If the
/// object's class is Tumour already, nothing happens. If it is a subclass of Tumour, the new object keeps all fields of
/// Tumour.
///
/// Pointers to the object are stale afterwards, as after `destroy`. Use the result instead, or call
/// AllocatorHandle::become, which updates pointers. The running loop does not visit the new object.
///
/// @tparam To    a listed class
/// @param args   arguments of To's constructor. It runs before the object is destroyed, so they may be fields of the
///               object, or a pointer to it
/// @return       the new object; the object itself if its class is To; nullptr if the object is null, or if the heap is
///               full. A full heap leaves the object unchanged, and the refusal is reported like one of make_new
/// @pre no thread uses the object any more
/// @par Cost   make_new, destroy, and one load and store for each value of the common fields
template <class To, class T, class... Args>
__device__ To* become(T* object, [[maybe_unused]] Args&&... args) {
  detail::check_may_become<T, To>();
  detail::check_constructible<To, Args...>();
  return detail::become<To>(object, std::forward<Args>(args)...);
}

namespace detail {

/// Checks that one of the classes derives from the other.
template <class T, class U>
__host__ __device__ constexpr bool check_related() {
  static_assert(std::is_base_of_v<U, T> || std::is_base_of_v<T, U>,
                "dynasoar: is_a and cast are for classes of which one derives from the other");
  return true;
}

}  // namespace detail

/// Whether the object is a T or of a subclass of T; false for null.
template <class T, class U>
__device__ bool is_a(const U* object) {
  static_assert(detail::check_related<T, U>());
  return detail::is_of_class<T>(detail::Handle(reinterpret_cast<std::uint64_t>(object)).type_index());
}

/// The object as a T* if it is a T or of a subclass of T, else nullptr.
template <class T, class U>
__device__ T* cast(U* object) {
  static_assert(detail::check_related<T, U>());
  return is_a<T>(object) ? static_cast<T*>(object) : nullptr;
}
template <class T, class U>
__device__ const T* cast(const U* object) {
  static_assert(detail::check_related<T, U>());
  return is_a<T>(object) ? static_cast<const T*>(object) : nullptr;
}

/// Calls a method, as in `device_do<Body>(&Body::apply_force, this)`, or a callable `f(body, args...)`, for all objects
/// of T and its subclasses, one after the other in this thread. Visits the objects that existed when the running loop
/// over objects began; in parallel_for, those that existed when the last loop over objects began.
template <class T, class F, class... Args>
__device__ void device_do(F method, Args&&... args) {
  T::Allocator::template device_do<T>(method, std::forward<Args>(args)...);
}

/// Calls `object->method(args...)` of the object's run-time class, which is T or a subclass of it:
/// `call<Step>(agent, dt)`, see DYNASOAR_METHOD. A class that does not define the method inherits it, as always in C++.
/// If no base defines it, each class must. There are no virtual tables: the object's handle holds its class. (DynaSOAr,
/// section 8, leaves virtual functions to future work.)
///
/// @tparam Method   a type that DYNASOAR_METHOD defines
/// @return          the result of the method; if the methods of the classes return different types, a value of their
///                  common type
/// @par Cost   reads nothing from memory: the class is in the pointer. Threads of a warp whose objects are of different
///             classes run one class after the other
template <class Method, class T, class... Args>
__device__ decltype(auto) call(T* object, Args&&... args) {
  using Object = std::remove_const_t<T>;
  detail::check_listed_or_base<typename Object::Allocator, Object>();
  const int type = detail::Handle(reinterpret_cast<std::uint64_t>(object)).type_index();
  using Calls = detail::Calls<Method, T, typename Object::Allocator::template Subtypes<Object>>;
  return Calls::run(type, object, std::forward<Args>(args)...);
}

/// Prints what a pointer stands for and the values of the object's fields: those of its run-time class, inherited ones
/// first. Call it in device code; on the host backend, you can call it anywhere.
///
///     Shark (block 12, slot 5): position_ = Cell (block 3, slot 60)
///     Shark (block 12, slot 5): energy_ = 2.5
///     Shark (block 12, slot 5): bites_[0] = 7
///     Shark (block 12, slot 5): target_.x = 1.5
///
/// Each line names its object, because the lines of many threads mix. Names are those of DYNASOAR_FIELDS or
/// field_names; without them, they are field0, field1 and so on. Floats have 7 digits, doubles 15. Each member of a
/// plain struct is printed (docs/data-out.md says which structs are plain). Of other class values, only the size is
/// printed. If the pointer is null, does not belong to this allocator, or points to a destroyed object, the line says
/// so. Only checked builds notice that another object has taken the slot since. On a GPU the driver formats the
/// numbers, with the decimal point of the C locale.
///
/// @par Concurrency   reads all fields, so a simultaneous write to one of them is a race
/// @par Cost          a GPU keeps the latest 1 MiB of output until the host waits, and discards older output
template <class T>
__device__ void print(const T* object) {
  detail::check_listed_or_base<typename T::Allocator, T>();
  detail::print_object<typename T::Allocator>(detail::Handle(reinterpret_cast<std::uint64_t>(object)));
}

}  // namespace dynasoar
