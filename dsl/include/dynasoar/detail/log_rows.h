/// @file
/// LogRows: the rows of a step log, in device memory until the host asks for them or the memory is full. Base of
/// StepLog, as far as it does not depend on classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <dynasoar/detail/attachment.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar {

/// A cell of a step log: a whole number, a real number, or nothing, such as the least of no objects.
using LogValue = std::variant<std::monostate, std::int64_t, std::uint64_t, double>;

/// A row of a step log.
struct LogRow {
  std::uint64_t step;
  std::vector<LogValue> values;  ///< one for each name
};

namespace detail {

/// The device's side of the rows. What a row has is written at row(), and then the row is closed.
struct LogTarget {
  struct Cursor {
    std::uint64_t rows;  ///< closed, since the host has taken some
    std::uint64_t next;  ///< number of the next row
  };
  static constexpr std::uint64_t kRows = 256;

  char* memory;
  std::size_t row_bytes;
  Cursor* cursor;

  /// Where the present row is written; null if there is no room for it. Begins with its step.
  __device__ char* row() const { return cursor->rows < kRows ? memory + cursor->rows * row_bytes : nullptr; }

  __device__ void close_row(std::uint64_t step) const {
    if (char* const at = row()) *reinterpret_cast<std::uint64_t*>(at) = step;
    ++cursor->rows;
    ++cursor->next;
  }
};

/// Some totals of objects of a class: loops that compute their part of a row.
class LoggedTotals {
 public:
  virtual ~LoggedTotals() = default;

  /// Submits the loops, which write this part of the row. Neither waits nor allocates.
  virtual void submit(const LogTarget& target) = 0;

  /// Appends the cells of this part of a row that was copied to the host.
  virtual void read(const char* row, std::vector<LogValue>& cells) const = 0;
};

class LogRows : private Attachment {
 public:
  LogRows(const LogRows&) = delete;
  LogRows& operator=(const LogRows&) = delete;

  /// The headings of the columns beside "step".
  const std::vector<std::string>& names() const { return names_; }

  /// Which of these are numbers of objects, or other sums that are whole and not negative: no row lacks them.
  const std::vector<bool>& are_counts() const { return are_counts_; }

  /// Waits, and returns all rows since the log was made or take_rows() was called, oldest first.
  /// @throws Error if the device failed, within a recorded step, or if a CUDA graph of your own has added more than
  ///         256 rows since the last call: all others are there
  const std::vector<LogRow>& rows();

  /// The same, and forgets them.
  std::vector<LogRow> take_rows();

  /// Waits, and writes rows(): as CSV with a heading if `path` ends in .csv, or as JSON lines, an object for each row,
  /// if it ends in .jsonl. Nothing is an empty cell or null, as are numbers in JSON that are not finite.
  ///
  /// The file is written as a whole or not at all, see write_file.h. @throws Error if it cannot be written, or `path`
  /// has another ending
  void write(const std::string& path);

 protected:
  LogRows(Executor& executor, Attachments& attachments);
  ~LogRows();

  Executor& executor() const { return executor_; }

  /// @throws Error if a name is empty, used already or has control characters, rows have been recorded, or the caller
  ///         must not allocate memory
  void check_may_add(const std::vector<std::string>& names) const;

  /// Where the next part of a row begins. A multiple of 16.
  std::size_t end_of_row() const { return row_bytes_; }

  /// Adds a part of so many bytes to all rows. @pre check_may_add(names) @throws Error if there is no memory
  void add(const std::vector<std::string>& names, const std::vector<bool>& are_counts,
           std::unique_ptr<LoggedTotals> totals, std::size_t bytes);

  /// Before a row is submitted. @throws Error if it would be empty
  void begin_row();

  LogTarget target() const { return {memory_.data(), row_bytes_, cursor_.data()}; }
  const std::vector<std::unique_ptr<LoggedTotals>>& parts() const { return parts_; }

 private:
  // So that nothing is lost, the host bounds the number of rows in device memory: it knows what it has submitted, and
  // how many rows a recorded step adds. It waits when there may be no room for more.
  void step_begins() override { rows_of_step_ = 0; }
  void before_replay() override;
  void make_room(std::uint64_t rows);
  void drain();

  Executor& executor_;
  Attachments& attachments_;
  std::vector<std::string> names_;
  std::vector<bool> are_counts_;  // by name
  std::vector<std::unique_ptr<LoggedTotals>> parts_;
  std::size_t row_bytes_ = 16;
  DeviceArray<char> memory_;
  DeviceArray<LogTarget::Cursor> cursor_;
  std::uint64_t possible_ = 0;        // rows in device memory, at most
  std::uint64_t rows_of_step_ = 0;    // that the present recording has added
  std::uint64_t rows_of_replay_ = 0;  // the most that a recorded step has
  bool has_begun_ = false;
  std::vector<LogRow> rows_;
};

/// The edges of `bins` bins of equal width. @throws Error
std::vector<double> edges_of_bins(const std::string& name, double low, double high, std::size_t bins);

/// The headings of a histogram's columns. @throws Error if there are no bins, too many, or edges do not increase
std::vector<std::string> names_of_bins(const std::string& name, const std::vector<double>& edges);

/// @throws Error if it is not above 0 and finite
double checked_unit(const std::string& name, double unit);

}  // namespace detail

}  // namespace dynasoar
