#include <dynasoar/heap/heap_memory.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>

#include <dynasoar/classes/handle.h>
#include <dynasoar/heap/heap_tasks.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/host_buffer.h>

namespace dynasoar::detail {

namespace {

/// The number of handles of all types that the process has made.
std::atomic<std::uint64_t> handles_made{0};

[[noreturn]] void throw_beyond_compressed_pointers(const ClassTable& classes, std::size_t limit, bool is_checked) {
  throw Error("dynasoar: a heap of " + std::to_string(limit) + " bytes is too large for a CompressedPointer to " +
              std::string(classes.reach.target) + ", which reaches " +
              std::to_string(classes.reach.pages * classes.page_bytes) + " bytes" +
              (is_checked ? " in checked builds" : "") +
              ": make the heap or its limit smaller, or use a plain pointer");
}

}  // namespace

HeapMemory::HeapMemory(Executor& executor, const ClassTable& classes, bool is_checked, const HeapSize& size,
                       const FaultPlan& faults)
    : classes_(classes), is_checked_(is_checked) {
  const std::size_t page_bytes = classes.page_bytes;
  const auto types = static_cast<std::size_t>(classes.size());
  const bool grows = !size.bytes || size.limit;
  const std::size_t limit = size.limit ? *size.limit : grows ? affordable_bytes() : *size.bytes;
  const std::size_t bytes = size.bytes ? *size.bytes : std::min(limit, HeapSize::kDefault);
  if (bytes > limit) {
    throw Error("dynasoar: heap_bytes, " + std::to_string(bytes) + ", is more than heap_limit_bytes, " +
                std::to_string(limit) + "; raise the limit or leave it out");
  }
  if (bytes / page_bytes < types) {
    throw Error("dynasoar: a heap of " + std::to_string(bytes) + " bytes is too small: " + std::to_string(types) +
                " classes in pages of " + std::to_string(page_bytes) + " bytes need at least " +
                std::to_string(types * page_bytes) + " bytes");
  }
  const std::size_t most = std::min<std::size_t>(Handle::kMaxHeapBytes, (most_pages() + 1) * page_bytes - 1);
  if (limit > most) {
    throw Error("dynasoar: a heap of " + std::to_string(limit) +
                " bytes is too large for 48-bit offsets and 31-bit block numbers; the most is " + std::to_string(most));
  }
  if (limit / page_bytes > classes.reach.pages) throw_beyond_compressed_pointers(classes, limit, is_checked);
  limit_pages_ = static_cast<std::uint32_t>(limit / page_bytes);
  grows_ = grows;
  has_chosen_limit_ = size.limit || !grows;
  lay_out(executor);
  if (is_checked_) set_up_checks(faults);
  grow_to(executor, static_cast<std::uint32_t>(bytes / page_bytes));
  growths_ = 0;
  executor.synchronize();
}

HeapMemory::~HeapMemory() = default;

AnyHeap HeapMemory::any_heap() const {
  AnyHeap heap{};
  static_cast<HeapState<PlatformAtomics, 64>&>(heap) = heap_;
  heap.types = {device_types_.data(), device_types_.size()};
  return heap;
}

RelocatedHeap HeapMemory::relocated(const ClassSet& classes) const {
  return {any_heap(),   base_,   page_bytes(), device_lists_.data(),     class_view(),
          checks_.tags, classes, entry_of_,    compaction_flags_.data(), listed_shards(0),
          kShardsOfType};
}

ListSource<AnyHeap> HeapMemory::list_source(std::size_t type) const {
  const AnyHeap::TypeState& state = types_[type];
  return {state.created, state.deleted, state.allocated, list(type), progress_.data() + type, listed_shards(type)};
}

AtomicWord<std::uint64_t>* HeapMemory::listed_shards(std::size_t type) const {
  return reinterpret_cast<Word64*>(seen_.data() + kShardsOfType * type);
}

void HeapMemory::grow_to(Executor& executor, std::uint32_t pages) {
  const std::uint32_t before = heap_.pages;
  if (pages <= before) return;
  commit(pages);
  for (const Part& part : parts_) {
    if (part.fill == kLeftAlone) continue;
    executor.fill_bytes(part.memory.data() + part.bytes(before), static_cast<unsigned char>(part.fill),
                        part.bytes(pages) - part.bytes(before));
  }
  fill_tags(executor, before, pages);
  set_sizes(executor, pages);
  executor.for_each_index(heap_.current_count, SpreadHints{heap_.page_hint, heap_.current_count, before, pages});
  executor.for_each_index((pages - 1) / 64 - before / 64 + 1,
                          AddFreePages{heap_.free_pages, heap_.pages_freed, before, pages});
  ++growths_;
}

void HeapMemory::clear(Executor& executor, std::uint32_t first_generation) {
  for (const Part& part : parts_) {
    if (part.fill == kLeftAlone) continue;
    executor.fill_bytes(part.memory.data(), static_cast<unsigned char>(part.fill), part.bytes(heap_.pages));
    executor.fill_bytes(part.memory.data() + part.bytes(limit_pages_), 0, part.tail_bytes);
  }
  first_generation_ = first_generation;
  fill_tags(executor, 0, heap_.pages);
  executor.for_each_index(heap_.current_count, SpreadHints{heap_.page_hint, heap_.current_count, 0, heap_.pages});
  executor.fill_bytes(heap_.full_at, 0, types_.size() * sizeof(std::uint64_t));
  executor.fill_bytes(heap_.refusals, 0, refusal_words(types_.size()) * sizeof(std::uint64_t));
  for (std::size_t type = 0; type < types_.size(); ++type) {
    const std::size_t words = heap_.current_count * AnyHeap::WarpWords::kStride;
    executor.fill_bytes(types_[type].current.words, 0xff, words * sizeof(std::uint32_t));  // kNoPosition
    executor.fill_bytes(list(type).size, 0, sizeof(ListSize));
  }
}

/// Marks the slots of some pages as never used; in checked builds.
void HeapMemory::fill_tags(Executor& executor, std::uint32_t first_page, std::uint32_t end_page) {
  if (!is_checked_) return;
  const std::size_t slots = kSlotsPerBlock << heap_.block_shift;
  executor.for_each_index(slots * (end_page - first_page),
                          FillWords{checks_.tags + slots * first_page, Tag::unused(first_generation_).bits()});
}

std::vector<std::uint64_t> HeapMemory::count_objects(Executor& executor) const {
  const std::uint32_t containers = types_[0].allocated.level_size(0);
  DeviceArray<std::uint64_t> totals(2 * types_.size());
  totals.fill_bytes(0);
  executor.for_each_index(std::size_t{containers} * types_.size(),
                          CountObjects{any_heap(), containers, reinterpret_cast<Word64*>(totals.data())});
  executor.wait();
  return totals.download();
}

std::vector<std::uint64_t> HeapMemory::listed_at() const {
  return seen_.download();
}

std::vector<std::uint64_t> HeapMemory::refusals() const {
  return pieces_[refusals_piece_].download();
}

std::vector<std::uint64_t> HeapMemory::created() const {
  const std::vector<std::uint64_t> words = pieces_[counts_piece_].download();
  std::vector<std::uint64_t> totals(types_.size());
  for (std::size_t i = 0; i < words.size(); i += Counter::kStride) totals[i / Counter::kWords] += words[i];
  return totals;
}

std::vector<MisuseReport> HeapMemory::take_misuse() {
  std::vector<MisuseReport> reports;
  if (!is_checked_) return reports;
  const MisuseRecord record = misuse_.download().front();
  for (int kind = 0; kind < kMisuses; ++kind) {
    const std::uint64_t count = record.count[kind].load(Order::relaxed);
    if (count > 0) reports.push_back({static_cast<Misuse>(kind), count, record.first[kind], {}});
  }
  if (!reports.empty()) misuse_.fill_bytes(0);
  return reports;
}

std::uint64_t HeapMemory::count_free_pages() const {
  std::uint64_t count = 0;
  std::vector<std::uint64_t> words(AnyHeap::Bits::containers(heap_.pages));
  copy_from_device(words.data(), parts_[free_pages_part_].memory.data(), words.size() * sizeof(std::uint64_t));
  for (const std::uint64_t word : words) count += static_cast<std::uint64_t>(popcount(word));
  return count;
}

std::size_t HeapMemory::state_bytes() const {
  std::size_t bytes = progress_.bytes() + seen_.bytes() + compaction_flags_.bytes();
  for (std::size_t i = 1; i < parts_.size(); ++i) bytes += parts_[i].memory.bytes();
  for (const auto& piece : pieces_) bytes += piece.bytes();
  return bytes;
}

/// The greatest number of pages for which block numbers leave room for kHalfFree.
std::size_t HeapMemory::most_pages() const {
  return (AnyHeap::kHalfFree - 1) / classes_.block_stride;
}

/// The approximate number of bits of the state per page.
std::size_t HeapMemory::state_bits_per_page() const {
  std::size_t bits = 64 + classes_.block_stride * (64 + 32 + 32 + 4 * classes_.classes.size());
  for (const ClassInfo& info : classes_.classes) bits += info.blocks_per_page * 8 * sizeof(ListedBlock);
  return bits + (is_checked_ ? classes_.block_stride * kSlotsPerBlock * 32 : 0);
}

/// The number of bytes for objects such that they and the state fit into most of the free memory.
std::size_t HeapMemory::affordable_bytes() const {
  const std::size_t most = free_memory() / 16 * 15;
  const std::size_t pages = most / (classes_.page_bytes + state_bits_per_page() / 8 + 1);
  return std::min<std::size_t>(
             {pages, most_pages(), Handle::kMaxHeapBytes / classes_.page_bytes, std::size_t{classes_.reach.pages}}) *
         classes_.page_bytes;
}

/// Reserves addresses for the limit, and makes views of 0 pages.
void HeapMemory::lay_out(Executor& executor) {
  const std::size_t types = classes_.classes.size();
  const std::uint32_t stride = classes_.block_stride;
  heap_.block_shift = static_cast<std::uint32_t>(std::countr_zero(stride));
  base_ = part(8 * classes_.page_bytes, kLeftAlone);
  heap_.slots = {reinterpret_cast<Word64*>(part(64 * std::size_t{stride}, 0xff, AnyHeap::BlockWords::kGroup))};
  heap_.token = reinterpret_cast<Word32*>(part(32 * std::size_t{stride}, 0));
  heap_.page_type = reinterpret_cast<Word32*>(part(32, 0));
  const std::uint32_t most_current = current_count_for(limit_pages_, executor);
  heap_.page_hint = warp_words(most_current, 0);
  heap_.full_at = reinterpret_cast<Word64*>(words64(types, 0));
  // The shards of created and deleted objects are adjacent, because making a list reads all of them.
  counts_piece_ = pieces_.size();
  auto* const counts = reinterpret_cast<Word64*>(words64(types * Counter::kWords, 0));
  refusals_piece_ = pieces_.size();
  heap_.refusals = reinterpret_cast<Word64*>(words64(refusal_words(types), 0));
  heap_.pages_freed = counter();
  heap_.pages_taken = counter();
  free_pages_part_ = parts_.size();
  heap_.free_pages = bitmap(executor, 1);
  for (std::size_t type = 0; type < types; ++type) {
    AnyHeap::TypeState& state = types_.emplace_back();
    state.empty = bitmap(executor, stride);
    state.active = bitmap(executor, stride);
    state.allocated = bitmap(executor, stride);
    Word64* const counts_of_type = counts + type * Counter::kWords;
    state.created = Counter::over(counts_of_type);
    state.deleted = Counter::over(counts_of_type + Counter::kStride / 2);
    state.opened = counter();
    state.closed = counter();
    state.emptied = counter();
    state.reused = counter();
    state.current = warp_words(most_current, 0xff);  // kNoPosition
    state.fetching = warp_words(most_current, 0);
    state.blocks_per_page = classes_[type].blocks_per_page;
    auto* const size = reinterpret_cast<ListSize*>(words64(1, 0));
    char* const entries = part(8 * sizeof(ListedBlock) * state.blocks_per_page, kLeftAlone);
    places_.push_back({{reinterpret_cast<ListedBlock*>(entries), size}, base_, nullptr});
  }
  entry_of_ = reinterpret_cast<std::uint32_t*>(part(32 * std::size_t{stride}, 0));
  device_classes_ = DeviceClasses(classes_);
  device_types_ = DeviceArray<AnyHeap::TypeState>(types);
  device_lists_ = DeviceArray<BlockList>(types);
  std::vector<BlockList> lists;
  for (const ObjectPlaces& places : places_) lists.push_back(places.list);
  device_lists_.upload(lists);
  compaction_flags_ = DeviceArray<CompactionFlags>(types);
  compaction_flags_.fill_bytes(0);
  progress_ = DeviceArray<ListProgress>(types);
  progress_.fill_bytes(0);
  seen_ = DeviceArray<std::uint64_t>(kShardsOfType * types);
  seen_.fill_bytes(0);
}

void HeapMemory::set_up_checks(const FaultPlan& faults) {
  checks_.tags = reinterpret_cast<Word32*>(part(32 * kSlotsPerBlock * classes_.block_stride, kLeftAlone));
  // Generations of different handles start at different numbers; 37 is odd, so 256 handles start at 256 numbers.
  first_generation_ = static_cast<std::uint32_t>(handles_made.fetch_add(1) * 37);
  misuse_ = DeviceArray<MisuseRecord>(1);
  misuse_.fill_bytes(0);
  checks_.misuse = misuse_.data();
  loop_ = DeviceArray<LoopRecord>(1);
  loop_.fill_bytes(0);
  checks_.loop = loop_.data();
  if constexpr (kCudaBackend) {
    scratch_ = DeviceArray<char>(classes_.largest_block_bytes());
    checks_.scratch = scratch_.data();
  }
  checks_.faults = {reinterpret_cast<Word64*>(words64(1, 0)), faults.first, faults.every};
}

/// Allocates memory for all parts or, if it throws, for none.
void HeapMemory::commit(std::uint32_t pages) {
  try {
    for (Part& part : parts_) part.memory.commit(part.bytes(pages));
  } catch (...) {
    for (Part& part : parts_) part.memory.take_back(part.bytes(heap_.pages));
    throw;
  }
}

/// Sets the views to those of a heap of `pages` pages.
void HeapMemory::set_sizes(Executor& executor, std::uint32_t pages) {
  const std::uint32_t warps = executor.concurrent_warps();
  heap_.pages = pages;
  heap_.current_count = current_count_for(pages, executor);
  // Pages are few if not every warp can have one, or if three of four nearby pages are taken.
  heap_.few_pages = pages < warps ? 64 : 16;
  heap_.free_pages = heap_.free_pages.first(pages);
  for (AnyHeap::TypeState& state : types_) {
    state.empty = state.empty.first(heap_.blocks());
    state.active = state.active.first(heap_.blocks());
    state.allocated = state.allocated.first(heap_.blocks());
  }
  submit_copy(executor, device_types_.data(), types_.data(), device_types_.bytes());
}

/// Current blocks are only partly full. Those of all types together may take at most an eighth of the pages.
std::uint32_t HeapMemory::current_count_for(std::uint32_t pages, const Executor& executor) const {
  return std::clamp<std::uint32_t>(pages / (8 * static_cast<std::uint32_t>(types())), 1, executor.concurrent_warps());
}

/// Makes an array that grows with the heap. @return its address
char* HeapMemory::part(std::size_t bits_per_page, int fill, std::size_t group, std::size_t tail_bytes) {
  Part part{{}, bits_per_page, fill, group, tail_bytes};
  part.memory = GrowingMemory(part.bytes(limit_pages_) + tail_bytes, tail_bytes, grows_);
  parts_.push_back(std::move(part));
  return parts_.back().memory.data();
}

/// Makes a bitmap that grows with the heap, initially for 0 pages. Its upper levels have memory from the beginning.
AnyHeap::Bits HeapMemory::bitmap(Executor& executor, std::uint32_t bits_per_page) {
  using Bits = AnyHeap::Bits;
  const std::uint32_t limit = limit_pages_ * bits_per_page;
  const std::size_t upper_bytes = (Bits::words_needed(limit) - Bits::containers(limit)) * sizeof(std::uint64_t);
  char* const words = part(bits_per_page, 0, 1, upper_bytes);
  executor.fill_bytes(words + parts_.back().bytes(limit_pages_), 0, upper_bytes);
  return Bits::over(reinterpret_cast<Word64*>(words), limit).first(0);
}

AnyHeap::Counter HeapMemory::counter() {
  return Counter::over(reinterpret_cast<Word64*>(words64(Counter::kWords, 0)));
}

AnyHeap::WarpWords HeapMemory::warp_words(std::size_t count, unsigned char fill) {
  return {reinterpret_cast<Word32*>(words32(count * AnyHeap::WarpWords::kStride, fill))};
}

std::uint64_t* HeapMemory::words64(std::size_t count, unsigned char fill) {
  pieces_.emplace_back(count).fill_bytes(fill);
  return pieces_.back().data();
}

std::uint32_t* HeapMemory::words32(std::size_t count, unsigned char fill) {
  return reinterpret_cast<std::uint32_t*>(words64((count + 1) / 2, fill));
}

DYNASOAR_HOST_TEMPLATE(void make_list(Executor&, const ListSource<AnyHeap>&, const AnyHeap::BlockWords&));

}  // namespace dynasoar::detail
