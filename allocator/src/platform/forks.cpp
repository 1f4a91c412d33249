#include <dynasoar/platform/forks.h>

#include <pthread.h>

namespace dynasoar::detail {

namespace {

std::uint64_t forks = 0;  // changes only while there is one thread

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });

}  // namespace

std::uint64_t forks_so_far() noexcept {
  return forks;
}

}  // namespace dynasoar::detail
