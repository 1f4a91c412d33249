// Files are written as a whole or not at all, where symbolic links lead, with their modes; devices and FIFOs in place;
// and nothing waits for ever. Problems are found before anything is written.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/platform/durable_file.h>
#include <dynasoar/write_file.h>

#include "test_folder.h"

namespace output_files_test {

namespace fs = std::filesystem;
using doctest::Contains;
using namespace dynasoar;
using namespace dynasoar::detail;
using namespace dynasoar::test;
using Clock = std::chrono::steady_clock;

struct stat status_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}
unsigned mode_of(const std::string& path) {
  return status_of(path).st_mode & 07777;
}

/// What the system's calls below do instead of what they would do, while one lives.
struct SystemCalls {
  std::size_t most_at_once = std::numeric_limits<std::size_t>::max();  ///< bytes that pwrite writes
  int fsync_error = 0;                                                 ///< of the call of that number
  std::size_t fsync_fails = std::numeric_limits<std::size_t>::max();
  std::vector<std::string> synced;  ///< names of what fsync was called for

  SystemCalls() { current = this; }
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;
  ~SystemCalls() { current = nullptr; }

  static inline SystemCalls* current = nullptr;
};

}  // namespace output_files_test

// They take the place of the C library's in this program.
extern "C" {
ssize_t pwrite(int file, const void* data, std::size_t bytes, off_t offset) {
  const auto* const calls = output_files_test::SystemCalls::current;
  return ::syscall(SYS_pwrite64, file, data, calls == nullptr ? bytes : std::min(bytes, calls->most_at_once), offset);
}
int fsync(int file) {
  auto* const calls = output_files_test::SystemCalls::current;
  if (calls == nullptr) return static_cast<int>(::syscall(SYS_fsync, file));
  calls->synced.push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file)).string());
  if (calls->synced.size() - 1 != calls->fsync_fails) return 0;
  errno = calls->fsync_error;
  return -1;
}
}

namespace output_files_test {

/// Takes away the rights of a superuser, while it lives, if the test runs as one.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    if (is_root_) REQUIRE(::seteuid(65534) == 0);
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  ~OrdinaryUser() {
    if (is_root_) CHECK(::seteuid(0) == 0);
  }

 private:
  bool is_root_ = ::geteuid() == 0;
};

TEST_CASE("a file is written where symbolic links lead, and its temporary file beside it") {
  const TestFolder folder;
  fs::create_directories(folder / "real");
  fs::create_directories(folder / "links");
  std::ofstream(folder / "real/a") << "old";
  fs::create_symlink("../real/a", folder / "links/relative");
  fs::create_symlink(folder / "links/relative", folder / "links/chain");
  fs::create_symlink("../real/new", folder / "links/dangling");
  for (const char* const link : {"links/relative", "links/chain"}) {
    CAPTURE(link);
    DurableFile file(folder / link);
    CHECK(fs::exists(folder / "real/a.part"));
    CHECK(dynasoar::temporary_path(folder / link) == (fs::path(folder / "links") / "../real/a.part").string());
    file.write(link, 5);
    file.commit();
    CHECK(contents_of(folder / "real/a") == std::string(link, 5));
    CHECK(fs::is_symlink(folder / link));
  }
  write_file(folder / "links/dangling", "new");
  CHECK(contents_of(folder / "real/new") == "new");
  CHECK(fs::is_symlink(folder / "links/dangling"));
  CHECK(std::distance(fs::directory_iterator(folder / "real"), {}) == 2);
  CHECK(std::distance(fs::directory_iterator(folder / "links"), {}) == 3);

  // As many links as the system follows, and one more.
  const std::string real = fs::canonical(folder / ".").string();
  for (int i = 0; i <= 40; ++i) {
    fs::create_symlink(i == 0 ? "end" : std::to_string(i - 1), real + '/' + std::to_string(i));
  }
  write_file(real + "/39", "40 links");
  CHECK(contents_of(folder / "end") == "40 links");
  CHECK_THROWS_WITH_AS(write_file(real + "/40", ""), Contains("Too many levels of symbolic links"), Error);

  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  CHECK_THROWS_WITH_AS(write_file(folder / "a", ""), Contains("Too many levels of symbolic links"), Error);
  CHECK_THROWS_WITH_AS(check_output_path(folder / "a"), Contains("Too many levels of symbolic links"), Error);
}

