"""Defects to put into the allocator's headers, one at a time: what tests that never fail are worth.

Each mutant replaces `find`, which occurs exactly once in its file, by `replace`. `scenarios` are named where only one
catches it, or where it takes many schedules; DISTURBED is the test with disturbed threads, LOCKSTEP the one with simulated
warps. A mutant with `equivalent` is no defect, and says why.
"""

HEAP = "block_heap.h"
SEARCH = "block_search.h"
FULLNESS = "fullness.h"
BLOCKS = "block_transitions.h"
PAGES = "page_transitions.h"
BITMAP = "bitmap.h"
TALLY = "tally.h"
OCCUPANCY = "occupancy.h"
DISTURBED = "disturbed threads"
LOCKSTEP = "simulated warps"

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

weaker("counted_release", BLOCKS, "counted",
       "types[type].created.add(found.block, number_of(found.slots), <Atomics::kCounted>);",
       scenarios=["moving_slot"])
mutant("open_fence", BLOCKS, "open", "the fence between the token and the slots is dropped",
       "token[block].store(token_of(type), Atomics::kCounted);\n    Atomics::fence(Order::release);\n",
       "token[block].store(token_of(type), Atomics::kCounted);\n")
ONE_ORDER = ("what it orders are changes of words that are only changed by read-modify-writes, and the checker lets those "
             "happen in one order")
weaker("open_token_release", BLOCKS, "open", "token[block].store(token_of(type), <Atomics::kCounted>);", equivalent=ONE_ORDER)
weaker("replacer_token_acquire", BLOCKS, "replace_current", "list_owned(old, take_token(old, <Order::acquire>));",
       equivalent=ONE_ORDER)
mutant("half_fence", BLOCKS, "reserve_half", "the acquire fence is dropped",
       "    Atomics::fence(Order::acquire);  // of the slots, as in take_slots, and of the token, as in replace_current\n", "")
weaker("take_slots_acquire", BLOCKS, "take_slots", "slots[block].fetch_or(mask, <Order::acquire>);")
weaker("release_slots_release", BLOCKS, "release_slots", "slots[block].fetch_and(~mask, <Order::release>);")
weaker("close_fence_acquire", BLOCKS, "close", "Atomics::fence(<Order::acq_rel>);", order="release")
weaker("close_fence_release", BLOCKS, "close", "Atomics::fence(<Order::acq_rel>);", order="acquire")
mutant("free_page_fence", PAGES, "free_page", "the release fence is dropped",
       "    Atomics::fence(Order::release);\n    state.reused.add", "    state.reused.add")
weaker("invalidate_release", BLOCKS, "invalidate", "slots[block].fetch_and(before, <Order::release>);")
NO_STALE_PAGE = ("no defect that is found: there is no scenario in which a page became free before the proof, and a thread "
                 "that uses the proof has not heard of it. Since 2026-11-25, when the proof's stamp had blocks opened and closed in it")
weaker("proof_acquire", FULLNESS, "is_still_full", "full_at[type].load(<Order::acquire>);", equivalent=NO_STALE_PAGE)
weaker("proof_release", FULLNESS, "search_exhaustively", "full_at[type].store(1 + freed + deleted, <Order::release>);",
       equivalent=NO_STALE_PAGE)
weaker("set_many_release", BITMAP, "set_many", "fetch_or(mask, <Order::release>) == 0")
weaker("claim_all_acquire", BITMAP, "claim_all", "found & ~mask, <Order::acq_rel>)", order="release")
weaker("claim_all_release", BITMAP, "claim_all", "found & ~mask, <Order::acq_rel>)", order="acquire",
       equivalent="the heap claims right after it has set a bit of the same word behind a release fence; the claim "
                  "continues that release sequence")
mutant("clear_default_acquire", BITMAP, "try_clear", "acquire becomes relaxed, where the caller names no order",
       "bool try_clear(std::uint32_t position, Order order = Order::acquire)",
       "bool try_clear(std::uint32_t position, Order order = Order::relaxed)")
mutant("set_default_release", BITMAP, "set", "release becomes relaxed, where the caller names no order",
       "void set(std::uint32_t position, Order order = Order::release)",
       "void set(std::uint32_t position, Order order = Order::relaxed)")
mutant("clear_waiting_acquire", BITMAP, "clear", "acquire becomes relaxed, where the caller names no order",
       "void clear(std::uint32_t position, Order order = Order::acquire)",
       "void clear(std::uint32_t position, Order order = Order::relaxed)")
mutant("tally_read_fence", TALLY, "read", "the acquire fence is dropped", "    Atomics::fence(Order::acquire);\n", "")

# --- The protocol of the slots ---

mutant("invalidate_keeps", BLOCKS, "invalidate", "slots taken in vain are not given back",
       "slots[block].fetch_and(before, Order::release);", "slots[block].load(Order::relaxed);")
mutant("invalidate_paper_order", BLOCKS, "invalidate", "slots taken in vain are given back before that is settled",
       "      settle_filled(block, type, warp_id);\n"
       "      // release: as in release_slots.\n"
       "      const std::uint64_t found = slots[block].fetch_and(before, Order::release);\n",
       "      const std::uint64_t found = slots[block].fetch_and(before, Order::release);\n"
       "      settle_filled(block, type, warp_id);\n")
mutant("invalidate_once", BLOCKS, "invalidate", "a block emptied while its slots were taken in vain is not closed",
       "      if ((found & before) != 0) return false;  // else", "      return false;  // else")
mutant("invalidate_unlisted", BLOCKS, "invalidate", "the block is not listed after slots taken in vain are given back",
       "      if (found == kAllSlots) types[type].active.set(block, Order::relaxed);  // as in release_slots\n", "")
