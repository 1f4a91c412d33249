#include <dynasoar/substance.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <dynasoar/base/number_text.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

namespace {

constexpr double kMostCellsOfAxis = 1 << 20;  // a float can distinguish positions in this number of cells
constexpr double kMostSteps = 1 << 20;        // steps of a call: more are a mistake
constexpr double kRounding = 1e-9;            // tolerance for rounding in the comparison with the longest step

Error error_of(const SubstanceShape& shape, const std::string& text) {
  return Error("dynasoar: the substance " + shape.name + " " + text);
}

void check_not_negative(const SubstanceShape& shape, double value, const char* name) {
  if (value >= 0 && is_finite(value)) return;
  throw error_of(shape, std::string("cannot diffuse with a ") + name + " of " + number_text(value) +
                            ": it must be finite, and not negative");
}

/// The sum over axes of 2 / width^2, without axes along which nothing can flow.
double twice_curvature(const SubstanceShape& shape) {
  double sum = 0;
  for (int a = 0; a < shape.axes; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    const bool is_alone = shape.cells[axis] == 1 && (shape.periodic[axis] || !shape.border);
    if (!is_alone) sum += 2 / (shape.width(a) * shape.width(a));
  }
  return sum;
}

/// The least even number that is not less.
double even(double steps) {
  return std::max(2.0, 2 * std::ceil(steps * (1 - kRounding) / 2));
}

}  // namespace

double SubstanceShape::volume_of_cell() const {
  double volume = 1;
  for (int a = 0; a < axes; ++a) volume *= width(a);
  return volume;
}

void SubstanceShape::check(int axes_of_lattice) const {
  if (axes != axes_of_lattice) {
    throw error_of(*this, "has positions with " + std::to_string(axes) + " coordinates, but its lattice has " +
                              std::to_string(axes_of_lattice) + (axes_of_lattice == 1 ? " axis" : " axes") +
                              ": make a lattice of " + std::to_string(axes));
  }
  bool is_bounded = false;
  for (std::size_t a = 0; a < static_cast<std::size_t>(axes); ++a) {
    if (!(lower[a] < upper[a]) || !is_finite(upper[a] - lower[a])) {
      throw error_of(*this,
                     "needs a space: lower must be less than upper, and both finite, along axis " + std::to_string(a));
    }
    if (cells[a] > kMostCellsOfAxis) {
      throw error_of(*this, "may have 2^20 cells along an axis, and not " + std::to_string(cells[a]));
    }
    is_bounded = is_bounded || !periodic[a];
  }
  if (border && !is_finite(*border)) throw error_of(*this, "needs a border that is finite");
  if (border && !is_bounded) {
    throw error_of(*this,
                   "has no border, because all axes of its lattice are periodic: leave `border` out, or make "
                   "the lattice with {.periodic = {false, false, false}}");
  }
  if (!(resolution > 0) || !is_finite(1 / resolution) || !is_finite(resolution / volume_of_cell())) {
    throw error_of(*this, "cannot have a resolution of " + number_text(resolution) +
                              ": choose the least amount that matters, greater than 0");
  }
}

DiffusionPlan SubstanceShape::plan(const DiffusionOptions& options) const {
  check_not_negative(*this, options.diffusion, "diffusion coefficient");
  check_not_negative(*this, options.decay, "decay");
  check_not_negative(*this, options.step, "step");
  if (options.substeps < 0 || options.substeps % 2 != 0) {
    throw error_of(*this, "cannot diffuse in " + std::to_string(options.substeps) +
                              " substeps: choose an even number, or 0 for the number that stability needs");
  }
  if (options.diffusion == 0 || options.step == 0) return {0, {}, std::exp(-options.decay * options.step)};
  const double least = options.step * options.diffusion * twice_curvature(*this);
  const double steps = options.substeps > 0 ? options.substeps : even(least);
  if (options.substeps > 0 && !(least <= steps * (1 + kRounding))) {
    throw error_of(*this, "would become unstable in a step of " + number_text(options.step) + " with " +
                              number_text(steps) + " substeps: the longest stable step is " +
                              number_text(options.step * (steps / least)) + ". Take shorter steps, or at least " +
                              number_text(even(least)) + " substeps, or 0 for the number that stability needs");
  }
  if (!(steps <= kMostSteps)) {
    throw error_of(*this, "needs " + number_text(steps) + " substeps for a step of " + number_text(options.step) +
                              ", and a call takes 2^20 at most: take shorter steps, or wider cells");
  }
  DiffusionPlan plan;
  plan.steps = static_cast<int>(steps);
  const double duration = options.step / steps;
  for (int a = 0; a < axes; ++a) {
    plan.rates[static_cast<std::size_t>(a)] = duration * options.diffusion / (width(a) * width(a));
  }
  plan.remaining = std::exp(-options.decay * duration);
  return plan;
}

std::string deposit_fault(const SubstanceShape& shape, bool is_not_finite, bool is_too_much) {
  std::string text = "dynasoar: deposits of the substance " + shape.name + " were lost: ";
  if (is_not_finite) text += "a position or an amount was not finite, so nothing was added";
  if (is_not_finite && is_too_much) text += "; and ";
  if (is_too_much) {
    text += "amounts in a cell add up to 2^63 times the resolution of " + number_text(shape.resolution) +
            " or more, or one is 2^62 times as large: make the substance with a greater resolution";
  }
  return text;
}

}  // namespace dynasoar::detail
