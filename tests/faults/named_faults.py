"""Hand-written faults in the code that moves objects (compaction and sort), which tests must notice, all of them.

plant.py plants them besides those that chance chooses. Each has a name, which says how it breaks its file; `find` occurs
exactly once there, and `template` replaces it. In the template, FAULT is whether the fault is active.
"""
import pathlib

from places import Place

NAMED = []


def fault(name, file, find, template):
    NAMED.append(dict(name=name, file=file, find=find, template=template))


def dropped(name, file, statement):
    """A statement that is left out."""
    fault(name, file, statement, "if (!FAULT) " + statement)


def becomes(name, file, expression, wrong, around="{}"):
    """An expression that becomes another one. `around` has it, with {} in its place, if it occurs more than once."""
    before, after = around.split("{}")
    fault(name, file, before + expression + after, f"{before}(FAULT ? ({wrong}) : ({expression})){after}")


def places(root):
    """@return for each fault: the file, and a Place"""
    for one in NAMED:
        text = (pathlib.Path(root) / one["file"]).read_text()
        if text.count(one["find"]) != 1:
            raise RuntimeError(f"{one['name']}: its text occurs {text.count(one['find'])} times in {one['file']}")
        start = text.index(one["find"])
        yield one["file"], Place(one["name"], start, start + len(one["find"]), one["template"], "")


HEAP = "allocator/include/dynasoar/heap/"
FORWARDING = HEAP + "forwarding.h"
POINTERS = HEAP + "pointer_updates.h"
MOVES = HEAP + "compaction_tasks.h"
SORTED = HEAP + "sorted_class.h"
SORT = HEAP + "sort_tasks.h"
RELOCATED = HEAP + "relocated_heap.h"
FORMAT = "allocator/include/dynasoar/classes/pointer_format.h"
RUN_SORT = "allocator/src/heap/sort.cpp"
KEYS = "dsl/include/dynasoar/detail/sort.h"

# --- Which pointers are rewritten, and to what; compaction and sort ---

becomes("only the first element of an array field is rewritten", POINTERS, "field.field.count", "1")
becomes("only the first pointer of a value is rewritten", POINTERS, "field.pointers", "1", "j < {}; ++j")
dropped("compressed pointers are not rewritten", POINTERS, "if (now != before) pointer = field.format.encode(Handle(now));")
becomes("the generation of a compressed pointer is not compared", POINTERS,
        "field.format.generation_of(pointer, generation)", "generation")
dropped("compressed pointers of placed classes are not rewritten", POINTERS,
        "if (have_fields<CompressedField>(classes, wanted, true)) placed = others.placed;")
becomes("fields of placed classes are not rewritten", POINTERS, "array_count_ + placed_count_", "array_count_",
        "classes_ + {} : 0")
becomes("arrays are not rewritten", POINTERS, "teams_for(arrays_[array].size, kUpdatesPerTeam)", "0")
becomes("what comes after the first eight arrays is not rewritten", POINTERS, "now.arrays.size()", "arrays.size()",
        "arrays.without_first({})")
becomes("what comes after the first eight placed classes is not rewritten", POINTERS, "now.placed.size()", "placed.size()",
        "placed.without_first({})")
becomes("the last blocks and pointers, too few for a team, are not rewritten", POINTERS, "things + per_team - 1", "things",
        "({}) / per_team")
fault("pointers in arrays are rewritten twice", POINTERS, "if (moved[k]) relocation_.update(first[i + k * kApart]);",
      "if (moved[k]) relocation_.update(first[i + k * kApart]);\n        "
      "if (FAULT && moved[k] && relocation_.may_have_moved(first[i + k * kApart])) relocation_.update(first[i + k * kApart]);")
becomes("a compressed pointer is encoded as one to the first class", FORMAT, "i + 1", "1", "code = {};")
becomes("a compressed pointer is decoded as one to the next class", FORMAT, "code == i + 1", "code == i + 2",
        "if (i < classes && {}) type")
becomes("a slot counts itself among those below it", RELOCATED, "static_cast<int>(slot)", "static_cast<int>(slot) + 1")

# --- Compaction ---

