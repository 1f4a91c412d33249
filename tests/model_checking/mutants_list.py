"""Defects to put into the allocator's headers, one at a time: what tests that never fail are worth.

Each mutant replaces `find`, which occurs exactly once in its file, by `replace`. `scenarios` are named where only one
catches it, or where it takes many schedules; DISTURBED is the test with disturbed threads. A mutant with `equivalent` is
no defect, and says why.
"""

HEAP = "block_heap.h"
BITMAP = "bitmap.h"
TALLY = "tally.h"
DISTURBED = "disturbed threads"

MUTANTS = []


def mutant(name, file, function, change, find, replace, scenarios=(), equivalent=None):
    MUTANTS.append(dict(name=name, file=file, function=function, change=change, find=find, replace=replace,
                        scenarios=list(scenarios), equivalent=equivalent))


def weaker(name, file, function, find, scenarios=(), equivalent=None, order="relaxed", was=None):
    """A memory order made weaker. `find` has the order in angle brackets."""
    before, rest = find.split("<", 1)
    old, after = rest.split(">", 1)
    mutant(name, file, function, f"{old.split('::')[-1]} becomes {order}", before + old + after,
           before + "Order::" + order + after, scenarios, equivalent)


# --- Memory orders: all that the heap uses, one by one ---

weaker("counted_release", HEAP, "counted",
       "types[type].created.add(found.block, number_of(found.slots), <Atomics::kCounted>);",
       scenarios=["moving_slot"])
weaker("open_fence", HEAP, "open", "Atomics::fence(<Order::release>);")
weaker("open_slots_release", HEAP, "open", "slots[block].store(mine, <Order::release>);")
weaker("replacer_token_acquire", HEAP, "replace_current", "if (take_token(old, <Order::acquire>))")
weaker("replacer_list_release", HEAP, "replace_current", "types[type_of(old)].active.set(old, <Order::release>);")
weaker("reserve_acquire", HEAP, "reserve", "slots[block].fetch_or(mask, <Order::acquire>);")
weaker("release_slots_release", HEAP, "release_slots", "slots[block].fetch_and(~mask, <Order::release>);")
weaker("close_active_acquire", HEAP, "close_if_empty", "state.active.clear(block, <Order::acquire>);")
weaker("close_counted_release", HEAP, "close_if_empty", "state.open_blocks.subtract(block, 1, <Order::release>);")
weaker("close_empty_release", HEAP, "close_if_empty", "state.empty.set(block, <Order::release>);")
weaker("close_page_release", HEAP, "close_if_empty", "free_pages.set(block >> block_shift, <Order::release>);")
weaker("invalidate_acquire", HEAP, "invalidate", "slots[block].fetch_or(kAllSlots, <Order::acquire>);")
weaker("invalidate_release", HEAP, "invalidate", "slots[block].fetch_and(before, <Order::release>);")
weaker("proof_acquire", HEAP, "search_exhaustively", "full_at[type].load(<Order::acquire>);",
       scenarios=["proof_and_deletions", "proof_passed_on"])
weaker("proof_release", HEAP, "search_exhaustively", "full_at[type].store(1 + before.count + deleted, <Order::release>);",
       scenarios=["proof_passed_on"])
weaker("set_many_release", BITMAP, "set_many", "fetch_or(mask, <Order::release>) == 0")
weaker("claim_all_acquire", BITMAP, "claim_all", "found & ~mask, <Order::acq_rel>)", order="release")
weaker("claim_all_release", BITMAP, "claim_all", "found & ~mask, <Order::acq_rel>)", order="acquire",
       equivalent="the heap claims right after it has set a bit of the same word with release; the claim continues that "
                  "release sequence, so who reads the claimed word knows of the announcement all the same")
weaker("clear_any_acquire", BITMAP, "clear_any", "try_clear(position, <Order::acq_rel>)) return position;",
       order="release")
