// Boids as objects: see models.h. A step sorts them into a grid, which copies what others see of them. In the loop that
// follows, each boid looks at the copies, turns and moves.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <dynasoar/dynasoar.h>
#include <dynasoar/program/object_simulation.h>
#include <dynasoar/uniform_grid.h>

#include "models.h"
#include "rules.h"

namespace benchmarks::flame_gpu {
namespace boids {

class Boid;
using AllocatorT = dynasoar::SoaAllocator<Boid>;

/// What others see of a boid.
struct alignas(16) Bird {
  Vector3 position;
  Vector3 velocity;
};

using Birds = dynasoar::GridView<Boid, Bird>;

/// The sums over a boid's neighbours.
struct Impression {
  float neighbours = 0;
  Vector3 offsets;
  Vector3 velocities;
  Vector3 away;  ///< from those too close: the more, the closer

  __device__ friend Impression operator+(const Impression& a, const Impression& b) {
    return {a.neighbours + b.neighbours, a.offsets + b.offsets, a.velocities + b.velocities, a.away + b.away};
  }

  __device__ Vector3 steered(Vector3 velocity) const {
    Vector3 change = float{kSeparation} * away;
    if (neighbours > 0) {
      const float share = 1 / neighbours;
      change = change + kCohesion * share * offsets + (kAlignment * share * velocities - velocity);
    }
    const Vector3 wish = velocity + float{kAgility} * change;
    const float speed = length(wish);
    return std::fmin(std::fmax(speed, float{kSlowest}), float{kFastest}) / speed * wish;
  }
};

__device__ inline Impression impression_of(const Birds::Neighbour& other) {
  const float distance = std::sqrt(other.squared_distance);
  const float pressure = distance < kTooClose ? 1 - distance / kTooClose : 0;
  return {1, other.offset, other.seen.velocity, -(pressure * pressure) * other.offset};
}

/// The walls of the cube, along one axis.
struct Walls {
  float lower, upper;

  __device__ float push(float at) const {
    return (at - lower < kNearWall ? kPushOfWall : 0) - (upper - at < kNearWall ? kPushOfWall : 0);
  }
  __device__ float inside(float at) const { return std::fmin(std::fmax(at, lower), upper); }
};

class Boid final : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Boid, (number_, std::uint32_t), (position_, Vector3), (velocity_, Vector3));

  __device__ Boid(std::size_t i, const BoidState* states)
      : number_(static_cast<std::uint32_t>(i)), position_(states[i].position), velocity_(states[i].velocity) {}

  __device__ Bird seen() { return {position_, velocity_}; }

  __device__ auto fly(Birds birds, Walls walls) {
    return birds
        .reduce(position_, kSight, Impression{}, dynasoar::Plus{},
                [this](const Birds::Neighbour& other) {
                  return other.object == this ? Impression{} : impression_of(other);
                })
        .then([this, walls](const Impression& impression) {
          const Vector3 at = position_;
          const Vector3 velocity =
              impression.steered(velocity_) + Vector3{walls.push(at.x), walls.push(at.y), walls.push(at.z)};
          const Vector3 next = at + float{kTimeStep} * velocity;
          velocity_ = velocity;
          position_ = {walls.inside(next.x), walls.inside(next.y), walls.inside(next.z)};
        });
  }

  __device__ BoidState state() const { return {position_, velocity_}; }
};

class Objects final : public dynasoar::program::ObjectSimulation<Objects, Model<BoidState>, AllocatorT> {
 public:
  explicit Objects(const Flock& start)
      : ObjectSimulation(dynasoar::program::RunParameters(),
                         AllocatorT::heap_bytes_for<Boid>(2 * start.boids.size() + dynasoar::program::kSlotsInFlight),
                         "flock"),
        count_(start.boids.size()),
        walls_{-start.side / 2, start.side / 2},
        // Cells a bit wider than what a boid sees, so that it never looks into more than 27.
        grid_(handle(), {.lower = {walls_.lower, walls_.lower, walls_.lower},
                         .upper = {walls_.upper, walls_.upper, walls_.upper},
                         .cell = 1.01f * kSight,
                         .capacity = count_ + count_ / 2}) {
    dynasoar::DeviceArray<BoidState> initial(count_);
    initial.upload(start.boids);
    handle().parallel_new<Boid>(count_, static_cast<const BoidState*>(initial.data()));
    synchronize();
  }

  void step() override {
    keep_lists<>();
    ObjectSimulation::step();
  }

  void submit_step() override {
    grid_.rebuild<&Boid::seen>();
    grid_.parallel_do<&Boid::fly>(walls_);
  }

  std::vector<BoidState> states() override {
    const dynasoar::DeviceArray<BoidState> states(count_);
    BoidState* const out = states.data();
    handle().parallel_do<Boid>([=] __device__(Boid * boid) { out[boid->number_] = boid->state(); });
    synchronize();
    return states.download();
  }

  dynasoar::Columns read_columns() { return handle().columns<Boid>(); }

 private:
  std::size_t count_;
  Walls walls_;
  dynasoar::UniformGrid<Boid, Bird> grid_;
};

}  // namespace boids

std::unique_ptr<Model<BoidState>> make_boids(const Flock& start) {
  return std::make_unique<boids::Objects>(start);
}

}  // namespace benchmarks::flame_gpu
