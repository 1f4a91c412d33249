/* Promela model of the state machine in allocator/include/dynasoar/heap/, for SPIN 6.5. (block_heap.h says which file
 * has which part.)
 *
 * What is modelled. Every access of the C++ code to shared memory is one step here, in the same order, named after the
 * function that it is in; between two accesses a warp only computes. So a complete search covers all interleavings of
 * a scenario under sequential consistency. Memory orders are not modelled.
 *
 * What is simplified, towards more behaviour:
 *   - A bitmap is one word. Where the code picks the bit that is next to its starting point, any set bit may be picked.
 *     With MISS=1 a search may also find nothing although a bit is set, as happens when the bit is in another container
 *     or an upper level is stale. bitmap.pml is about the levels above.
 *   - `set` waits for a 0 and `clear` for a 1, as in the code; here the step cannot be taken before. A wait that does
 *     not end is thus an invalid end state, which SPIN reports.
 *   - The constants of the code that say how often something is tried are parameters, and small.
 *     page_hint is left out: any free page may be picked anyway. So is plenty: there are always few pages. The two
 *     steps of Bitmap::set and clear that the code takes apart (begin_, finish_) differ in the levels above only.
 *   - A warp may free objects that another one has made.
 * And one towards less: tallies have one shard, so that reading one is one step.
 *
 * What is checked: the assertions in the steps, those of `check` when all warps have ended, and that all warps end.
 * Ghost variables (the program has none of them) say who holds which slots, and when the heap was full.
 *
 * How to run: run.py lists the scenarios and runs them. By hand, from an empty directory:
 *   spin -a -DWARP0=1 -DWARP1=7 -DSETUP0=1 .../block_heap.pml && gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m100000
 *
 * Parameters (-D):
 *   S          slots per block, 2 or 3
 *   NPAGES     pages, 1 or 2
 *   STRIDE     block numbers per page, 1 or 2
 *   PER0, PER1 blocks per page of each type, 1 to STRIDE
 *   TYPES      1 or 2
 *   CURRENT    current blocks per type; warp w uses that of number w % CURRENT
 *   ROUNDS, ROUNDS_PER_SEARCH, SEARCHES, TRIES, TAKE_TRIES   the constants of that name in BlockHeap
 *              All warps of a type are one group, of which one fetches pages, in the first half of the rounds
 *              (in the code the first third: there, rounds are plenty).
 *   MISS       whether searches may miss
 *   SETUP0, SETUP1             what warps 0 and 1 do, one after the other, before the others start
 *   WARP0, WARP1, WARP2        what the warps do then, all at once; 0 for a warp that is not there
 * Such a program is a decimal number, a digit per operation, the last digit first:
 *   1 2 3   allocate 1, 2 or 3 slots of type 0         4 5 6   the same of type 1
 *   7       free one object                            8       free all objects of one block, in one go
 *   9       any of 1, 2, 4, 7
 */

#ifndef S
#define S 2
#endif
#ifndef NPAGES
#define NPAGES 1
#endif
#ifndef STRIDE
#define STRIDE 1
#endif
#ifndef PER0
#define PER0 1
#endif
#ifndef PER1
#define PER1 1
#endif
#ifndef TYPES
#define TYPES 1
#endif
#ifndef CURRENT
#define CURRENT 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef ROUNDS_PER_SEARCH
#define ROUNDS_PER_SEARCH 4
#endif
#ifndef SEARCHES
#define SEARCHES 1
#endif
#ifndef TRIES
#define TRIES 1
#endif
#ifndef TAKE_TRIES
#define TAKE_TRIES 2
#endif
#ifndef MISS
#define MISS 0
#endif
#ifndef SETUP0
#define SETUP0 0
#endif
#ifndef SETUP1
#define SETUP1 0
#endif
#ifndef WARP0
#define WARP0 0
#endif
#ifndef WARP1
#define WARP1 0
#endif
#ifndef WARP2
#define WARP2 0
#endif

#define SHARING_ROUNDS (ROUNDS / 2)
#define BLOCKS (NPAGES * STRIDE)
#define BIT(i) (1 << (i))
#define FIRST_BITS(n) (BIT(n) - 1)
#define ALL FIRST_BITS(S)
#define NONE 15
#define HALF_FREE 16
#define HALF (S / 2)
#define UPPER_HALF (FIRST_BITS(HALF) << (S - HALF))
#define PAGE(block) ((block) / STRIDE)
#define PER(t) ((t) == 0 -> PER0 : PER1)
#define PAGE_MASK(block, t) (FIRST_BITS(PER(t)) << (PAGE(block) * STRIDE))

