// Runs a program for GPU MPI on a CPU: its `main`, which the compiler's option -Dmain=program_main renames, once for
// each of 8 ranks. Prints how often they have allocated together.
#include "gpu_mpi.h"

#include <atomic>
#include <cstring>
#include <exception>

#ifdef REWRITTEN
#include <dynasoar/malloc/collective.h>
#else
#include <dynasoar/malloc/host/collective.h>
#endif

int program_main(int argc, char** argv);

thread_local ThreadIndex threadIdx;

namespace {

dynasoar::RankTeam team(8);
const char* sent[8];
std::atomic<int> tickets = 0;

void meet() {
  team.exchange(threadIdx.x, 0, 0, false);
}

#ifdef REWRITTEN
void* allocate(std::size_t bytes, bool coalesce) {
  return dynasoar::collective_malloc(bytes, coalesce);
}
void release(void* pointer) {
  dynasoar::collective_free(pointer);
}
#else
void* allocate(std::size_t bytes, bool) {
  return std::malloc(bytes);
}
void release(void* pointer) {
  std::free(pointer);
}
#endif

}  // namespace

int MPI_Comm_rank(int, int* rank) {
  *rank = threadIdx.x;
  return 0;
}

int MPI_Comm_size(int, int* size) {
  *size = team.ranks();
  return 0;
}

// Copies through memory of its own, as messages between ranks that no longer know each other's buffers would.
int MPI_Alltoall(const void* send, int count, int type, void* receive, int, int, int, bool coalesce) {
  const std::size_t bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(type);
  char* const copy = static_cast<char*>(allocate(bytes * team.ranks(), coalesce));
  std::memcpy(copy, send, bytes * team.ranks());
  sent[threadIdx.x] = copy;
  meet();
  for (int from = 0; from < team.ranks(); ++from) {
    std::memcpy(static_cast<char*>(receive) + from * bytes, sent[from] + threadIdx.x * bytes, bytes);
  }
  meet();
  release(copy);
  return 0;
}

int next_ticket() {
  return tickets++ % 5;
}

int main(int argc, char** argv) {
  try {
    dynasoar::run_ranks(team, [&](int rank) {
      threadIdx.x = rank;
      program_main(argc, argv);
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "allocated together: %zu\n", team.allocations());
  return 0;
}
