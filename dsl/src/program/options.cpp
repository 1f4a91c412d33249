#include <dynasoar/program/options.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <limits>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "messages.h"
#include "option_values.h"

namespace dynasoar::program {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

// The whole of `text` as a number; nothing if it is not one or does not fit.
template <class T>
std::optional<T> number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// An option that `read` reads. It returns nothing for values that are not `expected`.
template <class T, class Read>
CLI::Option* add(CLI::App& cli, const std::string& name, T& value, const std::string& help, const std::string& type,
                 const std::string& default_text, const std::string& expected, Read read) {
  const auto assign = [&value, name, expected, read](const CLI::results_t& texts) {
    const std::optional<T> result = read(texts.back());
    if (!result) throw CLI::ValidationError(name, fmt::format("must be {}, not '{}'", expected, texts.back()));
    value = *result;
    return true;
  };
  CLI::Option* const option = cli.add_option(name, assign, help);
  option->type_name(type)->default_str(default_text)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return option;
}

std::string first_line(std::string text) {
  return text.substr(0, text.find('\n'));
}

// The number of characters that must be inserted, removed, replaced or swapped with the next one to convert one text to
// the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> least(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      std::size_t& best = least[i][j];
      best = i == 0 ? j : j == 0 ? i : least[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      if (i == 0 || j == 0) continue;
      best = std::min({best, least[i - 1][j] + 1, least[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) best = std::min(best, least[i - 2][j - 2] + 1);
    }
  }
  return least[from.size()][to.size()];
}

// The part of an option or a word that is compared: it is the same for "--Fish_Age=3" and "fish-age".
std::string plain(std::string_view text) {
  text = text.substr(0, text.find('='));
  text.remove_prefix(std::min(text.find_first_not_of('-'), text.size()));
  std::string result(text);
  for (char& c : result) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// The option that the user probably meant; empty if none is similar. Also finds options from their beginnings, such as
// "--check".
std::string nearest_option(const CLI::App& cli, const std::string& typed) {
  const std::string word = plain(typed);
  std::string nearest;
  std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const CLI::Option* const option : cli.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const bool is_begun = word.size() > 2 && name.starts_with(word);
      const std::size_t away = is_begun ? 1 : distance(word, name);
      if (away >= best) continue;
      best = away;
      nearest = "--" + name;
    }
  }
  return nearest;
}

std::string what_is_unknown(const CLI::App& cli) {
  const std::vector<std::string> texts = cli.remaining();
  const auto is_option = [](const std::string& text) { return text.starts_with('-'); };
  const auto option = std::find_if(texts.begin(), texts.end(), is_option);
  const std::string& text = option != texts.end() ? *option : texts.front();
  const std::string nearest = nearest_option(cli, text);
  return fmt::format("{} is not an option{} (see --help)", text.substr(0, text.find('=')),
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

}  // namespace

void set_up(CLI::App& cli, const std::string& description) {
  cli.description(description);
  cli.get_formatter()->column_width(26);
  cli.get_formatter()->label("OPTIONS", "options");
  cli.set_help_flag("-h,--help", "Show this help and exit");
}

CLI::Option* add_integer(CLI::App& cli, const std::string& name, int& value, int least, int most,
                         const std::string& help) {
  return add(cli, name, value, help, "N", std::to_string(value),
             fmt::format("a whole number from {} to {}", least, most),
             [least, most](const std::string& text) -> std::optional<int> {
               const std::optional<int> result = number<int>(text);
               return result && *result >= least && *result <= most ? result : std::nullopt;
             });
}

CLI::Option* add_unsigned(CLI::App& cli, const std::string& name, std::uint64_t& value, const std::string& help) {
  return add(cli, name, value, help, "N", std::to_string(value),
             "a whole number from 0 to 18446744073709551615 (2^64 - 1)",
             [](const std::string& text) { return number<std::uint64_t>(text); });
}

CLI::Option* add_real(CLI::App& cli, const std::string& name, double& value, double least, double most,
                      const std::string& help) {
  return add(cli, name, value, help, "X", fmt::format("{:g}", value),
             fmt::format("a number from {:g} to {:g}", least, most),
             [least, most](const std::string& text) -> std::optional<double> {
               const std::optional<double> result = number<double>(text);
               return result && *result >= least && *result <= most ? result : std::nullopt;
             });
}

CLI::Option* add_fraction(CLI::App& cli, const std::string& name, double& value, const std::string& help) {
  return add_real(cli, name, value, 0, 1, help);
}

CLI::Option* add_size(CLI::App& cli, const std::string& name, std::uint64_t& bytes, const std::string& help,
                      const std::string& default_text) {
  return add(cli, name, bytes, help, "SIZE", default_text, "a size such as 512MiB or 4GiB, at most 17179869183GiB",
             parse_size);
}

CLI::Option* add_choice(CLI::App& cli, const std::string& name, std::string& value,
                        const std::vector<std::string>& choices, const std::string& help) {
  const std::string type = fmt::format("{}", fmt::join(choices, "|"));
  return add(cli, name, value, help, type, value, fmt::format("one of {}", fmt::join(choices, ", ")),
             [choices](const std::string& text) -> std::optional<std::string> {
               for (const std::string& choice : choices) {
                 if (text == choice) return text;
               }
               return std::nullopt;
             });
}

CLI::Option* add_path(CLI::App& cli, const std::string& name, std::string& value, const std::string& what,
                      const std::string& help) {
  const bool optional = value.empty();
  return add(cli, name, value, help, what, optional ? kNoOutput : value, "a path",
             [optional](const std::string& text) -> std::optional<std::string> {
               if (optional && text == kNoOutput) return std::string();
               return text.empty() ? std::nullopt : std::optional(text);
             });
}

void add_grid_size(CLI::App& cli, int& width, int& height) {
  add_integer(cli, "--width", width, 1, kMaxInt, "Cells per row");
  add_integer(cli, "--height", height, 1, kMaxInt, "Rows");
}

void check_grid_size(int width, int height, const std::string& large) {
  if (std::int64_t{width} * height <= kMaxInt) return;
  throw UsageError(fmt::format("--width x --height: {} x {} are more than 2^31 - 1 cells{} (see --help)", width, height,
                               large.empty() ? "" : ", which only --variant " + large + " can have"));
}

void check_fractions(const std::string& first_option, double first, const std::string& second_option, double second) {
  if (first + second <= 1) return;
  throw UsageError(fmt::format("{} + {}: must not exceed 1, but {} + {} do (see --help)", first_option, second_option,
                               first, second));
}

std::optional<int> parse(CLI::App& cli, int argc, const char* const* argv) {
  try {
    cli.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp& help) {
    if (const std::error_code error = print(cli.help())) {
      throw std::system_error(error, "cannot write to standard output");
    }
    return 0;
  } catch (const CLI::ExtrasError&) {
    throw UsageError(what_is_unknown(cli));
  } catch (const CLI::ParseError& error) {
    throw UsageError(first_line(error.what()) + " (see --help)");
  }
}

}  // namespace dynasoar::program
