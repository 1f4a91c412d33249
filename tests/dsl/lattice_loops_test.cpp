/// @file
/// Loops over places in colours, against models that update one place after the other; device_reduce of placed objects;
/// and densities.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/random.h>

#include "../loops/lattice_shadow.h"
#include "../platform/test_support.h"

namespace lattice_loops_test {

using namespace dynasoar;
using dynasoar::random::Seed;
using lattice_test::Shadow;

class Spin;
class Walker;
class Bird;
class Whale;
using AllocatorT = dynasoar::SoaAllocator<Spin, Walker, Bird, Whale>;

class Spin final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Spin, (is_up_, bool));
  __device__ Spin() : is_up_(false) {}
};

/// Not placed.
class Bird final : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Bird, (weight_, std::uint64_t));
  __device__ explicit Bird(std::size_t weight) : weight_(weight) {}
};

/// Knows the number of the place where it was created, and when it walked last.
class Walker final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Walker, (home_, std::uint64_t), (walked_, std::uint32_t), (found_, std::uint64_t));
  __device__ Walker() : home_(dynasoar::lattice_of<Walker>().number(dynasoar::place_of(this))), walked_(0), found_(0) {}

  /// Finds the birds that are heavier than its number.
  __device__ auto weigh_birds() {
    return dynasoar::device_reduce<Bird>(
               std::uint64_t{0}, dynasoar::Plus{}, [](Bird* bird) { return bird->weight_.get(); },
               [home = home_.get()](std::uint64_t weight) { return weight > home ? weight : 0; })
        .then([this](std::uint64_t sum) { found_ = sum; });
  }

  /// Counts the walkers with smaller numbers.
  __device__ auto rank() {
    return dynasoar::device_reduce<Walker>(
               std::uint64_t{0}, dynasoar::Plus{},
               [home = home_.get()](Walker* other) -> std::uint64_t { return other->home_ < home ? 1 : 0; })
        .then([this](std::uint64_t count) { found_ += count << 32; });
  }
};

using Handle = dynasoar::AllocatorHandle<AllocatorT>;

constexpr Seed kSeed{7};
enum class Chance : std::uint32_t { spin, step, walkers };

/// Whether a spin points up next. @param sum   of its neighbours: 1 for those that point up, -1 for the others
__host__ __device__ bool points_up(int sum, std::uint64_t number, std::uint32_t sweep) {
  const std::int64_t chance = (std::int64_t{1} << 31) + (std::int64_t{sum} << 26);
  return dynasoar::random::words(kSeed, Chance::spin, number, sweep)[0] < chance;
}

template <class Neighbourhood>
struct Heat {
  __device__ void operator()(Place place, std::uint32_t sweep) const {
    Spin* const spin = dynasoar::at<Spin>(place);
    if (spin == nullptr) return;
    const LatticeShape& shape = dynasoar::lattice_of<Spin>();
    int sum = 0;
    shape.for_each_neighbour(place, Neighbourhood{}, [&](Place next) {
      const Spin* const other = dynasoar::at<Spin>(next);
      if (other != nullptr) sum += other->is_up_ ? 1 : -1;
    });
    spin->is_up_ = points_up(sum, shape.number(place), sweep);
  }
};

/// The same in an array: -1, 1, or 0 where there is no spin.
template <class Neighbourhood>
void heat(std::vector<int>& spins, const Shadow& shadow, const LatticeShape& shape, std::uint32_t sweep) {
  const bool is_moore = Neighbourhood::reach(1, 1) == Neighbourhood::kRadius;
  dynasoar::detail::for_each_colour(shape, Neighbourhood{}, [&](const auto& places) {
    for (std::uint64_t i = 0; i < places.size(); ++i) {
      const Place place = places(i);
      if (!place.exists()) continue;
      const std::uint64_t number = shape.number(place);
      if (spins[number] == 0) continue;
      int sum = 0;
      for (const std::int64_t next :
           shadow.neighbours(static_cast<std::int64_t>(number), Neighbourhood::kRadius, is_moore)) {
        sum += spins[static_cast<std::size_t>(next)];
      }
      spins[number] = points_up(sum, number, sweep) ? 1 : -1;
    }
  });
}

/// The same of the spins of a lattice.
std::vector<int> spins_of(Handle& handle, const LatticeShape& shape) {
  const auto spins = dynasoar::test::zeroed<int>(shape.size());
  handle.parallel_do<Spin>([spins = spins.data()] __device__(Spin * spin) {
    spins[dynasoar::lattice_of<Spin>().number(dynasoar::place_of(spin))] = spin->is_up_ ? 1 : -1;
  });
  handle.synchronize();
  return spins.download();
}

