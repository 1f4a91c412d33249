/// @file
/// What the tests of SoaField share: types of values.
#pragma once

#include <cstdint>

#include <dynasoar/dynasoar.h>

namespace soa_field_test {

enum class Colour : std::uint8_t { red, green, blue, black };

struct Twelve {
  float x;
  std::int32_t y;
  std::uint16_t z[2];
  __host__ __device__ bool operator==(const Twelve& other) const {
    return x == other.x && y == other.y && z[0] == other.z[0] && z[1] == other.z[1];
  }
};

}  // namespace soa_field_test
