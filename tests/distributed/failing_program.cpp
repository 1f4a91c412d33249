// A program of ten steps, in which something happens on one rank: see failures_test.py. "endless" is one without an
// end: see hosts_test.py.
//
// Usage: failing_program <what happens> <rank> <patience in seconds>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <dynasoar/distributed.h>
#ifdef HAS_MPI
#include <mpi.h>

// Libraries that an MPI uses may catch signals.
extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  std::signal(SIGTERM, [](int) { _exit(3); });
  return result;
}
#endif

using dynasoar::Communicator;

namespace {

std::string what;
int victim = 0;
double patience = 0;

void sleep(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

bool happens(const Communicator& communicator, const char* name) {
  return what == name && communicator.rank() == victim;
}

[[noreturn]] void hang() {
  for (;;) sleep(1);
}

void exchange(Communicator& communicator) {
  const int ranks = communicator.size(), me = communicator.rank();
  std::vector<char> sent(100'000), received(100'000);
  const std::vector<Communicator::Message> to = {{(me + 1) % ranks, 0, sent.data(), sent.size()}};
  const std::vector<Communicator::Message> from = {{(me + ranks - 1) % ranks, 0, received.data(), received.size()}};
  communicator.exchange(to, from);
}

/// The test platform/host_calls_device_code knows this name.
[[noreturn, gnu::noinline]] void exit_on_purpose() {
  std::exit(0);
}

// Something that happens before the exchange of a step.
void before_exchange(const Communicator& communicator) {
  if (happens(communicator, "endless")) {
    std::printf("rank %d goes on and on\n", communicator.rank());
    std::fflush(stdout);
  }
  if (happens(communicator, "hang in step")) hang();
  if (happens(communicator, "stopped")) std::raise(SIGSTOP);
  if (happens(communicator, "killed")) std::raise(SIGKILL);
  if (happens(communicator, "_exit")) _exit(0);
  if (happens(communicator, "exit")) exit_on_purpose();
  if (what == "exit of all") exit_on_purpose();
  if (happens(communicator, "signal")) std::raise(SIGTERM);
  if (happens(communicator, "exception")) throw std::runtime_error("the exception of a rank");
}

void step(Communicator& communicator) {
  Communicator::Status mine;
  if (happens(communicator, "agreed exception")) mine = {.error = true, .message = "the exception of a rank"};
  exchange(communicator);
  if (happens(communicator, "hang after exchange") || happens(communicator, "hang while rank 0 is late")) hang();
  if (what == "hang while rank 0 is late" && communicator.rank() == 0) sleep(0.7 * patience);
  if ((what == "slow" || what == "endless") && communicator.rank() == 0) sleep(0.2);
  if (happens(communicator, "other call")) communicator.barrier();
  const Communicator::Status all = communicator.agree(mine);
  if (all.error) throw std::runtime_error("rank " + std::to_string(all.rank) + " had " + all.message);
  if (all.stop) {
    std::printf("rank %d has stopped\n", communicator.rank());
    std::fflush(stdout);
    what = "stop";
  }
}

void run(Communicator& communicator) {
  for (int i = 0; (i < 10 || what == "endless") && what != "stop"; ++i) {
    if (i == 5) {
      if (happens(communicator, "return")) return;
      before_exchange(communicator);
    }
    step(communicator);
  }
  if (happens(communicator, "hang at end")) hang();
  if (happens(communicator, "exception at end") || happens(communicator, "exception at end, and main() returns 0")) {
    throw std::runtime_error("the exception of a rank");
  }
  std::printf("rank %d is done\n", communicator.rank());
  std::fflush(stdout);
}

#ifdef HAS_MPI
// MPI is the program's.
void run_with_own_mpi(const dynasoar::CommunicatorOptions& options) {
  MPI_Init(nullptr, nullptr);
  MPI_Comm all = MPI_COMM_WORLD;
  Communicator communicator(&all, options);
  run(communicator);
  MPI_Finalize();  // before the Communicator is destroyed
}
#endif

int run_program(int argc, char** argv) {
  if (argc != 4) return 2;
  what = argv[1];
  victim = std::atoi(argv[2]);
  patience = std::atof(argv[3]);
  const dynasoar::CommunicatorOptions options{.patience_seconds = patience};
  std::printf("pid %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  const bool is_victim = rank != nullptr && std::atoi(rank) == victim;
  if (what == "hang before MPI_Init" && is_victim) hang();
  if (what == "no communicator") {
    Communicator first(options);
    if (is_victim) hang();
    Communicator second(options);
    return 0;
  }
#ifdef HAS_MPI
  if (what == "own MPI") {
    run_with_own_mpi(options);
    return 0;
  }
#endif
  Communicator communicator(options);
  Communicator::catch_signals();
  run(communicator);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == std::string("exception that nobody catches")) {
    Communicator communicator({.patience_seconds = std::atof(argv[3])});
    if (communicator.rank() == std::atoi(argv[2])) throw std::runtime_error("the exception of a rank");
    communicator.barrier();
    return 0;
  }
  try {
    return run_program(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "main: %s\n", error.what());
    return what == "exception at end, and main() returns 0" ? 0 : 1;
  }
}