/* Pages of two containers of the bitmap of empty blocks, if CONTAINER is less than PER0. */
#ifndef CONTAINER
#define CONTAINER 4
#endif
#define WIDE (PER0 > CONTAINER)
#define CONTAINER_MASK(block, t, i) (PAGE_MASK(block, t) & (FIRST_BITS(CONTAINER) << (((block) / STRIDE * STRIDE) + (i) * CONTAINER)))
#define ALL_THERE(block, t, i) ((empty_[t] & CONTAINER_MASK(block, t, i)) == CONTAINER_MASK(block, t, i))
#define COUNT(mask) (((mask) & 1) + ((mask) >> 1 & 1) + ((mask) >> 2 & 1))
#define COUNT_BLOCKS(word) (COUNT(word) + ((word) >> 3 & 1))
#define LOWEST_BIT(mask) ((mask) & -(mask))
#define LOWEST_2_BITS(mask) (LOWEST_BIT(mask) | LOWEST_BIT((mask) & ((mask) - 1)))
#define LOWEST_BITS(mask, n) ((n) == 1 -> LOWEST_BIT(mask) : ((n) == 2 -> LOWEST_2_BITS(mask) : (mask)))

/* The shared state of BlockHeap. */
byte slots[BLOCKS];
byte token[BLOCKS];  /* 0, or the block's type + 1 */
byte page_type[NPAGES];
byte free_pages;
byte empty_[TYPES];   /* with underscores, as `empty` and `active` are words of Promela */
byte active_[TYPES];
byte allocated[TYPES];
byte created[TYPES];
byte deleted[TYPES];
byte opened[TYPES];
byte closed[TYPES];
byte emptied[TYPES];
byte reused[TYPES];
byte current[TYPES * CURRENT];  /* NONE, or a block, with HALF_FREE or without */
bit fetching[TYPES];
byte full_at[TYPES];
byte pages_freed;
byte pages_taken;

/* Ghosts. */
byte objects[BLOCKS];  /* slots of objects: from the atomic that reserves them until the one that gives them back */
byte held[BLOCKS];     /* slots that somebody holds for a moment, and will give back */
byte pool[BLOCKS];     /* objects that `allocate` has returned and nobody has begun to free */
byte asking[TYPES];    /* warps that are in `allocate` for a type */
byte in_use;           /* pages that have a type */
byte witnessed;        /* of these, the ones that have seen a moment at which the heap was full */
byte ended;
bit started;

/* The heap is full for a type: no page is free or about to get a type, and every slot of the type's pages is an
 * object's. */
#define IN_USE(b) ((b) % STRIDE < PER(page_type[PAGE(b)]))
#define IS_OPEN(b) ((allocated[page_type[PAGE(b)]] & BIT(b)) != 0)
#define NO_ROOM(b, t) (!IN_USE(b) || page_type[PAGE(b)] != (t) || (IS_OPEN(b) && objects[b] == ALL))
#define NO_PAGES (free_pages == 0 && in_use == FIRST_BITS(NPAGES))
#if NPAGES * STRIDE == 1
#define FULL(t) (NO_PAGES && NO_ROOM(0, t))
#elif NPAGES * STRIDE == 2
#define FULL(t) (NO_PAGES && NO_ROOM(0, t) && NO_ROOM(1, t))
#elif NPAGES * STRIDE == 4
#define FULL(t) (NO_PAGES && NO_ROOM(0, t) && NO_ROOM(1, t) && NO_ROOM(2, t) && NO_ROOM(3, t))
#endif

/* Part of every step that can make the heap full: all who are asking have seen that moment. */
#if TYPES == 1
#define witness() witnessed = witnessed | (FULL(0) -> asking[0] : 0)
#else
#define witness() witnessed = witnessed | (FULL(0) -> asking[0] : 0) | (FULL(1) -> asking[1] : 0)
#endif

/* Part of every step that writes slots: nobody's slots are free. */
#define nobody_lost(block) assert(((objects[block] | held[block]) & ~slots[block]) == 0)

/* ---- Bitmap ---- */

inline set(word, i) {
  d_step { (word & BIT(i)) == 0 -> word = word | BIT(i); witness() }
}

inline clear(word, i) {
  d_step { (word & BIT(i)) != 0 -> word = word & ~BIT(i); witness() }
}

inline pick(word, i) {
  if
  :: (word & 1) -> i = 0
#if NPAGES * STRIDE > 1
  :: (word & 2) -> i = 1
#endif
#if NPAGES * STRIDE > 2
  :: (word & 4) -> i = 2
  :: (word & 8) -> i = 3
#endif
  fi
}

