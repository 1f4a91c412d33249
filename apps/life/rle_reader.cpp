/// @file
/// Reading RLE text.

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include <app/text.h>
#include <fmt/format.h>

#include "rle.h"

namespace life {
namespace {

constexpr std::int64_t kMaxInt = std::numeric_limits<int>::max();
constexpr const char* kCells = "cells are b and o, or . and A to X, pA to yX";

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_state_letter(char c) {
  return c >= 'A' && c <= 'X';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// A character as messages show it.
std::string quoted(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code >= 0x20 && code < 0x7F ? fmt::format("'{}'", c) : fmt::format("the character with code {}", code);
}

// Takes a whole number, and what separates it, off the front of a line.
std::optional<int> take_number(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t,"), line.size());
  const std::size_t end = std::min(line.find_first_not_of("+-0123456789", begin), line.size());
  const std::optional<int> value = app::number<int>(line.substr(begin, end - begin));
  line.remove_prefix(end);
  return value;
}

class RleReader {
 public:
  RleReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Pattern read() {
    refuse_other_formats();
    read_comments();
    if (is_header()) {
      read_header();
    } else {
      require_cells();
    }
    read_body();
    if (size_from_data_) set_size();
    return std::move(pattern_);
  }

 private:
  static constexpr int kFarthest = 1 << 30;  // so that coordinates of cells do not overflow

  void refuse_other_formats() const {
    static constexpr std::array<std::pair<std::string_view, const char*>, 5> kFormats = {
        {{"#Life 1.05", "Life 1.05"},
         {"#Life 1.06", "Life 1.06"},
         {"#MCell", "MCell's format"},
         {"[M2]", "the format Macrocell"},
         {"!", "plain text (.cells)"}}};
    for (const auto& [begin, name] : kFormats) {
      if (text_.starts_with(begin)) {
        fail(position_, fmt::format("the pattern is in {}, not RLE; Golly can save it as RLE", name));
      }
    }
  }

  // Lines that begin with '#', and empty ones. A line with an unknown letter is a comment, too.
  void read_comments() {
    for (skip_space(); peek() == '#'; skip_space()) read_comment();
  }

  void read_comment() {
    const TextPosition start = position_;
    const std::string_view whole = rest_of_line();
    std::string_view line = whole.substr(std::min<std::size_t>(2, whole.size()));
    const bool has_word = !line.empty() && !is_space(line.front());  // "#Pulsar" is not an offset
    while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
    const TextPosition content{start.line, start.column + (whole.size() - line.size())};
    if (whole.starts_with("#N") && !has_word) pattern_.name = line;
    if (whole.starts_with("#P") || whole.starts_with("#R")) read_offset(line, content);
    if (whole.starts_with("#r") && !has_word) note_rule(line, content);
    if (whole.starts_with("#CXRLE")) read_golly_offset(line);
    skip_line();
  }

  // Two numbers; other text is a comment.
  void read_offset(std::string_view line, TextPosition position) {
    if (line.empty() || std::string_view("+-0123456789").find(line.front()) == std::string_view::npos) return;
    const std::optional<int> x = take_number(line);
    const std::optional<int> y = take_number(line);
    if (!set_offset(x, y)) {
      fail(position, fmt::format("expected the x and y of the upper left corner, two whole numbers from {} to {}",
                                 -kFarthest, kFarthest));
    }
  }

  // XRLE Pos=-3,4 Gen=12, as Golly writes it: the world's corner, wherever it is.
  void read_golly_offset(std::string_view line) {
    constexpr std::string_view kPosition = "Pos=";
    const std::size_t place = line.find(kPosition);
    if (place == std::string_view::npos) return;
    line.remove_prefix(place + kPosition.size());
    const std::optional<int> x = take_number(line);
    const std::optional<int> y = take_number(line);
    set_offset(x, y);
  }

  bool set_offset(std::optional<int> x, std::optional<int> y) {
    const auto is_near = [](const std::optional<int>& value) {
      return value && *value >= -kFarthest && *value <= kFarthest;
    };
    if (!is_near(x) || !is_near(y)) return false;
    pattern_.left = *x;
    pattern_.top = *y;
    return true;
  }

  void note_rule(std::string_view rule, TextPosition position) {
    pattern_.rule = rule;
    pattern_.rule_position = position;
  }

  // Whether "x =" comes next; x alone is a cell.
  bool is_header() const {
    const std::size_t next = text_.find_first_not_of(" \t", at_ + 1);
    return lower(peek()) == 'x' && next != std::string_view::npos && text_[next] == '=';
  }

  // Without a header, there must be at least something else.
  void require_cells() const {
    const char c = peek();
    if (at_end() || c == '!') fail(position_, "there is no pattern here: the header 'x = .., y = ..' is missing");
    if (c != 'b' && c != 'o' && c != '.' && c != '$' && !is_digit(c) && !is_state_letter(c) &&
        !(c >= 'p' && c <= 'y')) {
      fail(position_, fmt::format("expected the header 'x = .., y = ..' or cells, found {}; {}", quoted(c), kCells));
    }
  }

  // x = 36, y = 9, rule = B3/S23
  void read_header() {
    pattern_.width = read_header_number('x');
    expect(',', "after the pattern's width");
    pattern_.height = read_header_number('y');
    size_from_data_ = pattern_.width == 0 && pattern_.height == 0;
    require_size();
    skip_blanks();
    if (peek() == ',') {
      advance();
      read_header_rule();
    }
    if (!at_end() && peek() != '\n') fail(position_, fmt::format("unexpected {} in the header", quoted(peek())));
  }

  void read_header_rule() {
    skip_blanks();
    if (at_end() || peek() == '\n') return;
    for (const char c : std::string_view("rule")) {
      if (lower(peek()) != c) fail(position_, "expected 'rule = ..' here");
      advance();
    }
    expect('=', "after 'rule'");
    skip_blanks();
    if (const std::string_view rule = rest_of_line(); !rule.empty()) note_rule(rule, position_);
    skip_line();
  }

  int read_header_number(char name) {
    skip_blanks();
    if (lower(peek()) != name) {
      fail(position_, fmt::format("expected the header 'x = .., y = ..', and here its '{} = ..'", name));
    }
    advance();
    expect('=', fmt::format("after '{}'", name));
    skip_blanks();
    if (peek() == '+') advance();
    if (peek() == '-') fail(position_, "expected a number from 0 to 2^31 - 1: sizes are not negative");
    return static_cast<int>(read_number());
  }

  void require_size() const {
    if (std::int64_t{pattern_.width} * pattern_.height <= kMaxInt) return;
    fail(position_, fmt::format("a pattern of {} x {} cells is too large, the most are 2^31 - 1", pattern_.width,
                                pattern_.height));
  }

  // Runs of cells and line ends until '!'.
  void read_body() {
    for (;;) {
      skip_space();
      if (at_end()) fail(position_, "the pattern ends without '!': is the file complete?");
      if (peek() == '#' && begins_line()) {
        skip_line();
        continue;
      }
      const std::int64_t run = is_digit(peek()) ? read_run() : 1;
      if (peek() == '!') return;
      if (peek() == '$') {
        advance();
        y_ = std::min(y_ + run, kMaxInt + 1);
        x_ = 0;
      } else {
        const TextPosition cell = position_;
        put(run, read_state(), cell);
      }
    }
  }

  // How often the next item occurs.
  std::int64_t read_run() {
    const TextPosition start = position_;
    const std::int64_t run = read_number();
    if (run == 0) fail(start, "a run of 0 cells");
    skip_space();
    if (at_end() || is_digit(peek()) || peek() == '!') fail(position_, "expected a cell or '$' after its number");
    return run;
  }

  // b and . are dead, o and A alive, p to y alone as well; B to X and pA to yX are the states from 2 on.
  int read_state() {
    const TextPosition start = position_;
    const char c = advance();
    if (c == 'b' || c == '.') return 0;
    if (c == 'o') return 1;
    if (is_state_letter(c)) return c - 'A' + 1;
    if (c >= 'p' && c <= 'y') {
      if (is_state_letter(peek())) return (c - 'p' + 1) * kLettersPerPrefix + (advance() - 'A') + 1;
      if (!pattern_.lone_letter) pattern_.lone_letter = start;
      return 1;
    }
    fail(start, fmt::format("unexpected {}; {}", quoted(c), kCells));
  }

  void put(std::int64_t run, int state, TextPosition position) {
    const std::int64_t end = std::min(x_ + run, kMaxInt + 1);
    if (state != 0) {
      require_place(end, position);
      if (state > pattern_.highest_state) {
        pattern_.highest_state = state;
        pattern_.highest_state_position = position;
      }
      add_run({static_cast<int>(x_), static_cast<int>(y_), static_cast<int>(run), static_cast<std::uint16_t>(state)});
    }
    x_ = end;
    widest_ = std::max(widest_, end);
    lowest_ = y_;
  }

  // Continues the last run if it has the same state and ends here.
  void add_run(const Run& run) {
    std::vector<Run>& runs = pattern_.runs;
    const bool continues = !runs.empty() && runs.back().y == run.y && runs.back().state == run.state &&
                           runs.back().x + runs.back().length == run.x;
    if (continues) {
      runs.back().length += run.length;
    } else {
      runs.push_back(run);
    }
  }

  // Fails if cells up to `end` of the present row are not in the pattern.
  void require_place(std::int64_t end, TextPosition position) const {
    const std::int64_t width = size_from_data_ ? kMaxInt : pattern_.width;
    const std::int64_t height = size_from_data_ ? kMaxInt : pattern_.height;
    const char* const who = size_from_data_ ? "the most is" : "the header says";
    if (y_ >= height) fail(position, fmt::format("a cell in row {}, but {} y = {}", y_ + 1, who, height));
    if (end <= width) return;
    fail(position, fmt::format("row {} has {} cells or more, but {} x = {}", y_ + 1, end, who, width));
  }

  // The size that the cells take, dead ones included.
  void set_size() {
    if (widest_ == 0) return;
    if (widest_ > kMaxInt || lowest_ >= kMaxInt || widest_ * (lowest_ + 1) > kMaxInt) {
      fail(position_,
           fmt::format("a pattern of {} x {} cells is too large, the most are 2^31 - 1", widest_, lowest_ + 1));
    }
    pattern_.width = static_cast<int>(widest_);
    pattern_.height = static_cast<int>(lowest_ + 1);
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
  std::string_view rest_of_line() const {
    std::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
    while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
    return line;
  }

  // Whether nothing but blanks precedes this place on its line.
  bool begins_line() const {
    const std::size_t before = at_ == 0 ? std::string_view::npos : text_.find_last_not_of(" \t", at_ - 1);
    return before == std::string_view::npos || text_[before] == '\n';
  }

  void skip_line() {
    while (!at_end() && peek() != '\n') advance();
  }

  void skip_space() {
    while (!at_end() && is_space(peek())) advance();
  }

  void skip_blanks() {
    while (!at_end() && is_space(peek()) && peek() != '\n') advance();
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
  std::int64_t x_ = 0;
  std::int64_t y_ = 0;
  std::int64_t widest_ = 0;  // row so far
  std::int64_t lowest_ = 0;  // row with cells so far
  bool size_from_data_ = true;
  Pattern pattern_;
};

}  // namespace

Pattern parse_rle(std::string_view text, const std::string& file) {
  const std::string plain = app::plain_text(std::string(text), file);
  return RleReader(plain, file).read();
}

Pattern read_rle(const std::string& path) {
  return RleReader(app::read_text(path), path).read();
}

}  // namespace life
