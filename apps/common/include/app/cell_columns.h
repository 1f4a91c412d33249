/// @file
/// Columns for cells: their numbers and places. Used by models with objects on a grid.
#pragma once

#include <cstdint>
#include <string>

#include <dynasoar/columns.h>

namespace app {

/// Adds the column `cell`. @param number   name of the column with the cells' numbers
void add_cells(dynasoar::Columns& table, const std::string& number);

/// The same for objects that have pointers to their cells, which are objects, too.
///
/// @param pointer   name of the column with these
/// @param cells     columns of all cells
/// @param number    name of the column with their numbers
void add_cells(dynasoar::Columns& table, const std::string& pointer, const dynasoar::Columns& cells,
               const std::string& number);

/// Adds the columns `x` and `y` of cells that are numbered row by row. Objects that are placed on a lattice have them.
///
/// @param width       cells in a row
/// @param left, top   of cell 0
void add_places(dynasoar::Columns& table, std::int64_t width, std::int64_t left = 0, std::int64_t top = 0);

}  // namespace app
