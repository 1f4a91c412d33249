/// @file
/// The text format of networks, which README.md defines.

#include "network_files.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <app/text.h>
#include <fmt/format.h>

namespace traffic {
namespace {

// Coordinates are for the map only; lengths on it must be finite.
constexpr double kLargest = 1e18;

struct Word {
  std::string_view text;  // empty at the end of the line
  std::size_t column;
};

// The words of a file, line by line, with their places for messages.
class Lines {
 public:
  Lines(std::istream& in, std::string name)
      : text_(app::plain_text({std::istreambuf_iterator<char>(in), {}}, name)), rest_(text_), name_(std::move(name)) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  // Goes to the next line that has words. @return false at the end of the file
  bool next_line() {
    while (app::take_line(rest_, line_)) {
      ++number_;
      line_ = line_.substr(0, line_.find('#'));
      end_ = 0;
      if (has_more()) return true;
    }
    ++number_;
    line_ = {};
    end_ = 0;
    return false;
  }

  Word next() {
    const std::size_t begin = std::min(line_.find_first_not_of(kSpaces, end_), line_.size());
    end_ = std::min(line_.find_first_of(kSpaces, begin), line_.size());
    return {line_.substr(begin, end_ - begin), begin + 1};
  }

  bool has_more() const { return line_.find_first_not_of(kSpaces, end_) != std::string_view::npos; }

  [[noreturn]] void fail(const Word& at, const std::string& message) const {
    throw NetworkError(app::at_place(name_, number_, at.column, message));
  }

  [[noreturn]] void expected(const Word& found, const std::string& what) const {
    const std::string thing = found.text.empty() ? "the end of the line" : fmt::format("'{}'", app::shown(found.text));
    fail(found, fmt::format("expected {}, found {}", what, thing));
  }

  std::uint32_t whole_number(const std::string& what, std::uint32_t least, std::uint32_t most) {
    word_ = next();
    const std::optional<std::uint32_t> value = app::number<std::uint32_t>(word_.text);
    if (!value || *value < least || *value > most) {
      expected(word_, fmt::format("{} (a whole number from {} to {})", what, least, most));
    }
    return *value;
  }

  // The number of one of `count` things in the lines above.
  std::uint32_t reference(const std::string& thing, std::size_t count) {
    word_ = next();
    const std::optional<std::uint32_t> value = app::number<std::uint32_t>(word_.text);
    if (!value) expected(word_, fmt::format("the number of the {}", thing));
    if (*value >= count) fail(word_, fmt::format("there is no {} {} in the lines above", thing, *value));
    return *value;
  }

  double coordinate() {
    word_ = next();
    const std::optional<double> value = app::number<double>(word_.text);
    if (!value || !(std::abs(*value) <= kLargest)) {
      expected(word_, fmt::format("a coordinate (a number from -{:g} to {:g})", kLargest, kLargest));
    }
    return *value;
  }

  void end_line() {
    const Word word = next();
    if (!word.text.empty()) expected(word, "the end of the line");
  }

  // The word of the number that was read last.
  const Word& last() const { return word_; }

 private:
  static constexpr std::string_view kSpaces = " \t\v\f";

  std::string text_;
  std::string_view rest_;
  std::string name_;
  std::string_view line_;
  std::size_t end_ = 0;  // of the part of the line that was read
  std::size_t number_ = 0;
  Word word_{"", 1};
};

class TextReader {
 public:
  TextReader(std::istream& in, const std::string& name) : lines_(in, name) {}

  Network read() {
    read_first_line();
    while (lines_.next_line()) {
      read_line(lines_.next());
      lines_.end_line();
    }
    network_.producers.assign(producers_.begin(), producers_.end());
    network_.destinations.assign(destinations_.begin(), destinations_.end());
    return std::move(network_);
  }

 private:
  void read_first_line() {
    const bool has_line = lines_.next_line();
    const Word word = lines_.next();
    if (!has_line) lines_.fail(word, "expected 'traffic 1', found the end of the file");
    if (word.text != "traffic") lines_.expected(word, "'traffic 1', as networks in text begin");
    const Word version = lines_.next();
    if (version.text != "1") lines_.expected(version, "version 1 of the format");
    lines_.end_line();
  }

