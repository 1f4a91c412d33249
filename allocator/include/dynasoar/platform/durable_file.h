/// @file
/// The library's file classes. A DurableFile is written as a whole or not at all, even if the program or the machine
/// stops. An OutputFile is written in place, and an InputFile is read. No operation waits forever. Used by all code
/// that reads or writes files.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

/// @throws Error with the text of `errno` and what to do about it
[[noreturn]] void throw_file_error(const char* what, const std::string& path);

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

/// The order in which a file is written.
enum class Writing { in_order, anywhere };

/// The path of the real file: follows symbolic links, even if they lead to a file that does not exist yet.
/// @throws Error if they lead in a circle
std::string real_path(const std::string& path);

/// A file, FIFO or character device that is written in place. A full disk, a file size limit or a reader that has gone
/// is an Error and not a signal.
class OutputFile {
 public:
  OutputFile() = default;

  /// Opens the file to which `path` leads, or creates it. Empties a regular file.
  /// @throws Error if it cannot be written: a folder, a socket, a block device, a FIFO that no program reads
  explicit OutputFile(const std::string& path);

  /// @param name   for messages
  OutputFile(Descriptor file, std::string name);

  /// Appends data. If it throws, `size` is the number of written bytes.
  /// @throws Error if the disk is full or reports an error; if a FIFO's reader has gone, or reads nothing for 5 s; or
  ///         if a signal interrupted the wait for the reader
  void write(const void* data, std::size_t bytes);

  /// Overwrites data. @pre is_seekable()
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);

  bool is_seekable() const { return is_seekable_; }
  std::uint64_t size() const { return size_; }
  int number() const { return file_.number(); }

 private:
  std::size_t write_some(std::uint64_t offset, const char* data, std::size_t bytes);

  Descriptor file_;
  std::string name_;
  bool is_seekable_ = false;
  std::uint64_t size_ = 0;
};

/// Writes a temporary file in the folder of the real file, with `.part` added to its name. When it is complete and on
/// the disk, it replaces the real file. Until then, the real file is unchanged, even if the program or the machine
/// stops. The new file has the mode of the old one, and its owner and group if the program may set them.
///
/// A `.part` file that an interrupted program has left is replaced. Anything else with this name, such as a symbolic
/// link, is an error. Files that are not regular, such as /dev/null or a FIFO, are written in place.
class DurableFile {
 public:
  /// @throws Error if the file cannot be created, if another process is writing it, or if `writing` is `anywhere` and
  ///         the file is a FIFO or a terminal
  explicit DurableFile(const std::string& path, Writing writing = Writing::in_order);
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile();

  /// Appends data. @throws Error as OutputFile::write does
  void write(const void* data, std::size_t bytes) { file_.write(data, bytes); }

  /// Overwrites data. @pre the file was opened with Writing::anywhere
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes) { file_.write_at(offset, data, bytes); }

  std::uint64_t size() const { return file_.size(); }

  /// Replaces the real file. The change is permanent when this returns. @throws Error if this fails
  void commit();

 private:
  bool open_part(bool replaces);
  void remove_left_part() const;

  std::string path_;
  std::string part_;  // empty: the file is written in place
  OutputFile file_;
  bool is_committed_ = false;
};

/// The name of the temporary file of a real file.
inline std::string part_of(const std::string& path) {
  return path + ".part";
}

/// A regular file that is read in parts. If another file is renamed to its path meanwhile, it still reads the old file.
class InputFile {
 public:
  /// @throws Error if it cannot be read, or is not a regular file
  explicit InputFile(std::string path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// @return whether the file has these bytes. @throws Error if it cannot be read
  bool read_at(std::uint64_t offset, void* data, std::size_t bytes) const;

 private:
  std::string path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace dynasoar::detail
