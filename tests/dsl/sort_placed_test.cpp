// Sort and compaction: pointers in placed objects, of many classes, follow the objects that move.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "../platform/test_support.h"
#include "placing_allocator.h"

namespace sort_placed_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Pebble;
class Stone0;
class Stone1;
class Stone2;
class Stone3;
class Stone4;
class Stone5;
class Stone6;
class Stone7;
class Stone8;
using BeachT = dynasoar::SoaAllocator<Pebble, Stone0, Stone1, Stone2, Stone3, Stone4, Stone5, Stone6, Stone7, Stone8>;

class Pebble : public dynasoar::SoaBase<BeachT> {
 public:
  DYNASOAR_FIELDS(Pebble, (id_, std::uint32_t))
  __device__ explicit Pebble(std::size_t index) : id_(static_cast<std::uint32_t>(index)) {}
  __device__ std::int32_t reversed() { return -static_cast<std::int32_t>(id_); }
};

/// What placed classes have in common, which is not listed.
class Stone : public dynasoar::SoaBase<BeachT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Stone, (pebble_, Pebble*), (short_pebble_, CompressedPointer<Pebble>), (id_, std::uint32_t))
  __device__ Stone() : pebble_(nullptr), short_pebble_(nullptr), id_(0u) {}
};

#define DYNASOAR_TEST_STONE(number)         \
  class Stone##number : public Stone {      \
   public:                                  \
    using BaseClass = Stone;                \
    DYNASOAR_FIELDS(Stone##number)          \
    __device__ Stone##number() : Stone() {} \
  }
DYNASOAR_TEST_STONE(0);
DYNASOAR_TEST_STONE(1);
DYNASOAR_TEST_STONE(2);
DYNASOAR_TEST_STONE(3);
DYNASOAR_TEST_STONE(4);
DYNASOAR_TEST_STONE(5);
DYNASOAR_TEST_STONE(6);
DYNASOAR_TEST_STONE(7);
DYNASOAR_TEST_STONE(8);

template <class T>
struct OnBeach {
  explicit OnBeach(AllocatorHandle<BeachT>& handle) : lattice(handle, {20, 10}) {
    lattice.template parallel_new<T>(Everywhere{});
  }
  Lattice<T> lattice;
};
struct SetPebble {
  Pebble* const* pebbles;
  std::uint32_t size;
  __device__ void operator()(Stone* stone) const {
    stone->id_ = static_cast<std::uint32_t>(mixed(reinterpret_cast<std::uint64_t>(stone), 1) % size);
    stone->pebble_ = pebbles[stone->id_];
    stone->short_pebble_ = pebbles[stone->id_];
  }
};
struct NotePebble {
  Pebble** pebbles;
  __device__ void operator()(Pebble* pebble) const { pebbles[pebble->id_] = pebble; }
};
struct DestroyMost {
  __device__ void operator()(Pebble* pebble) const {
    if (pebble->id_ % 7 != 0u) dynasoar::destroy(pebble);
  }
};
struct CheckPebble {
  Pebble* const* pebbles;
  Counter* wrong;
  __device__ void operator()(Stone* stone) const {
    if (stone->id_ % 7 != 0u) return;
    dynasoar::test::count_if(wrong[0], stone->pebble_ != pebbles[stone->id_]);
    dynasoar::test::count_if(wrong[1], stone->short_pebble_ != stone->pebble_);
  }
};

TEST_CASE("pointers in nine placed classes follow a sort and a compaction") {
  AllocatorHandle<BeachT> handle({.heap_bytes = 16 << 20, .threads = 3});
  const OnBeach<Stone0> stones0(handle);
  const OnBeach<Stone1> stones1(handle);
  const OnBeach<Stone2> stones2(handle);
  const OnBeach<Stone3> stones3(handle);
  const OnBeach<Stone4> stones4(handle);
  const OnBeach<Stone5> stones5(handle);
  const OnBeach<Stone6> stones6(handle);
  const OnBeach<Stone7> stones7(handle);
  const OnBeach<Stone8> stones8(handle);
  constexpr std::uint32_t kPebbles = 2000;
  handle.parallel_new<Pebble>(kPebbles);
  DeviceArray<Pebble*> pebbles(kPebbles);
  handle.parallel_do<Pebble>(NotePebble{pebbles.data()});
  handle.parallel_do<Stone>(SetPebble{pebbles.data(), kPebbles});
  handle.parallel_do<Pebble>(DestroyMost{});
  const auto check = [&] {
    handle.parallel_do<Pebble>(NotePebble{pebbles.data()});
    Counters wrong(2);
    handle.parallel_do<Stone>(CheckPebble{pebbles.data(), wrong.data()});
    handle.synchronize();
    CHECK(wrong.values() == std::vector<std::uint64_t>(2));
  };
  check();
  handle.sort<&Pebble::reversed>();
  check();
  handle.compact<Pebble>();
  check();
}

}  // namespace sort_placed_test