TEST_CASE("a file is on the disk before it has its name, and its name before the call returns") {
  const TestFolder folder;
  const std::string real = fs::canonical(folder / ".").string();
  {
    const SystemCalls calls;
    write_file(folder / "a", "1");
    CHECK(calls.synced == std::vector{real + "/a.part", real});
  }
  {
    const fs::path before = fs::current_path();
    fs::current_path(real);
    const SystemCalls calls;
    write_file("a", "2");
    CHECK(calls.synced == std::vector{real + "/a.part", real});
    fs::current_path(before);
  }
  const auto write_with = [&](std::size_t failing, int error) {
    SystemCalls calls;
    calls.fsync_fails = failing;
    calls.fsync_error = error;
    write_file(folder / "a", "3");
  };
  CHECK_THROWS_WITH_AS(write_with(0, EIO), Contains("cannot write to the disk '"), Error);
  CHECK(contents_of(folder / "a") == "2");
  CHECK_THROWS_WITH_AS(write_with(1, EIO), Contains("cannot write to the disk '"), Error);
  CHECK_NOTHROW(write_with(1, EINVAL));  // file systems that cannot do that for folders
  CHECK(folder.files() == 1);
}

TEST_CASE("what the system writes in several parts is written as a whole") {
  const TestFolder folder;
  SystemCalls calls;
  calls.most_at_once = 3;
  write_file(folder / "a", "0123456789");
  CHECK(contents_of(folder / "a") == "0123456789");
  DurableFile file(folder / "b", Writing::anywhere);
  file.write("0123456789", 10);
  file.write_at(2, "abcdefg", 7);
  file.commit();
  CHECK(contents_of(folder / "b") == "01abcdefg9");
}

TEST_CASE("a file that a program has open is not replaced by its name in /proc") {
  const TestFolder folder;
  const OutputFile open(folder / "a");
  const std::string name = "/proc/self/fd/" + std::to_string(open.number());
  CHECK_THROWS_WITH_AS(write_file(name, "x"), Contains("name the file itself"), Error);
  CHECK(folder.files() == 1);
}

TEST_CASE("what is planted under the name of the temporary file is neither followed nor written") {
  const TestFolder folder;
  std::ofstream(folder / "a") << "old";
  std::ofstream(folder / "victim") << "precious";
  const auto is_refused = [&](const char* why) {
    CHECK_THROWS_WITH_AS(write_file(folder / "a", "new"), Contains(why), Error);
    CHECK_THROWS_WITH_AS(check_output_path(folder / "a"), Contains(why), Error);
    CHECK_THROWS_WITH_AS(check_output_path(folder / "a", OutputUse::checkpoint), Contains("remove it"), Error);
    CHECK_NOTHROW(check_output_path(folder / "a", OutputUse::in_place));
    CHECK(contents_of(folder / "a") == "old");
    CHECK(contents_of(folder / "victim") == "precious");
    fs::remove(folder / "a.part");
  };
  fs::create_symlink("victim", folder / "a.part");
  is_refused("a.part': it is a symbolic link, and the name is needed for a temporary file; remove it");
  fs::create_symlink("nothing", folder / "a.part");
  is_refused("it is a symbolic link");
  CHECK_FALSE(fs::exists(folder / "nothing"));
  REQUIRE(::mkfifo((folder / "a.part").c_str(), 0600) == 0);
  is_refused("it is a FIFO");
  fs::create_directory(folder / "a.part");
  is_refused("it is a folder");
  // Another name of the victim is removed, as a file that a killed program left behind would be; the victim stays.
  fs::create_hard_link(folder / "victim", folder / "a.part");
  write_file(folder / "a", "new");
  CHECK(contents_of(folder / "a") == "new");
  CHECK(contents_of(folder / "victim") == "precious");
  CHECK(folder.files() == 2);
}

TEST_CASE("a file keeps its mode and owner, and no other user can read it meanwhile") {
  const TestFolder folder;
  const mode_t before = ::umask(022);
  write_file(folder / "a", "1");
  CHECK(mode_of(folder / "a") == 0644);
  for (const mode_t mode : {0600u, 0640u, 0666u, 02755u}) {
    CAPTURE(mode);
    fs::permissions(folder / "a", static_cast<fs::perms>(mode));
    DurableFile file(folder / "a", Writing::anywhere);
    CHECK(mode_of(folder / "a.part") == mode);
    file.commit();
    CHECK(mode_of(folder / "a") == mode);
  }
  if (::geteuid() == 0) {
    REQUIRE(::chown((folder / "a").c_str(), 12345, 23456) == 0);
    fs::permissions(folder / "a", static_cast<fs::perms>(0660));
    write_file(folder / "a", "2");
    CHECK(status_of(folder / "a").st_uid == 12345);
    CHECK(status_of(folder / "a").st_gid == 23456);
    CHECK(mode_of(folder / "a") == 0660);
    // A program that may not keep the group does not open the file to another group.
    fs::permissions(folder / ".", static_cast<fs::perms>(0777));
    fs::permissions(folder / "a", static_cast<fs::perms>(0666));
    REQUIRE(::chown((folder / "a").c_str(), 65534, 23456) == 0);
    fs::permissions(folder / "a", static_cast<fs::perms>(0660));
    const OrdinaryUser user;
    write_file(folder / "a", "3");
    CHECK(mode_of(folder / "a") == 0600);
  }
  ::umask(before);
}

