/// @file
/// The numbers that were chosen by measurement, each with its reason and where it was measured: a date is a section of
/// benchmarks/LOG.md. "Not recorded" numbers were compared with others before there was a log, or are estimates:
/// measure before you rely on them. Whoever changes a number adds what was measured to the log.
///
/// Numbers that follow from the hardware, a file format or a protocol stand where they are used.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/tuning.h>

// How many thread blocks of 256 threads a multiprocessor has room for, at least, in loops over objects: 5 leave 48
// registers a thread, 0 leaves them to the compiler. Such loops wait for memory, most of all where they create objects:
// more warps are worth more than registers until values are spilled. May differ from file to file; see
// docs/how-to/fast.md for how to choose. 2026-11-24 ("more warps in loops that create objects"): 4, 5 and 6 compared in
// all models.
#ifndef DYNASOAR_LOOP_BLOCKS_PER_MULTIPROCESSOR
#define DYNASOAR_LOOP_BLOCKS_PER_MULTIPROCESSOR 5
#endif

// Whether values that have no register go to shared memory in loops over objects, where nvcc can do that (CUDA 13,
// builds without checks), or to memory, where every such write goes through to the L2 cache. Only in files whose device
// code calls no function that is not inlined: ptxas refuses printf, assert, malloc and recursion there, and so it does
// -G, -rdc=true and -Ofc. May differ from file to file; see docs/how-to/fast.md. 2026-11-26 ("spills in shared
// memory"): Wa-Tor takes 0.92 of the time, models that spill little gain nothing.
#ifndef DYNASOAR_SPILL_TO_SHARED_MEMORY
#define DYNASOAR_SPILL_TO_SHARED_MEMORY 0
#endif

