/// @file
/// Threads that create, move and destroy at random at the places of a lattice, many of them at the same ones, against a
/// shadow of it: arrays of the objects at places, and of those that have arrived and departed in a loop.
///
/// DYNASOAR_STRESS_SECONDS says for how long; without it, there are a few loops.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "../platform/test_support.h"
#include "placing_allocator.h"

namespace lattice_stress_test {

using namespace dynasoar;
using dynasoar::test::Random;

class Grain;
class Beast;
class Wolf;
class Bear;
using AllocatorT = dynasoar::test::PlacingAllocator<Grain, Beast, Wolf, Bear>;

/// Alone on its lattice. Fields of several sizes, all of which follow from its number.
class Grain final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  using Marks = std::array<std::uint16_t, 3>;
  DYNASOAR_FIELDS(Grain, (number_, std::uint32_t), (low_, std::uint8_t), (marks_, Marks), (twice_, std::uint64_t));

  __device__ explicit Grain(std::uint32_t number)
      : number_(number), low_(static_cast<std::uint8_t>(number)), twice_(std::uint64_t{2} * number) {
    for (std::uint16_t i = 0; i < 3; ++i) marks_[i] = static_cast<std::uint16_t>(number + i);
  }
  __device__ bool is_sound() const {
    bool is_right = low_ == static_cast<std::uint8_t>(number_) && twice_ == std::uint64_t{2} * number_;
    for (std::uint16_t i = 0; i < 3; ++i) is_right = is_right && marks_[i] == static_cast<std::uint16_t>(number_ + i);
    return is_right;
  }
};

/// A place has room for a wolf or a bear.
class Beast : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kOnePerPlace = true;
  DYNASOAR_FIELDS(Beast, (number_, std::uint32_t));
  __device__ explicit Beast(std::uint32_t number) : number_(number) {}
  __device__ bool is_sound() const;
};

class Wolf final : public Beast {
 public:
  using BaseClass = Beast;
  DYNASOAR_FIELDS(Wolf, (twice_, std::uint64_t));
  __device__ explicit Wolf(std::uint32_t number) : Beast(number), twice_(std::uint64_t{2} * number) {}
};

class Bear final : public Beast {
 public:
  using BaseClass = Beast;
  DYNASOAR_FIELDS(Bear, (low_, std::uint8_t));
  __device__ explicit Bear(std::uint32_t number) : Beast(number), low_(static_cast<std::uint8_t>(number)) {}
};

__device__ bool Beast::is_sound() const {
  const Wolf* const wolf = dynasoar::cast<Wolf>(this);
  if (wolf != nullptr) return wolf->twice_ == std::uint64_t{2} * number_;
  return dynasoar::cast<Bear>(this)->low_ == static_cast<std::uint8_t>(number_);
}

using Handle = dynasoar::AllocatorHandle<AllocatorT>;

enum Count { kWrong, kCreated, kMoved, kDestroyed, kRefused, kCounts };

/// The shadow. Objects have numbers from 1 on, the same one if they were created at once; 0 stands for none.
struct Shadow {
  using Word = dynasoar::AtomicWord<std::uint32_t>;
  LatticeShape shape;
  std::uint32_t* owners;  ///< the object that is seen at a place
  std::uint32_t* coming;  ///< the object that has arrived there
  Word* arrivals;         ///< in the running loop
  Word* departures;
  dynasoar::test::Counter* counts;

  __device__ void add(Count what) const { counts[what].fetch_add(1, dynasoar::Order::relaxed); }
  __device__ void check(bool is_right) const {
    if (!is_right) add(kWrong);
  }
  __device__ void arrives(std::uint64_t place, std::uint32_t number) const {
    arrivals[place].fetch_add(1, dynasoar::Order::relaxed);
    coming[place] = number;
  }
  __device__ void departs(std::uint64_t place) const { departures[place].fetch_add(1, dynasoar::Order::relaxed); }
};

