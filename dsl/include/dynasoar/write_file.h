/// @file
/// Files: write_file writes any contents; FrameWriter writes tables in a thread of its own, while the simulation goes
/// on; check_output_path and same_file find out about outputs before a program computes for hours. Not part of
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

/// Writes a file that is there as a whole or not at all, whatever happens meanwhile: it is written under another name
/// in the same folder (temporary_path), flushed to the disk and renamed. Symbolic links are followed to the real file,
/// which keeps its mode, and its owner where the program may set it. What is not a regular file, such as /dev/null or a
/// FIFO, is written in place. All writers of the library do the same.
///
/// @throws Error if it cannot be written; then what was there is what it was
void write_file(const std::string& path, std::string_view contents);

/// How an output is written.
enum class OutputUse {
  whole_file,  ///< as a whole or not at all: write_file, write_csv, write_vtp, write_hdf5, layout_svg, heap_svg
  checkpoint,  ///< so, too, but not in order, which FIFOs and terminals do not allow: AllocatorHandle::save
  in_place,    ///< grows while the program runs, such as a log
};

/// Finds out whether an output can be written: whether its folder exists and may be written to, whether names are not
/// too long, whether what is there may be replaced, and whether the name of the temporary file is free. What is there
/// stays as it is. A FIFO is not opened, since its reader would see its end.
///
/// @throws Error with the reason and what to do about it
void check_output_path(const std::string& path, OutputUse use = OutputUse::whole_file);

/// Whether two paths lead to the same file, also by symbolic and hard links, and also if it does not exist yet. Devices
/// such as /dev/null are no files in this sense: several outputs may have the same one.
bool same_file(const std::string& a, const std::string& b);

/// The temporary file that is written before it takes the place of `path`, which therefore cannot be the name of
/// another output. @throws Error if symbolic links lead in a circle
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
