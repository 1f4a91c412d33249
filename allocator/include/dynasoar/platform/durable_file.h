/// @file
/// DurableFile: a file that is there as a whole or not at all, whatever happens while it is written. InputFile: one
/// that is read. Used by checkpoints.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

[[noreturn]] inline void throw_file_error(const char* what, const std::string& path) {
  throw Error("dynasoar: cannot " + std::string(what) + " '" + path + "': " + std::strerror(errno));
}

/// A file descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

/// Writes a file beside `path`, with `.part` added to its name, which takes the place of `path` when it is complete and
/// on the disk. Until then, whatever ends the program or the machine, `path` is what it was.
///
/// A `.part` that such an end left behind is overwritten by the next one.
class DurableFile {
 public:
  /// @throws Error if it cannot be made, or another process is writing it
  explicit DurableFile(std::string path) : path_(std::move(path)), part_(path_ + ".part") {
    while (!open_part()) {
    }
    if (::ftruncate(file_.number(), 0) != 0) throw_file_error("empty", part_);
  }
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile() {
    if (!is_committed_) ::unlink(part_.c_str());
  }

  /// Appends. @throws Error if the disk is full, or refuses
  void write(const void* data, std::size_t bytes) {
    write_at(size_, data, bytes);
    size_ += bytes;
  }

  /// Overwrites.
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::pwrite(file_.number(), from, bytes, static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw_file_error("write", part_);
      from += written;
      offset += static_cast<std::uint64_t>(written);
      bytes -= static_cast<std::size_t>(written);
    }
  }

  std::uint64_t size() const { return size_; }

  /// Makes it take the place of `path`, for good when this returns. @throws Error if it cannot
  void commit() {
    // In this order: the name must not lead to contents that are not on the disk, nor this return before the name is.
    if (::fsync(file_.number()) != 0) throw_file_error("write to the disk", part_);
    if (::rename(part_.c_str(), path_.c_str()) != 0) throw_file_error("give its name to", path_);
    is_committed_ = true;
    const std::size_t slash = path_.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.is_open() || ::fsync(directory.number()) != 0) throw_file_error("write to the disk", folder);
  }

 private:
  /// @return whether the file that was opened is still the one of that name, and now locked
  bool open_part() {
    file_ = Descriptor(::open(part_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (!file_.is_open()) throw_file_error("write", part_);
    if (::flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
      throw Error("dynasoar: '" + part_ + "' is being written by another save; give each its own path");
    }
    // Whoever had it locked may have renamed it since it was opened: it is a complete file now, and not to be touched.
    struct stat opened {};
    struct stat named {};
    return ::fstat(file_.number(), &opened) == 0 && ::stat(part_.c_str(), &named) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
  }

  std::string path_;
  std::string part_;
  Descriptor file_;
  std::uint64_t size_ = 0;
  bool is_committed_ = false;
};

/// A file that is read in parts. It stays the same one if another takes its name meanwhile.
class InputFile {
 public:
  /// @throws Error if it cannot be read
  explicit InputFile(std::string path) : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (!file_.is_open() || ::fstat(file_.number(), &status) != 0) throw_file_error("read", path_);
    if (!S_ISREG(status.st_mode)) throw Error("dynasoar: cannot read '" + path_ + "': it is not a file");
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// @return whether there were so many bytes. @throws Error if the disk refuses
  bool read_at(std::uint64_t offset, void* data, std::size_t bytes) const {
    char* to = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t got = ::pread(file_.number(), to, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw_file_error("read", path_);
      if (got == 0) return false;
      to += got;
      offset += static_cast<std::uint64_t>(got);
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  std::string path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace dynasoar::detail
