#include <dynasoar/distributed.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "world.h"

using dynasoar::Communicator;
using dynasoar::CommunicatorError;
using dynasoar::CommunicatorOptions;

namespace {

std::uint64_t number(int rank) {
  return static_cast<std::uint64_t>(rank);
}

/// What the launcher says of this rank, in the first of these environment variables that there is.
int known_to_launcher(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* const variable : variables) {
    if (const char* const value = std::getenv(variable)) return std::atoi(value);
  }
  return otherwise;
}

}  // namespace

TEST_CASE("ranks are numbered, and so are those of each host") {
  CHECK(world().rank() >= 0);
  CHECK(world().rank() < world().size());
  std::vector<std::uint64_t> seen(static_cast<std::size_t>(world().size()));
  seen[static_cast<std::size_t>(world().rank())] = 1;
  world().sum(seen);
  for (const std::uint64_t count : seen) CHECK(count == 1);
  CHECK(world().local_rank() == known_to_launcher({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}, world().rank()));
  CHECK(world().local_size() == known_to_launcher({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, world().size()));
  CHECK(!world().description().empty());
}

TEST_CASE("integers are added, and the least and the greatest are found, position by position") {
  const std::uint64_t me = number(world().rank()), ranks = number(world().size());
  std::array<std::uint64_t, 3> sums = {1, me, std::uint64_t{1} << 60}, least = {me + 5, ranks - me, 7},
                               greatest = least;
  world().sum(sums);
  CHECK(sums == std::array<std::uint64_t, 3>{ranks, ranks * (ranks - 1) / 2, ranks << 60});
  world().minimum(least);
  CHECK(least == std::array<std::uint64_t, 3>{5, 1, 7});
  world().maximum(greatest);
  CHECK(greatest == std::array<std::uint64_t, 3>{ranks + 4, ranks, 7});
  std::uint64_t one = 1;
  world().sum({&one, 1});
  CHECK(one == ranks);
}

TEST_CASE("real numbers are added in the order of ranks") {
  const double large = 9007199254740992;  // and 1 more is the same
  std::vector<double> values;
  for (int rank = 0; rank < world().size(); ++rank)
    values.push_back(rank % 3 == 0 ? 1 : rank % 3 == 1 ? large : -large);
  double expected = values[0];
  for (std::size_t rank = 1; rank < values.size(); ++rank) expected += values[rank];
  double sum = values[static_cast<std::size_t>(world().rank())];
  world().sum({&sum, 1});
  CHECK(sum == expected);
}

TEST_CASE("the least and the greatest of numbers with a NaN is NaN") {
  double values[] = {world().rank() - 0.5, world().rank() == world().size() - 1 ? std::nan("") : 1.0};
  double greatest[] = {values[0], values[1]};
  world().minimum(values);
  world().maximum(greatest);
  CHECK(values[0] == -0.5);
  CHECK(greatest[0] == world().size() - 1.5);
  CHECK(std::isnan(values[1]));
  CHECK(std::isnan(greatest[1]));
}

TEST_CASE("many values are reduced at once") {
  std::vector<std::uint64_t> values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * number(world().rank());
  world().sum(values);
  const std::uint64_t ranks = number(world().size());
  for (std::size_t i = 0; i < values.size(); i += 9999) CHECK(values[i] == i * ranks * (ranks - 1) / 2);
  std::vector<std::uint64_t> none;
  world().sum(none);
}

TEST_CASE("all ranks throw if they reduce different numbers of values") {
  std::vector<double> values(world().rank() == world().size() - 1 ? 4 : 3);
  if (world().size() == 1) return;
  try {
    world().sum(values);
    FAIL("sum() accepted it");
  } catch (const CommunicatorError& error) {
    CHECK(std::string(error.what()).find("rank 0 passes 3 values and rank ") != std::string::npos);
    CHECK(std::string(error.what()).find(" passes 4") != std::string::npos);
  }
}

TEST_CASE("bytes of any rank reach all ranks") {
  for (int root = 0; root < world().size(); ++root) {
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{232}, std::size_t{233}, std::size_t{1} << 20}) {
      std::string text(bytes, world().rank() == root ? static_cast<char>('a' + root) : '-');
      world().broadcast(text.data(), text.size(), root);
      CHECK(text == std::string(bytes, static_cast<char>('a' + root)));
    }
  }
  CHECK_THROWS_WITH_AS(world().broadcast(nullptr, 0, world().size()), doctest::Contains("there are only ranks 0 to "),
                       CommunicatorError);
}