TOKEN = "    token[block].store(token_of(type), Atomics::kCounted);\n"
FENCE = "    Atomics::fence(Order::release);\n"
CREATED_COMMENT = (
    "    // The fence pairs with the acquire of a search (Tally::read): a search that sees objects of the block counted, here\n"
    "    // or by a thread that takes slots after the store below, sees that the block is counted as open.\n")
CREATED = "    types[type].created.add(block, number_of(mine), Order::relaxed);\n"
SLOTS_COMMENT = (
    "    // The fence pairs with the acquire in take_slots and the fence in reserve_half: a thread that gets a slot sees the\n"
    "    // type, the token, the allocated bit, and that the block is counted as open.\n")
SLOTS = "    slots[block].store(mine, Atomics::kFenced);\n"
ABOVE = "    const std::uint64_t above = types[type].allocated.begin_set_above(block, before);\n"
REPLACE = "    replace_current(block, type, warp_id, want == kHalf ? kHalfFree : 0);\n"
OPENED = TOKEN + FENCE + CREATED_COMMENT + CREATED + SLOTS_COMMENT + SLOTS + ABOVE + REPLACE
FINISH = "    types[type].allocated.finish_set(block, before, above, Order::relaxed);\n"
SETTLE = "    if (mine == kAllSlots) settle_filled(block, type, warp_id);\n"

mutant("open_slots_first", BLOCKS, "open", "the slots are opened before the token is there",
       OPENED, FENCE + CREATED + SLOTS + TOKEN + ABOVE + REPLACE)
mutant("open_token_last", BLOCKS, "open", "the token is there only after the block is the warp's current one",
       OPENED, FENCE + CREATED + SLOTS + ABOVE + REPLACE + TOKEN)
mutant("open_current_first", BLOCKS, "open", "the block is the warp's current one before the fence",
       OPENED, TOKEN + REPLACE + FENCE + CREATED + SLOTS + ABOVE,
       equivalent="in the checker, where the token is a release (kCounted) and so is there before anything that follows in the "
                  "program; the order is for GPUs, where it is relaxed")
mutant("open_token_untyped", BLOCKS, "open", "the token says another type",
       TOKEN, "    token[block].store(token_of(0), Atomics::kCounted);\n", scenarios=["displace_types"])
mutant("open_without_token", BLOCKS, "open", "the block gets no token", TOKEN, "")
mutant("open_not_current", BLOCKS, "open", "the block does not become the warp's current one", REPLACE, "")
mutant("open_hides_above", BLOCKS, "open", "the bits above the one in `allocated` are not settled",
       ABOVE + REPLACE + FINISH, REPLACE)
mutant("open_not_settled", BLOCKS, "open", "an opener who fills the block does not settle that", SETTLE, "")
mutant("open_settles_first", BLOCKS, "open", "an opener who fills the block settles that before the block is current",
       REPLACE + FINISH + SETTLE, SETTLE + REPLACE + FINISH,
       equivalent="the entry then names a full block without a token: a stale hint like any other")
mutant("reserve_all_wanted", BLOCKS, "reserve", "slots that somebody else got are handed out too",
       "if (owner == type) return got;\n    release_slots(block, owner, got, warp_id);  // reopened",
       "if (owner == type) return mask;\n    release_slots(block, owner, got, warp_id);  // reopened")
mutant("reserve_any_type", BLOCKS, "reserve", "the type is not checked after reserving",
       "if (owner == type) return got;\n    release_slots(block, owner, got, warp_id);  // reopened",
       "return got;\n    release_slots(block, owner, got, warp_id);  // reopened")
mutant("half_any_type", BLOCKS, "reserve_half", "the type is not checked after reserving",
       "if (owner == type) return got;\n    release_slots(block, owner, got, warp_id);  // as in reserve",
       "return got;\n    release_slots(block, owner, got, warp_id);  // as in reserve")
mutant("half_all_wanted", BLOCKS, "reserve_half", "slots that somebody else got are handed out too",
       "    const std::uint64_t got = kUpperHalf & ~before;\n", "    const std::uint64_t got = kUpperHalf;\n")
mutant("half_unlisted", BLOCKS, "reserve_half", "a block that loses its token without being filled is not listed",
       "    if (!has_filled) list_owned(block, owned);\n", "    if (!has_filled && got == 0) list_owned(block, owned);\n")
mutant("half_in_vain_unlisted", BLOCKS, "reserve_half", "nor is one of which there was nothing to have",
       "    if (!has_filled) list_owned(block, owned);\n", "    if (!has_filled && got != 0) list_owned(block, owned);\n")
mutant("half_listed_always", BLOCKS, "reserve_half", "a block that it fills is listed, too",
       "    if (!has_filled) list_owned(block, owned);\n", "    list_owned(block, owned);\n")
HALF_SETTLED = ("    if (has_filled) settle_filled(block, owner, warp_id, owned != 0 || take_token(block, Order::relaxed) != 0);\n")
mutant("half_not_settled", BLOCKS, "reserve_half", "a thread that takes the last slots does not settle it", HALF_SETTLED, "")
mutant("half_takes_token_anew", BLOCKS, "reserve_half",
       "a thread that has filled the block looks for the token again, even if it has it",
       HALF_SETTLED, "    if (has_filled) settle_filled(block, owner, warp_id);\n")