/// What a thread tries to do. Half of the tries are about few places.
///
/// @tparam B    the class whose objects exclude each other at a place
/// @tparam Ls   the classes of objects
template <class B, class... Ls>
struct Try {
  Shadow shadow;
  std::uint64_t seed;
  std::uint32_t first_number;

  __device__ void operator()(std::size_t i) const {
    Random random = Random::of(seed, i);
    const std::uint64_t number = draw_place(random);
    const Place place = shadow.shape.place_of_number(number);
    B* const object = dynasoar::at<B>(place);
    const std::uint32_t owner = shadow.owners[number];
    shadow.check((object == nullptr) == (owner == 0));
    if (object != nullptr) shadow.check(object->number_ == owner && object->is_sound());
    const std::uint32_t what = random.below(10);
    if (what > 7) {
      change_some(PlaceBlock(place.word(), shadow.shape.has_blocks_in_rows()),
                  first_number + static_cast<std::uint32_t>(i), random);
    } else if (what < 3) {
      create(place, first_number + static_cast<std::uint32_t>(i), random);
    } else if (object == nullptr) {
      shadow.check(!dynasoar::destroy(object));
    } else if (what == 3) {
      destroy(object, number);
    } else if (what == 4) {
      move(object, shadow.shape.place_of_number(draw_place(random)));
    } else {
      move(object, dynasoar::random_free_neighbour<B>(place, Moore<>{}, random.below(~0u)));
      if (what == 7) move(object, shadow.shape.right(place));  // it is gone now, or its way is free
    }
  }

 private:
  using First = std::tuple_element_t<0, std::tuple<Ls...>>;

  __device__ std::uint64_t draw_place(Random& random) const {
    const std::uint64_t size = shadow.shape.size();
    const std::uint64_t few = size < 64 ? 1 : size / 64;
    return random.next() % (random.below(2) == 0 ? few : size);
  }

  __device__ void create(Place place, std::uint32_t number, Random& random) const {
    const std::uint64_t at = shadow.shape.number(place);
    std::uint32_t chosen = random.below(sizeof...(Ls));
    B* made = nullptr;
    ((chosen-- == 0 ? void(made = dynasoar::make_new_at<Ls>(place, number)) : void()), ...);
    if (made == nullptr) return shadow.add(kRefused);
    shadow.add(kCreated);
    shadow.check(shadow.owners[at] == 0);
    shadow.arrives(at, number);
    if (random.below(4) != 0) return;
    made = move(made, shadow.shape.place_of_number(draw_place(random)));  // what is new may move on, and die
    if (made != nullptr && random.below(2) == 0) {
      destroy(made, shadow.shape.number(dynasoar::place_of(made)));
    }
  }

  /// Creates objects at some places of a block at once, or destroys some.
  __device__ void change_some(PlaceBlock block, std::uint32_t number, Random& random) const {
    const std::uint64_t wanted = random.next() & random.next() & random.next();
    const bool creates = random.below(2) == 0;
    const std::uint64_t changed =
        creates ? dynasoar::create_where<First>(block, wanted, number) : dynasoar::destroy_where<First>(block, wanted);
    shadow.check((changed & ~(wanted & shadow.shape.places(block))) == 0);
    for (int i = 0; i < 64; ++i) {
      if ((changed >> i & 1) == 0) continue;
      const std::uint64_t at = shadow.shape.number(block.place(i));
      shadow.add(creates ? kCreated : kDestroyed);
      shadow.check((shadow.owners[at] == 0) == creates);
      if (creates) {
        shadow.arrives(at, number);
      } else {
        shadow.departs(at);
      }
    }
  }

  __device__ void destroy(B* object, std::uint64_t at) const {
    if (!dynasoar::destroy(object)) return shadow.add(kRefused);
    shadow.add(kDestroyed);
    shadow.departs(at);
  }

