#include "box.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace life {

std::optional<Box> bounding_box(const Frame& frame) {
  Box box{frame.width, frame.height, -1, -1};
  const auto is_occupied = [](std::uint16_t state) { return state != 0; };
  auto row = frame.states.begin();
  for (int y = 0; y < frame.height; ++y, row += frame.width) {
    const auto end = row + frame.width;
    const auto first = std::find_if(row, end, is_occupied);
    if (first == end) continue;
    const auto last = std::find_if(std::make_reverse_iterator(end), std::make_reverse_iterator(row), is_occupied);
    box.left = std::min(box.left, static_cast<int>(first - row));
    box.right = std::max(box.right, static_cast<int>(last.base() - row) - 1);
    box.top = std::min(box.top, y);
    box.bottom = y;
  }
  if (box.bottom < 0) return std::nullopt;
  return box;
}

std::vector<std::uint16_t> states_in(const Frame& frame, const Box& box) {
  std::vector<std::uint16_t> states;
  states.reserve(static_cast<std::size_t>(box.width()) * static_cast<std::size_t>(box.height()));
  for (int y = box.top; y <= box.bottom; ++y) {
    const auto row = frame.states.begin() + static_cast<std::ptrdiff_t>(y) * frame.width;
    states.insert(states.end(), row + box.left, row + box.right + 1);
  }
  return states;
}

}  // namespace life
