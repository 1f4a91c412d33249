/// @file
/// FrameWriter: a thread writes frames in order, and its errors reach the program.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/columns.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/write_file.h>

#include "../platform/captured.h"

namespace columns_test {

using namespace dynasoar;

Columns numbered(std::uint64_t number) {
  return {"N", 1, {dynasoar::make_column<std::uint64_t>("n", {number})}};
}

TEST_CASE("frames are written in order, by another thread, and few of them wait") {
  using namespace std::chrono_literals;
  std::atomic<int> added = 0, done = 0, most = 0;
  std::vector<std::uint64_t> steps;
  std::thread::id writer_thread;
  {
    dynasoar::FrameWriter writer(
        [&](std::uint64_t step, const Columns& columns) {
          writer_thread = std::this_thread::get_id();
          steps.push_back(step);
          CHECK(columns["n"].as<std::uint64_t>()[0] == 10 * step);
          std::this_thread::sleep_for(10ms);  // a slow disk
          ++done;
        },
        2);
    const auto start = std::chrono::steady_clock::now();
    writer.add(0, numbered(0));
    CHECK(std::chrono::steady_clock::now() - start < 8ms);  // add does not wait
    for (std::uint64_t step = 1; step < 12; ++step) {
      writer.add(step, numbered(10 * step));
      added = static_cast<int>(step) + 1;
      if (added - done > most) most = added - done;
    }
    writer.finish();
    CHECK(writer.written() == 12);
  }
  CHECK(done == 12);
  CHECK(most <= 3);  // one that is written, and two
  CHECK(most >= 2);
  CHECK(writer_thread != std::this_thread::get_id());
  for (std::uint64_t step = 0; step < 12; ++step) CHECK(steps[step] == step);
}

TEST_CASE("while a frame is written, the next one is added") {
  std::atomic<std::uint64_t> added = 0;
  std::atomic<int> too_late = 0;
  dynasoar::FrameWriter writer(
      [&](std::uint64_t step, const Columns&) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (added < step + 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        too_late += added < step + 2 ? 1 : 0;
      },
      1);
  for (std::uint64_t step = 0; step < 100 && too_late == 0; ++step) {
    writer.add(step, numbered(step));
    added = step == 99 ? 101 : step + 1;
  }
  writer.finish();
  CHECK(too_late == 0);
}

TEST_CASE("what was added is written before a FrameWriter goes, however few frames may wait") {
  for (const std::size_t most_waiting : {0, 1, 5}) {  // 0 is 1
    int written = 0;
    {
      dynasoar::FrameWriter writer([&](std::uint64_t, const Columns&) { ++written; }, most_waiting);
      for (std::uint64_t step = 0; step < 5; ++step) writer.add(step, numbered(step));
    }
    CHECK(written == 5);
  }
}

TEST_CASE("the next call of add or finish throws the error of a frame") {
  int written = 0;
  const auto fail_at_2 = [&](std::uint64_t step, const Columns&) {
    if (step == 2) throw Error("the disk is full");
    ++written;
  };
  {
    dynasoar::FrameWriter writer(fail_at_2);
    for (std::uint64_t step = 0; step < 3; ++step) writer.add(step, numbered(step));
    CHECK_THROWS_WITH_AS(writer.finish(), "the disk is full", Error);
    CHECK_THROWS_WITH_AS(writer.finish(), "the disk is full", Error);
    CHECK_THROWS_WITH_AS(writer.add(3, numbered(3)), "the disk is full", Error);
    CHECK(writer.written() == 2);
  }
  CHECK(written == 2);
  dynasoar::FrameWriter writer(fail_at_2);
  CHECK_THROWS_WITH_AS(
      [&] {
        for (std::uint64_t step = 0; step < 1000; ++step) writer.add(step, numbered(step));
      }(),
      "the disk is full", Error);
}

TEST_CASE("a FrameWriter prints an error that it has not reported, and no other") {
  const auto printed = [](auto what, auto&& ask) {
    dynasoar::test::Captured error(stderr);
    {
      dynasoar::FrameWriter writer([what](std::uint64_t, const Columns&) { throw what; });
      writer.add(0, numbered(0));
      ask(writer);
    }
    return error.text();
  };
  const auto ask_nothing = [](dynasoar::FrameWriter&) {};
  CHECK(printed(Error("the disk is full"), ask_nothing) ==
        "dynasoar: found when a FrameWriter was destroyed: the disk is full\n");
  CHECK(printed(7, ask_nothing) == "dynasoar: a FrameWriter could not write a frame\n");
  const auto finish = [](auto error) {
    return [](dynasoar::FrameWriter& writer) { CHECK_THROWS_AS(writer.finish(), decltype(error)); };
  };
  CHECK(printed(Error("the disk is full"), finish(Error(""))).empty());
  CHECK(printed(7, finish(7)).empty());
}

TEST_CASE("after an error a FrameWriter writes none of the frames that wait") {
  std::atomic<int> tried = 0;
  dynasoar::FrameWriter writer(
      [&tried](std::uint64_t, const Columns&) {
        ++tried;
        throw Error("the disk is full");
      },
      3);
  CHECK_THROWS_WITH_AS(
      [&] {
        for (std::uint64_t step = 0; step < 1000; ++step) writer.add(step, numbered(step));
      }(),
      "the disk is full", Error);
  CHECK_THROWS_AS(writer.finish(), Error);
  CHECK(tried == 1);
  CHECK(writer.written() == 0);
}

}  // namespace columns_test
