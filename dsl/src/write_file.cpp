#include <dynasoar/write_file.h>

#include <fcntl.h>

#include <filesystem>
#include <system_error>

#include <dynasoar/platform/durable_file.h>

namespace dynasoar {

namespace {

/// The absolute path of the real file, resolved as far as its folders exist.
std::filesystem::path resolved(const std::string& path) {
  const std::filesystem::path real(detail::real_path(path));
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::weakly_canonical(std::filesystem::absolute(real).parent_path(), error);
  return error ? std::filesystem::absolute(real).lexically_normal() : folder / real.filename();
}

/// @param there   the existing file, or null. An existing file is not emptied; a new file is removed again
void check_in_place(const std::string& path, const struct stat* there) {
  if (there == nullptr) {
    const std::string real = detail::real_path(path);
    const detail::OutputFile made(real);
    ::unlink(real.c_str());
    return;
  }
  if (!S_ISREG(there->st_mode)) {
    const detail::OutputFile opened(path);
    return;
  }
  const detail::Descriptor file(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open()) detail::throw_file_error("write", path);
}

}  // namespace

void check_output_path(const std::string& path, OutputUse use) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISFIFO(status.st_mode) && use != OutputUse::checkpoint) {
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) detail::throw_file_error("write", path);
  } else if (use == OutputUse::in_place) {
    check_in_place(path, exists ? &status : nullptr);
  } else {
    const detail::DurableFile file(
        path, use == OutputUse::checkpoint ? detail::Writing::anywhere : detail::Writing::in_order);
  }
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  const bool has_first = ::stat(a.c_str(), &first) == 0;
  const bool has_second = ::stat(b.c_str(), &second) == 0;
  if (has_first != has_second) return false;
  if (!has_first) return resolved(a) == resolved(b);
  return !S_ISCHR(first.st_mode) && first.st_ino == second.st_ino && first.st_dev == second.st_dev;
}

std::string temporary_path(const std::string& path) {
  return detail::part_of(detail::real_path(path));
}

void write_file(const std::string& path, std::string_view contents) {
  detail::DurableFile file(path);
  file.write(contents.data(), contents.size());
  file.commit();
}

}  // namespace dynasoar
