// A strip with a hole; the mesh that the tests and README.md use:
//   gmsh -2 -format msh41 plate.geo -o plate.msh
SetFactory("Built-in");
size = 0.028;
Point(1) = {0, 0, 0, size};
Point(2) = {1.2, 0, 0, size};
Point(3) = {1.2, 0.5, 0, size};
Point(4) = {0, 0.5, 0, size};
// The hole.
Point(5) = {0.6, 0.25, 0, size};
Point(6) = {0.7, 0.25, 0, size};
Point(7) = {0.6, 0.35, 0, size};
Point(8) = {0.5, 0.25, 0, size};
Point(9) = {0.6, 0.15, 0, size};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Circle(5) = {6, 5, 7};
Circle(6) = {7, 5, 8};
Circle(7) = {8, 5, 9};
Circle(8) = {9, 5, 6};
Curve Loop(1) = {1, 2, 3, 4};
Curve Loop(2) = {5, 6, 7, 8};
Plane Surface(1) = {1, 2};
