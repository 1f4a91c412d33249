/// @file
/// print: what a pointer to an object stands for, and what the object holds, from device code, for debugging.
#pragma once

#include <cstdint>

#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/detail/print_object.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// Prints what a pointer stands for and what the object's fields hold, those of its run-time class, inherited ones
/// first; from device code (on the host backend, from anywhere):
///
///     Shark (block 12, slot 5): position_ = Cell (block 3, slot 60)
///     Shark (block 12, slot 5): energy_ = 2.5
///     Shark (block 12, slot 5): bites_[0] = 7
///
/// Each line says whose it is, because the lines of many threads mix. Names are those of DYNASOAR_FIELDS, or of
/// field_names, else field0, field1 and so on. Floats have 7 digits, doubles 15; class values only their size. It
/// also says when a pointer is null, is not one of this allocator, or points to a destroyed object; only checked
/// builds know if another object has taken the slot since. On a GPU the driver formats the numbers, with the
/// decimal point of the C locale.
///
/// @par Concurrency   reads all fields: a thread that writes one of them meanwhile races
/// @par Cost          a GPU keeps 1 MiB of output until the host waits, and drops the oldest
template <class T>
__device__ void print(const T* object) {
  detail::check_listed_or_base<typename T::Allocator, T>();
  detail::print_object<typename T::Allocator>(detail::Handle(reinterpret_cast<std::uint64_t>(object)));
}

}  // namespace dynasoar
