/// @file
/// Files with street networks: those of our own and SUMO's are read as apps/traffic/README.md says, what is wrong is
/// reported with its place, and what is written can be read again.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "../dsl/test_folder.h"
#include "../platform/thrown.h"
#include "traffic/network.h"
#include "traffic/network_files.h"

namespace {

using dynasoar::test::contents_of;
using dynasoar::test::message_of;
using traffic::Network;
using traffic::NetworkError;
using traffic::Point;

Network read_text(const std::string& text) {
  std::istringstream in(text);
  return traffic::read_network(in, "f.txt");
}

void refuses_text(const std::string& text, const std::string& says) {
  CHECK_THROWS_WITH_AS(read_text(text), says.c_str(), dynasoar::program::UsageError);
}

Network written_and_read(const Network& network) {
  std::stringstream file;
  traffic::write_network(file, network);
  return traffic::read_network(file, "f.txt");
}

const std::string kText =
    "# a comment\n"
    "\n"
    "traffic 1  # another\n"
    "intersection 0 0 5\n"
    "intersection 1.5 -2e3 0\n"
    "street 0 1 10 7 0\n"
    "street 1 0 20 9 3 0.5 1 0.25 2\n"
    "turn 0 1\n"
    "producer 1 0\n"
    "producer 0 8\n"
    "destination 1 5\r\n";

// Two edges in a row from 'a' over 'b' to 'c', and one back; the first has a second lane, and one for bicycles only.
const std::string kSumo =
    "<?xml version=\"1.0\"?>\n"
    "<net>\n"
    "  <edge id=\":b_0\" function=\"internal\"><lane id=\":b_0_0\" index=\"0\" speed=\"5\" length=\"3\"/></edge>\n"
    "  <edge id=\"ab\" from=\"a\" to=\"b\">\n"
    "    <lane id=\"ab_0\" index=\"0\" speed=\"5\" length=\"100\" allow=\"bicycle\" shape=\"0,0 1,1\"/>\n"
    "    <lane id=\"ab_1\" index=\"1\" speed=\"13.89\" length=\"100\" shape=\"0,1 99,1 99.5,2,7\"/>\n"
    "    <lane id=\"ab_2\" index=\"2\" speed=\"200\" length=\"101.25\" disallow=\"tram bus\"/>\n"
    "  </edge>\n"
    "  <edge id=\"bc\" from=\"b\" to=\"c\"><lane id=\"bc_0\" index=\"0\" speed=\"1\" length=\"1\"/></edge>\n"
    "  <edge id=\"cb\" from=\"c\" to=\"b\"><lane id=\"cb_0\" index=\"0\" speed=\"15\" length=\"75\"/></edge>\n"
    "  <edge id=\"path\" from=\"c\" to=\"b\"><lane id=\"path_0\" index=\"0\" speed=\"1\" length=\"75\""
    " disallow=\"all\"/></edge>\n"
    "  <junction id=\"a\" type=\"dead_end\" x=\"0\" y=\"0\"/>\n"
    "  <junction id=\"b\" type=\"traffic_light\" x=\"100\" y=\"0.5\"/>\n"
    "  <junction id=\":b_0_0\" type=\"internal\" x=\"100\" y=\"0\"/>\n"
    "  <junction id=\"c\" type=\"priority\" x=\"200\" y=\"0\"/>\n"
    "  <connection from=\"ab\" to=\"bc\" fromLane=\"0\" toLane=\"0\" dir=\"s\"/>\n"
    "  <connection from=\"ab\" to=\"bc\" fromLane=\"1\" toLane=\"0\" dir=\"s\"/>\n"
    "  <connection from=\"bc\" to=\"cb\" fromLane=\"0\" toLane=\"0\" dir=\"t\"/>\n"
    "  <connection from=\"cb\" to=\"bc\" fromLane=\"0\" toLane=\"0\" dir=\"t\"/>\n"
    "  <connection from=\":b_0\" to=\"bc\" fromLane=\"0\" toLane=\"0\" dir=\"s\"/>\n"
    "  <connection from=\"ab\" to=\"bc\" fromLane=\"2\" toLane=\"0\" dir=\"s\"/>\n"
    "</net>\n";

// The text with `what` in it replaced.
std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

void refuses_sumo(const std::string& what, const std::string& by, const std::string& says) {
  CAPTURE(what);
  CHECK_THROWS_WITH_AS(traffic::read_sumo_network(replaced(kSumo, what, by), "f.net.xml", 5), says.c_str(),
                       NetworkError);
}

}  // namespace

