/// @file
/// Attachment: what belongs to an AllocatorHandle beside its heap, and has to be looked after when its loops are done.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dynasoar::detail {

/// Something that loops of a handle use, such as a UniformGrid or a StepLog.
class Attachment {
 public:
  /// The device is idle; called by AllocatorHandle::synchronize and retry_with_growth.
  /// @return what did not fit in loops since the last call, for people; empty if everything did. There is room for it
  ///         now
  /// @throws Error if there is no memory for it
  virtual std::string loops_done() { return {}; }

  /// A checkpoint was loaded: the objects are others. The device is idle.
  virtual void objects_replaced() {}

  /// A step's loops are submitted from now on, or recorded.
  virtual void step_begins() {}

  /// A recorded step is submitted next. May wait.
  virtual void before_replay() {}

  /// How often its memory has moved: recorded steps that use it have to be recorded again.
  virtual std::uint64_t moves() const { return 0; }

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

  /// Calls loops_done of all. @return what did not fit into the first for which something did not @throws what one of
  /// them throws
  std::string loops_done() const {
    std::string first;
    for (Attachment* attachment : all_) {
      std::string text = attachment->loops_done();
      if (first.empty()) first = std::move(text);
    }
    return first;
  }

  void objects_replaced() const {
    for (Attachment* attachment : all_) attachment->objects_replaced();
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
