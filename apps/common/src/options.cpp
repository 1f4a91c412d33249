#include <app/options.h>

#include <charconv>
#include <limits>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <app/error.h>
#include <app/output.h>
#include <app/size.h>

namespace app {
namespace {

// The whole of `text` as a number, nothing if it is not one or does not fit.
template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// An option that is read by `read`, which returns nothing for values that are not `expected`.
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

}  // namespace

void set_up(CLI::App& cli, const std::string& description) {
  cli.description(description);
  cli.get_formatter()->column_width(26);
  cli.get_formatter()->label("OPTIONS", "options");
  cli.set_help_flag("-h,--help", "Show this help and exit");
}

CLI::Option* add_integer(CLI::App& cli, const std::string& name, int& value, int least, int most,
                         const std::string& help) {
  const std::string expected = most == std::numeric_limits<int>::max()
                                   ? fmt::format("a whole number of at least {}", least)
                                   : fmt::format("a whole number from {} to {}", least, most);
  return add(cli, name, value, help, "N", std::to_string(value), expected,
             [least, most](const std::string& text) -> std::optional<int> {
               const std::optional<int> result = number<int>(text);
               return result && *result >= least && *result <= most ? result : std::nullopt;
             });
}

CLI::Option* add_unsigned(CLI::App& cli, const std::string& name, std::uint64_t& value, const std::string& help) {
  return add(cli, name, value, help, "N", std::to_string(value), "a whole number from 0 to 2^64 - 1",
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
  return add(cli, name, bytes, help, "SIZE", default_text, "a size such as 512MiB or 4GiB", parse_size);
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

std::optional<int> parse(CLI::App& cli, int argc, const char* const* argv) {
  try {
    cli.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp& help) {
    return cli.exit(help);
  } catch (const CLI::ParseError& error) {
    throw UsageError(first_line(error.what()) + " (see --help)");
  }
}

}  // namespace app
