/// @file
/// NumberedFiles: the names of files that are written in some steps, such as frame-000010.png. Used by check_outputs
/// and Run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace app {

struct NumberedFiles {
  std::string option;  ///< that asks for them
  std::filesystem::path folder;
  std::string stem;
  std::string ending;
  std::uint64_t every;  ///< n-th step there is one, and at the start
  std::uint64_t steps;  ///< of the whole run

  /// The file of a step.
  std::string file_of(std::uint64_t step) const;

  std::string first() const { return file_of(0); }
  std::string last() const { return file_of(steps - steps % every); }

  /// The step whose file has this name, if there is one.
  std::optional<std::uint64_t> step_of(const std::string& name) const;
};

}  // namespace app
