/// @file
/// DistributedLattice: models give the same result, to the bit, on any number of ranks, with any slabs. Started by
/// mpiexec with 1, 2, 3, 4 and 7 ranks. What is expected comes from a Lattice, which each rank has for itself.

#include <dynasoar/distributed.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <dynasoar/dynasoar.h>

#include "lattice_model.h"
#include "world.h"

namespace distributed_test {

TEST_CASE("planes and volumes give the same on any number of ranks") {
  for (const bool x : {true, false}) {
    for (const bool last : {true, false}) {
      for (const Model& model :
           {Model{{100, 60}, {.periodic = {x, last}, .halo = 6, .divides_for_one_rank = true}},
            Model{{64, 42}, {.periodic = {x, last}, .halo = 6, .divides_for_one_rank = true}},
            Model{{7, 49}, {.periodic = {x, last}, .halo = 6, .divides_for_one_rank = true}},
            Model{{9, 5, 43}, {.periodic = {x, true, last}, .halo = 6, .divides_for_one_rank = true}}}) {
        CAPTURE(model.sizes.size());
        CAPTURE(model.sizes[0]);
        CAPTURE(last);
        const std::vector<std::uint64_t> places = expected(model);
        CHECK(Divided(model).run() == places);
      }
    }
  }
}

TEST_CASE("slabs may differ, be empty, and change in mid-run") {
  for (const bool is_periodic : {true, false}) {
    Model model{{70, 60}, {.periodic = {true, is_periodic}, .halo = 6, .divides_for_one_rank = true}};
    const std::vector<std::uint64_t> places = expected(model);
    for (const std::vector<std::size_t>& list :
         {std::vector<std::size_t>{6, 9}, {0, 17}, {8, 0, 7}, {0, 0, 0, 30, 0, 0}}) {
      model.options.layers = slabs(60, list);
      CHECK(Divided(model).run() == places);
    }
    model.options.layers = {};
    Divided divided(model);
    for (int i = 0; i < 12; ++i) {
      divided.step();
      const std::vector<std::vector<std::size_t>> lists{{9, 6}, {0, 20}, {7, 8, 0}};
      if (i % 3 == 2) divided.lattice().divide(slabs(60, lists[static_cast<std::size_t>(i) / 3 % 3]));
    }
    CHECK(divided.places() == places);
  }
}

TEST_CASE("counts, sums and extremes are those of the whole lattice, without ghosts") {
  const Model model{{100, 60}, {.halo = 6, .divides_for_one_rank = true}};
  std::uint64_t walkers = 0, sum = 0;
  {
    dynasoar::AllocatorHandle<AllocatorT> handle(small_heap());
    dynasoar::Lattice<Walker, Wolf, Bear, Soil> lattice(handle, model.sizes);
    lattice.parallel_new<Walker>(IsChosen{0});
    walkers = handle.count<Walker>();
    sum = handle.reduce<Soil>(std::uint64_t{0}, dynasoar::Plus{}, FirstValue{});
  }
  Divided divided(model);
  divided.lattice().exchange();
  CHECK(divided.handle().count<Walker>() == walkers);
  CHECK(divided.handle().count<Soil>() == 6000);
  CHECK(divided.handle().reduce<Soil>(std::uint64_t{0}, dynasoar::Plus{}, FirstValue{}) == sum);
  CHECK(divided.handle().sum<&Walker::steps_>() == 0);
  CHECK(divided.handle().count_if<Walker>(IsOdd{}) == 0);
  CHECK(divided.handle().local().statistics().types[4].places == divided.lattice().shape().own_size());
  CHECK(divided.handle().local().columns<Soil>().rows == divided.lattice().shape().own_size());
}

TEST_CASE("ranks without layers have nothing to count") {
  Model model{{100, 60}, {.halo = 6, .divides_for_one_rank = true}};
  model.options.layers = std::vector<std::size_t>(static_cast<std::size_t>(world().size()), 0);
  model.options.layers.front() = 60;
  Divided divided(model);
  divided.step();
  const bool is_empty = world().rank() > 0;
  CHECK(divided.handle().count_if<Soil>(IsAny{}) == 6000);
  CHECK(divided.handle().sum<&Walker::steps_>() > 0);
  CHECK(divided.handle().local().columns<Walker>().rows == (is_empty ? 0 : divided.handle().local().count<Walker>()));
  CHECK(divided.handle().local().count_if<Soil>(IsAny{}) == (is_empty ? 0 : 6000));
}

TEST_CASE("places in fields are the nearest copies after an exchange") {
  for (const std::size_t height : {std::size_t{12}, std::size_t{14}}) {
    const auto layers = height * static_cast<std::size_t>(world().size()) / (world().size() > 1 ? 2 : 1);
    Divided divided({{64, layers}, {.halo = 6, .divides_for_one_rank = true}});
    auto& lattice = divided.lattice();
    lattice.exchange();
    lattice.parallel_do<Walker>({.reads = 1}, WantsNext{});
    lattice.exchange();
    dynasoar::DeviceArray<std::uint64_t> wrong(1);
    wrong.fill_bytes(0);
    lattice.parallel_do<Walker>({.reads = 1},
                                CountsOthers{reinterpret_cast<dynasoar::AtomicWord<std::uint64_t>*>(wrong.data())});
    divided.handle().synchronize();
    CHECK(wrong.download()[0] == 0);
  }
}

TEST_CASE("ranks that are given different lattices are told") {
  dynasoar::DistributedHandle<AllocatorT> handle(world(), small_heap());
  using LatticeT = dynasoar::DistributedLattice<Walker, Wolf, Bear, Soil>;
  const std::size_t width = world().rank() == 0 ? 64 : 65;
  const std::string error = error_of([&] { LatticeT(handle, {width, 70}, {.halo = 6, .divides_for_one_rank = true}); });
  CHECK((error.find("the lattice") != std::string::npos) == (world().size() > 1));
}

TEST_CASE("what needs the whole lattice is refused") {
  Divided divided({{64, 60}, {.halo = 3, .divides_for_one_rank = true}});
  auto& local = divided.lattice().local();
  CHECK(
      error_of([&] { local.parallel_for_in_colours(dynasoar::Moore<>{}, Take{}, 1u, 1u); }) ==
      "dynasoar: parallel_for_in_colours needs a whole lattice, but this process has a part of one. Run the program as "
      "one process");
  CHECK(error_of([&] {
          static_cast<void>(local.raster_of<&Walker::steps_>());
        }).find("raster_of needs a whole lattice") != std::string::npos);
}

TEST_CASE("a lattice that cannot be divided is refused on all ranks") {
  dynasoar::DistributedHandle<AllocatorT> handle(world(), small_heap());
  using LatticeT = dynasoar::DistributedLattice<Walker, Wolf, Bear, Soil>;
  const auto refusal = [&](const std::vector<std::size_t>& sizes, DistributedLatticeOptions options) {
    options.divides_for_one_rank = true;
    return error_of([&] { LatticeT(handle, sizes, options); });
  };
  const auto ranks = static_cast<std::size_t>(world().size());
  CHECK(refusal({100}, {}).find("with one axis cannot be divided") != std::string::npos);
  CHECK(refusal({100, 8 * ranks}, {.halo = 0}).find("must be at least 1 layer") != std::string::npos);
  CHECK(refusal({100, 8 * ranks}, {.halo = 9}).find("has 8 rows of the lattice, but its neighbours need copies of 9") !=
        std::string::npos);
  CHECK(refusal({100, 8}, {.layers = std::vector<std::size_t>(ranks + 1, 1)}).find("ranks, but there are") !=
        std::string::npos);
  CHECK(refusal({100, 8 * ranks}, {.layers = std::vector<std::size_t>(ranks, 7)}).find(" rows, but the lattice has ") !=
        std::string::npos);
  CHECK(refusal({4, 4, 2 * ranks}, {.halo = 3}).find("has 2 planes") != std::string::npos);
  const std::string pointers = error_of([&] {
    dynasoar::DistributedLattice<Follower>(handle, {64, 8 * ranks}, {.divides_for_one_rank = true});
  });
  CHECK(pointers.find("the pointers in leader_ would point to nothing") != std::string::npos);
}

TEST_CASE("a loop that reaches further than ghosts are up to date is refused") {
  Divided divided({{64, 60}, {.halo = 3, .divides_for_one_rank = true}});
  auto& lattice = divided.lattice();
  CHECK(
      error_of([&] { lattice.parallel_do<&Soil::mix>({.reads = 1}, 1u); })
          .ends_with("Soil::mix reads up to 1 layer away and writes up to 0 layers away, but only 0 layers of ghosts "
                     "are up to date. Call exchange() before the loop, or give the DistributedLattice a larger halo"));
  lattice.exchange();
  lattice.parallel_do<&Soil::mix>({.reads = 2}, 1u);
  CHECK(lattice.valid() == 1);
  CHECK(error_of([&] { lattice.parallel_do<&Soil::mix>({.reads = 1, .writes = 1}, 1u); }) != "");
  CHECK(error_of([&] { lattice.parallel_do<&Soil::mix>({.reads = -1}, 1u); }).find("must not be negative") !=
        std::string::npos);
  lattice.parallel_do<&Walker::wish>({}, 1u);
  CHECK(lattice.valid() == 1);
  lattice.exchange();
  lattice.parallel_for_free_if<Walker>({.reads = 1, .writes = 1}, dynasoar::AskedFrom<Walker, &Walker::wish_>{}, Take{},
                                       1u);
  CHECK(lattice.valid() == 1);
}

TEST_CASE("in checked builds, stale ghosts are found" * doctest::skip(!dynasoar::kChecked)) {
  {
    Divided divided({{64, 60}, {.halo = 3, .divides_for_one_rank = true}});
    auto& lattice = divided.lattice();
    lattice.exchange();
    lattice.parallel_do<&Soil::mix>({.reads = 1}, 1u);  // but it reads 2 layers away
    const std::string error = error_of([&] { lattice.exchange(); });
    CHECK(error.find("a ghost that should be up to date is not: values_ of the Soil at (0, ") != std::string::npos);
  }
  Divided other({{64, 60}, {.halo = 3, .divides_for_one_rank = true}});
  other.lattice().exchange();
  other.handle().local().parallel_do<&Walker::wish>(1u);  // without ghosts
  CHECK(error_of([&] { other.lattice().exchange(); }) != "");
}

TEST_CASE("in checked builds, creations that depend on the order of threads are found" *
          doctest::skip(!dynasoar::kChecked)) {
  Divided divided({{64, 60}, {.halo = 3, .divides_for_one_rank = true}});
  divided.lattice().exchange();
  divided.lattice().parallel_for({.reads = 1, .writes = 1}, Scatter{});
  const std::string error = error_of([&] { divided.handle().synchronize(); });
  CHECK(error.find("refused a place of a divided lattice that another thread took in the same loop") !=
        std::string::npos);
}

TEST_CASE("an error on one rank is thrown on all") {
  dynasoar::DistributedHandle<AllocatorT> handle(world(), small_heap());
  const int last = world().size() - 1;
  const std::string error = error_of([&] {
    handle.on_all([&] {
      if (world().rank() == last) throw dynasoar::Error("no more fish");
    });
  });
  const bool is_here = world().rank() == last;
  CHECK(error == (is_here ? "no more fish" : "dynasoar: rank " + std::to_string(last) + " failed: no more fish"));
  CHECK(handle.synchronize(world().rank() == last));
  CHECK_FALSE(handle.synchronize());
}

}  // namespace distributed_test