TEST_CASE("a network in text is read") {
  const Network network = read_text(kText);
  Network expected;
  expected.intersections = {{{0, 0}, 5}, {{1.5, -2000}, 0}};
  expected.streets = {{.from = 0, .to = 1, .cells = 10, .limit = 7, .exits = {1}},
                      {.from = 1, .to = 0, .cells = 20, .limit = 9, .phase = 3, .bends = {{0.5, 1}, {0.25, 2}}}};
  expected.producers = {{0, 8}, {1, 0}};
  expected.destinations = {{1, 5}};
  CHECK((network == expected));
  CHECK((read_text("traffic 1") == Network{}));
}

TEST_CASE("what is written can be read again") {
  CHECK((written_and_read({}) == Network{}));
  CHECK((written_and_read(read_text(kText)) == read_text(kText)));
  const Network random = traffic::random_network(50, 7, {.producers = 0.1, .seed = 9});
  CHECK((written_and_read(random) == random));
  Network town = traffic::read_sumo_network(contents_of(TRAFFIC_NETWORK), "town", 5);
  traffic::place_sources(town, {});
  CHECK((written_and_read(town) == town));
}

TEST_CASE("a network is written with the meaning of its lines") {
  std::ostringstream file;
  traffic::write_network(file, read_text(kText));
  CHECK(file.str() ==
        "traffic 1\n# intersection X Y GREEN\nintersection 0 0 5\nintersection 1.5 -2000 0\n"
        "# street FROM TO CELLS LIMIT PHASE [X Y]...\nstreet 0 1 10 7 0\nstreet 1 0 20 9 3 0.5 1 0.25 2\n"
        "# turn STREET STREET\nturn 0 1\n"
        "# producer STREET CELL, destination STREET CELL\nproducer 0 8\nproducer 1 0\ndestination 1 5\n");
}

TEST_CASE("what is wrong in a text is reported with its place") {
  refuses_text("", "f.txt:1:1: expected 'traffic 1', found the end of the file");
  refuses_text("\n <net>\n", "f.txt:2:2: expected 'traffic 1', as networks in text begin, found '<net>'");
  refuses_text("traffic 2\n", "f.txt:1:9: expected version 1 of the format, found '2'");
  refuses_text("traffic 1 x\n", "f.txt:1:11: expected the end of the line, found 'x'");
  refuses_text("traffic 1\nroad 1\n",
               "f.txt:2:1: expected intersection, street, turn, producer or destination, found 'road'");
  const std::string start = "traffic 1\nintersection 0 0 0\nintersection 1 0 0\n";
  refuses_text("traffic 1\nintersection 0 north 0",
               "f.txt:2:16: expected a coordinate (a number from -1e+18 to 1e+18), found 'north'");
  refuses_text("traffic 1\nintersection inf 0 0",
               "f.txt:2:14: expected a coordinate (a number from -1e+18 to 1e+18), found 'inf'");
  refuses_text(
      "traffic 1\nintersection 0 0",
      "f.txt:2:17: expected steps of green, or 0 (a whole number from 0 to 1000000), found the end of the line");
  refuses_text(start + "street 0 2 5 5 0", "f.txt:4:10: there is no intersection 2 in the lines above");
  refuses_text(start + "street x 1 5 5 0", "f.txt:4:8: expected the number of the intersection, found 'x'");
  refuses_text(start + "street 0 1 0 5 0",
               "f.txt:4:12: expected how many cells there are (a whole number from 1 to 1000000), found '0'");
  refuses_text(start + "street 0 1 5 10 0", "f.txt:4:14: expected the limit (a whole number from 1 to 9), found '10'");
  refuses_text(start + "street 0 1 5 5 255",
               "f.txt:4:16: expected the phase (a whole number from 0 to 254), found '255'");
  refuses_text(start + "street 0 1 5 5 0 3",
               "f.txt:4:19: expected a coordinate (a number from -1e+18 to 1e+18), found the end of the line");
  const std::string streets = start + "street 0 1 5 5 0\nstreet 1 0 5 5 0\n";
  refuses_text(streets + "turn 0 2", "f.txt:6:8: there is no street 2 in the lines above");
  refuses_text(streets + "turn 0 0", "f.txt:6:8: street 0 has an exit, street 0, that does not begin where it ends");
  refuses_text(streets + "turn 0 1\nturn 0 1", "f.txt:7:8: street 0 has this exit already");
  refuses_text(streets + "producer 0 5", "f.txt:6:12: this is beyond the end of its street of 5 cells");
  refuses_text(streets + "destination 1 4",
               "f.txt:6:15: this is on the last cell of its street, which is for the intersection");
  refuses_text(streets + "producer 1 3\ndestination 1 3",
               "f.txt:7:15: this cell is a producer or a destination already");
  std::string many = start + "street 0 1 5 5 0\n";
  for (int i = 0; i < 9; ++i) many += "street 1 0 5 5 0\n";
  for (int i = 1; i <= 9; ++i) many += "turn 0 " + std::to_string(i) + "\n";
  refuses_text(many, "f.txt:22:8: street 0 has more than 8 exits");
  std::string large = start;
  for (int i = 0; i < 300; ++i) large += "street 0 1 1000000 5 0\n";
  refuses_text(large, "f.txt:272:12: the network has more than 2^28 - 1 cells");
}

