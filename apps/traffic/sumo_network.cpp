/// @file
/// Networks of SUMO (Simulation of Urban MObility), as its tools netconvert and netgenerate write them. README.md
/// defines the conversion.

#include "network_files.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <app/text.h>
#include <fmt/format.h>
#include <pugixml.hpp>

namespace traffic {
namespace {

// A cell is as long as the room of a car in a jam, and a step is a second, as in the paper by Nagel and Schreckenberg.
constexpr double kMetersPerCell = 7.5;
constexpr double kLargest = 1e9;

// The parts of `text` between `separator`s, without empty ones.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

class SumoReader {
 public:
  SumoReader(const std::string& text, std::string name, std::uint32_t green)
      : text_(app::plain_text(text, name)), name_(std::move(name)), green_(green) {}

  Network read() {
    const pugi::xml_parse_result result = document_.load_buffer(text_.data(), text_.size());
    if (!result) fail_at(static_cast<std::size_t>(result.offset), fmt::format("no XML: {}", result.description()));
    const pugi::xml_node net = document_.child("net");
    if (!net) fail_at(0, "no network of SUMO: there is no element <net>");
    for (const pugi::xml_node junction : net.children("junction")) add_junction(junction);
    for (const pugi::xml_node edge : net.children("edge")) add_edge(edge);
    if (network_.streets.empty()) fail_at(0, "there is no lane in this network that cars may use");
    add_connections(net);
    return std::move(network_);
  }

 private:
  // The streets of an edge, by lane. Lanes that cars may not use have no street.
  using Lanes = std::vector<std::optional<std::uint32_t>>;

  [[noreturn]] void fail_at(std::size_t offset, const std::string& message) const {
    const std::string_view before = std::string_view(text_).substr(0, offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    throw NetworkError(app::at_place(name_, static_cast<std::size_t>(line), before.size() - begin + 1, message));
  }

  [[noreturn]] void fail(const pugi::xml_node& at, const std::string& message) const {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(at.offset_debug(), 1));
    fail_at(offset - 1, fmt::format("<{}>: {}", at.name(), message));
  }

  std::string attribute(const pugi::xml_node& node, const char* name) const {
    const pugi::xml_attribute found = node.attribute(name);
    if (!found) fail(node, fmt::format("expected an attribute {}", name));
    return found.value();
  }

  double real(const pugi::xml_node& node, const char* name, double least) const {
    const std::string text = attribute(node, name);
    const std::optional<double> value = app::number<double>(text);
    if (!value || !(*value >= least) || !(*value <= kLargest)) {
      fail(node, fmt::format("expected {} to be a number from {:g} to {:g}, found '{}'", name, least, kLargest,
                             app::shown(text)));
    }
    return *value;
  }

  void add_junction(const pugi::xml_node& node) {
    const std::string type = node.attribute("type").value();
    if (type == "internal") return;
    const auto number = static_cast<std::uint32_t>(network_.intersections.size());
    const std::string id = attribute(node, "id");
    if (!junctions_.emplace(id, number).second)
      fail(node, fmt::format("there is a second junction '{}'", app::shown(id)));
    Intersection intersection;
    intersection.at = {real(node, "x", -kLargest), real(node, "y", -kLargest)};
    intersection.green = type.starts_with("traffic_light") ? green_ : 0;
    network_.intersections.push_back(intersection);
    phases_.push_back(0);
  }

  // Edges with a function are not streets, but connections within junctions, ways for pedestrians and the like.
  static bool is_street(const pugi::xml_node& edge) {
    const std::string_view function = edge.attribute("function").value();
    return function.empty() || function == "normal";
  }

  void add_edge(const pugi::xml_node& edge) {
    const std::string id = attribute(edge, "id");
    const auto [lanes, is_new] = edges_.try_emplace(id);
    if (!is_new) fail(edge, fmt::format("there is a second edge '{}'", app::shown(id)));
    if (!is_street(edge)) return;
    const std::uint32_t from = junction(edge, "from");
    const std::uint32_t to = junction(edge, "to");
    bool has_street = false;
    for (const pugi::xml_node lane : edge.children("lane")) {
      lanes->second.emplace_back();
      if (!is_for_cars(lane)) continue;
      if (phases_[to] >= kMostPhases)
        fail(edge, fmt::format("more than {} edges end where this one does", kMostPhases));
      lanes->second.back() = static_cast<std::uint32_t>(network_.streets.size());
      add_lane(lane, from, to);
      has_street = true;
    }
    if (has_street && network_.intersections[to].green > 0) ++phases_[to];
  }

  std::uint32_t junction(const pugi::xml_node& edge, const char* end) const {
    const std::string id = attribute(edge, end);
    const auto found = junctions_.find(id);
    if (found == junctions_.end()) fail(edge, fmt::format("there is no junction '{}'", app::shown(id)));
    return found->second;
  }