HALF_SLOTS = "    const std::uint64_t before = slots[block].fetch_or(kUpperHalf, Atomics::kFencedLater);\n"
HALF_TOKEN = "    const std::uint32_t owned = take_token(block, Atomics::kFencedLater);\n"
mutant("half_token_first", BLOCKS, "reserve_half", "it asks for the token before it asks for the slots",
       HALF_SLOTS + HALF_TOKEN, HALF_TOKEN + HALF_SLOTS,
       equivalent="both are under way together, so a GPU may do it")
mutant("half_trusts_first_look", BLOCKS, "reserve_half",
       "the same, and a thread that has filled the block does not look for the token again",
       HALF_SLOTS + HALF_TOKEN, HALF_TOKEN + HALF_SLOTS)
MUTANTS[-1]["replace_also"] = (HALF_SETTLED, "    if (has_filled) settle_filled(block, owner, warp_id, owned != 0);\n")
mutant("reserve_not_settled", BLOCKS, "reserve", "a thread that takes the last slot does not settle it",
       "    if ((before | got) == kAllSlots) settle_filled(block, owner, warp_id);\n", "")
mutant("filled_stays_active", BLOCKS, "settle_filled", "a full block stays listed as active",
       "      types[type].active.clear(block, Order::relaxed);\n", "")
mutant("filled_keeps_token", BLOCKS, "settle_filled", "a full current block keeps its token",
       "warp_id, take_token(block, Order::relaxed) != 0);\n", "warp_id, token[block].load(Order::relaxed) != 0);\n")
mutant("forget_by_store", BLOCKS, "forget", "the entry is overwritten whatever it has become",
       "    entry.compare_exchange(otherwise, kNoPosition, Order::relaxed);\n",
       "    entry.store(kNoPosition, Order::relaxed);\n", scenarios=["forget_shared"])
mutant("forget_in_steps", BLOCKS, "forget", "the entry is looked at and overwritten in two steps",
       "    entry.compare_exchange(expected, kNoPosition, Order::relaxed);\n",
       "    if (entry.load(Order::relaxed) == expected) entry.store(kNoPosition, Order::relaxed);\n",
       scenarios=["forget_shared"])
mutant("forget_nothing", BLOCKS, "settle_filled", "a full block stays its warp's current one",
       "      forget(block, type, warp_id);\n", "",
       equivalent="the entry is a hint: a thread that reads it finds no slot, and one that replaces it finds no token")
mutant("first_release_unlisted", BLOCKS, "release_slots", "a block that is no longer full is not listed",
       "    if (before == kAllSlots) {\n"
       "      types[type].active.set(block, Order::relaxed);  // relaxed: the release above is what others wait for\n"
       "    }\n", "")
mutant("adopted_by_store", BLOCKS, "adopt_instead", "a block found by a search overwrites whatever is the warp's current one",
       "    replace_current(block, type, warp_id, 0);\n",
       "    types[type].current[warp_entry(warp_id)].store(block, Order::relaxed);\n", scenarios=["adopt_instead"])
mutant("adopted_over_another", BLOCKS, "adopt", "a block found by a search overwrites what another warp has put there meanwhile",
       "types[type].current[warp_entry(warp_id)].compare_exchange(expected, block, Order::relaxed);",
       "types[type].current[warp_entry(warp_id)].store(block, Order::relaxed);", scenarios=["adopt_shared"])
mutant("displaced_unlisted", BLOCKS, "replace_current", "a displaced block is not listed",
       "list_owned(old, take_token(old, Order::acquire));", "take_token(old, Order::acquire);")
mutant("displaced_old_type", BLOCKS, "replace_current", "a displaced block is listed under the type it had",
       "list_owned(old, take_token(old, Order::acquire));",
       "if (take_token(old, Order::acquire) != 0) types[type].active.set(old, Order::release);")
mutant("displaced_token_read", BLOCKS, "take_token", "the token is read and reset in two steps",
       "return token[block].exchange(0, order);",
       "const std::uint32_t taken = token[block].load(order); if (taken != 0) token[block].store(0, order == Order::acquire ? "
       "Order::relaxed : order); return taken;")

# --- Blocks and pages ---

mutant("page_typed_late", PAGES, "first_block_of_free_page", "the other blocks are published before the page's type",
       "    page_type[page].store(static_cast<std::uint32_t>(type), Order::relaxed);\n", "")
MUTANTS[-1]["replace_also"] = ("    }\n    return block;\n",
                               "    }\n    page_type[page].store(static_cast<std::uint32_t>(type), Order::relaxed);\n"
                               "    return block;\n")
mutant("page_untyped", PAGES, "first_block_of_free_page", "the page keeps the type it had",
       "    page_type[page].store(static_cast<std::uint32_t>(type), Order::relaxed);\n", "")
mutant("one_block_page", PAGES, "first_block_of_free_page", "the other blocks are listed even if there are none",
       "    if (types[type].blocks_per_page > 1) {\n", "    {\n")

HAD_TOKEN = "    const bool had_token = take_token(block, Order::relaxed) != 0;\n"
ACTIVE = "    const std::uint64_t active = state.active.begin_clear(block, Order::relaxed);\n"
CLEAR_ALLOCATED = "state.allocated.begin_clear(block, Order::relaxed)"
ALLOCATED = f"    const std::uint64_t allocated = {CLEAR_ALLOCATED};\n"
ACTIVE_ABOVE = "    const std::uint64_t active_above = state.active.begin_clear_above(block, active);\n"
ALLOCATED_ABOVE = "    const std::uint64_t allocated_above = state.allocated.begin_clear_above(block, allocated);\n"
AWAIT = "    if (!Bits::has(active, block) && !had_token) state.active.clear(block, Order::relaxed);\n"
FINISH_ACTIVE = "    state.active.finish_clear(block, active, active_above);\n"
FINISH_ALLOCATED = "    state.allocated.finish_clear(block, allocated, allocated_above);\n"
CLOSE_FENCE = "    Atomics::fence(Order::acq_rel);\n"
NEW_PLACE = "    (has_page ? pages_freed : state.emptied).add(block, 1, Order::relaxed);\n"
OLD_PLACE = "    state.closed.add(block, 1, Order::relaxed);\n"
CLAIM = "      if (claim_page(block, type)) free_page(block, type);\n"
CLOSED = CLAIM + "    }\n"

