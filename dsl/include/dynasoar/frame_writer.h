/// @file
/// FrameWriter: writes tables in a thread of its own, while the simulation goes on. Not part of dynasoar.h, because few
/// files need it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include <dynasoar/columns.h>

namespace dynasoar {

/// Writes frames, one after the other, in the order in which they were added:
///
///     dynasoar::FrameWriter writer([](std::uint64_t step, const dynasoar::Columns& agents) {
///       dynasoar::write_csv("agents-" + std::to_string(step) + ".csv", agents);
///     });
///     for (...) {
///       simulate a step
///       writer.add(step, handle.columns<Agent>());
///     }
///     writer.finish();
///
/// At most `most_waiting` frames wait while one is written: if the disk is slow, `add` waits.
///
/// @par Concurrency   one thread uses it
class FrameWriter {
 public:
  using Write = std::function<void(std::uint64_t step, const Columns& columns)>;

  explicit FrameWriter(Write write, std::size_t most_waiting = 1)
      : write_(std::move(write)), most_waiting_(most_waiting > 0 ? most_waiting : 1), thread_([this] { run(); }) {}
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  /// Writes what was added. An error that nobody asked for is printed.
  ~FrameWriter() {
    const bool was_reported = is_reported_;
    try {
      finish();
    } catch (const std::exception& error) {
      if (!was_reported) std::fprintf(stderr, "dynasoar: found when a FrameWriter was destroyed: %s\n", error.what());
    } catch (...) {
      if (!was_reported) std::fprintf(stderr, "dynasoar: a FrameWriter could not write a frame\n");
    }
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// Adds a frame, once there is room for it.
  /// @throws what a frame could not be written for, again and again; none is written after it
  void add(std::uint64_t step, Columns columns) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return failure_ || frames_.size() < most_waiting_; });
    throw_failure();
    frames_.emplace_back(step, std::move(columns));
    changed_.notify_all();
  }

  /// Waits until all frames are written. @throws what one of them could not be written for
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return failure_ || (frames_.empty() && !is_writing_); });
    throw_failure();
  }

  /// Frames that were written.
  std::uint64_t written() const {
    const std::lock_guard lock(mutex_);
    return written_;
  }

 private:
  void throw_failure() {
    if (!failure_) return;
    is_reported_ = true;
    std::rethrow_exception(failure_);
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ends_ || (!failure_ && !frames_.empty()); });
      if (ends_) return;
      const auto [step, columns] = std::move(frames_.front());
      frames_.pop_front();
      is_writing_ = true;
      lock.unlock();
      changed_.notify_all();
      std::exception_ptr failure;
      try {
        write_(step, columns);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      is_writing_ = false;
      failure_ = failure;
      if (!failure) ++written_;
      changed_.notify_all();
    }
  }

  Write write_;
  std::size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::uint64_t, Columns>> frames_;  // that wait
  std::exception_ptr failure_;
  bool is_reported_ = false;
  bool is_writing_ = false;
  bool ends_ = false;
  std::uint64_t written_ = 0;
  std::thread thread_;  // last: it uses all of these
};

}  // namespace dynasoar