namespace dynasoar::detail {

// Waiting and searching, in platform/ and heap/.

/// Words that a count is spread over, so that not all warps meet at one. As many pairs of them as a thread block of the
/// kernel that makes lists has threads, because each looks at one. Not recorded.
inline constexpr int kCountShards = 128;

/// Looks after which a request gives up. On a GPU other warps make progress meanwhile, if any can; on the host the
/// thread that is awaited may not have a processor for a while. Not recorded.
inline constexpr int kPatience = kCudaBackend ? 40 : 512;

/// Looks from one exhaustive search to the next. A single lane of a GPU takes a long time for one. Not recorded.
inline constexpr int kRoundsPerSearch = kCudaBackend ? 8 : 4;

/// Nanoseconds of a warp's first pause between two looks, and how often a pause is twice as long as the one before. Not
/// recorded.
inline constexpr unsigned kShortestPause = 32;
inline constexpr int kPauseDoublings = 10;

/// How often a thread of a CPU gives way before it sleeps between two looks, and for how long: it has waited so long
/// that the thread that it waits for has no processor. Not recorded.
inline constexpr int kYields = 64;
inline constexpr long kSleepNanoseconds = 100'000;

/// For how long threads of a CPU look for work before they sleep: waking one takes about as long. 2026-11-26 ("threads
/// that sleep"): loops that follow one another are as fast as with threads that spin for ever.
inline constexpr int kSpinningMicroseconds = 50;

/// Refusals in a row, after which a thread that has to create very many objects lets the rest be refused as well, where
/// an allocator cannot tell that it is full. Not recorded.
inline constexpr int kMostRefusalsInARow = 16;

// Loops.

/// Threads of a thread block of most kernels: what the registers of a multiprocessor are divided by. Not recorded, but
/// 512 were no better for lists and teams of 256 worse for compaction (2026-11-23).
inline constexpr int kThreadsPerBlock = 256;

/// Thread blocks of a loop over indices that a multiprocessor has room for: as many as there can be, whatever the
/// registers. Such loops create objects, which is a matter of latency. 2026-11-24 ("more warps").
inline constexpr int kIndexBlocksPerMultiprocessor = 2048 / kThreadsPerBlock;

/// Thread blocks of a loop over placed objects, free places or places of a colour that a multiprocessor has room for at
/// least. 2026-11-26 ("lattices"): 8, 6 and 5 compared by what ptxas spills; 2026-11-27 ("few act"): by time.
inline constexpr int kPlaceLoopsPerMultiprocessor = 5;

/// The same for loops over blocks of places, which need registers for words of 64 bits and create up to 64 objects at a
/// time. 2026-11-26: 8, 6, 5 and 4 compared for the game of life by what ptxas spills, not by time: 4 is the first that
/// spills nothing where no block has places of two rows, and next to nothing elsewhere.
inline constexpr int kPlaceBlockLoopsPerMultiprocessor = 4;

/// Containers of an allocated bitmap that a thread block lists together. 2026-11-23 ("how lists are found unchanged"):
/// 256, with twice the threads, are slower.
inline constexpr int kContainersPerTile = 64;

/// Thread blocks per multiprocessor that make the list of a type, at most: all of them read the same counters, but each
/// has more to do where a list has changed. 2026-11-23: 1, 2 and 4 compared; 2 is the best for both.
inline constexpr unsigned kListBlocksPerMultiprocessor = 2;

/// Words from a shard of a count to the next: no two of them in one 32-byte sector, but fewer lines to read than with a
/// line for each. 2026-11-23: 4, 6, 8, 12 and 16 compared.
inline constexpr std::size_t kWordsPerShard = 12;

/// Blocks of at most so many bytes are brought near before a loop visits them: whoever uses anything of them uses all.
/// 2026-11-24 ("loops over a single small field") and 2026-11-25 ("one float").
inline constexpr std::size_t kMostPrefetchedBytes = 256;

/// The most threads that share an object in loops over pairs: a warp. And threads of a thread block of such a loop,
/// each of which loads one of the others for all, so that the more there are, the less each has to load: as many as two
/// tiles leave room for in so many bytes of shared memory. Not recorded.
inline constexpr std::uint32_t kMostThreadsPerObject = 32;
inline constexpr int kMostPairThreads = 1024;
inline constexpr std::size_t kPairSharedBytes = 44 * 1024;

/// A loop on a GPU deals out the objects of so many blocks to the lanes of a warp if blocks have fewer objects than
/// this on average. 2026-11-26 ("half-empty blocks"): 1, 2, 4 and 8 blocks compared.
inline constexpr std::uint32_t kDealtBlocks = 2;
inline constexpr std::uint32_t kLeastDenseObjects = 40;

/// Words of 64 places that a warp of a loop over placed objects deals out to its lanes, at most, and warps that a
/// multiprocessor should have at least before a warp takes several. 2026-11-27 ("few act"): 2, 4 and 6 to 10 words
/// compared in five applications.
inline constexpr std::uint32_t kWordsPerWarp = 6;
inline constexpr unsigned kWarpsPerMultiprocessor = 48;

/// The same for loops over the objects of a class that has one at every place, where nothing is dealt out: what a warp
/// does once is a quarter of what it does for each word. Not recorded.
inline constexpr std::uint32_t kFullWordsPerWarp = 4;

/// Threads of a team. 2026-11-23 ("compaction"): 512 instead of 256 gain 12 % where every step compacts.
inline constexpr int kThreadsPerTeam = 512;

/// A scan by one thread block, for arrays so short that CUB's two kernels would take longer: its threads, the numbers
/// that each takes at a time, and the length up to which it is used. On a CPU, the numbers that a thread adds up. Not
/// recorded.
inline constexpr int kThreadsPerScan = 1024;
inline constexpr int kItemsPerScanThread = 8;
inline constexpr std::uint32_t kShortScan = 4 * kThreadsPerScan * kItemsPerScanThread;
inline constexpr std::size_t kNumbersPerScanTask = 16384;

// The heap.

/// Searches for a listed block before a new one is opened, listed blocks tried per search, and tries to take an empty
/// block or a free page in one round. More searches and tries fill more of the listed blocks, and cost time where many
/// warps compete for them. (Warps that share a starting point fill blocks to the brim while others drain, but compete.)
/// Not recorded.
inline constexpr int kSearches = 2;
inline constexpr int kTriesPerContainer = 2;
inline constexpr int kTakeTries = 8;

/// Tries to take an empty block where there are many free pages: one near the warp's own place, and a search, which
/// finds one if there is any, unless other warps take it first. 2026-11-27 ("blocks of several sizes"): 1, 2, 3 and 8
/// compared; with 1, classes take a page for each block.
inline constexpr int kTakeTriesBesidePages = 2;

/// So many warps of a multiprocessor read ahead what all others read, too. 2026-11-25 ("which words a request reads"):
/// the root of the bitmap is one word, and not all warps are to meet at it.
inline constexpr std::uint32_t kEarlyReaders = 8;

/// Share of a page that blocks of a class may leave unused, as its reciprocal: small pages change hands more easily,
/// and waste more. 2026-11-23 ("pages, blocks").
inline constexpr std::size_t kUnusedPageShare = 16;

/// Blocks that a warp takes with one request in parallel_new, at least, and shares of the objects per warp: threads of
/// a CPU are not equally fast. 2026-11-23 ("whole blocks for parallel_new"): 1 and 3 blocks are slower.
inline constexpr std::size_t kLeastBulkShare = 4;
inline constexpr std::size_t kBulkSharesPerWarp = kCudaBackend ? 1 : 8;

/// Pieces of a loop that creates so many objects that most will be refused. Not recorded.
inline constexpr std::size_t kPiecesOfRefusedLoop = 1024;

/// Containers that a task looks at when the free pages are counted, and tasks at most. On a GPU it takes many threads,
/// and their sums meet in one word. Not recorded.
inline constexpr std::uint32_t kContainersPerTask = kCudaBackend ? 16 : 4096;
inline constexpr std::uint32_t kMostCountingTasks = kCudaBackend ? 8192 : 16;

/// Blocks that compaction plans for together. 2026-11-23 ("compaction").
inline constexpr std::uint32_t kBlocksPerGroup = 128;

/// Pointers, or slots, that a team updates, and how many each thread reads at once, because each step takes a while.
/// 2026-11-23 ("compaction").
inline constexpr std::size_t kUpdatesPerTeam = 2048;
inline constexpr std::uint32_t kUpdatesAtOnce = 4;

/// Blocks that a team of a sort handles. Objects that stay in these blocks move through shared memory, 16 bytes of each
/// object at a time. Not recorded.
inline constexpr std::uint32_t kBlocksPerSortTeam = 16;

// Checkpoints.

/// Bytes of a chunk, but where one value, or block, has more; and chunks that are written, read and checked together:
/// one per thread, on most machines. Not recorded.
inline constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
inline constexpr std::size_t kChunksAtOnce = 8;

// Grids.

/// Threads that share an object's look at its neighbours where objects are few: a power of two, and a divisor of a
/// warp's lanes. 2026-11-24 ("few boids, again").
inline constexpr std::uint32_t kNeighbourParts = 16;

/// How many thread blocks of 256 threads a multiprocessor has room for, at least, in loops over the objects of a grid:
/// 4 leave 64 registers a thread. Such loops compute, but more than half of the warps' time is spent on waiting. Other
/// numbers were not tried. 2026-11-28 ("agents in space").
inline constexpr int kPlaceBlocksPerMultiprocessor = 4;

/// How often the thread blocks of a loop over the objects of a grid fill the device, if its method returns no
/// reduction: the searches of some warps take much longer than those of others. 2026-11-28 ("classes in one kernel"):
/// 1, 2 and 4 compared.
inline constexpr unsigned kRoundsOfPlaces = 4;

/// The most objects of a grid that are few. Not measured in between: on an H200, 4000 take 12 us shared and 60 alone, a
/// million 650 and 253. 2026-11-23 and 2026-11-24 ("few boids").
inline constexpr std::uint32_t kFewObjects = 1 << 16;

}  // namespace dynasoar::detail
