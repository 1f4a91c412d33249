/// @file
/// The unbounded plane on top of bounded frames. Nothing can travel faster than one cell a step, so a frame whose
/// outermost d rows and columns are dead is exact for d steps. Only then does anyone have to look how far life has
/// come.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <app/error.h>

#include "box.h"
#include "simulation.h"

namespace life {
namespace {

constexpr int kForever = std::numeric_limits<int>::max();

class Growing final : public Simulation {
 public:
  Growing(const Parameters& parameters, Make make)
      : parameters_(parameters), least_margin_(std::max(parameters.margin, 64)), make_(std::move(make)) {
    parameters_.options = options_of(parameters);
    parameters_.edge = Edge::dead;
    set_margin();
    inner_ = make_(parameters_);
    exact_steps_ = parameters_.margin;
    if (!parameters_.start.empty()) parameters_.start = {};  // large, and known to `inner_` now
  }

  void step() override {
    if (exact_steps_ == 0) look_around();
    if (exact_steps_ != kForever) --exact_steps_;
    ++step_;
    inner_->step();
  }

  void record() override { inner_->record(); }
  void synchronize() override { inner_->synchronize(); }

  std::vector<Population> take_history() override {
    collect_history();
    return std::exchange(history_, {});
  }

  Frame frame() override { return inner_->frame(); }

  std::string why_no_objects() const override { return inner_->why_no_objects(); }
  dynasoar::Columns columns() override { return inner_->columns(); }
  void paint(const app::Viewport& viewport) override { inner_->paint(viewport); }
  app::Picture painted() override { return inner_->painted(); }

  std::string why_not_saved() const override { return inner_->why_not_saved(); }

  void save(const std::string& path) override {
    inner_->notes = {parameters_.left,
                     parameters_.top,
                     parameters_.width,
                     parameters_.height,
                     exact_steps_,
                     step_,
                     parameters_.margin,
                     static_cast<std::int64_t>(allocations_),
                     static_cast<std::int64_t>(frees_)};
    inner_->save(path);
  }

  int load(const std::string& path) override {
    const std::vector<std::int64_t> notes = saved_notes(path);
    if (notes.size() != 9) throw app::UsageError("--edge: the frame of the run in " + path + " does not grow");
    const auto number = [&](std::size_t i) { return static_cast<int>(notes[i]); };
    inner_.reset();
    parameters_.left = number(0);
    parameters_.top = number(1);
    parameters_.width = number(2);
    parameters_.height = number(3);
    exact_steps_ = number(4);
    step_ = notes[5];
    parameters_.margin = number(6);
    allocations_ = static_cast<std::uint64_t>(notes[7]);
    frees_ = static_cast<std::uint64_t>(notes[8]);
    parameters_.density = 0;  // who lives is in the file
    inner_ = make_(parameters_);
    inner_->load(path);
    return static_cast<int>(step_);
  }

  std::vector<PhaseTime> phases() override {
    std::vector<PhaseTime> times = inner_->phases();
    for (std::size_t i = 0; i < times.size() && i < phases_.size(); ++i) times[i].seconds += phases_[i].seconds;
    return times.empty() ? phases_ : times;
  }

  std::optional<Usage> usage() override {
    std::optional<Usage> usage = inner_->usage();
    if (usage) {
      usage->allocations += allocations_;
      usage->frees += frees_;
    }
    return usage;
  }

 private:
  void look_around() {
    const Frame frame = inner_->frame();
    const std::optional<Box> box = bounding_box(frame);
    if (!box) {
      exact_steps_ = kForever;
      return;
    }
    const int distance = std::min({box->left, box->top, frame.width - 1 - box->right, frame.height - 1 - box->bottom});
    // Near the edge one would look more and more often.
    exact_steps_ = distance;
    if (distance < margin_for(box->width(), box->height()) / 4) move_frame(frame, *box);
  }

  // Makes a new frame around what is in the box.
  void move_frame(const Frame& frame, const Box& box) {
    leave_frame();
    parameters_.left = frame.left + box.left;
    parameters_.top = frame.top + box.top;
    parameters_.width = box.width();
    parameters_.height = box.height();
    parameters_.start = states_in(frame, box);
    set_margin();
    inner_ = make_(parameters_);
    parameters_.start = {};
    exact_steps_ = parameters_.margin;
  }

  // Keeps what the frame's implementation knows of the past. Two of them never exist at a time: their heaps are large,
  // and an allocator type has one heap.
  void leave_frame() {
    collect_history();
    phases_ = phases();
    if (const std::optional<Usage> usage = this->usage()) {
      allocations_ = usage->allocations;
      frees_ = usage->allocations;  // with the heap, all objects go
    }
    inner_.reset();
  }

  void collect_history() {
    const std::vector<Population> history = inner_->take_history();
    history_.insert(history_.end(), history.begin(), history.end());
  }

  // An eighth of the longer side, so that large patterns are not moved all the time.
  int margin_for(int width, int height) const { return std::max(least_margin_, std::max(width, height) / 8); }

  void set_margin() {
    const std::int64_t margin = margin_for(parameters_.width, parameters_.height);
    const std::int64_t cells = (parameters_.width + 2 * margin) * (parameters_.height + 2 * margin);
    if (cells > std::numeric_limits<std::int32_t>::max()) {
      throw std::runtime_error("after step " + std::to_string(step_) +
                               " the frame would need more than 2^31 - 1 cells; simulate fewer steps, or use "
                               "--edge dead or --edge torus");
    }
    parameters_.margin = static_cast<int>(margin);
  }

  Parameters parameters_;
  int least_margin_;
  Make make_;
  std::unique_ptr<Simulation> inner_;
  int exact_steps_ = 0;
  std::int64_t step_ = 0;
  std::vector<Population> history_;
  std::vector<PhaseTime> phases_;
  std::uint64_t allocations_ = 0;
  std::uint64_t frees_ = 0;
};

}  // namespace

std::unique_ptr<Simulation> make_growing(const Parameters& parameters, Make make) {
  return std::make_unique<Growing>(parameters, std::move(make));
}

}  // namespace life
