/// @file
/// The sequential reference: the model of README.md, written to be read, in double precision. With the other
/// implementations, it shares only the interface and the check of the input, so that tests can compare them with it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <app/reference.h>

#include "network.h"
#include "simulation.h"

namespace structure {
namespace {

struct Point {
  double x = 0;
  double y = 0;
};

struct Joint {
  Kind kind;
  Point position;
  Point velocity;
  std::vector<std::size_t> springs;  // those that are left, in the order of their numbers
};

struct Bar {
  std::size_t ends[2];
  double factor;
  double rest_length;
  bool exists;
  Point force;  // on ends[0]
};

class Reference final : public app::Reference<ReferenceSimulation, Census> {
 public:
  Reference(const Parameters& parameters, const Network& network)
      : parameters_(parameters), start_(network), peak_forces_(network.springs.size()) {
    for (const NodeState& node : network.nodes) {
      joints_.push_back({node.kind, {node.position.x, node.position.y}, {node.velocity.x, node.velocity.y}, {}});
    }
    for (const SpringState& spring : network.springs) {
      bars_.push_back({{spring.first, spring.second}, spring.factor, spring.rest_length, spring.exists, {}});
      if (!spring.exists) continue;
      joints_[spring.first].springs.push_back(bars_.size() - 1);
      joints_[spring.second].springs.push_back(bars_.size() - 1);
    }
  }

  void step() override {
    std::fill(peak_forces_.begin(), peak_forces_.end(), 0.0);
    for (Joint& joint : joints_) {
      if (joint.kind == Kind::pulled) advance(joint);
    }
    for (int relaxation = 0; relaxation < 40; ++relaxation) {
      for (std::size_t bar = 0; bar < bars_.size(); ++bar) {
        if (bars_[bar].exists) strain(bar);
      }
      for (std::size_t joint = 0; joint < joints_.size(); ++joint) {
        if (joints_[joint].kind == Kind::free) accelerate(joint);
      }
    }
    const std::vector<bool> held = held_joints();
    for (std::size_t bar = 0; bar < bars_.size(); ++bar) {
      if (bars_[bar].exists && !held[bars_[bar].ends[0]]) remove(bar);
    }
    for (Joint& joint : joints_) {
      if (joint.springs.empty()) joint.kind = Kind::gone;
    }
  }

  Network network() override {
    Network now = start_;
    for (std::size_t n = 0; n < joints_.size(); ++n) {
      const Joint& joint = joints_[n];
      now.nodes[n] = {};
      if (joint.kind != Kind::gone) now.nodes[n] = {joint.kind, rounded(joint.position), rounded(joint.velocity)};
    }
    for (std::size_t s = 0; s < bars_.size(); ++s) now.springs[s].exists = bars_[s].exists;
    return now;
  }

  std::vector<std::uint32_t> degrees() override {
    std::vector<std::uint32_t> degrees;
    for (const Joint& joint : joints_) degrees.push_back(static_cast<std::uint32_t>(joint.springs.size()));
    return degrees;
  }

  const std::vector<double>& peak_forces() const override { return peak_forces_; }

 private:
  static constexpr double kTimeStep = 0.2;

  Census census() const override {
    Census census;
    for (const Bar& bar : bars_) census.springs += bar.exists;
    for (const Joint& joint : joints_) census.nodes += joint.kind != Kind::gone;
    return census;
  }

  static Vector rounded(Point point) { return {static_cast<float>(point.x), static_cast<float>(point.y)}; }

  static void advance(Joint& joint) {
    joint.position.x += joint.velocity.x * kTimeStep;
    joint.position.y += joint.velocity.y * kTimeStep;
  }

  void strain(std::size_t number) {
    Bar& bar = bars_[number];
    const Point from = joints_[bar.ends[0]].position;
    const Point to = joints_[bar.ends[1]].position;
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    const double tension = bar.factor * std::max(0.0, length - bar.rest_length);
    peak_forces_[number] = std::max(peak_forces_[number], tension);
    bar.force = {};
    if (tension > parameters_.strength) {
      remove(number);
    } else if (tension > 0) {
      bar.force = {tension * (to.x - from.x) / length, tension * (to.y - from.y) / length};
    }
  }

  void accelerate(std::size_t number) {
    Joint& joint = joints_[number];
    Point force;
    for (const std::size_t spring : joint.springs) {
      const Bar& bar = bars_[spring];
      const double sign = bar.ends[0] == number ? 1 : -1;
      force.x += sign * bar.force.x;
      force.y += sign * bar.force.y;
    }
    joint.velocity.x += force.x / parameters_.mass * kTimeStep;
    joint.velocity.y += force.y / parameters_.mass * kTimeStep;
    advance(joint);
  }

  void remove(std::size_t number) {
    bars_[number].exists = false;
    for (const std::size_t end : bars_[number].ends) std::erase(joints_[end].springs, number);
  }

  // Whether a path of springs leads from a joint to an anchor.
  std::vector<bool> held_joints() const {
    std::vector<bool> held(joints_.size());
    std::deque<std::size_t> queue;
    for (std::size_t joint = 0; joint < joints_.size(); ++joint) {
      if (joints_[joint].kind != Kind::anchor && joints_[joint].kind != Kind::pulled) continue;
      held[joint] = true;
      queue.push_back(joint);
    }
    for (; !queue.empty(); queue.pop_front()) {
      for (const std::size_t spring : joints_[queue.front()].springs) {
        for (const std::size_t end : bars_[spring].ends) {
          if (held[end]) continue;
          held[end] = true;
          queue.push_back(end);
        }
      }
    }
    return held;
  }

  Parameters parameters_;
  Network start_;
  std::vector<Joint> joints_;
  std::vector<Bar> bars_;
  std::vector<double> peak_forces_;
};

}  // namespace

std::unique_ptr<ReferenceSimulation> make_reference(const Parameters& parameters, const Network& network) {
  check_network(network);
  return std::make_unique<Reference>(parameters, network);
}

}  // namespace structure
