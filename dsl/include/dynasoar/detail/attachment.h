/// @file
/// Attachment: what belongs to an AllocatorHandle beside its heap, and has to be looked after when its loops are done.
#pragma once

#include <cstdint>
#include <vector>

namespace dynasoar::detail {

/// Something that loops of a handle use, such as a UniformGrid or a StepLog.
class Attachment {
 public:
  /// The device is idle; called by AllocatorHandle::synchronize.
  /// @throws Error if something has gone wrong in loops since the last call
  virtual void loops_done() = 0;

  /// A step's loops are submitted from now on, or recorded.
  virtual void step_begins() {}

  /// A recorded step is submitted next. May wait.
  virtual void before_replay() {}

  /// How often its memory has moved: recorded steps that use it have to be recorded again.
  virtual std::uint64_t moves() const = 0;

 protected:
  ~Attachment() = default;
};

/// The attachments of a handle.
class Attachments {
 public:
  void add(Attachment& attachment) { all_.push_back(&attachment); }
  void remove(Attachment& attachment) {
    past_moves_ += attachment.moves();
    std::erase(all_, &attachment);
  }

  /// Calls loops_done of all. @throws what one of them throws
  void loops_done() const {
    for (Attachment* attachment : all_) attachment->loops_done();
  }

  void step_begins() const {
    for (Attachment* attachment : all_) attachment->step_begins();
  }
  void before_replay() const {
    for (Attachment* attachment : all_) attachment->before_replay();
  }

  /// How often the memory of any has moved.
  std::uint64_t moves() const {
    std::uint64_t sum = past_moves_;
    for (const Attachment* attachment : all_) sum += attachment->moves();
    return sum;
  }

 private:
  std::vector<Attachment*> all_;
  std::uint64_t past_moves_ = 0;  // of those removed
};

}  // namespace dynasoar::detail
