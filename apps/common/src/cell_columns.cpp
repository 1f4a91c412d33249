#include <app/cell_columns.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace app {

void add_cells(dynasoar::Columns& table, const std::string& number) {
  table.columns.push_back(dynasoar::make_column("cell", table[number].as<std::int64_t>()));
}

void add_cells(dynasoar::Columns& table, const std::string& pointer, const dynasoar::Columns& cells,
               const std::string& number) {
  const auto ids = cells["id"].as<std::int64_t>();
  const auto numbers = cells[number].as<std::int64_t>();
  std::vector<std::pair<std::int64_t, std::int64_t>> number_of(cells.rows);
  for (std::size_t row = 0; row < cells.rows; ++row) number_of[row] = {ids[row], numbers[row]};
  std::sort(number_of.begin(), number_of.end());
  std::vector<std::int64_t> found = table[pointer].as<std::int64_t>();
  for (std::int64_t& id : found) {
    const auto at = std::lower_bound(number_of.begin(), number_of.end(), std::pair{id, std::int64_t{0}});
    id = at != number_of.end() && at->first == id ? at->second : -1;
  }
  table.columns.push_back(dynasoar::make_column("cell", found));
}

void add_places(dynasoar::Columns& table, std::int64_t width, std::int64_t left, std::int64_t top) {
  if (table.find("place") != nullptr) return;  // placed objects have these columns
  std::vector<std::int64_t> x = table["cell"].as<std::int64_t>();
  std::vector<std::int64_t> y = x;
  for (std::int64_t& cell : x) cell = left + cell % width;
  for (std::int64_t& cell : y) cell = top + cell / width;
  table.columns.push_back(dynasoar::make_column("x", x));
  table.columns.push_back(dynasoar::make_column("y", y));
}

}  // namespace app
