/// @file
/// describe_objects_at: describes the objects at a place on which the user clicks.
#pragma once

#include <string>
#include <vector>

#include <app/viewport.h>
#include <dynasoar/columns.h>

namespace app {

/// @param objects   with places: `x` and `y`, or `position_.x` and `position_.y`; of cells, their numbers in the world
/// @param x, y      the place: of worlds of cells, all objects of that cell are described; of points, the nearest one
/// @param reach     the greatest distance
/// @return          lines: the object, and then its fields
std::vector<std::string> describe_objects_at(const dynasoar::Columns& objects, const World& world, double x, double y,
                                             double reach);

}  // namespace app