/* clear_any: the caller has read the container into `seen`. Leaves the position, or NONE, in `taken`. */
inline clear_any(word) {
  do
  :: seen != 0 ->
     pick(seen, taken);
     d_step { /* try_clear: fetch_and */
       seen = word & BIT(taken);
       word = word & ~BIT(taken);
       witness()
     };
     if
     :: seen != 0 -> break
     :: else -> taken = NONE
     fi;
     tries++;
     if
     :: tries == TAKE_TRIES -> break
     :: else
     fi;
     d_step { seen = word } /* find: load */
     if
     :: seen == 0 -> break
     :: else
     fi
  :: else -> /* the caller's container was empty */
     tries++;
     if
     :: tries == TAKE_TRIES -> break
     :: else
     fi;
     d_step { seen = word } /* find: load */
     if
     :: seen == 0 -> break
     :: else
     fi
  od;
  seen = 0;
  tries = 0
}

/* ---- BlockHeap, private functions, callees first ---- */

inline type_of(block, result) {
#if TYPES == 1
  result = 0 /* no access, as in the code */
#else
  d_step { result = page_type[PAGE(block)] } /* type_of: load */
#endif
}

/* take_token: exchange */
inline take_token(block) {
  d_step { had_token = token[block]; token[block] = 0 }
}

inline forget(block, t) {
  d_step { /* forget: compare_exchange */
    if
    :: current[t * CURRENT + who % CURRENT] == (block | HALF_FREE) -> current[t * CURRENT + who % CURRENT] = NONE
    :: else
    fi
  };
  d_step { /* forget: compare_exchange */
    if
    :: current[t * CURRENT + who % CURRENT] == block -> current[t * CURRENT + who % CURRENT] = NONE
    :: else
    fi
  }
}

inline settle_filled(block, t) {
  take_token(block);
  settle_with_token(block, t)
}

/* settle_filled, for a thread that has tried to take the token already: `had_token` is what it said. */
inline settle_with_token(block, t) {
  if
  :: had_token != 0 ->
     forget(block, t);
     had_token = 0
  :: else -> clear(active_[t], block) /* settle_filled: active.clear */
  fi
}

/* Lists a block if `had_token`. */
inline list_owned(block) {
  if
  :: had_token != 0 ->
     kind = had_token - 1;
     had_token = 0;
     set(active_[kind], block); /* list_owned: active.set */
     kind = 0
  :: else
  fi
}

/* Leaves in `before` what the slots were when this call took all of them: 0 if it closed the block. */
inline invalidate(block) {
  do
  :: d_step { /* invalidate: fetch_or */
       before = slots[block];
       slots[block] = ALL;
       if
       :: before != 0 ->
          assert(((objects[block] | held[block]) & (ALL & ~before)) == 0);
          held[block] = held[block] | (ALL & ~before)
       :: else -> assert(objects[block] == 0 && held[block] == 0)
       fi
     };
     if
     :: before == 0 -> break
     :: before == ALL -> break
     :: else
     fi;
     type_of(block, kind);
     settle_filled(block, kind);
     d_step { /* invalidate: fetch_and */
       mask = slots[block];
       slots[block] = slots[block] & before;
       assert((held[block] & (ALL & ~before)) == (ALL & ~before));
       held[block] = held[block] & before;
       nobody_lost(block)
     };
     if
     :: mask == ALL -> set(active_[kind], block) /* invalidate: active.set */
     :: else
     fi;
     if
     :: (mask & before) != 0 -> break
     :: else /* emptied meanwhile, by releasers that saw our slots */
     fi
  od;
  mask = 0;
  kind = 0
}

/* before = 1 if the page of the block was claimed. */
inline claim_page(block) {
#if WIDE
  if
  :: ALL_THERE(block, kind, (block) % STRIDE / CONTAINER) -> /* claim_page: container */
     do
     :: ALL_THERE(block, kind, 0) -> /* is_page_empty: has_all */
        if
        :: ALL_THERE(block, kind, 1) -> /* is_page_empty: has_all */
           if
           :: d_step { /* claim_all: compare_exchange */
                ALL_THERE(block, kind, 0) -> empty_[kind] = empty_[kind] & ~CONTAINER_MASK(block, kind, 0)
              };
              if
              :: d_step { /* claim_all: compare_exchange */
                   ALL_THERE(block, kind, 1) -> empty_[kind] = empty_[kind] & ~CONTAINER_MASK(block, kind, 1);
                   before = 1;
                   witness()
                 }
              :: else ->
                 d_step { /* set_many: fetch_or */
                   assert((empty_[kind] & CONTAINER_MASK(block, kind, 0)) == 0);
                   empty_[kind] = empty_[kind] | CONTAINER_MASK(block, kind, 0)
                 }
              fi
           :: else
           fi;
           if
           :: before == 1 -> break
           :: else
           fi
        :: else -> break
        fi
     :: else -> break
     od
  :: else
  fi
#else
  d_step { mask = empty_[kind] } /* claim_all: load */
  do
  :: (mask & PAGE_MASK(block, kind)) == PAGE_MASK(block, kind) ->
     d_step { /* claim_all: compare_exchange */
       if
       :: empty_[kind] == mask -> empty_[kind] = mask & ~PAGE_MASK(block, kind); before = 1; witness()
       :: else -> mask = empty_[kind]
       fi
     };
     if
     :: before == 1 -> break
     :: else
     fi
  :: else -> break
  od
#endif
}