  __device__ B* move(B* object, Place to) const {
    const std::uint64_t from = shadow.shape.number(dynasoar::place_of(object));
    const std::uint32_t number = object->number_;
    B* const moved = dynasoar::move_to(object, to);
    if (moved == nullptr) {
      shadow.add(kRefused);
      return nullptr;
    }
    shadow.add(kMoved);
    shadow.departs(from);
    shadow.arrives(shadow.shape.number(to), number);
    shadow.check(shadow.owners[shadow.shape.number(to)] == 0);
    shadow.check(dynasoar::place_of(moved) == to && moved->number_ == number && moved->is_sound());
    shadow.check(object->number_ == number && object->is_sound());  // where it was, it may still be read
    return moved;
  }
};

template <class B, class... Ls>
void run(const std::vector<std::size_t>& sizes, std::uint64_t seed, std::uint64_t loops) {
  const char* const limit = std::getenv("DYNASOAR_STRESS_SECONDS");
  const std::chrono::duration<double> time(limit != nullptr ? std::strtod(limit, nullptr) : 0);
  Handle handle({.heap_bytes = std::size_t{dynasoar::kCudaBackend ? 1024 : 8} << 20});  // for objects in pieces
  Lattice<Ls...> lattice(handle, sizes);
  const auto size = lattice.shape().size();
  auto words = dynasoar::test::zeroed<std::uint32_t>(4 * size);
  const dynasoar::test::Counters counters(kCounts);
  const auto part = [&](std::size_t i) { return reinterpret_cast<Shadow::Word*>(words.data() + i * size); };
  const Shadow shadow{lattice.shape(), words.data(), words.data() + size, part(2), part(3), counters.data()};
  const auto begin = std::chrono::steady_clock::now();
  std::uint32_t next_number = 1;
  std::vector<std::uint64_t> counts;
  std::uint64_t done = 0;
  do {
    const std::size_t tries = 2 * size + 1;
    handle.parallel_for(tries, Try<B, Ls...>{shadow, seed + done * tries, next_number});
    // After a loop of tries: what has come to be at each place, and whether it is there.
    lattice.parallel_for([shadow] __device__(Place place) {
      const std::uint64_t number = shadow.shape.number(place);
      const std::uint32_t arrivals = shadow.arrivals[number].exchange(0, dynasoar::Order::relaxed);
      const std::uint32_t departures = shadow.departures[number].exchange(0, dynasoar::Order::relaxed);
      std::uint32_t& owner = shadow.owners[number];
      shadow.check(arrivals + (owner != 0 ? 1 : 0) <= 1);
      shadow.check(departures <= arrivals + (owner != 0 ? 1 : 0));
      if (arrivals != 0) owner = shadow.coming[number];
      if (departures != 0) owner = 0;
      int objects = 0;
      dynasoar::for_each_at<B>(place, [&](B* object) {
        ++objects;
        shadow.check(object->number_ == owner && object->is_sound() && dynasoar::place_of(object) == place);
      });
      shadow.check(objects == (owner != 0 ? 1 : 0));
    });
    handle.synchronize();
    counts = counters.values();
    REQUIRE(counts[kWrong] == 0);
    REQUIRE(handle.template count<B>() + counts[kDestroyed] == counts[kCreated]);
    next_number += static_cast<std::uint32_t>(tries);
    if (next_number > std::numeric_limits<std::uint32_t>::max() - tries) next_number = 1;  // 0 stands for no object
  } while (++done < loops || std::chrono::steady_clock::now() - begin < time);
  for (const Count what : {kCreated, kMoved, kDestroyed, kRefused}) CHECK(counts[what] > size / 8);
}

TEST_CASE("no object is lost, doubled or overwritten if many threads create, move and destroy at the same places") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  const std::size_t width = dynasoar::kCudaBackend ? 65536 / dynasoar::test::kSlowdown + 65 : 65;
  const std::uint64_t loops = dynasoar::kCudaBackend ? 40 : 12;
  run<Grain, Grain>({width, 33}, seed, loops);
  run<Beast, Wolf, Bear>({width, 33}, seed, loops);
  run<Beast, Wolf, Bear>({3, 5}, seed, 4 * loops);
  run<Beast, Wolf, Bear>({3, 4100}, seed, loops);  // with several rows in a word
}

}  // namespace lattice_stress_test
