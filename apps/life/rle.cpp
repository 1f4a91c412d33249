#include "rle.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include <fmt/format.h>

namespace life {
namespace {

constexpr std::int64_t kMaxInt = std::numeric_limits<int>::max();
constexpr std::size_t kLineLength = 70;

// States from 25 on have two letters: p to y say which 24 come before, A to X which of the next.
constexpr int kLettersPerPrefix = 24;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_state_letter(char c) {
  return c >= 'A' && c <= 'X';
}

// A character as messages show it.
std::string quoted(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code >= 0x20 && code < 0x7F ? fmt::format("'{}'", c) : fmt::format("the character with code {}", code);
}

class RleReader {
 public:
  RleReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Pattern read() {
    read_comments();
    read_header();
    read_body();
    return std::move(pattern_);
  }

 private:
  // Lines that begin with '#', and empty ones. What begins with none of the letters known here is a comment, too.
  void read_comments() {
    for (skip_space(); peek() == '#'; skip_space()) {
      const TextPosition start = position_;
      std::string_view line = rest_of_line();
      const char kind = line.size() > 1 ? line[1] : ' ';
      line.remove_prefix(std::min<std::size_t>(2, line.size()));
      while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
      const TextPosition content{start.line, start.column + static_cast<std::size_t>(line.data() - line_start_)};
      if (kind == 'N') pattern_.name = line;
      if (kind == 'P' || kind == 'R') read_offset(line, content);
      if (kind == 'r') note_rule(line, content);
      skip(static_cast<std::size_t>(line.data() + line.size() - (text_.data() + at_)));
      while (!at_end() && peek() != '\n') advance();
    }
  }

  void read_offset(std::string_view line, TextPosition position) {
    int values[2] = {};
    const char* begin = line.data();
    const char* const end = line.data() + line.size();
    for (int& value : values) {
      while (begin != end && is_space(*begin)) ++begin;
      const auto [after, error] = std::from_chars(begin, end, value);
      constexpr int kFarthest = 1 << 30;  // so that coordinates of cells do not overflow
      if (error != std::errc() || value > kFarthest || value < -kFarthest) {
        fail(position, "expected the x and y of the upper left corner, two whole numbers");
      }
      begin = after;
    }
    pattern_.left = values[0];
    pattern_.top = values[1];
  }

  void note_rule(std::string_view rule, TextPosition position) {
    pattern_.rule = rule;
    pattern_.rule_position = position;
  }

  // x = 36, y = 9, rule = B3/S23
  void read_header() {
    if (at_end()) fail(position_, "there is no pattern here: the header 'x = .., y = ..' is missing");
    pattern_.width = read_header_number('x');
    expect(',', "after the pattern's width");
    pattern_.height = read_header_number('y');
    if (std::int64_t{pattern_.width} * pattern_.height > kMaxInt) {
      fail(position_, fmt::format("a pattern of {} x {} cells is too large, the most are 2^31 - 1", pattern_.width,
                                  pattern_.height));
    }
    skip_blanks();
    if (peek() == ',') {
      advance();
      skip_blanks();
      for (const char c : std::string_view("rule")) {
        if (std::tolower(static_cast<unsigned char>(peek())) != c) fail(position_, "expected 'rule = ..' here");
        advance();
      }
      expect('=', "after 'rule'");
      skip_blanks();
      const TextPosition start = position_;
      std::string_view rule = rest_of_line();
      note_rule(rule, start);
      skip(rule.size());
      skip_blanks();
    }
    if (!at_end() && peek() != '\n') fail(position_, fmt::format("unexpected {} in the header", quoted(peek())));
    pattern_.states.resize(static_cast<std::size_t>(pattern_.width) * static_cast<std::size_t>(pattern_.height));
  }

  int read_header_number(char name) {
    skip_blanks();
    if (peek() != name) {
      fail(position_, fmt::format("expected the header 'x = .., y = ..', and here its '{} = ..'", name));
    }
    advance();
    expect('=', fmt::format("after '{}'", name));
    skip_blanks();
    return static_cast<int>(read_number());
  }

  // Runs of cells and line ends until '!'.
  void read_body() {
    for (;;) {
      skip_space();
      if (at_end()) fail(position_, "the pattern ends without '!': is the file complete?");
      const TextPosition start = position_;
      std::int64_t run = 1;
      if (is_digit(peek())) {
        run = read_number();
        if (run == 0) fail(start, "a run of 0 cells");
        skip_space();
        if (at_end() || is_digit(peek()) || peek() == '!') fail(position_, "expected a cell or '$' after its number");
      }
      if (peek() == '!') return;
      if (peek() == '$') {
        advance();
        y_ = std::min(y_ + run, kMaxInt);
        x_ = 0;
      } else {
        const TextPosition cell = position_;
        put(run, read_state(), cell);
      }
    }
  }

