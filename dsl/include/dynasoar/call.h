/// @file
/// call: methods that subclasses override, called by an object's run-time class. There are no virtual tables: the class
/// is in the object's handle (DynaSOAr, section 8, leaves virtual functions to future work).
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/detail/calls.h>
#include <dynasoar/platform/config.h>

/// Makes the methods of one name a callable type: after `DYNASOAR_METHOD(Step, step);`, `Step{}(object, args...)` is
/// `object->step(args...)`. C++ cannot find the method of a subclass from `&Agent::step`, only from its name.
///
///     DYNASOAR_METHOD(Step, step);
///     dynasoar::call<Step>(agent, dt);        // in device code: step of the class that the agent has
///     handle.parallel_do<Agent>(Step{}, dt);  // of all agents, a kernel per class
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

/// Calls `object->method(args...)` of the object's run-time class, which is T or a subclass of it:
/// `call<Step>(agent, dt)`, see DYNASOAR_METHOD. What a class does not define it inherits, as always in C++; a method
/// that no base defines must be defined by each class.
///
/// @tparam Method   made by DYNASOAR_METHOD
/// @return          what all classes' methods return; a value of the common type if they differ
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

}  // namespace dynasoar
