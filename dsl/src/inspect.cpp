#include <dynasoar/statistics.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <dynasoar/base/number_text.h>
#include <dynasoar/detail/field_names.h>
#include <dynasoar/detail/placed_classes.h>
#include <dynasoar/detail/svg.h>

namespace dynasoar::detail {

namespace {

/// "1 block", "2 blocks".
std::string counted(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Describes how blocks of a class fill a page.
std::string in_pages(const ClassInfo& info, std::size_t page_bytes) {
  const std::size_t left = page_bytes - info.blocks_per_page * info.block_bytes;
  return counted(info.blocks_per_page, "block") + " in a page of " + std::to_string(page_bytes) + " bytes, of which " +
         percent_text(static_cast<double>(left) / static_cast<double>(page_bytes)) + " are left over";
}

/// Draws one class after the other.
class LayoutPicture {
 public:
  explicit LayoutPicture(std::size_t largest_block) : scale_(Svg::kInner / static_cast<double>(largest_block)) {
    svg_.text(Svg::kMargin, 30, 20, "Fields in a block of 64 objects, in bytes", "font-weight=\"bold\"");
  }

  void add(const ClassInfo& info, std::size_t page_bytes) {
    std::size_t used = 0;
    for (const FieldInfo& field : info.fields) used += field.count * field.stride;
    y_ += 34;
    svg_.text(Svg::kMargin, y_, 15,
              std::string(info.name) + ": " + std::to_string(info.block_bytes) + " bytes, " +
                  percent_text(1 - static_cast<double>(used) / static_cast<double>(info.block_bytes)) + " unused; " +
                  (info.is_placed ? "on a lattice" : in_pages(info, page_bytes)),
              "font-weight=\"bold\"");
    y_ += 8;
    const double top = y_;
    svg_.rectangle(Svg::kMargin, top, static_cast<double>(info.block_bytes) * scale_, kBar, "#e8e8e8", 1, "unused");
    y_ += kBar + 4;
    for (std::size_t number = 0; number < info.fields.size(); ++number) {
      const FieldInfo& field = info.fields[number];
      const std::string name = field_text(field);
      std::string size = counted(field.bytes, "byte");
      if (field.count > 1) size = std::to_string(field.count) + " x " + size;
      const std::string what = name + ": " + size + " from " + std::to_string(field.offset) + " to " +
                               std::to_string(field.offset + field.count * field.stride - 1);
      const std::string fill = svg_.fill(number);
      for (std::size_t i = 0; i < field.count; ++i) {
        svg_.rectangle(Svg::kMargin + static_cast<double>(field.offset + i * field.stride) * scale_ + 0.5, top,
                       std::max(1.0, static_cast<double>(field.stride) * scale_ - 1), kBar, fill, 1, what);
      }
      y_ += 17;
      svg_.rectangle(Svg::kMargin, y_ - 11, 12, 12, fill, 1, name);
      svg_.text(Svg::kMargin + 18, y_, 13, what);
    }
  }

  void write(const std::string& path) const { svg_.write(path, y_ + 24); }

 private:
  static constexpr double kBar = 30;

  Svg svg_;
  double scale_;
  double y_ = 34;
};

/// The squares of a heap's picture. Each stands for some consecutive blocks.
class HeapSquares {
 public:
  static constexpr double kSide = 8;

  /// @param marks             the marks of all block numbers
  /// @param stride            block numbers in a page
  /// @param blocks_per_page   squares of a free page if each stands for one block
  HeapSquares(const std::vector<BlockMark>& marks, std::size_t stride, std::size_t blocks_per_page) : marks_(marks) {
    for (std::size_t block = 0; block < marks.size(); ++block) {
      const bool is_free = marks[block].state == BlockState::free_page;
      if (marks[block].state == BlockState::unused || (is_free && block % stride >= blocks_per_page)) continue;
      blocks_.push_back(block);
    }
    per_square_ = std::max<std::size_t>(1, (blocks_.size() + kMost - 1) / kMost);
  }

  /// What a square stands for: "a block", "3 blocks in a row".
  std::string text() const { return per_square_ == 1 ? "a block" : std::to_string(per_square_) + " blocks in a row"; }
  double height() const { return static_cast<double>((count() + kPerRow - 1) / kPerRow) * kSide; }

  void draw(Svg& svg, double top, const std::vector<std::string>& names) const {
    for (std::size_t square = 0; square < count(); ++square) draw_square(svg, square, top, names);
  }

 private:
  static constexpr std::size_t kMost = 9600;
  static constexpr std::size_t kPerRow = 120;

  std::size_t count() const { return (blocks_.size() + per_square_ - 1) / per_square_; }

  void draw_square(Svg& svg, std::size_t square, double top, const std::vector<std::string>& names) const {
    const std::size_t first = square * per_square_;
    const std::size_t end = std::min(blocks_.size(), first + per_square_);
    std::vector<std::size_t> of_type(names.size());
    std::size_t objects = 0, taken = 0;
    for (std::size_t i = first; i < end; ++i) {
      const BlockMark mark = marks_[blocks_[i]];
      if (mark.state == BlockState::free_page) continue;
      ++of_type[mark.type];
      ++taken;
      objects += mark.objects;
    }
    if (taken == 0) return;  // only free pages, which are the background
    const auto most = std::max_element(of_type.begin(), of_type.end());
    const auto type = static_cast<std::size_t>(most - of_type.begin());
    const double fill = static_cast<double>(objects) / (64.0 * static_cast<double>(taken));
    const std::string which =
        end - first == 1 ? "block " + std::to_string(blocks_[first])
                         : "blocks " + std::to_string(blocks_[first]) + " to " + std::to_string(blocks_[end - 1]);
    svg.rectangle(Svg::kMargin + static_cast<double>(square % kPerRow) * kSide,
                  top + static_cast<double>(square / kPerRow) * kSide, kSide - 1, kSide - 1, svg.fill(type),
                  0.15 + 0.85 * fill, names[type] + ", " + which + ": " + counted(objects, "object"));
  }

  const std::vector<BlockMark>& marks_;
  std::vector<std::size_t> blocks_;  // the shown blocks
  std::size_t per_square_ = 1;
};

/// "Bee: 65 objects in 2 blocks, 49.2 % of their slots free".
std::string text_of(const TypeStatistics& type) {
  const std::string objects = type.name + ": " + counted(type.objects, "object");
  if (type.in_heap) {
    return objects + " in " + counted(type.blocks, "block") + ", " + percent_text(type.fragmentation()) +
           " of their slots free";
  }
  if (type.places == 0) return type.name + ": no lattice";
  return objects + " on " + counted(type.places, "place") + ", " + percent_text(type.taken()) + " of them taken";
}

/// Draws the legend: the fill of each class. @return the lower end of the legend
double draw_legend(Svg& svg, double y, const std::vector<TypeStatistics>& types) {
  for (std::size_t type = 0; type < types.size(); ++type) {
    y += 18;
    svg.rectangle(Svg::kMargin, y - 11, 12, 12, svg.fill(type), 1, types[type].name);
    svg.text(Svg::kMargin + 18, y, 13, text_of(types[type]));
  }
  return y;
}

/// Draws the blocks of the heap at `y`. @return the new lower end of the picture
double draw_blocks(Svg& svg, double y, const HeapSquares& squares, const std::vector<std::string>& names) {
  y += 14;
  svg.rectangle(Svg::kMargin - 1, y - 1, Svg::kInner + 1, squares.height() + 1, "#f4f4f4", 1, "free pages");
  squares.draw(svg, y, names);
  return y + squares.height();
}

/// Draws the blocks of a class on a lattice at `y`. @return the new lower end of the picture
double draw_lattice(Svg& svg, double y, const PlacedMap& map, const std::vector<std::string>& names) {
  const HeapSquares squares(map.marks, 1, 1);
  y += 34;
  svg.text(Svg::kMargin, y, 15, names[map.marks[0].type] + " on " + map.where, "font-weight=\"bold\"");
  svg.text(Svg::kMargin, y + 18, 13, "A square is " + squares.text() + " of 64 places.");
  y += 26;
  squares.draw(svg, y, names);
  return y + squares.height();
}

}  // namespace

void draw_layout(const ClassTable& classes, const std::string& path) {
  LayoutPicture picture(classes.largest_block_bytes());
  for (const ClassInfo& info : classes.classes) picture.add(info, classes.page_bytes);
  picture.write(path);
}

void draw_heap(const ClassTable& classes, const Statistics& now, const std::vector<BlockMark>& marks,
               const std::vector<PlacedMap>& placed, const std::string& path) {
  std::vector<std::string> names;
  for (const TypeStatistics& type : now.types) names.push_back(type.name);
  std::size_t fewest = classes.block_stride;
  for (const ClassInfo& info : classes.classes) fewest = std::min<std::size_t>(fewest, info.blocks_per_page);
  const HeapSquares squares(marks, classes.block_stride, fewest);
  const bool has_heap = std::any_of(now.types.begin(), now.types.end(), [](const auto& type) { return type.in_heap; });
  Svg svg;
  svg.text(Svg::kMargin, 30, 20,
           has_heap ? "Heap of " + std::to_string(now.heap_bytes) + " bytes, " + percent_text(now.used()) + " used"
                    : "Objects on lattices",
           "font-weight=\"bold\"");
  svg.text(Svg::kMargin, 52, 13,
           has_heap
               ? "A square is " + squares.text() + ", the stronger the fuller; where nothing is drawn, pages are free."
               : "The stronger a square, the fuller it is.");
  double y = draw_legend(svg, 60, now.types);
  if (has_heap) y = draw_blocks(svg, y, squares, names);
  for (const PlacedMap& map : placed) y = draw_lattice(svg, y, map, names);
  svg.write(path, y + 20);
}

}  // namespace dynasoar::detail
