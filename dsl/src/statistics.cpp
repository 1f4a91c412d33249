#include <dynasoar/statistics.h>

#include <algorithm>
#include <iomanip>
#include <locale>
#include <ostream>
#include <sstream>

#include <dynasoar/base/number_text.h>
#include <dynasoar/detail/escaped_text.h>
#include <dynasoar/detail/loop_reports.h>
#include <dynasoar/heap/refusal.h>

namespace dynasoar {

namespace {

void print_heap(std::ostream& out, const Statistics& statistics) {
  const auto line = [&out](const auto& name, const auto& objects, const auto& slots, const auto& blocks,
                           const auto& fragmentation, const auto& refused) {
    out << std::left << std::setw(24) << name << std::right << std::setw(14) << objects << std::setw(14) << slots
        << std::setw(12) << blocks << std::setw(12) << fragmentation << std::setw(12) << refused << '\n';
  };
  out << std::fixed << std::setprecision(3);
  line("class", "objects", "slots", "blocks", "fragmented", "refused");
  for (const TypeStatistics& type : statistics.types) {
    if (!type.in_heap) continue;
    line(type.name, type.objects, type.slots, type.blocks, type.fragmentation(), type.refused());
  }
  line("all", statistics.objects_in_heap(), statistics.slots(), statistics.slots() / 64, statistics.fragmentation(),
       statistics.refused());
  out << "heap: " << statistics.heap_bytes << " bytes, " << statistics.pages << " pages of " << statistics.page_bytes
      << ", " << std::setprecision(1) << 100 * statistics.used() << "% used; state: " << statistics.state_bytes
      << " bytes\n";
}

void print_lattices(std::ostream& out, const std::vector<TypeStatistics>& types) {
  const bool are_counted = std::any_of(types.begin(), types.end(), [](const auto& type) { return type.created; });
  const auto line = [&](const auto& name, const auto& objects, const auto& places, const auto& taken, const auto& bytes,
                        const auto& created, const auto& deleted) {
    out << std::left << std::setw(24) << name << std::right << std::setw(14) << objects << std::setw(14) << places
        << std::setw(12) << taken << std::setw(16) << bytes;
    if (are_counted) out << std::setw(14) << created << std::setw(14) << deleted;
    out << '\n';
  };
  out << std::fixed << std::setprecision(3);
  line("class on a lattice", "objects", "places", "taken", "bytes", "created", "deleted");
  for (const TypeStatistics& type : types) {
    line(type.name, type.objects, type.places, type.taken(), type.lattice_bytes, type.created.value_or(0),
         type.deleted().value_or(0));
  }
}

std::string number_or_null(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "null";
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Statistics& statistics) {
  std::vector<TypeStatistics> placed;
  bool has_heap = statistics.types.empty();
  for (const TypeStatistics& type : statistics.types) {
    if (type.places > 0 || !type.in_heap) placed.push_back(type);
    has_heap = has_heap || type.in_heap;
  }
  std::ostringstream out;
  out.imbue(std::locale::classic());  // independent of the program's locale
  if (has_heap) print_heap(out, statistics);
  if (!placed.empty()) print_lattices(out, placed);
  return stream << out.str();
}

std::string to_json(const Statistics& statistics) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << "{\"heap_bytes\": " << statistics.heap_bytes << ", \"heap_limit_bytes\": " << statistics.heap_limit_bytes
      << ", \"growths\": " << statistics.growths << ", \"state_bytes\": " << statistics.state_bytes
      << ", \"page_bytes\": " << statistics.page_bytes << ", \"pages\": " << statistics.pages
      << ", \"free_pages\": " << statistics.free_pages << ", \"types\": [";
  for (std::size_t i = 0; i < statistics.types.size(); ++i) {
    const TypeStatistics& type = statistics.types[i];
    out << (i > 0 ? ", " : "") << "{\"name\": " << detail::json_text(type.name) << ", \"objects\": " << type.objects
        << ", \"created\": " << number_or_null(type.created) << ", \"deleted\": " << number_or_null(type.deleted())
        << ", \"blocks\": " << type.blocks << ", \"slots\": " << type.slots << ", \"block_bytes\": " << type.block_bytes
        << ", \"fragmentation\": " << detail::number_text(type.fragmentation())
        << ", \"refused_full\": " << type.refused_full << ", \"refused_contended\": " << type.refused_contended
        << ", \"refused_on_request\": " << type.refused_on_request << ", \"refused_table\": " << type.refused_table
        << ", \"in_heap\": " << (type.in_heap ? "true" : "false") << ", \"places\": " << type.places
        << ", \"taken\": " << detail::number_text(type.taken()) << ", \"lattice_bytes\": " << type.lattice_bytes << '}';
  }
  out << "]}";
  return out.str();
}

namespace detail {

std::vector<TypeStatistics> type_statistics(const ClassTable& classes, const std::vector<std::uint64_t>& totals,
                                            const std::vector<std::uint64_t>& refusals,
                                            const std::vector<std::uint64_t>& created) {
  std::vector<TypeStatistics> result;
  for (std::size_t type = 0; type < classes.classes.size(); ++type) {
    const auto refused = [&](Refusal why) { return refused_objects(refusals, type, why); };
    TypeStatistics& statistics = result.emplace_back();
    statistics.name = classes[type].name;
    statistics.objects = totals[2 * type];
    statistics.in_heap = !(classes[type].is_placed && classes.has_blocks());
    if (!classes[type].is_placed) statistics.created = created[type];
    statistics.blocks = totals[2 * type + 1];
    statistics.slots = statistics.blocks * classes.slots_per_block;
    statistics.block_bytes = classes[type].block_bytes;
    statistics.refused_full = refused(Refusal::heap_full);
    statistics.refused_contended = refused(Refusal::contended);
    statistics.refused_on_request = refused(Refusal::on_request);
    statistics.refused_table = refused(Refusal::table_full);
  }
  return result;
}

Statistics statistics_of(Executor& executor, const ClassTable& classes, const HeapMemory& memory) {
  return gather_statistics(executor, classes, memory);
}

}  // namespace detail

}  // namespace dynasoar
