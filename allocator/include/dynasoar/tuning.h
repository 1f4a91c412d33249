/// @file
/// Numbers that were chosen by measurement, each with its reason and its source: a date names a section of
/// benchmarks/LOG.md. Numbers that are "not recorded" were compared with others before there was a log, or are
/// estimates: measure before you rely on them. If you change a number, add your measurements to the log.
///
/// Numbers that follow from the hardware, a file format or a protocol are defined where they are used.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/tuning.h>

// The minimum number of thread blocks of 256 threads per multiprocessor in loops over objects. 5 leaves 48 registers
// per thread; with 0, the compiler decides. Such loops wait for memory, in particular if they create objects: more
// warps are better than more registers until values are spilled. May differ from file to file; see docs/how-to/fast.md
// for how to choose. 2026-11-24 ("more warps in loops that create objects"): 4, 5 and 6 compared in all models.
#ifndef DYNASOAR_LOOP_BLOCKS_PER_MULTIPROCESSOR
#define DYNASOAR_LOOP_BLOCKS_PER_MULTIPROCESSOR 5
#endif

// Whether loops over objects spill registers to shared memory, if nvcc can do this (CUDA 13, builds without checks).
// Otherwise they spill to local memory, and every such write goes to the L2 cache. Set it only for files with device
// code in which all calls are inlined: ptxas then refuses printf, assert, malloc and recursion, and also -G, -rdc=true
// and -Ofc. May differ from file to file; see docs/how-to/fast.md. 2026-11-26 ("spills in shared memory"): Wa-Tor takes
// 0.92 of the time, models that spill little gain nothing.
#ifndef DYNASOAR_SPILL_TO_SHARED_MEMORY
#define DYNASOAR_SPILL_TO_SHARED_MEMORY 0
#endif

