/// @file
/// Describes misuse for people: which class or field, what was done, to which object, by which; throws it. Used by
/// AllocatorHandle.
#pragma once

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator/class_rules.h>
#include <dynasoar/allocator/handle.h>
#include <dynasoar/allocator/layout.h>
#include <dynasoar/allocator/misuse.h>
#include <dynasoar/field_names.h>
#include <dynasoar/type_name.h>

namespace dynasoar::detail {

/// "Agent::age_": field `number` of C, counted with the inherited ones, by the class that declares it.
template <class C>
std::string field_text(int number) {
  if constexpr (std::is_void_v<C>) {
    return "field " + std::to_string(number);
  } else {
    constexpr int kInherited = static_cast<int>(inherited_fields_v<C>);
    if (number < kInherited) return field_text<typename C::BaseClass>(number);
    return std::string(type_name<C>()) + "::" + own_field_name<C>(static_cast<std::size_t>(number - kInherited));
  }
}

/// Name of a class of allocator A.
template <class A>
std::string class_text(int index) {
  std::string text = "an unknown class";
  A::Types::for_each([&]<class T>(std::type_identity<T>) {
    if (A::template index_of<T> == index) text = type_name<T>();
  });
  return text;
}

/// "Fish (block 12, slot 5, generation 7)".
template <class A>
std::string object_text(std::uint64_t bits) {
  const Handle handle(bits);
  if (bits == 0) return "a null pointer";
  if (handle.type_index() >= A::kTypes || handle.type_index() < 0) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "0x%" PRIx64, bits);
    return std::string("pointer ") + digits;
  }
  return class_text<A>(handle.type_index()) + " (block " + std::to_string(A::block_of(handle)) + ", slot " +
         std::to_string(handle.slot()) + ", generation " + std::to_string(handle.generation()) + ")";
}

/// What was done, without the class or field that it was done to.
inline std::string deed_text(const MisuseReport& report) {
  switch (report.kind) {
    case Misuse::null_access: return "accessed through a null pointer";
    case Misuse::stale_access: return "accessed in an object that had been destroyed";
    case Misuse::wrong_class: return "used through a pointer to another class than the object's";
    case Misuse::foreign_pointer: return "used through a pointer that this allocator has not made";
    case Misuse::double_destroy: return "destroyed again";
    case Misuse::never_created: return "used without having been created";
    case Misuse::destroyed_by_other: return "destroyed by another object in a loop that visits it";
    case Misuse::index_out_of_range:
      return "element " + std::to_string(report.first.element) + " accessed, which is beyond the end,";
    case Misuse::nested_construction: return "make_new called in constructors in one another, too deep,";
    case Misuse::outside_loop:
      return std::string(report.first.operation == Operation::create ? "make_new" : "destroy") +
             " called in host code outside of a loop";
    case Misuse::none: break;
  }
  return "misused";
}

/// What to do about it.
inline std::string advice_text(const MisuseReport& report) {
  switch (report.kind) {
    case Misuse::null_access:
      return "Look whether the pointer is null first; make_new returns null if the heap is full";
    case Misuse::stale_access:
      return "Before an object is destroyed, those that point to it must learn of it, for example in a loop that sets "
             "their pointers to null";
    case Misuse::wrong_class: return "dynasoar::cast<Class>(pointer) gives null for objects of other classes";
    case Misuse::foreign_pointer:
      return "It may be of an earlier AllocatorHandle, of another allocator's, or not initialized: constructors set "
             "all fields that are read, and fill_bytes(0) makes all pointers in a DeviceArray null";
    case Misuse::double_destroy:
      return "Let the object destroy itself: others set a field of it that says so, and a loop of its own looks there";
    case Misuse::never_created: return "Only objects that make_new, make_new_n or parallel_new has made can be used";
    case Misuse::destroyed_by_other:
      return "Such an object may be running just now. Let it destroy itself: others set a field of it that says so, "
             "and "
             "the next loop looks there";
    case Misuse::index_out_of_range: return "Indices of an array field begin with 0 and end below its size";
    case Misuse::nested_construction: return "Create the next object in a method that a later loop runs";
    case Misuse::outside_loop:
      return "Use parallel_new, or call it in a function that parallel_for or parallel_do runs";
    case Misuse::none: break;
  }
  return "";
}

inline std::string times_text(std::uint64_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

/// All offences of a kind, and what to do: "Fish: destroyed again 3 times; first: Fish (block 12, ...). Let ...".
template <class A>
std::string describe(const MisuseReport& report) {
  const Offence& first = report.first;
  std::string subject = class_text<A>(static_cast<int>(first.class_index));
  if (first.operation == Operation::access) {
    A::Types::for_each([&]<class T>(std::type_identity<T>) {
      if (A::template index_of<T> == static_cast<int>(first.class_index))
        subject = field_text<T>(static_cast<int>(first.field));
    });
  }
  std::string text = subject + ": " + deed_text(report) + " " + times_text(report.count);
  if (first.operation != Operation::create) text += "; first: " + object_text<A>(first.object);
  if (first.by != 0)
    text += std::string(first.operation == Operation::create ? "; first" : "") + " by " + object_text<A>(first.by);
  const std::string advice = advice_text(report);
  return advice.empty() ? text : text + ". " + advice;
}

/// Throws what misuse allocator A has found since the last call, if any. @pre the device is idle
/// @throws MisuseError
template <class A>
void throw_misuse(typename A::Storage& storage) {
  if constexpr (A::kFindsMisuse) {
    std::vector<MisuseReport> reports = storage.take_misuse();
    if (reports.empty()) return;
    std::string message;
    for (MisuseReport& report : reports) {
      report.text = describe<A>(report);
      message += (message.empty() ? "" : "\n") + report.text;
    }
    throw MisuseError(message, std::move(reports));
  }
}

}  // namespace dynasoar::detail
