/// @file
/// SavedOptions: what of a run's options and input a checkpoint fits, so that nobody goes on with others by mistake.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <app/error.h>

namespace app {

/// A number that differs, in all likelihood, where input does: FNV-1a of the bytes of numbers.
class InputSum {
 public:
  template <class... Ts>
  requires(true && ... && (std::is_arithmetic_v<Ts> || std::is_enum_v<Ts>)) void add(const Ts&... numbers) {
    (add_bytes(&numbers, sizeof numbers), ...);
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_bytes(const void* from, std::size_t count) {
    const auto* const bytes = static_cast<const unsigned char*>(from);
    for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001B3u;
  }

  std::uint64_t value_ = 0xCBF29CE484222325u;
};

/// A list of options with their values.
class SavedOptions {
 public:
  SavedOptions() = default;
  explicit SavedOptions(const std::vector<char>& text) : text_(text.begin(), text.end()) {}

  /// @param option   "--seed", or what the input is called
  template <class T>
  SavedOptions& add(const std::string& option, T value) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text_ += option + '\t' + std::string(digits, end) + '\n';
    return *this;
  }
  SavedOptions& add(const std::string& option, const InputSum& sum) {
    text_ += option + '\t' + kSum + std::to_string(sum.value()) + '\n';
    return *this;
  }

  bool empty() const { return text_.empty(); }

  std::vector<char> text() const { return {text_.begin(), text_.end()}; }

  /// @throws UsageError if `saved`, those in the file `path`, are not the same; it names the first that differs
  void check_same(const SavedOptions& saved, const std::string& path) const {
    std::istringstream lines(text_);
    std::istringstream saved_lines(saved.text_);
    for (std::string line, other; std::getline(lines, line);) {
      if (!std::getline(saved_lines, other)) other.clear();
      if (line == other) continue;
      const std::string option = line.substr(0, line.find('\t'));
      const std::string value = line.substr(option.size() + 1);
      throw UsageError(option + ": the run in " + path +
                       (value.front() == kSum ? " is of something else; give its options again"
                                              : " has " + other.substr(other.find('\t') + 1) + ", not " + value));
    }
  }

 private:
  static constexpr char kSum = '#';

  std::string text_;  // a line for each: its name, a tab, its value
};

}  // namespace app
