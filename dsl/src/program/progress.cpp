#include "progress.h"

#include <cstddef>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <dynasoar/program/format.h>
#include "messages.h"

namespace dynasoar::program {
namespace {

constexpr std::chrono::milliseconds kRedrawInterval{100};
constexpr int kBarWidth = 20;

std::string bar(double done) {
  const auto filled = static_cast<std::size_t>(done * kBarWidth + 0.5);
  std::string text;
  for (std::size_t i = 0; i < kBarWidth; ++i) text += i < filled ? "█" : "░";
  return text;
}

// The number of columns of the terminal; 80 if it is unknown.
std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// The first `columns` characters of UTF-8 text: a line that wraps cannot be redrawn in place.
std::string shortened(const std::string& text, std::size_t columns) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts_character && characters++ == columns) return text.substr(0, i);
  }
  return text;
}

}  // namespace

Progress::Progress(std::uint64_t steps, bool enabled)
    : steps_(steps), enabled_(enabled), terminal_(isatty(STDERR_FILENO) != 0), start_(Clock::now()), last_(start_) {}

Progress::~Progress() {
  clear();
}

bool Progress::due(std::uint64_t step) const {
  if (!enabled_) return false;
  if (terminal_) return Clock::now() - last_ >= kRedrawInterval;
  return tenth(step) > tenth(last_step_);
}

void Progress::show(std::uint64_t step, const Columns& columns, std::uint64_t objects) {
  if (!enabled_) return;
  const std::string text = line(step, columns, objects);
  print_progress(terminal_ ? fmt::format("\r{}\033[K", shortened(text, terminal_columns() - 1)) : text + '\n');
  drawn_ = true;
  last_ = Clock::now();
  last_step_ = step;
}

void Progress::clear() {
  if (!terminal_ || !drawn_) return;
  print_progress("\r\033[K");
  drawn_ = false;
}

std::string Progress::line(std::uint64_t step, const Columns& columns, std::uint64_t objects) const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const double done = steps_ > 0 ? static_cast<double>(step) / static_cast<double>(steps_) : 1.0;
  std::string text = terminal_ ? bar(done) + " " : "";
  text += fmt::format("step {}/{}", step, steps_);
  for (const auto& [name, count] : columns) text += fmt::format("  {} {}", name, grouped(count));
  if (elapsed > 0) text += fmt::format("  {} objects/s", si(static_cast<double>(objects) / elapsed));
  if (done > 0 && done < 1) text += fmt::format("  {} left", duration(elapsed * (1 - done) / done));
  return text;
}

}  // namespace dynasoar::program
