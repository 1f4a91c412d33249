#include "summary.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace dynasoar::program {
namespace {

// The number of characters in UTF-8 text.
std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

}  // namespace

void Summary::section(std::vector<std::string> cells) {
  if (!rows_.empty()) rows_.emplace_back();
  rows_.push_back(std::move(cells));
}

void Summary::row(std::vector<std::string> cells) {
  cells.front() = "  " + cells.front();
  rows_.push_back(std::move(cells));
}

std::string Summary::text() const {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& cells : rows_) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], characters(cells[i]));
  }
  std::string lines;
  for (const std::vector<std::string>& cells : rows_) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - characters(cells[i]), ' ');
      line += i == 0 ? cells[i] + padding : "  " + padding + cells[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines += line + '\n';
  }
  return lines;
}

}  // namespace dynasoar::program
