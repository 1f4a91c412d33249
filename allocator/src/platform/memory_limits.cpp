#include <dynasoar/platform/memory_limits.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace dynasoar::detail {

namespace {

using Path = std::filesystem::path;

std::string text_of(const Path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Removes the text before the next separator, and the separator, and returns the text.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// The number at the beginning of a text, after blanks. It does not depend on the locale.
std::optional<std::size_t> number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;  // such as "max"
  return number;
}

/// The number behind a name at the beginning of a line.
std::optional<std::size_t> number_of_line(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (line.starts_with(name)) return number_in(line.substr(name.size()));
  }
  return std::nullopt;
}

/// a - b, but at least 0.
std::size_t less(std::size_t a, std::size_t b) {
  return a - std::min(a, b);
}

/// The files of one version of control groups.
struct GroupFiles {
  const char* folders[2];  ///< folders at which its file system may be mounted
  const char* limits[2];
  const char* usage;
  const char* droppable;  ///< beginning of a line in memory.stat
};
constexpr GroupFiles kVersion1{{"sys/fs/cgroup/memory", "sys/fs/cgroup/memory"},
                               {"memory.limit_in_bytes", "memory.limit_in_bytes"},
                               "memory.usage_in_bytes",
                               "total_inactive_file "};
constexpr GroupFiles kVersion2{
    {"sys/fs/cgroup", "sys/fs/cgroup/unified"}, {"memory.max", "memory.high"}, "memory.current", "inactive_file "};

/// The memory that one group leaves; kUnlimited if it does not exist or has no limit.
std::size_t left_in_group(const Path& group, const GroupFiles& files) {
  std::size_t limit = kUnlimited;
  for (const char* const file : files.limits)
    limit = std::min(limit, number_in(text_of(group / file)).value_or(kUnlimited));
  if (limit == kUnlimited) return kUnlimited;
  const std::size_t used = number_in(text_of(group / files.usage)).value_or(0);
  const std::size_t droppable = number_of_line(text_of(group / "memory.stat"), files.droppable).value_or(0);
  return less(limit, less(used, droppable));
}

/// The memory that a group and the groups around it leave. In a container, the path may be that of the host, and only
/// the last groups may exist. Groups that do not exist are skipped.
std::size_t left_in_groups(const Path& folder, const Path& path, const GroupFiles& files) {
  std::size_t left = kUnlimited;
  for (Path group = path.relative_path();; group = group.parent_path()) {
    left = std::min(left, left_in_group(folder / group, files));
    if (group.empty()) return left;
  }
}

std::size_t left_of(int resource, std::size_t used) {
  rlimit limit{};
  if (getrlimit(static_cast<decltype(RLIMIT_AS)>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return kUnlimited;
  return less(limit.rlim_cur, used) / 4 * 3;
}

}  // namespace

std::size_t available_memory(const Path& root) {
  const auto kilobytes = number_of_line(text_of(root / "proc/meminfo"), "MemAvailable:");
  return kilobytes ? *kilobytes * 1024 : kUnlimited;
}

std::size_t control_group_memory(const Path& root) {
  std::size_t left = kUnlimited;
  const std::string groups = text_of(root / "proc/self/cgroup");
  for (std::string_view lines = groups; !lines.empty();) {  // "4:memory:/a/b" in version 1, "0::/a/b" in version 2
    std::string_view line = take_until(lines, '\n');
    const std::string_view number = take_until(line, ':');
    std::string_view controllers = take_until(line, ':');
    bool has_memory = number == "0" && controllers.empty();
    const GroupFiles& files = has_memory ? kVersion2 : kVersion1;
    while (!controllers.empty()) has_memory = take_until(controllers, ',') == "memory" || has_memory;
    if (!has_memory) continue;
    for (const char* const folder : files.folders) left = std::min(left, left_in_groups(root / folder, line, files));
  }
  return left;
}

std::size_t mappable_memory(const Path& root) {
  const std::string status = text_of(root / "proc/self/status");
  const auto used = [&](std::string_view name) { return 1024 * number_of_line(status, name).value_or(0); };
  return std::min(left_of(RLIMIT_AS, used("VmSize:")), left_of(RLIMIT_DATA, used("VmData:")));
}

std::size_t host_memory_left(const Path& root) {
  return std::min({available_memory(root), control_group_memory(root), mappable_memory(root)});
}

std::size_t device_memory_left(std::size_t free, bool is_hosts, const Path& root) {
  return std::min(free, is_hosts ? host_memory_left(root) : mappable_memory(root));
}

}  // namespace dynasoar::detail
