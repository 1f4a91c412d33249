/// @file
/// The sequential reference: the model of README.md, written to be read. It shares only the interface and the random
/// number generator with the other implementations, so that tests can compare them with it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/reference.h>

#include "simulation.h"

namespace forest_fire {
namespace {

class Reference final : public app::Reference<Simulation, Census> {
 public:
  explicit Reference(const Parameters& parameters)
      : app::Reference<forest_fire::Simulation, Census>(parameters.seed),
        parameters_(parameters),
        width_(static_cast<std::size_t>(parameters.width)),
        height_(static_cast<std::size_t>(parameters.height)),
        forest_(width_ * height_, Ground::empty) {
    for (std::size_t cell = 0; cell < forest_.size(); ++cell) {
      if (happens(parameters_.trees, 0, cell)) forest_[cell] = Ground::tree;
    }
  }

  void step() override {
    ++step_;
    const std::vector<Ground> before = forest_;
    for (std::size_t y = 0; y < height_; ++y) {
      for (std::size_t x = 0; x < width_; ++x) {
        const std::size_t cell = y * width_ + x;
        const std::size_t neighbors[] = {y * width_ + (x + width_ - 1) % width_, y * width_ + (x + 1) % width_,
                                         (y + height_ - 1) % height_ * width_ + x, (y + 1) % height_ * width_ + x};
        if (before[cell] == Ground::fire) {
          forest_[cell] = Ground::empty;
        } else if (before[cell] == Ground::empty) {
          if (happens(parameters_.growth, 1, cell)) forest_[cell] = Ground::tree;
        } else {
          bool catches_fire = happens(parameters_.lightning, 2, cell);
          for (const std::size_t neighbor : neighbors) catches_fire |= before[neighbor] == Ground::fire;
          if (catches_fire) forest_[cell] = Ground::fire;
        }
      }
    }
  }

  std::vector<Ground> cells() override { return forest_; }

 private:
  Census census() const override {
    Census census;
    for (const Ground ground : forest_) {
      if (ground == Ground::tree) ++census.trees;
      if (ground == Ground::fire) ++census.fires;
    }
    return census;
  }

  bool happens(double probability, std::uint32_t decision, std::size_t cell) const {
    return app::happens(random_words(decision, cell)[0], probability);
  }

  Parameters parameters_;
  std::size_t width_;
  std::size_t height_;
  std::vector<Ground> forest_;
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters) {
  return std::make_unique<Reference>(parameters);
}

}  // namespace forest_fire