namespace dynasoar::detail {

// Waiting and searching, in platform/ and heap/.

/// Words (shards) of a count: several, so that not all warps access the same one. Two counts together have one word for
/// each thread of a thread block that makes lists, because each thread reads one word. Not recorded.
inline constexpr int kCountShards = 128;

/// Rounds after which a request gives up. On a GPU other warps make progress meanwhile, if any can. On the host, the
/// thread for which a request waits may have no processor for some time. Not recorded.
inline constexpr int kPatience = kCudaBackend ? 40 : 512;

/// Rounds from one exhaustive search to the next. Such a search takes a single lane of a GPU a long time. Not recorded.
inline constexpr int kRoundsPerSearch = kCudaBackend ? 8 : 4;

/// Nanoseconds of a warp's first pause while it waits. Not recorded.
inline constexpr unsigned kShortestPause = 32;
/// The number of later pauses each of which is twice as long as the one before. Not recorded.
inline constexpr int kPauseDoublings = 10;

/// The number of times that a waiting thread of a CPU yields before it sleeps. If the wait then is not over, the thread
/// for which it waits probably has no processor. Not recorded.
inline constexpr int kYields = 64;
/// The time for which it sleeps. Not recorded.
inline constexpr long kSleepNanoseconds = 100'000;

/// The time for which threads of a CPU spin before they sleep: waking a thread takes about as long. 2026-11-26
/// ("threads that sleep"): consecutive loops are as fast as with threads that always spin.
inline constexpr int kSpinningMicroseconds = 50;

/// Consecutive refusals after which a thread that has to create very many objects refuses the rest, too. For allocators
/// that do not detect that they are full. Not recorded.
inline constexpr int kMostRefusalsInARow = 16;

// Loops.

/// Threads of a thread block in most kernels. Registers of a multiprocessor are divided among thread blocks of this
/// size. Not recorded, but 512 were no better for lists, and teams of 256 were worse for compaction (2026-11-23).
inline constexpr int kThreadsPerBlock = 256;

/// Thread blocks of a loop over indices per multiprocessor: the greatest possible number, at the expense of registers.
/// Such loops create objects, and are bound by latency. 2026-11-24 ("more warps").
inline constexpr int kIndexBlocksPerMultiprocessor = 2048 / kThreadsPerBlock;

/// The minimum number of thread blocks per multiprocessor in loops over placed objects, free places or places of a
/// colour. 2026-11-26 ("lattices"): 8, 6 and 5 compared by the spills of ptxas; 2026-11-27 ("few act"): by time.
inline constexpr int kPlaceLoopsPerMultiprocessor = 5;

/// The same for loops over blocks of places, which need registers for words of 64 bits and create up to 64 objects at a
/// time. 2026-11-26: 8, 6, 5 and 4 compared for the game of life by the spills of ptxas, not by time. 4 is the greatest
/// number without spills if no block has places of two rows, and with almost none otherwise.
inline constexpr int kPlaceBlockLoopsPerMultiprocessor = 4;

/// Containers of an allocated bitmap that a thread block lists together. 2026-11-23 ("how lists are found unchanged"):
/// 256, with twice the threads, are slower.
inline constexpr int kContainersPerTile = 64;

/// The maximum number of thread blocks per multiprocessor that make the list of a type. All of them read the same
/// counters, so more are slower if a list has not changed. If it has changed, fewer are slower. 2026-11-23: 1, 2 and 4
/// compared; 2 is a good compromise.
inline constexpr unsigned kListBlocksPerMultiprocessor = 2;

/// Words from a shard of a count to the next. No two shards are in one 32-byte sector, but there are fewer lines to
/// read than with a line for each shard. 2026-11-23: 4, 6, 8, 12 and 16 compared.
inline constexpr std::size_t kWordsPerShard = 12;

/// Blocks of at most this number of bytes are prefetched before a loop visits them, because a loop usually needs all
/// lines of such a block. 2026-11-24 ("loops over a single small field") and 2026-11-25 ("one float").
inline constexpr std::size_t kMostPrefetchedBytes = 256;

/// The maximum number of threads that share an object in loops over pairs: a warp. Not recorded.
inline constexpr std::uint32_t kMostThreadsPerObject = 32;
/// The maximum number of threads of a thread block of such a loop. It has the greatest number for which two tiles fit
/// into its shared memory: the more threads there are, the less each has to load. Not recorded.
inline constexpr int kMostPairThreads = 1024;
/// The bytes of its shared memory. Not recorded.
inline constexpr std::size_t kPairSharedBytes = 44 * 1024;

/// The number of blocks whose objects a loop on a GPU distributes over the lanes of a warp, if blocks are sparse.
/// 2026-11-26 ("half-empty blocks"): 1, 2, 4 and 8 blocks compared.
inline constexpr std::uint32_t kDealtBlocks = 2;
/// Blocks are sparse if they have fewer objects than this on average. 2026-11-26 ("half-empty blocks").
inline constexpr std::uint32_t kLeastDenseObjects = 40;

/// The maximum number of words of 64 places that a warp of a loop over placed objects distributes over its lanes.
/// 2026-11-27 ("few act"): 2, 4 and 6 to 10 words compared in five applications.
inline constexpr std::uint32_t kWordsPerWarp = 6;
/// A warp takes several words only if there is at least this number of warps per multiprocessor. 2026-11-27 ("few
/// act").
inline constexpr unsigned kWarpsPerMultiprocessor = 48;

/// The maximum number of words that a warp takes in loops over the objects of a class that has one at every place,
/// which need no distribution. The constant work of a warp is a quarter of its work per word. Not recorded.
inline constexpr std::uint32_t kFullWordsPerWarp = 4;

/// The maximum number of slots of a lattice whose rows begin at whole blocks, whatever this wastes. Loops over blocks
/// whose places are in several rows take several times as long. 2026-11-29 ("searches and lattices").
inline constexpr std::size_t kMostPaddedSlots = std::size_t{1} << 18;

/// Threads of a team. 2026-11-23 ("compaction"): 512 instead of 256 gain 12 % if every step compacts.
inline constexpr int kThreadsPerTeam = 512;

/// The threads of a scan by one thread block, for arrays so short that CUB's two kernels would take longer. Not
/// recorded.
inline constexpr int kThreadsPerScan = 1024;
/// The numbers that each of these threads takes at a time. Not recorded.
inline constexpr int kItemsPerScanThread = 8;
/// The greatest length of such an array. Not recorded.
inline constexpr std::uint32_t kShortScan = 4 * kThreadsPerScan * kItemsPerScanThread;
/// The numbers that a thread of a CPU adds up in a scan. Not recorded.
inline constexpr std::size_t kNumbersPerScanTask = 16384;

// The heap.

/// Searches for a listed block before a new one is opened. More searches and tries fill listed blocks better, but take
/// time if many warps compete for them. (If warps share a starting point, they fill some blocks completely while other
/// blocks become empty, but they compete.) Not recorded.
inline constexpr int kSearches = 2;
/// Listed blocks tried in each container of the bitmap that a request looks at. Not recorded.
inline constexpr int kTriesPerContainer = 2;
/// Tries to take an empty block or a free page in one round. Not recorded.
inline constexpr int kTakeTries = 8;

/// Tries to take an empty block if there are many free pages. The first try is near the warp's own position. The second
/// one is a search, which finds a block if there is any, unless other warps take it first. 2026-11-27 ("blocks of
/// several sizes"): 1, 2, 3 and 8 compared; with 1, classes take a page for each block.
inline constexpr int kTakeTriesBesidePages = 2;

/// The number of warps of a multiprocessor that read the roots of bitmaps early. 2026-11-25 ("which words a request
/// reads"): the root of a bitmap is one word, which not all warps should access.
inline constexpr std::uint32_t kEarlyReaders = 8;

/// The reciprocal of the fraction of a page that blocks of a class may leave unused. Small pages can change their class
/// more easily, but waste more. 2026-11-23 ("pages, blocks").
inline constexpr std::size_t kUnusedPageShare = 16;

/// The minimum number of blocks that a warp takes with one request in parallel_new. 2026-11-23 ("whole blocks for
/// parallel_new"): 1 and 3 blocks are slower.
inline constexpr std::size_t kLeastBulkShare = 4;
/// Shares of the objects of parallel_new per warp: several on a CPU, because its threads are not equally fast.
/// 2026-11-23 ("whole blocks for parallel_new").
inline constexpr std::size_t kBulkSharesPerWarp = kCudaBackend ? 1 : 8;

/// Pieces of a loop that creates objects if most of them will be refused. Not recorded.
inline constexpr std::size_t kPiecesOfRefusedLoop = 1024;

/// Containers per task when free pages are counted. A GPU needs many threads, but adds their sums to one word. Not
/// recorded.
inline constexpr std::uint32_t kContainersPerTask = kCudaBackend ? 16 : 4096;
/// The maximum number of these tasks. Not recorded.
inline constexpr std::uint32_t kMostCountingTasks = kCudaBackend ? 8192 : 16;

/// Blocks that compaction plans for together. 2026-11-23 ("compaction").
inline constexpr std::uint32_t kBlocksPerGroup = 128;

/// Pointers or slots that a team updates. 2026-11-23 ("compaction").
inline constexpr std::size_t kUpdatesPerTeam = 2048;
/// Pointers that each thread reads together, so that their latencies overlap. 2026-11-23 ("compaction").
inline constexpr std::uint32_t kUpdatesAtOnce = 4;

/// Blocks that a team of a sort handles. Objects that stay in these blocks move through shared memory, 16 bytes of each
/// object at a time. Not recorded.
inline constexpr std::uint32_t kBlocksPerSortTeam = 16;

/// Objects whose new places a loop of a sort writes: 4 bytes each, so that they fit into the L2 cache of a large GPU.
/// 2026-11-28 ("sort").
inline constexpr std::size_t kRanksPerSortWindow = std::size_t{1} << 23;
/// Blocks for which a team writes the new places of objects. 2026-11-28 ("sort").
inline constexpr std::uint32_t kBlocksPerDestinationTeam = 64;
/// The maximum distance, in ranks, of objects whose new places the first loop writes. 2026-11-28 ("sort").
inline constexpr std::uint32_t kNearRanks = 1u << 16;

// Checkpoints.

/// Bytes of a chunk, unless one value or block has more. Not recorded.
inline constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
/// Chunks that are written, read and checked together: on most machines, one per thread. Not recorded.
inline constexpr std::size_t kChunksAtOnce = 8;

// Grids.

/// Threads that share the search of an object for its neighbours, if a grid has few objects (kFewObjects): a power of
/// two, and a divisor of the number of lanes. 2026-11-24 ("few boids, again"); 2026-11-29 ("four threads for an
/// object").
inline constexpr std::uint32_t kPartsOfFew = 16;
/// The same if a grid has some objects (kSomeObjects). 2026-11-29 ("four threads for an object").
inline constexpr std::uint32_t kPartsOfSome = 4;

/// The maximum number of objects that count as few. 2026-11-29 ("four threads for an object"): 4000 to 250 000 objects
/// compared.
inline constexpr std::uint32_t kFewObjects = 1 << 15;
/// The maximum number of objects that count as some. If there are more, one thread searches for each object. 2026-11-29
/// ("four threads for an object").
inline constexpr std::uint32_t kSomeObjects = 1 << 18;

/// The minimum number of thread blocks of 256 threads per multiprocessor in loops over the objects of a grid: 4 leaves
/// 64 registers per thread. Such loops compute, but warps wait for more than half of their time. 2026-11-28 ("agents in
/// space"); 2026-11-29 ("searches and lattices"): 5, 6 and 8 compared.
inline constexpr int kPlaceBlocksPerMultiprocessor = 4;

/// Thread blocks of a loop over the objects of a grid, in multiples of the number that the device holds, if its method
/// returns no reduction: several times, because the searches of some warps take much longer than those of others.
/// 2026-11-29 ("searches and lattices"): 4, 8, 16 and 32 compared.
inline constexpr unsigned kRoundsOfPlaces = 8;

}  // namespace dynasoar::detail
