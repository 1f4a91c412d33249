#include <dynasoar/detail/placed_classes.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/heap/tally.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/copy.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

namespace {

/// Removes objects that are at no place. If classes share claims, also removes objects at a place where another one was
/// found.
struct ForgetMisplaced {
  PlacedState placed;
  __device__ void operator()(std::size_t word) const {
    std::uint64_t seen = placed.seen[word] & placed.shape.places_of_word(word);
    if (placed.shares_claims()) seen &= ~placed.claims[word].fetch_or(seen, Order::relaxed);
    placed.seen[word] = seen;
  }
};

/// Describes the rows of a lattice that begin at whole blocks only because the lattice is small. Version 0.1 packed
/// them, so its checkpoints have items of other names.
std::string text_of_padding(const LatticeShape& shape) {
  if (shape.is_divided() || !shape.has_blocks_in_rows()) return "";
  const std::uint64_t rows = shape.size() / static_cast<std::uint32_t>(shape.width()), slots = shape.words() * 64;
  if (rows == 1 || 8 * (slots - shape.size()) <= slots) return "";
  return ", rows of " + std::to_string(slots / rows) + " slots";
}

/// Describes the part of a divided lattice that a process has.
std::string text_of_part(const LatticeShape& shape) {
  if (!shape.is_divided() || shape.own_size() == 0) return "";
  const std::uint64_t first = shape.own_words().first * 64;
  return ", " + std::to_string(shape.own_size()) + " from number " + std::to_string(shape.number(Place(first))) +
         " on, behind " + std::to_string(shape.own_words().first / shape.words_of_layer()) + " layers of ghosts";
}

}  // namespace

PlacedClasses::PlacedClasses(Executor& executor, const ClassTable& classes)
    : executor_(executor), classes_(classes), of_class_(static_cast<std::size_t>(classes.size())) {}

void PlacedClasses::check_may_add(std::size_t type) const {
  if (of_class_[type]) {
    throw Error("dynasoar: objects of " + std::string(classes_[type].name) +
                " are on another lattice, which is alive, and a class can be on one only. Destroy that lattice first, "
                "or put a class of its own on each lattice");
  }
}

void PlacedClasses::add(std::size_t type, const PlacedState& state, std::size_t bytes) {
  of_class_[type].emplace(OfClass{state, state.shape.own_words(), bytes, {}, {}});
  if (state.seen != nullptr) words_.push_back(words_of(state));
  ++changes_;
}

void PlacedClasses::remove(std::size_t type) {
  std::erase_if(words_, [&](const PlacedWords& words) { return words.seen == of_class_[type]->state.seen; });
  of_class_[type].reset();
  ++changes_;
}

const PlacedState& PlacedClasses::state(std::size_t type) const {
  static const PlacedState kNowhere{};
  if (classes_[type].has_subclasses) return kNowhere;  // only classes without subclasses have objects at places
  if (!of_class_[type]) {
    throw Error("dynasoar: there is no lattice for objects of " + std::string(classes_[type].name) +
                ". Make one before loops over them, dynasoar::Lattice<" + std::string(plain_name(classes_[type].name)) +
                "> lattice(handle, {width, height}), and keep it while there are such loops");
  }
  return of_class_[type]->state;
}

void PlacedClasses::refresh() {
  if (!may_have_changed_) return;
  release_departed();
  refresh_places(executor_, words_);
  may_have_changed_ = false;  // only now: if one loop could not be submitted, both are repeated
}

void PlacedClasses::before_loop() {
  refresh();
  expect_changes();
}

std::uint64_t PlacedClasses::count(std::size_t type) {
  if (!of_class_[type]) return 0;
  const PlacedState& placed = of_class_[type]->state;
  if (placed.seen == nullptr) return placed.shape.own_size();
  DeviceArray<AtomicWord<std::uint64_t>> total(1);
  executor_.fill_bytes(total.data(), 0, total.bytes());
  const WordRange& own = placed.shape.own_words();
  count_seen(executor_, placed.seen + own.first, own.words, total.data());
  executor_.wait();
  std::uint64_t result = 0;
  copy_from_device(&result, total.data(), sizeof result);
  return result;
}

std::uint64_t PlacedClasses::count(const ClassSet& classes) {
  refresh();
  std::uint64_t objects = 0;
  for (std::size_t type = 0; type < of_class_.size(); ++type) objects += classes.has(type) ? count(type) : 0;
  return objects;
}

