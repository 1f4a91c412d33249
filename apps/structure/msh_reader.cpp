#include "mesh.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <app/text.h>
#include <fmt/format.h>

namespace structure {
namespace {

constexpr std::uint32_t kUnused = 0xFFFFFFFF;

using Edge = std::array<std::uint32_t, 2>;

// A kind of element: its number of nodes and which of them its edges join.
struct ElementType {
  std::size_t nodes;
  std::vector<Edge> edges;
};

// Nothing for types that are not supported.
std::optional<ElementType> element_type(std::uint64_t number) {
  switch (number) {
    case 1: return ElementType{2, {{0, 1}}};
    case 2: return ElementType{3, {{0, 1}, {1, 2}, {2, 0}}};
    case 3: return ElementType{4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
    case 4: return ElementType{4, {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
    case 15: return ElementType{1, {}};
    default: return std::nullopt;
  }
}

struct Word {
  std::string_view text;  // empty at the end of the file
  std::size_t line;
  std::size_t column;
};

// The words of a file, with their places for messages.
class Words {
 public:
  /// @param text   as plain_text() leaves it; it must outlive the words
  Words(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  // The next word, or none at the end of the text.
  Word next() {
    constexpr std::string_view kSpaces = " \t\v\f";
    for (;; skip_line_end()) {
      at_ = std::min(text_.find_first_not_of(kSpaces, at_), text_.size());
      if (at_ == text_.size() || text_[at_] != '\n') break;
    }
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\v\f\n", begin), text_.size());
    return {text_.substr(begin, at_ - begin), line_, begin - line_begin_ + 1};
  }

  // Skips the rest of the line.
  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  [[noreturn]] void fail(const Word& at, const std::string& message) const {
    throw MeshError(app::at_place(name_, at.line, at.column, message));
  }

  [[noreturn]] void expected(const Word& found, const std::string& what) const {
    const std::string thing = found.text.empty() ? "the end of the file" : fmt::format("'{}'", app::shown(found.text));
    fail(found, fmt::format("expected {}, found {}", what, thing));
  }

  void require(const std::string& keyword) {
    const Word word = next();
    if (word.text != keyword) expected(word, keyword);
  }

  std::uint64_t whole_number(const std::string& what) {
    const Word word = next();
    const std::optional<std::uint64_t> value = app::number<std::uint64_t>(word.text);
    if (!value) expected(word, what + " (a whole number)");
    return *value;
  }

  // Dimensions, tags and other numbers that are ignored, and may be negative.
  void ignore_whole_number(const std::string& what) {
    const Word word = next();
    if (!app::number<std::int64_t>(word.text)) expected(word, what + " (a whole number)");
  }

  float coordinate(const std::string& what) {
    const Word word = next();
    const std::optional<double> value = app::number<double>(word.text);
    if (!value || !(std::abs(*value) <= kLargest)) {
      expected(word, fmt::format("{} (a number from -{:g} to {:g})", what, kLargest, kLargest));
    }
    return static_cast<float>(*value);
  }

 private:
  // Squares of distances must be finite.
  static constexpr double kLargest = 1e18;

  void skip_line_end() {
    ++at_;
    ++line_;
    line_begin_ = at_;
  }

  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_begin_ = 0;
};

class MshReader {
 public:
  MshReader(std::string_view text, const std::string& name) : words_(text, name) {}

  Mesh read() {
    read_format();
    bool has_elements = false;
    for (Word word = words_.next(); !word.text.empty(); word = words_.next()) {
      if (word.text == "$Nodes") {
        if (has_nodes_) words_.fail(word, "there is a second section $Nodes");
        read_nodes();
      } else if (word.text == "$Elements") {
        if (!has_nodes_) words_.fail(word, "the section $Elements must follow $Nodes");
        if (has_elements) words_.fail(word, "there is a second section $Elements");
        read_elements();
        has_elements = true;
      } else {
        skip_section(word);
      }
    }
    if (!has_elements) words_.expected(words_.next(), has_nodes_ ? "$Elements" : "$Nodes");
    if (mesh_.edges.empty()) {
      words_.expected(words_.next(), "at least one line, triangle, quadrangle or tetrahedron among the elements");
    }
    leave_out_unused_points();
    return std::move(mesh_);
  }

 private:
  void read_format() {
    words_.require("$MeshFormat");
    const Word version = words_.next();
    if (version.text != "4.1") {
      words_.expected(version, "version 4.1 of the MSH format (gmsh -save -format msh41 converts others)");
    }
    const Word type = words_.next();
    if (type.text != "0") words_.expected(type, "0, for a text file (gmsh -save -format msh41 -bin 0 writes one)");
    words_.ignore_whole_number("the size of a number");
    words_.require("$EndMeshFormat");
  }

  // Skips entities, physical names, data and comments, up to the line that ends the section.
  void skip_section(const Word& begin) {
    if (begin.text.size() < 2 || begin.text.front() != '$' || begin.text.starts_with("$End")) {
      words_.expected(begin, "a section such as $Nodes");
    }
    const std::string end = "$End" + std::string(begin.text.substr(1));
    for (;;) {
      words_.skip_line();
      const Word word = words_.next();
      if (word.text == end) return;
      if (word.text.empty()) words_.expected(word, end);
    }
  }

  void read_nodes() {
    has_nodes_ = true;
    const std::uint64_t blocks = words_.whole_number("the number of blocks of nodes");
    const std::uint64_t nodes = words_.whole_number("the number of nodes");
    words_.whole_number("the smallest tag of a node");
    words_.whole_number("the largest tag of a node");
    for (std::uint64_t block = 0; block < blocks; ++block) read_node_block();
    const Word end = words_.next();
    if (end.text != "$EndNodes") words_.expected(end, "$EndNodes");
    if (mesh_.points.size() != nodes) {
      words_.fail(end, fmt::format("the section $Nodes announces {} nodes, but has {}", nodes, mesh_.points.size()));
    }
  }

  void read_node_block() {
    const std::uint64_t dimension = words_.whole_number("the dimension of an entity");
    words_.ignore_whole_number("the tag of an entity");
    const bool is_parametric = words_.whole_number("0 or 1, for parametric nodes") != 0;
    const std::uint64_t count = words_.whole_number("the number of nodes in the block");
    for (std::uint64_t i = 0; i < count; ++i) read_node_tag();
    for (std::uint64_t i = 0; i < count; ++i) {
      Mesh::Point point{};
      point.x = words_.coordinate("the x coordinate of a node");
      point.y = words_.coordinate("the y coordinate of a node");
      words_.coordinate("the z coordinate of a node");
      for (std::uint64_t u = 0; is_parametric && u < dimension; ++u) words_.coordinate("a node's place on its entity");
      mesh_.points.push_back(point);
    }
  }

  void read_node_tag() {
    const Word word = words_.next();
    const std::optional<std::uint64_t> tag = app::number<std::uint64_t>(word.text);
    if (!tag) words_.expected(word, "the tag of a node (a whole number)");
    const auto index = static_cast<std::uint32_t>(index_of_tag_.size());
    if (index == kUnused) words_.fail(word, "there are more than 2^32 - 1 nodes");
    if (!index_of_tag_.emplace(*tag, index).second) words_.fail(word, fmt::format("there is a second node {}", *tag));
  }

  void read_elements() {
    const std::uint64_t blocks = words_.whole_number("the number of blocks of elements");
    const std::uint64_t elements = words_.whole_number("the number of elements");
    words_.whole_number("the smallest tag of an element");
    words_.whole_number("the largest tag of an element");
    std::uint64_t found = 0;
    for (std::uint64_t block = 0; block < blocks; ++block) found += read_element_block();
    const Word end = words_.next();
    if (end.text != "$EndElements") words_.expected(end, "$EndElements");
    if (found != elements) {
      words_.fail(end, fmt::format("the section $Elements announces {} elements, but has {}", elements, found));
    }
  }

  // @return the number of elements
  std::uint64_t read_element_block() {
    words_.whole_number("the dimension of an entity");
    words_.ignore_whole_number("the tag of an entity");
    const Word word = words_.next();
    const std::optional<ElementType> type = element_type(app::number<std::uint64_t>(word.text).value_or(0));
    if (!type) {
      words_.expected(word, "an element type of 1 (line), 2 (triangle), 3 (quadrangle), 4 (tetrahedron) or 15 (point)");
    }
    const std::uint64_t count = words_.whole_number("the number of elements in the block");
    std::vector<std::uint32_t> nodes(type->nodes);
    for (std::uint64_t i = 0; i < count; ++i) {
      words_.whole_number("the tag of an element");
      for (std::uint32_t& node : nodes) node = node_with_tag();
      for (const auto& [a, b] : type->edges) add_edge(nodes[a], nodes[b]);
    }
    return count;
  }

  std::uint32_t node_with_tag() {
    const Word word = words_.next();
    const std::optional<std::uint64_t> tag = app::number<std::uint64_t>(word.text);
    const auto entry = tag ? index_of_tag_.find(*tag) : index_of_tag_.end();
    if (entry == index_of_tag_.end()) words_.expected(word, "the tag of a node of the section $Nodes");
    return entry->second;
  }

  // Elements share edges; each becomes one.
  void add_edge(std::uint32_t a, std::uint32_t b) {
    if (a == b) return;
    const std::uint64_t key = static_cast<std::uint64_t>(std::min(a, b)) << 32 | std::max(a, b);
    if (known_edges_.insert(key).second) mesh_.edges.push_back({a, b});
  }

  void leave_out_unused_points() {
    std::vector<std::uint32_t> places(mesh_.points.size(), kUnused);
    for (const Edge& edge : mesh_.edges) places[edge[0]] = places[edge[1]] = 0;
    std::vector<Mesh::Point> used;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] == kUnused) continue;
      places[i] = static_cast<std::uint32_t>(used.size());
      used.push_back(mesh_.points[i]);
    }
    mesh_.points = std::move(used);
    for (Edge& edge : mesh_.edges) edge = {places[edge[0]], places[edge[1]]};
  }

  Words words_;
  Mesh mesh_;
  bool has_nodes_ = false;
  std::unordered_map<std::uint64_t, std::uint32_t> index_of_tag_;
  std::unordered_set<std::uint64_t> known_edges_;
};

}  // namespace

Mesh read_msh(std::istream& in, const std::string& name) {
  const std::string text = app::plain_text({std::istreambuf_iterator<char>(in), {}}, name);
  return MshReader(text, name).read();
}

Mesh read_msh_file(const std::string& path) {
  const std::string text = app::read_text(path);
  return MshReader(text, path).read();
}

}  // namespace structure
