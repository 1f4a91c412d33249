// The main function of fuzz targets without libFuzzer: replays the files that are named, or runs random inputs.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "../platform/test_random.h"
#include "fuzz.h"

namespace {

using Bytes = std::vector<std::uint8_t>;

// What is running, for the handler below.
const Bytes* current = nullptr;

// Leaves the input behind that ended the program, to be replayed.
void save_input(int) {
  if (current != nullptr) {
    const char* const name = "failed-input";
    std::ofstream(name, std::ios::binary)
        .write(reinterpret_cast<const char*>(current->data()), static_cast<std::streamsize>(current->size()));
    std::fprintf(stderr, "fuzz target: the input is in the file %s; name it as an argument to repeat this\n", name);
  }
  std::signal(SIGABRT, SIG_DFL);
}

void run(const Bytes& input) {
  current = &input;
  LLVMFuzzerTestOneInput(input.data(), input.size());
  current = nullptr;
}

void run_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(2);
  }
  run(Bytes(std::istreambuf_iterator<char>(file), {}));
}

// Random bytes make poor sequences if all of them are equally likely, so each input has some that it likes.
Bytes random_input(dynasoar::test::Random& random) {
  Bytes input(1 + random.below(random.below(4) == 0 ? 4096 : 256));
  std::uint8_t favourites[4];
  for (auto& favourite : favourites) favourite = static_cast<std::uint8_t>(random.next());
  for (auto& byte : input) {
    byte = random.below(2) == 0 ? favourites[random.below(4)] : static_cast<std::uint8_t>(random.next());
  }
  // The first bytes choose what is tested.
  for (std::size_t i = 0; i < std::min<std::size_t>(input.size(), 4); ++i) {
    input[i] = static_cast<std::uint8_t>(random.next());
  }
  return input;
}

void run_random(double seconds) {
  const std::uint64_t seed = dynasoar::test::drawn_seed();
  std::printf("seed %llu (set DYNASOAR_TEST_SEED to repeat)\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  dynasoar::test::Random random{seed};
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t inputs = 0;
  for (; std::chrono::steady_clock::now() - start < std::chrono::duration<double>(seconds); ++inputs) {
    run(random_input(random));
  }
  std::printf("%llu random inputs passed\n", static_cast<unsigned long long>(inputs));
}

}  // namespace

// Arguments: files and folders to replay; without any, random inputs for a second, or for DYNASOAR_FUZZ_SECONDS.
int main(int argc, char** argv) {
  std::signal(SIGABRT, save_input);
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      run_file(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) run_file(entry.path());
  }
  if (argc > 1) return 0;
  const char* const seconds = std::getenv("DYNASOAR_FUZZ_SECONDS");
  run_random(seconds != nullptr ? std::atof(seconds) : 1);
}
