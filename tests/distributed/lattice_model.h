/// @file
/// A model that tests of divided lattices run: classes at every place, at some, and of a hierarchy; Places in fields;
/// births, moves and deaths. And what it must give, computed with a Lattice.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <dynasoar/distributed.h>
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

__device__ inline std::uint32_t draw(Chance chance, Place place, std::uint32_t step) {
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
inline dynasoar::HandleOptions small_heap() {
  return {.heap_bytes = AllocatorT::least_heap_bytes()};
}

struct Model {
  std::vector<std::size_t> sizes;
  DistributedLatticeOptions options;
  std::uint32_t steps = 12;
};

/// Submits the loops of a step; `Lattice` is a DistributedLattice.
template <class Lattice>
void submit(Lattice& lattice, std::uint32_t step) {
  lattice.exchange();
  lattice.template parallel_do<&Soil::mix>({.reads = 2}, step);
  lattice.parallel_for({.reads = 1}, Breed{}, step + 1000);
  lattice.template parallel_do<&Walker::wish>({}, step);
  lattice.template parallel_for_free_if<Walker>({.reads = 1, .writes = 1},
                                                dynasoar::AskedFrom<Walker, &Walker::wish_>{}, Take{}, step);
  lattice.parallel_for({.reads = 1}, Breed{}, step);
}

/// All places of a lattice.
template <class LatticeT>
std::vector<std::uint64_t> described(dynasoar::AllocatorHandle<AllocatorT>& handle, LatticeT& lattice) {
  dynasoar::DeviceArray<std::uint64_t> words(static_cast<std::size_t>(lattice.shape().size()));
  words.fill_bytes(0);
  lattice.parallel_for(Describe{words.data()});
  handle.synchronize();
  return words.download();
}

/// What `f(handle, lattice)` returns after the steps of a model, which this rank computes alone. @param same_step   0,
/// or what all steps are given as their number
template <class F>
auto computed_alone(const Model& model, const F& f, std::uint32_t same_step = 0) {
  dynasoar::AllocatorHandle<AllocatorT> handle(small_heap());
  dynasoar::Lattice<Walker, Wolf, Bear, Soil> lattice(handle, model.sizes, {model.options.periodic});
  lattice.parallel_new<Walker>(IsChosen{0});
  lattice.parallel_new<Wolf>(IsChosen{1});
  lattice.parallel_new<Bear>(IsChosen{2});
  for (std::uint32_t i = 1; i <= model.steps; ++i) {
    const std::uint32_t step = same_step > 0 ? same_step : i;
    handle.parallel_do<&Soil::mix>(step);
    lattice.parallel_for(Breed{}, step + 1000);
    handle.parallel_do<&Walker::wish>(step);
    lattice.parallel_for_free_if<Walker>(dynasoar::AskedFrom<Walker, &Walker::wish_>{}, Take{}, step);
    lattice.parallel_for(Breed{}, step);
  }
  return f(handle, lattice);
}

/// All places of a model after its steps.
inline std::vector<std::uint64_t> expected(const Model& model, std::uint32_t same_step = 0) {
  return computed_alone(
      model, [](auto& handle, auto& lattice) { return described(handle, lattice); }, same_step);
}

class Divided {
 public:
  /// A model that has not begun: on all ranks, or on those of another communicator.
  explicit Divided(const Model& model, dynasoar::Communicator& communicator = world())
      : communicator_(communicator),
        steps_(model.steps),
        handle_(communicator, small_heap()),
        lattice_(handle_, model.sizes, model.options) {
    lattice_.parallel_new<Walker>(IsChosen{0});
    lattice_.parallel_new<Wolf>(IsChosen{1});
    lattice_.parallel_new<Bear>(IsChosen{2});
  }

  void step() {
    ++step_;
    submit(lattice_, step_);
    CHECK_FALSE(handle_.synchronize());
  }

  /// On all ranks.
  std::vector<std::uint64_t> places() {
    std::vector<std::uint64_t> result = described(handle_.local(), lattice_.local());
    communicator_.sum(result);
    return result;
  }

  std::vector<std::uint64_t> run() {
    while (step_ < steps_) step();
    return places();
  }

  void save(const std::string& path) { handle_.save(path, dynasoar::value("step", step_)); }
  void load(const std::string& path) { handle_.load(path, dynasoar::value("step", step_)); }

  std::uint32_t steps_done() const { return step_; }
  dynasoar::DistributedHandle<AllocatorT>& handle() { return handle_; }
  dynasoar::DistributedLattice<Walker, Wolf, Bear, Soil>& lattice() { return lattice_; }

 private:
  dynasoar::Communicator& communicator_;
  std::uint32_t step_ = 0, steps_;
  dynasoar::DistributedHandle<AllocatorT> handle_;
  dynasoar::DistributedLattice<Walker, Wolf, Bear, Soil> lattice_;
};

/// Layers of each rank: as the list says, which is repeated, and what is left for the last one.
inline std::vector<std::size_t> slabs(std::size_t layers, const std::vector<std::size_t>& list) {
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

}  // namespace distributed_test
