/// @file
/// The function objects with which loops read and write rasters, called for every place or object. Used by Lattice and
/// DistributedLattice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <dynasoar/detail/field_values.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/place.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/raster.h>

namespace dynasoar::detail {

/// @throws Error if a raster does not have a value for each place of a lattice
void check_fits(std::size_t width, std::size_t height, std::size_t values, const LatticeShape& shape);

/// The type of the numbers in a raster of a field.
template <auto kField>
using raster_value_t = std::conditional_t<std::is_same_v<typename FieldValue<kField>::Type, bool>, std::uint8_t,
                                          typename FieldValue<kField>::Type>;

/// Whether the value of a raster at a place is not 0.
template <class V>
struct HasValueAt {
  LatticeShape shape;
  const V* values;
  __device__ bool operator()(Place place) const { return values[shape.number(place)] != V{0}; }
};

/// Sets a field of an object to the value of a raster at its place.
template <auto kField, class V>
struct SetToValue {
  LatticeShape shape;
  const V* values;

  template <class T>
  __device__ void operator()(T* object) const {
    using Value = FieldValue<kField>;
    typename Value::Class* const declared_in = object;
    const auto value = static_cast<typename Value::Type>(values[shape.number(place_of(object))]);
    if constexpr (std::is_same_v<typename FieldPointer<decltype(kField)>::Type, typename Value::Type>) {
      declared_in->*kField = value;
    } else {
      (declared_in->*kField)->store(value, Order::relaxed);
    }
  }
};

/// Writes the value of a field of the T at a place.
template <auto kField, class T>
struct WriteValue {
  LatticeShape shape;
  raster_value_t<kField>* values;
  raster_value_t<kField> where_none;
  std::uint64_t first;  ///< number of the place of the first element of `values`

  __device__ void operator()(Place place) const {
    T* const object = at<T>(place);
    values[shape.number(place) - first] =
        object == nullptr ? where_none : static_cast<raster_value_t<kField>>(FieldValue<kField>{}(object));
  }
};

/// The values of a field at the places of a lattice that this process has, in the order of their numbers. Waits.
template <auto kField, class T, class LatticeT>
std::vector<raster_value_t<kField>> values_of(LatticeT& lattice, raster_value_t<kField> where_none) {
  const LatticeShape& shape = lattice.shape();
  lattice.handle().executor().check_may_wait();
  const DeviceArray<raster_value_t<kField>> values(static_cast<std::size_t>(shape.own_size()));
  const std::uint64_t first = shape.own_size() > 0 ? shape.number(Place(shape.own_words().first * 64)) : 0;
  lattice.parallel_for(WriteValue<kField, T>{shape, values.data(), where_none, first});
  lattice.handle().synchronize();
  return values.download();
}

/// Makes the raster of a whole lattice. @param values   the values of all processes, as bytes; if there are none, the
/// result is empty
template <class V>
Raster<V> joined_raster(const LatticeShape& shape, const std::vector<std::vector<char>>& values) {
  if (values.empty()) return {};
  Raster<V> raster{static_cast<std::size_t>(shape.width()), 0, {}};
  for (const std::vector<char>& bytes : values) {
    const std::size_t before = raster.values.size();
    raster.values.resize(before + bytes.size() / sizeof(V));
    if (!bytes.empty()) std::memcpy(&raster.values[before], bytes.data(), bytes.size());
  }
  raster.height = raster.values.size() / raster.width;
  return raster;
}

}  // namespace dynasoar::detail
