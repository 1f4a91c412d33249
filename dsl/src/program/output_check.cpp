#include "output_check.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <list>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <dynasoar/platform/durable_file.h>
#include <dynasoar/program/options.h>
#include <dynasoar/write_file.h>
#include "log_file.h"

#include "run_files.h"

namespace dynasoar::program {
namespace {

namespace fs = std::filesystem;

using FileId = std::pair<dev_t, ino_t>;

// Creates a folder, and the folders above it. Removes them again unless the folder is kept.
class MadeFolder {
 public:
  MadeFolder(const std::string& option, const std::string& path) {
    std::error_code error;
    for (fs::path at = fs::path(path).lexically_normal(); !at.empty() && !fs::exists(at, error);
         at = at.parent_path()) {
      made_.push_back(at);
    }
    fs::create_directories(path, error);
    if (!error) return;
    remove();
    throw UsageError(fmt::format("{}: cannot create the folder {}: {}", option, path, error.message()));
  }
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;
  ~MadeFolder() { remove(); }
  void keep() { made_.clear(); }

 private:
  void remove() {
    std::error_code ignored;
    for (const fs::path& folder : made_) fs::remove(folder, ignored);
  }

  std::vector<fs::path> made_;  // the innermost first
};

// Existing numbered files, some of which may be links to others.
class ExistingFiles {
 public:
  explicit ExistingFiles(const NumberedFiles& files) : files_(files) {
    std::error_code ignored;
    const fs::path folder = files.folder.empty() ? fs::path(".") : files.folder;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      if (files.step_of(name)) add((files.folder / name).string());
    }
  }

  bool contain(const std::string& path) const {
    const std::string name = fs::path(path).filename().string();
    if (files_.step_of(name) && dynasoar::same_file(path, (files_.folder / name).string())) return true;
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return ids_.count({status.st_dev, status.st_ino}) > 0;
    return std::any_of(broken_links_.begin(), broken_links_.end(),
                       [&path](const std::string& link) { return dynasoar::same_file(path, link); });
  }

 private:
  void add(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      broken_links_.push_back(path);
    } else if (S_ISDIR(status.st_mode) || ::access(path.c_str(), W_OK) != 0) {
      throw UsageError(fmt::format("{}: {} is to be written, but it is a folder or write-protected; remove it",
                                   files_.option, path));
    } else if (!S_ISCHR(status.st_mode) && !ids_.insert({status.st_dev, status.st_ino}).second) {
      throw UsageError(
          fmt::format("{}: {} is a link to another one of the files to be written; remove it", files_.option, path));
    }
  }

  const NumberedFiles& files_;
  std::set<FileId> ids_;
  std::vector<std::string> broken_links_;
};

void require_writable(const NamedFile& file, dynasoar::OutputUse use) {
  try {
    dynasoar::check_output_path(file.path, use);
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("{}: {}", file.option, error.what()));
  }
}

[[noreturn]] void refuse_same(const std::string& first, const std::string& second, const std::string& path) {
  throw UsageError(
      fmt::format("{} and {} are the same file, {}: give one of them another name, or none", first, second, path));
}

// The temporary file of an output; none for a file that is written in place, such as a pipe.
std::optional<std::string> temporary_of(const NamedFile& output) {
  struct stat status {};
  if (::stat(output.path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return std::nullopt;
  return dynasoar::temporary_path(output.path);
}

void require_different(const std::vector<NamedFile>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::optional<std::string> part = temporary_of(outputs[i]);
    for (std::size_t j = 0; j < outputs.size(); ++j) {
      if (j < i && dynasoar::same_file(outputs[j].path, outputs[i].path)) {
        refuse_same(outputs[j].option, outputs[i].option, outputs[i].path);
      }
      if (j == i || !part || !dynasoar::same_file(outputs[j].path, *part)) continue;
      refuse_same(outputs[j].option, "the temporary file of " + outputs[i].option, *part);
    }
  }
}

// A checkpoint may replace the one from which the run continues, because it belongs to the same run.
void require_no_input(const NamedFile& output, const std::vector<NamedFile>& inputs) {
  for (const NamedFile& input : inputs) {
    if (output.option == "--checkpoint" && input.option == "--restore") continue;
    if (dynasoar::same_file(input.path, output.path)) refuse_same(input.option, output.option, output.path);
    const std::optional<std::string> part = temporary_of(output);
    if (!part || !dynasoar::same_file(input.path, *part)) continue;
    refuse_same(input.option, "the temporary file of " + output.option, *part);
  }
}

// Printed text must not get into data files: `wa-tor --log log.csv > log.csv`. Quiet runs print only errors.
void require_not_printed_to(const NamedFile& output, bool is_quiet) {
  struct stat status {};
  if (::stat(output.path.c_str(), &status) != 0 || S_ISCHR(status.st_mode)) return;
  for (const auto& [number, name] : {std::pair(STDOUT_FILENO, "standard output"), {STDERR_FILENO, "standard error"}}) {
    struct stat printed {};
    if (number == STDOUT_FILENO && is_quiet) continue;
    if (::fstat(number, &printed) != 0 || printed.st_dev != status.st_dev || printed.st_ino != status.st_ino) continue;
    refuse_same(output.option, name, output.path);
  }
}

void require_no_number(const NumberedFiles& numbered, const std::vector<NamedFile>& others) {
  static const std::string kPart = dynasoar::detail::part_of("");
  const ExistingFiles files(numbered);
  for (const NamedFile& other : others) {
    if (files.contain(other.path)) refuse_same(other.option, "a file of " + numbered.option, other.path);
    const fs::path path(other.path);
    if (path.extension() == kPart && files.contain((path.parent_path() / path.stem()).string())) {
      refuse_same(other.option, "a temporary file of " + numbered.option, other.path);
    }
  }
}

void check_all(const Program& program, const RunOptions& options, const Display* display) {
  const std::vector<NamedFile> outputs = outputs_of(program, options, display);
  const std::vector<NamedFile> inputs = inputs_of(program, options);
  const std::vector<NumberedFiles> numbered = numbered_files_of(options, display);
  std::list<MadeFolder> folders;
  for (const NumberedFiles& files : numbered) {
    if (files.makes_folder) folders.emplace_back(files.option, files.folder.string());
  }
  require_different(outputs);
  for (const NamedFile& output : outputs) {
    require_no_input(output, inputs);
    require_not_printed_to(output, options.quiet);
    if (output.option == "--log") {
      LogFile::check(output.path);
    } else {
      const bool is_checkpoint = output.option == "--checkpoint";
      require_writable(output, is_checkpoint ? dynasoar::OutputUse::checkpoint : dynasoar::OutputUse::whole_file);
    }
  }
  std::vector<NamedFile> others = outputs;
  others.insert(others.end(), inputs.begin(), inputs.end());
  for (const NumberedFiles& files : numbered) {
    require_no_number(files, others);
    for (const std::string& path : {files.first(), files.last()}) {
      require_writable({files.option, path}, dynasoar::OutputUse::whole_file);
    }
  }
  for (MadeFolder& folder : folders) folder.keep();
}

}  // namespace

void check_outputs(const Program& program, const RunOptions& options, const Display* display) {
  try {
    check_all(program, options, display);
  } catch (const UsageError&) {
    throw;
  } catch (const std::runtime_error& error) {  // such as links in a circle
    throw UsageError(error.what());
  }
}

}  // namespace dynasoar::program
