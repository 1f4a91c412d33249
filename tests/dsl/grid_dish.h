/// @file
/// What the tests of grids that populations outgrow share: cells that multiply, in a grid, and hosts that learn late
/// how many there are.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <dynasoar/dynasoar.h>
#include <dynasoar/uniform_grid.h>

#include "../platform/test_support.h"
#include "../platform/thrown.h"

namespace grid_growth_test {

using dynasoar::test::message_of;

struct Point {
  float x, y;
};

class Cell;
using AllocatorT = dynasoar::SoaAllocator<Cell>;
using Handle = dynasoar::AllocatorHandle<AllocatorT>;

struct Shown {
  Point position;
  std::uint64_t number;
};
using View = dynasoar::GridView<Cell, Shown>;
using Grid = dynasoar::UniformGrid<Cell, Shown>;

#if !DYNASOAR_CUDA_BACKEND
/// Which call of Cell::seen throws, counted from now; 0: none.
inline std::atomic<int> calls_until_failure = 0;
#endif

/// Cells that multiply.
class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Cell, (number_, std::uint64_t), (visits_, std::uint32_t), (near_, std::uint32_t),
                  (wanted_, std::uint32_t))

  __device__ explicit Cell(std::size_t number) : number_(number), visits_(0u), near_(0u), wanted_(0u) {}

  __device__ Shown seen() {
#if !DYNASOAR_CUDA_BACKEND
    if (calls_until_failure > 0 && --calls_until_failure == 0) throw std::runtime_error("given up");
#endif
    return {{static_cast<float>(number_ * 7919 % 1000) / 125, static_cast<float>(number_ * 104729 % 997) / 125},
            number_};
  }
  __device__ void want(std::uint32_t children) {
    wanted_ = children;
  }
  /// Makes the children that are wanted still.
  __device__ void multiply() {
    while (wanted_ > 0) {
      if (dynasoar::make_new<Cell>(static_cast<std::size_t>(number_ * 100 + wanted_)) == nullptr) return;
      wanted_ -= 1;
    }
  }
  __device__ void visit(View) {
    ++visits_;
  }
  __device__ void die_if_visited(std::uint32_t times) {
    if (visits_ >= times) dynasoar::destroy(this);
  }
  __device__ void look(View others) {
    std::uint32_t near = 0;
    others.for_each_neighbour(
        {4, 4}, 100, [&](const View::Neighbour& other) { near += other.object->number_ == other.seen.number ? 1 : 0; });
    near_ = near;
  }
};

constexpr dynasoar::GridOptions<Point> kSquare{.lower = {0, 0}, .upper = {8, 8}, .cell = 1};

inline dynasoar::GridOptions<Point> with_capacity(std::size_t capacity) {
  dynasoar::GridOptions<Point> options = kSquare;
  options.capacity = capacity;
  return options;
}

/// Cells in a grid.
struct Dish {
  explicit Dish(std::size_t cells, std::size_t capacity = 0, int threads = 4,
                dynasoar::OnRefusal on_refusal = dynasoar::OnRefusal::throw_error)
      : handle({.heap_bytes = 32 << 20, .on_refusal = on_refusal, .threads = threads}) {
    handle.parallel_new<Cell>(cells);
    grid.emplace(handle, with_capacity(capacity));
  }

  void multiply(std::uint32_t by) {
    handle.parallel_do<&Cell::want>(by - 1);
    handle.parallel_do<&Cell::multiply>();
  }
  void rebuild() { grid->rebuild<&Cell::seen, &Cell::number_>(); }
  void visit() { grid->parallel_do<&Cell::visit>(); }
  std::uint64_t visits() { return handle.sum<&Cell::visits_>(); }

  /// How many a search in another loop finds. Does not synchronize.
  std::uint32_t found() { return found(grid->view()); }
  std::uint32_t found(const View& view) {
    auto found = dynasoar::test::zeroed<std::uint32_t>(1);
    handle.parallel_for(1, [view, found = found.data()] __device__(std::size_t) {
      view.for_each_neighbour({4, 4}, 100, [&](const View::Neighbour&) { ++*found; });
    });
    return found.download()[0];
  }

  /// Rebuilds the grid as recorded kernels do: the host reads no report before it.
  void rebuild_as_recorded() {
    dynasoar::detail::rebuilds_seem_recorded = true;
    rebuild();
    dynasoar::detail::rebuilds_seem_recorded = false;
  }

  Handle handle;
  std::optional<Grid> grid;
};

/// Whether synchronize throws, as a rebuild has met so many objects that there was no room for.
inline bool is_reported(Dish& dish, int objects) {
  std::string expected = "has met ";
  expected.append(std::to_string(objects)).append(" objects, more than there was room for");
  return message_of<dynasoar::Error>([&] { dish.handle.synchronize(); }).find(expected) != std::string::npos;
}

/// While it lives, a CPU's host learns as late as a GPU's how many objects there are.
class NumbersComeLate {
 public:
  NumbersComeLate() : before_(std::exchange(dynasoar::detail::numbers_come_late, true)) {}
  NumbersComeLate(const NumbersComeLate&) = delete;
  NumbersComeLate& operator=(const NumbersComeLate&) = delete;
  ~NumbersComeLate() { dynasoar::detail::numbers_come_late = before_; }

 private:
  bool before_;
};

}  // namespace grid_growth_test