inline close_if_empty(block) {
  invalidate(block);
  if
  :: before != 0 -> before = 0
  :: else ->
     type_of(block, kind);
     close(block)
  fi
}

inline set_page_free(block) {
  d_step {
    (free_pages & BIT(PAGE(block))) == 0 -> free_pages = free_pages | BIT(PAGE(block));
    in_use = in_use & ~BIT(PAGE(block))
  }
}

/* The type of the block is in `kind`. */
inline close(block) {
     take_token(block);
     d_step { /* close: active.begin_clear */
       mask = active_[kind] & BIT(block);
       active_[kind] = active_[kind] & ~BIT(block)
     };
     d_step { /* close: allocated.begin_clear */
       assert((allocated[kind] & BIT(block)) != 0 && slots[block] == ALL && token[block] == 0);
       allocated[kind] = allocated[kind] & ~BIT(block);
       witness()
     };
     if
     :: had_token != 0 || mask != 0 -> assert(had_token == 0 || mask == 0)
     :: else -> clear(active_[kind], block) /* close: active.clear */
     fi;
     if
     :: had_token != 0 -> forget(block, kind)
     :: else
     fi;
     mask = 0;
     had_token = 0;
     if
     :: PER(kind) == 1 ->
        d_step { pages_freed++ } /* close: pages_freed.add */
        d_step { closed[kind]++ } /* close: closed.add */
        set_page_free(block) /* close: free_pages.set */
     :: else ->
        d_step { emptied[kind]++ } /* close: emptied.add */
        d_step { closed[kind]++ } /* close: closed.add */
        set(empty_[kind], block); /* close: empty.set */
        claim_page(block);
        if
        :: before == 1 ->
           d_step { pages_freed++ } /* free_page: pages_freed.add */
           d_step { reused[kind] = reused[kind] + PER(kind) } /* free_page: reused.add */
           set_page_free(block) /* free_page: free_pages.set */
        :: else
        fi
     fi;
     d_step { before = 0; mask = 0; kind = 0 }
}

inline release_slots(block, t, giving) {
  d_step { /* release_slots: fetch_and */
    before = slots[block];
    slots[block] = before & ~giving;
    assert(((objects[block] | held[block]) & giving) == giving);
    objects[block] = objects[block] & ~giving;
    held[block] = held[block] & ~giving;
    nobody_lost(block)
  };
  if
  :: before == ALL -> set(active_[t], block) /* release_slots: active.set */
  :: else
  fi;
  if
  :: (before & ~giving) == 0 -> close_if_empty(block)
  :: else -> before = 0
  fi
}

/* `found` is what the slots were a moment ago. */
inline release(block, t, giving) {
  if
  :: found == giving && giving != ALL ->
     found = 0;
     d_step { /* release_last: compare_exchange */
       assert(((objects[block] | held[block]) & giving) == giving);
       if
       :: slots[block] == giving ->
          slots[block] = ALL;
          objects[block] = objects[block] & ~giving;
          assert(objects[block] == 0 && held[block] == 0);
          before = 1
       :: else
       fi
     };
     if
     :: before == 1 ->
        before = 0;
        kind = t;
        close(block)
     :: else -> release_slots(block, t, giving)
     fi
  :: else ->
     found = 0;
     release_slots(block, t, giving)
  fi
}

/* Leaves the slots in `got`. */
inline take_upper_half(block) {
  d_step { /* reserve_half: fetch_or */
    before = slots[block];
    slots[block] = before | UPPER_HALF;
    got = UPPER_HALF & ~before;
    assert(((objects[block] | held[block]) & got) == 0);
    if
    :: page_type[PAGE(block)] == type -> objects[block] = objects[block] | got
    :: else -> held[block] = held[block] | got
    fi;
    witness()
  }
}

