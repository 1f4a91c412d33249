/// @file
/// Rules and pattern files of Life and Generations: what is read, what is written, and what is refused where.

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "../platform/test_support.h"
#include "../platform/thrown.h"
#include "life/rle.h"
#include "life/rule.h"

namespace {

using dynasoar::test::message_of;
using dynasoar::test::thrown;
using life::Pattern;
using life::Rule;

std::string rle_error(const std::string& text) {
  return message_of<std::exception>([&] { static_cast<void>(life::rule_of(life::parse_rle(text, "f"), "f", {})); });
}

Pattern random_pattern(std::mt19937& random, int states) {
  Pattern result;
  result.width = static_cast<int>(random() % 90 + 1);
  result.height = static_cast<int>(random() % 20 + 1);
  result.left = static_cast<int>(random() % 100) - 50;
  result.top = static_cast<int>(random() % 100) - 50;
  const std::uint32_t density = random() % 4;
  std::vector<std::uint16_t> cells;
  for (int i = 0; i < result.width * result.height; ++i) {
    const bool empty = random() % 4 < density || (i / 200) % 2 == 1;
    cells.push_back(empty ? 0 : static_cast<std::uint16_t>(random() % static_cast<std::uint32_t>(states)));
  }
  result.set_states(cells);
  return result;
}

}  // namespace