weaker("clear_any_release", BITMAP, "clear_any", "try_clear(position, <Order::acq_rel>)) return position;",
       order="acquire")
mutant("set_default_release", BITMAP, "set", "release becomes relaxed, where the caller names no order",
       "void set(std::uint32_t position, Order order = Order::release)",
       "void set(std::uint32_t position, Order order = Order::relaxed)")
mutant("clear_default_acquire", BITMAP, "clear", "acq_rel becomes release, where the caller names no order",
       "void clear(std::uint32_t position, Order order = Order::acq_rel)",
       "void clear(std::uint32_t position, Order order = Order::release)")
mutant("find_fence", BITMAP, "find_exhaustively", "the acquire fence is dropped",
       "    // Partner is the release of a clear: who misses a bit sees that its taker had announced itself.\n"
       "    Atomics::fence(Order::acquire);\n", "")
weaker("tally_end_release", TALLY, "end", "shard(key).add(amount - kBegun, <Atomics::kCounted>);")
mutant("tally_read_fence", TALLY, "read", "the acquire fence is dropped", "    Atomics::fence(Order::acquire);\n", "")

# --- The protocol of the slots ---

mutant("invalidate_keeps", HEAP, "invalidate", "slots taken in vain are not given back",
       "slots[block].fetch_and(before, Order::release);", "slots[block].load(Order::relaxed);")
mutant("invalidate_paper_order", HEAP, "invalidate", "slots taken in vain are given back before that is settled",
       "      settle_filled(block, type);\n"
       "      // release: as in release_slots.\n"
       "      const std::uint64_t found = slots[block].fetch_and(before, Order::release);\n",
       "      const std::uint64_t found = slots[block].fetch_and(before, Order::release);\n"
       "      settle_filled(block, type);\n")
mutant("invalidate_once", HEAP, "invalidate", "a block emptied while its slots were taken in vain is not closed",
       "      if ((found & before) != 0) return false;  // else", "      return false;  // else")
mutant("invalidate_unlisted", HEAP, "invalidate", "the block is not listed after slots taken in vain are given back",
       "      if (found == kAllSlots) types[type].active.set(block, Order::relaxed);  // as in release_slots\n", "")
mutant("open_slots_first", HEAP, "open", "the slots are opened before the token is there",
       "    token[block].store(1, Order::relaxed);\n", "",
       )
MUTANTS[-1]["replace_also"] = ("    if (mine == kAllSlots) settle_filled(block, type);\n    replace_current",
                               "    token[block].store(1, Order::relaxed);\n"
                               "    if (mine == kAllSlots) settle_filled(block, type);\n    replace_current")
mutant("reserve_all_wanted", HEAP, "reserve", "slots that somebody else got are handed out too",
       "if (owner == type) return got;", "if (owner == type) return mask;")
mutant("reserve_any_type", HEAP, "reserve", "the type is not checked after reserving",
       "if (owner == type) return got;", "return got;")
mutant("reserve_not_settled", HEAP, "reserve", "who takes the last slot does not settle it",
       "      if ((before | got) == kAllSlots) settle_filled(block, owner);\n", "")
mutant("filled_stays_active", HEAP, "settle_filled", "a full block stays listed as active",
       "if (!take_token(block, Order::relaxed)) types[type].active.clear(block, Order::relaxed);",
       "take_token(block, Order::relaxed);")
mutant("filled_keeps_token", HEAP, "settle_filled", "a full current block keeps its token",
       "if (!take_token(block, Order::relaxed)) types[type].active.clear(block, Order::relaxed);",
       "if (token[block].load(Order::relaxed) == 0) types[type].active.clear(block, Order::relaxed);")
mutant("first_release_unlisted", HEAP, "release_slots", "a block that is no longer full is not listed",
       "    if (before == kAllSlots) {\n"
       "      types[type].active.set(block, Order::relaxed);  // relaxed: the release above is what others wait for\n"
       "    }\n", "")
