// What two or three threads do in a heap of a few slots: pages, blocks per page of each type, current blocks, what is
// done before the threads start, and the script of each thread.
#include "heap_scenario.h"

namespace dynasoar::test {

namespace {

constexpr Scheduler kRandom = Scheduler::random;
constexpr Scheduler kBound = Scheduler::context_bound;

/// One block.
void add_one_block(std::vector<Entry>& all) {
  all.push_back(heap_entry<1>("allocate_allocate", "two requests for the two slots of the only block", kBound, 1000000,
                              {1, {1}, 1, {}, {{take(0, 0)}, {take(0, 1)}}}));
  all.push_back(heap_entry<1>("allocate_free", "a request while the only object is freed", kRandom, 150000,
                              {1, {1}, 1, {take(0, 0)}, {{take(0, 0)}, {give(0, 1)}}}));
  all.push_back(heap_entry<1>("free_last_allocate", "the same, with current blocks of their own", kRandom, 150000,
                              {1, {1}, 2, {take(0, 0)}, {{take_and_give(0, 1)}, {give(0, 0)}}}));
  all.push_back(heap_entry<1>("free_free", "both slots of a full block are given back", kBound, 1000000,
                              {1, {1}, 1, {take(0, 0), take(0, 0)}, {{give(0, 0)}, {give(1, 1)}}}));
  all.push_back(
      heap_entry<1>("fill_free", "the last slot is taken while the other is given back", kRandom, 150000,
                    {1, {1}, 2, {take(0, 0)}, {{take_and_give(0, 1), take(0, 1)}, {give(0, 0), take_and_give(0, 0)}}}));
  all.push_back(heap_entry<1>(
      "churn_2", "two threads allocate and free, and never lack a slot", kRandom, 150000,
      {1, {1}, 1, {}, {{take_and_give(0, 0), take_and_give(0, 0)}, {take_and_give(0, 1), take_and_give(0, 1)}}}));
  all.push_back(heap_entry<1>(
      "both_slots", "requests for both slots get one or two", kRandom, 150000,
      {1, {1}, 2, {}, {{take_and_give(0, 0, 2), take_and_give(0, 0)}, {take_and_give(0, 1), take_and_give(0, 1, 2)}}}));
}

/// Several blocks of one type.
void add_blocks(std::vector<Entry>& all) {
  const auto twice = [](std::uint32_t warp_id) { return Script(2, take_and_give(0, warp_id)); };
  all.push_back(heap_entry<1>("churn_3", "three threads allocate and free, and never lack a slot", kRandom, 100000,
                              {2, {1}, 2, {}, {twice(0), twice(1), twice(2)}}));
  all.push_back(heap_entry<1>("churn_pages_of_two", "the same in one page of two blocks", kRandom, 100000,
                              {1, {2}, 1, {}, {twice(0), twice(1), twice(2)}}));
  const auto keep_and_free = [](std::uint32_t warp_id) { return Script{take_and_give_around(0, warp_id)}; };
  all.push_back(heap_entry<1>("displace", "openers replace each other's current block", kRandom, 100000,
                              {3, {1}, 1, {}, {keep_and_free(0), keep_and_free(0)}}));
  all.push_back(heap_entry<1>("displace_3", "the same, three of them", kRandom, 100000,
                              {4, {1}, 1, {}, {keep_and_free(0), keep_and_free(0), twice(0)}}));
  all.push_back(heap_entry<1>("displace_shared",
                              "a third opener may displace a block whose opener has just displaced another's", kRandom,
                              100000, {3, {1}, 1, {}, {{take(0, 0, 2)}, {take(0, 1)}, {take(0, 2)}}}));
  all.push_back(heap_entry<1>("forget_shared", "a shared current block is filled while another takes its place",
                              kRandom, 100000, {3, {1}, 1, {take(0, 0)}, {{take(0, 0)}, {take(0, 1)}}}));
  all.push_back(heap_entry<1>("adopt_shared", "a listed block is adopted while another is opened and becomes current",
                              kRandom, 100000,
                              {4, {1}, 1, {take(0, 0, 2)}, {{give(0, 0)}, {take(0, 1)}, {take(0, 2)}}}));
  all.push_back(heap_entry<1>(
      "adopt_instead", "a listed block is adopted in the place of one that another warp has filled, and replaces",
      kRandom, 100000,
      {4, {1}, 1, {take(0, 0), take(0, 0), take(0, 0)}, {{give(0, 0)}, {take(0, 1)}, {take(0, 2), take(0, 2)}}}));
  all.push_back(heap_entry<1>("reclaim_current", "a current block is emptied while its owner allocates", kRandom,
                              100000, {2, {1}, 2, {take(0, 0)}, {twice(0), {give(0, 1), take_and_give(0, 1)}}}));
  all.push_back(
      heap_entry<1>("claim_page", "the two full blocks of a page are emptied", kRandom, 100000,
                    {1, {2}, 1, {take(0, 0, 2), take(0, 0, 2)}, {{give(0, 0)}, {give(1, 1)}, {take_and_give(0, 0)}}}));
  all.push_back(heap_entry<1>("claim_wide_page", "the four full blocks of a page, in two containers, are emptied",
                              kRandom, 100000,
                              {1,
                               {4},
                               2,
                               {take(0, 0, 2), take(0, 0, 2), take(0, 0, 2), take(0, 0, 2)},
                               {{give(0, 0), give(2, 0)}, {give(3, 1), give(1, 1)}}}));
  all.push_back(
      heap_entry<1>("claim_wide_page_open",
                    "the last block of such a page is emptied while others are opened and emptied", kRandom, 100000,
                    {1,
                     {4},
                     3,
                     {take(0, 0, 2), take(0, 0, 2), take(0, 0, 2), take(0, 0, 2), give(0, 0), give(1, 0), give(2, 0)},
                     {{give(3, 0)}, {take_and_give(0, 1, 2)}, {take_and_give(0, 2, 2)}}}));
  all.push_back(heap_entry<1>(
      "share_page", "three requests for blocks in a fresh heap, one of which gets a page for all", kRandom, 100000,
      {2, {2}, 3, {}, {{take_and_give(0, 0, 2)}, {take(0, 1, 2)}, {take_and_give(0, 2)}}}));
  all.push_back(heap_entry<1>(
      "share_block", "three requests that share a current block in a fresh heap; one at a time opens one", kRandom,
      100000, {2, {1}, 1, {}, {{take_and_give(0, 0, 2)}, {take(0, 1, 2)}, {take_and_give(0, 2)}}}));
}

/// The upper half of a block whose opener took the lower one. Blocks have four slots, so that a half is two.
void add_halves(std::vector<Entry>& all) {
  const Script opened{take(0, 0, 2)};
  all.push_back(heap_entry<1, 4>("half_of_the_rest", "the upper half is asked for while a slot of it is taken", kRandom,
                                 100000, {1, {1}, 1, opened, {{take_and_give(0, 0)}, {take_and_give(0, 1, 2)}}}));
  all.push_back(
      heap_entry<1, 4>("half_and_free", "and the lower half is given back", kRandom, 100000,
                       {1, {1}, 1, opened, {{take(0, 0)}, {take(0, 1, 2), take_and_give(0, 1)}, {give(0, 2)}}}));
}

/// Blocks that change their type.
void add_types(std::vector<Entry>& all) {
  all.push_back(heap_entry<2>("change_type", "a request with a stale hint, while the page becomes another type's",
                              kRandom, 150000,
                              {1, {1, 1}, 2, {take(0, 1)}, {{give(0, 0), take_and_give(1, 0)}, {take(0, 1)}}}));
  all.push_back(heap_entry<2>(
      "change_type_back", "and back", kRandom, 100000,
      {1,
       {2, 1},
       2,
       {take(0, 1)},
       {{give(0, 0), take_and_give(1, 0), take_and_give(0, 0)}, {take_and_give(0, 1), take_and_give(1, 1)}}}));
  all.push_back(heap_entry<2>("change_type_3", "three threads and two types share two pages", kRandom, 100000,
                              {2,
                               {1, 1},
                               1,
                               {},
                               {{take_and_give(0, 0), take_and_give(1, 0)},
                                {take_and_give(0, 1), take_and_give(1, 1)},
                                {take_and_give(1, 2), take_and_give(0, 2)}}}));
  all.push_back(heap_entry<2>(
      "convert_page", "the last two blocks of a page are emptied, another type takes it", kRandom, 100000,
      {1, {2, 1}, 1, {take(0, 0, 2), take(0, 0, 2)}, {{give(0, 0), take(1, 0)}, {give(1, 1)}, {take_and_give(1, 2)}}}));
  all.push_back(
      heap_entry<2>("displace_types", "a current block is displaced after it changed its type", kRandom, 100000,
                    {2,
                     {1, 1},
                     1,
                     {take(0, 0)},
                     {{take(0, 0), take_and_give(0, 0)}, {give(0, 1), take_and_give(1, 1)}, {take_and_give(1, 2)}}}));
}

/// Requests that may be refused.
void add_refusals(std::vector<Entry>& all) {
  all.push_back(heap_entry<1>("three_for_two", "three requests for two slots", kRandom, 150000,
                              {1, {1}, 1, {}, {{take(0, 0)}, {take(0, 1)}, {take(0, 2)}}}));
  all.push_back(heap_entry<1>("full_or_free", "a request in a full heap while a slot is given back", kRandom, 150000,
                              {1, {1}, 2, {take(0, 0), take(0, 0)}, {{take(0, 1), take(0, 1)}, {give(0, 0)}}}));
  all.push_back(
      heap_entry<1>("kept_proof", "refusals in a full heap, while slots are given back and taken", kRandom, 150000,
                    {1,
                     {1},
                     2,
                     {take(0, 0), take(0, 0)},
                     {{take(0, 1), take(0, 1)}, {take(0, 2), take(0, 2)}, {give(0, 0), take(0, 0), give(1, 0)}}}));
  all.push_back(heap_entry<1>("one_slot_free", "a slot is always free: two threads move theirs", kRandom, 150000,
                              {2,
                               {1},
                               2,
                               {take(0, 0, 2), take(0, 0)},
                               {{give(1, 0), take(0, 0)}, {take_and_give(0, 1), take_and_give(0, 1)}}}));
  all.push_back(heap_entry<1>(
      "proof_and_deletions",
      "a proof is kept after two blocks were opened, then two slots are given back and one taken", kRandom, 150000,
      {4,
       {1},
       3,
       {take(0, 0), take(0, 0), take(0, 0), take(0, 0)},
       {{take(0, 0, 2), take(0, 0, 2), take(0, 0), raise(0, Order::relaxed)},
        {await(0, Order::relaxed), give(0, 1), raise(1, Order::release), take(0, 1)},
        {await(1, Order::acquire), give(2, 2), take(0, 2)}}}));
  // Fills four blocks, keeps a proof of that, and frees a slot of the third or fourth.
  Script one_of_eight(9, take(0, 0));
  one_of_eight.push_back(give(4, 0));
  all.push_back(heap_entry<1>("moving_slot", "a slot is always free: one is taken after another was given back",
                              kRandom, 150000,
                              {4,
                               {1},
                               3,
                               one_of_eight,
                               {{give(0, 0), raise(0, Order::release)},
                                {await(0, Order::acquire), take(0, 1), raise(1, Order::relaxed)},
                                {await(1, Order::relaxed), take(0, 2)}}}));
  all.push_back(heap_entry<1>(
      "moving_slot_of_two", "the same, with a request for two that gets one", kRandom, 150000,
      {4,
       {1},
       3,
       one_of_eight,
       {{give(0, 0), raise(0, Order::release)}, {await(0, Order::acquire), take(0, 1, 2)}, {take(0, 2)}}}));
  all.push_back(heap_entry<1>("moving_slots", "the same, and a slot is taken that is being given back", kRandom, 300000,
                              {4,
                               {1},
                               3,
                               one_of_eight,
                               {{give(0, 0)},
                                {take(0, 2), give(2, 0), take(0, 1), raise(1, Order::relaxed)},
                                {await(1, Order::relaxed), take(0, 2)}}}));
  all.push_back(heap_entry<1>(
      "proof_passed_on", "the same as proof_and_deletions, with a proof by a thread that changed nothing", kRandom,
      150000,
      {4,
       {1},
       3,
       {take(0, 0), take(0, 0), take(0, 0), take(0, 0)},
       {{await(0, Order::acquire), take(0, 0), raise(1, Order::relaxed)},
        {await(1, Order::relaxed), give(0, 1), raise(2, Order::release), take(0, 1)},
        {take(0, 0, 2), take(0, 0, 2), raise(0, Order::release), await(2, Order::acquire), give(2, 2), take(0, 2)}}}));
  all.push_back(heap_entry<2>(
      "kept_proof_page", "a page becomes free and is taken after a proof was kept", kRandom, 150000,
      {2,
       {1, 1},
       3,
       {take(0, 0, 2), take(1, 0), take(0, 2)},
       {{give(1, 0)}, {take(0, 1), raise(0, Order::release)}, {await(0, Order::acquire), take(0, 2), take(0, 2)}}}));
  all.push_back(heap_entry<1>("one_block_free", "blocks open and close, and one is always free", kRandom, 150000,
                              {3,
                               {1},
                               3,
                               {take(0, 0, 2), take(0, 1, 2)},
                               {{give(0, 0), take(0, 0, 2)}, {give(1, 1), take(0, 1, 2)}, {take_and_give(0, 2)}}}));
}

/// Whole blocks.
void add_whole_blocks(std::vector<Entry>& all) {
  all.push_back(heap_entry<1>("blocks_and_slots", "one takes whole blocks, the other slots, of two pages", kRandom,
                              100000,
                              {2, {1}, 2, {}, {{take_and_give_blocks(0, 0)}, {take(0, 1), take_and_give(0, 1)}}}));
  all.push_back(heap_entry<1>("blocks_of_two", "two take as many blocks as there are", kRandom, 100000,
                              {3, {1}, 2, {}, {{take_blocks(0, 0)}, {take_blocks(0, 1), take_blocks(0, 1, 1)}}}));
  all.push_back(heap_entry<1>(
      "blocks_given_back", "slots of a full block are given back by another thread", kRandom, 100000,
      {2, {1}, 2, {take_blocks(0, 0, 1)}, {{give(0, 0), take_and_give(0, 0)}, {give(1, 1), take_blocks(0, 1, 1)}}}));
  all.push_back(heap_entry<1>(
      "blocks_passed_on", "an object of a new block is deleted by a thread that only knows its number", kRandom, 100000,
      {1,
       {1},
       2,
       {},
       {{take_blocks(0, 0, 1), raise(0, Order::release)},
        {await(0, Order::acquire), give(0, 1)},
        {await(0, Order::relaxed), take(0, 2)}}}));
  all.push_back(heap_entry<1>(
      "blocks_of_a_page", "blocks of one page, whole and slot by slot", kRandom, 100000,
      {1,
       {2},
       2,
       {},
       {{take_and_give_blocks(0, 0), take_and_give_blocks(0, 0)}, {take_and_give(0, 1), take_and_give(0, 1)}}}));
  all.push_back(
      heap_entry<1>("blocks_of_free_page", "one block of a free page is taken, the other is there for all", kRandom,
                    100000, {1, {2}, 2, {}, {{take_and_give_blocks(0, 0, 1)}, {take(0, 1), take_and_give(0, 1)}}, 0}));
  all.push_back(heap_entry<2>(
      "blocks_of_types", "pages go from one type to the other, whole blocks of both", kRandom, 100000,
      {2,
       {1, 1},
       2,
       {},
       {{take_and_give_blocks(0, 0), take_and_give(1, 0)}, {take_and_give(0, 1), take_and_give_blocks(1, 1)}}}));
  all.push_back(heap_entry<2>(
      "blocks_of_unlike_types", "the same with two blocks per page, and one", kRandom, 100000,
      {2,
       {2, 1},
       2,
       {},
       {{take_and_give_blocks(0, 0), take_and_give_blocks(1, 0)}, {take_and_give(0, 1), take_and_give(1, 1)}}}));
  all.push_back(heap_entry<1>(
      "blocks_refusal", "a request is refused only while the blocks taken fill the heap", kRandom, 100000,
      {2, {1}, 2, {}, {{take_and_give_blocks(0, 0)}, {take(0, 1), take_and_give(0, 1)}, {take_and_give(0, 2)}}}));
}

}  // namespace

std::vector<Entry> block_heap_scenarios() {
  std::vector<Entry> all;
  add_one_block(all);
  add_blocks(all);
  add_halves(all);
  add_types(all);
  add_refusals(all);
  add_whole_blocks(all);
  return all;
}

}  // namespace dynasoar::test
