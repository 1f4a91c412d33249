/// @file
/// FrameWriter: writes tables in a thread of its own, while the simulation goes on. Not part of dynasoar.h, because few
/// files need it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
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

  explicit FrameWriter(Write write, std::size_t most_waiting = 1);
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  /// Writes what was added. Prints an error that the program has not asked for.
  ~FrameWriter();

  /// Adds a frame, once there is room for it.
  /// @throws the error of the first frame that could not be written, on each call; no frame is written after it
  void add(std::uint64_t step, Columns columns);

  /// Waits until all frames are written. @throws like `add`
  void finish();

  /// Frames that were written.
  std::uint64_t written() const;

 private:
  void throw_failure();
  void run();

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