template <class Neighbourhood>
void check_spins(Handle& handle, const Shadow& shadow) {
  Lattice<Spin> lattice(handle, shadow.sizes, {.periodic = shadow.periodic});
  const LatticeShape& shape = lattice.shape();
  const Density density(0.9, kSeed, 0);
  lattice.parallel_new<Spin>(density);
  std::vector<int> expected(shape.size());
  for (std::size_t number = 0; number < expected.size(); ++number) expected[number] = density.chooses(number) ? -1 : 0;
  lattice.parallel_for_in_colours(Neighbourhood{}, Heat<Neighbourhood>{}, 1u);
  heat<Neighbourhood>(expected, shadow, shape, 1);
  dynasoar::StepValue<std::uint32_t> sweep(handle.executor(), 1);
  auto step = handle.record([&] {
    sweep.add(1);
    lattice.parallel_for_in_colours(Neighbourhood{}, Heat<Neighbourhood>{}, sweep.view());
  });
  for (std::uint32_t i = 2; i <= 3; ++i) {
    step();
    heat<Neighbourhood>(expected, shadow, shape, i);
  }
  CHECK(spins_of(handle, shape) == expected);
}

TEST_CASE("a loop in colours updates spins as one after the other would, with one thread or several") {
  for (const int threads : {1, 4}) {
    Handle handle({.heap_bytes = 8 << 20, .threads = threads});
    lattice_test::for_each_lattice(lattice_test::kSizes, [&](const auto& sizes, const auto& periodic) {
      const Shadow shadow{sizes, periodic};
      if (shadow.size() > 2000 && threads == 1) return;  // these take long
      check_spins<VonNeumann<1>>(handle, shadow);
      if (shadow.size() > 2000) return;
      check_spins<VonNeumann<2>>(handle, shadow);
      check_spins<Moore<1>>(handle, shadow);
    });
  }
}

/// Goes to a free neighbour. No other object is within two steps of the place that a walker looks around.
struct Walk {
  std::uint32_t now;
  __device__ void operator()(Place place) const {
    Walker* walker = dynasoar::at<Walker>(place);
    if (walker == nullptr || walker->walked_ == now) return;
    walker->walked_ = now;
    const std::uint64_t number = dynasoar::lattice_of<Walker>().number(place);
    const std::uint32_t random = dynasoar::random::words(kSeed, Chance::step, number, now)[0];
    const Place to = dynasoar::random_free_neighbour<Walker>(place, Moore<>{}, random);
    if (to.exists()) dynasoar::move_to(walker, to);
  }
};

struct Home {
  std::int64_t number = -1;
  std::uint32_t walked = 0;
};

void walk(std::vector<Home>& homes, const Shadow& shadow, const LatticeShape& shape, std::uint32_t now) {
  dynasoar::detail::for_each_colour(shape, Moore<2>{}, [&](const auto& places) {
    for (std::uint64_t i = 0; i < places.size(); ++i) {
      const std::uint64_t number = shape.number(places(i));
      Home& home = homes[number];
      if (home.number < 0 || home.walked == now) continue;
      home.walked = now;
      std::vector<std::int64_t> free;
      for (const std::int64_t next : shadow.neighbours(static_cast<std::int64_t>(number), 1, true)) {
        if (homes[static_cast<std::size_t>(next)].number < 0) free.push_back(next);
      }
      if (free.empty()) continue;
      const std::uint64_t random = dynasoar::random::words(kSeed, Chance::step, number, now)[0];
      homes[static_cast<std::size_t>(free[random * free.size() >> 32])] = home;
      home = {};
    }
  });
}

struct WriteHomes {
  std::int64_t* homes;
  __device__ void operator()(Walker* walker) const {
    homes[dynasoar::lattice_of<Walker>().number(dynasoar::place_of(walker))] = static_cast<std::int64_t>(walker->home_);
  }
};

TEST_CASE("what one colour creates, moves and destroys, the next one sees") {
  Handle handle({.heap_bytes = 8 << 20});
  lattice_test::for_each_lattice(lattice_test::kSizes, [&](const auto& sizes, const auto& periodic) {
    const Shadow shadow{sizes, periodic};
    Lattice<Walker> lattice(handle, sizes, {.periodic = periodic});
    const LatticeShape& shape = lattice.shape();
    const Density density(0.5, kSeed, Chance::walkers);
    lattice.template parallel_new<Walker>(density);
    std::vector<Home> expected(shape.size());
    for (std::size_t number = 0; number < expected.size(); ++number) {
      if (density.chooses(number)) expected[number].number = static_cast<std::int64_t>(number);
    }
    for (std::uint32_t now = 1; now <= 3; ++now) {
      lattice.parallel_for_in_colours(Moore<2>{}, Walk{now});
      walk(expected, shadow, shape, now);
    }
    dynasoar::DeviceArray<std::int64_t> homes(shape.size());
    homes.fill_bytes(0xFF);
    handle.template parallel_do<Walker>(WriteHomes{homes.data()});
    handle.synchronize();
    const std::vector<std::int64_t> found = homes.download();
    std::size_t wrong = 0;
    for (std::size_t number = 0; number < found.size(); ++number) wrong += found[number] != expected[number].number;
    CHECK(wrong == 0);
  });
}