mutant("closed_keeps_token", BLOCKS, "close", "a closed current block keeps its token",
       HAD_TOKEN, "    const bool had_token = token[block].load(Order::relaxed) != 0;\n")
mutant("closed_stays_active", BLOCKS, "close", "a closed block stays listed as active",
       ACTIVE, "    const std::uint64_t active = ~std::uint64_t{0};\n")
mutant("closed_clears_once", BLOCKS, "close", "the bit in `active` is cleared only by the loop that waits",
       ACTIVE, "    const std::uint64_t active = 0;\n",
       equivalent="the bit is there or on its way unless there was a token, and then it is neither")
mutant("closed_not_awaited", BLOCKS, "close", "a replacer that is about to list the block is not waited for",
       AWAIT, "")
mutant("closed_awaits_always", BLOCKS, "close", "the thread that took the token waits for a bit in `active`, too",
       AWAIT, AWAIT.replace(" && !had_token", ""))
mutant("closed_active_above", BLOCKS, "close", "the bits above the one in `active` are not settled",
       ACTIVE_ABOVE, "")
MUTANTS[-1]["replace_also"] = (FINISH_ACTIVE, "")
mutant("closed_stays_allocated", BLOCKS, "close", "a closed block stays allocated",
       CLEAR_ALLOCATED, "std::uint64_t{0}")
mutant("closed_allocated_above", BLOCKS, "close", "the bits above the one in `allocated` are not settled",
       ALLOCATED_ABOVE, "")
MUTANTS[-1]["replace_also"] = (FINISH_ALLOCATED, "")
mutant("closed_late_allocated", BLOCKS, "close", "a block leaves `allocated` only after it is listed as empty",
       ALLOCATED + ACTIVE_ABOVE + ALLOCATED_ABOVE,
       ACTIVE_ABOVE + "    const std::uint64_t allocated = 0, allocated_above = 0;\n", scenarios=["blocks_given_back"])
MUTANTS[-1]["replace_also"] = (CLOSED, f"{CLOSED}    state.allocated.try_clear(block, Order::relaxed);\n")
mutant("closed_late_token", BLOCKS, "close", "the token is taken only after the block is listed as empty",
       HAD_TOKEN, "    const bool had_token = token[block].load(Order::relaxed) != 0;\n")
MUTANTS[-1]["replace_also"] = (CLOSED, f"{CLOSED}    take_token(block, Order::relaxed);\n")
mutant("closed_counted_early", BLOCKS, "close", "the block is no longer counted as open before the fence",
       CLOSE_FENCE + OLD_PLACE, OLD_PLACE + CLOSE_FENCE)
mutant("closed_still_counted", BLOCKS, "close", "a closed block still counts as open", OLD_PLACE, "")
mutant("closed_not_counted", BLOCKS, "close", "a closed block is not counted as a free page, or an empty block", NEW_PLACE, "")
mutant("closed_counted_late", BLOCKS, "close", "it is counted there only when it is not counted as open any more",
       NEW_PLACE, "")
MUTANTS[-1]["replace_also"] = (OLD_PLACE, OLD_PLACE + NEW_PLACE)
mutant("page_left_early", PAGES, "free_page", "its blocks are no longer counted as empty before it counts as free",
       "    pages_freed.add(block, 1, Order::relaxed);\n    // Pairs", "    // Pairs")
MUTANTS[-1]["replace_also"] = ("    state.reused.add(block, state.blocks_per_page, Order::relaxed);\n",
                               "    state.reused.add(block, state.blocks_per_page, Order::relaxed);\n"
                               "    pages_freed.add(block, 1, Order::relaxed);\n")
mutant("page_blocks_still_counted", PAGES, "free_page", "its blocks still count as empty ones",
       "    state.reused.add(block, state.blocks_per_page, Order::relaxed);\n", "")
mutant("emptied_not_counted", PAGES, "first_block_of_free_page", "blocks of a page that are listed as empty are not counted",
       "      types[type].emptied.add(block, types[type].blocks_per_page - 1, Order::relaxed);\n", "")
mutant("closed_unlisted", BLOCKS, "close", "a closed block is not listed as empty",
       "      state.empty.set(block, Atomics::kFenced);\n", "")
mutant("page_never_free", BLOCKS, "close", "a page whose blocks are all empty is not claimed", CLAIM, "")
MASK = "page_mask(block, type)"
ALL_EMPTY = f"      if ({MASK} == (state.empty.container(0, block / kContainerBits) & {MASK})) "
mutant("page_not_claimed", BLOCKS, "close", "the empty blocks of a page that becomes free stay listed",
       CLAIM, ALL_EMPTY + "free_page(block, type);\n")
mutant("page_free_early", BLOCKS, "close", "a page becomes free before its empty blocks are claimed",
       CLAIM, f"{ALL_EMPTY}{{\n        free_page(block, type);\n        state.empty.claim_all(block, {MASK});\n      }}\n")
WIDE = ["claim_wide_page", "claim_wide_page_open"]
mutant("claim_wide_gives_up", PAGES, "claim_page", "a thread that gives containers back does not look again",
       "    while (is_page_empty(first, end, type)) {\n", "    if (is_page_empty(first, end, type)) {\n", WIDE)
