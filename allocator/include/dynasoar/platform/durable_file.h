/// @file
/// The files of the library. DurableFile: written as a whole or not at all, whatever happens meanwhile. OutputFile:
/// written in place. InputFile: read. None of them waits for ever. Used by checkpoints and by all that writes files.
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

/// The path of the real file: symbolic links in the place of the file are followed, also if they lead to a file that
/// does not exist yet. @throws Error if they lead in a circle
std::string real_path(const std::string& path);

/// A file, FIFO or character device that is written in place. A full disk, a file size limit or a reader that has gone
/// is an Error and not a signal.
class OutputFile {
 public:
  OutputFile() = default;

  /// Opens what `path` leads to, or makes a file. A regular file is emptied.
  /// @throws Error if it cannot be written: a folder, a socket, a block device, a FIFO that no program reads
  explicit OutputFile(const std::string& path);

  /// @param name   for messages
  OutputFile(Descriptor file, std::string name);

  /// Appends. When it throws, `size` says how much was written.
  /// @throws Error if the disk is full or refuses; or if a FIFO's reader has gone, or takes nothing for 5 s, or a
  /// signal interrupted the wait for it
  void write(const void* data, std::size_t bytes);

  /// Overwrites. @pre is_seekable()
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

/// Writes a file beside the real one, with `.part` added to its name, which takes the place of the real one when it is
/// complete and on the disk. Until then, whatever ends the program or the machine, the real one is what it was. It
/// keeps its mode, and its owner and group where the program may set them.
///
/// A `.part` that such an end left behind is replaced. Anything else of that name, such as a symbolic link, is an
/// error. What is not a regular file, such as /dev/null or a FIFO, is written in place.
class DurableFile {
 public:
  /// @throws Error if it cannot be made, or another process is writing it, or it must be written anywhere and is a FIFO
  /// or a terminal
  explicit DurableFile(const std::string& path, Writing writing = Writing::in_order);
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile();

  /// Appends. @throws as OutputFile::write does
  void write(const void* data, std::size_t bytes) { file_.write(data, bytes); }

  /// Overwrites. @pre it was made to be written anywhere
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes) { file_.write_at(offset, data, bytes); }

  std::uint64_t size() const { return file_.size(); }

  /// Makes it take the place of the real file, for good when this returns. @throws Error if it cannot
  void commit();

 private:
  bool open_part(bool replaces);
  void remove_left_part() const;

  std::string path_;
  std::string part_;  // empty: written in place
  OutputFile file_;
  bool is_committed_ = false;
};

/// The name of the temporary file of a real file.
inline std::string part_of(const std::string& path) {
  return path + ".part";
}

/// A regular file that is read in parts. It stays the same one if another takes its name meanwhile.
class InputFile {
 public:
  /// @throws Error if it cannot be read, or is not a regular file
  explicit InputFile(std::string path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// @return whether there were so many bytes. @throws Error if the disk refuses
  bool read_at(std::uint64_t offset, void* data, std::size_t bytes) const;

 private:
  std::string path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace dynasoar::detail
