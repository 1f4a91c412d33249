#include <dynasoar/platform/durable_file.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/vfs.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

namespace dynasoar::detail {

namespace {

constexpr int kStallMilliseconds = 5000;

/// The advice for an error; empty if there is none.
const char* advice(int code) {
  switch (code) {
    case ENOENT: return "; make its folder first, or name another file";
    case EACCES:
    case EPERM:
    case EROFS: return "; change the permissions of the file and its folder, or name another file";
    case ENAMETOOLONG: return "; choose a shorter name (saving adds '.part' to it for a while)";
    case ENOSPC:
    case EDQUOT: return "; make room on the disk";
    case EFBIG: return "; raise the limit on the size of files (ulimit -f)";
    case ENXIO: return "; no program reads from it: start the reader first";
    case EPIPE: return "; the program that read from it has ended";
    default: return "";
  }
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISLNK(mode)) return "a symbolic link";
  return S_ISREG(mode) ? "a regular file" : S_ISBLK(mode) ? "a block device" : "a device";
}

[[noreturn]] void refuse(const char* what, const std::string& path, const std::string& why) {
  throw Error("dynasoar: cannot " + std::string(what) + " '" + path + "': " + why);
}

void require_writable_kind(const std::string& path, mode_t mode) {
  if (S_ISREG(mode) || S_ISCHR(mode) || S_ISFIFO(mode)) return;
  refuse("write", path, std::string("it is ") + kind_of(mode) + "; name a file");
}

/// Opens a file without waiting for a FIFO's reader, and without emptying a file of the wrong kind.
Descriptor open_in_place(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) require_writable_kind(path, status.st_mode);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666));
  if (!file.is_open() || ::fstat(file.number(), &status) != 0) throw_file_error("write", path);
  require_writable_kind(path, status.st_mode);
  if (S_ISREG(status.st_mode) && ::ftruncate(file.number(), 0) != 0) throw_file_error("empty", path);
  return file;
}