  // b and . are dead, o and A alive; B to X and pA to yX are the states from 2 on.
  int read_state() {
    const char c = advance();
    if (c == 'b' || c == '.') return 0;
    if (c == 'o') return 1;
    if (is_state_letter(c)) return c - 'A' + 1;
    if (c >= 'p' && c <= 'y') {
      if (!is_state_letter(peek())) fail(position_, fmt::format("expected a letter from A to X after '{}'", c));
      return (c - 'p' + 1) * kLettersPerPrefix + (advance() - 'A') + 1;
    }
    fail({position_.line, position_.column - 1},
         fmt::format("unexpected {}; cells are b and o, or . and A to X, pA to yX", quoted(c)));
  }

  void put(std::int64_t run, int state, TextPosition position) {
    const std::int64_t end = std::min(x_ + run, kMaxInt);
    if (state != 0) {
      if (y_ >= pattern_.height) {
        fail(position, fmt::format("a cell in row {}, but the header says y = {}", y_ + 1, pattern_.height));
      }
      if (end > pattern_.width) {
        fail(position,
             fmt::format("row {} has {} cells or more, but the header says x = {}", y_ + 1, end, pattern_.width));
      }
      if (state > pattern_.highest_state) {
        pattern_.highest_state = state;
        pattern_.highest_state_position = position;
      }
      const auto row = pattern_.states.begin() + static_cast<std::ptrdiff_t>(y_ * pattern_.width);
      std::fill(row + x_, row + end, static_cast<std::uint16_t>(state));
    }
    x_ = end;
  }

  std::int64_t read_number() {
    const TextPosition start = position_;
    if (!is_digit(peek())) fail(start, "expected a number");
    std::int64_t value = 0;
    while (is_digit(peek())) {
      value = value * 10 + (advance() - '0');
      if (value > kMaxInt) fail(start, "the number is too large, the most is 2^31 - 1");
    }
    return value;
  }

  void expect(char c, const std::string& where) {
    skip_blanks();
    if (peek() != c) fail(position_, fmt::format("expected '{}' {}", c, where));
    advance();
  }

  // The present line from here on, without blanks at its end.
  std::string_view rest_of_line() {
    line_start_ = text_.data() + at_;
    std::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
    while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
    return line;
  }

  void skip_space() {
    while (!at_end() && is_space(peek())) advance();
  }

  void skip_blanks() {
    while (!at_end() && is_space(peek()) && peek() != '\n') advance();
  }

  void skip(std::size_t characters) {
    for (std::size_t i = 0; i < characters; ++i) advance();
  }

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }

  char advance() {
    if (at_end()) return '\0';
    const char c = text_[at_++];
    if (c == '\n') {
      ++position_.line;
      position_.column = 1;
    } else {
      ++position_.column;
    }
    return c;
  }

  [[noreturn]] void fail(TextPosition position, const std::string& message) const {
    throw PatternError(file_, position, message);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  TextPosition position_;
  const char* line_start_ = nullptr;
  std::int64_t x_ = 0;
  std::int64_t y_ = 0;
  Pattern pattern_;
};

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
    : std::runtime_error(fmt::format("{}:{}:{}: {}", file, position.line, position.column, message)) {}

Pattern parse_rle(std::string_view text, const std::string& file) {
  return RleReader(text, file).read();
}

Pattern read_rle(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  // Without an error, there is nothing in the file, which is for the parser to say.
  if (!file || (!text && errno != 0)) {
    throw std::runtime_error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  return parse_rle(text.str(), path);
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
  return rule;
}

std::string format_rle(const Pattern& pattern, const Rule& rule) {
  std::string header;
  if (!pattern.name.empty()) header += fmt::format("#N {}\n", pattern.name);
  if (pattern.left != 0 || pattern.top != 0) header += fmt::format("#R {} {}\n", pattern.left, pattern.top);
  header += fmt::format("x = {}, y = {}, rule = {}\n", pattern.width, pattern.height, text_of(rule));
  RleWriter writer;
  std::int64_t line_ends = 0;
  auto row = pattern.states.begin();
  for (int y = 0; y < pattern.height; ++y, row += pattern.width) {
    const auto end = row + pattern.width;
    for (auto cell = row; cell != end;) {
      const auto next = std::find_if(cell, end, [state = *cell](std::uint16_t other) { return other != state; });
      if (next == end && *cell == 0) break;
      writer.add(line_ends, "$");
      line_ends = 0;
      writer.add(next - cell, tag_of(*cell, rule.states == 2));
      cell = next;
    }
    ++line_ends;
  }
  writer.add(1, "!");
  return header + writer.take();
}

}  // namespace life
