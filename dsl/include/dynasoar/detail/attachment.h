/// @file
/// Attachment: what belongs to an AllocatorHandle beside its heap, and has to be looked after when its loops are done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dynasoar::detail {

/// What did not fit in loops that have run.
struct Shortage {
  std::string text;      ///< for people; empty if everything did fit
  bool has_room = true;  ///< whether there is room for it now
};

/// Something that loops of a handle use, such as a UniformGrid or a StepLog. By default, nothing has to be done for it.
class Attachment {
 public:
  /// The device is idle; called by AllocatorHandle::synchronize and retry_with_growth.
  /// @return what did not fit in loops since the last call, which nobody will be told again
  virtual Shortage loops_done() { return {}; }

  /// A checkpoint was loaded: the objects are others. The device is idle.
  virtual void objects_replaced() {}

  /// A step's loops are submitted from now on, or recorded.
  virtual void step_begins() {}

  /// A recorded step is submitted next. May wait, and make room for what the step will need.
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

  /// Calls loops_done of all. @return what did not fit in any of them
  Shortage loops_done() const {
    Shortage all;
    for (Attachment* attachment : all_) {
      const Shortage one = attachment->loops_done();
      if (!all.text.empty() && !one.text.empty()) all.text += '\n';
      all.text += one.text;
      all.has_room = all.has_room && one.has_room;
    }
    return all;
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
