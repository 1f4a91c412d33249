#include "export.h"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>

#include <dynasoar/columns.h>
#include <dynasoar/program/options.h>
#include <dynasoar/write_file.h>
#include <dynasoar/write_hdf5.h>

namespace dynasoar::program {
namespace {

std::string ending_of(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

void write_frame(const std::string& path, std::uint64_t step, const dynasoar::Columns& table) {
  const std::string file = Exporter::file_of(path, step);
  if (ending_of(path) == ".csv") {
    dynasoar::write_csv(file, table);
  } else if (ending_of(path) == ".h5") {
    dynasoar::write_hdf5(file, table, step);
  } else {
    const std::string axes = table.find("x") != nullptr ? "" : "position_.";
    const std::string z = table.find(axes + "z") != nullptr ? axes + "z" : "";
    dynasoar::write_vtp(file, table, {.x = axes + "x", .y = axes + "y", .z = z, .time = static_cast<double>(step)});
  }
}

const std::string& checked(const std::string& path) {
  const std::string ending = ending_of(path);
  if (ending != ".csv" && ending != ".h5" && ending != ".vtp") {
    throw UsageError("--export: '" + path + "' must end in .csv, .h5 or .vtp (see --help)");
  }
  if (ending == ".h5" && !dynasoar::detail::kHasHdf5) {
    throw UsageError(
        "--export: this program was built without HDF5 (libhdf5-dev); give a file that ends in .csv or .vtp");
  }
  return path;
}

}  // namespace

class Exporter::Frames : public dynasoar::FrameWriter {
 public:
  using FrameWriter::FrameWriter;
};

Exporter::Exporter(const std::string& path)
    : path_(checked(path)),
      frames_(std::make_unique<Frames>(
          [this](std::uint64_t step, const dynasoar::Columns& table) { try_frame(step, table); })) {}

Exporter::~Exporter() = default;

std::string Exporter::file_of(const std::string& path, std::uint64_t step) {
  char number[32];
  std::snprintf(number, sizeof number, "-%06llu", static_cast<unsigned long long>(step));
  std::filesystem::path name(path);
  const std::string ending = name.extension().string();
  return name.replace_extension().string() + number + ending;
}

void Exporter::add(int step, dynasoar::Columns table) {
  frames_->add(static_cast<std::uint64_t>(step), std::move(table));
}

void Exporter::finish() {
  frames_->finish();
}

// Runs in the writer's thread.
void Exporter::try_frame(std::uint64_t step, const dynasoar::Columns& table) {
  std::string failure;
  try {
    write_frame(path_, step, table);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  const std::lock_guard lock(mutex_);
  if (failure.empty()) {
    ++files_;
  } else {
    failures_.push_back(failure);
  }
}

std::vector<std::string> Exporter::take_failures() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failures_, {});
}

std::uint64_t Exporter::files() const {
  const std::lock_guard lock(mutex_);
  return files_;
}

}  // namespace dynasoar::program