mutant("displaced_unlisted", HEAP, "replace_current", "a displaced block is not listed",
       "if (take_token(old, Order::acquire)) types[type_of(old)].active.set(old, Order::release);",
       "take_token(old, Order::acquire);")
mutant("displaced_old_type", HEAP, "replace_current", "a displaced block is listed under the type it had",
       "types[type_of(old)].active.set(old, Order::release);", "types[type].active.set(old, Order::release);")
mutant("displaced_token_read", HEAP, "take_token", "the token is read and reset in two steps",
       "return token[block].exchange(0, order) != 0;",
       "const bool taken = token[block].load(order) != 0; if (taken) token[block].store(0, order == Order::acquire ? "
       "Order::relaxed : order); return taken;")

# --- Blocks and pages ---

mutant("page_typed_late", HEAP, "first_block_of_free_page", "the other blocks are published before the page's type",
       "    page_type[page].store(static_cast<std::uint32_t>(type), Order::relaxed);\n", "")
MUTANTS[-1]["replace_also"] = ("if (others != 0) types[type].empty.set_many(block, others);",
                               "if (others != 0) types[type].empty.set_many(block, others);\n"
                               "    page_type[page].store(static_cast<std::uint32_t>(type), Order::relaxed);")
mutant("page_untyped", HEAP, "first_block_of_free_page", "the page keeps the type it had",
       "    page_type[page].store(static_cast<std::uint32_t>(type), Order::relaxed);\n", "")
mutant("closed_keeps_token", HEAP, "close_if_empty", "a closed current block keeps its token",
       "if (!take_token(block, Order::relaxed)) state.active.clear(block, Order::acquire);",
       "if (token[block].load(Order::relaxed) == 0) state.active.clear(block, Order::acquire);")
mutant("closed_stays_active", HEAP, "close_if_empty", "a closed block stays listed as active",
       "if (!take_token(block, Order::relaxed)) state.active.clear(block, Order::acquire);",
       "take_token(block, Order::relaxed);")
mutant("closed_stays_allocated", HEAP, "close_if_empty", "a closed block stays allocated",
       "    state.allocated.clear(block, Order::relaxed);  // published by the release below\n", "")
mutant("closed_late_allocated", HEAP, "close_if_empty", "a block leaves `allocated` only after it is listed as empty",
       "    state.allocated.clear(block, Order::relaxed);  // published by the release below\n", "",
       equivalent="who opens the block again waits for the bit (Bitmap::set), and the change is announced until then")
MUTANTS[-1]["replace_also"] = ("    if (page_is_free) free_pages.set(block >> block_shift, Order::release);\n",
                               "    if (page_is_free) free_pages.set(block >> block_shift, Order::release);\n"
                               "    state.allocated.clear(block, Order::relaxed);\n")
mutant("closed_late_token", HEAP, "close_if_empty", "the token is taken only after the block is listed as empty",
       "    if (!take_token(block, Order::relaxed)) state.active.clear(block, Order::acquire);\n", "")
MUTANTS[-1]["replace_also"] = ("    if (page_is_free) free_pages.set(block >> block_shift, Order::release);\n",
                               "    if (page_is_free) free_pages.set(block >> block_shift, Order::release);\n"
                               "    if (!take_token(block, Order::relaxed)) state.active.clear(block, Order::acquire);\n")
mutant("page_never_free", HEAP, "close_if_empty", "a page whose blocks are all empty is not claimed",
       "      page_is_free = state.empty.claim_all(block, page_mask(block, type));\n", "")

# --- Refusals ---

mutant("deleted_late", HEAP, "release", "deleted objects are counted after their slots are free",
       "    types[type].deleted.add(who, number_of(mask), Order::relaxed);\n"
       "    release_slots(block, type, mask, who);\n",
       "    release_slots(block, type, mask, who);\n"
       "    types[type].deleted.add(who, number_of(mask), Order::relaxed);\n",
       scenarios=["moving_slots"])
