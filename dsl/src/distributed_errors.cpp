#include <dynasoar/detail/distributed_errors.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

namespace {

std::string layers_text(int layers) {
  return std::to_string(layers) + (layers == 1 ? " layer" : " layers");
}

}  // namespace

std::string text_of_classes(const ClassTable& classes) {
  std::string text;
  for (const ClassInfo& info : classes.classes) {
    text += text.empty() ? "" : ", ";
    text += plain_name(info.name);
    text += info.is_placed ? " (placed," : " (";
    for (const FieldInfo& field : info.fields) {
      text += " ";
      text += field.text();
      text += " ";
      text += field.kind;
      text += std::to_string(field.bytes) + "x" + std::to_string(field.count) + "@" + std::to_string(field.offset);
    }
    text += ")";
  }
  return text;
}

std::string text_of_lattice(const std::vector<std::size_t>& sizes, const std::array<bool, 3>& periodic,
                            std::size_t halo, const std::vector<std::size_t>& layers) {
  std::string text = "sizes";
  for (const std::size_t size : sizes) text.append(" ").append(std::to_string(size));
  text += ", periodic";
  for (const bool is_periodic : periodic) text += is_periodic ? " yes" : " no";
  text.append(", halo ").append(std::to_string(halo)).append(", layers");
  for (const std::size_t of_rank : layers) text.append(" ").append(std::to_string(of_rank));
  return text;
}

void throw_failed_on(int rank, std::string message) {
  constexpr std::string_view kPrefix = "dynasoar: ";
  if (message.starts_with(kPrefix)) message.erase(0, kPrefix.size());
  throw Error("dynasoar: rank " + std::to_string(rank) + " failed: " + message);
}

void throw_lost_lattice() {
  throw Error(
      "dynasoar: the objects of this DistributedLattice were lost when memory was short in divide(): destroy it, and "
      "make a new one");
}

void throw_reaches_too_far(const std::string& loop, int reads, int writes, int valid) {
  if (reads < 0 || writes < 0) {
    throw Error("dynasoar: the reach of the loop " + loop + " is " + std::to_string(reads < 0 ? reads : writes) +
                ": it must not be negative");
  }
  throw Error(
      "dynasoar: the loop " + loop + " reads up to " + layers_text(reads) + " away and writes up to " +
      layers_text(writes) + " away, but only " + layers_text(valid) +
      " of ghosts are up to date. Call exchange() before the loop, or give the DistributedLattice a larger halo");
}

void throw_stale_ghost(const std::string& difference) {
  throw Error("dynasoar: a ghost that should be up to date is not: " + difference +
              ". Since the last exchange, a loop has read or written further away than its Reach says, has changed "
              "places without the DistributedLattice, or has done something that depends on the order of threads");
}

}  // namespace dynasoar::detail
