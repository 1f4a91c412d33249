// Communicators of MPI.
#include <string>
#include <vector>

#include <mpi.h>

#include <doctest/doctest.h>

#include "world.h"

using dynasoar::Communicator;
using dynasoar::CommunicatorError;

namespace {

// The ranks in a ring send their number to the next one.
int number_before(Communicator& communicator) {
  int mine = communicator.rank(), before = -1;
  const int ranks = communicator.size();
  const std::vector<Communicator::Message> sent = {
      {(mine + 1) % ranks, 0, reinterpret_cast<char*>(&mine), sizeof mine}};
  const std::vector<Communicator::Message> received = {
      {(mine + ranks - 1) % ranks, 0, reinterpret_cast<char*>(&before), sizeof before}};
  communicator.exchange(sent, received);
  return before;
}

}  // namespace

TEST_CASE("a communicator of some of the processes has ranks of its own") {
  const int color = world().rank() % 2;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, color, -world().rank(), &half);  // backwards
  {
    Communicator communicator(&half, {.patience_seconds = 20});
    MPI_Comm_free(&half);
    const int members = (world().size() + 1 - color) / 2;
    CHECK(communicator.size() == members);
    CHECK(communicator.rank() == members - 1 - world().rank() / 2);
    CHECK(number_before(communicator) == (communicator.rank() + members - 1) % members);
    std::uint64_t sum = static_cast<std::uint64_t>(world().rank());
    communicator.sum({&sum, 1});
    std::uint64_t expected = 0;
    for (int rank = color; rank < world().size(); rank += 2) expected += static_cast<std::uint64_t>(rank);
    CHECK(sum == expected);
    // The halves and the whole take turns.
    for (int step = 0; step < 10; ++step) {
      CHECK(number_before(world()) == (world().rank() + world().size() - 1) % world().size());
      CHECK(communicator.agree({.grow = communicator.rank() == 0}).grow);
    }
  }
  world().barrier();
}

TEST_CASE("a communicator of this process alone") {
  MPI_Comm self = MPI_COMM_SELF;
  Communicator communicator(&self);
  CHECK(communicator.size() == 1);
  CHECK(number_before(communicator) == 0);
  std::uint64_t value = 3;
  communicator.sum({&value, 1});
  CHECK(value == 3);
}

TEST_CASE("what is no communicator of processes that can send messages is refused") {
  MPI_Comm null = MPI_COMM_NULL;
  CHECK_THROWS_WITH_AS(Communicator{&null}, doctest::Contains("MPI_COMM_NULL"), CommunicatorError);
  CHECK_THROWS_WITH_AS(Communicator{static_cast<const MPI_Comm*>(nullptr)}, doctest::Contains("address of an MPI_Comm"),
                       CommunicatorError);
  const std::string wrong = "text";
  CHECK_THROWS_WITH_AS(Communicator{&wrong}, doctest::Contains("address of an MPI_Comm"), CommunicatorError);
  if (world().size() < 2) return;
  const int half = world().rank() % 2;
  MPI_Comm part, both;
  MPI_Comm_split(MPI_COMM_WORLD, half, world().rank(), &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - half, 7, &both);
  CHECK_THROWS_WITH_AS(Communicator{&both}, doctest::Contains("MPI_Intercomm_merge"), CommunicatorError);
  MPI_Comm_free(&both);
  MPI_Comm_free(&part);
}