mutant("created_early", HEAP, "from_hints", "objects are counted as created before their slots are taken",
       "    Reservation found = from_container(type, want, who, {container * kContainerBits, listed}, start);\n"
       "    if (found.slots == 0 && current",
       "    types[type].created.add(who, static_cast<std::uint64_t>(want), Atomics::kCounted);\n"
       "    Reservation found = from_container(type, want, who, {container * kContainerBits, listed}, start);\n"
       "    if (found.slots == 0 && current")
MUTANTS[-1]["replace_also"] = (
    "found = {current, reserve(current, type, want, who), {}};\n    return counted(type, found);",
    "found = {current, reserve(current, type, want, who), {}};\n"
    "    types[type].created.add(who, number_of(found.slots) - static_cast<std::uint64_t>(want), Atomics::kCounted);\n"
    "    return found;")
mutant("opened_counted_late", HEAP, "open", "an opener counts its objects after the block is open",
       "    types[type].created.add(block, number_of(mine), Order::relaxed);\n", "",
       equivalent="where counts release (kCounted on the host) who knows of a later object in the block knows of the "
                  "announcement as well; the order is for GPUs, where they do not")
MUTANTS[-1]["replace_also"] = ("    if (mine == kAllSlots) settle_filled(block, type);\n    replace_current",
                               "    types[type].created.add(block, number_of(mine), Order::relaxed);\n"
                               "    if (mine == kAllSlots) settle_filled(block, type);\n    replace_current")
KEPT = "if (before.in_progress == 0 && proof == 1 + before.count + state.deleted.read().count) return Verdict::full;"
COUNTS = "if (before.in_progress != 0 || created - deleted != capacity) {"

mutant("search_ignores_begun", HEAP, "search_exhaustively", "changes in progress at the beginning are overlooked",
       COUNTS, "if (created - deleted != capacity) {",
       equivalent="quiet_since looks at both readings; the first look only saves a search")
mutant("search_ignores_changes", HEAP, "search_exhaustively", "changes during the search are overlooked",
       "        !changes.read().quiet_since(before)) {", "        false) {")
mutant("search_ignores_counts", HEAP, "search_exhaustively", "objects are not counted",
       COUNTS, "if (before.in_progress != 0) {")
mutant("search_counts_late", HEAP, "search_exhaustively", "created objects are read after deleted ones",
       COUNTS, "if (before.in_progress != 0 || state.created.read().count - deleted != capacity) {",
       scenarios=["moving_slot"])
mutant("search_misses_empty", HEAP, "search_exhaustively", "empty blocks are not looked for",
       "is_position(state.empty.find_exhaustively(0)) ||", "")
mutant("search_misses_pages", HEAP, "search_exhaustively", "free pages are not looked for",
       "is_position(free_pages.find_exhaustively(0))", "false")
mutant("proof_ignores_deleted", HEAP, "search_exhaustively", "a kept proof outlives deletions",
       KEPT, "if (before.in_progress == 0 && proof >= 1 + before.count) return Verdict::full;")
mutant("proof_ignores_changes", HEAP, "search_exhaustively", "a kept proof outlives blocks opened and closed",
       KEPT, "if (before.in_progress == 0 && proof != 0 && proof <= 1 + before.count + state.deleted.read().count) "
       "return Verdict::full;")
mutant("proof_while_changing", HEAP, "search_exhaustively", "a kept proof is believed while blocks change hands",
       KEPT, KEPT.replace("before.in_progress == 0 && ", ""), scenarios=[DISTURBED])
mutant("proof_read_late", HEAP, "search_exhaustively", "the kept proof is read after the counts",
       KEPT, "const std::uint64_t stamp = 1 + before.count + state.deleted.read().count;\n"
       "    if (before.in_progress == 0 && full_at[type].load(Order::acquire) == stamp) return Verdict::full;",
       scenarios=["proof_and_deletions", "proof_passed_on"])