mutant("claim_wide_keeps", PAGES, "claim_page", "containers that were claimed in vain are not given back",
       "      list_blocks(first, at, type);\n", "", WIDE)
mutant("claim_wide_first", PAGES, "claim_page", "only the first container is claimed",
       "      while (at < end && empty.claim_all(at, page_mask(at, type))) at += kContainerBits;\n",
       "      if (empty.claim_all(at, page_mask(at, type))) at = end;\n", WIDE)
mutant("claim_wide_looks_by_loads", BITMAP, "has_all", "it is a load instead of an atomic that changes nothing",
       "(word(0, position / kContainerBits).fetch_or(0, Order::acq_rel) & mask)",
       "(word(0, position / kContainerBits).load(Order::acquire) & mask)", WIDE)
mutant("wide_page_unlisted", PAGES, "first_block_of_free_page", "only the blocks of the first container are listed",
       "      list_blocks(block + kContainerBits, block + types[type].blocks_per_page, type);\n", "", WIDE)

# --- Refusals ---

DELETED = "  types[type].deleted.add(warp_id, number_of(mask), Order::relaxed);\n"
RELEASE = ("  if (taken == mask && mask != kAllSlots) {\n    release_last(block, type, mask, warp_id);\n"
           "  } else {\n    release_slots(block, type, mask, warp_id);\n  }\n")
mutant("deleted_late", HEAP, "release", "deleted objects are counted after their slots are free",
       DELETED + RELEASE, RELEASE + DELETED,
       scenarios=["moving_slots"])
mutant("created_early", SEARCH, "from_hints", "objects are counted as created before their slots are taken",
       "    Reservation found = from_container(type, want, warp_id, {container * kContainerBits, listed}, start);\n"
       "    if (found.slots == 0 && current != kNoPosition) {\n",
       "    types[type].created.add(warp_id, static_cast<std::uint64_t>(want), Atomics::kCounted);\n"
       "    Reservation found = from_container(type, want, warp_id, {container * kContainerBits, listed}, start);\n"
       "    if (found.slots == 0 && current != kNoPosition) {\n")
MUTANTS[-1]["replace_also"] = (
    "reserve(block, type, want, warp_id), {}};\n    }\n    return counted(type, found);",
    "reserve(block, type, want, warp_id), {}};\n    }\n"
    "    types[type].created.add(warp_id, this->number_of(found.slots) - static_cast<std::uint64_t>(want), Atomics::kCounted);\n"
    "    return found;")
OPEN_BLOCKS = "    types[type].opened.add(block, 1, Order::relaxed);\n"

mutant("opened_counted_late", BLOCKS, "open", "an opener counts its objects after the block is open",
       CREATED, "",
       equivalent="where counts release (kCounted on the host) a thread that knows of a later object in the block knows what the "
                  "opener knew as well; the order is for GPUs, where they do not")
MUTANTS[-1]["replace_also"] = (SLOTS, SLOTS + CREATED)
mutant("open_counted_late", BLOCKS, "open", "the block counts as open only after the fence", OPEN_BLOCKS, "")
MUTANTS[-1]["replace_also"] = (CREATED, OPEN_BLOCKS + CREATED)
mutant("open_created_early", BLOCKS, "open", "an opener counts its objects before the fence", CREATED, "")
MUTANTS[-1]["replace_also"] = (OPEN_BLOCKS, OPEN_BLOCKS + CREATED)
mutant("open_not_counted", BLOCKS, "open", "an open block is not counted", OPEN_BLOCKS, "")
TAKEN = "    count_taken(type, was_empty, block, 1);\n"
mutant("taken_counted_early", SEARCH, "from_new_block", "a block is no longer counted as free before it is open",
       TAKEN, "")
MUTANTS[-1]["replace_also"] = ("    const Reservation found = {block, open(block, type, want, warp_id), {}};\n",
                               TAKEN + "    const Reservation found = {block, open(block, type, want, warp_id), {}};\n")
mutant("taken_not_counted", SEARCH, "from_new_block", "a block that is open still counts as free", TAKEN, "")
mutant("taken_elsewhere", BLOCKS, "count_taken", "an empty block is counted as a free page that was taken",
       "(were_empty ? types[type].reused : pages_taken)", "pages_taken")
KEPT = "return proof == 1 + freed + types[type].deleted.read();"
ASKED = "    if (is_still_full(type)) return Verdict::full;\n"
COUNTS = "if ((opened - closed) * kSlots != created - deleted) {"
PLACES = "if (emptied != reused || freed != taken) return Verdict::unsettled;"

mutant("search_ignores_counts", FULLNESS, "search_exhaustively", "objects are not counted", COUNTS, "if (false) {")
mutant("search_counts_late", FULLNESS, "search_exhaustively", "created objects are read after deleted ones",
       COUNTS, COUNTS.replace("created", "state.created.read()"), scenarios=["moving_slot"])
mutant("search_closed_late", FULLNESS, "search_exhaustively", "closed blocks are read after opened ones",
       COUNTS, COUNTS.replace("closed", "state.closed.read()"))
mutant("search_reused_late", FULLNESS, "search_exhaustively", "blocks taken from the empty ones are read after those that came",
       PLACES, PLACES.replace("reused", "state.reused.read()"))
mutant("search_taken_late", FULLNESS, "search_exhaustively", "pages taken are read after those that became free",
       PLACES, PLACES.replace("taken", "pages_taken.read()"))
mutant("search_freed_early", FULLNESS, "search_exhaustively", "pages that became free are read at the beginning",
       PLACES, PLACES.replace("freed", "freed_before"))
