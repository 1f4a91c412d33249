/// @file
/// The hand-written baselines. Every step sorts boids by cell and copies them in this order, so that the neighbours of
/// a boid are in a few short pieces of memory, as in the sample "particles" of the CUDA toolkit. The two baselines
/// differ only in their layout: a structure of arrays or an array of structures.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/dense_simulation.h>
#include <app/layout.h>
#include <app/periodic_cells.h>
#include <dynasoar/platform/block_sums.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/sort.h>

#include "rules.h"
#include "simulation.h"

namespace flocking {
namespace baselines {

/// @tparam View   of app::StructureOfArrays or app::ArrayOfStructures
template <class View>
struct Boids : View {
  __device__ Vector& position(std::uint32_t i) const { return this->template at<&Bird::position>(i); }
  __device__ Vector& velocity(std::uint32_t i) const { return this->template at<&Bird::velocity>(i); }
};

/// The data of a step. Boid i has number i.
template <class Arrays>
struct Work {
  app::PeriodicCells torus;
  std::uint32_t count;
  Arrays boids;   ///< by number
  Arrays sorted;  ///< copies from before the step, cell by cell
  std::uint32_t *cells, *numbers, *sorted_cells, *order;
  std::uint32_t *begins, *ends;  ///< of each cell; 0 if it is empty
};

template <class Arrays>
struct FindCell {
  Work<Arrays> work;
  __device__ void operator()(std::uint32_t i) const { work.cells[i] = work.torus.cell(work.boids.position(i)); }
};

/// Copies a boid to its place in the order, and stores where its cell begins and ends.
template <class Arrays>
struct CopySorted {
  Work<Arrays> work;
  __device__ void operator()(std::uint32_t place) const {
    const std::uint32_t number = work.order[place];
    work.sorted.position(place) = work.boids.position(number);
    work.sorted.velocity(place) = work.boids.velocity(number);
    const std::uint32_t cell = work.sorted_cells[place];
    if (place == 0 || work.sorted_cells[place - 1] != cell) work.begins[cell] = place;
    if (place + 1 == work.count || work.sorted_cells[place + 1] != cell) work.ends[cell] = place + 1;
  }
};

/// Every boid looks around, turns and moves. On a GPU, there is a thread for each of its partial sums.
template <class Arrays, std::uint32_t kBoidSums>
struct Fly {
  static constexpr std::uint32_t kThreads = dynasoar::kCudaBackend ? kBoidSums : 1;
  using Sums = Impression[kBoidSums / kThreads];

  Work<Arrays> work;

  __device__ void operator()(std::size_t index) const {
    const auto place = static_cast<std::uint32_t>(index / kThreads);
    const std::uint32_t thread = index % kThreads;
    Sums sums;
    look_around(place, thread, sums);
    add_up(sums);
    if (thread != 0) return;
    const Vector here = work.sorted.position(place);
    const std::uint32_t number = work.order[place];
    const Vector velocity = sums[0].steered(work.sorted.velocity(place));
    work.boids.velocity(number) = velocity;
    work.boids.position(number) = {app::wrapped(here.x + velocity.x, work.torus.side),
                                   app::wrapped(here.y + velocity.y, work.torus.side)};
  }

 private:
  __device__ void look_around(std::uint32_t place, std::uint32_t thread, Sums& sums) const {
    const app::PeriodicCells& torus = work.torus;
    const Vector here = work.sorted.position(place);
    const std::uint32_t column = torus.column(here.x);
    const std::uint32_t row = torus.column(here.y);
    for (std::uint32_t y = 0; y < 3; ++y) {
      for (std::uint32_t x = 0; x < 3; ++x) {
        const std::uint32_t cell = beside(row, y) * torus.width + beside(column, x);
        const std::uint32_t begin = work.begins[cell];
        const std::uint32_t end = work.ends[cell];
        for (std::uint32_t i = begin + (thread - begin) % kThreads; i < end; i += kThreads) {
          const Vector there = work.sorted.position(i);
          const Vector offset = {torus.nearest(there.x - here.x), torus.nearest(there.y - here.y)};
          const float squared = offset.x * offset.x + offset.y * offset.y;
          if (squared > kSight * kSight || i == place) continue;
          Impression& sum = sums[i % kBoidSums / kThreads];
          sum = sum + impression_of(offset, squared, work.sorted.velocity(i));
        }
      }
    }
  }

  /// The column or row before (step 0), the same (1), the next one (2).
  __device__ std::uint32_t beside(std::uint32_t column, std::uint32_t step) const {
    return (column + work.torus.width + step - 1) % work.torus.width;
  }

