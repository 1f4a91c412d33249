/// @file
/// Losses: the outputs that a run could not write, although it continued. Used by Run and run_program.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dynasoar::program {

class Losses {
 public:
  /// @param program   its name, for messages
  explicit Losses(std::string program) : program_(std::move(program)) {}

  /// Records that an output was not written. Of consecutive losses of an output, reports only the first one.
  ///
  /// @param output   its option, such as "--frames"
  /// @param what     the error
  void add(const std::string& output, const std::string& what);

  /// Reports an error that may not become a loss, in the same way.
  void warn(const std::string& output, const std::string& what);

  /// Called when the output could be written again: the next loss is reported.
  void end_trouble(const std::string& output);

  /// Whether the last try to write the output failed.
  bool in_trouble(const std::string& output) { return find(output).is_known; }

  bool empty() const;

  /// "--checkpoint, --frames (3 times)". @pre not empty
  std::string text() const;

 private:
  struct Output {
    std::string name;
    std::uint64_t count = 0;
    bool is_known = false;
  };

  Output& find(const std::string& name);

  std::string program_;
  std::vector<Output> outputs_;
};

}  // namespace dynasoar::program