TEST_CASE("a network of SUMO is read") {
  const Network network = traffic::read_sumo_network(kSumo, "f.net.xml", 6);
  Network expected;
  expected.intersections = {{{0, 0}, 0}, {{100, 0.5}, 6}, {{200, 0}, 0}};
  expected.streets = {
      {.from = 0, .to = 1, .cells = 13, .limit = 2, .bends = {{0, 1}, {99, 1}, {99.5, 2}}, .exits = {2}},
      {.from = 0, .to = 1, .cells = 14, .limit = 9, .exits = {2}},
      {.from = 1, .to = 2, .cells = 1, .limit = 1, .exits = {3}},
      {.from = 2, .to = 1, .cells = 10, .limit = 2, .phase = 1, .exits = {2}}};
  CHECK((network.intersections == expected.intersections));
  REQUIRE(network.streets.size() == 4);
  for (std::size_t s = 0; s < 4; ++s) {
    CAPTURE(s);
    CHECK((network.streets[s] == expected.streets[s]));
  }
  CHECK((network == expected));
  CHECK(traffic::read_sumo_network(kSumo, "f.net.xml", 0).intersections[1].green == 0);
}

TEST_CASE("where there are other ways, cars of SUMO's networks do not turn round") {
  // Back from b to a as well: a second lane of 'ab' may go on to c, or turn round.
  std::string text = replaced(kSumo, "  <junction id=\"a\"",
                              "  <edge id=\"ba\" from=\"b\" to=\"a\"><lane id=\"ba_0\" index=\"0\" speed=\"15\""
                              " length=\"75\"/></edge>\n  <junction id=\"a\"");
  const auto with = [&text](const std::string& connection) {
    return traffic::read_sumo_network(replaced(text, "</net>", connection + "</net>"), "f.net.xml", 5);
  };
  const std::string around = "<connection from=\"ab\" to=\"ba\" fromLane=\"1\" toLane=\"0\" dir=\"t\"/>";
  const std::string left = "<connection from=\"ab\" to=\"ba\" fromLane=\"1\" toLane=\"0\" dir=\"l\"/>";
  CHECK((with(around).streets[0].exits == std::vector<std::uint32_t>{2}));
  CHECK((with(left).streets[0].exits == std::vector<std::uint32_t>{2, 4}));
  // Wherever in the file the other way is.
  text = replaced(text, "  <connection from=\"ab\" to=\"bc\" fromLane=\"1\" toLane=\"0\" dir=\"s\"/>\n", "");
  CHECK((with(around).streets[0].exits == std::vector<std::uint32_t>{4}));
  const std::string straight = "<connection from=\"ab\" to=\"bc\" fromLane=\"1\" toLane=\"0\" dir=\"s\"/>";
  CHECK((with(around + straight).streets[0].exits == std::vector<std::uint32_t>{2}));
}