TEST_CASE("a rank that passes another number of bytes than the root is told so") {
  if (world().size() == 1) return;
  std::string text(world().rank() == 1 ? 10 : 300, ' ');
  if (world().rank() == 1) {
    CHECK_THROWS_WITH_AS(world().broadcast(text.data(), text.size(), 0),
                         doctest::Contains("rank 0 passes 300 bytes and rank 1 passes 10"), CommunicatorError);
  } else {
    world().broadcast(text.data(), text.size(), 0);
  }
  world().barrier();
}

TEST_CASE("bytes of different lengths are gathered on any rank") {
  for (int root = 0; root < world().size(); ++root) {
    const auto length = [&](int rank) { return rank == root ? std::size_t{3} : static_cast<std::size_t>(rank) * 150; };
    const std::vector<char> mine(length(world().rank()), static_cast<char>('A' + world().rank()));
    const std::vector<std::vector<char>> all = world().gather(mine.data(), mine.size(), root);
    REQUIRE(all.size() == (world().rank() == root ? static_cast<std::size_t>(world().size()) : 0));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      CHECK(all[rank] == std::vector<char>(length(static_cast<int>(rank)), static_cast<char>('A' + rank)));
    }
  }
}

namespace {

// Every rank sends to its two neighbours in a ring, and to itself where it is its own neighbour.
void exchange_in_ring(Communicator& communicator, std::size_t bytes) {
  const int ranks = communicator.size(), me = communicator.rank();
  const int above = (me + ranks - 1) % ranks, below = (me + 1) % ranks;
  std::string up(bytes, static_cast<char>('a' + me)), down(bytes, static_cast<char>('A' + me));
  std::string from_below(bytes, ' '), from_above(bytes, ' ');
  const std::vector<Communicator::Message> sent = {{above, 1, up.data(), bytes}, {below, 2, down.data(), bytes}};
  const std::vector<Communicator::Message> received = {{above, 2, from_above.data(), bytes},
                                                       {below, 1, from_below.data(), bytes}};
  communicator.exchange(sent, received);
  CHECK(from_below == std::string(bytes, static_cast<char>('a' + below)));
  CHECK(from_above == std::string(bytes, static_cast<char>('A' + above)));
}

}  // namespace

TEST_CASE("neighbours in a ring exchange messages; a rank may be its own neighbour, above and below") {
  for (const std::size_t bytes : {0, 1, 5000, 3'000'000}) exchange_in_ring(world(), bytes);
  for (int step = 0; step < 200; ++step) exchange_in_ring(world(), 64);
}

