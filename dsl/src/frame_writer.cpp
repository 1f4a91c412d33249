#include <dynasoar/write_file.h>

#include <cstdio>

namespace dynasoar {

FrameWriter::FrameWriter(Write write, std::size_t most_waiting)
    : write_(std::move(write)), most_waiting_(most_waiting > 0 ? most_waiting : 1), thread_([this] { run(); }) {}

FrameWriter::~FrameWriter() {
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

void FrameWriter::add(std::uint64_t step, Columns columns) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || frames_.size() < most_waiting_; });
  throw_failure();
  frames_.emplace_back(step, std::move(columns));
  changed_.notify_all();
}

void FrameWriter::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || (frames_.empty() && !is_writing_); });
  throw_failure();
}

std::uint64_t FrameWriter::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

void FrameWriter::throw_failure() {
  if (!failure_) return;
  is_reported_ = true;
  std::rethrow_exception(failure_);
}

void FrameWriter::run() {
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

}  // namespace dynasoar