TEST_CASE("what was left behind is replaced, and what another save writes is not touched") {
  const TestFolder folder;
  std::ofstream(folder / "a.part") << "left behind";
  {
    DurableFile file(folder / "a");
    CHECK_THROWS_WITH_AS(write_file(folder / "a", "other"), Contains("being written by another save"), Error);
    CHECK_THROWS_WITH_AS(check_output_path(folder / "a"), Contains("being written by another save"), Error);
    file.write("new", 3);
    file.commit();
  }
  CHECK(contents_of(folder / "a") == "new");
  { DurableFile not_committed(folder / "a"); }
  CHECK(contents_of(folder / "a") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("devices are written in place, and stay devices") {
  const TestFolder folder;
  fs::create_symlink("/dev/null", folder / "null");
  write_file(folder / "null", "x");
  DurableFile file(folder / "null", Writing::anywhere);
  file.write("xyz", 3);
  file.write_at(0, "x", 1);
  file.commit();
  CHECK(S_ISCHR(status_of("/dev/null").st_mode));
  CHECK(fs::is_symlink(folder / "null"));
  if (fs::exists("/dev/ptmx")) {  // a terminal
    CHECK_NOTHROW(DurableFile("/dev/ptmx"));
    CHECK_THROWS_WITH_AS(DurableFile("/dev/ptmx", Writing::anywhere), Contains("can only be written in order"), Error);
  }
  CHECK_THROWS_WITH_AS(write_file("/dev/full", "x"), Contains("No space left on device; make room"), Error);
  CHECK_THROWS_WITH_AS(write_file(folder / ".", "x"), Contains("it is a folder; name a file"), Error);
  CHECK(folder.files() == 1);
}

TEST_CASE("a FIFO is written in place while it is read, and never waited for without end") {
  const TestFolder folder;
  const std::string fifo = folder / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const auto start = Clock::now();
  CHECK_THROWS_WITH_AS(write_file(fifo, "x"), Contains("no program reads from it: start the reader first"), Error);
  CHECK_THROWS_WITH_AS(OutputFile{fifo}, Contains("no program reads from it"), Error);
  CHECK_THROWS_WITH_AS(InputFile{fifo}, Contains("it is not a file but a FIFO"), Error);
  CHECK_THROWS_WITH_AS(DurableFile(fifo, Writing::anywhere), Contains("it is a FIFO, and can only be written in order"),
                       Error);
  CHECK_THROWS_WITH_AS(check_output_path(fifo, OutputUse::checkpoint), Contains("written in order"), Error);
  CHECK_NOTHROW(check_output_path(fifo));
  CHECK_NOTHROW(check_output_path(fifo, OutputUse::in_place));

  std::string much;
  for (int i = 0; i < 50'000; ++i) much += std::to_string(100'000 + i);
  std::string received;
  std::thread reader([&] { received = contents_of(fifo); });
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    const int descriptor = ::open(fifo.c_str(), O_WRONLY | O_NONBLOCK);
    if (descriptor < 0) continue;  // the reader has not come yet
    write_file(fifo, much);
    ::close(descriptor);
    break;
  }
  reader.join();
  CHECK(received == much);
  CHECK(Clock::now() - start < std::chrono::seconds(4));

  const int idle = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(idle >= 0);
  CHECK_THROWS_WITH_AS(write_file(fifo, much), Contains("has taken nothing for 5 s"), Error);
  const auto before = std::signal(SIGALRM, [](int) {});
  const itimerval soon{{0, 0}, {0, 50'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  const auto interrupted = Clock::now();
  CHECK_THROWS_WITH_AS(write_file(fifo, much), Contains("Interrupted"), Error);
  CHECK(Clock::now() - interrupted < std::chrono::seconds(4));
  std::signal(SIGALRM, before);
  OutputFile file(fifo);
  ::close(idle);
  CHECK_THROWS_WITH_AS(file.write("x", 1), Contains("the program that read from it has ended"), Error);  // no SIGPIPE
  CHECK(S_ISFIFO(status_of(fifo).st_mode));
}

TEST_CASE("a limit on the size of files is an error and not a signal, and a later write goes on") {
  const TestFolder folder;
  OutputFile log(folder / "log");
  {
    const dynasoar::test::FullDisk disk(16);
    CHECK_THROWS_WITH_AS(log.write("0123456789abcdefghij", 20), Contains("File too large; raise the limit"), Error);
    CHECK(log.size() == 16);
    CHECK_THROWS_AS(write_file(folder / "a", std::string(100, 'x')), Error);
  }
  log.write("ghij", 4);
  CHECK(contents_of(folder / "log") == "0123456789abcdefghij");
  CHECK(folder.files() == 1);
}

TEST_CASE("outputs that cannot be written are found, and what is there stays as it is") {
  const TestFolder folder;
  fs::permissions(folder / ".", static_cast<fs::perms>(0777));
  std::ofstream(folder / "a") << "old";
  for (const OutputUse use : {OutputUse::whole_file, OutputUse::checkpoint, OutputUse::in_place}) {
    CAPTURE(static_cast<int>(use));
    CHECK_NOTHROW(check_output_path(folder / "a", use));
    CHECK_NOTHROW(check_output_path(folder / "new", use));
    CHECK_NOTHROW(check_output_path("/dev/null", use));
    CHECK(folder.files() == 1);
    CHECK(contents_of(folder / "a") == "old");
    CHECK_THROWS_WITH_AS(check_output_path(folder / "no/a", use), Contains("make its folder first"), Error);
    CHECK_THROWS_WITH_AS(check_output_path(folder / "a/b", use), Contains("Not a directory"), Error);
    CHECK_THROWS_WITH_AS(check_output_path(folder / ".", use), Contains("is a folder"), Error);
    CHECK_THROWS_AS(check_output_path("", use), Error);
    CHECK_THROWS_WITH_AS(check_output_path(folder / std::string(256, 'x'), use), Contains("shorter name"), Error);
    CHECK_NOTHROW(check_output_path(folder / std::string(250, 'x'), use));
    CHECK((use == OutputUse::in_place) == [&] {
      try {
        check_output_path(folder / std::string(251, 'x'), use);  // its temporary file's name is too long
        return true;
      } catch (const Error&) {
        return false;
      }
    }());
    fs::create_symlink("no/such", folder / "link");
    CHECK_THROWS_AS(check_output_path(folder / "link", use), Error);
    fs::remove(folder / "link");
    fs::create_symlink("new", folder / "link");
    CHECK_NOTHROW(check_output_path(folder / "link", use));
    CHECK(fs::is_symlink(folder / "link"));
    fs::remove(folder / "link");
    {
      const OrdinaryUser user;
      if (::geteuid() != status_of(folder / "a").st_uid) {
        CHECK_THROWS_WITH_AS(check_output_path(folder / "a", use), Contains("change the permissions"), Error);
      }
      fs::create_directory(folder / "closed");
      std::ofstream(folder / "closed/a") << "old";
      fs::permissions(folder / "closed", static_cast<fs::perms>(0555));
      CHECK_THROWS_WITH_AS(check_output_path(folder / "closed/b", use), Contains("change the permissions"), Error);
      if (use == OutputUse::in_place) {
        CHECK_NOTHROW(check_output_path(folder / "closed/a", use));
      } else {
        CHECK_THROWS_WITH_AS(check_output_path(folder / "closed/a", use), Contains("change the permissions"), Error);
      }
      fs::permissions(folder / "closed", static_cast<fs::perms>(0755));
      fs::permissions(folder / "closed/a", static_cast<fs::perms>(0444));
      CHECK_THROWS_WITH_AS(check_output_path(folder / "closed/a", use), Contains("change the permissions"), Error);
      CHECK(contents_of(folder / "closed/a") == "old");
      fs::remove_all(folder / "closed");
    }
  }
}

TEST_CASE("two paths to one file are known, whether it exists or not") {
  const TestFolder folder;
  fs::create_directories(folder / "d");
  std::ofstream(folder / "a") << "a";
  std::ofstream(folder / "b") << "a";
  fs::create_hard_link(folder / "a", folder / "hard");
  fs::create_symlink("a", folder / "soft");
  fs::create_symlink("d", folder / "e");
  fs::create_symlink("d/new", folder / "dangling");
  const auto same = [&](const char* first, const char* second) {
    CHECK(same_file(folder / first, folder / second) == same_file(folder / second, folder / first));
    return same_file(folder / first, folder / second);
  };
  for (const char* const other : {"a", "./a", "d/../a", "hard", "soft", "e/../a"}) CHECK(same("a", other));
  for (const char* const other : {"b", "d", "new", "dangling"}) CHECK_FALSE(same("a", other));
  for (const char* const other : {"d/new", "d/./new", "d/../d/new", "e/new", "dangling"}) CHECK(same("d/new", other));
  for (const char* const other : {"new", "d/other", "d/new.part"}) CHECK_FALSE(same("d/new", other));
  CHECK(same("no/such/x", "no/such/../such/x"));
  CHECK_FALSE(same("no/such/x", "no/other/x"));
  CHECK_FALSE(same_file("/dev/null", "/dev/null"));
  const fs::path before = fs::current_path();
  fs::current_path(folder / "d");
  CHECK(same_file("new", folder / "d/new"));
  CHECK(same_file("../a", folder / "a"));
  fs::current_path(before);
}

}  // namespace output_files_test