TEST_CASE("messages that are longer than a piece arrive in one piece") {
  Communicator pieces({.patience_seconds = 20, .piece_bytes = 1000});
  for (const std::size_t bytes : {999, 1000, 1001, 123'456}) exchange_in_ring(pieces, bytes);
  std::string text(2500, pieces.rank() == 0 ? 'x' : ' ');
  pieces.broadcast(text.data(), text.size(), 0);
  CHECK(text == std::string(2500, 'x'));
}

TEST_CASE("messages with one tag between two ranks are received in the order in which they are sent") {
  const int ranks = world().size(), to = (world().rank() + 1) % ranks, from = (world().rank() + ranks - 1) % ranks;
  std::array<char, 6> sent_bytes = {'a', 'b', 'c', 'd', 'e', 'f'}, received_bytes{};
  std::vector<Communicator::Message> sent, received;
  for (std::size_t i = 0; i < 6; ++i) {
    sent.push_back({to, i < 3 ? 0 : Communicator::kGreatestTag, &sent_bytes[i], 1});
    received.push_back({from, i < 3 ? Communicator::kGreatestTag : 0, &received_bytes[i], 1});
  }
  world().exchange(sent, received);
  CHECK(std::string(received_bytes.begin(), received_bytes.end()) == "defabc");
}

TEST_CASE("only ranks that have messages take part in an exchange") {
  const int last = world().size() - 1;
  char byte = world().rank() == 0 ? '0' : 'x';
  const std::vector<Communicator::Message> message = {{world().rank() == 0 ? last : 0, 0, &byte, 1}};
  if (last == 0) return;
  if (world().rank() == 0) world().exchange(message, {});
  if (world().rank() == last) world().exchange({}, message);
  CHECK(byte == (world().rank() == 0 || world().rank() == last ? '0' : 'x'));
  world().barrier();
}

TEST_CASE("a message of another length than expected is an error on the rank that receives it") {
  const int ranks = world().size(), to = (world().rank() + 1) % ranks, from = (world().rank() + ranks - 1) % ranks;
  std::string sent_bytes(100, ' '), received_bytes(200, ' ');
  const std::vector<Communicator::Message> sent = {{to, 0, sent_bytes.data(), 100}};
  for (const std::size_t expected : {99, 200}) {
    const std::vector<Communicator::Message> received = {{from, 0, received_bytes.data(), expected}};
    CHECK_THROWS_AS(world().exchange(sent, received), CommunicatorError);
    world().barrier();
  }
  exchange_in_ring(world(), 10);
}

TEST_CASE("ranks and tags that do not exist are refused") {
  char byte = 0;
  for (const Communicator::Message wrong : {Communicator::Message{world().size(), 0, &byte, 1},
                                            {-1, 0, &byte, 1},
                                            {0, -1, &byte, 1},
                                            {0, Communicator::kGreatestTag + 1, &byte, 1}}) {
    const std::vector<Communicator::Message> messages = {wrong};
    CHECK_THROWS_WITH_AS(world().exchange(messages, {}), doctest::Contains("ranks are from 0 to "), CommunicatorError);
    CHECK_THROWS_AS(world().exchange({}, messages), CommunicatorError);
  }
}

TEST_CASE("all ranks learn the error of the lowest rank that has one, and whether a rank wants to stop or grow") {
  const int last = world().size() - 1;
  Communicator::Status all = world().agree({});
  CHECK(!all.error);
  CHECK(!all.stop);
  CHECK(!all.grow);
  CHECK(all.rank == -1);
  all = world().agree({.grow = world().rank() == last, .message = "not an error"});
  CHECK(all.grow);
  CHECK(!all.error);
  CHECK(all.message.empty());
  all = world().agree({.stop = world().rank() == 0});
  CHECK(all.stop);
  CHECK(!all.grow);
  for (int lowest = 0; lowest <= last; ++lowest) {
    std::string text(static_cast<std::size_t>(world().rank()) * 300, 'm');
    text += std::to_string(world().rank());
    all = world().agree({.error = world().rank() >= lowest, .message = text});
    CHECK(all.error);
    CHECK(all.rank == lowest);
    CHECK(all.message == std::string(static_cast<std::size_t>(lowest) * 300, 'm') + std::to_string(lowest));
  }
}

TEST_CASE("all ranks throw if they do not have the same value, and name ranks and values") {
  const int last = world().size() - 1;
  world().check_same("options", "steps=3");
  if (last == 0) return;
  const std::string mine = world().rank() == last ? "steps=4" : "steps=3";
  CHECK_THROWS_WITH_AS(world().check_same("options", mine),
                       doctest::Contains(("rank " + std::to_string(last) + " has 'steps=4'").c_str()),
                       CommunicatorError);
  const std::string head(1000, 'h'), tail(1000, 't');
  std::string long_text = head;
  long_text += world().rank() == last ? "LAST" : "REST";
  long_text += tail;
  CHECK_THROWS_WITH_AS(world().check_same("classes", long_text), doctest::Contains("hhLASTtt"), CommunicatorError);
  CHECK_THROWS_WITH_AS(world().check_same("classes", long_text), doctest::Contains("hhRESTtt"), CommunicatorError);
}

TEST_CASE("several communicators of one process do not disturb each other") {
  Communicator first({.patience_seconds = 20}), second({.patience_seconds = 20});
  for (int step = 0; step < 20; ++step) {
    exchange_in_ring(step % 2 == 0 ? first : second, 100);
    std::uint64_t one = 1;
    second.sum({&one, 1});
    CHECK(one == number(second.size()));
    first.barrier();
  }
}

TEST_CASE("a communicator may be made and destroyed many times") {
  for (int i = 0; i < 20; ++i) {
    Communicator made({.patience_seconds = 20});
    made.barrier();
  }
}

TEST_CASE("options that make no sense are refused") {
  for (const double patience : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS_WITH_AS(Communicator({.patience_seconds = patience}), doctest::Contains("patience_seconds"),
                         CommunicatorError);
  }
  for (const std::size_t piece : {std::size_t{0}, std::size_t{1} << 31}) {
    CHECK_THROWS_WITH_AS(Communicator({.piece_bytes = piece}), doctest::Contains("piece_bytes"), CommunicatorError);
  }
}

TEST_CASE("all ranks get to know of a signal that one has received") {
  Communicator::catch_signals();
  CHECK(!world().agree({}).stop);
  world().barrier();
  if (world().rank() == world().size() - 1) std::raise(SIGUSR2);  // doctest handles SIGTERM, MPICH SIGUSR1
  CHECK(world().agree({}).stop);
}