BlockList PlacedClasses::list(std::size_t type) {
  if (classes_[type].has_subclasses) {
    if (no_blocks_.size() == 0) {
      no_blocks_ = DeviceArray<ListSize>(1);
      no_blocks_.fill_bytes(0);
    }
    return {nullptr, no_blocks_.data()};
  }
  refresh();
  const AllBlocks blocks = state(type).blocks();
  OfClass& known = *of_class_[type];
  if (known.size.size() == 0) {
    known.entries = DeviceArray<ListedBlock>(blocks.blocks);
    known.size = DeviceArray<ListSize>(1);
    known.size.fill_bytes(0);  // remains 0 if there are no blocks
  }
  const BlockList result{known.entries.data(), known.size.data()};
  if (known.is_complete) return result;
  detail::list_all(executor_, blocks, result);
  known.is_complete = blocks.slots == nullptr && !executor_.is_recording();
  return result;
}

View<ObjectPlaces> PlacedClasses::list_all(View<ObjectPlaces> in_heap, const ClassSet& listed) {
  places_.assign(in_heap.begin(), in_heap.end());
  for (std::size_t type = 0; type < of_class_.size(); ++type) {
    if (!classes_[type].is_placed || !listed.has(type)) continue;
    const PlacedState& placed = state(type);
    places_[type] = {list(type), placed.base, classes_.has_blocks() ? nullptr : placed_table(placed), &placed.shape};
  }
  return places_;
}

View<PlacedBlocks> PlacedClasses::blocks_pointing_to(const ClassSet& targets) {
  refresh();
  blocks_.clear();
  for (std::size_t type = 0; type < of_class_.size(); ++type) {
    if (!of_class_[type] || !classes_[type].may_point_to(targets)) continue;
    const PlacedState& placed = of_class_[type]->state;
    blocks_.push_back({static_cast<int>(type), placed.base, placed.blocks()});
  }
  return blocks_;
}

std::optional<std::uint64_t> PlacedClasses::created(const PlacedState& placed) {
  if (placed.created == nullptr) return std::nullopt;
  std::vector<std::uint64_t> words(Tally<>::kWords);
  copy_from_device(words.data(), placed.created, words.size() * sizeof(std::uint64_t));
  return std::accumulate(words.begin(), words.end(), std::uint64_t{0});
}

Statistics PlacedClasses::completed(Statistics statistics) {
  refresh();
  for (std::size_t type = 0; type < of_class_.size(); ++type) {
    if (!of_class_[type]) continue;
    TypeStatistics& numbers = statistics.types[type];
    numbers.objects = count(type);
    numbers.created = created(of_class_[type]->state);
    numbers.places = of_class_[type]->state.shape.own_size();
    numbers.lattice_bytes = of_class_[type]->bytes;
    if (!numbers.in_heap) continue;
    numbers.blocks = numbers.slots = numbers.objects;
    const std::uint64_t pages = numbers.objects * classes_[type].block_bytes / statistics.page_bytes;
    statistics.free_pages -= std::min(statistics.free_pages, pages);
  }
  return statistics;
}

std::vector<PlacedMap> PlacedClasses::maps() {
  refresh();
  executor_.synchronize();
  std::vector<PlacedMap> result;
  for (std::size_t type = 0; type < of_class_.size(); ++type) {
    if (!of_class_[type]) continue;
    const PlacedState& placed = of_class_[type]->state;
    const WordRange& own = placed.shape.own_words();
    std::vector<std::uint64_t> seen(placed.seen != nullptr ? own.words : 0);
    if (!seen.empty()) copy_from_device(seen.data(), placed.seen + own.first, seen.size() * sizeof(std::uint64_t));
    PlacedMap map{text_of(placed.shape), {}};
    for (std::uint64_t i = 0; i < own.words; ++i) {
      const std::uint64_t objects_seen = seen.empty() ? placed.shape.places_of_word(own.first + i) : seen[i];
      const auto objects = static_cast<std::uint8_t>(popcount(objects_seen));
      map.marks.push_back({BlockState::open, static_cast<std::uint8_t>(type), objects});
    }
    result.push_back(std::move(map));
  }
  return result;
}