  void read_line(const Word& keyword) {
    if (keyword.text == "intersection") return read_intersection();
    if (keyword.text == "street") return read_street();
    if (keyword.text == "turn") return read_turn();
    if (keyword.text == "producer") return read_place(producers_);
    if (keyword.text == "destination") return read_place(destinations_);
    lines_.expected(keyword, "intersection, street, turn, producer or destination");
  }

  void read_intersection() {
    Intersection intersection;
    intersection.at = read_point();
    intersection.green = lines_.whole_number("steps of green, or 0", 0, kMostGreen);
    network_.intersections.push_back(intersection);
  }

  void read_street() {
    const std::size_t intersections = network_.intersections.size();
    Street street;
    street.from = lines_.reference("intersection", intersections);
    street.to = lines_.reference("intersection", intersections);
    street.cells = lines_.whole_number("how many cells there are", 1, kMostCells);
    cells_ += street.cells;
    if (cells_ >= kCellLimit) lines_.fail(lines_.last(), "the network has more than 2^28 - 1 cells");
    street.limit = lines_.whole_number("the limit", 1, kMostSpeed);
    street.phase = lines_.whole_number("the phase", 0, kMostPhases - 1);
    while (lines_.has_more()) street.bends.push_back(read_point());
    network_.streets.push_back(std::move(street));
  }

  void read_turn() {
    const std::uint32_t street = lines_.reference("street", network_.streets.size());
    std::vector<std::uint32_t>& exits = network_.streets[street].exits;
    const std::uint32_t exit = lines_.reference("street", network_.streets.size());
    if (const auto problem = problem_of_exit(network_, street, exit)) {
      lines_.fail(lines_.last(), fmt::format("street {} {}", street, *problem));
    }
    if (std::find(exits.begin(), exits.end(), exit) != exits.end()) {
      lines_.fail(lines_.last(), fmt::format("street {} has this exit already", street));
    }
    if (exits.size() == kMostExits) {
      lines_.fail(lines_.last(), fmt::format("street {} has more than {} exits", street, kMostExits));
    }
    exits.push_back(exit);
  }

  void read_place(std::set<Place>& places) {
    const std::uint32_t street = lines_.reference("street", network_.streets.size());
    const Place place{street, lines_.whole_number("the number of the cell", 0, kMostCells)};
    if (const auto problem = problem_of_place(network_, place)) lines_.fail(lines_.last(), "this " + *problem);
    if (producers_.contains(place) || destinations_.contains(place)) {
      lines_.fail(lines_.last(), "this cell is a producer or a destination already");
    }
    places.insert(place);
  }

  Point read_point() {
    const double x = lines_.coordinate();
    return {x, lines_.coordinate()};
  }

  Lines lines_;
  Network network_;
  std::uint64_t cells_ = 0;
  std::set<Place> producers_;
  std::set<Place> destinations_;
};

}  // namespace

Network read_network(std::istream& in, const std::string& name) {
  return TextReader(in, name).read();
}

void write_network(std::ostream& out, const Network& network) {
  fmt::memory_buffer text;
  const auto end = std::back_inserter(text);
  fmt::format_to(end, "traffic 1\n# intersection X Y GREEN\n");
  for (const Intersection& i : network.intersections) {
    fmt::format_to(end, "intersection {} {} {}\n", i.at.x, i.at.y, i.green);
  }
  fmt::format_to(end, "# street FROM TO CELLS LIMIT PHASE [X Y]...\n");
  for (const Street& street : network.streets) {
    fmt::format_to(end, "street {} {} {} {} {}", street.from, street.to, street.cells, street.limit, street.phase);
    for (const Point& bend : street.bends) fmt::format_to(end, " {} {}", bend.x, bend.y);
    fmt::format_to(end, "\n");
  }
  fmt::format_to(end, "# turn STREET STREET\n");
  for (std::size_t s = 0; s < network.streets.size(); ++s) {
    for (const std::uint32_t exit : network.streets[s].exits) fmt::format_to(end, "turn {} {}\n", s, exit);
  }
  fmt::format_to(end, "# producer STREET CELL, destination STREET CELL\n");
  for (const Place& place : network.producers) fmt::format_to(end, "producer {} {}\n", place.street, place.cell);
  for (const Place& place : network.destinations) fmt::format_to(end, "destination {} {}\n", place.street, place.cell);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace traffic
