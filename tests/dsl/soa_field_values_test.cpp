// SoaField: every kind of value survives in every slot.
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "soa_field_types.h"

namespace soa_field_test {

using namespace dynasoar;
using namespace dynasoar::test;

enum Plain { kOne = 1, kTwo, kThree };

struct alignas(16) Sixteen {
  double x;
  std::uint64_t y;
  __host__ __device__ bool operator==(const Sixteen& other) const { return x == other.x && y == other.y; }
};

/// A value of T that tells `number` from its neighbours, as far as T has room for that.
template <class T>
struct Make {
  __device__ static T from(std::uint64_t number) {
    if constexpr (std::is_same_v<T, bool>) {
      return number % 3 == 0;
    } else if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(number * 64 + (std::uint64_t{3} << 56));
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(number % 3 + 1);
    } else {
      return static_cast<T>(number * 2654435761u + 12345);
    }
  }
};
template <>
struct Make<Twelve> {
  __device__ static Twelve from(std::uint64_t number) {
    return {static_cast<float>(number), static_cast<std::int32_t>(number * 7), {static_cast<std::uint16_t>(number), 9}};
  }
};
template <>
struct Make<Sixteen> {
  __device__ static Sixteen from(std::uint64_t number) { return {static_cast<double>(number), ~number}; }
};
template <class T, std::size_t n>
struct Make<std::array<T, n>> {
  __device__ static std::array<T, n> from(std::uint64_t number) {
    std::array<T, n> values{};
    for (std::size_t i = 0; i < n; ++i) values[i] = Make<T>::from(number * n + i);
    return values;
  }
};

template <class T>
__device__ bool same(const T& a, const T& b) {
  return a == b;
}
template <class T, std::size_t n>
__device__ bool same(const std::array<T, n>& a, const std::array<T, n>& b) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!(a[i] == b[i])) return false;
  }
  return true;
}

/// A value between two others, so that a field that is too long or in the wrong place shows.
template <class T>
class Holder : public SoaBase<SoaAllocator<Holder<T>>> {
 public:
  DYNASOAR_FIELDS(Holder, (number_, std::uint64_t), (before_, char), (value_, T), (after_, std::uint16_t))

  __device__ explicit Holder(std::size_t number) : number_(number), before_('b'), after_(0xabcd) {
    value_ = Make<T>::from(number);
  }
  __device__ bool holds(std::uint64_t number) const {
    return same<T>(value_.get(), Make<T>::from(number)) && before_ == 'b' && after_ == 0xabcd;
  }
};

template <class T>
void round_trip() {
  // More objects than fit, so that every slot of every block is used however many warps open blocks at once.
  AllocatorHandle<SoaAllocator<Holder<T>>> handle(
      {.heap_bytes = std::size_t{1} << 18, .on_refusal = dynasoar::OnRefusal::record, .threads = 2});
  handle.template parallel_new<Holder<T>>(std::size_t{1} << 15);
  const std::uint64_t count = handle.template count<Holder<T>>();
  CHECK(count == handle.statistics().slots());
  Counters wrong(1);
  Counters visits(64);
  for (int round = 0; round < 3; ++round) {
    // Checks the values; then changes those in even slots, and the neighbours must not notice.
    handle.template parallel_do<Holder<T>>(
        [wrong = wrong.data(), visits = visits.data()] __device__(Holder<T> * holder) {
          const auto slot = reinterpret_cast<std::uint64_t>(holder) & 63;
          visits[slot].fetch_add(1, Order::relaxed);
          const std::uint64_t number = holder->number_;
          dynasoar::test::count_if(*wrong, !holder->holds(number));
          if (slot % 2 == 0) {
            holder->value_ = Make<T>::from(number + 1000);
            holder->number_ = number + 1000;
          }
        });
  }
  handle.synchronize();
  CHECK_MESSAGE(wrong[0] == 0, dynasoar::type_name<T>());
  std::uint64_t total = 0;
  bool every_slot = true;
  for (std::uint64_t slot_visits : visits.values()) {
    total += slot_visits;
    every_slot = every_slot && slot_visits > 0;
  }
  CHECK(total == 3 * count);
  CHECK(every_slot);
}

template <class... Ts>
void round_trips() {
  (round_trip<Ts>(), ...);
}

TEST_CASE("a field of any arithmetic type keeps its value in every slot") {
  round_trips<bool, char, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
              std::int64_t, std::uint64_t, float, double>();
}

TEST_CASE("fields of pointers, enumerations and structs keep their values in every slot") {
  round_trips<Colour, Plain, Holder<int>*, const char*, Twelve, Sixteen>();
}

TEST_CASE("array fields of any length and type keep their values in every slot") {
  round_trips<std::array<int, 1>, std::array<char, 1>, std::array<bool, 2>, std::array<char, 3>>();
  round_trips<std::array<std::uint16_t, 5>, std::array<float, 3>, std::array<double, 4>>();
  round_trips<std::array<Holder<int>*, 4>, std::array<Twelve, 2>, std::array<Sixteen, 5>>();
}

}  // namespace soa_field_test
