/// @file
/// The slots in which the hand-written baselines store cells, and the data of a step.
#pragma once

#include <cmath>
#include <cstdint>

#include <app/simulation.h>
#include <app/slot_pool.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/step_value.h>

#include "oxygen_field.h"
#include "rules.h"

namespace tumour::baselines {

using dynasoar::Order;
using Word = dynasoar::AtomicWord<std::uint32_t>;

/// The contents of a slot.
enum class Slot : std::uint8_t { free, proliferating, hypoxic, necrotic };

struct Cell {
  std::uint64_t number;
  Vector position;
  float radius;
  Slot slot;
};

/// @tparam View   of app::StructureOfArrays or app::ArrayOfStructures
template <class View>
struct Cells : View {
  __device__ std::uint64_t& number(std::uint32_t i) const { return this->template at<&Cell::number>(i); }
  __device__ Vector& position(std::uint32_t i) const { return this->template at<&Cell::position>(i); }
  __device__ float& radius(std::uint32_t i) const { return this->template at<&Cell::radius>(i); }
  __device__ Slot& slot(std::uint32_t i) const { return this->template at<&Cell::slot>(i); }

  __device__ void put(std::uint32_t i, std::uint64_t a_number, Vector at, float size, Slot what) const {
    number(i) = a_number;
    position(i) = at;
    radius(i) = size;
    slot(i) = what;
  }
};

/// Boxes of side 1, in which cells look for others. A cell outside all boxes belongs to the nearest one.
struct Boxes {
  std::int32_t side;
  float half;

  explicit Boxes(int world)
      : side(static_cast<std::int32_t>(static_cast<float>(world) * kSpacing)), half(static_cast<float>(side) / 2) {}

  __host__ __device__ std::uint32_t count() const {
    const auto n = static_cast<std::uint32_t>(side);
    return n * n * n;
  }
  __device__ std::int32_t along(float coordinate) const {
    const float way = std::fmin(std::fmax(coordinate + half, 0.0f), 2 * half);
    const auto box = static_cast<std::int32_t>(way);
    return box < side ? box : side - 1;
  }
  __device__ std::uint32_t box(std::int32_t x, std::int32_t y, std::int32_t z) const {
    return static_cast<std::uint32_t>((z * side + y) * side + x);
  }
  __device__ std::uint32_t box(Vector at) const { return box(along(at.x), along(at.y), along(at.z)); }
};

struct Birth {
  std::uint64_t number;
  Vector position;
};

/// The data of a step.
template <class CellsT>
struct Work {
  Rules rules;
  Boxes boxes;
  OxygenField oxygen;
  dynasoar::StepNumber step;
  app::SlotPoolView<Birth> pool;
  CellsT cells;           ///< of all slots
  Word* counts;           ///< [boxes + 1] cells of each box that have no place yet: 0 after the sort
  std::uint32_t* starts;  ///< [boxes + 1] place of the first cell in each box, and then the number of cells
  Sphere* spheres;        ///< positions and radii, box by box
  std::uint32_t* slots;   ///< slots of these cells

  __device__ void count(Vector position) const { counts[boxes.box(position)].add(1, Order::relaxed); }
};

}  // namespace tumour::baselines
