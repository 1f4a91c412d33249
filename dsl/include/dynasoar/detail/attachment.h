/// @file
/// Attachment: the base of structures that belong to an AllocatorHandle in addition to its heap, such as a UniformGrid.
/// The handle notifies them when loops have finished, and before steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dynasoar::detail {

/// Describes what did not fit into the memory of an attachment during loops that have run.
struct Shortage {
  std::string text;         ///< a message for users; empty if everything fitted
  bool has_room = true;     ///< whether there is enough room now
  bool is_mistake = false;  ///< whether it is a mistake in the program, which is reported regardless of `on_refusal`
};

/// A structure that loops of a handle use, such as a UniformGrid or a StepLog. By default, all functions do nothing.
class Attachment {
 public:
  /// Called by AllocatorHandle::synchronize and retry_with_growth when the device is idle.
  /// @return a description of everything that did not fit in loops since the last call
  virtual Shortage loops_done() { return {}; }

  /// Called after a checkpoint was loaded, which replaces all objects. The device is idle.
  virtual void objects_replaced() {}

  /// Called before the loops of a step are submitted or recorded.
  virtual void step_begins() {}

  /// Called before a recorded step is submitted. May wait, and may make room for the step.
  virtual void before_replay() {}

  /// How often its memory has moved. After a move, recorded steps that use it have to be recorded again.
  virtual std::uint64_t moves() const { return 0; }

 protected:
  ~Attachment() = default;
};

/// The attachments of a handle.
class Attachments {
 public:
  void add(Attachment& attachment) {
    all_.push_back(&attachment);
    ++past_moves_;  // recorded steps may refer to the memory of an earlier attachment
  }
  void remove(Attachment& attachment) {
    past_moves_ += attachment.moves();
    std::erase(all_, &attachment);
  }

  /// Calls loops_done of all attachments. @return what did not fit in any of them
  Shortage loops_done() const {
    Shortage all;
    for (Attachment* attachment : all_) {
      const Shortage one = attachment->loops_done();
      if (!all.text.empty() && !one.text.empty()) all.text += '\n';
      all.text += one.text;
      all.has_room = all.has_room && one.has_room;
      all.is_mistake = all.is_mistake || one.is_mistake;
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

  /// How often the memory of any attachment has moved.
  std::uint64_t moves() const {
    std::uint64_t sum = past_moves_;
    for (const Attachment* attachment : all_) sum += attachment->moves();
    return sum;
  }

 private:
  std::vector<Attachment*> all_;
  std::uint64_t past_moves_ = 0;  // additions, and moves of attachments that were removed
};

}  // namespace dynasoar::detail
