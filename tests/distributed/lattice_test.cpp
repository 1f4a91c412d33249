/// @file
/// DistributedLattice: models give the same result, to the bit, on any number of ranks, with any slabs. Started by
/// mpiexec with 1, 2, 3, 4 and 7 ranks. What is expected comes from a Lattice, which each rank has for itself.

#include <dynasoar/distributed.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/random.h>

#include "world.h"

namespace distributed_test {

using dynasoar::DistributedLatticeOptions;

using dynasoar::Place;
using dynasoar::Reach;

constexpr dynasoar::random::Seed kSeed{11};

enum class Chance : std::uint32_t { start, wish, take, dies };

class Walker;
class Beast;
class Wolf;
class Bear;
class Soil;
class Follower;
using AllocatorT = dynasoar::SoaAllocator<Walker, Beast, Wolf, Bear, Soil, Follower>;

__device__ std::uint32_t draw(Chance chance, Place place, std::uint32_t step) {
  return dynasoar::random::words(kSeed, chance, dynasoar::lattice_of<Soil>().number(place), step)[0];
}

/// Something at every place, which depends on what is two places away.
class Soil final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true, kAtEveryPlace = true;
  using Values = std::array<std::uint32_t, 2>;
  DYNASOAR_FIELDS(Soil, (values_, Values));

  __device__ Soil() {
    values_.fill(static_cast<std::uint32_t>(dynasoar::lattice_of<Soil>().number(dynasoar::place_of(this))));
  }

  __device__ void mix(std::uint32_t step) {
    const std::uint32_t before = (step + 1) % 2, now = step % 2;
    std::uint32_t sum = 0;
    dynasoar::for_each_neighbour<Soil>(dynasoar::place_of(this), dynasoar::Moore<2>{},
                                       [&](Soil* other) { sum += other->values_[before]; });
    values_[now] = sum * 2654435761u + step;
  }
};

/// Walks, leaves newborns behind, dies; remembers where it was born.
class Walker final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Walker, (born_at_, Place), (steps_, std::uint32_t), (wish_, std::uint8_t));

  __device__ Walker() : born_at_(dynasoar::place_of(this)), steps_(0), wish_(9) {}

  __device__ void wish(std::uint32_t step) {
    const Place here = dynasoar::place_of(this);
    if (draw(Chance::dies, here, step) % 16 == 0) {
      dynasoar::destroy(this);
      return;
    }
    ++steps_;
    wish_ = static_cast<std::uint8_t>(draw(Chance::wish, here, step) % 5);
  }
};

struct Take {
  __device__ void operator()(Place place, std::uint32_t askers, std::uint32_t step) const {
    const std::uint32_t random = draw(Chance::take, place, step);
    std::uint32_t direction = random % 4;
    while ((askers >> direction & 1) == 0) direction = (direction + 1) % 4;
    const Place from = dynasoar::lattice_of<Walker>().neighbour(place, static_cast<dynasoar::Direction>(direction));
    Walker* const walker = dynasoar::at<Walker>(from);
    if (random >> 8 & 1) {
      dynasoar::move_to(walker, place);
    } else {
      dynasoar::make_new_at<Walker>(place);
    }
  }
};

/// Cannot be copied to another rank.
class Follower final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Follower, (leader_, Walker*));
  __device__ Follower() : leader_(nullptr) {}
};

/// Two classes that exclude each other.
class Beast : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true, kOnePerPlace = true;
  DYNASOAR_FIELDS(Beast, (age_, std::uint32_t));
  __device__ Beast() : age_(0) {}
};
class Wolf final : public Beast {
 public:
  using BaseClass = Beast;
  DYNASOAR_FIELDS(Wolf);
};
class Bear final : public Beast {
 public:
  using BaseClass = Beast;
  DYNASOAR_FIELDS(Bear);
};

/// Creates wolves and bears where there were none, next to others, and removes old ones.
struct Breed {
  __device__ void operator()(Place place, std::uint32_t step) const {
    const std::uint32_t random = draw(Chance::wish, place, step);
    if (random >> 16 & 1) {
      if (random >> 17 & 1) dynasoar::make_new_at<Wolf>(place);  // unless there is a bear
      return;
    }
    if (Beast* const beast = dynasoar::at<Beast>(place)) {
      if (++beast->age_ > random % 8) dynasoar::destroy(beast);
      return;
    }
    const int wolves = dynasoar::count_neighbours<Wolf>(place), bears = dynasoar::count_neighbours<Bear>(place);
    if (wolves > bears) {
      dynasoar::make_new_at<Wolf>(place);
    } else if (bears > wolves || random % 64 == 0) {
      dynasoar::make_new_at<Bear>(place);
    }
  }
};

