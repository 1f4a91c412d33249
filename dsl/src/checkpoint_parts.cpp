#include <dynasoar/detail/checkpoint_parts.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include <dynasoar/checkpoint/checksum.h>
#include <dynasoar/checkpoint/error.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/write_file.h>

namespace dynasoar::detail {

namespace {

constexpr const char* kSaveName = "parts of a checkpoint of several ranks";
constexpr std::string_view kSaveText = ".save", kRankText = ".rank", kTemporaryText = ".part";

/// A file with the name of a part.
struct PartFile {
  std::filesystem::path path;
  std::uint64_t number, rank;
  bool is_temporary;
};

/// Removes a text and the number after it from the beginning of a name. @return whether the name begins with them
bool take(std::string_view& name, std::string_view text, std::uint64_t& number) {
  if (!name.starts_with(text)) return false;
  const char* const begin = name.data() + text.size();
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(begin, end, number);
  if (read.ec != std::errc()) return false;
  name.remove_prefix(static_cast<std::size_t>(read.ptr - name.data()));
  return true;
}

/// All files with names of parts, of any save.
std::vector<PartFile> files_of_parts(const std::string& path) {
  const std::filesystem::path real(real_path(path));
  const std::filesystem::path folder = real.has_parent_path() ? real.parent_path() : ".";
  const std::string begin = real.filename().string();
  std::vector<PartFile> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string whole = at->path().filename().string();
    std::string_view name = whole;
    if (!name.starts_with(begin)) continue;
    name.remove_prefix(begin.size());
    PartFile file{at->path(), 0, 0, false};
    if (!take(name, kSaveText, file.number) || !take(name, kRankText, file.rank)) continue;
    file.is_temporary = name == kTemporaryText;
    if (name.empty() || file.is_temporary) found.push_back(std::move(file));
  }
  return found;
}

/// The lattice as a whole.
LatticeShape whole(const LatticeShape& shape) {
  return LatticeShape(sizes_of(shape), periodic_axes(shape));
}

LatticeNote note_of(const LatticeShape& shape) {
  LatticeNote note{};
  const std::vector<std::size_t> sizes = sizes_of(shape);
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    note.sizes[axis] = sizes[axis];
    if (shape.is_periodic(static_cast<int>(axis))) note.periodic |= std::uint64_t{1} << axis;
  }
  return note;
}

/// The name of a value in the parts for a class.
std::string name_of(const ClassTable& classes, std::size_t type, const char* what) {
  return std::string(plain_name(classes[type].name)) + " (class " + std::to_string(type) + "), " + what;
}
constexpr const char* kLayers = "layers of ranks";
constexpr const char* kLattice = "lattice";

/// "100 x 60 places, of which axis 0 is periodic"
std::string text_of(const LatticeNote& note) {
  std::string text;
  for (const std::uint64_t size : note.sizes) {
    if (size == 0) continue;
    if (!text.empty()) text += " x ";
    text += std::to_string(size);
  }
  text += " places with";
  std::string axes;
  for (int axis = 0; axis < 3; ++axis) {
    if ((note.periodic >> axis & 1) == 0) continue;
    axes += axes.empty() ? " the periodic axes " : ", ";
    axes += std::to_string(axis);
  }
  return text += axes.empty() ? " no periodic axes" : axes;
}

std::vector<const CheckpointItem*> pointers_to(const std::vector<CheckpointItem>& items) {
  std::vector<const CheckpointItem*> pointers;
  for (const CheckpointItem& item : items) pointers.push_back(&item);
  return pointers;
}

}  // namespace

std::string part_path(const std::string& path, std::uint64_t number, std::uint64_t rank) {
  std::string name = real_path(path);
  name.append(kSaveText).append(std::to_string(number));
  return name.append(kRankText).append(std::to_string(rank));
}

std::string text_of_values(View<const SavedItem*> items) {
  std::string text;
  for (const SavedItem* const item : items) {
    if (item->is_in_device_memory) {
      throw Error("dynasoar: '" + item->name +
                  "' is an array in the device memory of a rank, but a checkpoint of several ranks has values and "
                  "vectors of the host only, which are the same on all ranks. Put it into fields of placed objects, or "
                  "copy it to a vector");
    }
    if (!text.empty()) text += ", ";
    text += item->text();
    if (item->kind == 'x') continue;  // it may have padding
    text += " with checksum ";
    text += std::to_string(checksum(item->data, item->bytes()));
  }
  return text;
}

std::string text_of_lattices(const ClassTable& classes, const PlacedClasses& placed) {
  std::string text;
  for (const std::size_t type : placed.on_lattices()) {
    if (!text.empty()) text += ", ";
    text += name_of(classes, type, kLattice) + " of " + text_of(note_of(placed.state(type).shape));
  }
  return text;
}