/* The upper half of the slots of a current block whose opener took the lower one. Leaves the slots in `got`. */
inline reserve_half(block) {
  if /* both changes are under way together: a GPU may make either first */
  :: take_upper_half(block); take_token(block)
  :: take_token(block); take_upper_half(block)
  fi;
  if
  :: got != 0 && (before | got) == ALL
  :: else -> list_owned(block)
  fi;
  if
  :: got != 0 ->
     type_of(block, owner);
     if
     :: (before | got) == ALL ->
        if /* behind the fence */
        :: had_token == 0 -> take_token(block)
        :: else
        fi;
        settle_with_token(block, owner)
     :: else
     fi;
     before = 0;
     if
     :: owner == type
     :: else -> /* reopened for another type since the hint was read */
        release_slots(block, owner, got);
        got = 0
     fi
  :: else
  fi;
  before = 0;
  owner = 0
}

/* Leaves the slots in `got`. */
inline reserve(block) {
  d_step { found = slots[block] } /* reserve: load */
  do
  :: found == ALL -> break
  :: else ->
     d_step { /* reserve: fetch_or */
       mask = LOWEST_BITS(ALL & ~found, want);
       before = slots[block];
       slots[block] = before | mask;
       got = mask & ~before;
       assert(((objects[block] | held[block]) & got) == 0);
       if
       :: page_type[PAGE(block)] == type -> objects[block] = objects[block] | got
       :: else -> held[block] = held[block] | got
       fi;
       found = before | mask;
       mask = 0;
       witness()
     };
     if
     :: got == 0 /* others took all of them */
     :: else ->
        type_of(block, owner);
        if
        :: (before | got) == ALL -> settle_filled(block, owner)
        :: else
        fi;
        before = 0;
        if
        :: owner == type
        :: else -> /* reopened for another type since the hint was read */
           release_slots(block, owner, got);
           got = 0
        fi;
        break
     fi
  od;
  found = 0;
  before = 0;
  owner = 0
}

/* counted: created.add */
inline counted() {
  if
  :: got != 0 -> d_step { created[type] = created[type] + COUNT(got) }
  :: else
  fi
}

/* The caller has read the container into `listed`. */
inline from_container() {
  do
  :: listed != 0 && tries < TRIES ->
     atomic { pick(listed, block); listed = listed & ~BIT(block); tries++ };
     reserve(block);
     if
     :: got != 0 -> break
     :: else
     fi
  :: else -> break
  od;
  listed = 0;
  tries = 0
}

inline from_hints() {
  if
  :: d_step { listed = active_[type] } /* from_hints: active.container */
  :: MISS && started
  fi;
  d_step { hint = current[type * CURRENT + who % CURRENT] } /* from_hints: current load */
  from_container();
  if
  :: got == 0 && hint != NONE ->
     block = hint & ~HALF_FREE;
     if
     :: want == HALF && block != hint -> reserve_half(block)
     :: else -> reserve(block)
     fi
  :: else
  fi;
  hint = 0;
  counted()
}

inline from_listed_block() {
  do
  :: searches < SEARCHES ->
     searches++;
     if
     :: d_step { listed = active_[type] } /* find_container: load */
     :: MISS && started
     fi;
     if
     :: listed == 0 -> break
     :: else
     fi;
     from_container();
     if
     :: got != 0 -> break
     :: else
     fi
  :: else -> break
  od;
  searches = 0
}

inline replace_current(block, half) {
  d_step { /* replace_current: exchange */
    old = current[type * CURRENT + who % CURRENT];
    current[type * CURRENT + who % CURRENT] = block | half;
    old = (old == NONE -> NONE : old & ~HALF_FREE)
  };
  if
  :: old != NONE && old != block ->
     take_token(old);
     list_owned(old)
  :: else
  fi;
  old = 0
}

/* `block` has been taken from the empty blocks, or is the first of a page that was free. */
inline open(block) {
  d_step { /* open: allocated.begin_set */
    assert((allocated[type] & BIT(block)) == 0);
    assert(slots[block] == ALL && objects[block] == 0 && held[block] == 0 && token[block] == 0);
    assert(page_type[PAGE(block)] == type);
    assert((active_[0] & BIT(block)) == 0 && (empty_[type] & BIT(block)) == 0);
    allocated[type] = allocated[type] | BIT(block)
  };
  d_step { opened[type]++ } /* open: opened.add */
  d_step { token[block] = type + 1 } /* open: token store */
  d_step { created[type] = created[type] + COUNT(FIRST_BITS(want)) } /* open: created.add */
  d_step { /* open: slots store */
    assert(slots[block] == ALL);
    got = FIRST_BITS(want);
    slots[block] = got;
    objects[block] = got;
    witness()
  };
  replace_current(block, (want == HALF -> HALF_FREE : 0));
  if
  :: got == ALL -> settle_filled(block, type)
  :: else
  fi
}

