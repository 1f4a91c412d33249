/// @file
/// Exporter: writes objects to files while the simulation continues, a file for each frame. Only export.cpp includes
/// the writers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <dynasoar/columns.h>

namespace dynasoar::program {

class Exporter {
 public:
  /// @param path   of the files: "agents.csv" stands for agents-000000.csv and so on; csv, h5 or vtp
  /// @throws UsageError if it has another ending
  explicit Exporter(const std::string& path);
  ~Exporter();
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  /// Writes a table with columns `x` and `y`, or `position_.x` and `position_.y`, in a separate thread. If the disk is
  /// slow, waits until there is room for it.
  void add(int step, dynasoar::Columns table);

  /// Waits until all files are written, or have failed.
  void finish();

  /// The reasons why files could not be written since the last call, one for each file. Other files are written
  /// nevertheless.
  std::vector<std::string> take_failures();

  /// The number of written files.
  std::uint64_t files() const;

  const std::string& path() const { return path_; }

  /// "agents.csv" of step 10: "agents-000010.csv".
  static std::string file_of(const std::string& path, std::uint64_t step);

 private:
  class Frames;

  void try_frame(std::uint64_t step, const dynasoar::Columns& table);

  std::string path_;
  mutable std::mutex mutex_;  // protects the next two members
  std::vector<std::string> failures_;
  std::uint64_t files_ = 0;
  std::unique_ptr<Frames> frames_;  // the last member, because its thread uses all others
};

}  // namespace dynasoar::program