std::vector<std::uint64_t> own_layers(const ClassTable& classes, const PlacedClasses& placed) {
  std::vector<std::uint64_t> layers;
  for (const std::size_t type : placed.on_lattices()) {
    const LatticeShape& shape = placed.state(type).shape;
    if (!shape.is_divided()) {
      throw Error("dynasoar: objects of " + std::string(classes[type].name) +
                  " are on a Lattice of this rank alone, but a checkpoint of several ranks has lattices that all ranks "
                  "have together. Put them on a DistributedLattice");
    }
    const Slab slab = slab_of(shape);
    for (const std::size_t number : {slab.first, slab.length, slab.ghosts}) layers.push_back(number);
  }
  return layers;
}

void throw_is_in_heap(const ClassInfo& info, std::uint64_t objects) {
  throw Error("dynasoar: there are " + std::to_string(objects) + " objects of " + std::string(info.name) +
              " in the heap of this rank, which are not on a lattice. A checkpoint of several ranks cannot have them, "
              "because no rank has them after it is loaded by another number of ranks. Destroy them before you save or "
              "load, or put them on a DistributedLattice");
}

SavedParts::SavedParts(const std::string& path, int ranks)
    : path_(path), lock_((check_output_path(path, OutputUse::checkpoint), real_path(path) + ".saving")) {
  std::random_device random;
  note_.id = std::uint64_t{random()} << 32 | random();
  note_.ranks = static_cast<std::uint64_t>(ranks);
  for (const PartFile& file : files_of_parts(path)) note_.number = std::max(note_.number, file.number);
  ++note_.number;
}

std::vector<SavedItem> SavedParts::items(const ClassTable& classes, const PlacedClasses& placed,
                                         const std::vector<std::vector<char>>& layers) {
  std::vector<SavedItem> result{value(kSaveName, std::as_const(note_))};
  const std::vector<std::size_t> types = placed.on_lattices();
  layers_.assign(types.size(), {});
  lattices_.assign(types.size(), {});
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (const std::vector<char>& of_rank : layers) {
      std::array<std::uint64_t, 3> slab{};
      std::memcpy(slab.data(), &of_rank[i * sizeof slab], sizeof slab);
      layers_[i].insert(layers_[i].end(), slab.begin(), slab.end());
    }
    lattices_[i] = note_of(placed.state(types[i]).shape);
    result.push_back(array(name_of(classes, types[i], kLayers), std::as_const(layers_[i])));
    result.push_back(value(name_of(classes, types[i], kLattice), std::as_const(lattices_[i])));
  }
  return result;
}

void SavedParts::check_are_there() const {
  for (std::uint64_t rank = 0; rank < note_.ranks; ++rank) {
    const std::string part = part_path(path_, note_.number, rank);
    std::error_code error;
    if (std::filesystem::exists(part, error)) continue;
    throw Error("dynasoar: rank 0 does not find '" + part + "', which rank " + std::to_string(rank) +
                " has written: name a folder that all hosts share");
  }
}

void SavedParts::remove_others() const {
  for (const PartFile& file : files_of_parts(path_)) {
    if (file.number == note_.number && file.rank < note_.ranks && !file.is_temporary) continue;
    std::error_code error;  // ignored: a remaining file does no harm
    std::filesystem::remove(file.path, error);
  }
}

void remove_parts(const std::string& path) {
  std::error_code error;
  for (const PartFile& file : files_of_parts(path)) std::filesystem::remove(file.path, error);
}

LoadedParts::LoadedParts(const HeapMemory& memory, const PlacedClasses& placed, const std::string& path,
                         const LoadOptions& options, View<const CheckpointItem*> items, const Compression& compression)
    : memory_(memory),
      classes_(memory.classes()),
      path_(path),
      options_(options),
      compression_(compression),
      are_parts_(are_at(memory, path, options, compression)) {
  for (const std::size_t type : placed.on_lattices()) {
    const PlacedState& state = placed.state(type);
    targets_.push_back({type, PlacedImage(classes_[type], state.shape, state.seen != nullptr), {}, {}});
  }
  std::vector<CheckpointItem> more;
  if (are_parts_) more.push_back(value(kSaveName, note_));
  for (Target& target : targets_) {
    if (!are_parts_) continue;
    more.push_back(array(name_of(classes_, target.type, kLayers), target.layers));
    more.push_back(value(name_of(classes_, target.type, kLattice), target.lattice));
  }
  first_value_ = more.size();
  for (const CheckpointItem* const item : items) more.push_back(*item);
  values_.emplace(memory, path, options, pointers_to(more), are_parts_ ? Others::refused : Others::skipped,
                  compression);
  values_->take_over(0, first_value_);
  end_value_ = more.size();
  for (Target& target : targets_) {
    if (!are_parts_) target.layers = {0, slab_of(whole(target.image.shape)).length, 0};
    check(target);
  }
  if (!are_parts_) note_.ranks = 1;
}

bool LoadedParts::are_at(const HeapMemory& memory, const std::string& path, const LoadOptions& options,
                         const Compression& compression) {
  SaveNote note{};
  const CheckpointItem item = value(kSaveName, note);
  const CheckpointItem* const items[] = {&item};
  try {
    ReadValues(memory, path, options, items, Others::skipped, compression);
  } catch (const CheckpointError& error) {
    if (error.fault() != CheckpointFault::other_values) throw;
    return false;
  }
  return true;
}