struct IsChosen {
  std::uint32_t remainder;
  __device__ bool operator()(Place place) const { return draw(Chance::start, place, 0) % 4 == remainder; }
};

/// What is at a place, as a number.
struct Describe {
  std::uint64_t* words;
  __device__ void operator()(Place place) const {
    const auto& shape = dynasoar::lattice_of<Soil>();
    std::uint64_t word = dynasoar::at<Soil>(place)->values_[0];
    word = word * 31 + dynasoar::at<Soil>(place)->values_[1];
    if (const Walker* const walker = dynasoar::at<Walker>(place)) {
      const Place born_at = walker->born_at_;  // maybe on another rank
      const std::uint64_t born = born_at.exists() ? shape.number(born_at) : born_at.slot() - Place::kElsewhere;
      word += 7 + walker->steps_ * 64 + born * 1024;
    }
    if (const Beast* const beast = dynasoar::at<Beast>(place))
      word += (std::uint64_t{beast->age_} * 2 + (dynasoar::cast<Wolf>(beast) != nullptr ? 1 : 0) + 1) << 40;
    words[shape.number(place)] = word;
  }
};

struct FirstValue {
  __device__ std::uint64_t operator()(Soil* soil) const { return soil->values_[0]; }
};

struct IsAny {
  __device__ bool operator()(Soil*) const { return true; }
};

/// Remembers the place below.
struct WantsNext {
  __device__ void operator()(Walker* walker) const {
    walker->born_at_ = dynasoar::lattice_of<Walker>().down(dynasoar::place_of(walker));
  }
};

/// Counts those that remember another place.
struct CountsOthers {
  dynasoar::AtomicWord<std::uint64_t>* count;
  __device__ void operator()(Walker* walker) const {
    const Place below = dynasoar::lattice_of<Walker>().down(dynasoar::place_of(walker));
    if (walker->born_at_ != below) count->fetch_add(1, dynasoar::Order::relaxed);
  }
};

struct IsOdd {
  __device__ bool operator()(Walker* walker) const { return walker->steps_ % 2 == 1; }
};

/// Creates bears at the next place, also if another place does.
struct Scatter {
  __device__ void operator()(Place place) const {
    dynasoar::make_new_at<Bear>(dynasoar::lattice_of<Bear>().left(place));
    dynasoar::make_new_at<Bear>(dynasoar::lattice_of<Bear>().up(place));
  }
};

/// All objects are on lattices.
dynasoar::HandleOptions small_heap() {
  return {.heap_bytes = AllocatorT::least_heap_bytes()};
}

struct Model {
  std::vector<std::size_t> sizes;
  DistributedLatticeOptions options;
  std::uint32_t steps = 12;
};

/// All places of a model after its steps, computed by this rank alone.
std::vector<std::uint64_t> expected(const Model& model) {
  dynasoar::AllocatorHandle<AllocatorT> handle(small_heap());
  dynasoar::Lattice<Walker, Wolf, Bear, Soil> lattice(handle, model.sizes, {model.options.periodic});
  lattice.parallel_new<Walker>(IsChosen{0});
  lattice.parallel_new<Wolf>(IsChosen{1});
  lattice.parallel_new<Bear>(IsChosen{2});
  for (std::uint32_t step = 1; step <= model.steps; ++step) {
    handle.parallel_do<&Soil::mix>(step);
    lattice.parallel_for(Breed{}, step + 1000);
    handle.parallel_do<&Walker::wish>(step);
    lattice.parallel_for_free_if<Walker>(dynasoar::AskedFrom<Walker, &Walker::wish_>{}, Take{}, step);
    lattice.parallel_for(Breed{}, step);
  }
  dynasoar::DeviceArray<std::uint64_t> words(static_cast<std::size_t>(lattice.shape().size()));
  words.fill_bytes(0);
  lattice.parallel_for(Describe{words.data()});
  handle.synchronize();
  return words.download();
}

class Divided {
 public:
  explicit Divided(const Model& model)
      : steps_(model.steps), handle_(world(), small_heap()), lattice_(handle_, model.sizes, model.options) {
    lattice_.parallel_new<Walker>(IsChosen{0});
    lattice_.parallel_new<Wolf>(IsChosen{1});
    lattice_.parallel_new<Bear>(IsChosen{2});
  }

