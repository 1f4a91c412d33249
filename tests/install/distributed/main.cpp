/// @file
/// Uses the installed library in several processes: says how many there are.
#include <cstdint>
#include <cstdio>

#include <dynasoar/distributed.h>

int main() {
  dynasoar::Communicator communicator;
  std::uint64_t ranks = 1;
  communicator.sum({&ranks, 1});
  if (communicator.rank() == 0)
    std::printf("%d ranks, %s\n", static_cast<int>(ranks), communicator.description().c_str());
  return static_cast<int>(ranks) == communicator.size() ? 0 : 1;
}
