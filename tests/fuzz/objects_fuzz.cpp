// Fuzz target: the public interface in one thread: objects of four classes are created, changed, deleted, moved, sorted
// and visited, and compared with a table of what they must hold.
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "../heap/handle_check.h"
#include "../heap/test_classes.h"
#include "fuzz.h"

namespace {

using dynasoar::AllocatorHandle;
using namespace dynasoar::test;

constexpr std::uint32_t kTypes = FourTypes::kTypes;

class Session {
 public:
  explicit Session(FuzzInput& input)
      : input_(input),
        pages_(kTypes + input.below(6)),
        handle_({.heap_bytes = pages_ * FourTypes::pages().bytes,
                 .on_refusal = dynasoar::OnRefusal::record,
                 .threads = 1}) {}

  void run() {
    while (!input_.empty()) step();
    check();
    while (!objects_.empty()) destroy(objects_.size() - 1);
    check();
    require(handle_.statistics().free_pages == pages_, "a page is not free although there is no object");
  }

 private:
  struct Entry {
    std::uint32_t type;
    std::uint32_t stamp;
  };

  void step() {
    const std::uint8_t operation = input_.byte();
    switch (operation % 8) {
      case 0:
      case 1: create(input_.below(kTypes)); break;
      case 2:
        for (std::uint32_t type = input_.below(kTypes), left = input_.below(4096); left > 0 && create(type); --left) {
        }
        break;
      case 3:
      case 4:
        if (!objects_.empty()) destroy(input_.below(objects_.size()));
        break;
      case 5: visit(input_.below(kTypes + 1)); break;
      case 6: destroy_in_loop(input_.below(kTypes + 1), 1 + input_.below(4)); break;
      default:
        if (operation / 8 % 8 == 0) check();
        if (operation / 8 % 8 == 1) compact();
        if (operation / 8 % 8 == 2) sort(input_.below(kTypes), 1 + input_.below(256));
        break;
    }
  }

  /// Calls `f()` as device code, in a loop of one.
  template <class F>
  void on_device(F f) {
    handle_.parallel_for(1, [&f](std::size_t) { f(); });
  }

  bool create(std::uint32_t type) {
    bool created = false;
    on_device([&] { created = create_here(type); });
    return created;
  }

  bool create_here(std::uint32_t type) {
    const std::uint32_t stamp = ++stamps_;
    Stamped* const object = dynasoar::test::make_of_type(type, stamp);
    if (object == nullptr) {
      ++refused_;
      return false;
    }
    require(table_.emplace(object, Entry{type, stamp}).second, "a new object is one that exists");
    require(type_of(object) == type, "a new object is of another class");
    objects_.push_back(object);
    return true;
  }

  void destroy(std::size_t which) {
    Stamped* const object = objects_[which];
    objects_[which] = objects_.back();
    objects_.pop_back();
    on_device([&] {
      check_object(object);
      table_.erase(object);
      dynasoar::destroy(object);
    });
  }

  static std::uint32_t type_of(Stamped* object) {
    if (dynasoar::is_a<Tiny>(object)) return 0;
    if (dynasoar::is_a<Small>(object)) return 1;
    return dynasoar::is_a<Medium>(object) ? 2 : 3;
  }

  void check_object(Stamped* object) const {
    const auto entry = table_.find(object);
    require(entry != table_.end(), "an object that was never created, or was deleted");
    require(type_of(object) == entry->second.type, "an object has changed its class");
    require(dynasoar::test::intact(object, entry->second.stamp), "an object is not as it was left");
  }

  /// Calls `f(object)` in a loop over a class, or over their base.
  template <class F>
  void loop(std::uint32_t type, F f) {
    switch (type) {
      case 0: handle_.parallel_do<Tiny>([f](Tiny* object) { f(object); }); break;
      case 1: handle_.parallel_do<Small>([f](Small* object) { f(object); }); break;
      case 2: handle_.parallel_do<Medium>([f](Medium* object) { f(object); }); break;
      case 3: handle_.parallel_do<Large>([f](Large* object) { f(object); }); break;
      default: handle_.parallel_do<Stamped>([f](Stamped* object) { f(object); }); break;
    }
  }

