#include "run_files.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>

#include <app/output.h>

namespace app {
namespace {

std::vector<NamedFile> wanted_of(std::vector<NamedFile> files, const std::vector<NamedFile>& more) {
  files.insert(files.end(), more.begin(), more.end());
  std::vector<NamedFile> result;
  std::copy_if(files.begin(), files.end(), std::back_inserter(result),
               [](const NamedFile& file) { return wanted(file.path); });
  return result;
}

}  // namespace

bool wanted(const std::string& output) {
  return !output.empty() && output != kNoOutput;
}

std::vector<NamedFile> inputs_of(const Program& program, const RunOptions& options) {
  return wanted_of({{"--restore", options.restore}}, program.inputs());
}

std::vector<NamedFile> outputs_of(const Program& program, const RunOptions& options) {
  return wanted_of({{"--log", options.log},
                    {"--animation", options.animation},
                    {"--chart", options.chart},
                    {"--picture", options.picture},
                    {"--checkpoint", options.checkpoint}},
                   program.outputs());
}

std::vector<NumberedFiles> numbered_files_of(const Program& program, const RunOptions& options) {
  const auto steps = static_cast<std::uint64_t>(options.steps);
  std::vector<NumberedFiles> files;
  if (wanted(options.frames)) {
    files.push_back({"--frames", options.frames, "frame", ".png", static_cast<std::uint64_t>(options.every), steps});
  }
  if (wanted(options.exported)) {
    const std::filesystem::path path(options.exported);
    files.push_back({"--export", path.parent_path(), path.stem().string(), path.extension().string(),
                     static_cast<std::uint64_t>(options.export_every), steps});
  }
  if (options.view) files.push_back({"--view", "", program.description().name, ".png", 1, steps});
  return files;
}

}  // namespace app