/* Leaves the block in `taken`. */
inline first_block_of_free_page() {
  seen = near;
  clear_any(free_pages);
  if
  :: taken != NONE ->
     d_step { /* first_block_of_free_page: page_type store */
       assert(((empty_[0] | allocated[0] | active_[0]) & PAGE_MASK(taken * STRIDE, 0)) == 0);
       page_type[taken] = type;
       in_use = in_use | BIT(taken);
       taken = taken * STRIDE
     };
     if
     :: PER(type) > 1 ->
        d_step { emptied[type] = emptied[type] + PER(type) - 1 } /* first_block_of_free_page: emptied.add */
        d_step { /* set_many: fetch_or */
#if WIDE
          mask = CONTAINER_MASK(taken, type, 0) & ~BIT(taken);
#else
          mask = PAGE_MASK(taken, type) & ~BIT(taken);
#endif
          assert((empty_[type] & mask) == 0);
          empty_[type] = empty_[type] | mask;
          mask = 0
        }
#if WIDE
        ;
        d_step { /* list_blocks: set_many */
          assert((empty_[type] & CONTAINER_MASK(taken, type, 1)) == 0);
          empty_[type] = empty_[type] | CONTAINER_MASK(taken, type, 1)
        }
#endif
     :: else
     fi
  :: else
  fi
}

/* Sets `not_yet` unless it is for the caller to get a page. */
inline fetches() {
  d_step { not_yet = fetching[type]; fetching[type] = 1 } /* fetches: fetching exchange */
  if
  :: !not_yet ->
     d_step { not_yet = (empty_[type] != 0) } /* fetches: empty.seems_empty */
     if
     :: not_yet -> d_step { fetching[type] = 0 } /* fetches: fetching store */
     :: else
     fi
  :: else
  fi
}

inline from_new_block() {
  taken = NONE;
  if
  :: !any_closed && near == 0 ->
     if
     :: d_step { any_free = free_pages != 0 } /* from_new_block: free_pages.seems_empty */
     :: MISS && started
     fi
  :: else -> any_free = 1
  fi;
  if
  :: any_free ->
     any_free = 0;
     shares = (round < SHARING_ROUNDS);
     if
     :: !any_closed && shares -> fetches()
     :: else
     fi;
     if
     :: !not_yet ->
        if
        :: any_closed ->
           d_step { seen = empty_[type] } /* clear_any: load */
           clear_any(empty_[type])
        :: else
        fi;
        if
        :: taken == NONE && !(any_closed && shares) -> first_block_of_free_page()
        :: else -> was_empty = (taken != NONE)
        fi;
        if
        :: taken != NONE ->
           block = taken;
           open(block)
        :: else
        fi;
        if
        :: !any_closed && shares -> d_step { fetching[type] = 0 } /* from_new_block: fetching store */
        :: else
        fi;
        if
        :: taken == NONE -> not_yet = any_closed && shares
        :: else ->
           d_step { /* count_taken */
             if
             :: was_empty -> reused[type]++
             :: else -> pages_taken++
             fi;
             was_empty = 0
           }
        fi
     :: else
     fi
  :: else
  fi;
  shares = 0;
  near = 0;
  taken = 0;
  any_closed = 0
}

inline from_search() {
  d_step { any_listed = active_[type] != 0 } /* from_search: active.seems_empty */
  if
  :: PER(type) > 1 -> d_step { any_closed = empty_[type] != 0 } /* from_search: empty.seems_empty */
  :: else
  fi;
  if
  :: d_step { near = free_pages } /* from_search: free_pages.container */
  :: MISS && started
  fi;
  if
  :: any_listed ->
     any_listed = 0;
     from_listed_block();
     counted();
     if
     :: COUNT(got) == want -> replace_current(block, 0) /* adopt */
     :: else
     fi
  :: else
  fi;
  if
  :: got == 0 -> from_new_block()
  :: else -> any_closed = 0; near = 0
  fi
}

#define UNSETTLED 0
#define FOUND 1
#define HEAP_FULL 2

