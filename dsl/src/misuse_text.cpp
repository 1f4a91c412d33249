#include <dynasoar/detail/loop_reports.h>

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <dynasoar/classes/handle.h>
#include <dynasoar/detail/field_names.h>

namespace dynasoar::detail {

namespace {

bool is_listed(const ClassTable& classes, int type) {
  return type >= 0 && type < classes.size();
}

/// Name of a class.
std::string class_text(const ClassTable& classes, int type) {
  return is_listed(classes, type) ? std::string(classes[static_cast<std::size_t>(type)].name) : "an unknown class";
}

/// "Fish (block 12, slot 5, generation 7)".
std::string object_text(const ClassTable& classes, std::uint64_t bits) {
  const Handle handle(bits);
  const int type = handle.type_index();
  if (bits == 0) return "a null pointer";
  if (!is_listed(classes, type)) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "0x%" PRIx64, bits);
    return std::string("pointer ") + digits;
  }
  const std::uint32_t block = classes.block_at(handle.block_offset(), static_cast<std::size_t>(type));
  return class_text(classes, type) + " (block " + std::to_string(block) + ", slot " + std::to_string(handle.slot()) +
         ", generation " + std::to_string(handle.generation()) + ")";
}

/// The function that device code calls for an operation.
std::string function_text(Operation operation) {
  switch (operation) {
    case Operation::create: return "make_new";
    case Operation::become: return "become";
    default: return "destroy";
  }
}

/// Describes the misuse, without the class or field.
std::string deed_text(const MisuseReport& report) {
  const bool becomes = report.first.operation == Operation::become;
  switch (report.kind) {
    case Misuse::outside_heap: return "constructed as a variable, and not in the allocator's heap,";
    case Misuse::unset_field: return "read, but neither the constructor nor anything else has set it,";
    case Misuse::null_access: return "accessed through a null pointer";
    case Misuse::stale_access: return "accessed in an object that had been destroyed";
    case Misuse::wrong_class: return "used through a pointer to another class than the object's";
    case Misuse::foreign_pointer: return "used through a pointer that this allocator has not made";
    case Misuse::double_destroy:
      return becomes ? "passed to become after it had been destroyed or had become another class," : "destroyed again";
    case Misuse::never_created: return "used without having been created";
    case Misuse::destroyed_by_other:
      return std::string(becomes ? "passed to become" : "destroyed") + " by another object in a loop that visits it";
    case Misuse::index_out_of_range:
      return "element " + std::to_string(report.first.element) + " accessed, which is beyond the end,";
    case Misuse::nested_construction: return "make_new called in constructors that are nested too deeply,";
    case Misuse::outside_loop: return function_text(report.first.operation) + " called in host code outside of a loop";
    case Misuse::lost_race: return "refused a place of a divided lattice that another thread took in the same loop,";
    case Misuse::none: break;
  }
  return "misused";
}

/// Advises the user how to fix the misuse.
std::string advice_text(const MisuseReport& report) {
  switch (report.kind) {
    case Misuse::outside_heap:
      return "Objects exist in the heap only, and not as variables, members, elements of arrays or containers, or with "
             "'new': create them with make_new or parallel_new, and keep pointers";
    case Misuse::unset_field: return "Set it in each constructor of its class, or before it is read";
    case Misuse::null_access:
      return "Check whether the pointer is null first; make_new returns null if the heap is full";
    case Misuse::stale_access:
      return "Before you destroy an object, update the objects that point to it, for example in a loop that sets their "
             "pointers to null";
    case Misuse::wrong_class: return "dynasoar::cast<Class>(pointer) gives null for objects of other classes";
    case Misuse::foreign_pointer:
      return "It may be of an earlier AllocatorHandle, of another allocator's, or not initialized: constructors set "
             "all fields that are read, and fill_bytes(0) makes all pointers in a DeviceArray null";
    case Misuse::double_destroy:
      return "Let the object destroy itself: others set a flag in it, and a loop over these objects checks the flag";
    case Misuse::never_created: return "Only objects that make_new, make_new_n or parallel_new has made can be used";
    case Misuse::destroyed_by_other:
      return "The loop may be running for the destroyed object at the same time. Let the object destroy itself: others "
             "set a "
             "flag in it, and the next loop checks the flag";
    case Misuse::index_out_of_range: return "Indices of an array field begin with 0 and end below its size";
    case Misuse::nested_construction: return "Create the next object in a method that a later loop runs";
    case Misuse::outside_loop:
      return "Use parallel_new, or call it in a function that parallel_for or parallel_do runs";
    case Misuse::lost_race:
      return "Each process may have a different first thread, so processes would disagree about places near the "
             "border. "
             "Let the place choose: agents record the place that they want, and in the next loop each free "
             "place takes one of them, or the agent with the lowest bid moves there";
    case Misuse::none: break;
  }
  return "";
}

std::string times_text(std::uint64_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

/// Describes all cases of a kind, with advice: "Fish: destroyed again 3 times; first: Fish (block 12, ...). Let ...".
std::string describe(const ClassTable& classes, const MisuseReport& report) {
  const Offence& first = report.first;
  const auto type = static_cast<int>(first.class_index);
  std::string subject = class_text(classes, type);
  if ((first.operation == Operation::access || first.operation == Operation::construct) && is_listed(classes, type)) {
    subject = field_text(classes[static_cast<std::size_t>(type)].fields[first.field]);
  }
  std::string text = subject + ": " + deed_text(report) + " " + times_text(report.count);
  if (first.operation != Operation::create && first.operation != Operation::construct)
    text += "; first: " + object_text(classes, first.object);
  if (first.by != 0) {
    text += std::string(text.find("; first: ") == std::string::npos ? "; first" : "") + " by " +
            object_text(classes, first.by);
  }
  const std::string advice = advice_text(report);
  return advice.empty() ? text : text + ". " + advice;
}

}  // namespace

void throw_misuse(const ClassTable& classes, std::vector<MisuseReport> reports) {
  if (reports.empty()) return;
  std::string message;
  for (MisuseReport& report : reports) {
    report.text = describe(classes, report);
    message += (message.empty() ? "" : "\n") + report.text;
  }
  throw MisuseError(message, std::move(reports));
}

}  // namespace dynasoar::detail