TEST_CASE("networks are read with a byte order mark, other line ends, signs and tiny numbers") {
  std::string text =
      "\xEF\xBB\xBF" + replaced(replaced(kText, "1.5 -2e3", "+1.5 -2e+3"), "0.25 2", "0.25 2 1e-999 -1e-999");
  text = replaced(text, "10 7 0", "+10 +7 +0");
  std::string expected = replaced(kText, "0.25 2", "0.25 2 0 -0");
  CHECK((read_text(text) == read_text(expected)));
  for (std::string* const each : {&text, &expected}) {
    for (std::size_t i = 0; (i = each->find('\n', i)) != std::string::npos; i += 2) each->insert(i, 1, '\r');
  }
  CHECK((read_text(text) == read_text(expected)));

  const std::string sumo =
      "\xEF\xBB\xBF" + replaced(replaced(kSumo, "x=\"100\"", "x=\"+100\""), "0,1 99,1", "1e-999,+1 99,1");
  CHECK((traffic::read_sumo_network(sumo, "f.net.xml", 5) == traffic::read_sumo_network(kSumo, "f.net.xml", 5)));
  refuses_text("\x1F\x8B\x08", "f.txt is compressed with gzip: unpack it first");
  refuses_text("traffic \x1b[2J", "f.txt:1:9: expected version 1 of the format, found '\\x1b[2J'");
}

TEST_CASE("numbers in a network of SUMO are read up to their limits, and not beyond") {
  const auto reads = [](const std::string& what, const std::string& by) {
    return traffic::read_sumo_network(replaced(kSumo, what, by), "f.net.xml", 5);
  };
  for (const char* at : {"1e9", "-1e9"}) {
    CHECK(reads("x=\"100\"", std::string("x=\"") + at + "\"").intersections[1].at.x == std::stod(at));
    CHECK(reads("y=\"0.5\"", std::string("y=\"") + at + "\"").intersections[1].at.y == std::stod(at));
    CHECK(reads("99.5,2,7", std::string(at) + "," + at).streets[0].bends[2].x == std::stod(at));
  }
  for (const std::string beyond : {"1000000001", "-1000000001", "inf", "nan"}) {
    refuses_sumo("x=\"100\"", "x=\"" + beyond + "\"",
                 "f.net.xml:13:3: <junction>: expected x to be a number from -1e+09 to 1e+09, found '" + beyond + "'");
    refuses_sumo("y=\"0.5\"", "y=\"" + beyond + "\"",
                 "f.net.xml:13:3: <junction>: expected y to be a number from -1e+09 to 1e+09, found '" + beyond + "'");
    refuses_sumo("99,1 ", "99," + beyond + " ",
                 "f.net.xml:6:5: <lane>: expected shape to be points 'x,y', found '99," + beyond + "'");
    refuses_sumo("99,1 ", beyond + ",1 ",
                 "f.net.xml:6:5: <lane>: expected shape to be points 'x,y', found '" + beyond + ",1'");
  }
  CHECK(reads("length=\"1\"", "length=\"0\"").streets[2].cells == 1);
  CHECK(reads("length=\"1\"", "length=\"7500003\"").streets[2].cells == 1000000);
  refuses_sumo("length=\"1\"", "length=\"7500004\"", "f.net.xml:9:33: <lane>: longer than 1000000 cells of 7.5 m");
  refuses_sumo("length=\"1\"", "length=\"1000000001\"",
               "f.net.xml:9:33: <lane>: expected length to be a number from 0 to 1e+09, found '1000000001'");
  CHECK(reads("speed=\"1\"", "speed=\"0\"").streets[2].limit == 1);
  CHECK(reads("speed=\"1\"", "speed=\"11.24\"").streets[2].limit == 1);
  CHECK(reads("speed=\"1\"", "speed=\"11.26\"").streets[2].limit == 2);
  CHECK(reads("speed=\"1\"", "speed=\"1e9\"").streets[2].limit == 9);
  refuses_sumo("speed=\"1\"", "speed=\"-0.1\"",
               "f.net.xml:9:33: <lane>: expected speed to be a number from 0 to 1e+09, found '-0.1'");
  refuses_sumo("99,1 ", "99,1,2,3 ", "f.net.xml:6:5: <lane>: expected shape to be points 'x,y', found '99,1,2,3'");
}