becomes("pointers are rewritten only if the first class has moved", FORWARDING, "heap_.types()", "1", "type < {}; ++type")
becomes("blocks are looked for in the first group", FORWARDING, "entry / kBlocksPerGroup * kBlocksPerGroup", "0")
dropped("the generation of a pointer is not compared, compaction", FORWARDING,
        "if (heap_.generation_of(block, handle.slot()) != handle.generation()) return;")
becomes("a pointer keeps its generation, compaction", FORWARDING, "heap_.generation_of(target, to.slot())",
        "handle.generation()")
becomes("objects of the last group, which is not full, stay", MOVES, "heap_.lists[type].size->blocks + kGroup - 1",
        "heap_.lists[type].size->blocks")
becomes("objects of all sources go where those of the first one go", MOVES, "plan.is_source(other) ? plan.objects[other] : 0",
        "0u")
becomes("objects go to slots that are taken", MOVES, "~plan.slots[block]", "plan.slots[block]")
becomes("all free slots of targets become taken", MOVES, "arrivals", "64", "lowest_set_bits(~objects, {})")
becomes("elements of array fields after the first do not move, compaction", MOVES, "field.count", "1u")
becomes("an object is created by no loop after it has moved, compaction", MOVES, "old.loop()", "0u")
dropped("old slots keep their generation", MOVES, "from.store(old.deleted().bits(), Order::relaxed);")
becomes("classes are compacted whatever is accepted", MOVES,
        "static_cast<double>(free) > above * static_cast<double>(slots)", "true")

# --- Sort ---

fault("objects with equal keys are reversed", SORTED,
      "const std::uint32_t rank = entry.before + objects_below(entry.slots, slot);\n    keys[rank] = key;\n    ranks[rank] = rank;",
      "const std::uint32_t rank = entry.before + objects_below(entry.slots, slot);\n    "
      "const std::uint32_t at = FAULT ? sorted.objects - 1 - rank : rank;\n    keys[at] = key;\n    ranks[at] = rank;")
fault("the list is in another order than the blocks", SORT,
      "for (std::uint64_t left = sorted.allocated().container(0, container); left != 0; left &= left - 1) {\n"
      "      const std::uint32_t block = container * 64 + static_cast<std::uint32_t>(lowest_bit(left));\n",
      "std::uint64_t left = sorted.allocated().container(0, container);\n    while (left != 0) {\n"
      "      const std::uint64_t last = FAULT ? std::uint64_t{1} << (63 - __builtin_clzll(left)) : left & (~left + 1);\n"
      "      const std::uint32_t block = container * 64 + static_cast<std::uint32_t>(lowest_bit(last));\n"
      "      left &= ~last;\n")
fault("no object seems to move", SORT, "if (moves) sorted.moved()", "if (moves && !FAULT) sorted.moved()")
fault("objects that leave their team's blocks are not copied first", SORT, "if (!blocks.have_place(destinations[rank]))",
      "if (!FAULT && !blocks.have_place(destinations[rank]))")
becomes("pointers are rewritten to what they were", SORT, "from", "rank", "destinations[{}] =")
becomes("pointers to empty slots are rewritten", SORT, "(entry.slots >> handle.slot() & 1) == 0", "false")
dropped("the generation of a pointer is not compared, sort", SORT,
        "if (heap().generation_of(block, handle.slot()) != handle.generation()) return;")
becomes("a pointer gets the old generation of its slot, sort", SORT,
        "Tag(heap().tag_of(block, slot).load(Order::relaxed)).created(0).generation()",
        "Tag(heap().tag_of(block, slot).load(Order::relaxed)).generation()")
becomes("an object is created by no loop after it has moved, sort", SORT, "Tag(record.words[0]).loop()", "0u")
fault("tags do not move", RUN_SORT, "if (memory_.is_checked()) move", "if (memory_.is_checked() && !FAULT) move")
becomes("elements of array fields after the first do not move, sort", RUN_SORT, "field.count", "1")
becomes("the last word of a value does not move", RUN_SORT, "at < field.bytes", "at + bytes < field.bytes || at == 0")
becomes("records lie over the order", RUN_SORT, "result == 0 ? numbers : 0", "result == 0 ? 0 : numbers")
becomes("negative keys come last", KEYS, "static_cast<Bits>(value) ^ kSign", "static_cast<Bits>(value)")
becomes("all bits of the keys decide", KEYS, "options.key_bits > 0 && options.key_bits < kBits ? options.key_bits : kBits", "kBits")
