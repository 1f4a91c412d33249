/// @file
/// Rule: the conditions for birth and survival, and the duration of dying; and the common notations for rules. Plain
/// C++; dynamics.h applies a rule in device code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace life {

/// A totalistic rule for the 8 neighbours. States are 0 dead, 1 alive, 2 to states - 1 dying.
struct Rule {
  std::uint16_t birth = 1u << 3;               ///< bit n: a dead cell with n alive neighbours comes alive
  std::uint16_t survival = 1u << 2 | 1u << 3;  ///< bit n: an alive cell with n alive neighbours stays alive
  std::uint16_t states = 2;                    ///< 2 for Life, more for Generations

  bool operator==(const Rule&) const = default;
};

/// The number of states for which pattern files have letters: 0 and A to yX.
inline constexpr int kMaxStates = 265;

/// A text that is not a rule; the message says why.
class RuleError : public std::runtime_error {
 public:
  RuleError(const std::string& message, std::size_t position) : std::runtime_error(message), position_(position) {}

  /// The offending character, counted from 0.
  std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

/// Reads `B3/S23`, `S23/B3`, `23/3` (survival first), for Generations `B2/S345/C4`, `B2/S345/4` and `345/2/4`, and the
/// names of well-known rules, such as HighLife. Letters may be small, the slash in front of a letter may be missing,
/// and there may be blanks between the parts.
///
/// @throws RuleError for other text, and for rules of families that are not supported, which it names
Rule parse_rule(std::string_view text);

/// `B3/S23`, for Generations `345/2/4`: notations that other programs read, too.
std::string text_of(const Rule& rule);

}  // namespace life
