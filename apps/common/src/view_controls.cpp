#include <app/view_controls.h>

#include <algorithm>

namespace app {

ViewControls::ViewControls(const World& world, int width, int height)
    : world_(world), viewport_(whole(world, width, height)) {
  least_scale_ = viewport_.scale / 16;
  most_scale_ = std::max(64.0 * 1000 / std::max(world.width, world.height), viewport_.scale);
}

void ViewControls::resize(int width, int height) {
  const double x = viewport_.x_of(viewport_.width / 2.0);
  const double y = viewport_.y_of(viewport_.height / 2.0);
  viewport_.width = std::max(1, width);
  viewport_.height = std::max(1, height);
  viewport_.left += x - viewport_.x_of(viewport_.width / 2.0);
  viewport_.top += y - viewport_.y_of(viewport_.height / 2.0);
}

void ViewControls::zoom(double factor, double column, double row) {
  const double x = viewport_.x_of(column);
  const double y = viewport_.y_of(row);
  viewport_.scale = std::clamp(viewport_.scale * factor, least_scale_, most_scale_);
  viewport_.left += x - viewport_.x_of(column);
  viewport_.top += y - viewport_.y_of(row);
}

void ViewControls::drag(double columns, double rows) {
  viewport_.left -= columns / viewport_.scale;
  viewport_.top -= (viewport_.y_up ? -rows : rows) / viewport_.scale;
}

void ViewControls::fit() {
  viewport_ = whole(world_, viewport_.width, viewport_.height);
}

void ViewControls::single_step() {
  is_paused_ = true;
  wants_step_ = true;
}

void ViewControls::faster() {
  if (limit_) limit_ = *limit_ * 2;
  if (limit_ && *limit_ > kFastest) limit_.reset();
}

void ViewControls::slower() {
  limit_ = limit_ ? std::max(1, *limit_ / 2) : kFastest;
}

std::optional<ViewControls::Clock::time_point> ViewControls::next_step() const {
  if (wants_step_) return Clock::time_point{};
  if (is_paused_) return std::nullopt;
  return limit_ ? next_ : Clock::time_point{};
}

void ViewControls::step_begins(Clock::time_point now) {
  wants_step_ = false;
  if (limit_) next_ = now + std::chrono::nanoseconds(1'000'000'000 / *limit_);
}

}  // namespace app
