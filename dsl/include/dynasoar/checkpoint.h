/// @file
/// Checkpoints: the arguments of AllocatorHandle::save and load, and load_values, which reads values without objects.
#pragma once

#include <string>
#include <type_traits>

#include <dynasoar/checkpoint/compression.h>
#include <dynasoar/checkpoint/error.h>
#include <dynasoar/checkpoint/items.h>
#include <dynasoar/checkpoint/save_and_load.h>

namespace dynasoar {

/// Reads some of the values and vectors of a checkpoint, but no objects. Use it if your program needs these values
/// before it can make a handle. The checkpoint may be one of other classes.
///
/// @throws CheckpointError if the file is damaged, has no such values, or has them with other types; nothing has
///         changed then; Error if it cannot be read
/// @par Cost   reads the whole file, because its checksums are checked
template <class... Items>
void load_values(const std::string& path, const LoadOptions& options, const Items&... items) {
  static_assert(
      (true && ... && std::is_same_v<Items, CheckpointItem>),
      "dynasoar: load_values takes the results of value(name, variable) and array(name, vector) for variables that can "
      "be changed: one of these arguments is constant, or something else");
  const CheckpointItem* const all[] = {&items..., nullptr};
  detail::load_values(path, options, {all, sizeof...(Items)}, detail::kCompression);
}
template <class... Items>
void load_values(const std::string& path, const Items&... items) {
  load_values(path, LoadOptions{}, items...);
}

}  // namespace dynasoar
