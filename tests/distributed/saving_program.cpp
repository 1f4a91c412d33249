// A program that goes on from a checkpoint, if there is one, and saves another one five steps later, in which one rank
// is killed: see saving_test.py.
//
// Usage: saving_program <checkpoint> <rank that is killed> <before which of its operations on files; 0: never>
//        saving_program <checkpoint>, which loads it, and says which step it is of
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include <dynasoar/distributed.h>
#include <dynasoar/dynasoar.h>

namespace {

int operations_left = 0;  // before this rank is killed; 0: it is not

// Called before each change that matters to a program that finds the files later.
void before_operation() {
  if (operations_left > 0 && --operations_left == 0) std::raise(SIGKILL);
}

}  // namespace

// These take the place of the functions of the C library, also for the library that is tested.
extern "C" int rename(const char* from, const char* to) noexcept {
  before_operation();
  return ::renameat(AT_FDCWD, from, AT_FDCWD, to);
}
extern "C" int fsync(int file) {
  before_operation();
  return ::fdatasync(file);
}
extern "C" int unlink(const char* path) noexcept {
  before_operation();
  return ::unlinkat(AT_FDCWD, path, 0);
}
extern "C" int remove(const char* path) noexcept {
  before_operation();
  return ::unlinkat(AT_FDCWD, path, 0);
}

namespace {

class Cell;
using AllocatorT = dynasoar::SoaAllocator<Cell>;

__device__ std::uint64_t next(std::uint64_t value) {
  return value * 6364136223846793005u + 1442695040888963407u;
}

// Has a number that depends on the place and the step.
class Cell final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true, kAtEveryPlace = true;
  DYNASOAR_FIELDS(Cell, (value_, std::uint64_t));

  __device__ Cell() : value_(dynasoar::lattice_of<Cell>().number(dynasoar::place_of(this))) {}
  __device__ void live() { value_ = next(value_); }
};

struct IsRight {
  std::uint32_t step;
  __device__ bool operator()(Cell* cell) const {
    std::uint64_t value = dynasoar::lattice_of<Cell>().number(dynasoar::place_of(cell));
    for (std::uint32_t i = 0; i < step; ++i) value = next(value);
    return cell->value_ == value;
  }
};

int run_program(int argc, char** argv) {
  const std::string path = argv[1];
  dynasoar::Communicator communicator({.patience_seconds = 20});
  dynasoar::DistributedHandle<AllocatorT> handle(communicator, {.heap_bytes = AllocatorT::least_heap_bytes()});
  dynasoar::DistributedLattice<Cell> lattice(handle, {40, 30});
  std::uint32_t step = 0;
  if (std::filesystem::exists(path)) handle.load(path, dynasoar::value("step", step));
  const bool is_right = handle.count_if<Cell>(IsRight{step}) == 40 * 30;
  if (communicator.rank() == 0) std::printf("step %d is %s\n", static_cast<int>(step), is_right ? "right" : "wrong");
  std::fflush(stdout);
  if (argc == 2) return 0;
  for (const std::uint32_t end = step + 5; step < end; ++step) lattice.parallel_do<&Cell::live>({});
  if (communicator.rank() == std::atoi(argv[2])) operations_left = std::atoi(argv[3]);
  handle.save(path, dynasoar::value("step", step));
  operations_left = 0;
  if (communicator.rank() == 0) std::puts("saved");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) return 2;
  try {
    return run_program(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "main: %s\n", error.what());
    return 1;
  }
}
