/// @file
/// Mesh: nodes and edges of a finite-element mesh, read from a file of Gmsh. Used to make networks; plain C++.
#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include <dynasoar/program/options.h>

namespace structure {

/// The relevant parts of a mesh: points of the plane, and the pairs of points that an element's edge joins.
struct Mesh {
  struct Point {
    float x;
    float y;
  };
  std::vector<Point> points;
  std::vector<std::array<std::uint32_t, 2>> edges;  ///< indices of points; no edge twice, none from a point to itself
};

/// A mesh that cannot be read. The message is one line: "plate.msh:12:5: expected ..., found ...".
class MeshError : public dynasoar::program::UsageError {
 public:
  using UsageError::UsageError;
};

/// Reads Gmsh's MSH format, version 4.1, as text. Elements are lines, triangles, quadrangles and tetrahedra of first
/// order; points are ignored, and others are errors. Nodes without an edge are left out, and z coordinates are ignored.
///
/// @param name   of the file, for messages
/// @throws MeshError if it is not such a file; UsageError if it is not text
Mesh read_msh(std::istream& in, const std::string& name);

/// @throws UsageError if the file cannot be read, or as above
Mesh read_msh_file(const std::string& path);

}  // namespace structure
