#include "ranks.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <dynasoar/platform/error.h>
#include <dynasoar/program/options.h>

namespace dynasoar::program {
namespace {

// The exception that a rank has thrown. Sent as the numbers, and then the message.
struct Failure {
  int exit_code = 0;  // 0: nothing
  std::uint64_t needed_bytes = 0;
  std::string message;
};

Failure failure_of(const std::exception_ptr& thrown) {
  try {
    if (thrown != nullptr) std::rethrow_exception(thrown);
  } catch (const UsageError& error) {
    return {kExitUsage, 0, error.what()};
  } catch (const HeapTooSmall& error) {
    return {kExitHeapTooSmall, error.needed_bytes(), error.what()};
  } catch (const std::exception& error) {
    return {kExitFailure, 0, text_of(error)};
  } catch (...) {
    return {kExitFailure, 0, "an exception that is not a std::exception"};
  }
  return {};
}

std::string encoded(const Failure& failure) {
  const std::uint64_t numbers[2] = {static_cast<std::uint64_t>(failure.exit_code), failure.needed_bytes};
  std::string bytes(sizeof numbers, '\0');
  std::memcpy(bytes.data(), numbers, sizeof numbers);
  return bytes + failure.message;
}

Failure decoded(const char* bytes, std::size_t size) {
  std::uint64_t numbers[2];
  std::memcpy(numbers, bytes, sizeof numbers);
  return {static_cast<int>(numbers[0]), numbers[1], std::string(bytes + sizeof numbers, size - sizeof numbers)};
}

// The first failure with the greatest exit code, which says most: other ranks may only know that a rank has failed.
Failure first_of(const std::vector<std::vector<char>>& all) {
  Failure first;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    Failure failure = decoded(all[rank].data(), all[rank].size());
    if (failure.exit_code <= first.exit_code) continue;
    if (rank > 0) failure.message = fmt::format("rank {}: {}", rank, failure.message);
    first = std::move(failure);
  }
  return first;
}

[[noreturn]] void throw_failure(const Failure& failure) {
  if (failure.exit_code == kExitUsage) throw UsageError(failure.message);
  if (failure.exit_code == kExitHeapTooSmall) throw HeapTooSmall(failure.message, failure.needed_bytes);
  throw dynasoar::Error(failure.message);
}

}  // namespace

std::string text_of(const std::exception& error) {
  const bool lacks_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  return lacks_memory ? "the host has not enough memory for a model of this size" : error.what();
}

bool Ranks::any(bool mine) {
  std::vector<std::uint64_t> count = {mine ? std::uint64_t{1} : 0};
  sum(count);
  return count[0] > 0;
}

void Ranks::settle(const std::exception_ptr& failure) {
  is_end_agreed_ = false;
  if (!any(failure != nullptr)) return;
  const std::string mine = encoded(failure_of(failure));
  const std::vector<std::vector<char>> all = gather(mine.data(), mine.size());
  const std::string first = broadcast(rank() == 0 ? encoded(first_of(all)) : std::string());
  is_end_agreed_ = true;
  throw_failure(decoded(first.data(), first.size()));
}

void add_up(Ranks& ranks, std::optional<Usage>& usage) {
  if (!usage) return;
  std::vector<std::uint64_t> sums;
  for (const TypeStatistics& type : usage->placed) {
    sums.insert(sums.end(), {type.objects, type.places, type.lattice_bytes, type.created.value_or(0)});
  }
  ranks.sum(sums);
  std::size_t at = 0;
  for (TypeStatistics& type : usage->placed) {
    type.objects = sums[at++];
    type.places = sums[at++];
    type.lattice_bytes = static_cast<std::size_t>(sums[at++]);
    const std::uint64_t created = sums[at++];
    if (type.created) type.created = created;
  }
}

}  // namespace dynasoar::program
