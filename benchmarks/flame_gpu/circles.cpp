// Circles as objects: see models.h. A step sorts them into a grid. In the loop that follows, each circle looks at where
// others were, and moves.
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
namespace circles {

class Circle;
using AllocatorT = dynasoar::SoaAllocator<Circle>;

/// What others see of a circle.
struct alignas(16) Point {
  Vector3 position;
};

using Points = dynasoar::GridView<Circle, Point>;

/// The sum of what moves a circle.
struct Push {
  float neighbours = 0;
  Vector3 sum;

  __device__ friend Push operator+(const Push& a, const Push& b) {
    return {a.neighbours + b.neighbours, a.sum + b.sum};
  }
};

/// How a neighbour moves a circle: away from it in the inner half of its reach, and towards it in the outer half. The
/// circle itself, which is its own neighbour, does not.
__device__ inline Push push_of(const Points::Neighbour& other) {
  const float distance = std::sqrt(other.squared_distance);
  if (!(distance > 0 && distance < kReach)) return {};
  const float strength = std::sin(distance / kReach * kHalfTurn * -2) * kStrength;
  return {1, strength / distance * other.offset};
}

class Circle final : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Circle, (number_, std::uint32_t), (position_, Vector3), (drift_, float));

  __device__ Circle(std::size_t i, const Vector3* positions)
      : number_(static_cast<std::uint32_t>(i)), position_(positions[i]), drift_(0) {}

  __device__ Point seen() { return {position_}; }

  __device__ auto move(Points points) {
    return points
        .reduce(position_, kReach, Push{}, dynasoar::Plus{},
                [](const Points::Neighbour& other) { return push_of(other); })
        .then([this](const Push& push) {
          const Vector3 way = 1 / std::fmax(push.neighbours, 1.0f) * push.sum;
          position_ = position_ + way;
          drift_ = length(way);
        });
  }

  __device__ CircleState state() const { return {position_, drift_}; }
};

class Objects final : public dynasoar::program::ObjectSimulation<Objects, Model<CircleState>, AllocatorT> {
 public:
  explicit Objects(const Circles& start)
      : ObjectSimulation(
            dynasoar::program::RunParameters(),
            AllocatorT::heap_bytes_for<Circle>(2 * start.positions.size() + dynasoar::program::kSlotsInFlight),
            "circles"),
        count_(start.positions.size()),
        // Cells a bit wider than the reach, so that a circle never looks into more than 27.
        grid_(handle(), {.lower = {0, 0, 0},
                         .upper = {start.side, start.side, start.side},
                         .cell = 1.01f * kReach,
                         .capacity = count_ + count_ / 2}) {
    dynasoar::DeviceArray<Vector3> initial(count_);
    initial.upload(start.positions);
    handle().parallel_new<Circle>(count_, static_cast<const Vector3*>(initial.data()));
    synchronize();
  }

  void step() override {
    keep_lists<>();
    ObjectSimulation::step();
  }

  void submit_step() override {
    grid_.rebuild<&Circle::seen>();
    grid_.parallel_do<&Circle::move>();
  }

  std::vector<CircleState> states() override {
    const dynasoar::DeviceArray<CircleState> states(count_);
    CircleState* const out = states.data();
    handle().parallel_do<Circle>([=] __device__(Circle * circle) { out[circle->number_] = circle->state(); });
    synchronize();
    return states.download();
  }

  dynasoar::Columns read_columns() { return handle().columns<Circle>(); }

 private:
  std::size_t count_;
  dynasoar::UniformGrid<Circle, Point> grid_;
};

}  // namespace circles

std::unique_ptr<Model<CircleState>> make_circles(const Circles& start) {
  return std::make_unique<circles::Objects>(start);
}

}  // namespace benchmarks::flame_gpu
