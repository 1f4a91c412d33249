/// @file
/// What loops of Lattice that read and write rasters call for every place or object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/detail/field_values.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/place.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// @throws Error if a raster does not have a value for each place of a lattice
void check_fits(std::size_t width, std::size_t height, std::size_t values, const LatticeShape& shape);

/// The numbers in rasters of a field.
template <auto kField>
using raster_value_t = std::conditional_t<std::is_same_v<typename FieldValue<kField>::Type, bool>, std::uint8_t,
                                          typename FieldValue<kField>::Type>;

/// Whether a raster has something else than 0 at a place.
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

  __device__ void operator()(Place place) const {
    T* const object = at<T>(place);
    values[shape.number(place)] =
        object == nullptr ? where_none : static_cast<raster_value_t<kField>>(FieldValue<kField>{}(object));
  }
};

}  // namespace dynasoar::detail
