/// @file
/// The sequential reference: the model of README.md, written to be read. It shares only the interface and the random
/// number generator with the other implementations, so that tests can compare them with it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <app/reference.h>

#include "simulation.h"

namespace life {
namespace {

using State = std::uint16_t;

class Reference final : public app::Reference<Simulation, Population> {
 public:
  explicit Reference(const Parameters& parameters)
      : app::Reference<Simulation, Population>(parameters.seed),
        rule_(parameters.rule),
        torus_(parameters.edge == Edge::torus) {
    frame_.left = parameters.left - parameters.margin;
    frame_.top = parameters.top - parameters.margin;
    frame_.width = parameters.width + 2 * parameters.margin;
    frame_.height = parameters.height + 2 * parameters.margin;
    frame_.states.resize(static_cast<std::size_t>(frame_.width) * static_cast<std::size_t>(frame_.height));
    const std::vector<State> start = parameters.start.empty() ? random_start(parameters) : parameters.start;
    std::size_t cell = 0;
    for (int y = 0; y < parameters.height; ++y) {
      for (int x = 0; x < parameters.width; ++x) {
        frame_.states[index(x + parameters.margin, y + parameters.margin)] = start[cell++];
      }
    }
  }

  void step() override {
    std::vector<State> next(frame_.states.size());
    for (int y = 0; y < frame_.height; ++y) {
      for (int x = 0; x < frame_.width; ++x) next[index(x, y)] = next_state(x, y);
    }
    frame_.states = std::move(next);
  }

  Frame frame() override { return frame_; }

 private:
  Population census() const override {
    Population population;
    for (int y = 0; y < frame_.height; ++y) {
      for (int x = 0; x < frame_.width; ++x) {
        const State state = frame_.states[index(x, y)];
        if (state == 1) ++population.alive;
        if (state > 1) ++population.dying;
        if (state == 0 && alive_neighbors(x, y) > 0) ++population.candidates;
      }
    }
    return population;
  }

  State next_state(int x, int y) const {
    const State state = frame_.states[index(x, y)];
    const int neighbors = alive_neighbors(x, y);
    const bool born = state == 0 && (rule_.birth & (1 << neighbors)) != 0;
    const bool survives = state == 1 && (rule_.survival & (1 << neighbors)) != 0;
    if (born || survives) return 1;
    if (state == 0) return 0;
    return static_cast<State>((state + 1) % rule_.states);
  }

  int alive_neighbors(int x, int y) const {
    int count = 0;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if ((dx != 0 || dy != 0) && is_alive(x + dx, y + dy)) ++count;
      }
    }
    return count;
  }

  bool is_alive(int x, int y) const {
    if (torus_) {
      x = (x + frame_.width) % frame_.width;
      y = (y + frame_.height) % frame_.height;
    }
    const bool inside = x >= 0 && x < frame_.width && y >= 0 && y < frame_.height;
    return inside && frame_.states[index(x, y)] == 1;
  }

  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(frame_.width) + static_cast<std::size_t>(x);
  }

  std::vector<State> random_start(const Parameters& parameters) const {
    std::vector<State> start(static_cast<std::size_t>(parameters.width) * static_cast<std::size_t>(parameters.height));
    for (std::size_t cell = 0; cell < start.size(); ++cell) {
      start[cell] = random_words(0, cell)[0] < parameters.density * 4294967296.0 ? 1 : 0;
    }
    return start;
  }

  Rule rule_;
  bool torus_;
  Frame frame_;
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters) {
  return std::make_unique<Reference>(parameters);
}

}  // namespace life
