/// @file
/// UniformGrid with agents of several classes: what each shows of itself, which method runs for it, and several radii
/// in one method.

#include <dynasoar/uniform_grid.h>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/dynasoar.h>
#include <dynasoar/identity.h>

#include "../platform/test_support.h"

namespace grid_classes_test {

class Agent;
class Prey;
class Hunter;
class Alpha;
using AllocatorT = dynasoar::SoaAllocator<Prey, Hunter, Alpha>;

DYNASOAR_METHOD(Show, show);
DYNASOAR_METHOD(Act, act);

struct Point {
  float x, y;
};
struct Seen {
  Point position;
  std::uint32_t id;
  float data;  // of a Prey its weight, of a Hunter its speed
};
using View = dynasoar::GridView<Agent, Seen>;

__host__ __device__ inline Point point_of(std::uint64_t id) {
  dynasoar::test::Random random = dynasoar::test::Random::of(7, id);
  const auto real = [&] { return static_cast<float>(random.below(1 << 20)) * 0x1p-17f; };
  const float x = real();
  return {x, real()};
}

/// Not listed: each agent is of one of the classes derived from it.
class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (id_, std::uint32_t), (position_, Point), (found_, std::uint32_t), (near_, std::uint32_t),
                  (far_, std::uint32_t), (sum_, float), (turns_, std::uint32_t))
  __device__ explicit Agent(std::size_t id)
      : id_(static_cast<std::uint32_t>(id)),
        position_(point_of(id)),
        found_(0),
        near_(0),
        far_(0),
        sum_(0),
        turns_(0) {}

  __device__ Seen seen();

  /// Looks twice, less far than a cell is wide and further, and steps aside.
  __device__ void look(View others, float less, float more) {
    others.for_each_neighbour(position_, less, [&](const View::Neighbour&) { near_ += 1; });
    const Point old = position_;
    position_ = Point{old.x + 3, old.y - 5};
    others.for_each_neighbour(old, more, [&](const View::Neighbour&) { far_ += 1; });
  }
};

class Prey : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Prey, (weight_, float))
  __device__ explicit Prey(std::size_t index) : Agent(index), weight_(static_cast<float>(index % 10)) {}
  __device__ Seen show() { return {position_, id_, weight_}; }
  __device__ void act(View, float) { turns_ += 1; }
};

class Hunter : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Hunter, (speed_, double))
  __device__ explicit Hunter(std::size_t index) : Agent(index + 1000), speed_(100) {}
  __device__ Seen show() { return {position_, id_, static_cast<float>(speed_)}; }

  /// Weighs the prey nearby; finds its weight both in what it showed and in the object itself.
  __device__ void act(View others, float radius) {
    others.for_each_neighbour(position_, radius, [&](const View::Neighbour& other) {
      if (const Prey* prey = dynasoar::cast<Prey>(other.object)) {
        sum_ += other.seen.data;
        if (prey->weight_ == other.seen.data) found_ += 1;
      } else if (dynasoar::is_a<Hunter>(other.object)) {
        found_ += other.seen.data == 100 || other.seen.data == -1 ? 0 : 1000000;
      }
    });
    turns_ += 10;
  }
};

class Alpha : public Hunter {
 public:
  using BaseClass = Hunter;
  DYNASOAR_FIELDS(Alpha)
  __device__ explicit Alpha(std::size_t index) : Hunter(index + 1000) {}
  __device__ Seen show() { return {position_, id_, -1}; }
  __device__ void act(View others, float radius) {
    Hunter::act(others, radius);
    turns_ += 100;
  }
};

// After all classes, because call must know them.
__device__ inline Seen Agent::seen() {
  return dynasoar::call<Show>(this);
}

struct World {
  dynasoar::AllocatorHandle<AllocatorT> handle{{.heap_bytes = 16 << 20, .threads = 3}};
  std::vector<std::uint32_t> ids;

  World() {
    handle.parallel_new<Prey>(400);
    handle.parallel_new<Hunter>(200);
    handle.parallel_new<Alpha>(50);
    for (std::uint32_t i = 0; i < 400; ++i) ids.push_back(i);
    for (std::uint32_t i = 0; i < 200; ++i) ids.push_back(1000 + i);
    for (std::uint32_t i = 0; i < 50; ++i) ids.push_back(2000 + i);
  }
  /// The agents within a distance.
  template <class F>
  void for_each_near(std::uint32_t id, float radius, const F& f) const {
    for (const std::uint32_t other : ids) {
      const float x = point_of(other).x - point_of(id).x;
      const float y = point_of(other).y - point_of(id).y;
      if (x * x + y * y <= radius * radius) f(other);
    }
  }
};

