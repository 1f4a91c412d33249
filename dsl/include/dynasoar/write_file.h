/// @file
/// write_file writes a file with any contents. FrameWriter writes tables in a separate thread, while the simulation
/// continues. check_output_path and same_file check outputs before a program computes for hours. Not included by
/// dynasoar.h, because few files need it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <dynasoar/columns.h>

namespace dynasoar {

/// Writes a file as a whole or not at all, even if the program or the machine stops meanwhile. The file is written
/// under another name in the same folder (temporary_path), flushed to the disk and renamed. If `path` is a symbolic
/// link, the file to which it leads is replaced. The new file has the mode of the old one, and its owner if the program
/// may set it. Files that are not regular, such as /dev/null or a FIFO, are written in place. All writers of the
/// library do the same.
///
/// @throws Error if the file cannot be written; the old file is unchanged then
void write_file(const std::string& path, std::string_view contents);

/// The way in which an output is written.
enum class OutputUse {
  whole_file,  ///< as a whole or not at all: write_file, write_csv, write_vtp, write_hdf5, layout_svg, heap_svg
  checkpoint,  ///< the same, but not in order, which FIFOs and terminals do not allow: AllocatorHandle::save
  in_place,    ///< grows while the program runs, such as a log
};

/// Checks that an output can be written: its folder exists and may be written to, its name is not too long, an existing
/// file may be replaced, and the name of the temporary file is free. Changes nothing. Does not open a FIFO, because its
/// reader would see the end of the file.
///
/// @throws Error with the reason and what to do about it
void check_output_path(const std::string& path, OutputUse use = OutputUse::whole_file);

/// Whether two paths lead to the same file. Takes symbolic and hard links into account. The file need not exist.
/// Returns false for devices such as /dev/null, because several outputs may have the same device.
bool same_file(const std::string& a, const std::string& b);

/// The path of the temporary file that is written and then renamed to `path`. No other output can have this path.
/// @throws Error if symbolic links lead in a circle
std::string temporary_path(const std::string& path);

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
/// At most `most_waiting` frames wait while one is written. If there are more, because the disk is slow, `add` waits.
///
/// @par Concurrency   one thread at a time may use it
class FrameWriter {
 public:
  using Write = std::function<void(std::uint64_t step, const Columns& columns)>;

  explicit FrameWriter(Write write, std::size_t most_waiting = 1);
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  /// Waits until all frames are written. Prints an error that the program has not asked for.
  ~FrameWriter();

  /// Adds a frame, once there is room for it.
  /// @throws the error of the first frame that could not be written, on each call; no frame is written after it
  void add(std::uint64_t step, Columns columns);

  /// Waits until all frames are written. @throws like `add`
  void finish();

  /// The number of frames written so far.
  std::uint64_t written() const;

 private:
  void throw_failure();
  void run();

  Write write_;
  std::size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::uint64_t, Columns>> frames_;  // waiting to be written
  std::exception_ptr failure_;
  bool is_reported_ = false;
  bool is_writing_ = false;
  bool ends_ = false;
  std::uint64_t written_ = 0;
  std::thread thread_;  // the last member, because it uses all others
};

}  // namespace dynasoar