TEST_CASE("all usual notations of a rule are read") {
  const Rule life{1 << 3, 1 << 2 | 1 << 3, 2};
  for (const char* text : {"B3/S23",
                           "b3/s23",
                           "B3S23",
                           "S23/B3",
                           "23/3",
                           "32/3",
                           "B3/S23/C2",
                           "23/3/2",
                           "S23B3",
                           "B3/s23",
                           " B3/S23 ",
                           "B3 / S23",
                           "B 3/S 23\t",
                           "23 / 3",
                           "Life",
                           "life",
                           "LIFE",
                           "Conway's Life",
                           "Conway's Game of Life",
                           "conway"}) {
    CAPTURE(text);
    CHECK((life::parse_rule(text) == life));
  }
  const Rule star_wars{1 << 2, 1 << 3 | 1 << 4 | 1 << 5, 4};
  for (const char* text : {"B2/S345/C4", "B2/S345/4", "b2s345c4", "345/2/4", "345/2/C4", "B2/S345/G4", "S345/B2/C4",
                           "B2/S345/c4", "B2S345C4", "345 / 2 / 4", "Star Wars", "StarWars"}) {
    CAPTURE(text);
    CHECK((life::parse_rule(text) == star_wars));
  }
  CHECK((life::parse_rule("/2/3") == Rule{1 << 2, 0, 3}));
  CHECK((life::parse_rule("Brian's Brain") == Rule{1 << 2, 0, 3}));
  CHECK(life::text_of(life::parse_rule("B2/")) == "B2/S");
  CHECK(life::text_of(life::parse_rule("S2/")) == "B/S2");
  CHECK(life::text_of(life::parse_rule("B2//3")) == "/2/3");
  CHECK(life::text_of(life::parse_rule("/2")) == "B2/S");
  CHECK((life::parse_rule("B2/S/3") == Rule{1 << 2, 0, 3}));
  CHECK((life::parse_rule("b2sc3") == Rule{1 << 2, 0, 3}));
  // Without letters, survival comes first.
  CHECK((life::parse_rule("3/23") == Rule{1 << 2 | 1 << 3, 1 << 3, 2}));
  CHECK(life::text_of(life::parse_rule("Day & Night")) == "B3678/S34678");
  CHECK(life::text_of(life::parse_rule("DayAndNight")) == "B3678/S34678");
  CHECK(life::text_of(life::parse_rule("HighLife")) == "B36/S23");
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

TEST_CASE("an invalid rule is refused at the position of its error") {
  const auto error = [](const std::string& text) {
    const auto error = thrown<life::RuleError>([&] { static_cast<void>(life::parse_rule(text)); });
    return std::to_string(error.position()) + " " + error.what();
  };
  CHECK(error("").starts_with("0 '' is no rule"));
  CHECK(error("LifeHistory").starts_with("0 unexpected 'L': a rule of the name 'LifeHistory' is not supported"));
  CHECK(error("3/S23") == "0 a letter B or S is missing at the beginning");
  CHECK(error("B3").starts_with("0 'B3' is no rule"));
  CHECK(error("B3/S2x").starts_with("5 unexpected 'x'"));
  CHECK(error("B3/S29") == "5 a cell has 8 neighbours, not 9");
  CHECK(error("B3/B23").starts_with("6 'B3/B23' lacks S"));
  CHECK(error("B3/23") == "3 a letter B, S or C is missing here");
  CHECK(error("23/3/B3") == "6 the third part is the number of states");
  CHECK(error("23/3/S3") == "6 the third part is the number of states");
  CHECK(life::parse_rule("23/3/C3").states == 3);
  CHECK(error("23/3/1").starts_with("5 the number of states must be from 2 to 265"));
  CHECK(life::parse_rule("23/3/2").states == 2);
  CHECK(life::parse_rule("23/3/265").states == 265);
  CHECK(error("23/3/266").starts_with("5 the number of states must be from 2 to 265"));
  CHECK(error("23/3/").starts_with("5 the number of states"));
  CHECK((life::parse_rule("B8/S8") == Rule{1 << 8, 1 << 8, 2}));
  CHECK(error("23/3/99999999999").starts_with("5 the number of states"));
  CHECK(error("23/3/2/2").find("is no rule") != std::string::npos);
  CHECK(error("B03/S23").starts_with("0 birth on 0 is not supported"));
  CHECK(error("B3/S23:T40").starts_with("6 the size of the plane"));
  CHECK(error("B3/S2 3").starts_with("6 unexpected '3'"));
  CHECK(error("B3/S2\x1b[31m").starts_with("5 unexpected '\\x1b'"));
}

TEST_CASE("rules of families that are not supported are refused by name, never misread") {
  const auto error = [](const std::string& text) {
    return message_of<life::RuleError>([&] { static_cast<void>(life::parse_rule(text)); });
  };
  for (const char* text :
       {"B3/S2c3", "b3/s2c3", "b3s2c3", "B2-a/S12", "B3/S23-i", "B2n3/S23", "B3/S2-i34q", "2-i3/3", "23/3q", "B3/S2C3",
        "B3/S2c", "b2c3/s23", "B2ce3/S1/C4", "MAPARYXfhZofugWaH7oaIDogBZofuhogOiAaIDogIAAgAA"}) {
    CAPTURE(text);
    CHECK(error(text).find("non-totalistic rules") != std::string::npos);
  }
  for (const char* text : {"R5,C0,M1,S34..58,B34..45,NM", "r2,c2,s2-3,b3", "R1,B3,S23"}) {
    CAPTURE(text);
    CHECK(error(text).find("Larger than Life") != std::string::npos);
  }
  for (const char* text : {"B3/S23:T100,200", "B3/S23:P10", "Life:T5", "345/2/4:S40", "R2,C2:T9"}) {
    CAPTURE(text);
    CHECK(error(text).find("bounded grids such as ':") != std::string::npos);
  }
  for (const char* text : {"B0/S23", "B0123/S", "23/03", "B02/S/C3", "s23/b0"}) {
    CAPTURE(text);
    CHECK(error(text).starts_with("birth on 0 is not supported"));
  }
  for (const char* text :
       {"LifeHistory", "WireWorld", "JvN29", "Langtons-Loops", "Codd", "Banks-I", "Bosco", "Generations"}) {
    CAPTURE(text);
    CHECK(error(text).find(std::string("a rule of the name '") + text + "' is not supported") != std::string::npos);
  }
  CHECK(error("W110").starts_with("one-dimensional"));
  CHECK(error("B2/S34H").starts_with("hexagonal"));
  CHECK(error("B2/S013V").starts_with("von Neumann"));
  CHECK(error("B45/S34L").starts_with("triangular"));
  CHECK(error("B3/S23History").starts_with("variants of rules such as 'History'"));
  CHECK(error("life/").find("is not supported") != std::string::npos);
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
  CHECK((glider.states() == std::vector<std::uint16_t>{0, 1, 0, 0, 0, 1, 1, 1, 1}));
  const Pattern many = life::parse_rle("x = 8, y = 3\n2.AB$$XpAqBxXyA yX.!", "f");
  CHECK((many.states() ==
         std::vector<std::uint16_t>{0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24, 25, 50, 240, 241, 264, 0, 0}));
  CHECK(many.highest_state == 264);
  CHECK(many.rule.empty());
  CHECK(life::parse_rle("#r 23/36\nx=1,y=1\no!", "f").rule == "23/36");
  CHECK(life::parse_rle("x = 0, y = 0\n!", "f").states().empty());
  // Dead cells beyond the stated size do no harm.
  CHECK(life::parse_rle("x = 1, y = 1\no9b$$9b!", "f").states().size() == 1);
}

TEST_CASE("pattern files are read as the Life community writes them") {
  const std::vector<std::uint16_t> glider = {0, 1, 0, 0, 0, 1, 1, 1, 1};
  for (const char* text : {
           "x = 3, y = 3\nbo$2bo$3o!",
           "x=3,y=3,rule=B3/S23\nbo$2bo$3o!",
           "X = 3, Y = 3, Rule = b3/s23\nbo$2bo$3o!",
           "x = +3, y = +3, rule = Life\nbo$2bo$3o!",
           "\xEF\xBB\xBFx = 3, y = 3, rule = 23/3\r\nbo$2b\r\no$3o!\r\n",
           "x = 3, y = 3\rbo$2bo$3o!",
           "x = 3, y = 3,\nbo$2bo$3o!",
           "x = 3, y = 3, rule =\nbo$2bo$3o!",
           "x = 0, y = 0, rule = B3/S23\nbo$2bo$3o!",
           "bo$2bo$3o!",
           "#C no header\nb o $ 2 b o $\n3\no !",
           "#Pulsar\n#Replicator, perhaps\n#Norway\n#P a remark\n#\n##\nbo$2bo$3o!\n#C after\nx = 9",
           "x = 3, y = 3\n#C between\nbo$2bo$\n #C again\n3o!",
           "x = 3, y = 3\nbx$2bx$ooy!",
           "bp$2bq$rst!",
           "x = 3, y = 3\n.A$..A$3A!",
       }) {
    CAPTURE(text);
    const Pattern pattern = life::parse_rle(text, "f");
    CHECK(pattern.width == 3);
    CHECK(pattern.height == 3);
    CHECK((pattern.states() == glider));
    CHECK((life::rule_of(pattern, "f", {}) == Rule{}));
    CHECK(pattern.name.empty());
    CHECK(pattern.left == 0);
  }
  const Pattern golly = life::parse_rle("#CXRLE Pos=-3,+4 Gen=12\nx = 1, y = 1\no!", "f");
  CHECK(golly.left == -3);
  CHECK(golly.top == 4);
  CHECK(life::parse_rle("3b2o5b$$4b!", "f").width == 10);
  CHECK(life::parse_rle("3b2o5b$$4b!", "f").height == 3);
}

TEST_CASE("numbers in pattern files are read up to their limits, and not beyond") {
  const std::string far = "x = 1, y = 1\no!";
  CHECK(life::parse_rle("#P 1073741824 -1073741824\n" + far, "f").left == 1 << 30);
  CHECK(life::parse_rle("#R 1073741824 -1073741824\n" + far, "f").top == -(1 << 30));
  for (const char* offset : {"#P 1073741825 0\n", "#P -1073741825 0\n", "#R 0 1073741825\n", "#R 0 -1073741825\n"}) {
    CHECK(rle_error(offset + far).starts_with("f:1:4: expected the x and y"));
  }
  CHECK(life::parse_rle("#CXRLE Pos=1073741825,0\n" + far, "f").left == 0);
  // Memory is for what is alive.
  const Pattern wide = life::parse_rle("x = 2147483647, y = 1\n2147483646bo!", "f");
  CHECK((wide.runs == std::vector<life::Run>{{2147483646, 0, 1, 1}}));
  CHECK((life::parse_rle("x = 5, y = 1\nooA\n2o!", "f").runs == std::vector<life::Run>{{0, 0, 5, 1}}));
  CHECK(life::parse_rle("2147483647o!", "f").cells() == 2147483647);
  CHECK(life::parse_rle("2147483646$o!", "f").height == 2147483647);
  CHECK(rle_error("x = 2147483648, y = 0\n!").starts_with("f:1:5: the number is too large"));
  CHECK(rle_error("x = 46341, y = 46341\n!").find("46341 x 46341 cells is too large") != std::string::npos);
  CHECK(life::parse_rle("x = 46340, y = 46340\n!", "f").width == 46340);
  CHECK(rle_error("x = 1, y = 1\n2147483648o!").starts_with("f:2:1: the number is too large"));
  CHECK(rle_error("2147483647oo!").starts_with("f:1:12: row 1 has 2147483648 cells or more, but the most is"));
  CHECK(rle_error("2147483647$o!").starts_with("f:1:12: a cell in row 2147483648, but the most is"));
  CHECK(rle_error("46340bo46340$o!").find("a pattern of 46341 x 46341 cells is too large") != std::string::npos);
  CHECK(life::parse_rle("x = 2, y = 1, rule = 0/0/265\nyXpA!", "f").states()[0] == 264);
  CHECK(life::parse_rle("x = 2, y = 2\n2o$2o!", "f").cells() == 4);
  CHECK(rle_error("x = 2, y = 2\n2o$3o!").starts_with("f:2:5: row 2 has 3 cells"));
  CHECK(rle_error("x = 2, y = 2\n2o2$o!").starts_with("f:2:5: a cell in row 3"));
}

TEST_CASE("a trimmed pattern keeps its cells where they are on the plane") {
  Pattern pattern = life::parse_rle("#R -10 5\nx = 100, y = 100\n3$4b2o$6bo!", "f");
  pattern.trim();
  CHECK(pattern.left == -6);
  CHECK(pattern.top == 8);
  CHECK(pattern.width == 3);
  CHECK(pattern.height == 2);
  CHECK((pattern.states() == std::vector<std::uint16_t>{1, 1, 0, 0, 0, 1}));
  pattern = life::parse_rle("x = 5, y = 5\n!", "f");
  pattern.trim();
  CHECK(pattern.states().empty());
}

TEST_CASE("a malformed pattern file is refused with file, line and column") {
  CHECK(rle_error("") == "f:1:1: there is no pattern here: the header 'x = .., y = ..' is missing");
  CHECK(rle_error("#C only\n#C comments\n").starts_with("f:3:1: there is no pattern here"));
  CHECK(rle_error("!").starts_with("f:1:1: the pattern is in plain text"));
  CHECK(rle_error("#C nothing\n!").starts_with("f:2:1: there is no pattern here"));
  CHECK(rle_error("#Life 1.06\n0 1\n").starts_with("f:1:1: the pattern is in Life 1.06, not RLE"));
  CHECK(rle_error("[M2] (golly 2.0)\n").starts_with("f:1:1: the pattern is in the format Macrocell"));
  CHECK(rle_error("hello").starts_with("f:1:1: expected the header 'x = .., y = ..' or cells, found 'h'"));
  CHECK(rle_error("x = -3, y = 3").starts_with("f:1:5: expected a number from 0 to 2^31 - 1"));
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
  CHECK(
      rle_error("x = 3, y = 3, rule = 23/3/3\npo!").starts_with("f:2:1: expected a letter from A to X after this one"));
  CHECK(rle_error("x = 3, y = 3\nzo!").starts_with("f:2:1: unexpected 'z'"));
  CHECK(rle_error("x = 3, y = 3, rule = 23/3/265\nyY!").starts_with("f:2:2: unexpected 'Y'"));
  CHECK(rle_error("x = 3, y = 3\no#o!").starts_with("f:2:2: unexpected '#'"));
  CHECK(rle_error("#P 1\nx = 3, y = 3\n!").starts_with("f:1:4: expected the x and y"));
  CHECK(rle_error("x = 3, y = 3, rule = B3/S2c3\n!").starts_with("f:1:27: non-totalistic"));
  CHECK(rle_error("\x1F\x8B\x08") == "f is compressed with gzip: unpack it first");
  CHECK(rle_error("x = 3, y = 3, rule = B3/S2x\n!").starts_with("f:1:27: unexpected 'x'"));
  CHECK(rle_error("x = 3, y = 3\noC!") == "f:2:2: a cell in state 3, but the rule B3/S23 has states 0 to 1");
  CHECK(rle_error("x = 3, y = 3\noB!") == "f:2:2: a cell in state 2, but the rule B3/S23 has states 0 to 1");
  CHECK(rle_error("x = 3, y = 3, rule = 23/3/3\noB!") == "no error");
  CHECK(message_of<std::exception>([] { static_cast<void>(life::read_rle("/nowhere/f.rle")); }) ==
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
      REQUIRE((again.runs == original.runs));
      REQUIRE((life::rule_of(again, "f", {}) == rule));
    }
  }
}
