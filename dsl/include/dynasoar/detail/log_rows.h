/// @file
/// LogRows: the rows of a step log. They stay in device memory until the host asks for them or the memory is full. Base
/// of StepLog, with the parts that do not depend on classes.
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

/// A cell of a step log: a whole number, a real number, or no value, such as the minimum over no objects.
using LogValue = std::variant<std::monostate, std::int64_t, std::uint64_t, double>;

/// A row of a step log.
struct LogRow {
  std::uint64_t step;
  std::vector<LogValue> values;  ///< one for each name
};

namespace detail {

/// The rows in device memory. Loops write the contents of a row at row(), and the last one closes it.
struct LogTarget {
  struct Cursor {
    std::uint64_t rows;  ///< rows closed since the host last took rows
    std::uint64_t next;  ///< number of the next row
  };
  static constexpr std::uint64_t kRows = 256;

  char* memory;
  std::size_t row_bytes;
  Cursor* cursor;

  /// The memory of the current row, which begins with its step; null if there is no room for it.
  __device__ char* row() const { return cursor->rows < kRows ? memory + cursor->rows * row_bytes : nullptr; }

  __device__ void close_row(std::uint64_t step) const {
    if (char* const at = row()) *reinterpret_cast<std::uint64_t*>(at) = step;
    ++cursor->rows;
    ++cursor->next;
  }
};

/// Several totals of the objects of a class, and the loops that compute them. They are a part of each row.
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

  /// The headings of the columns after "step".
  const std::vector<std::string>& names() const { return names_; }

  /// For each name, whether its values are counts: whole numbers that are not negative and that no row lacks.
  const std::vector<bool>& are_counts() const { return are_counts_; }

  /// Waits, and returns all rows since the log was made or take_rows() was called, oldest first.
  /// @throws Error if the device failed, within a recorded step, or if a CUDA graph of your own has added more than 256
  ///         rows since the last call; the rows after these are lost
  const std::vector<LogRow>& rows();

  /// The same, and removes them from the log.
  std::vector<LogRow> take_rows();

  /// Waits, and writes rows(): as CSV with a heading if `path` ends in .csv, or as JSON lines, an object for each row,
  /// if it ends in .jsonl. No value is an empty cell in CSV and null in JSON. Numbers that are not finite are also null
  /// in JSON.
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

  /// The offset in bytes at which the next part of a row begins: a multiple of 16.
  std::size_t end_of_row() const { return row_bytes_; }

  /// Adds a part to all rows. @pre check_may_add(names) @throws Error if there is no memory
  void add(const std::vector<std::string>& names, const std::vector<bool>& are_counts,
           std::unique_ptr<LoggedTotals> totals, std::size_t bytes);

  /// Called before a row is submitted. @throws Error if it would be empty
  void begin_row();

  LogTarget target() const { return {memory_.data(), row_bytes_, cursor_.data()}; }
  const std::vector<std::unique_ptr<LoggedTotals>>& parts() const { return parts_; }

 private:
  // No row may be lost, so the host keeps an upper bound of the number of rows in device memory. It knows the loops
  // that it has submitted, and the number of rows that a recorded step adds. It waits if there may be no room for
  // another row.
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
  std::uint64_t rows_of_step_ = 0;    // added by the current recording
  std::uint64_t rows_of_replay_ = 0;  // greatest number of rows in a recorded step
  bool has_begun_ = false;
  std::vector<LogRow> rows_;
};

/// The edges of `bins` bins of equal width. @throws Error
std::vector<double> edges_of_bins(const std::string& name, double low, double high, std::size_t bins);

/// The headings of a histogram's columns. @throws Error if there are no bins, too many, or edges do not increase
std::vector<std::string> names_of_bins(const std::string& name, const std::vector<double>& edges);

/// Returns `unit`. @throws Error if it is not positive and finite
double checked_unit(const std::string& name, double unit);

}  // namespace detail

}  // namespace dynasoar
