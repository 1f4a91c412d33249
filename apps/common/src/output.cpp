#include <app/output.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <unistd.h>

#include <fmt/format.h>

#include <app/error.h>

namespace app {

void require_writable_file(const std::string& path) {
  std::error_code ignored;
  const bool existed = std::filesystem::exists(path, ignored);
  errno = 0;
  // Appending does not change a file that is there.
  std::ofstream file(path, std::ios::app);
  if (!file) throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  file.close();
  if (!existed) std::filesystem::remove(path, ignored);
}

void require_writable_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw UsageError(fmt::format("cannot create the folder {}: {}", path, error.message()));
  require_writable_file((std::filesystem::path(path) / fmt::format(".write-test-{}", ::getpid())).string());
}

}  // namespace app