MUTANTS[-1]["replace_also"] = (ASKED, ASKED + "    const std::uint64_t freed_before = pages_freed.read();\n")
mutant("search_opened_early", FULLNESS, "search_exhaustively", "opened blocks are read at the beginning",
       "    const std::uint64_t opened = state.opened.read();\n", "")
MUTANTS[-1]["replace_also"] = ("    const std::uint64_t created = state.created.read();\n",
                               "    const std::uint64_t opened = state.opened.read();\n"
                               "    const std::uint64_t created = state.created.read();\n")
mutant("search_misses_empty", FULLNESS, "search_exhaustively", "empty blocks do not count",
       PLACES, PLACES.replace("emptied != reused || ", ""))
mutant("search_misses_pages", FULLNESS, "search_exhaustively", "free pages do not count",
       PLACES, PLACES.replace(" || freed != taken", ""))
mutant("proof_ignores_deleted", FULLNESS, "is_still_full", "a kept proof outlives deletions",
       KEPT, "return proof >= 1 + freed;")
mutant("proof_ignores_pages", FULLNESS, "is_still_full", "a kept proof outlives pages that become free",
       KEPT, "return proof != 0 && proof <= 1 + freed + types[type].deleted.read();")
mutant("proof_read_late", FULLNESS, "is_still_full", "the kept proof is read after the counts",
       KEPT, "const std::uint64_t stamp = 1 + freed + types[type].deleted.read();\n"
       "    return full_at[type].load(Order::acquire) == stamp;",
       equivalent=NO_STALE_PAGE)
mutant("fetched_silently", SEARCH, "from_new_block", "the group is not told that its page has come",
       "{}};\n    if (fetches_page) fetching(type, warp_id).store(0, Order::relaxed);\n", "{}};\n")
mutant("fetching_in_vain", SEARCH, "from_new_block", "the group is not told that no page has come",
       "      if (fetches_page) fetching(type, warp_id).store(0, Order::relaxed);\n", "")
mutant("pages_as_they_please", SEARCH, "from_new_block", "types with one block per page do not wait for each other's pages",
       "shares = shares && has_few", "shares = shares && state.blocks_per_page > 1 && has_few", scenarios=[LOCKSTEP])
mutant("fetching_twice", SEARCH, "fetches", "a warp that finds an empty block instead of getting a page says that it gets one",
       "    fetching(type, warp_id).store(0, Order::relaxed);  // the last", "    // the last")
mutant("fetching_for_ever", SEARCH, "retry_allocate", "a warp waits for another one's page in all rounds",
       "try_allocate(type, want, warp_id, round < kSharingRounds)", "try_allocate(type, want, warp_id, true)",
       scenarios=[DISTURBED])
mutant("last_by_store", BLOCKS, "release_last", "slots are looked at and taken in two steps",
       "if (slots[block].compare_exchange(expected, kAllSlots, Atomics::kFencedBoth)) {",
       "if (slots[block].load(Order::relaxed) == expected) {\n      slots[block].store(kAllSlots, Order::relaxed);")
mutant("last_not_given_back", BLOCKS, "release_last", "slots are kept when the block is not closed",
       "      release_slots(block, type, mask, warp_id);\n", "")
mutant("last_of_full", HEAP, "release", "a full block, which is listed nowhere, is closed at once, too",
       "if (taken == mask && mask != kAllSlots) {", "if (taken == mask) {")
mutant("last_without_looking", BLOCKS, "release_last", "it is taken for granted that nobody else has slots",
       "if (slots[block].compare_exchange(expected, kAllSlots, Atomics::kFencedBoth)) {",
       "if (slots[block].exchange(kAllSlots, Atomics::kFencedBoth) != 0) {")

# --- Bitmaps ---

mutant("clear_by_store", BITMAP, "begin_clear", "the container is read and written in two steps",
       "    return word(0, position / kContainerBits).fetch_and(~bit(position), order);\n",
       "    const std::uint64_t before = word(0, position / kContainerBits).load(Order::relaxed);\n"
       "    word(0, position / kContainerBits).store(before & ~bit(position), Order::release);\n    return before;\n")
mutant("clear_leaves_above", BITMAP, "try_clear", "an emptied container leaves the bit above set",
       "    if (before == bit(position)) settle_emptied(position / kContainerBits);\n", "")
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
mutant("set_hides", BITMAP, "set", "the bit above is not set",
       "if (before == 0 || has(before, position)) settle_set", "if (has(before, position)) settle_set")
mutant("set_does_not_wait", BITMAP, "set", "a bit that is set already is not waited for",
       "if (before == 0 || has(before, position)) settle_set", "if (before == 0) settle_set")
mutant("set_in_parts_stops", BITMAP, "finish_set", "the levels above the second are not settled",
       "      switch_on(2, index / kContainerBits);\n", "")
mutant("set_in_parts_does_not_wait", BITMAP, "finish_set", "a bit above that is set already is not waited for",
       "      switch_on(1, index);  // a thread is about to clear it\n", "")
mutant("clear_in_parts_stops", BITMAP, "finish_clear", "the levels above the second are not settled",
       "      switch_off(2, index / kContainerBits);\n", "")
mutant("clear_in_parts_does_not_wait", BITMAP, "finish_clear", "a bit above that is not set yet is not waited for",
       "      switch_off(1, index);  // a thread is about to set it\n", "")
mutant("set_hides_after_wait", BITMAP, "settle_set", "a thread that had to wait for the bit does not set the one above",
       "      before = begin_set(position, order);\n    }\n    if (before == 0 &&",
       "      before = begin_set(position, order);\n      if ((before & bit(position)) == 0) return;\n    }\n"
       "    if (before == 0 &&")
