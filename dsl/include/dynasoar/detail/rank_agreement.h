/// @file
/// Functions that all ranks call together: either they succeed on all ranks, or they fail on all. Used by
/// DistributedHandle and RankLattice.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <type_traits>
#include <vector>

#include <dynasoar/detail/communicator.h>
#include <dynasoar/detail/distributed_errors.h>

namespace dynasoar::detail {

/// Calls a function that may set `stop` and `grow`, and tells all ranks the results of all. If it throws on any rank,
/// all ranks throw: that rank throws the same exception, and the others throw an Error that names the rank.
template <class F>
Communicator::Status agreed(Communicator& communicator, const F& function) {
  Communicator::Status mine;
  std::exception_ptr failure;
  try {
    function(mine);
  } catch (const std::exception& error) {
    failure = std::current_exception();
    mine.message = error.what();
  } catch (...) {
    failure = std::current_exception();
    mine.message = "an exception that is not a std::exception";
  }
  mine.error = failure != nullptr;
  const Communicator::Status all = communicator.agree(mine);
  if (failure != nullptr) std::rethrow_exception(failure);
  if (all.error) throw_failed_on(all.rank, all.message);
  return all;
}

/// Calls a function on all ranks. If it throws, they throw like `agreed`.
template <class F>
void on_all(Communicator& communicator, const F& function) {
  agreed(communicator, [&](Communicator::Status&) { function(); });
}

/// The sum of the numbers that a function returns on the ranks.
template <class F>
std::uint64_t total(Communicator& communicator, const F& function) {
  std::uint64_t mine = 0;
  on_all(communicator, [&] { mine = function(); });
  communicator.sum({&mine, 1});
  return mine;
}

/// The values that a function returns on the ranks, combined with `op` in the order of ranks.
template <class R, class Op, class F>
R combined(Communicator& communicator, R init, Op op, const F& function) {
  static_assert(std::is_trivially_copyable_v<R>);
  R mine = init;
  on_all(communicator, [&] { mine = function(); });
  for (const std::vector<char>& bytes : communicator.gather(&mine, sizeof mine, 0)) {
    R other = init;
    std::memcpy(&other, bytes.data(), sizeof other);
    init = op(init, other);
  }
  communicator.broadcast(&init, sizeof init, 0);
  return init;
}

}  // namespace dynasoar::detail
