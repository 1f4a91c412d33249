/// @file
/// Rules and pattern files of Life and Generations: what is read, what is written, and what is refused where.

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "../platform/test_support.h"
#include "rle.h"
#include "rule.h"

namespace {

using life::Pattern;
using life::Rule;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

std::string rle_error(const std::string& text) {
  return message_of([&] { static_cast<void>(life::rule_of(life::parse_rle(text, "f"), "f", {})); });
}

Pattern random_pattern(std::mt19937& random, int states) {
  Pattern result;
  result.width = static_cast<int>(random() % 90 + 1);
  result.height = static_cast<int>(random() % 20 + 1);
  result.left = static_cast<int>(random() % 100) - 50;
  result.top = static_cast<int>(random() % 100) - 50;
  const std::uint32_t density = random() % 4;
  for (int i = 0; i < result.width * result.height; ++i) {
    const bool empty = random() % 4 < density || (i / 200) % 2 == 1;
    result.states.push_back(empty ? 0 : static_cast<std::uint16_t>(random() % static_cast<std::uint32_t>(states)));
  }
  return result;
}

}  // namespace

TEST_CASE("all usual notations of a rule are read") {
  const Rule life{1 << 3, 1 << 2 | 1 << 3, 2};
  for (const char* text : {"B3/S23", "b3/s23", "B3S23", "S23/B3", "23/3", "32/3", "B3/S23/C2", "23/3/2"}) {
    CAPTURE(text);
    CHECK((life::parse_rule(text) == life));
  }
  const Rule star_wars{1 << 2, 1 << 3 | 1 << 4 | 1 << 5, 4};
  for (const char* text : {"B2/S345/C4", "B2/S345/4", "b2s345c4", "345/2/4", "345/2/C4", "B2/S345/G4", "S345/B2/C4"}) {
    CAPTURE(text);
    CHECK((life::parse_rule(text) == star_wars));
  }
  CHECK((life::parse_rule("/2/3") == Rule{1 << 2, 0, 3}));
  CHECK((life::parse_rule("B2/S/C3") == Rule{1 << 2, 0, 3}));
  CHECK((life::parse_rule("B/S012345678") == Rule{0, 0x1FF, 2}));
  CHECK(life::parse_rule("B3468/S0235678/C257").states == 257);
}

TEST_CASE("a rule's text is a rule, and the same one") {
  for (const char* text :
       {"B3/S23", "B36/S23", "B2/S", "345/2/4", "/2/3", "0235678/3468/257", "012345678/12345678/265"}) {
    CHECK(life::text_of(life::parse_rule(text)) == text);
  }
}

TEST_CASE("what is no rule is refused at the place where it goes wrong") {
  const auto error = [](const std::string& text) {
    try {
      static_cast<void>(life::parse_rule(text));
    } catch (const life::RuleError& error) {
      return std::to_string(error.position()) + " " + error.what();
    }
    return std::string("no error");
  };
  CHECK(error("").starts_with("0 '' is no rule"));
  CHECK(error("Life").starts_with("0 unexpected 'L'"));
  CHECK(error("B3").starts_with("0 'B3' is no rule"));
  CHECK(error("B3/S2x").starts_with("5 unexpected 'x'"));
  CHECK(error("B3/S29") == "5 a cell has 8 neighbours, not 9");
  CHECK(error("B3/B23").starts_with("6 'B3/B23' lacks S"));
  CHECK(error("B3/23") == "3 a letter B, S or C is missing here");
  CHECK(error("23/3/1").starts_with("5 the number of states must be from 2 to 265"));
  CHECK(error("23/3/99999999999").starts_with("5 the number of states"));
  CHECK(error("23/3/2/2").find("is no rule") != std::string::npos);
  CHECK(error("B03/S23").starts_with("0 birth on 0 is not supported"));
  CHECK(error("B3/S23:T40").starts_with("6 the size of the plane"));
  CHECK(error("B3/S23 ").starts_with("6 unexpected ' '"));
}

TEST_CASE("a pattern file is read with all that it says") {
  const Pattern glider = life::parse_rle(
      "#N Glider\r\n#C a comment\r\n#O somebody\r\n#P -3 4\r\n\r\nx = 3 ,y=3, rule = B3/S23 "
      "\r\nbo$2b\r\no$3o!what\r\nfollows",
      "f");
  CHECK(glider.name == "Glider");
  CHECK(glider.left == -3);
  CHECK(glider.top == 4);
  CHECK(glider.rule == "B3/S23");
  CHECK((glider.states == std::vector<std::uint16_t>{0, 1, 0, 0, 0, 1, 1, 1, 1}));
  const Pattern many = life::parse_rle("x = 8, y = 3\n2.AB$$XpAqBxXyA yX.!", "f");
  CHECK((many.states ==
         std::vector<std::uint16_t>{0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24, 25, 50, 240, 241, 264, 0, 0}));
  CHECK(many.highest_state == 264);
  CHECK(many.rule.empty());
  CHECK(life::parse_rle("#r 23/36\nx=1,y=1\no!", "f").rule == "23/36");
  CHECK(life::parse_rle("x = 0, y = 0\n!", "f").states.empty());
  // Dead cells beyond the stated size do no harm.
  CHECK(life::parse_rle("x = 1, y = 1\no9b$$9b!", "f").states.size() == 1);
}

