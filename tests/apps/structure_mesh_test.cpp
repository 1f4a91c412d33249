/// @file
/// Meshes for the model "structure": reading Gmsh's files, good and bad, and making networks of them.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "structure/mesh.h"
#include "structure/network.h"

namespace {

using structure::Kind;
using structure::Mesh;
using structure::Network;

using Edges = std::vector<std::array<std::uint32_t, 2>>;

const std::string kFormat = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";

// Four corners of a square with the tags 10, 20, 30, 40, then a fifth node.
const std::string kNodes =
    "$Nodes\n2 5 10 50\n2 1 0 4\n10\n20\n30\n40\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n1 7 1 1\n50\n0.5 0.5 2.5 "
    "0.25\n$EndNodes\n";

Mesh read(const std::string& text) {
  std::istringstream in(text);
  return structure::read_msh(in, "plate.msh");
}

std::string elements(const std::string& blocks, int count, int elements) {
  return "$Elements\n" + std::to_string(count) + " " + std::to_string(elements) + " 1 99\n" + blocks + "$EndElements\n";
}

void check_refused(const std::string& text, const std::string& message) {
  CHECK_THROWS_WITH_AS(read(text), message.c_str(), structure::MeshError);
}

// `text` with the first `what` replaced.
std::string with(std::string text, const std::string& what, const std::string& replacement) {
  const std::size_t place = text.find(what);
  REQUIRE(place != std::string::npos);
  return text.replace(place, what.size(), replacement);
}

const std::string kTriangles = kFormat + kNodes + elements("2 1 2 2\n1 10 20 30\n2 10 30 40\n", 1, 2);

}  // namespace

TEST_CASE("elements of each type become their edges, each edge once, in the order of the file") {
  const Mesh triangles = read(kTriangles);
  REQUIRE(triangles.points.size() == 4);
  CHECK(triangles.points[2].x == 1);
  CHECK(triangles.points[2].y == 1);
  CHECK(triangles.edges == Edges{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 0}});

  const Mesh quadrangle = read(kFormat + kNodes + elements("2 1 3 1\n1 10 20 30 40\n", 1, 1));
  CHECK(quadrangle.edges == Edges{{0, 1}, {1, 2}, {2, 3}, {3, 0}});

  const Mesh tetrahedron = read(kFormat + kNodes + elements("3 1 4 1\n1 10 20 30 50\n", 1, 1));
  CHECK(tetrahedron.edges == Edges{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}});
  REQUIRE(tetrahedron.points.size() == 4);  // node 40 is left out
  CHECK(tetrahedron.points[3].x == 0.5f);

  const std::string mixed = "0 1 15 1\n1 50\n1 -3 1 3\n2 10 20\n3 20 10\n4 30 30\n2 1 2 1\n5 20 10 40\n";
  CHECK(read(kFormat + kNodes + elements(mixed, 3, 5)).edges == Edges{{0, 1}, {0, 2}, {2, 1}});
}

TEST_CASE("other sections are skipped, whatever is in them, and words may be anywhere on lines") {
  const std::string text =
      with(kTriangles, "$Nodes",
           "$PhysicalNames\n1\n1 5 \"$Nodes\"\n$EndPhysicalNames\n$Entities\n1 0 0 0\n$EndEntities\n$Nodes");
  CHECK(read(text + "$NodeData\nwhatever\n$EndNodeData\n").edges.size() == 5);
  CHECK(read(with(kTriangles, "2 5 10 50\n", "2\r\n5\t10\n\n 50 ")).edges.size() == 5);
}

TEST_CASE("errors name the file, line and column, what was expected and what is there") {
  check_refused("", "plate.msh:1:1: expected $MeshFormat, found the end of the file");
  check_refused("solid cube\n", "plate.msh:1:1: expected $MeshFormat, found 'solid'");
  check_refused(with(kTriangles, "4.1", "2.2"),
                "plate.msh:2:1: expected version 4.1 of the MSH format (gmsh -save -format msh41 converts others), "
                "found '2.2'");
  check_refused(with(kTriangles, "4.1 0", "4.1 1"),
                "plate.msh:2:5: expected 0, for a text file (gmsh -save -format msh41 -bin 0 writes one), found '1'");
  check_refused(with(kTriangles, "$EndMeshFormat", "$EndFormat"),
                "plate.msh:3:1: expected $EndMeshFormat, found '$EndFormat'");
  check_refused(with(kTriangles, "2 5 10 50", "2 five 10 50"),
                "plate.msh:5:3: expected the number of nodes (a whole number), found 'five'");
  check_refused(with(kTriangles, "2 5 10 50", "2 6 10 50"),
                "plate.msh:18:1: the section $Nodes announces 6 nodes, but has 5");
  check_refused(with(kTriangles, "2 5 10 50", "1 5 10 50"), "plate.msh:15:1: expected $EndNodes, found '1'");
  check_refused(with(kTriangles, "20\n30", "20\n-3"),
                "plate.msh:9:1: expected the tag of a node (a whole number), found '-3'");
  check_refused(with(kTriangles, "20\n30", "20\n10"), "plate.msh:9:1: there is a second node 10");
  check_refused(with(kTriangles, "1 1 0\n", "1 1,5 0\n"),
                "plate.msh:13:3: expected the y coordinate of a node (a number from -1e+18 to 1e+18), found '1,5'");
  for (const std::string bad : {"nan", "inf", "1e30", "-1e30", "0x1"}) {
    check_refused(
        with(kTriangles, "1 1 0\n", "1 1 " + bad + "\n"),
        "plate.msh:13:5: expected the z coordinate of a node (a number from -1e+18 to 1e+18), found '" + bad + "'");
  }
}