TEST_CASE("a placed object looks at all objects of a class, placed or not") {
  Handle handle({.heap_bytes = 8 << 20});
  for (const double probability : {0.4, 1.0}) {  // also all places of a block
    Lattice<Walker> lattice(handle, {130, 3});
    const Density density(probability, kSeed, Chance::walkers);
    lattice.parallel_new<Walker>(density);
    handle.parallel_new<Bird>(100);
    handle.parallel_do<&Walker::weigh_birds>();
    handle.parallel_do<&Walker::rank>();
    std::vector<std::uint64_t> expected;
    for (std::uint64_t number = 0; number < lattice.shape().size(); ++number) {
      if (!density.chooses(number)) continue;
      std::uint64_t weights = 0;
      for (std::uint64_t weight = number + 1; weight < 100; ++weight) weights += weight;
      expected.push_back(std::uint64_t{expected.size()} << 32 | weights);
    }
    CHECK(handle.columns<Walker>()["found_"].as<std::uint64_t>() == expected);
    handle.parallel_do<Bird>([] __device__(Bird * bird) { dynasoar::destroy(bird); });
  }
}

TEST_CASE("statistics say how many placed objects there are and, in builds that count, how many were created") {
  Handle handle({.heap_bytes = 8 << 20});
  const auto walkers = [&] { return handle.statistics().types[1]; };
  constexpr bool kCounts = dynasoar::detail::counts_placed_v<AllocatorT>;
  CHECK(walkers().places == 0);
  Lattice<Walker> lattice(handle, {65, 4});
  lattice.parallel_new<Walker>([shape = lattice.shape()] __device__(Place place) { return shape.number(place) < 100; });
  CHECK(walkers().objects == 100);
  CHECK(walkers().created == (kCounts ? std::optional<std::uint64_t>(100) : std::nullopt));
  handle.parallel_do<Walker>([] __device__(Walker * walker) {
    const LatticeShape& shape = dynasoar::lattice_of<Walker>();
    const Place here = dynasoar::place_of(walker);
    if (shape.number(here) < 30) dynasoar::destroy(walker);
    if (shape.number(here) >= 90) dynasoar::move_to(walker, shape.place_of_number(shape.number(here) + 100));
    dynasoar::make_new_at<Walker>(here);  // refused
  });
  lattice.parallel_for_blocks([] __device__(dynasoar::PlaceBlock block) {
    if (block.number() == 0) dynasoar::create_where<Walker>(block, 0xFF);  // another 8
  });
  CHECK(walkers().objects == 78);
  CHECK(walkers().created == (kCounts ? std::optional<std::uint64_t>(108) : std::nullopt));
  CHECK(walkers().deleted() == (kCounts ? std::optional<std::uint64_t>(30) : std::nullopt));
}

TEST_CASE("statistics say how many places a class has, and how many bytes; the heap has nothing of it") {
  Handle handle({.heap_bytes = 8 << 20});
  Lattice<Walker> lattice(handle, {65, 4});
  lattice.parallel_new<Walker>([shape = lattice.shape()] __device__(Place place) { return shape.number(place) < 65; });
  handle.parallel_new<Bird>(640);
  const dynasoar::Statistics now = handle.statistics();
  const dynasoar::TypeStatistics& walkers = now.types[1];
  CHECK(walkers.places == 260);
  CHECK(walkers.taken() == 0.25);
  CHECK(walkers.lattice_bytes == lattice.bytes());
  CHECK(!walkers.in_heap);
  CHECK(walkers.slots == 0);
  CHECK(now.objects_in_heap() == 640);
  CHECK(now.fragmentation() == doctest::Approx(1 - 640 / static_cast<double>(now.slots())));
  std::ostringstream out;
  out << now;
  const std::string text = out.str();
  CAPTURE(text);
  const std::size_t table = text.find("class on a lattice"), line = text.find("Walker");
  REQUIRE(table < line);
  CHECK((text.find("created", table) < line) == dynasoar::detail::counts_placed_v<AllocatorT>);
  std::string objects, places, taken, bytes;
  std::istringstream(text.substr(line + 6)) >> objects >> places >> taken >> bytes;
  CHECK(objects + ' ' + places + ' ' + taken == "65 260 0.250");
  CHECK(bytes == std::to_string(lattice.bytes()));
}

