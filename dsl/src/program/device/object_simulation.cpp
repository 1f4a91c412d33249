#include <dynasoar/program/object_simulation.h>

#include <limits>
#include <optional>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/program/options.h>

namespace dynasoar::detail {

void throw_too_small(std::size_t bytes, std::size_t needed, const char* model) {
  throw program::HeapTooSmall("the heap of " + std::to_string(bytes) + " bytes is too small for this " + model, needed);
}

namespace {

program::HeapUsage heap_usage(const Statistics& now) {
  program::HeapUsage usage{0, 0, now.heap_bytes, (now.pages - now.free_pages) * now.page_bytes, now.fragmentation()};
  for (const TypeStatistics& type : now.types) {
    if (!type.in_heap) continue;
    if (!type.created) {
      usage.allocations = usage.frees = std::nullopt;
      break;
    }
    *usage.allocations += *type.created;
    *usage.frees += *type.deleted();
  }
  return usage;
}

}  // namespace

std::vector<program::Row> log_rows_of(const std::vector<LogRow>& rows) {
  const auto number = []<class T>(const T& value) {
    if constexpr (std::is_same_v<T, std::monostate>) {
      return std::numeric_limits<double>::quiet_NaN();
    } else {
      return static_cast<double>(value);
    }
  };
  std::vector<program::Row> result;
  for (const LogRow& row : rows) {
    program::Row& numbers = result.emplace_back();
    for (const LogValue& value : row.values) numbers.push_back(std::visit(number, value));
  }
  return result;
}

std::vector<program::Column> log_columns_of(const std::vector<std::string>& names,
                                            const std::vector<bool>& are_counts) {
  std::vector<program::Column> columns;
  for (std::size_t i = 0; i < names.size(); ++i) columns.push_back({names[i], are_counts[i]});
  return columns;
}

program::Usage usage_of(const Statistics& now) {
  program::Usage usage;
  std::uint64_t room = 0;
  for (const TypeStatistics& type : now.types) {
    room += type.in_heap ? type.slots : type.places;
    if (type.in_heap && !usage.heap) usage.heap = heap_usage(now);
    if (type.places == 0) continue;
    usage.placed.push_back(type);
    usage.placed.back().name = plain_name(type.name);
  }
  if (room > 0) usage.slots_used = static_cast<double>(now.objects()) / static_cast<double>(room);
  return usage;
}

}  // namespace dynasoar::detail

namespace dynasoar::program {

std::size_t heap_bytes(std::uint64_t asked, std::size_t needed, std::size_t least) {
  if (asked == 0) return needed;
  if (asked < least) {
    throw HeapTooSmall("a heap of " + std::to_string(asked) + " bytes is too small for this allocator, which needs " +
                           std::to_string(least) + " at least",
                       needed);
  }
  return asked;
}

SavedRun::SavedRun(const SavedOptions& options, std::uint32_t& step) : options_(options.with_program().text()) {
  items_.add(dynasoar::value("step", step)).add(dynasoar::array("options", options_));
}

SavedRun::~SavedRun() = default;

void SavedRun::check(const std::string& path) const {
  std::vector<char> saved;
  std::uint32_t step = 0;
  try {
    dynasoar::load_values(path, dynasoar::array("options", saved), dynasoar::value("step", step));
  } catch (const dynasoar::CheckpointError& error) {
    if (error.fault() != dynasoar::CheckpointFault::other_values) throw;
    saved.clear();  // a checkpoint without options
  }
  SavedOptions(options_).check_same(SavedOptions(saved), path);
  constexpr std::uint32_t kMostSteps = std::numeric_limits<int>::max();  // the limit of --steps
  if (step > kMostSteps) {
    throw UsageError("--restore: " + path + " says that " + std::to_string(step) + " steps were made, but a run has " +
                     std::to_string(kMostSteps) + " at most; give another checkpoint");
  }
}

}  // namespace dynasoar::program
