#include <dynasoar/statistics.h>

#include <algorithm>
#include <iomanip>
#include <locale>
#include <ostream>
#include <sstream>

#include <dynasoar/checks/access_counts.h>
#include <dynasoar/detail/escaped_text.h>
#include <dynasoar/detail/field_names.h>
#include <dynasoar/detail/loop_names.h>

namespace dynasoar {

std::ostream& operator<<(std::ostream& stream, const FieldAccesses& accesses) {
  std::ostringstream out;
  out.imbue(std::locale::classic());  // independent of the program's locale
  std::size_t loop_width = 9, type_width = 5, field_width = 5;
  for (const auto* list : {&accesses.loops, &accesses.fields}) {
    for (const FieldAccess& access : *list) {
      loop_width = std::max(loop_width, access.loop.size());
      type_width = std::max(type_width, access.type.size());
      field_width = std::max(field_width, access.field.size());
    }
  }
  const auto line = [&](const auto& loop, const auto& type, const auto& field, const auto& reads, const auto& writes,
                        const auto& by_reference) {
    out << std::left << std::setw(static_cast<int>(loop_width) + 2) << loop
        << std::setw(static_cast<int>(type_width) + 2) << type << std::setw(static_cast<int>(field_width)) << field
        << std::right << std::setw(16) << reads << std::setw(16) << writes << std::setw(16) << by_reference << '\n';
  };
  line("loop", "class", "field", "reads", "writes", "by reference");
  for (const FieldAccess& access : accesses.loops) {
    line(access.loop, access.type, access.field, access.reads, access.writes, access.by_reference);
  }
  for (const FieldAccess& access : accesses.fields) {
    line("all loops", access.type, access.field, access.reads, access.writes, access.by_reference);
  }
  return stream << out.str();
}

std::string to_json(const FieldAccesses& accesses) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  const auto add = [&out](const std::vector<FieldAccess>& list, bool has_loop) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const FieldAccess& access = list[i];
      out << (i > 0 ? ", {" : "{");
      if (has_loop) out << "\"loop\": " << detail::json_text(access.loop) << ", ";
      out << "\"type\": " << detail::json_text(access.type) << ", \"field\": " << detail::json_text(access.field)
          << ", \"reads\": " << access.reads << ", \"writes\": " << access.writes
          << ", \"by_reference\": " << access.by_reference << '}';
    }
  };
  out << "{\"loops\": [";
  add(accesses.loops, true);
  out << "], \"fields\": [";
  add(accesses.fields, false);
  out << "]}";
  return out.str();
}

FieldAccesses detail::field_accesses_of(const ClassTable& classes, const std::vector<std::string>& loops,
                                        const std::vector<std::uint64_t>& words) {
  FieldAccesses result;
  for (const ClassInfo& info : classes.classes) {
    for (const std::string& name : field_names_of(info.fields)) {
      result.fields.push_back({"", std::string(info.name), name});
    }
  }
  const std::uint64_t* word = words.data();
  for (const std::string& loop : loops) {
    for (FieldAccess& sum : result.fields) {
      const FieldAccess here{loop, sum.type, sum.field, word[0], word[1], word[2]};
      word += kCountedKinds;
      sum.reads += here.reads;
      sum.writes += here.writes;
      sum.by_reference += here.by_reference;
      if (here.all() > 0) result.loops.push_back(here);
    }
  }
  return result;
}

}  // namespace dynasoar