TEST_CASE("agents of several classes show their own data, and the method of each one's own class runs") {
  World world;
  dynasoar::UniformGrid<Agent, Seen> grid(world.handle, {.lower = {0, 0}, .upper = {8, 8}, .cell = 1});
  grid.rebuild<&Agent::seen, &Agent::id_>();
  grid.parallel_do<Agent>(Act{}, 1.5f);
  world.handle.parallel_do<Agent>(Act{}, grid.view(), 0.0f);  // dispatches in the same way; finds only itself
  world.handle.synchronize();
  CHECK(world.handle.count_if<Prey>([] __device__(Prey * prey) { return prey->turns_ == 2; }) == 400);
  CHECK(world.handle.count_if<Hunter>([] __device__(Hunter * hunter) { return hunter->turns_ == 20; }) == 200);
  CHECK(world.handle.count_if<Alpha>([] __device__(Alpha * alpha) { return alpha->turns_ == 220; }) == 50);
  const dynasoar::Columns hunters = world.handle.columns<Hunter>();
  const auto ids = hunters["id_"].as<std::uint32_t>();
  const auto sums = hunters["sum_"].as<float>();
  const auto found = hunters["found_"].as<std::uint32_t>();
  REQUIRE(ids.size() == 250);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    float weight = 0;
    std::uint32_t prey = 0;
    world.for_each_near(ids[i], 1.5f, [&](std::uint32_t other) {
      weight += other < 1000 ? static_cast<float>(other % 10) : 0;
      prey += other < 1000 ? 1 : 0;
    });
    REQUIRE(sums[i] == weight);
    REQUIRE(found[i] == prey);
  }
}

TEST_CASE("a method of a subclass runs for its objects, and one of the base class for all") {
  World world;
  dynasoar::UniformGrid<Agent, Seen> grid(world.handle, {.lower = {0, 0}, .upper = {8, 8}, .cell = 1});
  grid.rebuild<&Agent::seen>();
  grid.parallel_do<&Hunter::act>(0.0f);  // not Alpha::act: a pointer to a method does not dispatch
  grid.parallel_do<Alpha, &Hunter::act>(0.0f);
  world.handle.synchronize();
  CHECK(world.handle.sum<&Agent::turns_>() == 250 * 10 + 50 * 10);
  CHECK(world.handle.count_if<Alpha>([] __device__(Alpha * alpha) { return alpha->turns_ == 20; }) == 50);
  grid.parallel_do<&Agent::look>(0.0f, 0.0f);
  CHECK(world.handle.sum<&Agent::near_>() == 650);
}

TEST_CASE("a method may search with two radii, and move in between: others are where they were") {
  for (const float cell : {0.5f, 2.0f}) {
    CAPTURE(cell);
    World world;
    dynasoar::UniformGrid<Agent, Seen> grid(world.handle, {.lower = {0, 0}, .upper = {8, 8}, .cell = cell});
    grid.rebuild<&Agent::seen>();
    grid.parallel_do<&Agent::look>(0.3f * cell, 1.7f * cell);
    world.handle.synchronize();
    const dynasoar::Columns agents = world.handle.columns<Agent>();
    const auto ids = agents["id_"].as<std::uint32_t>();
    const auto near = agents["near_"].as<std::uint32_t>();
    const auto far = agents["far_"].as<std::uint32_t>();
    REQUIRE(ids.size() == 650);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::uint32_t expected_near = 0;
      std::uint32_t expected_far = 0;
      world.for_each_near(ids[i], 0.3f * cell, [&](std::uint32_t) { ++expected_near; });
      world.for_each_near(ids[i], 1.7f * cell, [&](std::uint32_t) { ++expected_far; });
      REQUIRE(near[i] == expected_near);
      REQUIRE(far[i] == expected_far);
    }
  }
}

}  // namespace grid_classes_test

namespace grid_order_test {

class Named;
using AllocatorT = dynasoar::SoaAllocator<Named>;
using Point = grid_classes_test::Point;

struct Seen {
  Point position;
  dynasoar::Identity identity;
};
using View = dynasoar::GridView<Named, Seen>;

class Named : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Named, (identity_, dynasoar::Identity), (seen_, std::uint32_t), (descents_, std::uint32_t))
  __device__ explicit Named(std::size_t i) : identity_(dynasoar::first_identity({42}, i)), seen_(0), descents_(0) {}
  __device__ Seen seen() { return {{0.5f, 0.5f}, identity_}; }
  __device__ void look(View others) {
    std::uint64_t last = 0;
    others.for_each_neighbour({0.5f, 0.5f}, 0.1f, [&](const View::Neighbour& other) {
      const auto number = static_cast<std::uint64_t>(other.seen.identity);
      seen_ += 1;
      descents_ += number < last ? 1 : 0;
      last = number;
    });
  }
};

}  // namespace grid_order_test

TEST_CASE("the objects of a cell can be ordered by their identities") {
  using namespace grid_order_test;
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = 4 << 20, .threads = 3});
  handle.parallel_new<Named>(200);
  dynasoar::UniformGrid<Named, Seen> grid(handle, {.lower = {0, 0}, .upper = {1, 1}, .cell = 1});
  grid.rebuild<&Named::seen, &Named::identity_>();
  grid.parallel_do<&Named::look>();
  CHECK(handle.sum<&Named::seen_>() == 200 * 200);
  CHECK(handle.sum<&Named::descents_>() == 0);
}
