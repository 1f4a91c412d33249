#include "run_files.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "option_values.h"

namespace dynasoar::program {
namespace {

std::vector<NamedFile> joined(std::vector<NamedFile> files, const std::vector<NamedFile>& more) {
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

std::vector<NamedFile> wanted_of(const std::vector<NamedFile>& files) {
  std::vector<NamedFile> result;
  std::copy_if(files.begin(), files.end(), std::back_inserter(result),
               [](const NamedFile& file) { return wanted(file.path); });
  return result;
}

}  // namespace

bool wanted(const std::string& path) {
  return !path.empty() && path != kNoOutput;
}

std::vector<NamedFile> inputs_of(const Program& program, const RunOptions& options) {
  return wanted_of(joined({{"--restore", options.restore}}, program.inputs()));
}

std::vector<NamedFile> outputs_of(const Program& program, const RunOptions& options, const Display* display) {
  std::vector<NamedFile> outputs = {{"--log", options.log}};
  if (display != nullptr) outputs = joined(std::move(outputs), display->outputs());
  outputs.push_back({"--checkpoint", options.checkpoint});
  return wanted_of(joined(std::move(outputs), program.outputs()));
}

std::vector<NumberedFiles> numbered_files_of(const RunOptions& options, const Display* display) {
  const auto steps = static_cast<std::uint64_t>(options.steps);
  std::vector<NumberedFiles> files;
  if (display != nullptr) files = display->numbered_files(steps);
  if (wanted(options.exported)) {
    const std::filesystem::path path(options.exported);
    files.push_back({"--export", path.parent_path(), path.stem().string(), path.extension().string(),
                     static_cast<std::uint64_t>(options.export_every), steps});
  }
  return files;
}

std::string NumberedFiles::file_of(std::uint64_t step) const {
  return (folder / fmt::format("{}-{:06}{}", stem, step, ending)).string();
}

std::optional<std::uint64_t> NumberedFiles::step_of(const std::string& name) const {
  const std::size_t begin = stem.size() + 1;
  if (name.size() < begin + ending.size()) return std::nullopt;
  std::uint64_t step = 0;
  if (std::from_chars(name.data() + begin, name.data() + name.size() - ending.size(), step).ec != std::errc()) {
    return std::nullopt;
  }
  const bool is_one = step <= steps && step % every == 0 && (folder / name).string() == file_of(step);
  return is_one ? std::optional(step) : std::nullopt;
}

}  // namespace dynasoar::program
