/// @file
/// The options of the program wa-tor.
#pragma once

#include <optional>
#include <string>

#include "simulation.h"

namespace wa_tor {

/// What an output option says if there is to be no such output.
inline constexpr const char* kNoOutput = "none";

struct CommandLine {
  Parameters parameters;
  int steps = 300;
  std::string variant = "agents";
  std::string baseline = "none";
  std::string frames;  ///< empty: no frames
  int every = 10;
  std::string csv = "population.csv";
  std::string chart = "population.png";
  std::string picture = "wa-tor.png";
  bool quiet = false;
};

/// Reads the options into `command_line`.
///
/// @return   the exit code if the program is to end: 0 after `--help`
/// @throws app::UsageError if an option is wrong, or options do not go together
std::optional<int> read_command_line(int argc, const char* const* argv, CommandLine& command_line);

}  // namespace wa_tor
