#include "rule.h"

#include <cctype>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace life {
namespace {

// "B3" of "B3/S23": a letter, or none, and digits.
struct Part {
  char letter = 0;
  std::string_view digits;
  std::size_t position;  // of the digits in the whole text
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

char capital(char c) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
}

std::vector<Part> split(std::string_view text) {
  std::vector<Part> parts;
  std::size_t i = 0;
  do {
    if (i < text.size() && text[i] == '/' && !parts.empty()) ++i;
    Part part;
    if (i < text.size() && std::string_view("BSCG").find(capital(text[i])) != std::string_view::npos) {
      part.letter = capital(text[i++]);
    }
    part.position = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    part.digits = text.substr(part.position, i - part.position);
    parts.push_back(part);
    // What may follow a part: the next one.
    const bool letter_follows =
        i < text.size() && std::string_view("BSCG").find(capital(text[i])) != std::string_view::npos;
    if (i < text.size() && text[i] == ':') {
      throw RuleError("the size of the plane is no part of the rule here; use --edge, --width and --height", i);
    }
    if (i < text.size() && text[i] != '/' && !letter_follows) {
      throw RuleError(fmt::format("unexpected '{}'; rules look like B3/S23, 23/3, B2/S345/C4 or 345/2/4", text[i]), i);
    }
  } while (i < text.size());
  return parts;
}

std::uint16_t neighbor_counts(const Part& part) {
  std::uint32_t counts = 0;
  for (std::size_t i = 0; i < part.digits.size(); ++i) {
    if (part.digits[i] == '9') throw RuleError("a cell has 8 neighbours, not 9", part.position + i);
    counts |= 1u << (part.digits[i] - '0');
  }
  return static_cast<std::uint16_t>(counts);
}

std::uint16_t states(const Part& part) {
  int value = 0;
  for (const char digit : part.digits) {
    value = value * 10 + (digit - '0');
    if (value > kMaxStates) break;
  }
  if (value < 2 || value > kMaxStates) {
    throw RuleError(fmt::format("the number of states must be from 2 to {}", kMaxStates), part.position);
  }
  return static_cast<std::uint16_t>(value);
}

// The part with one of these letters, wherever it stands.
const Part& find(const std::vector<Part>& parts, std::string_view letters, std::string_view text) {
  for (const Part& part : parts) {
    if (part.letter != 0 && letters.find(part.letter) != std::string_view::npos) return part;
  }
  throw RuleError(fmt::format("'{}' lacks {}; rules look like B3/S23, 23/3, B2/S345/C4 or 345/2/4", text, letters[0]),
                  text.size());
}

Rule with_letters(std::vector<Part> parts, std::string_view text) {
  if (parts.size() == 3 && parts[2].letter == 0) parts[2].letter = 'C';
  for (const Part& part : parts) {
    if (part.letter == 0) throw RuleError("a letter B, S or C is missing here", part.position);
  }
  Rule rule;
  rule.birth = neighbor_counts(find(parts, "B", text));
  rule.survival = neighbor_counts(find(parts, "S", text));
  if (parts.size() == 3) rule.states = states(find(parts, "CG", text));
  return rule;
}

Rule without_letters(const std::vector<Part>& parts) {
  Rule rule;
  rule.survival = neighbor_counts(parts[0]);
  rule.birth = neighbor_counts(parts[1]);
  if (parts.size() == 3) {
    if (parts[2].letter != 0 && parts[2].letter != 'C') {
      throw RuleError("the third part is the number of states", parts[2].position);
    }
    rule.states = states(parts[2]);
  }
  return rule;
}

std::string digits_of(std::uint16_t counts) {
  std::string digits;
  for (int n = 0; n <= 8; ++n) {
    if ((counts >> n & 1) != 0) digits += static_cast<char>('0' + n);
  }
  return digits;
}

}  // namespace

Rule parse_rule(std::string_view text) {
  const std::vector<Part> parts = split(text);
  if (parts.size() < 2 || parts.size() > 3) {
    throw RuleError(fmt::format("'{}' is no rule; rules look like B3/S23, 23/3, B2/S345/C4 or 345/2/4", text), 0);
  }
  const Rule rule = parts[0].letter != 0 ? with_letters(parts, text) : without_letters(parts);
  if ((rule.birth & 1) != 0) {
    throw RuleError("birth on 0 is not supported: all of the empty plane would come alive at once", 0);
  }
  return rule;
}

std::string text_of(const Rule& rule) {
  if (rule.states == 2) return fmt::format("B{}/S{}", digits_of(rule.birth), digits_of(rule.survival));
  return fmt::format("{}/{}/{}", digits_of(rule.survival), digits_of(rule.birth), rule.states);
}

}  // namespace life