  void step() {
    ++step_;
    lattice_.exchange();
    lattice_.parallel_do<&Soil::mix>({.reads = 2}, step_);
    lattice_.parallel_for({.reads = 1}, Breed{}, step_ + 1000);
    lattice_.parallel_do<&Walker::wish>({}, step_);
    lattice_.parallel_for_free_if<Walker>({.reads = 1, .writes = 1}, dynasoar::AskedFrom<Walker, &Walker::wish_>{},
                                          Take{}, step_);
    lattice_.parallel_for({.reads = 1}, Breed{}, step_);
    CHECK_FALSE(handle_.synchronize());
  }

  /// On all ranks.
  std::vector<std::uint64_t> places() {
    dynasoar::DeviceArray<std::uint64_t> words(static_cast<std::size_t>(lattice_.shape().size()));
    words.fill_bytes(0);
    lattice_.local().parallel_for(Describe{words.data()});
    handle_.synchronize();
    std::vector<std::uint64_t> result = words.download();
    world().sum(result);
    return result;
  }

  std::vector<std::uint64_t> run() {
    while (step_ < steps_) step();
    return places();
  }

  dynasoar::DistributedHandle<AllocatorT>& handle() { return handle_; }
  dynasoar::DistributedLattice<Walker, Wolf, Bear, Soil>& lattice() { return lattice_; }

 private:
  std::uint32_t step_ = 0, steps_;
  dynasoar::DistributedHandle<AllocatorT> handle_;
  dynasoar::DistributedLattice<Walker, Wolf, Bear, Soil> lattice_;
};

/// Layers of each rank: as the list says, which is repeated, and what is left for the last one.
std::vector<std::size_t> slabs(std::size_t layers, const std::vector<std::size_t>& list) {
  std::vector<std::size_t> result;
  for (int rank = 0; rank + 1 < world().size(); ++rank) {
    result.push_back(list[static_cast<std::size_t>(rank) % list.size()]);
    layers -= result.back();
  }
  result.push_back(layers);
  return result;
}

