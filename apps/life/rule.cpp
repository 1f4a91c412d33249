#include "rule.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <app/text.h>
#include <fmt/format.h>

namespace life {
namespace {

constexpr const char* kExamples = "rules look like B3/S23, 23/3, B2/S345/C4 or 345/2/4";

// Without blanks, signs and capitals, as the community calls them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 36> kNames = {
    {{"life", "B3/S23"},
     {"conway", "B3/S23"},
     {"conways", "B3/S23"},
     {"conwayslife", "B3/S23"},
     {"conwaylife", "B3/S23"},
     {"gameoflife", "B3/S23"},
     {"conwaysgameoflife", "B3/S23"},
     {"highlife", "B36/S23"},
     {"2x2", "B36/S125"},
     {"34life", "B34/S34"},
     {"amoeba", "B357/S1358"},
     {"anneal", "B4678/S35678"},
     {"assimilation", "B345/S4567"},
     {"coagulations", "B378/S235678"},
     {"coral", "B3/S45678"},
     {"dayandnight", "B3678/S34678"},
     {"daynight", "B3678/S34678"},
     {"diamoeba", "B35678/S5678"},
     {"gnarl", "B1/S1"},
     {"lifewithoutdeath", "B3/S012345678"},
     {"lwod", "B3/S012345678"},
     {"longlife", "B345/S5"},
     {"maze", "B3/S12345"},
     {"mazectric", "B3/S1234"},
     {"morley", "B368/S245"},
     {"move", "B368/S245"},
     {"pseudolife", "B357/S238"},
     {"replicator", "B1357/S1357"},
     {"seeds", "B2/S"},
     {"serviettes", "B234/S"},
     {"stains", "B3678/S235678"},
     {"walledcities", "B45678/S2345"},
     {"bloomerang", "234/34678/24"},
     {"briansbrain", "/2/3"},
     {"frogs", "12/34/3"},
     {"starwars", "345/2/4"}}};

// The letters that may follow a number of neighbours in Hensel's notation, except '-', and c, which also names a part.
constexpr std::string_view kHenselLetters = "aeijknqrtwyz";
constexpr std::string_view kPartLetters = "BSCG";

// "B3" of "B3/S23": a letter, or none, and digits.
struct Part {
  char letter = 0;
  std::string_view digits;
  std::size_t position;  // of the digits in the whole text
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

char capital(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

bool is_letter(char c) {
  return capital(c) >= 'A' && capital(c) <= 'Z';
}

bool is_part_letter(char c) {
  return kPartLetters.find(capital(c)) != std::string_view::npos;
}

[[noreturn]] void refuse(std::size_t position, const std::string& family) {
  throw RuleError(fmt::format("{} are not supported; {}", family, kExamples), position);
}

std::optional<std::string_view> rule_called(std::string_view text) {
  if (text.find_first_of("/:,.|+*") != std::string_view::npos) return std::nullopt;
  std::string name;
  for (const char c : text) {
    if (is_digit(c)) name += c;
    if (is_letter(c)) name += static_cast<char>(capital(c) - 'A' + 'a');
  }
  for (const auto& [known, rule] : kNames) {
    if (name == known) return rule;
  }
  return std::nullopt;
}

// Rules of other families. split() finds those that differ only within a part.
void refuse_other_families(std::string_view text) {
  const std::size_t bounds = text.find(':');
  if (bounds != std::string_view::npos) {
    throw RuleError(fmt::format("the size of the plane is no part of the rule here: bounded grids such as '{}' are not "
                                "supported; give --rule without it, and use --edge, --width and --height",
                                app::shown(text.substr(bounds))),
                    bounds);
  }
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::string_view rule = text.substr(begin);
  if (rule.empty() || !is_letter(rule[0])) return;
  const char second = rule.size() > 1 ? rule[1] : '\0';
  if (capital(rule[0]) == 'R' && is_digit(second)) refuse(begin, "Larger than Life rules ('R...')");
  if (capital(rule[0]) == 'W' && is_digit(second)) refuse(begin, "one-dimensional rules ('W...')");
  if (rule.starts_with("MAP")) refuse(begin, "non-totalistic rules ('MAP...')");
  const bool is_name = !is_part_letter(rule[0]) || (is_letter(second) && !is_part_letter(second));
  if (is_name) {
    throw RuleError(fmt::format("unexpected '{}': a rule of the name '{}' is not supported; {}", rule[0],
                                app::shown(rule), kExamples),
                    begin);
  }
}

// Whether "2c3" can mean a rule for two neighbours in corners, and not 2 neighbours and C3: the digits ascend.
bool can_be_corners(std::string_view before, std::string_view after) {
  std::string digits(before);
  digits += after.substr(0, std::min(after.find_first_not_of("0123456789"), after.size()));
  return !before.empty() && std::adjacent_find(digits.begin(), digits.end(), std::greater_equal<>()) == digits.end();
}

// Rejects text at `i` that may not follow the digits of a part.
void check_end(std::string_view text, const Part& part, std::size_t i) {
  const char c = text[i];
  const bool has_corners =
      (c == 'c' || c == 'C') && part.letter != 'C' && can_be_corners(part.digits, text.substr(i + 1));
  if (!part.digits.empty() && (c == '-' || has_corners || kHenselLetters.find(c) != std::string_view::npos)) {
    refuse(i, fmt::format("non-totalistic rules (Hensel's notation, here '{}{}')", part.digits.back(), c));
  }
  if (c == '/' || is_part_letter(c)) return;
  if (is_letter(c) && i + 1 == text.size()) {
    if (capital(c) == 'H') refuse(i, "hexagonal neighbourhoods ('H')");
    if (capital(c) == 'V') refuse(i, "von Neumann neighbourhoods ('V')");
    if (capital(c) == 'L') refuse(i, "triangular neighbourhoods ('L')");
  }
  if (is_letter(c) && i + 1 < text.size() && is_letter(text[i + 1])) {
    refuse(i, fmt::format("variants of rules such as '{}'", app::shown(text.substr(i))));
  }
  throw RuleError(fmt::format("unexpected '{}'; {}", app::shown(text.substr(i, 1)), kExamples), i);
}

std::vector<Part> split(std::string_view text) {
  std::vector<Part> parts;
  std::size_t i = 0;
  const auto skip_blanks = [&] {
    while (i < text.size() && is_blank(text[i])) ++i;
  };
  do {
    if (i < text.size() && text[i] == '/' && !parts.empty()) ++i;
    skip_blanks();
    Part part;
    if (i < text.size() && is_part_letter(text[i])) part.letter = capital(text[i++]);
    skip_blanks();
    part.position = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    part.digits = text.substr(part.position, i - part.position);
    parts.push_back(part);
    skip_blanks();
    if (i < text.size()) check_end(text, part, i);
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
  const std::optional<int> value = app::number<int>(part.digits);
  if (!value || *value < 2 || *value > kMaxStates) {
    throw RuleError(fmt::format("the number of states must be from 2 to {}", kMaxStates), part.position);
  }
  return static_cast<std::uint16_t>(*value);
}

// The part with one of these letters, at any position.
const Part& find(const std::vector<Part>& parts, std::string_view letters, std::string_view text) {
  for (const Part& part : parts) {
    if (part.letter != 0 && letters.find(part.letter) != std::string_view::npos) return part;
  }
  throw RuleError(fmt::format("'{}' lacks {}; {}", app::shown(text), letters[0], kExamples), text.size());
}

Rule with_letters(std::vector<Part> parts, std::string_view text) {
  if (parts.size() == 3 && parts[2].letter == 0) parts[2].letter = 'C';
  if (parts[1].letter == 0 && parts[1].digits.empty()) parts[1].letter = parts[0].letter == 'B' ? 'S' : 'B';  // "B2/"
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
  if (parts[1].letter != 0) throw RuleError("a letter B or S is missing at the beginning", parts[0].position);
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
  if (const std::optional<std::string_view> rule = rule_called(text)) return parse_rule(*rule);
  refuse_other_families(text);
  const std::vector<Part> parts = split(text);
  if (parts.size() < 2 || parts.size() > 3) {
    throw RuleError(fmt::format("'{}' is no rule; {}", app::shown(text), kExamples), 0);
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
