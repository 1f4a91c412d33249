#include "rle.h"

#include <algorithm>

#include <app/text.h>
#include <fmt/format.h>

namespace life {
namespace {

constexpr std::size_t kLineLength = 70;

// Collects runs into lines.
class RleWriter {
 public:
  void add(std::int64_t run, const std::string& tag) {
    if (run == 0) return;
    const std::string item = run == 1 ? tag : fmt::format("{}{}", run, tag);
    if (line_.size() + item.size() > kLineLength) end_line();
    line_ += item;
  }

  std::string take() {
    end_line();
    return std::move(text_);
  }

 private:
  void end_line() {
    text_ += line_ + '\n';
    line_.clear();
  }

  std::string text_;
  std::string line_;
};

std::string tag_of(int state, bool two_states) {
  if (two_states) return state == 0 ? "b" : "o";
  if (state == 0) return ".";
  const int prefix = (state - 1) / kLettersPerPrefix;
  const std::string letter(1, static_cast<char>('A' + (state - 1) % kLettersPerPrefix));
  return prefix == 0 ? letter : static_cast<char>('p' + prefix - 1) + letter;
}

}  // namespace

PatternError::PatternError(const std::string& file, TextPosition position, const std::string& message)
    : UsageError(app::at_place(file, position.line, position.column, message)) {}

std::int64_t Pattern::cells() const {
  std::int64_t count = 0;
  for (const Run& run : runs) count += run.length;
  return count;
}

std::vector<std::uint16_t> Pattern::states() const {
  std::vector<std::uint16_t> states(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (const Run& run : runs) {
    std::fill_n(states.begin() + std::ptrdiff_t{run.y} * width + run.x, run.length, run.state);
  }
  return states;
}

void Pattern::set_states(const std::vector<std::uint16_t>& states) {
  runs.clear();
  auto row = states.begin();
  for (int y = 0; y < height; ++y, row += width) {
    for (auto cell = row; cell != row + width;) {
      const auto differs = [state = *cell](std::uint16_t other) { return other != state; };
      const auto next = std::find_if(cell, row + width, differs);
      if (*cell != 0) runs.push_back({static_cast<int>(cell - row), y, static_cast<int>(next - cell), *cell});
      cell = next;
    }
  }
}

void Pattern::trim() {
  if (runs.empty()) {
    width = height = 0;
    return;
  }
  int first = width;
  int last = 0;
  for (const Run& run : runs) {
    first = std::min(first, run.x);
    last = std::max(last, run.x + run.length);
  }
  const int above = runs.front().y;
  height = runs.back().y - above + 1;
  width = last - first;
  left += first;
  top += above;
  for (Run& run : runs) {
    run.x -= first;
    run.y -= above;
  }
}

Rule rule_of(const Pattern& pattern, const std::string& file, const std::optional<Rule>& override) {
  Rule rule;
  if (override) {
    rule = *override;
  } else if (!pattern.rule.empty()) {
    try {
      rule = parse_rule(pattern.rule);
    } catch (const RuleError& error) {
      TextPosition position = pattern.rule_position;
      position.column += error.position();
      throw PatternError(file, position, error.what());
    }
  }
  if (pattern.highest_state >= rule.states) {
    throw PatternError(file, pattern.highest_state_position,
                       fmt::format("a cell in state {}, but the rule {} has states 0 to {}", pattern.highest_state,
                                   text_of(rule), rule.states - 1));
  }
  if (pattern.lone_letter && rule.states > 2) {
    throw PatternError(file, *pattern.lone_letter,
                       fmt::format("expected a letter from A to X after this one, as the rule {} has more than two "
                                   "states; p to y alone are alive cells of rules with two",
                                   text_of(rule)));
  }
  return rule;
}

std::string format_rle(const Pattern& pattern, const Rule& rule) {
  std::string header;
  if (!pattern.name.empty()) header += fmt::format("#N {}\n", pattern.name);
  if (pattern.left != 0 || pattern.top != 0) header += fmt::format("#R {} {}\n", pattern.left, pattern.top);
  header += fmt::format("x = {}, y = {}, rule = {}\n", pattern.width, pattern.height, text_of(rule));
  RleWriter writer;
  int x = 0;
  int y = 0;
  for (const Run& run : pattern.runs) {
    if (run.y > y) x = 0;
    writer.add(run.y - y, "$");
    writer.add(run.x - x, tag_of(0, rule.states == 2));
    writer.add(run.length, tag_of(run.state, rule.states == 2));
    x = run.x + run.length;
    y = run.y;
  }
  writer.add(1, "!");
  return header + writer.take();
}

}  // namespace life
