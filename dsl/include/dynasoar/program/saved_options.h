/// @file
/// SavedOptions: what of a run's options and input a checkpoint fits, so that nobody goes on with others by mistake.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dynasoar::program {

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
  explicit SavedOptions(const std::vector<char>& text);

  /// @param option   "--seed", or what the input is called
  template <class T>
  SavedOptions& add(std::string_view option, T value) {
    if constexpr (std::is_floating_point_v<T>) return add_number(option, value);
    if constexpr (std::is_unsigned_v<T>) return add_number(option, std::uint64_t{value});
    return add_number(option, static_cast<std::int64_t>(value));
  }
  SavedOptions& add(std::string_view option, const InputSum& sum);
  SavedOptions& add(std::string_view option, const std::string& text);

  bool empty() const { return text_.empty(); }

  std::vector<char> text() const;

  /// These, and before them the program and its variant, if they are known. If there are none, those of the command
  /// line.
  SavedOptions with_program() const;

  /// @throws UsageError if `saved`, those in the file `path`, are not the same; it names the first that differs
  void check_same(const SavedOptions& saved, const std::string& path) const;

 private:
  SavedOptions& add_number(std::string_view option, float value);  // whose digits are fewer than a double's
  SavedOptions& add_number(std::string_view option, double value);
  SavedOptions& add_number(std::string_view option, std::int64_t value);
  SavedOptions& add_number(std::string_view option, std::uint64_t value);

  std::string text_;  // a line for each: its name, a tab, its value
};

/// Says which program this is, and with which of its variants: checkpoints of others are refused by name.
///
/// @param options   of the command line, for checkpoints of simulations that do not say themselves what matters
void set_running_program(const std::string& program, const std::string& variant, const SavedOptions& options = {});

}  // namespace dynasoar::program