// A network of SUMO: edges of one lane each from a to b, the last of another length, and exits of the first of them.
std::string star(const std::string& type, int edges, const std::string& length, const std::string& last, int exits) {
  std::string text = "<net><junction id='a' x='0' y='0'/><junction id='b' type='" + type + "' x='1' y='0'/>";
  const auto add = [&text](const std::string& id, const std::string& ends, const std::string& meters) {
    text += "<edge id='" + id + "' " + ends + "><lane speed='9' length='" + meters + "'/></edge>";
  };
  for (int i = 0; i < edges; ++i) {
    add("in" + std::to_string(i), "from='a' to='b'", i + 1 < edges ? length : last);
  }
  for (int i = 0; i < exits; ++i) {
    add("out" + std::to_string(i), "from='b' to='a'", "1");
    text += "<connection from='in0' fromLane='0' to='out" + std::to_string(i) + "' toLane='0' dir='s'/>";
  }
  return text + "</net>";
}

TEST_CASE("as many exits, phases and cells are read from SUMO's networks as there may be, and not one more") {
  const auto read = [](const std::string& text) { return traffic::read_sumo_network(text, "f", 5); };
  const auto error = [&read](const std::string& text) {
    return message_of<NetworkError>([&] { static_cast<void>(read(text)); });
  };
  CHECK(read(star("priority", 1, "1", "1", 8)).streets[0].exits.size() == 8);
  CHECK(error(star("priority", 1, "1", "1", 9)).ends_with("more than 8 connections begin at this lane"));
  CHECK(read(star("traffic_light", 255, "1", "1", 0)).streets[254].phase == 254);
  CHECK(error(star("traffic_light", 256, "1", "1", 0)).ends_with("more than 255 edges end where this one does"));
  CHECK(read(star("priority", 269, "7500000", "3265912.5", 0)).cells() == (std::size_t{1} << 28) - 1);
  CHECK(error(star("priority", 269, "7500000", "3265920", 0)).ends_with("the network has more than 2^28 - 1 cells"));
}

TEST_CASE("numbers in a network in text are read up to their limits, and not beyond") {
  const std::string start = "traffic 1\nintersection 0 0 0\nintersection 1 0 0\n";
  CHECK(read_text("traffic 1\nintersection 1e18 -1e18 1000000").intersections[0].green == 1000000);
  refuses_text("traffic 1\nintersection 0 0 1000001",
               "f.txt:2:18: expected steps of green, or 0 (a whole number from 0 to 1000000), found '1000001'");
  refuses_text("traffic 1\nintersection 0 0 -1",
               "f.txt:2:18: expected steps of green, or 0 (a whole number from 0 to 1000000), found '-1'");
  for (const std::string beyond : {"1.01e18", "-1.01e18", "1e999"}) {
    refuses_text("traffic 1\nintersection " + beyond + " 0 0",
                 "f.txt:2:14: expected a coordinate (a number from -1e+18 to 1e+18), found '" + beyond + "'");
  }
  CHECK((read_text(start + "street 1 0 1 1 0").streets[0] ==
         traffic::Street{.from = 1, .to = 0, .cells = 1, .limit = 1}));
  const traffic::Street most = read_text(start + "street 0 1 1000000 9 254").streets[0];
  CHECK(most.cells == 1000000);
  CHECK(most.limit == 9);
  CHECK(most.phase == 254);
  refuses_text(start + "street 0 1 1000001 9 254",
               "f.txt:4:12: expected how many cells there are (a whole number from 1 to 1000000), found '1000001'");
  refuses_text(start + "street 0 1 5 0 0", "f.txt:4:14: expected the limit (a whole number from 1 to 9), found '0'");
  refuses_text(start + "street 0 1 5 5 -1",
               "f.txt:4:16: expected the phase (a whole number from 0 to 254), found '-1'");
  const std::string street = start + "street 0 1 5 5 0\n";
  CHECK(read_text(street + "producer 0 0\ndestination 0 3").destinations[0].cell == 3);
  refuses_text(street + "producer 0 4",
               "f.txt:5:12: this is on the last cell of its street, which is for the intersection");
  refuses_text(street + "producer 1 0", "f.txt:5:10: there is no street 1 in the lines above");
  std::string many = street;
  for (int i = 0; i < 8; ++i) many += "street 1 0 5 5 0\n";
  for (int i = 1; i <= 8; ++i) many += "turn 0 " + std::to_string(i) + "\n";
  CHECK(read_text(many).streets[0].exits.size() == 8);
  std::string large = start;
  for (int i = 0; i < 268; ++i) large += "street 0 1 1000000 5 0\n";
  CHECK(read_text(large + "street 0 1 435455 5 0").cells() == (std::size_t{1} << 28) - 1);
  refuses_text(large + "street 0 1 435456 5 0", "f.txt:272:12: the network has more than 2^28 - 1 cells");
}

