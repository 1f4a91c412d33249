/// @file
/// A table of every kind of column, for tests of columns and of files of them.
#pragma once

#include <cstdint>
#include <limits>

#include <dynasoar/columns.h>

namespace columns_test {

using dynasoar::Columns;

inline Columns small_table() {
  Columns table{"Thing", 3, {}};
  table.columns.push_back(dynasoar::make_column<std::uint64_t>("big", {0, 1, ~std::uint64_t{0}}));
  table.columns.push_back(dynasoar::make_column<float>("a,b", {0.1f, -1e30f, std::numeric_limits<float>::infinity()}));
  table.columns.push_back(dynasoar::make_column<std::int8_t>("small", {-128, 0, 127}));
  table.columns.push_back(dynasoar::make_column<std::uint8_t>("class", {1, 0, 1}));
  table.columns.back().labels = {"Fish", "Sh\"ark"};
  table.columns.push_back(dynasoar::make_column<double>("pair", {1, 2, 3, 4, 5, 0.1}));
  table.columns.back().components = 2;
  return table;
}

}  // namespace columns_test