void LoadedParts::fail_damaged(const std::string& path, const std::string& what) const {
  throw CheckpointError(CheckpointFault::damaged, path, "is damaged (" + what + "); use another one");
}

/// Checks that the layers of the ranks are those of the lattice, in order.
void LoadedParts::check(const Target& target) const {
  const LatticeShape& shape = target.image.shape;
  if (are_parts_) {
    if (target.layers.size() % 3 != 0 || target.layers.size() / 3 != note_.ranks)
      fail_damaged(path_, "it has layers of another number of ranks");
    const std::string theirs = text_of(target.lattice), ours = text_of(note_of(shape));
    if (theirs != ours) {
      throw CheckpointError(CheckpointFault::other_values, path_,
                            "has objects of " + std::string(plain_name(classes_[target.type].name)) +
                                " on a lattice of " + theirs + ", and in this program it has " + ours);
    }
  }
  const std::uint64_t all = slab_of(whole(shape)).length;
  std::uint64_t sum = 0;
  for (std::uint64_t rank = 0; rank < target.layers.size() / 3; ++rank) {
    const std::uint64_t first = target.layers[3 * rank], length = target.layers[3 * rank + 1];
    if (length == 0) continue;
    if (first != sum || length > all - sum || target.layers[3 * rank + 2] > all)
      fail_damaged(path_, "its ranks have layers that no lattice has");
    sum += length;
  }
  if (sum != all) fail_damaged(path_, "its ranks have layers that no lattice has");
}

std::string LoadedParts::text() const {
  std::string text = are_parts_ ? "of several ranks" : "of one process";
  text += ", number ";
  text += std::to_string(note_.number);
  text += ", identifier ";
  return text += std::to_string(note_.id);
}

bool LoadedParts::needs(const Target& target, std::uint64_t rank) const {
  const Slab theirs = target.slab(rank), ours = slab_of(target.image.shape);
  return std::max(theirs.first, ours.first) < std::min(theirs.first + theirs.length, ours.first + ours.length);
}

void LoadedParts::read() {
  if (targets_.empty()) return;
  for (std::uint64_t rank = 0; rank < note_.ranks; ++rank) {
    const auto is_needed = [&](const Target& target) { return needs(target, rank); };
    if (std::any_of(targets_.begin(), targets_.end(), is_needed)) read(rank);
  }
}

LatticeShape LoadedParts::shape_of_part(const Target& target, std::uint64_t rank) const {
  const LatticeShape& shape = target.image.shape;
  if (!are_parts_) return whole(shape);
  return LatticeShape(sizes_of(shape), periodic_axes(shape), target.slab(rank));
}

void LoadedParts::read(std::uint64_t rank) {
  const std::string path = are_parts_ ? part_path(path_, note_.number, rank) : path_;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw CheckpointError(CheckpointFault::missing_part, path_,
                          "lacks the file '" + path + "' of rank " + std::to_string(rank) + " of " +
                              std::to_string(note_.ranks) +
                              ": keep the files of a checkpoint in one folder, and their names");
  }
  PartNote part{};
  std::vector<Target*> targets;
  std::vector<PlacedImage> images;
  for (Target& target : targets_) {
    if (!needs(target, rank)) continue;
    targets.push_back(&target);
    images.emplace_back(*target.image.info, shape_of_part(target, rank), target.image.has_words);
  }
  std::vector<CheckpointItem> items;
  if (are_parts_) items.push_back(value(kPartName, part));
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string name = name_in_checkpoint(classes_, targets[i]->type, images[i].shape);
    if (images[i].has_words) items.push_back(array(name, images[i].seen));
    if (!images[i].blocks.empty()) items.push_back(array(name + ", fields", images[i].blocks));
  }
  const auto fail_other = [&] {
    throw CheckpointError(CheckpointFault::missing_part, path,
                          "belongs to another save than '" + path_ + "', or to another rank than its name says: keep " +
                              "the files of a checkpoint together, and their names");
  };
  try {
    ReadValues(memory_, path, options_, pointers_to(items), Others::skipped, compression_).take_over(0, items.size());
  } catch (const CheckpointError& error) {
    if (!are_parts_ || error.fault() != CheckpointFault::other_values) throw;
    fail_other();
  }
  if (are_parts_ && (part.id != note_.id || part.rank != rank)) fail_other();
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!images[i].is_complete()) fail_damaged(path, "it has objects for another number of places");
    targets[i]->image.copy_from(images[i]);
  }
}

void LoadedParts::put_in_place(PlacedClasses& placed) const {
  placed.load([&] {
    for (const Target& target : targets_) target.image.write(placed.state(target.type));
    return true;
  });
  values_->take_over(first_value_, end_value_);
}

}  // namespace dynasoar::detail
