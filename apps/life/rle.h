/// @file
/// Patterns in the format of the Life community: run-length encoded text, with states for Generations as in Golly.
/// Errors in a file are reported with their position. Written lines have at most 70 characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dynasoar/program/options.h>

#include "rule.h"

namespace life {

/// States from 25 on have two letters: p to y select a group of 24 states, and A to X a state of the group.
inline constexpr int kLettersPerPrefix = 24;

/// A place in a text, counted from 1.
struct TextPosition {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// Neighbouring cells of a row in the same state.
struct Run {
  int x;
  int y;
  int length;
  std::uint16_t state;

  bool operator==(const Run&) const = default;
};

/// States in a rectangle, and information from a file about them. Only cells that are not dead take memory.
struct Pattern {
  int left = 0;  ///< where the upper left corner lies on the plane: from `#P x y`, `#R x y` or `#CXRLE Pos=x,y`
  int top = 0;
  int width = 0;
  int height = 0;
  std::vector<Run> runs;  ///< of cells that are not dead, row by row, from left to right
  std::string name;       ///< from `#N`
  std::string rule;       ///< as in the file; empty if the file has no rule
  TextPosition rule_position;
  int highest_state = 0;
  TextPosition highest_state_position;
  std::optional<TextPosition> lone_letter;  ///< one of p to y alone, an alive cell in patterns of two states

  /// The number of cells that are not dead.
  std::int64_t cells() const;

  /// The states row by row. @pre there is enough memory for width * height states
  std::vector<std::uint16_t> states() const;

  /// Sets `runs` from states row by row. @pre width * height of them
  void set_states(const std::vector<std::uint16_t>& states);

  /// Leaves out rows and columns at the border that are dead.
  void trim();
};

/// A file that is not a pattern; the message is one line that begins with `file:line:column: `.
class PatternError : public dynasoar::program::UsageError {
 public:
  PatternError(const std::string& file, TextPosition position, const std::string& message);
};

/// Reads RLE text.
///
/// @param file   the name in messages of the text
/// @throws PatternError; UsageError if it is not text
Pattern parse_rle(std::string_view text, const std::string& file);

/// Reads a file. @throws PatternError; UsageError if it cannot be read
Pattern read_rle(const std::string& path);

/// The rule of a pattern.
///
/// @param file       the name in messages of the file
/// @param override   a rule to be used instead of the file's
/// @return           B3/S23 if neither says anything
/// @throws PatternError if the file's rule is needed and wrong, or if the pattern has states that the rule lacks
Rule rule_of(const Pattern& pattern, const std::string& file, const std::optional<Rule>& override);

/// RLE text of a pattern. Writes `runs`, `left` and `top`, `name`, and `rule` in place of the pattern's own.
std::string format_rle(const Pattern& pattern, const Rule& rule);

}  // namespace life
