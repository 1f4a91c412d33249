/// @file
/// HeapMemory: owns the memory of a heap, for objects and for the state; initializes it and lets it grow. HeapStorage
/// adds the types of an allocator; code that does not need them uses this class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/checks/checks.h>
#include <dynasoar/checks/misuse.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/device_classes.h>
#include <dynasoar/heap/any_heap.h>
#include <dynasoar/heap/heap_size.h>
#include <dynasoar/heap/object_places.h>
#include <dynasoar/heap/relocated_heap.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/growing_memory.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// The memory of one allocator's State.
///
/// The heap is divided into pages. The state is in separate memory, so that field arrays keep their alignment. Both can
/// grow between loops, up to a limit that is set at the start. Addresses are reserved, and the levels of bitmaps are
/// laid out, for the limit, so nothing ever moves.
class HeapMemory {
 public:
  using Common = HeapMemory;  ///< the common base of the memories of all allocators with such a heap

  static constexpr bool kGrows = true;

  /// @param classes      of the allocator
  /// @param is_checked   whether it is for a checked build
  /// @param size     bytes for objects, rounded down to whole pages; the state takes some percent more. The heap can
  ///                 grow if a limit or no size is given
  /// @param faults   the allocations that fail; for checked builds
  /// @throws Error if the size is less than one page per type, more than a handle can address, or more than the
  ///         available memory
  HeapMemory(Executor& executor, const ClassTable& classes, bool is_checked, const HeapSize& size,
             const FaultPlan& faults);
  HeapMemory(const HeapMemory&) = delete;
  HeapMemory& operator=(const HeapMemory&) = delete;
  ~HeapMemory();

  const ClassTable& classes() const { return classes_; }
  int types() const { return classes_.size(); }
  bool is_checked() const { return is_checked_; }

  char* base() const { return base_; }
  const HeapState<PlatformAtomics, 64>& heap() const { return heap_; }
  const AnyHeap::TypeState& type(std::size_t type) const { return types_[type]; }
  const BlockList& list(std::size_t type) const { return places_[type].list; }
  const CheckState& checks() const { return checks_; }

  /// The heap for device code, as long as it does not grow.
  AnyHeap any_heap() const;

  /// The classes for device code.
  ClassView class_view() const { return device_classes_.view(); }

  /// The places of the objects of each class.
  View<ObjectPlaces> places() const { return places_; }

  /// The heap for a compaction or a sort of some classes.
  RelocatedHeap relocated(const ClassSet& classes) const;

  /// The source of the list of a type, with its counters at the time when the list was made last.
  ListSource<AnyHeap> list_source(std::size_t type) const;
  AtomicWord<std::uint64_t>* listed_shards(std::size_t type) const;

  /// Numbers that differ between lists of different objects. Waits for the device.
  std::vector<std::uint64_t> listed_at() const;

  /// An upper bound on the listed blocks of a type.
  std::size_t list_capacity(std::size_t type) const {
    return std::size_t{heap_.pages} * classes_[type].blocks_per_page;
  }

  /// The greatest number of pages that the heap may have.
  std::uint64_t limit_pages() const { return limit_pages_; }

  /// Whether the caller has chosen the limit; otherwise it was computed from the free memory.
  bool has_chosen_limit() const { return has_chosen_limit_; }

  /// How often the heap has grown.
  std::uint64_t growths() const { return growths_; }

  /// Lets the heap grow to `pages` pages in all, while loops run. Loops that are submitted after the new state is bound
  /// use the new pages. Does nothing if the heap already has that many.
  /// @pre pages <= limit_pages(), and no step is being recorded
  /// @throws Error if there is no memory; the heap is unchanged then
  void grow_to(Executor& executor, std::uint32_t pages);

  /// Resets the heap to its initial state, but keeps its size: no block is open, and there are no lists. The checkpoint
  /// that is then loaded determines the free pages. @pre the device is idle
  ///
  /// @param first_generation   of slots; for checked builds
  void clear(Executor& executor, std::uint32_t first_generation);

  /// The generation of slots that have never been used; for checked builds.
  std::uint32_t first_generation() const { return first_generation_; }

  /// Live objects and blocks, two numbers per type. Waits for the device.
  std::vector<std::uint64_t> count_objects(Executor& executor) const;

  /// Objects refused since the start, see refused_objects. Waits for the device.
  std::vector<std::uint64_t> refusals() const;

