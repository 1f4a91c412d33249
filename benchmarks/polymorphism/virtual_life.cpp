// Life and Generations with virtual functions: dead, alive and dying cells are objects of three classes, and an array
// has a pointer to the present one of each place. All are made before the first step, so that a step creates nothing:
// the toolkit's `malloc` would be measured instead. Each step visits every cell, as apps/life/dense_cells.cpp does. The
// model is described in apps/life/README.md.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/collect.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "life/dynamics.h"
#include "life/lattice.h"
#include "life/start.h"
#include "variant.h"
#include "virtual_objects.h"

namespace benchmarks::polymorphism {
namespace virtual_life {

class Cell;

/// The cells that a place can have, one of each class.
struct Forms {
  Cell *const *dead, *const *alive, *const *dying;
};

class Cell {
 public:
  __device__ virtual ~Cell() {}
  __device__ virtual bool is_alive() const { return false; }
  __device__ virtual std::uint32_t state() const = 0;
  /// From now on, this is the cell of its place. @param state   that it has
  __device__ virtual void begin(std::uint32_t) {}
  /// What is at place i after this cell.
  __device__ virtual Cell* successor(const life::Rule& rule, std::uint32_t alive_neighbors, const Forms& forms,
                                     std::size_t i) = 0;
};

class Dead : public Cell {
 public:
  __device__ std::uint32_t state() const override { return life::kDead; }
  __device__ Cell* successor(const life::Rule& rule, std::uint32_t alive_neighbors, const Forms& forms,
                             std::size_t i) override {
    return life::is_born(rule, alive_neighbors) ? forms.alive[i] : this;
  }
};

class Alive : public Cell {
 public:
  __device__ bool is_alive() const override { return true; }
  __device__ std::uint32_t state() const override { return life::kAlive; }
  __device__ Cell* successor(const life::Rule& rule, std::uint32_t alive_neighbors, const Forms& forms,
                             std::size_t i) override {
    if (life::survives(rule, alive_neighbors)) return this;
    const std::uint32_t next = life::older(rule, life::kAlive);
    if (next == life::kDead) return forms.dead[i];
    forms.dying[i]->begin(next);
    return forms.dying[i];
  }
};

class Dying : public Cell {
 public:
  __device__ std::uint32_t state() const override { return state_; }
  __device__ void begin(std::uint32_t state) override { state_ = state; }
  __device__ Cell* successor(const life::Rule& rule, std::uint32_t, const Forms& forms, std::size_t i) override {
    state_ = life::older(rule, state_);
    return state_ == life::kDead ? forms.dead[i] : this;
  }

 private:
  std::uint32_t state_ = 0;
};

struct Step {
  Cell* const* now;
  Cell** next;
  life::Lattice lattice;
  life::Rule rule;
  Forms forms;

  __device__ void operator()(std::size_t i) const {
    std::uint32_t alive = 0;
    for (std::uint32_t which = 0; which < life::kNeighbors; ++which) {
      const std::uint32_t neighbor = lattice.neighbor(static_cast<std::uint32_t>(i), which);
      if (neighbor != life::kOutside && now[neighbor]->is_alive()) ++alive;
    }
    next[i] = now[i]->successor(rule, alive, forms, i);
  }
};

template <class T>
struct Make {
  __device__ Cell* operator()(void* place, std::size_t) const { return make_at<T>(place); }
};

class Life final : public Variant {
 public:
  explicit Life(const life::Parameters& parameters)
      : lattice_(life::Lattice::of(parameters)),
        rule_(parameters.rule),
        start_(parameters),
        dead_(executor_, lattice_.cells(), Make<Dead>{}),
        alive_(executor_, lattice_.cells(), Make<Alive>{}),
        dying_(executor_, rule_.states > 2 ? lattice_.cells() : 0, Make<Dying>{}),
        cells_{dynasoar::DeviceArray<Cell*>(lattice_.cells()), dynasoar::DeviceArray<Cell*>(lattice_.cells())} {
    restart();
  }

  bool restart() override {
    populate(start_.view());
    return true;
  }

  void step() override {
    recorded_.run(now_, [this] {
      executor_.for_each_index(lattice_.cells(),
                               Step{cells_[now_].data(), cells_[1 - now_].data(), lattice_, rule_, forms()});
    });
    now_ = 1 - now_;
  }

  void synchronize() override { executor_.synchronize(); }

  std::vector<double> result() override {
    Cell* const* const now = cells_[now_].data();
    return app::collect<double>(executor_, lattice_.cells(),
                                [=] __device__(std::uint32_t i) { return static_cast<double>(now[i]->state()); });
  }

  // Public, like all that contains a device lambda: nvcc does not take it elsewhere.

  void populate(life::StartView start) {
    Cell** const now = cells_[now_].data();
    const Forms forms = this->forms();
    executor_.for_each_index(lattice_.cells(), [=] __device__(std::size_t i) {
      const std::uint32_t state = start.state(static_cast<std::uint32_t>(i));
      now[i] = state == life::kDead ? forms.dead[i] : state == life::kAlive ? forms.alive[i] : forms.dying[i];
      now[i]->begin(state);
    });
  }

 private:
  Forms forms() const { return {dead_.data(), alive_.data(), dying_.data()}; }

  dynasoar::Executor executor_;
  life::Lattice lattice_;
  life::Rule rule_;
  life::Start start_;
  VirtualObjects<Cell> dead_, alive_, dying_;
  std::array<dynasoar::DeviceArray<Cell*>, 2> cells_;  // now and after the step, in turns
  std::size_t now_ = 0;
  RecordedLoops recorded_{executor_};
};

}  // namespace virtual_life

std::unique_ptr<Variant> make_virtual_life(const life::Parameters& parameters) {
  return std::make_unique<virtual_life::Life>(parameters);
}

}  // namespace benchmarks::polymorphism