TEST_CASE("errors in elements and sections are found") {
  const std::string start = kFormat + kNodes;
  check_refused(
      start + elements("3 1 5 1\n1 10 20 30 40 10 20 30 40\n", 1, 1),
      "plate.msh:21:5: expected an element type of 1 (line), 2 (triangle), 3 (quadrangle), 4 (tetrahedron) or "
      "15 (point), found '5'");
  check_refused(with(kTriangles, "1 10 20 30", "1 10 25 30"),
                "plate.msh:22:6: expected the tag of a node of the section $Nodes, found '25'");
  check_refused(start + elements("2 1 2 2\n1 10 20 30\n", 1, 2),
                "plate.msh:23:1: expected the tag of an element (a whole number), found '$EndElements'");
  check_refused(start + elements("2 1 2 1\n1 10 20 30\n", 1, 2),
                "plate.msh:23:1: the section $Elements announces 2 elements, but has 1");
  check_refused(start + "$Elements\n",
                "plate.msh:20:1: expected the number of blocks of elements (a whole number), found "
                "the end of the file");
  check_refused(start, "plate.msh:19:1: expected $Elements, found the end of the file");
  check_refused(kFormat, "plate.msh:4:1: expected $Nodes, found the end of the file");
  check_refused(kFormat + elements("", 0, 0), "plate.msh:4:1: the section $Elements must follow $Nodes");
  check_refused(start + kNodes, "plate.msh:19:1: there is a second section $Nodes");
  check_refused(kTriangles + elements("", 0, 0), "plate.msh:25:1: there is a second section $Elements");
  check_refused(start + elements("0 1 15 1\n1 10\n", 1, 1),
                "plate.msh:24:1: expected at least one line, triangle, quadrangle or tetrahedron among the elements, "
                "found the end of the file");
  check_refused(kFormat + "$Entities\n1 2 3\n", "plate.msh:6:1: expected $EndEntities, found the end of the file");
  check_refused(kFormat + "$Entities\n1 2 3", "plate.msh:5:6: expected $EndEntities, found the end of the file");
  check_refused(kTriangles + "what\n", "plate.msh:25:1: expected a section such as $Nodes, found 'what'");
  CHECK_THROWS_WITH_AS(structure::read_msh_file("no such file.msh"),
                       "cannot read no such file.msh: No such file or directory", app::UsageError);
}

TEST_CASE("meshes are read with a byte order mark, other line ends, signs and tiny numbers") {
  std::string text = with(with(kTriangles, "1 1 0\n", "+1 1 1e-999\n"), "2 5 10 50", "+2 5 10 50");
  CHECK(read("\xEF\xBB\xBF" + text).points[2].x == 1);
  for (std::size_t i = 0; (i = text.find('\n', i)) != std::string::npos; i += 2) text.insert(i, 1, '\r');
  CHECK(read(text).edges == read(kTriangles).edges);
  check_refused(with(kTriangles, "4.1", "4\x1b[2J"),
                "plate.msh:2:1: expected version 4.1 of the MSH format (gmsh -save -format msh41 converts others), "
                "found '4\\x1b[2J'");
  CHECK_THROWS_WITH_AS(read("\x28\xB5\x2F\xFD"), "plate.msh is compressed with zstd: unpack it first", app::UsageError);
}