  static bool is_for_cars(const pugi::xml_node& lane) {
    const auto mentions_cars = [&lane](const char* list) {
      const std::vector<std::string_view> classes = split(lane.attribute(list).value(), ' ');
      return std::any_of(classes.begin(), classes.end(),
                         [](std::string_view name) { return name == "passenger" || name == "all"; });
    };
    if (mentions_cars("disallow")) return false;
    return !lane.attribute("allow") || mentions_cars("allow");
  }

  void add_lane(const pugi::xml_node& lane, std::uint32_t from, std::uint32_t to) {
    const double cells = std::max(1.0, std::round(real(lane, "length", 0) / kMetersPerCell));
    if (cells > kMostCells) fail(lane, fmt::format("longer than {} cells of {} m", kMostCells, kMetersPerCell));
    cells_ += static_cast<std::uint64_t>(cells);
    if (cells_ >= kCellLimit) fail(lane, "the network has more than 2^28 - 1 cells");
    const double limit = std::round(real(lane, "speed", 0) / kMetersPerCell);
    Street street;
    street.from = from;
    street.to = to;
    street.cells = static_cast<std::uint32_t>(cells);
    street.limit = static_cast<std::uint32_t>(std::clamp(limit, 1.0, double{kMostSpeed}));
    street.phase = phases_[to];
    for (const std::string_view point : split(lane.attribute("shape").value(), ' ')) {
      street.bends.push_back(point_of(lane, point));
    }
    network_.streets.push_back(std::move(street));
  }

  // "x,y" or "x,y,z"
  Point point_of(const pugi::xml_node& lane, std::string_view text) const {
    const std::vector<std::string_view> parts = split(text, ',');
    if (parts.size() == 2 || parts.size() == 3) {
      const std::optional<double> x = app::number<double>(parts[0]);
      const std::optional<double> y = app::number<double>(parts[1]);
      if (x && y && std::abs(*x) <= kLargest && std::abs(*y) <= kLargest) return {*x, *y};
    }
    fail(lane, fmt::format("expected shape to be points 'x,y', found '{}'", app::shown(text)));
  }

  // U-turns are exits only if there is no other exit.
  void add_connections(const pugi::xml_node& net) {
    for (const bool turns_round : {false, true}) {
      std::vector<bool> has_exits;
      for (const Street& street : network_.streets) has_exits.push_back(!street.exits.empty());
      for (const pugi::xml_node connection : net.children("connection")) {
        if ((std::string_view(connection.attribute("dir").value()) == "t") != turns_round) continue;
        const std::optional<std::uint32_t> from = street(connection, "from", "fromLane");
        const std::optional<std::uint32_t> to = street(connection, "to", "toLane");
        if (!from || !to || (turns_round && has_exits[*from])) continue;
        add_exit(connection, *from, *to);
      }
    }
  }

  // The street at one end of a connection; nothing if cars may not use it.
  std::optional<std::uint32_t> street(const pugi::xml_node& connection, const char* edge, const char* lane) const {
    const std::string id = attribute(connection, edge);
    const auto found = edges_.find(id);
    if (found == edges_.end()) fail(connection, fmt::format("there is no edge '{}'", app::shown(id)));
    if (found->second.empty()) return std::nullopt;
    const std::string index = attribute(connection, lane);
    const std::optional<std::size_t> place = app::number<std::size_t>(index);
    if (!place || *place >= found->second.size()) {
      fail(connection, fmt::format("there is no lane '{}' on edge '{}'", app::shown(index), app::shown(id)));
    }
    return found->second[*place];
  }

  void add_exit(const pugi::xml_node& connection, std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t>& exits = network_.streets[from].exits;
    if (network_.streets[to].from != network_.streets[from].to) {
      fail(connection, "the second edge does not begin where the first one ends");
    }
    if (std::find(exits.begin(), exits.end(), to) != exits.end()) return;
    if (exits.size() == kMostExits) {
      fail(connection, fmt::format("more than {} connections begin at this lane", kMostExits));
    }
    exits.push_back(to);
  }

  std::string text_;
  std::string name_;
  std::uint32_t green_;
  pugi::xml_document document_;
  Network network_;
  std::uint64_t cells_ = 0;
  std::unordered_map<std::string, std::uint32_t> junctions_;  // numbers by SUMO's names
  std::vector<std::uint32_t> phases_;                         // [intersections] of the lights, so far
  std::unordered_map<std::string, Lanes> edges_;
};

}  // namespace

Network read_sumo_network(const std::string& text, const std::string& name, std::uint32_t green) {
  return SumoReader(text, name, green).read();
}

}  // namespace traffic