/* Leaves the verdict in `verdict`. */
inline search_exhaustively() {
  d_step { proof = full_at[type] } /* search_exhaustively: full_at load */
  d_step { seen = pages_freed } /* search_exhaustively: pages_freed.read */
  d_step { /* search_exhaustively: deleted.read */
    if
    :: proof == 1 + seen + deleted[type] -> verdict = HEAP_FULL
    :: else
    fi
  };
  proof = 0;
  seen = 0;
  if
  :: verdict == UNSETTLED ->
     /* what is left of each is kept, modulo 256 */
     d_step { room = 0 - created[type] } /* search_exhaustively: created.read */
     d_step { room = room - closed[type] * S } /* search_exhaustively: closed.read */
     d_step { empties = 0 - reused[type] } /* search_exhaustively: reused.read */
     d_step { frees = 0 - pages_taken } /* search_exhaustively: pages_taken.read */
     d_step { room = room + opened[type] * S } /* search_exhaustively: opened.read */
     d_step { before = deleted[type]; room = room + before } /* search_exhaustively: deleted.read */
     d_step { empties = empties + emptied[type] } /* search_exhaustively: emptied.read */
     d_step { seen = pages_freed; frees = frees + seen } /* search_exhaustively: pages_freed.read */
     if
     :: room == 0 && empties == 0 && frees == 0 ->
        verdict = HEAP_FULL;
        d_step { full_at[type] = 1 + seen + before; room = 0 } /* search_exhaustively: full_at store */
     :: room == 0 && (empties != 0 || frees != 0)
     :: else ->
        room = 0;
        d_step { any_listed = active_[type] != 0 } /* search_exhaustively: active.seems_empty */
        if
        :: any_listed -> any_listed = 0
        :: else -> empties = 0; frees = 0; search_current_blocks()
        fi
     fi;
     seen = 0;
     before = 0;
     empties = 0;
     frees = 0
  :: else
  fi
}

inline search_current_blocks() {
  seen = 0;
  before = 0;
  do
  :: searches < CURRENT ->
     d_step { block = current[type * CURRENT + (who + searches) % CURRENT] } /* search_current_blocks: current load */
     searches++;
     if
     :: block != NONE ->
        block = block & ~HALF_FREE;
        d_step { found = slots[block] } /* search_current_blocks: slots load */
        if
        :: found != ALL ->
           type_of(block, owner);
           if
           :: owner == type ->
              reserve(block);
              counted()
           :: else
           fi;
           owner = 0
        :: else
        fi;
        found = 0
     :: else
     fi;
     if
     :: got != 0 -> verdict = FOUND; break
     :: else
     fi
  :: else -> break
  od;
  searches = 0
}

/* ---- BlockHeap, public functions ---- */

inline allocate() {
  d_step { /* the call begins */
    asking[type] = asking[type] | BIT(who);
    witness()
  };
  do
  :: round == ROUNDS -> break
  :: else ->
     from_hints();
     if
     :: got == 0 -> from_search()
     :: else
     fi;
     if
     :: got != 0 -> break
     :: else
     fi;
     if
     :: !not_yet && (round % ROUNDS_PER_SEARCH == 0 || round + 1 == ROUNDS) ->
        search_exhaustively();
        if
        :: verdict != UNSETTLED -> break
        :: else
        fi
     :: else
     fi;
     not_yet = 0;
     round++
  od;
  atomic { /* the call returns */
    if
    :: got != 0 ->
       assert(page_type[PAGE(block)] == type);
       assert((objects[block] & got) == got && (pool[block] & got) == 0);
       pool[block] = pool[block] | got
    :: verdict == HEAP_FULL -> assert(witnessed & BIT(who))
    :: else /* contended */
    fi;
    asking[type] = asking[type] & ~BIT(who);
    witnessed = witnessed & ~BIT(who);
    got = 0;
    block = 0;
    verdict = 0;
    round = 0;
    type = 0;
    want = 0
  }
}

/* Frees objects of some block, if there are any: `want` of them. */
inline free() {
  atomic { /* the call begins: the caller has used the objects for the last time */
    if
    :: pool[0] != 0 -> block = 0; got = LOWEST_BITS(pool[0], want)
#if NPAGES * STRIDE > 1
    :: pool[1] != 0 -> block = 1; got = LOWEST_BITS(pool[1], want)
#endif
#if NPAGES * STRIDE > 2
    :: pool[2] != 0 -> block = 2; got = LOWEST_BITS(pool[2], want)
    :: pool[3] != 0 -> block = 3; got = LOWEST_BITS(pool[3], want)
#endif
    :: else
    fi;
    pool[block] = pool[block] & ~got;
    want = 0
  };
  if
  :: got != 0 ->
     type_of(block, owner);
     d_step { found = slots[block] } /* taken: load */
     d_step { deleted[owner] = deleted[owner] + COUNT(got) } /* release: deleted.add */
     release(block, owner, got)
  :: else
  fi;
  got = 0;
  block = 0;
  owner = 0
}

/* ---- What warps do ---- */