TEST_CASE("numbers in a mesh are read up to their limits, and not beyond") {
  const Mesh far = read(with(kTriangles, "1 1 0\n", "1e18 -1e18 1e18\n"));
  CHECK(far.points[2].x == 1e18f);
  CHECK(far.points[2].y == -1e18f);
  for (const std::string beyond : {"1.01e18", "-1.01e18", "1e999"}) {
    const std::string expected = " coordinate of a node (a number from -1e+18 to 1e+18), found '" + beyond + "'";
    check_refused(with(kTriangles, "1 1 0\n", beyond + " 1 0\n"), "plate.msh:13:1: expected the x" + expected);
    check_refused(with(kTriangles, "1 1 0\n", "1 " + beyond + " 0\n"), "plate.msh:13:3: expected the y" + expected);
    check_refused(with(kTriangles, "1 1 0\n", "1 1 " + beyond + "\n"), "plate.msh:13:5: expected the z" + expected);
  }
  // Tags and numbers have 64 bits.
  CHECK(read(with(kTriangles, "2 5 10 50", "2 5 0 18446744073709551615")).points.size() == 4);
  check_refused(with(kTriangles, "2 5 10 50", "2 5 0 18446744073709551616"),
                "plate.msh:5:7: expected the largest tag of a node (a whole number), found '18446744073709551616'");
  check_refused(with(kTriangles, "2 5 10 50", "2 5 -1 50"),
                "plate.msh:5:5: expected the smallest tag of a node (a whole number), found '-1'");
  // Entities' tags may be negative; the element types next to those that are known are not.
  CHECK(read(with(kTriangles, "2 1 0 4", "2 -9223372036854775808 0 4")).points.size() == 4);
  for (const std::string type : {"0", "5", "14", "16", "-1"}) {
    check_refused(with(kTriangles, "2 1 2 2\n", "2 1 " + type + " 2\n"),
                  "plate.msh:21:5: expected an element type of 1 (line), 2 (triangle), 3 (quadrangle), 4 (tetrahedron) "
                  "or 15 (point), found '" +
                      type + "'");
  }
}

TEST_CASE("parametric nodes have as many parameters as their entity has dimensions") {
  const std::string parameters[] = {"", " 0.25", " 0.25 -0.5", " 0.25 -0.5 1e18"};
  for (std::size_t dimension = 0; dimension < 4; ++dimension) {
    CAPTURE(dimension);
    const auto mesh = [&](const std::string& more) {
      return with(with(kTriangles, "1 7 1 1\n", std::to_string(dimension) + " 7 1 1\n"), " 0.25\n", more + "\n");
    };
    CHECK(read(mesh(parameters[dimension])).edges.size() == 5);
    CHECK_THROWS_AS(read(mesh(parameters[dimension] + " 0")), structure::MeshError);
    if (dimension > 0) CHECK_THROWS_AS(read(mesh(parameters[dimension - 1])), structure::MeshError);
  }
}

TEST_CASE("a truncated file is refused, wherever it ends") {
  const std::string text = kTriangles.substr(0, kTriangles.rfind("$EndElements") + 11);
  for (std::size_t length = 0; length < text.size(); ++length) {
    CAPTURE(length);
    CHECK_THROWS_AS(read(text.substr(0, length)), structure::MeshError);
  }
}

TEST_CASE("a mesh's ends become anchors, its edges slack springs") {
  const Mesh mesh = structure::read_msh_file(STRUCTURE_MESH);  // made by Gmsh 4.8.4 from plate.geo
  CHECK(mesh.points.size() == 990);                            // 991, of which the centre of the hole is on no edge
  const Network network =
      structure::mesh_network(mesh, {.anchor_left = 0.05, .pull_right = 0.1, .pull_speed = 0.25, .seed = 42});
  REQUIRE(network.nodes.size() == 990);
  CHECK(network.springs.size() == 990 + 1834);  // Euler: points and triangles of a plate with one hole
  for (const structure::NodeState& node : network.nodes) {
    const float x = node.position.x;
    CHECK(node.kind == (x <= 1.2f * 0.05f ? Kind::anchor : x >= 1.2f * 0.9f ? Kind::pulled : Kind::free));
    CHECK((node.velocity == structure::Vector{node.kind == Kind::pulled ? 0.25f : 0, 0}));
  }
  for (const structure::SpringState& spring : network.springs) {
    CHECK((spring.factor >= 3 && spring.factor <= 5));
    CHECK((spring.rest_length > 0.01f && spring.rest_length < 0.06f));
  }
  const auto simulation = structure::make_springs({}, network);
  simulation->step();
  const auto exists = [](const structure::SpringState& spring) { return spring.exists; };
  CHECK(std::ranges::count_if(simulation->network().springs, exists) == 2824);
  CHECK(simulation->network().nodes != network.nodes);  // the pulled ones have moved
}

TEST_CASE("at both ends at once, a node is an anchor") {
  Mesh mesh;
  mesh.points = {{2, 0}, {2, 1}};
  mesh.edges = {{0, 1}};
  const Network network = structure::mesh_network(mesh, {.anchor_left = 0, .pull_right = 0});
  CHECK(network.nodes[0].kind == Kind::anchor);
  CHECK(network.nodes[1].kind == Kind::anchor);
  CHECK(structure::mesh_network({}, {}).nodes.empty());
}
