/// @file
/// Pictures of what is inside a heap, as SVG files: layout_svg shows how the fields of each class lie in a block,
/// heap_svg which blocks there are and how full they are. Not part of dynasoar.h, because few files need it.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator/heap_map.h>
#include <dynasoar/allocator/layout.h>
#include <dynasoar/allocator_handle.h>
#include <dynasoar/misuse_text.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/type_name.h>
#include <dynasoar/xml_text.h>

namespace dynasoar {

namespace detail {

/// Colours that people with any colour vision tell apart (Okabe and Ito).
inline constexpr std::array<const char*, 8> kColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                        "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f"};

inline std::string percent_text(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

/// "1 block", "2 blocks".
inline std::string counted(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// An SVG picture that grows downwards.
class Svg {
 public:
  static constexpr int kWidth = 1000, kMargin = 20, kInner = kWidth - 2 * kMargin;

  /// What a field or a class is filled with: each number has its own. First the colours, then each with stripes of
  /// another, and then such stripes in other directions and widths.
  std::string fill(std::size_t number) {
    constexpr std::size_t kAll = kColours.size(), kOthers = kAll - 1;
    if (number < kAll) return kColours[number];
    const std::string name = "stripes" + std::to_string(number);
    if (patterns_.insert(number).second) {
      const std::size_t ground = number % kAll, round = number / kAll - 1;
      const std::size_t stripe = (ground + 1 + round % kOthers) % kAll;
      const std::size_t turn = 45 + 45 * (round / kOthers % 4), width = 2 + round / kOthers / 4;
      definitions_ << "<pattern id=\"" << name << "\" patternUnits=\"userSpaceOnUse\" width=\"" << 3 * width
                   << "\" height=\"10\" patternTransform=\"rotate(" << turn << ")\"><path fill=\"" << kColours[ground]
                   << "\" d=\"M0 0h" << 3 * width << "v10H0z\"/><path fill=\"" << kColours[stripe] << "\" d=\"M0 0h"
                   << width << "v10H0z\"/></pattern>\n";
    }
    return "url(#" + name + ")";
  }

  void rectangle(double x, double y, double width, double height, const std::string& fill, double opacity,
                 const std::string& title) {
    body_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\"" << height << "\" fill=\""
          << fill << '"';
    if (opacity < 1) body_ << " fill-opacity=\"" << opacity << '"';
    body_ << "><title>" << xml_text(title) << "</title></rect>\n";
  }
  void text(double x, double y, int size, const std::string& text, const char* attributes = "") {
    body_ << "<text x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << size << "\" " << attributes << '>'
          << xml_text(text) << "</text>\n";
  }

  /// @throws Error if the file cannot be written
  void write(const std::string& path, double height) const {
    errno = 0;
    std::ofstream file(path, std::ios::trunc);
    file << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kWidth << "\" height=\"" << height
         << "\" viewBox=\"0 0 " << kWidth << ' ' << height << "\" font-family=\"sans-serif\">\n"
         << (patterns_.empty() ? "" : "<defs>\n" + definitions_.str() + "</defs>\n")
         << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
         << body_.str() << "</svg>\n";
    file.close();
    if (file.fail()) {
      throw Error("dynasoar: cannot write the picture '" + path + "': " + std::strerror(errno) +
                  "; name a file in a folder that exists and may be written to");
    }
  }

 private:
  std::ostringstream body_, definitions_;
  std::set<std::size_t> patterns_;  // those defined
};

/// Draws one class after the other.
class LayoutPicture {
 public:
  explicit LayoutPicture(std::size_t largest_block) : scale_(Svg::kInner / static_cast<double>(largest_block)) {
    svg_.text(Svg::kMargin, 30, 20, "Fields in a block of 64 objects, in bytes", "font-weight=\"bold\"");
  }

  template <class T>
  void add(std::uint32_t blocks_per_page, std::size_t page_bytes) {
    constexpr std::size_t kBlock = block_bytes_v<T>;
    std::size_t used = 0;
    for_each_field<T>([&](auto field) { used += field.kCount * field.kStride; });
    const std::size_t left = page_bytes - blocks_per_page * kBlock;
    y_ += 34;
    svg_.text(Svg::kMargin, y_, 15,
              std::string(type_name<T>()) + ": " + std::to_string(kBlock) + " bytes, " +
                  percent_text(1 - static_cast<double>(used) / static_cast<double>(kBlock)) + " unused; " +
                  counted(blocks_per_page, "block") + " in a page of " + std::to_string(page_bytes) +
                  " bytes, of which " + percent_text(static_cast<double>(left) / static_cast<double>(page_bytes)) +
                  " are left over",
              "font-weight=\"bold\"");
    y_ += 8;
    const double top = y_;
    svg_.rectangle(Svg::kMargin, top, static_cast<double>(kBlock) * scale_, kBar, "#e8e8e8", 1, "unused");
    y_ += kBar + 4;
    int number = 0;
    for_each_field<T>([&](auto field) {
      using Element = typename decltype(field)::Element;
      const std::string name = field_text<T>(number);
      std::string size = counted(sizeof(Element), "byte");
      if (field.kCount > 1) size = std::to_string(field.kCount) + " x " + size;
      const std::string what = name + ": " + size + " from " + std::to_string(field.kOffset) + " to " +
                               std::to_string(field.kOffset + field.kCount * field.kStride - 1);
      const std::string fill = svg_.fill(static_cast<std::size_t>(number));
      for (std::size_t i = 0; i < field.kCount; ++i) {
        svg_.rectangle(Svg::kMargin + static_cast<double>(field.kOffset + i * field.kStride) * scale_ + 0.5, top,
                       std::max(1.0, static_cast<double>(field.kStride) * scale_ - 1), kBar, fill, 1, what);
      }
      y_ += 17;
      svg_.rectangle(Svg::kMargin, y_ - 11, 12, 12, fill, 1, name);
      svg_.text(Svg::kMargin + 18, y_, 13, what);
      ++number;
    });
  }

  void write(const std::string& path) const { svg_.write(path, y_ + 24); }

 private:
  static constexpr double kBar = 30;

  Svg svg_;
  double scale_;
  double y_ = 34;
};

/// The squares of a heap's picture: each stands for some blocks that follow one another.
class HeapSquares {
 public:
  static constexpr double kSide = 8;

  /// @param marks             of all block numbers
  /// @param stride            block numbers in a page
  /// @param blocks_per_page   how many squares a free page gets, when each stands for one block
  HeapSquares(const std::vector<BlockMark>& marks, std::size_t stride, std::size_t blocks_per_page) : marks_(marks) {
    for (std::size_t block = 0; block < marks.size(); ++block) {
      const bool is_free = marks[block].state == BlockState::free_page;
      if (marks[block].state == BlockState::unused || (is_free && block % stride >= blocks_per_page)) continue;
      blocks_.push_back(block);
    }
    per_square_ = std::max<std::size_t>(1, (blocks_.size() + kMost - 1) / kMost);
  }

  std::size_t per_square() const { return per_square_; }
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
  std::vector<std::size_t> blocks_;  // those shown
  std::size_t per_square_ = 1;
};

}  // namespace detail

/// Draws how the fields of each class of an allocator lie in a block: order, offsets, bytes, and what is unused.
/// `layout_svg<AllocatorT>("layout.svg")`.
///
/// @tparam AllocatorT   a SoaAllocator of complete classes
/// @throws Error if the file cannot be written
template <class AllocatorT>
void layout_svg(const std::string& path) {
  static_assert(
      AllocatorT::kCompacts,
      "dynasoar: layout_svg is for SoaAllocators: an AosAllocator has each object in one piece, without blocks");
  constexpr auto kPages = AllocatorT::pages();
  detail::LayoutPicture picture(AllocatorT::largest_block_bytes());
  AllocatorT::Types::for_each([&]<class T>(std::type_identity<T>) {
    picture.add<T>(kPages.blocks_per_page[static_cast<std::size_t>(AllocatorT::template index_of<T>)], kPages.bytes);
  });
  picture.write(path);
}

/// Draws all blocks of a heap, in their order, coloured by class, the stronger the fuller they are, so that one sees
/// how fragmented it is. A large heap's picture has a square for several blocks, and says for how many. Waits for all
/// loops; leaves it to other calls to report misuse and refusals.
///
/// @throws Error if the file cannot be written, or the device failed
template <class AllocatorT>
void heap_svg(AllocatorHandle<AllocatorT>& handle, const std::string& path) {
  static_assert(AllocatorT::kCompacts,
                "dynasoar: heap_svg is for SoaAllocators: an AosAllocator's heap is its allocator's own");
  const Statistics now = handle.statistics();
  const std::vector<detail::BlockMark> marks = detail::heap_map(handle.executor(), handle.state().heap);
  std::vector<std::string> names;
  for (const TypeStatistics& type : now.types) names.push_back(type.name);
  constexpr auto kPages = AllocatorT::pages();
  const detail::HeapSquares squares(marks, kPages.block_stride,
                                    *std::min_element(kPages.blocks_per_page.begin(), kPages.blocks_per_page.end()));
  detail::Svg svg;
  svg.text(detail::Svg::kMargin, 30, 20,
           "Heap of " + std::to_string(now.heap_bytes) + " bytes, " + detail::percent_text(now.used()) + " used",
           "font-weight=\"bold\"");
  svg.text(detail::Svg::kMargin, 52, 13,
           "A square is " +
               (squares.per_square() == 1 ? "a block" : std::to_string(squares.per_square()) + " blocks in a row") +
               ", the stronger the fuller; where nothing is drawn, pages are free.");
  double y = 60;
  for (std::size_t type = 0; type < names.size(); ++type) {
    const TypeStatistics& statistics = now.types[type];
    y += 18;
    svg.rectangle(detail::Svg::kMargin, y - 11, 12, 12, svg.fill(type), 1, names[type]);
    svg.text(detail::Svg::kMargin + 18, y, 13,
             names[type] + ": " + detail::counted(statistics.objects, "object") + " in " +
                 detail::counted(statistics.blocks, "block") + ", " + detail::percent_text(statistics.fragmentation()) +
                 " of their slots free");
  }
  y += 14;
  svg.rectangle(detail::Svg::kMargin - 1, y - 1, detail::Svg::kInner + 1, squares.height() + 1, "#f4f4f4", 1,
                "free pages");
  squares.draw(svg, y, names);
  svg.write(path, y + squares.height() + 20);
}

}  // namespace dynasoar