mutant("close_unannounced", HEAP, "close_if_empty", "a block is closed without an announcement",
       "    changes.begin(who);\n    if (!invalidate(block)) {\n      changes.cancel(who);\n      return;\n    }\n",
       "    if (!invalidate(block)) return;\n    changes.begin(who);\n",
       equivalent="until it leaves `open_blocks`, with release, the block counts as slots without objects, so no proof "
                  "succeeds; who no longer counts it knows of the announcement")
mutant("open_unannounced", HEAP, "from_new_block", "a block is taken without an announcement",
       "    changes.begin(who);\n    std::uint32_t block = kNoPosition;", "    std::uint32_t block = kNoPosition;")
MUTANTS[-1]["replace_also"] = ("    if (!is_position(block)) {\n      changes.cancel(who);\n      return nothing();\n    }\n",
                               "    if (!is_position(block)) return nothing();\n    changes.begin(who);\n")
mutant("close_uncounted", HEAP, "close_if_empty", "closed blocks are not counted",
       "    if (page_is_free) free_pages.set(block >> block_shift, Order::release);\n    changes.end(who, 1);",
       "    if (page_is_free) free_pages.set(block >> block_shift, Order::release);\n    changes.end(who, 0);")
mutant("open_uncounted", HEAP, "from_new_block", "opened blocks are not counted",
       "open(block, type, want, who), {}};\n    changes.end(who, 1);",
       "open(block, type, want, who), {}};\n    changes.end(who, 0);")

# --- Bitmaps ---

mutant("clear_by_store", BITMAP, "try_clear", "the container is read and written in two steps",
       "word(0, index).fetch_and(~mask, order);",
       "word(0, index).load(Order::relaxed);\n    word(0, index).store(before & ~mask, Order::release);")
mutant("clear_leaves_above", BITMAP, "try_clear", "an emptied container leaves the bit above set",
       "    if (before == mask) settle_emptied(index);\n    return (before", "    return (before")
mutant("claim_leaves_above", BITMAP, "claim_all", "a container emptied by a claim leaves the bit above set",
       "        if (found == mask) settle_emptied(index);\n", "")
mutant("claim_in_steps", BITMAP, "claim_all", "the bits are looked at and cleared in two steps",
       "      if (word(0, index).compare_exchange(found, found & ~mask, Order::acq_rel)) {\n"
       "        if (found == mask) settle_emptied(index);\n",
       "      {\n        found = word(0, index).fetch_and(~mask, Order::acq_rel);\n"
       "        if (found == mask) settle_emptied(index);\n")
mutant("set_many_hides", BITMAP, "set_many", "the bit above is not set",
       "if (word(0, position / kContainerBits).fetch_or(mask, Order::release) == 0 && levels_ > 1) {",
       "if (word(0, position / kContainerBits).fetch_or(mask, Order::release) == 0 && levels_ > 99) {")
mutant("set_does_not_wait", BITMAP, "switch_on", "a bit that is set already is not waited for",
       "while (((before = word(level, position / kContainerBits).fetch_or(mask, order)) & mask) != 0) Atomics::pause();",
       "before = word(level, position / kContainerBits).fetch_or(mask, order);")
mutant("clear_does_not_wait", BITMAP, "switch_off", "a bit above that is not set yet is not waited for",
       "      while (((before = word(level, position / kContainerBits).fetch_and(~mask, Order::relaxed)) & mask) == 0) {\n"
       "        Atomics::pause();\n      }\n",
       "      before = word(level, position / kContainerBits).fetch_and(~mask, Order::relaxed);\n")
mutant("clear_gives_up", BITMAP, "clear", "a bit that is not set yet is not waited for",
       "while (!try_clear(position, order)) Atomics::pause();", "try_clear(position, order);")
mutant("clear_settles_upwards", BITMAP, "switch_off", "the levels above the second are not settled",
       "      if (before != mask) return;\n      position /= kContainerBits;\n    }\n  }\n\n  Word* words_;",
       "      return;\n    }\n  }\n\n  Word* words_;")
