// What the host has left for a heap: the least of what the machine, control groups and resource limits leave.
#include <sys/resource.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include <dynasoar/platform/memory_limits.h>

#include "../dsl/test_folder.h"

namespace memory_limits_test {

using namespace dynasoar::detail;

/// A folder that stands for `/`.
class FakeRoot {
 public:
  std::string path() const { return folder_ / ""; }
  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

 private:
  dynasoar::test::TestFolder folder_;
};

TEST_CASE("available memory is what the kernel says, and unlimited where it says nothing") {
  const FakeRoot root;
  CHECK(available_memory(root.path()) == kUnlimited);
  root.write("proc/meminfo", "MemTotal:       9000 kB\nMemFree:         1 kB\nMemAvailable:    5000 kB\n");
  CHECK(available_memory(root.path()) == 5000 * 1024);
}

TEST_CASE("of nested groups of version 2, the tightest counts, less what is used, but for what can be dropped") {
  const FakeRoot root;
  CHECK(control_group_memory(root.path()) == kUnlimited);
  root.write("proc/self/cgroup", "0::/batch/job 7:x\n");
  root.write("sys/fs/cgroup/batch/job 7:x/memory.max", "max\n");
  CHECK(control_group_memory(root.path()) == kUnlimited);
  root.write("sys/fs/cgroup/batch/memory.max", "1000000\n");
  CHECK(control_group_memory(root.path()) == 1000000);
  root.write("sys/fs/cgroup/batch/memory.current", "400000\n");
  CHECK(control_group_memory(root.path()) == 600000);
  root.write("sys/fs/cgroup/batch/memory.stat", "anon 1\ninactive_file 100000\nfile 3\n");
  CHECK(control_group_memory(root.path()) == 700000);
  root.write("sys/fs/cgroup/batch/job 7:x/memory.high", "500000\n");
  CHECK(control_group_memory(root.path()) == 500000);
  root.write("sys/fs/cgroup/memory.max", "300\n");  // a container's own
  CHECK(control_group_memory(root.path()) == 300);
  root.write("sys/fs/cgroup/memory.current", "301\n");
  CHECK(control_group_memory(root.path()) == 0);
}

TEST_CASE("groups of version 1 count, also beside those of version 2, and if their path is not there") {
  const FakeRoot root;
  root.write("proc/self/cgroup", "9:name=systemd:/memory\n5:cpu,memory:/docker/1234/x\n0::/\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(control_group_memory(root.path()) == 9223372036854771712u);
  root.write("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "2000\n");
  root.write("sys/fs/cgroup/memory/docker/memory.usage_in_bytes", "500\n");
  CHECK(control_group_memory(root.path()) == 1500);
  root.write("sys/fs/cgroup/memory/docker/memory.stat", "inactive_file 7\ntotal_inactive_file 100\n");
  CHECK(control_group_memory(root.path()) == 1600);
  root.write("sys/fs/cgroup/unified/memory.max", "1000\n");
  CHECK(control_group_memory(root.path()) == 1000);
}

/// Limits a resource of the process while it lives, to a value that leaves the sanitizers their addresses.
class Limited {
 public:
  static constexpr std::size_t kLimit = std::size_t{1} << 46;

  explicit Limited(int resource) : resource_(static_cast<decltype(RLIMIT_AS)>(resource)) {
    REQUIRE(getrlimit(resource_, &before_) == 0);
    const rlimit tight{kLimit, before_.rlim_max};
    REQUIRE(setrlimit(resource_, &tight) == 0);
  }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;
  ~Limited() { setrlimit(resource_, &before_); }

 private:
  decltype(RLIMIT_AS) resource_;
  rlimit before_{};
};

/// Writes what the process is said to have mapped, so that Limited leaves it so many bytes.
void leave(const FakeRoot& root, std::size_t bytes) {
  root.write("proc/self/status", "Name:\tx\nVmSize:\t " + std::to_string((Limited::kLimit - bytes) / 1024) + " kB\n");
}

TEST_CASE("limits of addresses and data count, less what the process has") {
  const FakeRoot root;
  root.write("proc/self/status", "Name:\tx\nVmSize:\t    2000000 kB\nVmData:\t    1000000 kB\n");
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    const std::size_t used = resource == RLIMIT_AS ? 2'048'000'000 : 1'024'000'000;
    const Limited limited(resource);
    CHECK(mappable_memory(root.path()) == (Limited::kLimit - used) / 4 * 3);
  }
}

TEST_CASE("the least of all counts") {
  const FakeRoot root;
  CHECK(host_memory_left(root.path()) == kUnlimited);
  root.write("proc/meminfo", "MemAvailable:    5000 kB\n");
  CHECK(host_memory_left(root.path()) == 5000 * 1024);
  root.write("proc/self/cgroup", "0::/a\n");
  root.write("sys/fs/cgroup/a/memory.max", "1000000\n");
  CHECK(host_memory_left(root.path()) == 1000000);
  leave(root, 8192);
  const Limited limited(RLIMIT_AS);
  CHECK(host_memory_left(root.path()) == 6144);
  root.write("sys/fs/cgroup/a/memory.max", "6143\n");
  CHECK(host_memory_left(root.path()) == 6143);
  root.write("proc/meminfo", "MemAvailable:    5 kB\n");
  CHECK(host_memory_left(root.path()) == 5 * 1024);
}

TEST_CASE(
    "a heap on a GPU gets what the GPU has free, unless the process may map less; on the host, what the host has "
    "left") {
  constexpr std::size_t kGpu = std::size_t{80} << 30;
  const FakeRoot root;
  root.write("proc/meminfo", "MemAvailable:    5000 kB\n");
  root.write("proc/self/cgroup", "0::/a\n");
  root.write("sys/fs/cgroup/a/memory.max", "1000000\n");
  CHECK(device_memory_left(kGpu, false, root.path()) == kGpu);
  CHECK(device_memory_left(kGpu, true, root.path()) == 1000000);
  CHECK(device_memory_left(999, true, root.path()) == 999);
  leave(root, std::size_t{4} << 30);
  const Limited limited(RLIMIT_AS);
  CHECK(device_memory_left(kGpu, false, root.path()) == std::size_t{3} << 30);
  CHECK(device_memory_left(kGpu, true, root.path()) == 1000000);
  CHECK(device_memory_left(999, false, root.path()) == 999);
}

}  // namespace memory_limits_test
