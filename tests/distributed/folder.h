// A folder for the files of a test of several ranks.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "world.h"

namespace distributed_test {

namespace fs = std::filesystem;

/// A folder that rank 0 makes, and removes at the end. Collective.
class Folder {
 public:
  Folder() {
    std::uint64_t process = static_cast<std::uint64_t>(::getpid());
    world().broadcast(&process, sizeof process, 0);
    path_ = fs::temp_directory_path() / ("dynasoar_ranks_" + std::to_string(process));
    if (world().rank() == 0) fs::create_directory(path_);
    world().barrier();
  }
  ~Folder() {
    world().barrier();
    if (world().rank() == 0) fs::remove_all(path_);
    world().barrier();
  }

  std::string file(const std::string& name) const { return (path_ / name).string(); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  fs::path path_;
};

}  // namespace distributed_test
