/// @file
/// Columns of several ranks: numbers of places that are the same on all ranks, and tables that are joined. Used by
/// DistributedHandle; compiled once for all programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <dynasoar/base/view.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/columns.h>
#include <dynasoar/detail/placed_classes.h>

namespace dynasoar::detail {

/// Replaces the slots of places on this rank by the slots of the same places on a lattice that is not divided: in the
/// column `id`, and in fields that are Places.
///
/// @param types   the classes of the rows, in the order of the labels of the column `class`
void number_as_whole(Columns& table, View<std::size_t> types, const ClassTable& classes, const PlacedClasses& placed);

/// All that ranks must agree on for their tables to be joined.
std::string text_of_columns(const Columns& table);

/// The numbers of all columns. @throws Error if a column does not have as many rows as the table
std::vector<char> bytes_of_rows(const Columns& table);

/// A table with the columns of `like` and the rows of all ranks. Rows are in the order of classes, if there are
/// several, and then of ranks.
Columns joined(const Columns& like, const std::vector<std::vector<char>>& rows_of_ranks);

}  // namespace dynasoar::detail
