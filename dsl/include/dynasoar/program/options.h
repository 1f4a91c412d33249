/// @file
/// Command-line options on top of CLI11: values are checked as they are read, `--help` shows every default, and each
/// mistake or UsageError is reported in one line. Also defines the exit codes of programs.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// Not <CLI/CLI.hpp>, which takes as long to compile as the rest of a program's file.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace dynasoar::program {

/// An error that the user can fix on the command line, such as a wrong option or a file that cannot be written.
/// Programs print the message, which is one line, and exit with kExitUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitHeapTooSmall = 3;
/// All steps ran, or the run was interrupted, but one of the requested outputs was not written.
inline constexpr int kExitNotWritten = 4;
/// The exit code that shells report for a program that Ctrl-C ended.
inline constexpr int kExitInterrupted = 130;

/// Sets up a command line without options, in the common style of the programs.
///
/// @param description   first lines of `--help`
void set_up(CLI::App& cli, const std::string& description);

/// A whole number from `least` to `most`.
CLI::Option* add_integer(CLI::App& cli, const std::string& name, int& value, int least, int most,
                         const std::string& help);

/// A whole number from 0 to 2^64 - 1, such as a seed.
CLI::Option* add_unsigned(CLI::App& cli, const std::string& name, std::uint64_t& value, const std::string& help);

/// A number from 0 to 1.
CLI::Option* add_fraction(CLI::App& cli, const std::string& name, double& value, const std::string& help);

/// A number from `least` to `most`.
CLI::Option* add_real(CLI::App& cli, const std::string& name, double& value, double least, double most,
                      const std::string& help);

/// A number of bytes; B, KiB, MiB and GiB may follow it, with or without a space.
///
/// @param default_text   what `--help` shows as the default
CLI::Option* add_size(CLI::App& cli, const std::string& name, std::uint64_t& bytes, const std::string& help,
                      const std::string& default_text);

/// One of `choices`.
CLI::Option* add_choice(CLI::App& cli, const std::string& name, std::string& value,
                        const std::vector<std::string>& choices, const std::string& help);

/// A path of a file or folder. If the option accepts `none`, this value means no file, and leaves `value` empty.
///
/// @param what   placeholder in `--help`: FILE or DIR
CLI::Option* add_path(CLI::App& cli, const std::string& name, std::string& value, const std::string& what,
                      const std::string& help);

/// `--width` and `--height`, of a grid of cells.
void add_grid_size(CLI::App& cli, int& width, int& height);

/// @param large   the variant that allows more cells, for the message; empty: there is none
/// @throws UsageError if the grid has 2^31 cells or more
void check_grid_size(int width, int height, const std::string& large = {});

/// @throws UsageError if two fractions add up to more than 1
void check_fractions(const std::string& first_option, double first, const std::string& second_option, double second);

/// Reads the command line.
///
/// @return   the exit code if the program is to end: 0 after `--help`
/// @throws UsageError if an option is wrong, std::system_error if the help cannot be printed
std::optional<int> parse(CLI::App& cli, int argc, const char* const* argv);

}  // namespace dynasoar::program