/// During its lifetime, failing writes in this thread are errors and not signals that end the program.
class NoWriteSignals {
 public:
  NoWriteSignals() {
    sigemptyset(&signals_);
    sigset_t pending;
    sigpending(&pending);
    for (const int signal : {SIGPIPE, SIGXFSZ}) {
      if (sigismember(&pending, signal) == 0) sigaddset(&signals_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  NoWriteSignals(const NoWriteSignals&) = delete;
  NoWriteSignals& operator=(const NoWriteSignals&) = delete;
  ~NoWriteSignals() {
    const timespec at_once{};
    while (sigtimedwait(&signals_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signals_;
  sigset_t before_;
};

/// Gives a new file the owner and mode of the file that it replaces. It is never more accessible than the old one.
void keep_owner_and_mode(int file, const struct stat& before) {
  constexpr auto kSame = static_cast<uid_t>(-1);
  struct stat now {};
  if (::fstat(file, &now) != 0) return;
  mode_t mode = before.st_mode & 07777;
  if (now.st_uid != before.st_uid && ::fchown(file, before.st_uid, kSame) != 0) mode &= ~mode_t{S_ISUID};
  if (now.st_gid != before.st_gid && ::fchown(file, kSame, before.st_gid) != 0) {
    mode = (mode & ~mode_t{S_ISGID | S_IRWXG}) | (mode & S_IRWXO) << 3;  // the new group gets the rights of others
  }
  if (::fchmod(file, mode) != 0) return;  // it keeps the restrictive mode with which it was created
}

}  // namespace

void throw_file_error(const char* what, const std::string& path) {
  const int code = errno;
  refuse(what, path, std::string(std::strerror(code)) + advice(code));
}

std::string real_path(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path real = path;
  for (int links = 0; links <= 40; ++links) {  // the system follows 40 links
    std::error_code error;
    const fs::path target = fs::read_symlink(real, error);
    if (error) return real.string();  // it is no link
    struct statfs system {};
    const fs::path folder = real.parent_path();
    if (::statfs(folder.empty() ? "." : folder.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC) {
      refuse("write", path, "it is a file that a program has open, which cannot be replaced; name the file itself");
    }
    real = folder / target;
  }
  errno = ELOOP;
  throw_file_error("write", path);
}

OutputFile::OutputFile(const std::string& path) : OutputFile(open_in_place(path), path) {}

OutputFile::OutputFile(Descriptor file, std::string name)
    : file_(std::move(file)), name_(std::move(name)), is_seekable_(::lseek(file_.number(), 0, SEEK_CUR) >= 0) {}

void OutputFile::write(const void* data, std::size_t bytes) {
  const NoWriteSignals errors_only;
  for (const char* from = static_cast<const char*>(data); bytes > 0;) {
    const std::size_t written = write_some(size_, from, bytes);
    from += written;
    size_ += written;
    bytes -= written;
  }
}

void OutputFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  const NoWriteSignals errors_only;
  for (const char* from = static_cast<const char*>(data); bytes > 0;) {
    const std::size_t written = write_some(offset, from, bytes);
    from += written;
    offset += written;
    bytes -= written;
  }
}

/// Writes once. @return the number of written bytes, which may be 0
std::size_t OutputFile::write_some(std::uint64_t offset, const char* data, std::size_t bytes) {
  const ssize_t written = is_seekable_ ? ::pwrite(file_.number(), data, bytes, static_cast<off_t>(offset))
                                       : ::write(file_.number(), data, bytes);
  if (written >= 0) return static_cast<std::size_t>(written);
  if (errno == EINTR) return 0;
  if (errno != EAGAIN) throw_file_error("write", name_);
  pollfd room{file_.number(), POLLOUT, 0};
  const int ready = ::poll(&room, 1, kStallMilliseconds);
  if (ready < 0) throw_file_error("write", name_);
  if (ready == 0) refuse("write", name_, "the program that reads from it has taken nothing for 5 s");
  return 0;
}

DurableFile::DurableFile(const std::string& path, Writing writing) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    const auto refuse_order = [&] {
      refuse("write", path,
             std::string("it is ") + kind_of(status.st_mode) + ", and can only be written in order; name a file");
    };
    if (writing == Writing::anywhere && S_ISFIFO(status.st_mode)) refuse_order();
    file_ = OutputFile(path);
    if (writing == Writing::anywhere && !file_.is_seekable()) refuse_order();
    return;
  }
  if (path.empty()) refuse("write", path, "its name is empty; name a file");
  path_ = real_path(path);
  part_ = part_of(path_);
  if (exists && ::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) throw_file_error("write", path_);
  for (int tries = 0; !open_part(exists); ++tries) {
    if (tries == 100) refuse("write", part_, "other programs keep making files of this name");
  }
  if (exists) keep_owner_and_mode(file_.number(), status);
}

DurableFile::~DurableFile() {
  if (!is_committed_ && !part_.empty()) ::unlink(part_.c_str());
}

/// Creates and locks the temporary file.
/// @param replaces   whether it will replace a file, so that it must not be more accessible than that file
/// @return whether the file is created and locked
bool DurableFile::open_part(bool replaces) {
  // Never follow a link, and never write to an existing file: only to a file that this call creates.
  Descriptor part(::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, replaces ? 0600 : 0666));
  if (!part.is_open()) {
    if (errno != EEXIST) throw_file_error("write", part_);
    remove_left_part();
    return false;
  }
  // The lock tells other saves that this one is alive. Some network file systems have no locks.
  const bool is_taken = ::flock(part.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  struct stat opened {};
  struct stat named {};
  const bool is_named = ::fstat(part.number(), &opened) == 0 && ::lstat(part_.c_str(), &named) == 0 &&
                        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
  if (is_taken || !is_named) return false;  // another save has just removed it as an abandoned file
  file_ = OutputFile(std::move(part), part_);
  return true;
}

/// Removes an abandoned file of an earlier save. @throws Error if it is something else, or another save is writing it
void DurableFile::remove_left_part() const {
  struct stat named {};
  if (::lstat(part_.c_str(), &named) != 0) return;  // gone
  if (!S_ISREG(named.st_mode)) {
    refuse("write", part_,
           std::string("it is ") + kind_of(named.st_mode) + ", and the name is needed for a temporary file; remove it");
  }
  const Descriptor left(::open(part_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!left.is_open() && errno == ENOENT) return;
  if (!left.is_open()) throw_file_error("lock", part_);
  if (::flock(left.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Error("dynasoar: '" + part_ + "' is being written by another save; give each its own path");
  }
  struct stat locked {};
  const bool is_named =
      ::fstat(left.number(), &locked) == 0 && locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
  if (is_named && ::unlink(part_.c_str()) != 0 && errno != ENOENT) throw_file_error("remove the old", part_);
}

void DurableFile::commit() {
  if (part_.empty()) return;
  // The order matters: the name must not lead to contents that are not on the disk, and this must not return before the
  // name is on the disk.
  if (::fsync(file_.number()) != 0) throw_file_error("write to the disk", part_);
  if (::rename(part_.c_str(), path_.c_str()) != 0) throw_file_error("give its name to", path_);
  is_committed_ = true;
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return;  // the folder may be writable but not readable
  if (::fsync(directory.number()) != 0 && errno != EINVAL) throw_file_error("write to the disk", folder);
}

InputFile::InputFile(std::string path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
  struct stat status {};
  if (!file_.is_open() || ::fstat(file_.number(), &status) != 0) {
    refuse("read", path_, std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    refuse("read", path_, std::string("it is not a file but ") + kind_of(status.st_mode));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

bool InputFile::read_at(std::uint64_t offset, void* data, std::size_t bytes) const {
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

}  // namespace dynasoar::detail