  /// Adds all partial sums to the first.
  __device__ static void add_up([[maybe_unused]] Sums& sums) {
    if constexpr (kBoidSums > 1) {
      for (std::uint32_t step = 1; step < kBoidSums; step *= 2) {
        if constexpr (dynasoar::kCudaBackend) {
          const unsigned boid = dynasoar::detail::neighbouring_lanes<kBoidSums>();
          sums[0] = sums[0] + dynasoar::detail::shuffle_down<kBoidSums>(sums[0], static_cast<int>(step), boid);
        } else {
          for (std::uint32_t i = 0; i < kBoidSums; i += 2 * step) sums[i] = sums[i] + sums[i + step];
        }
      }
    }
  }
};

template <class Arrays>
struct Unpack {
  Arrays boids;
  const BoidState* states;
  std::uint32_t* numbers;
  __device__ void operator()(std::uint32_t i) const {
    boids.position(i) = {states[i].x, states[i].y};
    boids.velocity(i) = {states[i].vx, states[i].vy};
    numbers[i] = i;
  }
};

template <class Arrays>
struct Pack {
  Arrays boids;
  BoidState* states;
  __device__ void operator()(std::uint32_t i) const {
    const Vector position = boids.position(i);
    const Vector velocity = boids.velocity(i);
    states[i] = {i, position.x, position.y, velocity.x, velocity.y};
  }
};

/// @tparam Storage   app::StructureOfArrays or app::ArrayOfStructures of birds
template <class Storage>
class DenseFlock final : public app::DenseSimulation<Simulation> {
 public:
  using Arrays = Boids<typename Storage::View>;

  explicit DenseFlock(const Parameters& parameters)
      : DenseSimulation(parameters, {"sort", "fly"}),
        count_(static_cast<std::uint32_t>(parameters.initial.size())),
        torus_(parameters.side, 1.01f * kSight),
        boids_(count_),
        sorted_(count_),
        numbers_(4 * std::size_t{count_}),
        bounds_(2 * std::size_t{torus_.cells()}),
        states_(count_),
        sort_(count_, torus_.cells()) {
    states_.upload(parameters.initial);
    for_each(count_, Unpack<Arrays>{{boids_.view()}, states_.data(), numbers_.data() + count_});
    executor().synchronize();
  }

  void submit_step() override {
    const Work<Arrays> work = this->work();
    for_each(count_, FindCell<Arrays>{work});
    sort_.run(executor(), work.cells, work.numbers, work.sorted_cells, work.order);
    executor().fill_bytes(bounds_.data(), 0, bounds_.bytes());
    for_each(count_, CopySorted<Arrays>{work});
    end_phase(0);
    if (count_ <= kFewBoids) {
      fly(Fly<Arrays, kSumsOfFew>{work});
    } else if (count_ <= kSomeBoids) {
      fly(Fly<Arrays, kSumsOfSome>{work});
    } else {
      fly(Fly<Arrays, 1>{work});
    }
    end_phase(1);
  }

  std::vector<BoidState> boids() override {
    for_each(count_, Pack<Arrays>{{boids_.view()}, states_.data()});
    executor().synchronize();
    return states_.download();
  }

 private:
  Work<Arrays> work() const {
    std::uint32_t* const numbers = numbers_.data();
    return {torus_,
            count_,
            {boids_.view()},
            {sorted_.view()},
            numbers,
            numbers + count_,
            numbers + 2 * std::size_t{count_},
            numbers + 3 * std::size_t{count_},
            bounds_.data(),
            bounds_.data() + torus_.cells()};
  }

  template <class F>
  void fly(const F& loop) {
    executor().for_each_index(std::size_t{count_} * F::kThreads, loop);
  }

  std::uint32_t count_;
  app::PeriodicCells torus_;
  Storage boids_, sorted_;
  dynasoar::DeviceArray<std::uint32_t> numbers_;  // cells, numbers, sorted cells, order
  dynasoar::DeviceArray<std::uint32_t> bounds_;
  dynasoar::DeviceArray<BoidState> states_;
  dynasoar::detail::KeySort sort_;
};

}  // namespace baselines

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  using Storage = app::StructureOfArrays<&Bird::position, &Bird::velocity>;
  return std::make_unique<baselines::DenseFlock<Storage>>(parameters);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<baselines::DenseFlock<app::ArrayOfStructures<Bird>>>(parameters);
}

}  // namespace flocking
