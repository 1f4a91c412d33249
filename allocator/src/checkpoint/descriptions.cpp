#include <dynasoar/checkpoint/descriptions.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>

#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/heap/any_heap.h>

namespace dynasoar::detail {

namespace {

/// Removes a literal from the beginning of a text. @return whether the text begins with it
bool skip(std::string_view& text, std::string_view literal) {
  if (!text.starts_with(literal)) return false;
  text.remove_prefix(literal.size());
  return true;
}

/// Removes a number from the beginning of a text. @return whether the text begins with one
template <class Number>
bool take_number(std::string_view& text, Number& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return true;
}

/// Removes the name at the beginning of a line, up to the colon, and returns it.
std::string_view take_name(std::string_view& line) {
  const std::string_view name = line.substr(0, line.find(':'));
  line.remove_prefix(name.size());
  return name;
}

/// The names of the classes that a text describes, separated by commas.
std::string class_names(std::string_view text) {
  std::string names;
  std::string_view line;
  take_line(text, line);  // about pages
  while (take_line(text, line)) names += (names.empty() ? "" : ", ") + std::string(take_name(line));
  return names;
}

/// The first line in which two texts differ, each in quotes.
std::string first_difference(std::string_view file, std::string_view program) {
  std::string_view line, other;
  do {
    if (!take_line(file, line)) line = {};
    if (!take_line(program, other)) other = {};
  } while (line == other && !(file.empty() && program.empty()));
  return "the file has '" + printable(line) + "', the program '" + printable(other) + "'";
}

/// The classes to which compressed pointers may point, in the order of their numbers: "0,2".
std::string target_numbers(const PointerFormat& format) {
  std::string text;
  for (std::uint32_t i = 0; i < format.classes; ++i) {
    if (i > 0) text += ',';
    text += std::to_string(format.types[i]);
  }
  return text;
}

}  // namespace

bool take_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return true;
}

std::string describe_classes(const ClassTable& classes) {
  const auto number = [](auto value) { return std::to_string(value); };  // the same in all locales
  std::string text = "pages of " + number(classes.page_bytes) + " bytes, " + number(classes.block_stride) +
                     " block numbers; " + number(AnyHeap::Counter::kShards) + " shards\n";
  for (const ClassInfo& info : classes.classes) {
    text += plain_name(info.name);
    text += ": " + number(info.block_bytes) + " bytes, " + number(info.blocks_per_page) + " per page:";
    for (const FieldInfo& field : info.fields) {
      text += ' ';
      if (field.count > 1) text += number(field.count) + " * ";
      text += field.kind + number(field.bytes) + " at " + number(field.offset);
      if (field.format != nullptr) text += " to " + target_numbers(*field.format);
    }
    text += '\n';
  }
  return text;
}

bool DescribedClasses::parse(std::string_view text) {
  std::size_t shards = 0;
  if (!skip(text, "pages of ") || !take_number(text, table_.page_bytes) || !skip(text, " bytes, ") ||
      !take_number(text, table_.block_stride) || !skip(text, " block numbers; ") || !take_number(text, shards) ||
      !skip(text, " shards\n") || !text.ends_with('\n')) {
    return false;
  }
  for (std::string_view line; !text.empty();) {
    if (!take_line(text, line) || !parse_class(line)) return false;
  }
  table_.classes = infos_;
  table_.slots_per_block = kSlotsPerBlock;
  return shards == AnyHeap::Counter::kShards && std::has_single_bit(table_.block_stride) &&
         table_.block_stride < AnyHeap::kHalfFree && table_.page_bytes <= Handle::kMaxHeapBytes && !infos_.empty() &&
         infos_.size() <= Handle::kMaxTypes;
}

bool DescribedClasses::parse_class(std::string_view line) {
  ClassInfo info{take_name(line), 0, 0, {}};
  if (!skip(line, ": ") || !take_number(line, info.block_bytes) || !skip(line, " bytes, ") ||
      !take_number(line, info.blocks_per_page) || !skip(line, " per page:")) {
    return false;
  }
  infos_.push_back(info);
  return info.block_bytes > 0 && info.blocks_per_page > 0 && info.blocks_per_page <= table_.block_stride &&
         info.block_bytes <= table_.page_bytes / info.blocks_per_page;
}

std::string difference_in_classes(std::string_view file, std::string_view program) {
  const std::string names = class_names(file);
  if (names == class_names(program)) return "is of other classes: " + first_difference(file, program);
  return "is of another program: it holds objects of the classes " + printable(names) + ", and this program has " +
         printable(class_names(program));
}

bool parse_item(std::string_view line, ItemDescription& item) {
  const std::string_view whole = line;
  item.name = take_name(line);
  if (item.name.empty() || !skip(line, ": ") || !take_number(line, item.size) || !skip(line, " * ") || line.empty()) {
    return false;
  }
  item.kind = line.front();
  line.remove_prefix(1);
  return take_number(line, item.element_bytes) && item.element_bytes > 0 &&
         std::string_view("pfiubx").find(item.kind) != std::string_view::npos && whole == item.text();
}

std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 200;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  for (const char character : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte != 0x7f) {
      shown += character;
    } else {
      shown += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return text.size() <= kMost ? shown : shown + "...";
}

}  // namespace dynasoar::detail