mutant("set_above_does_not_wait", BITMAP, "switch_on", "a bit above that is set already is not waited for",
       "      while (((before = word(level, position / kContainerBits).fetch_or(mask, Order::relaxed)) & mask) != 0) {\n"
       "        Atomics::pause();\n      }\n",
       "      before = word(level, position / kContainerBits).fetch_or(mask, Order::relaxed);\n")
mutant("set_settles_upwards", BITMAP, "switch_on", "the levels above the second are not settled",
       "      if (before != 0) return;\n", "      return;\n")
mutant("clear_does_not_wait", BITMAP, "switch_off", "a bit above that is not set yet is not waited for",
       "      while (((before = word(level, position / kContainerBits).fetch_and(~mask, Order::relaxed)) & mask) == 0) {\n"
       "        Atomics::pause();\n      }\n",
       "      before = word(level, position / kContainerBits).fetch_and(~mask, Order::relaxed);\n")
mutant("clear_gives_up", BITMAP, "clear", "a bit that is not set yet is not waited for",
       "    if (try_clear(position, order)) return;\n    do {\n      Atomics::pause();\n"
       "    } while (!try_clear(position, order));\n", "    try_clear(position, order);\n")
mutant("clear_settles_upwards", BITMAP, "switch_off", "the levels above the second are not settled",
       "      if (before != mask) return;\n      position /= kContainerBits;\n    }\n  }\n\n  Word* words_;",
       "      return;\n    }\n  }\n\n  Word* words_;")

# --- Whole blocks ---

OPEN_FULL = "  open_full(taken, type);\n"
COUNT_BLOCKS = "  count_taken(type, were_empty, taken.first, number_of(taken.bits));\n"
mutant("blocks_taken_early", HEAP, "allocate_blocks", "blocks are no longer counted as free before they are open",
       OPEN_FULL + COUNT_BLOCKS, COUNT_BLOCKS + OPEN_FULL, scenarios=["blocks_of_free_page"])
mutant("blocks_still_free", HEAP, "allocate_blocks", "open blocks still count as free", COUNT_BLOCKS, "",
       scenarios=["blocks_of_two"])
mutant("blocks_of_pages", SEARCH, "take_closed_blocks", "empty blocks are counted as pages that were taken",
       "      were_empty = true;\n", "")
mutant("blocks_not_allocated", BLOCKS, "open_full", "the blocks do not become allocated",
       "    types[type].allocated.set_many(blocks.first, blocks.bits);\n", "", scenarios=["blocks_of_two"])
mutant("blocks_not_counted_open", BLOCKS, "open_full", "open blocks are not counted",
       "    for_each_block(blocks, [&](std::uint32_t block) { types[type].opened.add(block, 1, Order::relaxed); });\n",
       "", scenarios=["blocks_of_two"])
mutant("blocks_objects_not_counted", BLOCKS, "open_full", "their objects are not counted",
       "    types[type].created.add(blocks.first, number_of(blocks.bits) * kSlots, Order::relaxed);\n", "",
       scenarios=["blocks_of_two"])
mutant("blocks_without_type", SEARCH, "take_closed_blocks", "the pages do not get a type",
       "        page_type[block].store(static_cast<std::uint32_t>(type), Order::relaxed);\n", "        (void)block;\n",
       scenarios=["blocks_of_types"])
mutant("blocks_fence", BLOCKS, "open_full", "the fence before the count of objects is dropped",
       "    Atomics::fence(Order::release);\n    types[type].created.add(blocks.first", "    types[type].created.add(blocks.first")
mutant("some_all_wanted", BITMAP, "clear_some", "bits that others have cleared count as well",
       "    return {found.first, before & mask};\n", "    return {found.first, mask};\n", scenarios=["blocks_of_two"])
mutant("some_leaves_above", BITMAP, "clear_some", "an emptied container leaves the bit above set",
       "    if (before != 0 && (before & ~mask) == 0) settle_emptied(found.first / kContainerBits);\n", "")
mutant("some_settles_twice", BITMAP, "clear_some", "a thread that finds the container empty settles it, too",
       "    if (before != 0 && (before & ~mask) == 0) settle_emptied(found.first / kContainerBits);\n",
       "    if ((before & ~mask) == 0) settle_emptied(found.first / kContainerBits);\n")
weaker("some_acquire", BITMAP, "clear_some", "fetch_and(~mask, <Order::acquire>);")

# --- Objects on lattices: their orders are all relaxed ---

FREE = "    const std::uint64_t free = places.mask & ~seen[places.word];\n"
CLAIM = "    return free & ~claims[places.word].fetch_or(free, Order::relaxed);\n"
DEPART = "    return from.mask & ~departed[from.word].fetch_or(from.mask, Order::relaxed);\n"
HOPELESS = "if ((departed[from.word].load(Order::relaxed) & from.mask) != 0 || claim(to) == 0) return false;\n"
UNCLAIM = "      claims[to.word].fetch_and(~to.mask, Order::relaxed);  // no object has been written there\n"
DEPARTURE = "    if (depart(from) == 0) {\n" + UNCLAIM + "      return false;\n    }\n"
SEES = "    seen[i] = (seen[i] | came) & ~went;\n"
SHARED = "    if (shares_claims()) claims[i].fetch_and(~went, Order::relaxed);\n"
mutant("place_overwrites_seen", OCCUPANCY, "claim", "objects that are seen do not count", FREE,
       "    const std::uint64_t free = places.mask;\n", scenarios=["place_eaten"])
