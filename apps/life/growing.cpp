/// @file
/// The unbounded plane on top of bounded frames. No pattern travels faster than one cell per step. So a frame whose
/// outermost d rows and columns are dead is exact for d steps. Only then does the host have to find the cells that are
/// not dead.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/program/options.h>

#include "box.h"
#include "simulation.h"

namespace life {
namespace {

constexpr int kForever = std::numeric_limits<int>::max();
constexpr std::int64_t kMostCells = std::numeric_limits<std::int32_t>::max();

// How many cells a frame has, or more than kMostCells if they are too many. @pre all are below 2^31, and not negative
std::int64_t cells_of(std::int64_t width, std::int64_t height, std::int64_t margin) {
  const std::int64_t columns = width + 2 * margin;
  const std::int64_t rows = height + 2 * margin;
  return std::max(columns, rows) > kMostCells ? kMostCells + 1 : columns * rows;
}

// Whether all coordinates from `first - margin` to the other end, and one more, are values of type int.
bool has_coordinates(std::int64_t first, std::int64_t size, std::int64_t margin) {
  return first - margin > std::numeric_limits<int>::min() && first + size + margin < std::numeric_limits<int>::max();
}

// The checkpoint's notes about the frame that it was written with. The file may be forged, so all values are checked
// before they are used.
class SavedFrame {
 public:
  int left, top, width, height, exact_steps, step, margin;
  std::uint64_t allocations, frees;

  // @throws app::UsageError if these are not the notes of a frame, or if the frame is larger than the file
  SavedFrame(std::vector<std::int64_t> notes, std::string path) : notes_(std::move(notes)), path_(std::move(path)) {
    if (notes_.size() != 9) refuse("does not grow");
    left = number(0, std::numeric_limits<int>::min());
    top = number(1, std::numeric_limits<int>::min());
    width = number(2, 1);
    height = number(3, 1);
    exact_steps = number(4, 0);
    step = number(5, 0);
    margin = number(6, 0);
    allocations = static_cast<std::uint64_t>(notes_[7]);
    frees = static_cast<std::uint64_t>(notes_[8]);
    check_size();
    if (!has_coordinates(left, width, margin) || !has_coordinates(top, height, margin)) {
      refuse("has cells whose coordinates are no 32-bit numbers");
    }
    const int middle = (std::min(width, height) - 1) / 2 + margin;  // as far from the edge as a cell can be
    if (exact_steps > middle && exact_steps != kForever) refuse("cannot stay as it is for so many steps");
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw app::UsageError("--edge: the frame of the run in " + path_ + ' ' + why + "; give another checkpoint");
  }

  int number(std::size_t i, int least) const {
    if (notes_[i] < least || notes_[i] > std::numeric_limits<int>::max()) {
      refuse("is described by a number that is out of range, " + std::to_string(notes_[i]));
    }
    return static_cast<int>(notes_[i]);
  }

  // Every variant saves a bit per cell or more, uncompressed.
  void check_size() const {
    const std::int64_t cells = cells_of(width, height, margin);
    if (cells > kMostCells) refuse("has more than 2^31 - 1 cells");
    const std::uintmax_t bytes = std::filesystem::file_size(path_);
    if (static_cast<std::uintmax_t>(cells) / 8 > bytes) {
      refuse("has " + std::to_string(cells) + " cells, more than a file of " + std::to_string(bytes) + " bytes holds");
    }
  }

  std::vector<std::int64_t> notes_;
  std::string path_;
};

class Growing final : public Simulation {
 public:
  Growing(const Parameters& parameters, Make make)
      : parameters_(parameters), least_margin_(std::max(parameters.margin, 64)), make_(std::move(make)) {
    parameters_.options = options_of(parameters);
    parameters_.edge = Edge::dead;
    set_margin();
    inner_ = make_(parameters_);
    exact_steps_ = parameters_.margin;
    if (!parameters_.start.empty()) parameters_.start = {};  // large, and `inner_` has a copy now
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
    // In the order in which SavedFrame reads them.
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
    const SavedFrame saved(saved_notes(parameters_.options, path), path);
    inner_.reset();
    parameters_.left = saved.left;
    parameters_.top = saved.top;
    parameters_.width = saved.width;
    parameters_.height = saved.height;
    parameters_.margin = saved.margin;
    parameters_.density = 0;  // who lives is in the file
    exact_steps_ = saved.exact_steps;
    step_ = saved.step;
    allocations_ = saved.allocations;
    frees_ = saved.frees;
    inner_ = make_(parameters_);
    inner_->load(path);
    return saved.step;
  }

  std::vector<PhaseTime> phases() override {
    std::vector<PhaseTime> times = inner_->phases();
    for (std::size_t i = 0; i < times.size() && i < phases_.size(); ++i) times[i].seconds += phases_[i].seconds;
    return times.empty() ? phases_ : times;
  }

  std::optional<Usage> usage() override {
    std::optional<Usage> usage = inner_->usage();
    if (!usage) return usage;
    if (usage->heap && usage->heap->allocations) {
      *usage->heap->allocations += allocations_;
      *usage->heap->frees += frees_;
    }
    for (dynasoar::TypeStatistics& type : usage->placed) type.created.reset();  // would be those of this frame
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
    // Near the edge, the host would have to search more and more often.
    exact_steps_ = distance;
    if (distance < margin_for(box->width(), box->height()) / 4) move_frame(frame, *box);
  }

  // Makes a new frame around the cells in the box.
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

  // Keeps the history that the frame's implementation has noted. Two implementations never exist at a time: their heaps
  // are large, and an allocator type has one heap.
  void leave_frame() {
    collect_history();
    phases_ = phases();
    if (const std::optional<Usage> usage = this->usage(); usage && usage->heap && usage->heap->allocations) {
      allocations_ = *usage->heap->allocations;
      frees_ = allocations_;  // reset() frees the heap with all objects
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
    if (cells_of(parameters_.width, parameters_.height, margin) > kMostCells) {
      throw std::runtime_error("after step " + std::to_string(step_) +
                               " the frame would need more than 2^31 - 1 cells; simulate fewer steps, or use "
                               "--edge dead or --edge torus");
    }
    if (!has_coordinates(parameters_.left, parameters_.width, margin) ||
        !has_coordinates(parameters_.top, parameters_.height, margin)) {
      throw std::runtime_error("after step " + std::to_string(step_) +
                               " the frame would have cells whose coordinates are no 32-bit numbers; simulate fewer "
                               "steps, or begin nearer to the middle of the plane");
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
