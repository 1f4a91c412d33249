// Checked builds: fields that nothing has set, misuse that is reported without a request, and loops that
// end in the middle.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"
#include "misuse_world.h"

namespace misuse_test {

using dynasoar::test::run_loop;

/// Runs this program again, only the test of that name. @return its exit status and what it printed
std::pair<int, std::string> run_child(const std::string& test) {
  const std::string command =
      "\"$(readlink /proc/" + std::to_string(::getpid()) + "/exe)\" --no-skip '--test-case=" + test + "' 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) output += buffer;
  return {::pclose(pipe), output};
}

TEST_CASE("child: uses an object when no handle is alive" * doctest::skip()) {
  const std::uint64_t old = World(1).make_fish(1);
  DeviceArray<Agent*> pointers(1);
  pointers.upload({reinterpret_cast<Agent*>(old)});
  run_loop(1, ForPointers<Agent, Set>{pointers.data(), 1});
}

TEST_CASE("an object that is used when no handle is alive ends the program with a message") {
  const auto [status, output] = run_child("child: uses an object when no handle is alive");
  CHECK(status != 0);
  CHECK(output.find("there is no AllocatorHandle of its allocator alive") != std::string::npos);
}

TEST_CASE("child: misuse without a request for reports" * doctest::skip()) {
  World world(1);
  world.run<Set>(3);
}

TEST_CASE("misuse that was not reported is printed when the handle is destroyed") {
  const auto [status, output] = run_child("child: misuse without a request for reports");
  CHECK(status == 0);
  CHECK(output.find("Agent::value_: accessed through a null pointer once") != std::string::npos);
}

#if DYNASOAR_CUDA_BACKEND
TEST_CASE("a pointer to the host's memory is found among the arguments of a loop, unless the GPU can read it") {
  World world(1);
  world.run<Make<Fish>>(1);
  int reads_host = 0;
  dynasoar::detail::check_cuda(cudaDeviceGetAttribute(&reads_host, cudaDevAttrPageableMemoryAccess, 0), "attribute");
  const auto run = [&](const int* one, const int* other) {
    world.handle.parallel_do<Fish>([] __device__(Fish*, int, const int*, const int*) {}, 1, one, other);
  };
  dynasoar::DeviceArray<int> array(1 << 20);
  const int on_host = 0;
  CHECK_NOTHROW(run(array.data(), array.data() + array.size()));
  CHECK_NOTHROW(run(array.data(), nullptr));
  CHECK_NOTHROW(
      world.handle.parallel_do<Fish>([] __device__(Fish*, Fish*) {}, reinterpret_cast<Fish*>(0x0100000000000040)));
  if (reads_host != 0) {
    CHECK_NOTHROW(run(array.data(), &on_host));
  } else {
    CHECK_THROWS_WITH_AS(run(array.data(), &on_host),
                         doctest::Contains("argument 3 of a loop points to memory of the host"), Error);
  }
  CHECK_NOTHROW(world.handle.synchronize());
}

TEST_CASE("child: a kernel is aborted" * doctest::skip()) {
  World world(1);
  world.run<Make<Fish>>(1);
  world.handle.parallel_do<Fish>([] __device__(Fish*) { __trap(); });
  CHECK_THROWS_WITH_AS(world.handle.synchronize(), doctest::Contains("cudaErrorLaunchFailure"), Error);
  CHECK_THROWS_AS(world.handle.count<Fish>(), Error);
}

TEST_CASE("a kernel that is aborted leaves an error and a handle that can be destroyed") {
  const auto [status, output] = run_child("child: a kernel is aborted");
  CAPTURE(output);
  CHECK(status == 0);
  CHECK(output.find("1 passed") != std::string::npos);
}
#else
struct Throw {
  void operator()(Fish*) const { throw std::runtime_error("given up"); }
};

TEST_CASE("a loop that an exception ends passes it on and leaves a heap in order") {
  World world(100);
  world.run<Make<Fish>>(1);
  CHECK_THROWS_WITH_AS(world.handle.parallel_do<Fish>(Throw{}), "given up", std::runtime_error);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  CHECK(world.sum<Fish>() == 100);
}
#endif

class Larva;
using LarvaAllocator = dynasoar::SoaAllocator<Larva>;

/// Its constructor creates others and sets next_, byte_ and late_ only, some of them to what unset fields hold.
class Larva : public dynasoar::SoaBase<LarvaAllocator> {
 public:
  DYNASOAR_FIELDS(Larva, (age_, int), (small_, std::uint8_t), (force_, double), (next_, Larva*),
                  (parts_, std::array<int, 3>), (byte_, std::uint8_t), (late_, std::uint32_t))
  __device__ explicit Larva(std::size_t others) : byte_(0xb5) {
    next_ = others == 0 ? nullptr : dynasoar::make_new<Larva>(others - 1);
    late_ = 0xb5b5b5b5u;
  }
};

/// Creates a larva that creates others.
struct MakeLarvae {
  std::size_t others;
  __device__ void operator()(std::size_t) const { dynasoar::make_new<Larva>(others); }
};

/// What is reported after a loop over two larvae, of which one has created the other.
template <class F>
std::string said_after(F loop) {
  AllocatorHandle<LarvaAllocator> handle({.heap_bytes = std::size_t{1} << 20});
  handle.parallel_for(1, MakeLarvae{1});
  handle.synchronize();
  handle.parallel_do<Larva>(loop);
  try {
    handle.synchronize();
  } catch (const MisuseError& error) {
    CHECK(error.reports().size() == 1);
    CHECK(error.reports()[0].kind == Misuse::unset_field);
    CHECK(error.reports()[0].count == 2);
    return error.reports()[0].text.substr(0, error.reports()[0].text.find(": read"));
  }
  return "";
}

TEST_CASE("a field that no constructor has set is found when it is read") {
  CHECK(said_after([] __device__(Larva * larva) { larva->late_ = larva->age_ + 1; }) == "misuse_test::Larva::age_");
  CHECK(said_after([] __device__(Larva * larva) { larva->age_ += 1; }) == "misuse_test::Larva::age_");
  CHECK(said_after([] __device__(Larva * larva) { ++larva->age_; }) == "misuse_test::Larva::age_");
  CHECK(said_after([] __device__(Larva * larva) { larva->late_ = larva->small_; }) == "misuse_test::Larva::small_");
  CHECK(said_after([] __device__(Larva * larva) { larva->age_ = larva->force_ > 1 ? 1 : 2; }) ==
        "misuse_test::Larva::force_");
  CHECK(said_after([] __device__(Larva * larva) {
          const Larva* const same = larva;
          larva->late_ = static_cast<std::uint32_t>(same->parts_[2]);
        }) == "misuse_test::Larva::parts_");
}

TEST_CASE("a field that is set before it is read is no misuse, whatever its value") {
  CHECK(said_after([] __device__(Larva * larva) {
          larva->age_ = 1;
          larva->force_ = larva->age_ + larva->late_ + larva->byte_;
          larva->parts_.fill(2);
          larva->parts_[0] += larva->parts_[2];
          larva->small_.get() = larva->next_ == nullptr ? 1 : 2;
          larva->small_ += larva->force_ > 0 ? 1 : 2;
        }) == "");
}

TEST_CASE("fields that a constructor has set keep their values beside those that it has not") {
  AllocatorHandle<LarvaAllocator> handle({.heap_bytes = std::size_t{1} << 20});
  handle.parallel_for(1, MakeLarvae{7});
  CHECK(handle.count<Larva>() == 8);
  CHECK(handle.count_if<Larva>([] __device__(Larva * larva) { return larva->next_ == nullptr; }) == 1);
  CHECK(handle.count_if<Larva>(
            [] __device__(Larva * larva) { return larva->byte_ == 0xb5 && larva->late_ == 0xb5b5b5b5u; }) == 8);
}

}  // namespace misuse_test