mutant("place_claim_in_steps", OCCUPANCY, "claim", "places are looked at and claimed in two steps", CLAIM,
       "    const std::uint64_t got = free & ~claims[places.word].load(Order::relaxed);\n"
       "    claims[places.word].fetch_or(got, Order::relaxed);\n    return got;\n", scenarios=["place_taken_twice"])
mutant("place_claim_lost", OCCUPANCY, "claim", "the word is read and written in two steps", CLAIM,
       "    const std::uint64_t before = claims[places.word].load(Order::relaxed);\n"
       "    claims[places.word].store(before | free, Order::relaxed);\n    return free & ~before;\n",
       scenarios=["place_one_word"])
mutant("place_claim_any", OCCUPANCY, "claim", "places are free only if no place of the word is claimed", CLAIM,
       "    return claims[places.word].fetch_or(free, Order::relaxed) == 0 ? free : 0;\n", scenarios=["place_one_word"])
mutant("place_claims_all", OCCUPANCY, "claim", "places that others have claimed count as well", CLAIM,
       "    return (free & ~claims[places.word].fetch_or(free, Order::relaxed)) != 0 ? free : 0;\n",
       scenarios=["place_sets"])
mutant("place_claims_apart", OCCUPANCY, "claim", "classes that exclude each other claim places in words of their own", CLAIM,
       CLAIM.replace("claims", "arrived"), scenarios=["place_either_class"])
mutant("place_departs_twice", OCCUPANCY, "depart", "every caller is the first one", DEPART,
       "    departed[from.word].fetch_or(from.mask, Order::relaxed);\n    return from.mask;\n",
       scenarios=["place_eaten_twice"])
mutant("place_depart_in_steps", OCCUPANCY, "depart", "the bit is looked at and set in two steps", DEPART,
       "    const std::uint64_t got = from.mask & ~departed[from.word].load(Order::relaxed);\n"
       "    departed[from.word].fetch_or(got, Order::relaxed);\n    return got;\n", scenarios=["place_eaten_twice"])
mutant("place_depart_lost", OCCUPANCY, "depart", "the word is read and written in two steps", DEPART,
       "    const std::uint64_t before = departed[from.word].load(Order::relaxed);\n"
       "    departed[from.word].store(before | from.mask, Order::relaxed);\n    return from.mask & ~before;\n",
       scenarios=["place_one_word"])
mutant("place_departs_first", OCCUPANCY, "move", "an object departs before its new place is claimed",
       HOPELESS + DEPARTURE, "if (depart(from) == 0 || claim(to) == 0) return false;\n", scenarios=["place_chase"])
mutant("place_hopeless_claim", OCCUPANCY, "move", "a place is claimed for an object that the thread knows to have departed",
       HOPELESS, "if (claim(to) == 0) return false;\n", scenarios=["place_hopeless_move"])
mutant("place_keeps_claim", OCCUPANCY, "move", "a move that fails keeps its claim", UNCLAIM, "",
       scenarios=["place_moved_twice"])
mutant("place_clears_word", OCCUPANCY, "move", "a move that fails takes back the claims of others, too", UNCLAIM,
       "      claims[to.word].fetch_and(0, Order::relaxed);\n", scenarios=["place_moved_twice"])
mutant("place_moves_departed", OCCUPANCY, "move", "a move whose object has departed succeeds", DEPARTURE,
       "    depart(from);\n", scenarios=["place_moved_twice"])
mutant("place_unclaims_moved", OCCUPANCY, "move", "a move whose object has departed takes back its claim and succeeds",
       DEPARTURE, DEPARTURE.replace("      return false;\n", ""), scenarios=["place_moved_twice"])
mutant("place_arrival_unknown", OCCUPANCY, "move", "an object that is moved does not arrive, if classes exclude each other",
       "    arrive(to);\n", "", scenarios=["place_exclusive_word"])
mutant("place_creation_unknown", OCCUPANCY, "create", "new objects do not arrive, if classes exclude each other",
       "    if (claimed != 0) arrive({at.word, claimed});\n", "", scenarios=["place_exclusive_word"])
mutant("place_refused_arrive", OCCUPANCY, "create", "objects arrive at all places, if classes exclude each other",
       "arrive({at.word, claimed});", "arrive(at);", scenarios=["place_exclusive_sets"])
mutant("place_seen_wins", OCCUPANCY, "refresh", "what arrived and departed is there", SEES,
       "    seen[i] = (seen[i] & ~went) | came;\n", scenarios=["place_made_and_gone"])
mutant("place_never_departs", OCCUPANCY, "refresh", "what departed is there", SEES, "    seen[i] = seen[i] | came;\n",
       scenarios=["place_eaten"])
mutant("place_arrives_again", OCCUPANCY, "refresh", "what arrived arrives again",
       "    arrived[i].store(0, Order::relaxed);\n", "", scenarios=["place_eaten"])
mutant("place_departs_again", OCCUPANCY, "refresh", "what departed departs again",
       "    departed[i].store(0, Order::relaxed);\n", "", scenarios=["place_eaten"])
mutant("place_refresh_misses", OCCUPANCY, "refresh", "a word in which nothing arrived is skipped",
       "    if ((came | went) == 0) return;\n", "    if (came == 0) return;\n", scenarios=["place_eaten"])
mutant("place_stays_claimed", OCCUPANCY, "refresh", "places stay claimed, if classes exclude each other", SHARED, "",
       scenarios=["place_of_prey"])
mutant("place_frees_all", OCCUPANCY, "refresh", "all claims end, if classes exclude each other", SHARED,
       "    if (shares_claims()) claims[i].store(0, Order::relaxed);\n", scenarios=["place_of_prey"])