TEST_CASE("a malformed pattern file is refused with file, line and column") {
  CHECK(rle_error("") == "f:1:1: there is no pattern here: the header 'x = .., y = ..' is missing");
  CHECK(rle_error("#C only\n#C comments\n").starts_with("f:3:1: there is no pattern here"));
  CHECK(rle_error("bo$2bo$3o!").starts_with("f:1:1: expected the header"));
  CHECK(rle_error("x = , y = 3").starts_with("f:1:5: expected a number"));
  CHECK(rle_error("x = 3 y = 3").starts_with("f:1:7: expected ','"));
  CHECK(rle_error("x = 3, z = 3").starts_with("f:1:8: expected the header"));
  CHECK(rle_error("x = 99999999999, y = 3").starts_with("f:1:5: the number is too large"));
  CHECK(rle_error("x = 99999, y = 99999").starts_with("f:1:21: a pattern of 99999 x 99999 cells is too large"));
  CHECK(rle_error("x = 3, y = 3, rube = 2").starts_with("f:1:17: expected 'rule = ..'"));
  CHECK(rle_error("x = 3, y = 3 o!").starts_with("f:1:14: unexpected 'o' in the header"));
  CHECK(rle_error("x = 3, y = 3\nbo$2b").starts_with("f:2:6: the pattern ends without '!'"));
  CHECK(rle_error("x = 3, y = 3\nbo$\n2zo!").starts_with("f:3:2: unexpected 'z'"));
  CHECK(rle_error("x = 3, y = 3\nb\x01o!").starts_with("f:2:2: unexpected the character with code 1"));
  CHECK(rle_error("x = 3, y = 3\nb0o!").starts_with("f:2:2: a run of 0 cells"));
  CHECK(rle_error("x = 3, y = 3\nb3!").starts_with("f:2:3: expected a cell or '$'"));
  CHECK(rle_error("x = 3, y = 3\nb3 3o!").starts_with("f:2:4: expected a cell or '$'"));
  CHECK(rle_error("x = 3, y = 3\n99999999999o!").starts_with("f:2:1: the number is too large"));
  CHECK(rle_error("x = 3, y = 3\n4o!") == "f:2:2: row 1 has 4 cells or more, but the header says x = 3");
  CHECK(rle_error("x = 3, y = 3\n3$o!") == "f:2:3: a cell in row 4, but the header says y = 3");
  CHECK(rle_error("x = 3, y = 3\npo!").starts_with("f:2:2: expected a letter from A to X"));
  CHECK(rle_error("#P 1\nx = 3, y = 3\n!").starts_with("f:1:4: expected the x and y"));
  CHECK(rle_error("x = 3, y = 3, rule = B3/S2x\n!").starts_with("f:1:27: unexpected 'x'"));
  CHECK(rle_error("x = 3, y = 3\noC!") == "f:2:2: a cell in state 3, but the rule B3/S23 has states 0 to 1");
  CHECK(message_of([] { static_cast<void>(life::read_rle("/nowhere/f.rle")); }) ==
        "cannot read /nowhere/f.rle: No such file or directory");
}

TEST_CASE("a pattern that is written and read again is the same") {
  const std::uint32_t seed = static_cast<std::uint32_t>(dynasoar::test::test_seed());
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const int states : {2, 3, 25, 26, 265}) {
    for (int i = 0; i < 40; ++i) {
      const Pattern original = random_pattern(random, states);
      const Rule rule{1 << 3, 1 << 2, static_cast<std::uint16_t>(states)};
      const std::string text = life::format_rle(original, rule);
      CAPTURE(text);
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) REQUIRE(line.size() <= 70);
      const Pattern again = life::parse_rle(text, "f");
      REQUIRE(again.width == original.width);
      REQUIRE(again.height == original.height);
      REQUIRE(again.left == original.left);
      REQUIRE(again.top == original.top);
      REQUIRE((again.states == original.states));
      REQUIRE((life::rule_of(again, "f", {}) == rule));
    }
  }
}