/// What an Error says.
template <class F>
std::string error_of(const F& function) {
  try {
    function();
  } catch (const dynasoar::Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("planes and volumes give the same on any number of ranks") {
  for (const bool x : {true, false}) {
    for (const bool last : {true, false}) {
      for (const Model& model :
           {Model{{100, 60}, {.periodic = {x, last}, .halo = 6, .divides_for_one_rank = true}},
            Model{{64, 42}, {.periodic = {x, last}, .halo = 6, .divides_for_one_rank = true}},
            Model{{7, 49}, {.periodic = {x, last}, .halo = 6, .divides_for_one_rank = true}},
            Model{{9, 5, 43}, {.periodic = {x, true, last}, .halo = 6, .divides_for_one_rank = true}}}) {
        CAPTURE(model.sizes.size());
        CAPTURE(model.sizes[0]);
        CAPTURE(last);
        const std::vector<std::uint64_t> places = expected(model);
        CHECK(Divided(model).run() == places);
      }
    }
  }
}

TEST_CASE("slabs may differ, be empty, and change in mid-run") {
  for (const bool is_periodic : {true, false}) {
    Model model{{70, 60}, {.periodic = {true, is_periodic}, .halo = 6, .divides_for_one_rank = true}};
    const std::vector<std::uint64_t> places = expected(model);
    for (const std::vector<std::size_t>& list :
         {std::vector<std::size_t>{6, 9}, {0, 17}, {8, 0, 7}, {0, 0, 0, 30, 0, 0}}) {
      model.options.layers = slabs(60, list);
      CHECK(Divided(model).run() == places);
    }
    model.options.layers = {};
    Divided divided(model);
    for (int i = 0; i < 12; ++i) {
      divided.step();
      const std::vector<std::vector<std::size_t>> lists{{9, 6}, {0, 20}, {7, 8, 0}};
      if (i % 3 == 2) divided.lattice().divide(slabs(60, lists[static_cast<std::size_t>(i) / 3 % 3]));
    }
    CHECK(divided.places() == places);
  }
}

TEST_CASE("counts, sums and extremes are those of the whole lattice, without ghosts") {
  const Model model{{100, 60}, {.halo = 6, .divides_for_one_rank = true}};
  std::uint64_t walkers = 0, sum = 0;
  {
    dynasoar::AllocatorHandle<AllocatorT> handle(small_heap());
    dynasoar::Lattice<Walker, Wolf, Bear, Soil> lattice(handle, model.sizes);
    lattice.parallel_new<Walker>(IsChosen{0});
    walkers = handle.count<Walker>();
    sum = handle.reduce<Soil>(std::uint64_t{0}, dynasoar::Plus{}, FirstValue{});
  }
  Divided divided(model);
  divided.lattice().exchange();
  CHECK(divided.handle().count<Walker>() == walkers);
  CHECK(divided.handle().count<Soil>() == 6000);
  CHECK(divided.handle().reduce<Soil>(std::uint64_t{0}, dynasoar::Plus{}, FirstValue{}) == sum);
  CHECK(divided.handle().sum<&Walker::steps_>() == 0);
  CHECK(divided.handle().count_if<Walker>(IsOdd{}) == 0);
  CHECK(divided.handle().local().statistics().types[4].places == divided.lattice().shape().own_size());
  CHECK(divided.handle().local().columns<Soil>().rows == divided.lattice().shape().own_size());
}

TEST_CASE("ranks without layers have nothing to count") {
  Model model{{100, 60}, {.halo = 6, .divides_for_one_rank = true}};
  model.options.layers = std::vector<std::size_t>(static_cast<std::size_t>(world().size()), 0);
  model.options.layers.front() = 60;
  Divided divided(model);
  divided.step();
  const bool is_empty = world().rank() > 0;
  CHECK(divided.handle().count_if<Soil>(IsAny{}) == 6000);
  CHECK(divided.handle().sum<&Walker::steps_>() > 0);
  CHECK(divided.handle().local().columns<Walker>().rows == (is_empty ? 0 : divided.handle().local().count<Walker>()));
  CHECK(divided.handle().local().count_if<Soil>(IsAny{}) == (is_empty ? 0 : 6000));
}

TEST_CASE("places in fields are the nearest copies after an exchange") {
  for (const std::size_t height : {std::size_t{12}, std::size_t{14}}) {
    const auto layers = height * static_cast<std::size_t>(world().size()) / (world().size() > 1 ? 2 : 1);
    Divided divided({{64, layers}, {.halo = 6, .divides_for_one_rank = true}});
    auto& lattice = divided.lattice();
    lattice.exchange();
    lattice.parallel_do<Walker>({.reads = 1}, WantsNext{});
    lattice.exchange();
    dynasoar::DeviceArray<std::uint64_t> wrong(1);
    wrong.fill_bytes(0);
    lattice.parallel_do<Walker>({.reads = 1},
                                CountsOthers{reinterpret_cast<dynasoar::AtomicWord<std::uint64_t>*>(wrong.data())});
    divided.handle().synchronize();
    CHECK(wrong.download()[0] == 0);
  }
}

TEST_CASE("ranks that are given different lattices are told") {
  dynasoar::DistributedHandle<AllocatorT> handle(world(), small_heap());
  using LatticeT = dynasoar::DistributedLattice<Walker, Wolf, Bear, Soil>;
  const std::size_t width = world().rank() == 0 ? 64 : 65;
  const std::string error = error_of([&] { LatticeT(handle, {width, 70}, {.halo = 6, .divides_for_one_rank = true}); });
  CHECK((error.find("the lattice") != std::string::npos) == (world().size() > 1));
}

TEST_CASE("what needs the whole lattice is refused") {
  Divided divided({{64, 60}, {.halo = 3, .divides_for_one_rank = true}});
  auto& local = divided.lattice().local();
  CHECK(
      error_of([&] { local.parallel_for_in_colours(dynasoar::Moore<>{}, Take{}, 1u, 1u); }) ==
      "dynasoar: parallel_for_in_colours needs a whole lattice, but this process has a part of one. Run the program as "
      "one process");
  CHECK(error_of([&] {
          static_cast<void>(local.raster_of<&Walker::steps_>());
        }).find("raster_of needs a whole lattice") != std::string::npos);
}

TEST_CASE("a lattice that cannot be divided is refused on all ranks") {
  dynasoar::DistributedHandle<AllocatorT> handle(world(), small_heap());
  using LatticeT = dynasoar::DistributedLattice<Walker, Wolf, Bear, Soil>;
  const auto refusal = [&](const std::vector<std::size_t>& sizes, DistributedLatticeOptions options) {
    options.divides_for_one_rank = true;
    return error_of([&] { LatticeT(handle, sizes, options); });
  };
  const auto ranks = static_cast<std::size_t>(world().size());
  CHECK(refusal({100}, {}).find("with one axis cannot be divided") != std::string::npos);
  CHECK(refusal({100, 8 * ranks}, {.halo = 0}).find("must be at least 1 layer") != std::string::npos);
  CHECK(refusal({100, 8 * ranks}, {.halo = 9}).find("has 8 rows of the lattice, but its neighbours need copies of 9") !=
        std::string::npos);
  CHECK(refusal({100, 8}, {.layers = std::vector<std::size_t>(ranks + 1, 1)}).find("ranks, but there are") !=
        std::string::npos);
  CHECK(refusal({100, 8 * ranks}, {.layers = std::vector<std::size_t>(ranks, 7)}).find(" rows, but the lattice has ") !=
        std::string::npos);
  CHECK(refusal({4, 4, 2 * ranks}, {.halo = 3}).find("has 2 planes") != std::string::npos);
  const std::string pointers = error_of([&] {
    dynasoar::DistributedLattice<Follower>(handle, {64, 8 * ranks}, {.divides_for_one_rank = true});
  });
  CHECK(pointers.find("the pointers in leader_ would point to nothing") != std::string::npos);
}

TEST_CASE("a loop that reaches further than ghosts are up to date is refused") {
  Divided divided({{64, 60}, {.halo = 3, .divides_for_one_rank = true}});
  auto& lattice = divided.lattice();
  CHECK(
      error_of([&] { lattice.parallel_do<&Soil::mix>({.reads = 1}, 1u); })
          .ends_with("Soil::mix reads up to 1 layer away and writes up to 0 layers away, but only 0 layers of ghosts "
                     "are up to date. Call exchange() before the loop, or give the DistributedLattice a larger halo"));
  lattice.exchange();
  lattice.parallel_do<&Soil::mix>({.reads = 2}, 1u);
  CHECK(lattice.valid() == 1);
  CHECK(error_of([&] { lattice.parallel_do<&Soil::mix>({.reads = 1, .writes = 1}, 1u); }) != "");
  CHECK(error_of([&] { lattice.parallel_do<&Soil::mix>({.reads = -1}, 1u); }).find("must not be negative") !=
        std::string::npos);
  lattice.parallel_do<&Walker::wish>({}, 1u);
  CHECK(lattice.valid() == 1);
  lattice.exchange();
  lattice.parallel_for_free_if<Walker>({.reads = 1, .writes = 1}, dynasoar::AskedFrom<Walker, &Walker::wish_>{}, Take{},
                                       1u);
  CHECK(lattice.valid() == 1);
}

TEST_CASE("in checked builds, stale ghosts are found" * doctest::skip(!dynasoar::kChecked)) {
  {
    Divided divided({{64, 60}, {.halo = 3, .divides_for_one_rank = true}});
    auto& lattice = divided.lattice();
    lattice.exchange();
    lattice.parallel_do<&Soil::mix>({.reads = 1}, 1u);  // but it reads 2 layers away
    const std::string error = error_of([&] { lattice.exchange(); });
    CHECK(error.find("a ghost that should be up to date is not: values_ of the Soil at (0, ") != std::string::npos);
  }
  Divided other({{64, 60}, {.halo = 3, .divides_for_one_rank = true}});
  other.lattice().exchange();
  other.handle().local().parallel_do<&Walker::wish>(1u);  // without ghosts
  CHECK(error_of([&] { other.lattice().exchange(); }) != "");
}

TEST_CASE("in checked builds, creations that depend on the order of threads are found" *
          doctest::skip(!dynasoar::kChecked)) {
  Divided divided({{64, 60}, {.halo = 3, .divides_for_one_rank = true}});
  divided.lattice().exchange();
  divided.lattice().parallel_for({.reads = 1, .writes = 1}, Scatter{});
  const std::string error = error_of([&] { divided.handle().synchronize(); });
  CHECK(error.find("refused a place of a divided lattice that another thread took in the same loop") !=
        std::string::npos);
}

TEST_CASE("an error on one rank is thrown on all") {
  dynasoar::DistributedHandle<AllocatorT> handle(world(), small_heap());
  const int last = world().size() - 1;
  const std::string error = error_of([&] {
    handle.on_all([&] {
      if (world().rank() == last) throw dynasoar::Error("no more fish");
    });
  });
  const bool is_here = world().rank() == last;
  CHECK(error == (is_here ? "no more fish" : "dynasoar: rank " + std::to_string(last) + " failed: no more fish"));
  CHECK(handle.synchronize(world().rank() == last));
  CHECK_FALSE(handle.synchronize());
}

}  // namespace distributed_test