  /// What a loop over `type` must visit.
  std::size_t expected(std::uint32_t type) const {
    std::size_t count = 0;
    for (const auto& [object, entry] : table_) count += type == kTypes || entry.type == type;
    return count;
  }

  void visit(std::uint32_t type) {
    std::unordered_map<Stamped*, int> visits;
    loop(type, [&visits, this](Stamped* object) {
      check_object(object);
      require(++visits[object] == 1, "a loop visits an object twice");
    });
    require(visits.size() == expected(type), "a loop does not visit all objects");
  }

  /// Deletes some of the objects that a loop visits, and creates others meanwhile, which it must not visit.
  void destroy_in_loop(std::uint32_t type, std::uint32_t every) {
    const std::size_t before = expected(type);
    std::size_t visited = 0;
    std::vector<Stamped*> kept, born;
    for (Stamped* object : objects_) {
      if (type != kTypes && table_.at(object).type != type) kept.push_back(object);
    }
    loop(type, [&, this](Stamped* object) {
      check_object(object);
      if (visited++ % every != 0) return kept.push_back(object);
      const std::uint32_t of_type = table_.at(object).type;
      table_.erase(object);
      dynasoar::destroy(object);
      if (visited % 3 != 0) return;
      objects_.clear();
      if (create_here((of_type + 1) % kTypes)) born.push_back(objects_.back());
    });
    require(visited == before, "a loop visits objects that were created in it, or not all that existed");
    objects_ = kept;
    objects_.insert(objects_.end(), born.begin(), born.end());
  }

  /// Compacts the heap.
  void compact() {
    relocate([this] {
      handle_.compact<Stamped>({.above = input_.below(4) / 8.0}, dynasoar::pointers(objects_.data(), objects_.size()));
    });
  }

  /// Sorts the objects of a class by their stamps modulo a number.
  void sort(std::uint32_t type, std::uint32_t modulus) {
    relocate([=, this] {
      switch (type) {
        case 0: return sort<Tiny>(modulus);
        case 1: return sort<Small>(modulus);
        case 2: return sort<Medium>(modulus);
        default: return sort<Large>(modulus);
      }
    });
    std::uint32_t last = 0;
    loop(type, [&](Stamped* object) {
      const std::uint32_t key = table_.at(object).stamp % modulus;
      require(key >= last, "objects are not in the order of their keys");
      last = key;
    });
  }

  template <class T>
  void sort(std::uint32_t modulus) {
    const auto key = [=, this](T* object) { return table_.at(object).stamp % modulus; };
    handle_.sort<T>(key, {}, dynasoar::pointers(objects_.data(), objects_.size()));
  }

  /// Calls a function that moves objects, and moves their entries in the table to the new pointers.
  template <class F>
  void relocate(const F& move) {
    std::vector<Entry> entries;
    for (Stamped* object : objects_) entries.push_back(table_.at(object));
    move();
    table_.clear();
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      require(table_.emplace(objects_[i], entries[i]).second, "two objects have moved to one place");
    }
    check();
  }

  void check() {
    visit(kTypes);
    require(handle_.count<Tiny>() == expected(0), "the number of objects is wrong");
    require(handle_.count<Small>() == expected(1), "the number of objects is wrong");
    require(handle_.count<Medium>() == expected(2), "the number of objects is wrong");
    require(handle_.count<Large>() == expected(3), "the number of objects is wrong");
    require(handle_.count<Stamped>() == objects_.size(), "the number of objects is wrong");
    require(handle_.statistics().refused() == refused_, "the number of refusals is wrong");
    if (const std::string errors = dynasoar::test::heap_errors(handle_); !errors.empty()) fail(errors);
  }

  FuzzInput& input_;
  std::size_t pages_;
  AllocatorHandle<FourTypes> handle_;
  std::unordered_map<Stamped*, Entry> table_;
  std::vector<Stamped*> objects_;  // the table's keys
  std::uint32_t stamps_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  Session(input).run();
  return 0;
}
