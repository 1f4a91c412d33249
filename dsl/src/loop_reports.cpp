#include <dynasoar/detail/loop_reports.h>

#include <cstddef>
#include <utility>

#include <dynasoar/base/number_text.h>
#include <dynasoar/heap/refusal.h>

namespace dynasoar::detail {

Refused RefusalLog::take(const ClassTable& classes, const std::vector<std::uint64_t>& refusals) {
  constexpr const char* kReasons[kRefusals] = {"heap full", "blocks kept changing hands",
                                               "as asked for by failing_allocations",
                                               "so many were created in one loop that the table of objects is full"};
  reported_.resize(refusals.size());
  std::vector<std::uint64_t> fresh = std::exchange(reported_, refusals);
  for (std::size_t i = 0; i < fresh.size(); ++i) fresh[i] = refusals[i] - fresh[i];
  Refused refused;
  for (std::size_t i = 0; i < classes.classes.size() * kRefusals; ++i) {
    const std::size_t type = i / kRefusals;
    const auto why = static_cast<Refusal>(i % kRefusals);
    const std::uint64_t count = refused_objects(fresh, type, why);
    if (count == 0) continue;
    refused.objects = capped_sum(refused.objects, count);
    if (why != Refusal::on_request) refused.pages += classes.pages_for(type, count);
    refused.text += (refused.text.empty() ? "" : "; ") + std::string(classes[type].name) + ": make_new failed " +
                    std::to_string(count) + " times, " + kReasons[static_cast<int>(why)];
  }
  return refused;
}

namespace {

std::string heap_note(const Refused& refused, const Statistics& now, bool grows, bool has_room) {
  const std::string percent = number_text(100 * now.used(), std::chars_format::fixed, 1);
  const std::string size = " (" + std::to_string(now.heap_bytes) + " bytes, " + percent + "% used)";
  if (!grows) return size + "; make the handle with more heap_bytes";
  if (now.growths == 0 && now.heap_bytes == now.heap_limit_bytes) {
    return size + "; make the handle with more heap_bytes, or without a size: then the heap grows";
  }
  if (refused.pages / 2 > now.heap_limit_bytes / now.page_bytes) {  // the same condition as in HeapGrowth
    return size + "; so many do not fit into the " + std::to_string(now.heap_limit_bytes) +
           " bytes that the heap may grow to: create fewer, or make the handle with a higher heap_limit_bytes";
  }
  if (has_room) return size + "; the heap has grown, and there is room for them now: try again";
  if (now.heap_bytes == now.heap_limit_bytes) {
    return size + "; that is the heap's limit: make the handle with a higher heap_limit_bytes, or delete objects";
  }
  return size + "; there is no memory left for the heap to grow: delete objects, or free memory elsewhere";
}

}  // namespace

AllocationError allocation_error(const Refused& refused, const Statistics& now, bool grows, bool has_room) {
  return {refused.text + heap_note(refused, now, grows, has_room), refused.objects};
}

template class LoopReports<HeapMemory, HeapGrowth>;

}  // namespace dynasoar::detail