std::vector<std::size_t> PlacedClasses::on_lattices() const {
  std::vector<std::size_t> types;
  for (std::size_t type = 0; type < of_class_.size(); ++type) {
    if (of_class_[type]) types.push_back(type);
  }
  return types;
}

void PlacedClasses::find_items(bool with_generations) {
  refresh();
  executor_.synchronize();
  items_.clear();
  for (std::size_t type = 0; type < of_class_.size(); ++type) {
    if (!of_class_[type]) continue;
    const PlacedState& placed = of_class_[type]->state;
    const std::string where = name_in_checkpoint(classes_, type, placed.shape);
    const WordRange& own = placed.shape.own_words();
    if (placed.seen != nullptr) items_.push_back(array(where, placed.seen + own.first, own.words));
    const std::size_t bytes = classes_[type].block_bytes;
    if (!classes_[type].fields.empty())
      items_.push_back(array(where + ", fields", placed.base + own.first * bytes, own.words * bytes));
    if (!with_generations || placed.generations == nullptr) continue;
    auto* const generations = reinterpret_cast<std::uint32_t*>(placed.generations);
    items_.push_back(array(where + std::string(kGenerationsText), generations + own.first * 64, own.words * 64));
  }
}

View<const SavedItem*> PlacedClasses::with_items(View<const SavedItem*> items) {
  find_items(true);
  saved_.assign(items.begin(), items.end());
  for (const CheckpointItem& item : items_) {
    if (saves_objects_) saved_.push_back(&item);
  }
  return saved_;
}

View<const CheckpointItem*> PlacedClasses::with_items(View<const CheckpointItem*> items) {
  find_items(loads_generations_);
  loaded_.assign(items.begin(), items.end());
  for (const CheckpointItem& item : items_) loaded_.push_back(&item);
  return loaded_;
}

void PlacedClasses::check_loaded() {
  for (const PlacedWords& words : words_) clear_claims(words);
  for (const std::optional<OfClass>& known : of_class_) {
    if (known && known->state.seen != nullptr)
      executor_.for_each_index(known->state.shape.words(), ForgetMisplaced{known->state});
  }
  for (std::size_t type = 0; type < of_class_.size(); ++type) {
    if (!of_class_[type] || of_class_[type]->state.created == nullptr) continue;
    std::vector<std::uint64_t> words(Tally<>::kWords);
    words[0] = count(type);  // the number of destroyed objects is unknown
    copy_to_device(of_class_[type]->state.created, words.data(), words.size() * sizeof(std::uint64_t));
  }
}

void PlacedClasses::clear() {
  for (const PlacedWords& words : words_) {
    executor_.fill_bytes(words.seen, 0, 3 * words.words * sizeof(std::uint64_t));  // also `arrived` and `departed`
    clear_claims(words);
  }
  for (std::size_t type = 0; type < of_class_.size(); ++type) {
    if (!of_class_[type] || of_class_[type]->state.seen != nullptr || classes_[type].fields.empty()) continue;
    const PlacedState& placed = of_class_[type]->state;  // its objects stay, with unspecified contents
    executor_.fill_bytes(placed.base, 0, placed.shape.words() * classes_[type].block_bytes);
  }
}

bool PlacedClasses::have_generations() const {
  bool found = false;
  for (const std::optional<OfClass>& known : of_class_) found = found || (known && known->state.generations != nullptr);
  return found;
}

void PlacedClasses::clear_generations() {
  for (const std::optional<OfClass>& known : of_class_) {
    if (!known || known->state.generations == nullptr) continue;
    executor_.fill_bytes(known->state.generations, 0, known->state.shape.words() * 64 * sizeof(std::uint32_t));
  }
}

void PlacedClasses::clear_claims(const PlacedWords& words) {
  if (words.shares_claims()) executor_.fill_bytes(words.claims, 0, words.words * sizeof(std::uint64_t));
}

std::string name_in_checkpoint(const ClassTable& classes, std::size_t type, const LatticeShape& shape) {
  return std::string(plain_name(classes[type].name)) + " (class " + std::to_string(type) + ") on " + text_of(shape) +
         text_of_padding(shape) + text_of_part(shape);
}

std::string text_of(const LatticeShape& shape) {
  std::string text = std::to_string(shape.width());
  if (shape.axes() > 1) text += " x " + std::to_string(shape.height());
  if (shape.axes() > 2) text += " x " + std::to_string(shape.depth());
  return text + " places";
}

}  // namespace dynasoar::detail
