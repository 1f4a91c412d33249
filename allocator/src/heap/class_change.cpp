#include <dynasoar/heap/class_change.h>

#include <string>

#include <dynasoar/heap/class_change_tasks.h>
#include <dynasoar/heap/pointer_updates.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

namespace {

/// Makes an array. @throws Error with the information that no object has changed
template <class T>
DeviceArray<T> array_of(std::size_t size) {
  try {
    return DeviceArray<T>(size);
  } catch (const Error& error) {
    throw Error("dynasoar: there is not enough memory beside the heap for objects to become others: " +
                std::to_string(size * sizeof(T)) + " bytes; no object has changed. Give the heap less memory. (" +
                error.what() + ")");
  }
}

}  // namespace

ClassChange::ClassChange(Executor& executor, const HeapMemory& memory, std::size_t from)
    : executor_(executor), memory_(memory), from_(from) {
  const BlockList list = memory.list(from);
  executor.wait();
  copy_from_device(&entries_, &list.size->blocks, sizeof entries_);
  constexpr std::uint32_t kMostEntries = 0xffffffff / kSlotsPerBlock;
  if (entries_ > kMostEntries) {
    throw Error("dynasoar: become can go through the objects of " + std::to_string(kMostEntries) +
                " blocks, but this class has " + std::to_string(entries_) +
                " blocks. If most of their slots are free, call compact first");
  }
  slots_ = array_of<std::uint64_t>(entries_);
  blocks_ = array_of<std::uint32_t>(entries_);
  counts_ = array_of<std::uint32_t>(entries_ + std::size_t{1});  // so that the last sum is the total
  before_ = array_of<std::uint32_t>(entries_ + std::size_t{1});
  executor.fill_bytes(slots_.data(), 0, slots_.bytes());
  executor.for_each_index(entries_, NoteBlocks{list, memory.relocated({}).entry_of, blocks_.data()});
}

ChangingObjects ClassChange::objects() const {
  return {reinterpret_cast<AtomicWord<std::uint64_t>*>(slots_.data()),
          blocks_.data(),
          before_.data(),
          memory_.relocated({}).entry_of,
          successors_.data(),
          entries_};
}

std::uint32_t ClassChange::number(std::size_t to) {
  executor_.for_each_index(counts_.size(), CountChanging{objects(), counts_.data()});
  PrefixSums sums(counts_.size());
  sums.run(executor_, counts_.data(), before_.data());
  executor_.wait();
  std::uint32_t total = 0;
  copy_from_device(&total, before_.data() + entries_, sizeof total);
  ClassSet wanted;
  wanted.add(to);
  load_pointer_updates<Successors>(executor_, memory_.classes(), wanted);
  successors_ = array_of<std::uint64_t>(total);
  executor_.fill_bytes(successors_.data(), 0, successors_.bytes());
  return total;
}

void ClassChange::update_pointers(std::size_t to, const OtherPointers& pointers) {
  ClassSet wanted;
  wanted.add(to);
  const RelocatedHeap heap = memory_.relocated(wanted);
  detail::update_pointers(executor_, memory_.classes(), heap.heap.blocks(),
                          Successors(heap, objects(), static_cast<int>(from_)), pointers);
}

}  // namespace dynasoar::detail
