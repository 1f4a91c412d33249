/// @file
/// read_columns: gathers the fields of all objects of a class, field by field, into arrays in the host's memory. Used
/// by AllocatorHandle::columns.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <dynasoar/base/view.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/columns.h>
#include <dynasoar/detail/column_parts.h>
#include <dynasoar/heap/object_places.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// A class whose objects, and those of its subclasses, are to be read.
struct ColumnRequest {
  std::string_view name;
  View<std::size_t> classes;  ///< the listed ones among the class and its subclasses
  View<FieldInfo> fields;
  View<const ValueInfo*> values;  ///< of the fields
};

/// The ValueInfo of each field of C and its bases.
template <class C>
constexpr auto make_field_values() {
  std::array<const ValueInfo*, ClassLayout<C>::field_count> values{};
  std::size_t at = 0;
  for_each_field<C>([&]<class Field>(Field) { values[at++] = &value_info_v<typename Field::Element>; });
  return values;
}
template <class C>
inline constexpr auto field_values_v = make_field_values<C>();

template <class A, class T>
inline constexpr ColumnRequest column_request_v{type_name<T>(), subtype_indices_v<A, T>, field_infos_v<A, T>,
                                                field_values_v<T>};

/// The requests for the listed subclasses of T, and for T itself if it is listed.
template <class A, class List>
struct ColumnRequests;
template <class A, template <class...> class List, class... Ts>
struct ColumnRequests<A, List<Ts...>> {
  static constexpr std::array<const ColumnRequest*, sizeof...(Ts)> value{&column_request_v<A, Ts>...};
};
template <class A, class T>
inline constexpr const auto& subtype_requests_v = ColumnRequests<A, typename A::template Subtypes<T>>::value;

/// @param places   the places of the objects of all classes of the allocator. @pre lists are made
Columns read_columns(Executor& executor, const ClassTable& classes, View<ObjectPlaces> places,
                     const ColumnRequest& request);

/// The same, including the fields of subclasses. @param subtypes   as in subtype_requests_v
Columns read_all_columns(Executor& executor, const ClassTable& classes, View<ObjectPlaces> places,
                         const ColumnRequest& request, View<const ColumnRequest*> subtypes);

/// Implements AllocatorHandle::columns. @param loops   the LoopRunner<A>
template <class A, class T, class Loops>
Columns columns_of(Loops& loops) {
  check_listed_or_base<A, T>();
  const View<ObjectPlaces> places = loops.list(class_set_v<A, T>);
  return read_columns(loops.executor(), class_table_v<A>, places, column_request_v<A, T>);
}

/// Implements AllocatorHandle::all_columns.
template <class A, class T, class Loops>
Columns all_columns_of(Loops& loops) {
  check_listed_or_base<A, T>();
  const View<ObjectPlaces> places = loops.list(class_set_v<A, T>);
  return read_all_columns(loops.executor(), class_table_v<A>, places, column_request_v<A, T>, subtype_requests_v<A, T>);
}

}  // namespace dynasoar::detail