  /// An upper bound on the objects of a type that one loop can create, unless constructors delete some.
  std::uint64_t most_objects(std::size_t type) const { return 2 * std::uint64_t{list_capacity(type)} * kSlotsPerBlock; }

  /// Objects created since the start, per type. Waits for the device.
  std::vector<std::uint64_t> created() const;

  /// Returns the misuse recorded since the last call, and empties the record. @pre the device is idle
  std::vector<MisuseReport> take_misuse();

  std::size_t page_bytes() const { return classes_.page_bytes; }
  std::uint64_t pages() const { return heap_.pages; }

  /// Pages that belong to no type. Waits for the device.
  std::uint64_t count_free_pages() const;

  std::size_t heap_bytes() const { return pages() * page_bytes(); }
  std::size_t limit_bytes() const { return limit_pages() * page_bytes(); }

  /// Bytes of the state: bitmaps, tokens, lists.
  std::size_t state_bytes() const;

 private:
  using Word64 = AtomicWord<std::uint64_t>;
  using Word32 = AtomicWord<std::uint32_t>;
  using Counter = AnyHeap::Counter;

  static constexpr std::size_t kShardsOfType = 2 * static_cast<std::size_t>(Counter::kShards);
  static constexpr int kLeftAlone = -1;  // new bytes are not filled

  /// An array that grows with the number of pages.
  struct Part {
    GrowingMemory memory;
    std::size_t bits_per_page;
    int fill;                    ///< value of new bytes, or kLeftAlone
    std::size_t group;           ///< words that are added together
    std::size_t tail_bytes = 0;  ///< bytes behind the array for the limit: upper levels of a bitmap

    /// Bytes for a number of pages, rounded up to whole groups.
    std::size_t bytes(std::uint64_t pages) const {
      return ((pages * bits_per_page + 63) / 64 + group - 1) / group * group * sizeof(std::uint64_t);
    }
  };

  std::size_t most_pages() const;
  std::size_t state_bits_per_page() const;
  std::size_t affordable_bytes() const;
  void lay_out(Executor& executor);
  void set_up_checks(const FaultPlan& faults);
  void commit(std::uint32_t pages);
  void set_sizes(Executor& executor, std::uint32_t pages);
  std::uint32_t current_count_for(std::uint32_t pages, const Executor& executor) const;
  char* part(std::size_t bits_per_page, int fill, std::size_t group = 1, std::size_t tail_bytes = 0);
  AnyHeap::Bits bitmap(Executor& executor, std::uint32_t bits_per_page);
  Counter counter();
  AnyHeap::WarpWords warp_words(std::size_t count, unsigned char fill);
  std::uint64_t* words64(std::size_t count, unsigned char fill);
  std::uint32_t* words32(std::size_t count, unsigned char fill);
  void fill_tags(Executor& executor, std::uint32_t first_page, std::uint32_t end_page);

  const ClassTable& classes_;
  bool is_checked_;
  char* base_ = nullptr;
  HeapState<PlatformAtomics, 64> heap_{};
  std::vector<AnyHeap::TypeState> types_;
  std::vector<ObjectPlaces> places_;
  CheckState checks_{};
  std::uint32_t limit_pages_ = 0;
  bool grows_ = false;
  bool has_chosen_limit_ = false;
  std::uint64_t growths_ = 0;
  std::uint32_t first_generation_ = 0;
  DeviceArray<MisuseRecord> misuse_;
  DeviceArray<LoopRecord> loop_;
  DeviceArray<char> scratch_;
  DeviceArray<ListProgress> progress_;
  DeviceArray<std::uint64_t> seen_;  // [types * kShardsOfType] see ListSources
  DeviceArray<CompactionFlags> compaction_flags_;
  DeviceClasses device_classes_;
  DeviceArray<AnyHeap::TypeState> device_types_;  // for any_heap
  DeviceArray<BlockList> device_lists_;           // for compaction
  std::uint32_t* entry_of_ = nullptr;             // see RelocatedHeap
  std::vector<Part> parts_;                       // the objects come first
  std::vector<DeviceArray<std::uint64_t>> pieces_;
  std::size_t counts_piece_ = 0;
  std::size_t refusals_piece_ = 0;
  std::size_t free_pages_part_ = 0;
};

DYNASOAR_HOST_EXTERN_TEMPLATE(void make_list(Executor&, const ListSource<AnyHeap>&, const AnyHeap::BlockWords&));

}  // namespace dynasoar::detail
