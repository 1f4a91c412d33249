/// @file
/// The transports of DistributedLattice::exchange: models give the same result with each of them, also in recorded
/// steps; a neighbour that does not come is named; what is impossible is refused. Started by mpiexec as
/// lattice_test.cpp. On GPUs, `peer` and `nccl` need one for each rank.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <dynasoar/distributed.h>
#include <dynasoar/dynasoar.h>

#include "lattice_model.h"
#include "world.h"

namespace distributed_test {

using dynasoar::Transport;
using LatticeT = dynasoar::DistributedLattice<Walker, Wolf, Bear, Soil>;

DistributedLatticeOptions with(Transport transport, bool is_periodic = true) {
  DistributedLatticeOptions options;
  options.periodic = {true, is_periodic, true};
  options.halo = 6;
  options.divides_for_one_rank = true;
  options.transport = transport;
  return options;
}

/// Why a transport is impossible here; empty if it is possible.
std::string refusal(Transport transport) {
  dynasoar::DistributedHandle<AllocatorT> handle(world(), small_heap());
  return error_of([&] { LatticeT(handle, {64, 70}, with(transport)); });
}

/// Calls a function for the transports that are possible here.
template <class F>
void for_each_transport(const F& function) {
  for (const Transport transport : {Transport::peer, Transport::nccl, Transport::staged}) {
    const std::string why_not = refusal(transport);
    if (why_not.empty()) {
      const std::string name = name_of(transport);
      CAPTURE(name);
      function(transport);
    } else if (world().rank() == 0) {
      MESSAGE("skipped: ", why_not);
    }
  }
}

TEST_CASE("models give the same with every transport") {
  for_each_transport([](Transport transport) {
    for (const bool is_periodic : {true, false}) {
      for (const std::vector<std::size_t>& sizes :
           {std::vector<std::size_t>{100, 60}, {7, 49}, {9, 5, 43}}) {  // rows of an odd number of words, too
        Model model{sizes, with(transport, is_periodic)};
        if (sizes.size() > 2) model.options.periodic = {true, true, is_periodic};
        CAPTURE(sizes[0]);
        const std::vector<std::uint64_t> places = expected(model);
        Divided divided(model);
        CHECK(divided.lattice().transport() == transport);
        CHECK(divided.run() == places);
      }
    }
  });
}

TEST_CASE("with every transport, slabs may be empty, and change in mid-run") {
  for_each_transport([](Transport transport) {
    Model model{{70, 60}, with(transport)};
    const std::vector<std::uint64_t> places = expected(model);
    Divided divided(model);
    for (int i = 0; i < 12; ++i) {
      divided.step();
      const std::vector<std::vector<std::size_t>> lists{{9, 6}, {0, 20}, {7, 8, 0}};
      if (i % 3 == 2) {
        const auto& list = lists[static_cast<std::size_t>(i) / 3 % 3];
        CHECK_NOTHROW(divided.lattice().divide(slabs(60, list)));
      }
      CHECK(divided.lattice().transport() == transport);
    }
    CHECK(divided.places() == places);
  });
}

/// What two lattices of a handle are like after some steps, as numbers.
template <class Handle, class SoilLattice, class BeastLattice, class Step>
std::vector<std::uint64_t> run_both(Handle& handle, SoilLattice& soil, BeastLattice& beasts, const Step& step) {
  soil.template parallel_new<Walker>(IsChosen{0});
  beasts.template parallel_new<Wolf>(IsChosen{1});
  beasts.template parallel_new<Bear>(IsChosen{2});
  for (std::uint32_t i = 1; i <= 12; ++i) step(i);
  return {handle.template count<Wolf>(), handle.template count<Bear>(), handle.template count<Walker>(),
          handle.template reduce<Soil>(std::uint64_t{0}, dynasoar::Plus{}, FirstValue{})};
}

TEST_CASE("two lattices exchange ghosts in turn") {
  const std::vector<std::size_t> sizes{100, 60};
  std::vector<std::uint64_t> expected;
  {
    dynasoar::AllocatorHandle<AllocatorT> handle(small_heap());
    dynasoar::Lattice<Walker, Soil> soil(handle, sizes);
    dynasoar::Lattice<Wolf, Bear> beasts(handle, sizes);
    expected = run_both(handle, soil, beasts, [&](std::uint32_t step) {
      handle.parallel_do<&Soil::mix>(step);
      beasts.parallel_for(Breed{}, step);
    });
  }
  for_each_transport([&](Transport transport) {
    dynasoar::DistributedHandle<AllocatorT> handle(world(), small_heap());
    dynasoar::DistributedLattice<Walker, Soil> soil(handle, sizes, with(transport));
    dynasoar::DistributedLattice<Wolf, Bear> beasts(handle, sizes, with(transport));
    CHECK(run_both(handle, soil, beasts, [&](std::uint32_t step) {
            soil.exchange();
            beasts.exchange();
            soil.template parallel_do<&Soil::mix>({.reads = 2}, step);
            beasts.parallel_for({.reads = 1}, Breed{}, step);
          }) == expected);
  });
}

TEST_CASE("recorded steps exchange ghosts") {
  constexpr std::uint32_t kStep = 3;  // the arguments of a recorded step stay
  for_each_transport([](Transport transport) {
    if (dynasoar::kCudaBackend && transport == Transport::staged) return;
    for (const bool is_periodic : {true, false}) {
      const Model model{{100, 60}, with(transport, is_periodic)};
      const std::vector<std::uint64_t> places = expected(model, kStep);
      Divided divided(model);
      auto step = divided.handle().local().record([&] { submit(divided.lattice(), kStep); });
      for (std::uint32_t i = 0; i < model.steps; ++i) step();
      CHECK_FALSE(divided.handle().synchronize());
      CHECK(divided.places() == places);
    }
  });
}

TEST_CASE("a recorded step goes on after the lattice was divided in another way") {
  constexpr std::uint32_t kStep = 3;
  for_each_transport([](Transport transport) {
    if (dynasoar::kCudaBackend && transport == Transport::staged) return;
    const Model model{{100, 60}, with(transport)};
    const std::vector<std::uint64_t> places = expected(model, kStep);
    Divided divided(model);
    auto step = divided.handle().local().record([&] { submit(divided.lattice(), kStep); });
    for (std::uint32_t i = 0; i < model.steps; ++i) {
      step();
      if (i != 5) continue;
      divided.handle().synchronize();
      divided.lattice().divide(slabs(60, {7, 9}));
    }
    divided.handle().synchronize();
    CHECK(divided.places() == places);
  });
}

TEST_CASE("a recorded step begins and ends without ghosts that are up to date") {
  for_each_transport([](Transport transport) {
    if (dynasoar::kCudaBackend && transport == Transport::staged) return;
    Divided divided({{100, 60}, with(transport)});
    auto& lattice = divided.lattice();
    lattice.exchange();
    CHECK(lattice.valid() == 6);
    const std::string error = error_of([&] {
      auto step = divided.handle().local().record([&] { lattice.parallel_do<&Soil::mix>({.reads = 2}, 1u); });
      step();
    });
    CHECK(error.find("but only 0 layers of ghosts are up to date") != std::string::npos);
    auto step = divided.handle().local().record([&] {
      lattice.exchange();
      lattice.parallel_do<&Soil::mix>({.reads = 2}, 1u);
      CHECK(lattice.valid() == 4);
      lattice.exchange();  // with ghosts that checked builds could compare
      CHECK(lattice.valid() == 6);
    });
    CHECK(lattice.valid() == 0);
    lattice.exchange();
    step();
    CHECK(lattice.valid() == 0);
    divided.handle().synchronize();
  });
}

TEST_CASE("on GPUs, an exchange through the hosts' memory cannot be recorded" *
          doctest::skip(!dynasoar::kCudaBackend)) {
  Divided divided({{100, 60}, with(Transport::staged)});
  const std::string error = error_of([&] {
    auto step = divided.handle().local().record([&] { divided.lattice().exchange(); });
    step();
  });
  CHECK(error.find("cannot be part of a recorded step, because ghosts are copied through the host's memory") !=
        std::string::npos);
}

TEST_CASE("a neighbour that does not come is named") {
  const int last = world().size() - 1;
  if (last == 0 || !refusal(Transport::peer).empty()) return;
  dynasoar::Communicator communicator({.patience_seconds = 2.5});
  dynasoar::DistributedHandle<AllocatorT> handle(communicator, small_heap());
  const auto layers = static_cast<std::size_t>(10 * world().size());
  LatticeT lattice(handle, {64, layers}, with(Transport::peer));
  lattice.exchange();
  handle.synchronize();
  const int rank = world().rank();
  const std::string error = error_of([&] {
    if (rank != last) {
      lattice.exchange();  // throws in checked builds
      lattice.exchange();  // returns at once
    }
    handle.synchronize();
  });
  const std::string rank_0 =
      "rank 0 has waited 2 s in DistributedLattice::exchange for rank " + std::to_string(last) + ", whose ghosts";
  CAPTURE(error);
  if (rank == 0) {
    CHECK(error.starts_with("dynasoar: " + rank_0));
  } else if (rank == last) {
    CHECK(error.starts_with("dynasoar: rank 0 failed: " + rank_0));
  } else {
    CHECK(error != "");
  }
}

TEST_CASE("impossible transports are refused on all ranks, with the reason") {
  CHECK(refusal(Transport::staged) == "");
  CHECK(refusal(Transport::automatic) == "");
  const std::string peer = refusal(Transport::peer), nccl = refusal(Transport::nccl);
  if (!dynasoar::kCudaBackend) {
    if (world().local_size() == world().size()) {
      CHECK(peer == "");
    } else {
      CHECK(peer.find(", and they do not share /dev/shm, because they are on two hosts or in") != std::string::npos);
    }
    CHECK(nccl ==
          "dynasoar: the ghosts of a DistributedLattice cannot be exchanged with Transport::nccl: rank 0: loops "
          "run on the CPU. Choose Transport::automatic, which takes what is possible");
  }
  Divided divided({{64, 70}, with(Transport::automatic)});
  const Transport best = !dynasoar::kCudaBackend ? Transport::staged
                         : peer.empty()          ? Transport::peer
                         : nccl.empty()          ? Transport::nccl
                                                 : Transport::staged;
  CHECK(divided.lattice().transport() == best);
  if (peer.find("both use GPU-") != std::string::npos) {
    CHECK(peer.find("cannot be exchanged with Transport::peer: rank ") != std::string::npos);
    CHECK(divided.lattice().transport() == Transport::staged);
  }
}

TEST_CASE("ranks that choose different transports are told") {
  dynasoar::DistributedHandle<AllocatorT> handle(world(), small_heap());
  const Transport transport = world().rank() == 0 ? Transport::staged : Transport::automatic;
  const std::string error = error_of([&] { LatticeT(handle, {64, 70}, with(transport)); });
  CHECK((error.find("transport staged") != std::string::npos) == (world().size() > 1));
}

}  // namespace distributed_test