proctype warp(byte who; int program) {
  byte type, want, round, verdict;            /* allocate */
  bit not_yet, shares;                        /* from_new_block */
  byte block, got;                            /* what was reserved */
  byte hint, listed, tries, searches;         /* searches */
  bit any_listed, any_closed, any_free;
  byte near, seen, taken, old;                /* from_new_block */
  byte found, mask, before, owner, kind;      /* slots, and the type of a block that is held */
  byte had_token;
  byte proof, room, empties, frees;           /* search_exhaustively */
  bit was_empty;

  do
  :: program != 0 ->
     if
     :: program % 10 >= 1 && program % 10 <= 3 -> type = 0; want = program % 10
     :: program % 10 >= 4 && program % 10 <= 6 -> type = 1; want = program % 10 - 3
     :: program % 10 == 7 || program % 10 == 8 -> type = NONE; want = (program % 10 == 7 -> 1 : S)
     :: program % 10 == 9 -> type = 0; want = 1
     :: program % 10 == 9 -> type = 0; want = 2
#if TYPES > 1
     :: program % 10 == 9 -> type = 1; want = 1
#endif
     :: program % 10 == 9 -> type = NONE; want = 1
     fi;
     program = program / 10;
     if
     :: type == NONE -> type = 0; free()
     :: else -> allocate()
     fi
  :: else -> break
  od;
  ended++
}

#if CURRENT == 1
#define is_current(b, t) IS_IN(b, t)
#elif CURRENT == 2
#define is_current(b, t) (IS_IN(b, (t) * 2) || IS_IN(b, (t) * 2 + 1))
#else
#define is_current(b, t) (IS_IN(b, (t) * 3) || IS_IN(b, (t) * 3 + 1) || IS_IN(b, (t) * 3 + 2))
#endif
#define IS_IN(b, entry) ((current[entry] & ~HALF_FREE) == b)

/* The rules for a heap at rest. */
inline check() {
  d_step {
    assert(pages_freed - pages_taken == COUNT_BLOCKS(free_pages));
    b = 0;
    do
    :: b < BLOCKS ->
       t = page_type[PAGE(b)];
       assert(held[b] == 0 && pool[b] == objects[b]);
       if
       :: (free_pages & BIT(PAGE(b))) != 0 || b % STRIDE >= PER(t) ->
          /* in a free page, or not in use: closed, and listed nowhere */
          assert(slots[b] == ALL && token[b] == 0 && objects[b] == 0);
          assert(((allocated[t] | active_[t] | empty_[t]) & BIT(b)) == 0)
       :: else ->
          if
          :: (empty_[t] & BIT(b)) != 0 ->
             assert(slots[b] == ALL && token[b] == 0 && objects[b] == 0);
             assert(((allocated[t] | active_[t]) & BIT(b)) == 0)
          :: else ->
             assert((allocated[t] & BIT(b)) != 0);
             assert(slots[b] == objects[b] && slots[b] != 0);
             /* not full: listed, or somebody's current block; never both */
             assert((slots[b] != ALL) == ((active_[t] & BIT(b)) != 0) + (token[b] != 0));
             assert(token[b] == 0 || (token[b] == t + 1 && is_current(b, t)))
          fi;
          /* a page of which all blocks are empty has been freed */
          assert((empty_[t] & PAGE_MASK(b, t)) != PAGE_MASK(b, t))
       fi;
#if TYPES > 1
       assert(((allocated[1 - t] | active_[1 - t] | empty_[1 - t]) & BIT(b)) == 0);
#endif
       if
       :: objects[b] != 0 -> living[t] = living[t] + COUNT(objects[b])
       :: else
       fi;
       b++
    :: else -> break
    od;
    b = 0;
    do
    :: b < TYPES ->
       assert(created[b] - deleted[b] == living[b] && fetching[b] == 0);
       assert(opened[b] - closed[b] == COUNT_BLOCKS(allocated[b]));
       assert(emptied[b] - reused[b] == COUNT_BLOCKS(empty_[b]));
       living[b] = 0;
       b++
    :: else -> break
    od;
    b = 0;
    t = 0
  }
}

#define WARPS ((WARP0 != 0) + (WARP1 != 0) + (WARP2 != 0))

init {
  byte b, t;
  byte living[TYPES];
  d_step {
    do
    :: b < BLOCKS -> slots[b] = ALL; b++
    :: else -> break
    od;
    b = 0;
    do
    :: b < TYPES * CURRENT -> current[b] = NONE; b++
    :: else -> break
    od;
    b = 0;
    free_pages = FIRST_BITS(NPAGES);
    pages_freed = NPAGES
  };
  run warp(0, SETUP0);
  ended == 1;
  run warp(1, SETUP1);
  ended == 2;
  check();
  atomic {
    ended = 0;
    started = 1;
    if :: WARP0 != 0 -> run warp(0, WARP0) :: else fi;
    if :: WARP1 != 0 -> run warp(1, WARP1) :: else fi;
    if :: WARP2 != 0 -> run warp(2, WARP2) :: else fi
  };
  ended == WARPS;
  check()
}