TEST_CASE("objects are created where a density chooses, if the place is free") {
  Handle handle({.heap_bytes = 8 << 20});
  for (const auto& sizes : lattice_test::kSizes) {
    Lattice<Spin> lattice(handle, sizes);
    const LatticeShape shape = lattice.shape();
    const Density few(0.1, kSeed, 1), many(0.6, Seed{std::uint64_t{1} << 40}, 2);
    lattice.parallel_new<Spin>(few);
    handle.parallel_do<Spin>([] __device__(Spin * spin) { spin->is_up_ = true; });
    lattice.parallel_new<Spin>(many);
    std::vector<int> expected(shape.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = few.chooses(i) ? 1 : many.chooses(i) ? -1 : 0;
    CHECK(spins_of(handle, shape) == expected);
  }
}

TEST_CASE("a density chooses its share of all places, and for each purpose and seed others") {
  constexpr std::uint64_t kNumbers = 1 << 17;
  const auto count = [](const auto& chooses) {
    double chosen = 0;
    for (std::uint64_t number = 0; number < kNumbers; ++number) chosen += chooses(number << 16) ? 1 : 0;
    return chosen;
  };
  const auto check_share = [&](double share, const auto& chooses) {
    CHECK(std::abs(count(chooses) - share * kNumbers) <= 5 * std::sqrt(share * (1 - share) * kNumbers));
  };
  for (const double probability : {0.0, 0.0001, 0.3, 0.5, 0.999, 1.0}) {
    const Density density(probability, kSeed, Chance::walkers);
    check_share(probability, [&](std::uint64_t number) { return density.chooses(number); });
  }
  const Density first(0.3, kSeed, 1), other_purpose(0.3, kSeed, 2), other_seed(0.3, Seed{8}, 1);
  check_share(0.09, [&](std::uint64_t number) { return first.chooses(number) && other_purpose.chooses(number); });
  check_share(0.09, [&](std::uint64_t number) { return first.chooses(number) && other_seed.chooses(number); });
  check_share(0.09, [&](std::uint64_t number) { return first.chooses(number) && first.chooses(number + 1); });
}

TEST_CASE("a density that is no probability is refused") {
  CHECK_THROWS_WITH_AS(Density(1.5, kSeed, 0),
                       "dynasoar: a Density is a probability from 0 to 1, but this one is 1.500000",
                       const dynasoar::Error&);
  CHECK_THROWS_AS(Density(-0.1, kSeed, 0), const dynasoar::Error&);
  CHECK_THROWS_AS(Density(std::numeric_limits<double>::quiet_NaN(), kSeed, 0), const dynasoar::Error&);
}

/// Too large for registers, and aligned to more than 16 bytes.
class Whale final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  struct alignas(32) Song {
    std::array<std::uint32_t, 8> notes;
  };
  using Barnacles = std::array<std::uint32_t, 20>;
  DYNASOAR_FIELDS(Whale, (age_, std::uint8_t), (barnacles_, Barnacles), (song_, Song));

  __device__ explicit Whale(std::uint32_t number) : age_(static_cast<std::uint8_t>(number)) {
    Song song;
    for (std::uint32_t i = 0; i < 8; ++i) song.notes[i] = 100 * number + i;
    song_ = song;
    for (std::uint32_t i = 0; i < 20; ++i) barnacles_[i] = 1000 * number + i;
  }

  __device__ bool is(std::uint32_t number) const {
    const Song song = song_;
    bool is_same = age_ == static_cast<std::uint8_t>(number);
    for (std::uint32_t i = 0; i < 8; ++i) is_same = is_same && song.notes[i] == 100 * number + i;
    for (std::uint32_t i = 0; i < 20; ++i) is_same = is_same && barnacles_[i] == 1000 * number + i;
    return is_same;
  }
};

TEST_CASE("large objects and such with large alignments move as a whole") {
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{8} << 20});
  Lattice<Whale> sea(handle, {65, 9});
  sea.parallel_for([] __device__(Place place) {
    const std::uint64_t number = dynasoar::lattice_of<Whale>().number(place);
    if (number % 2 == 0) dynasoar::make_new_at<Whale>(place, static_cast<std::uint32_t>(number));
  });
  handle.parallel_do<Whale>([] __device__(Whale * whale) {
    const dynasoar::LatticeShape& shape = dynasoar::lattice_of<Whale>();
    dynasoar::move_to(whale, shape.place_of_number((shape.number(dynasoar::place_of(whale)) + 1) % shape.size()));
  });
  CHECK(handle.count<Whale>() == 293);
  CHECK(handle.count_if<Whale>([] __device__(Whale * whale) -> bool {
    const dynasoar::LatticeShape& shape = dynasoar::lattice_of<Whale>();
    return whale->is(static_cast<std::uint32_t>(shape.number(dynasoar::place_of(whale)) - 1));
  }) == 292);
}

}  // namespace lattice_loops_test
