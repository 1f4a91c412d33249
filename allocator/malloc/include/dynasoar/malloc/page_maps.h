/// @file
/// Maps of used pages for the random walks (random_walk.h): they define a step, and take pages.
///
/// Source: Pham et al., ICS '22, sections 3.1 (a flag for each page), 4.1 (bitmap) and 4.2 (LockMap).
///
/// A map consists of *places*, each of which has one or more pages. `has_free(place)` checks a place. `take(place,
/// random)` takes a free page of the place for the caller, or returns kNoPage if there is none any more. A thread that
/// takes a page acquires all accesses of its last owner before `give_back`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/lane_random.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// No page. GETPAGE returns it if all pages are used.
inline constexpr std::uint32_t kNoPage = ~std::uint32_t{0};

namespace detail {

/// A word for each page, 1 if the page is used. A place is a page.
class PageFlags {
 public:
  static constexpr MallocProperties kProperties{"rw", true, false, false};
  static constexpr bool kCollaborates = false;
  static constexpr int kSteps = 4096;  // steps of a walk; with 1 page of 1000 free, 98 % of the walks need fewer
  using Word = std::uint32_t;

  static std::size_t words_needed(std::size_t pages) { return pages; }
  static std::vector<Word> words_for(const std::vector<bool>& used) { return {used.begin(), used.end()}; }

  PageFlags() = default;
  PageFlags(Word* words, std::uint32_t pages) : flags_(reinterpret_cast<AtomicWord<Word>*>(words)), pages_(pages) {}

  __host__ __device__ std::uint32_t pages() const { return pages_; }
  __device__ std::uint32_t places() const { return pages_; }

  __device__ bool has_free(std::uint32_t page) const { return flags_[page].load(Order::relaxed) == kFree; }
  __device__ std::uint32_t take(std::uint32_t page, LaneRandom&) const {
    // acquire: pairs with the release in give_back.
    return flags_[page].exchange(kUsed, Order::acquire) == kFree ? page : kNoPage;
  }
  __device__ void give_back(std::uint32_t page) const {
    flags_[page].store(kFree, Order::release);  // pairs with the acquire in take
  }

 private:
  static constexpr Word kFree = 0;
  static constexpr Word kUsed = 1;

  AtomicWord<Word>* flags_;
  std::uint32_t pages_;
};

/// A bit for each page, 1 if the page is used. A place is a word of 64 pages.
class PageBits {
 public:
  static constexpr MallocProperties kProperties{"rw-bm", true, false, false};
  static constexpr bool kCollaborates = false;
  static constexpr int kSteps = 512;  // steps of a walk; with 1 page of 1000 free, almost all walks need fewer
  static constexpr std::uint32_t kWordBits = 64;
  using Word = std::uint64_t;

  static std::size_t words_needed(std::size_t pages) { return (pages + kWordBits - 1) / kWordBits; }
  static std::vector<Word> words_for(const std::vector<bool>& used) {
    std::vector<Word> words(words_needed(used.size()), ~Word{0});  // bits behind the last page are always set
    for (std::size_t page = 0; page < used.size(); ++page) {
      if (!used[page]) words[page / kWordBits] &= ~(Word{1} << page % kWordBits);
    }
    return words;
  }
  __device__ static std::uint32_t page_of(std::uint32_t word, int bit) {
    return word * kWordBits + static_cast<std::uint32_t>(bit);
  }

  PageBits() = default;
  PageBits(Word* words, std::uint32_t pages)
      : used_(reinterpret_cast<AtomicWord<Word>*>(words)),
        pages_(pages),
        words_(static_cast<std::uint32_t>(words_needed(pages))) {}

  __host__ __device__ std::uint32_t pages() const { return pages_; }
  __device__ std::uint32_t places() const { return words_; }

  __device__ Word free_pages(std::uint32_t word) const { return ~used_[word].load(Order::relaxed); }
  __device__ bool has_free(std::uint32_t word) const { return free_pages(word) != 0; }

  /// Takes one of the free pages, at random.
  __device__ std::uint32_t take(std::uint32_t word, LaneRandom& random) const {
    const Word free = free_pages(word);
    if (free == 0) return kNoPage;
    const int bit = next_set_bit(free, static_cast<int>(random.below(kWordBits)));
    return take_all(word, Word{1} << bit) ? page_of(word, bit) : kNoPage;
  }

  /// Marks pages as used. @return whether all of them were free
  __device__ bool take_all(std::uint32_t word, Word pages) const {
    // acquire: pairs with the release in give_back.
    return (used_[word].fetch_or(pages, Order::acquire) & pages) == 0;
  }

  __device__ void give_back(std::uint32_t page) const {
    used_[page / kWordBits].fetch_and(~(Word{1} << page % kWordBits), Order::release);  // pairs with take_all
  }

 private:
  AtomicWord<Word>* used_;
  std::uint32_t pages_;
  std::uint32_t words_;
};

/// PageBits in which a thread locks a word to take pages from it. Threads try locks, but never wait for them. A release
/// needs no lock.
class LockedPageBits : private PageBits {
 public:
  static constexpr MallocProperties kProperties{"corw", true, false, true};
  static constexpr bool kCollaborates = true;
  static constexpr int kSteps = 128;  // steps of a walk: 32 lanes check as many places as with PageFlags
  using PageBits::Word;

  static std::size_t words_needed(std::size_t pages) {
    const std::size_t words = PageBits::words_needed(pages);
    return words + PageBits::words_needed(words);
  }
  static std::vector<Word> words_for(const std::vector<bool>& used) {
    std::vector<Word> words = PageBits::words_for(used);
    words.resize(words_needed(used.size()), 0);  // no word is locked
    return words;
  }
  using PageBits::page_of;

  LockedPageBits() = default;
  LockedPageBits(Word* words, std::uint32_t pages)
      : PageBits(words, pages), locks_(reinterpret_cast<AtomicWord<Word>*>(words) + PageBits::words_needed(pages)) {}

  using PageBits::free_pages;
  using PageBits::give_back;
  using PageBits::has_free;
  using PageBits::pages;
  using PageBits::places;

  __device__ bool try_lock(std::uint32_t word) const {
    // acquire: pairs with the release in take_and_unlock, so that free_pages sees the pages that the last owner took.
    return (locks_[word / kWordBits].fetch_or(lock_bit(word), Order::acquire) & lock_bit(word)) == 0;
  }

  /// @pre the caller holds the lock, and the pages were free when it got the lock
  __device__ void take_and_unlock(std::uint32_t word, Word pages) const {
    if (pages != 0) take_all(word, pages);
    locks_[word / kWordBits].fetch_and(~lock_bit(word), Order::release);  // pairs with the acquire in try_lock
  }

  /// Takes a free page, unless the word is locked.
  __device__ std::uint32_t take(std::uint32_t word, LaneRandom&) const {
    if (!try_lock(word)) return kNoPage;
    const Word free = free_pages(word);
    take_and_unlock(word, free & (0 - free));  // the lowest
    return free != 0 ? page_of(word, lowest_bit(free)) : kNoPage;
  }

 private:
  __device__ static Word lock_bit(std::uint32_t word) { return Word{1} << word % kWordBits; }

  AtomicWord<Word>* locks_;
};

}  // namespace detail

}  // namespace dynasoar