TEST_CASE("the town that comes with the program is read") {
  const Network town = traffic::read_sumo_network(contents_of(TRAFFIC_NETWORK), "town", 5);
  CHECK_NOTHROW(traffic::check_network(town));
  CHECK(town.intersections.size() == 60);
  CHECK(town.streets.size() == 164);
  std::size_t lights = 0;
  for (const traffic::Intersection& intersection : town.intersections) lights += intersection.green > 0;
  CHECK(lights == 37);
  std::size_t dead_ends = 0;
  for (const traffic::Street& street : town.streets) dead_ends += street.exits.empty();
  CHECK(dead_ends == 0);
}

TEST_CASE("what is wrong in a network of SUMO is reported with its place") {
  refuses_sumo("<junction id=\"a\"", "<junction id='a", "f.net.xml:12:17: no XML: Error parsing element attribute");
  refuses_sumo("<net>", "<nets>", "f.net.xml:22:3: no XML: Start-end tags mismatch");
  refuses_sumo("id=\"bc\"", "", "f.net.xml:9:3: <edge>: expected an attribute id");
  refuses_sumo("id=\"bc\"", "id=\"ab\"", "f.net.xml:9:3: <edge>: there is a second edge 'ab'");
  refuses_sumo("to=\"c\"", "to=\"d\"", "f.net.xml:9:3: <edge>: there is no junction 'd'");
  refuses_sumo("id=\"c\" type", "id=\"a\" type", "f.net.xml:15:3: <junction>: there is a second junction 'a'");
  refuses_sumo("x=\"100\"", "x=\"west\"",
               "f.net.xml:13:3: <junction>: expected x to be a number from -1e+09 to 1e+09, found 'west'");
  refuses_sumo("length=\"1\"", "length=\"-1\"",
               "f.net.xml:9:33: <lane>: expected length to be a number from 0 to 1e+09, found '-1'");
  refuses_sumo("length=\"1\"", "length=\"1e8\"", "f.net.xml:9:33: <lane>: longer than 1000000 cells of 7.5 m");
  refuses_sumo("speed=\"13.89\"", "", "f.net.xml:6:5: <lane>: expected an attribute speed");
  refuses_sumo("99,1 ", "99 ", "f.net.xml:6:5: <lane>: expected shape to be points 'x,y', found '99'");
  refuses_sumo("<connection from=\"ab\"", "<connection from=\"xy\"",
               "f.net.xml:16:3: <connection>: there is no edge 'xy'");
  refuses_sumo("fromLane=\"1\"", "fromLane=\"3\"", "f.net.xml:17:3: <connection>: there is no lane '3' on edge 'ab'");
  refuses_sumo("from=\"bc\" to=\"cb\"", "from=\"bc\" to=\"bc\"",
               "f.net.xml:18:3: <connection>: the second edge does not begin where the first one ends");
  CHECK_THROWS_WITH_AS(traffic::read_sumo_network("<net/>", "f.net.xml", 5),
                       "f.net.xml:1:1: there is no lane in this network that cars may use", NetworkError);
  CHECK_THROWS_WITH_AS(traffic::read_sumo_network("<a/>", "f.net.xml", 5),
                       "f.net.xml:1:1: no network of SUMO: there is no element <net>", NetworkError);
  CHECK_THROWS_AS(traffic::read_sumo_network("", "f.net.xml", 5), NetworkError);
}
