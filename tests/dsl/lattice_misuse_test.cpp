/// @file
/// Objects that are placed on a lattice: what is refused, and what checked builds report.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <string>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "../platform/test_support.h"
#include "lattice_fish.h"
#include "placing_allocator.h"
#include "test_folder.h"

namespace lattice_test {

TEST_CASE("a class is on one lattice at a time, and loops need one") {
  Handle handle(kSmall);
  CHECK_THROWS_WITH_AS(handle.parallel_do<&Fish::visit>(), doctest::Contains("there is no lattice for objects of"),
                       Error);
  {
    Lattice<Fish> fish(handle, {4, 4});
    Lattice<Shark> sharks(handle, {70}, {.periodic = {false}});  // another lattice, for another class
    CHECK_THROWS_WITH_AS(Lattice<Shark>(handle, {3}), doctest::Contains("on another lattice"), Error);
    sharks.parallel_new<Shark>(Everywhere{});
    fish.parallel_new<Fish>(Everywhere{}, 1u);
    CHECK(handle.count<Fish>() == 16);
    CHECK(handle.count<Shark>() == 70);
  }
  CHECK(handle.count<Fish>() == 0);
  // Refused before any memory is asked for.
  CHECK_THROWS_WITH_AS(Lattice<Fish>(handle, {std::size_t{1} << 30, 100}), doctest::Contains("more than 256 GiB"),
                       Error);
  Lattice<Fish> again(handle, {5, 5});
  CHECK(handle.count<Fish>() == 0);
  again.parallel_new<Fish>(Everywhere{}, 1u);
  CHECK(handle.count<Fish>() == 25);
}

#if !defined(DYNASOAR_TEST_MALLOC)

#if DYNASOAR_CHECKED && !DYNASOAR_CUDA_BACKEND
TEST_CASE("checked builds end if a place of a lattice is used on a smaller one") {
  const dynasoar::test::TestFolder folder;
  const std::string output = folder / "output";
  const auto end_of = [&](const auto& use) {  // what a child says before it is ended
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      if (std::freopen(output.c_str(), "w", stdout) == nullptr) _exit(1);
      std::signal(SIGABRT, SIG_DFL);
      Handle handle(kSmall);
      Lattice<Fish> large(handle, {64, 64});
      Lattice<Spot> small(handle, {8, 8});
      large.parallel_for(use);
      handle.synchronize();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return (WIFSIGNALED(status) ? "killed: " : "ended: ") + contents_of(output);
  };
  const std::string message = "killed: dynasoar: a Place of one lattice is used for a class that is on another";
  const auto says = [&](const auto& use) { return end_of(use).find(message) == 0; };
  CHECK(end_of([](Place place) { dynasoar::make_new_at<Fish>(place, 1u); }) == "ended: ");
  CHECK(says([](Place place) { dynasoar::make_new_at<Spot>(place); }));
  CHECK(says([](Place place) { dynasoar::at<Spot>(place); }));
  CHECK(says([](Place place) { (void)dynasoar::is_free<Fish, Spot>(place); }));
}
#endif

#if DYNASOAR_CHECKED
/// What UBSan would stop before the library reports it.
#if defined(__GNUC__) && !defined(__CUDACC__)
__attribute__((noinline, no_sanitize("undefined")))
#endif
__device__ void
age_nobody() {
  Fish* const nobody = nullptr;
  nobody->age_ = 1;
}

TEST_CASE("checked builds find the use of placed objects that do not exist") {
  Handle handle(kSmall);
  Lattice<Fish> lattice(handle, {8, 8});
  const auto misuse_of = [&](const auto& f) {
    try {
      f();
      handle.synchronize();
    } catch (const dynasoar::MisuseError& error) {
      return error.reports()[0].kind;
    }
    return dynasoar::Misuse::none;
  };
  lattice.parallel_new<Fish>(
      [shape = lattice.shape()] __device__(Place place) {
        return place == shape.place({1, 1});
      },
      4u);
  handle.parallel_do<Fish>([] __device__(Fish * fish) { dynasoar::make_new<Free>(std::size_t{0}, fish); });
  CHECK(misuse_of([&] { handle.parallel_do<&Free::look>(); }) == dynasoar::Misuse::none);
  // Reads of an object that died in this loop are legal.
  CHECK(misuse_of([&] {
          handle.parallel_do<Fish>([] __device__(Fish * fish) {
            dynasoar::destroy(fish);
            fish->seen_by_ = fish->age_ + 1;
            dynasoar::destroy(fish);
          });
        }) == dynasoar::Misuse::none);
  CHECK(misuse_of([&] { handle.parallel_do<&Free::look>(); }) == dynasoar::Misuse::stale_access);
  // Another one that takes its place, or moves there, is not the one that was pointed to.
  const auto create_again = [&] { lattice.parallel_new<Fish>(Everywhere{}, 5u); };
  const auto is_stale = [&] {
    return misuse_of([&] { handle.parallel_do<&Free::look>(); }) == dynasoar::Misuse::stale_access;
  };
  CHECK(misuse_of(create_again) == dynasoar::Misuse::none);
  CHECK(is_stale());
  handle.parallel_do<&Fish::die>();
  lattice.parallel_new<Fish>(
      [shape = lattice.shape()] __device__(Place place) {
        return place == shape.place({2, 1});
      },
      6u);
  handle.parallel_do<Fish>([] __device__(Fish * fish) {
    dynasoar::move_to(fish, dynasoar::lattice_of<Fish>().left(dynasoar::place_of(fish)));
  });
  CHECK(is_stale());
  handle.parallel_do<&Fish::die>();
  CHECK(misuse_of([&] {
          handle.parallel_do<Free>([] __device__(Free * free) { dynasoar::destroy(free->fish_.get()); });
        }) == dynasoar::Misuse::double_destroy);
  CHECK(misuse_of([&] { handle.parallel_do<Free>([] __device__(Free*) { age_nobody(); }); }) ==
        dynasoar::Misuse::null_access);
}
#endif

#endif

}  // namespace lattice_test
