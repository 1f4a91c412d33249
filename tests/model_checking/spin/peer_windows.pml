/* Promela model of the exchange of ghosts in allocator/include/dynasoar/platform/peer_windows.h, for SPIN 6.5.
 *
 * What is modelled. RANKS processes in a ring (periodic) or a row; each exchanges with the one before it (side 0) and the
 * one behind it (side 1), EPOCHS times. An exchange is a kernel. It has two thread blocks for each side with a neighbour,
 * or one if the rank's number is LONE or more. A rank has, for each side, WINDOWS windows and two flags, and for each
 * thread block an epoch word. A message has two halves. In epoch k, a thread block looks at has_failed, writes its half
 * into a window of the neighbour (a lone one: both), stores k in its flag there (a lone one: in both), waits for both
 * flags of its side, and reads both halves of the message. A kernel starts when all thread blocks of the one before have
 * ended. Without READS, thread blocks do not read; another kernel follows that does, before the next exchange starts.
 *
 * A thread block is one thread here: the barriers between its threads are taken for granted. It is two processes, for odd
 * and for even kernels, so that nothing but take_turns keeps a kernel from starting.
 *
 * The memory model. A write of another rank's window may become visible late: it stands in a buffer of the writer for
 * this half until some step of a memory process takes it from there, in any order. A fence waits until what its thread
 * block has written is visible. In truth, a thread need not wait at a fence, and the flag that it stores may become
 * visible after its next steps. But until its kernel ends, these only read and change words of its own rank, so for the
 * neighbour it is as if the thread were slow.
 *
 * What is one step, and why no error is missed:
 *   - The look at has_failed, and the write into the buffer. What is written does not depend on steps between the two,
 *     and these can only make it harmless, because they read what must not be overwritten.
 *   - Waiting for both flags, because flags do not become smaller; and the reading after that. A half counts as unread
 *     from when it is written until all thread blocks that read it have done so. So a write that comes too early finds
 *     it unread, whether its reader has waited or not. If a message can be incomplete when it is read, it is so for a
 *     thread block that reads at once.
 *
 * Patience. If the ranks are IMPATIENT, a wait of a thread block with number 0 may fail at any time. The rank's other
 * thread blocks learn of it from has_failed, and its later kernels return immediately. The host of the last rank starts
 * no kernel after the first LAST_KERNELS; if these are fewer than EPOCHS, the rank is gone.
 *
 * What is checked: a message that is read is that of the epoch; nobody writes a half that some thread block of its owner
 * has not read; an epoch is counted only if its message has arrived; all kernels end; without a failure all thread blocks
 * of a kernel have the same epoch, and it is the kernel's number. So a rank with a neighbour that is gone knows of a
 * failure in the end.
 *
 * Three epochs are enough. In epoch 3, windows are used again, and a neighbour may still be in epoch 2, or be ahead of a
 * rank that is in epoch 2. No two neighbours are further apart. Nothing depends on epochs but comparisons with flags and
 * k % 2, so what happens in later epochs can happen in these, perhaps with the windows exchanged. Small scenarios have
 * four epochs nevertheless.
 *
 * How to run: run.py lists the scenarios and runs them. Parameters (-D): RANKS, EPOCHS, WINDOWS, RING, LONE, READS,
 * IMPATIENT, LAST_KERNELS.
 */

#ifndef RANKS
#define RANKS 2
#endif
#ifndef EPOCHS
#define EPOCHS 3
#endif
#ifndef WINDOWS
#define WINDOWS 2
#endif
#ifndef RING
#define RING 1
#endif
#ifndef LONE
#define LONE RANKS
#endif
#ifndef READS
#define READS 1
#endif
#ifndef IMPATIENT
#define IMPATIENT 0
#endif
#ifndef LAST_KERNELS
#define LAST_KERNELS EPOCHS
#endif

/* Ranks. */
#define BEFORE(p) (((p) + RANKS - 1) % RANKS)
#define BEHIND(p) (((p) + 1) % RANKS)
#define NEIGHBOUR(p, s) ((s) == 0 -> BEFORE(p) : BEHIND(p))
#define HAS_NEIGHBOUR(p, s) (RING || ((s) == 0 -> (p) > 0 : (p) < RANKS - 1))
#define SIDES(p) (HAS_NEIGHBOUR(p, 0) + HAS_NEIGHBOUR(p, 1))
#define GRID(p) ((p) >= LONE -> 1 : 2) /* thread blocks of a side */
#define KERNELS(p) ((p) == RANKS - 1 -> LAST_KERNELS : EPOCHS)

/* Halves, flags and thread blocks of side s of rank p, and halves of its windows. */
#define AT(p, s, i) (((p) * 2 + (s)) * 2 + (i))
#define HALF(p, s, i, k) (AT(p, s, i) * WINDOWS + (k) % WINDOWS)
#define PLACES (RANKS * 4)

byte memory[PLACES * WINDOWS];    /* the epoch of what a half of a window has */
byte buffered[PLACES * WINDOWS];  /* what its only writer has written, and is not visible yet; 0: nothing */
byte unread[PLACES * WINDOWS];    /* a bit for each thread block that has to read it */
byte flag[PLACES];                /* what has arrived, says the neighbour of this side */
byte epochs[PLACES];              /* of the last exchange */
bool failed[RANKS];
byte ended[RANKS];                /* thread blocks of all kernels */
byte unpacked[RANKS];             /* kernels that read; only without READS */
byte left;                        /* what has not ended: thread blocks of kernels, and kernels that read */

#define ALL_READERS(p) (READS -> (1 << GRID(p)) - 1 : 1)
#define HAS_ENDED(p, k) (ended[p] >= SIDES(p) * GRID(p) * (k))
#define MAY_START(k) (READS -> HAS_ENDED(me, (k) - 1) : unpacked[me] >= (k) - 1)
#define HAS_ARRIVED(k) (flag[AT(me, s, 0)] >= (k) && flag[AT(me, s, 1)] >= (k))
#define LOOKS_OUT (b == 0) /* for the end of its patience */

/* A half of the message, if it is this thread block's. */
inline write(h) {
  if
  :: h % GRID(me) == b ->
     assert(unread[HALF(neighbour, 1 - s, h, now)] == 0);
     assert(buffered[HALF(neighbour, 1 - s, h, now)] == 0);
     unread[HALF(neighbour, 1 - s, h, now)] = ALL_READERS(neighbour);
     buffered[HALF(neighbour, 1 - s, h, now)] = now
  :: else
  fi
}

#define IS_VISIBLE(h) ((h) % GRID(me) != b || buffered[HALF(neighbour, 1 - s, h, now)] == 0)

inline signal(f) {
  if
  :: f % GRID(me) == b -> flag[AT(neighbour, 1 - s, f)] = now
  :: else
  fi
}

/* What `reader` has to read of half h of the message of epoch k. */
inline read(side, h, k, reader) {
  assert(memory[HALF(me, side, h, k)] == k);
  unread[HALF(me, side, h, k)] = unread[HALF(me, side, h, k)] & ~(1 << reader)
}

inline end_block() {
  assert(HAS_ARRIVED(epochs[AT(me, s, b)]));
  assert(failed[me] || epochs[AT(me, s, b)] == kernel);
  now = 0;
  kernel = kernel + 2;
  ended[me]++;
  left--
}

/* A thread block, in every second kernel. Its three steps are the write, the signal, and the wait with the read. */
proctype block(byte me; byte s; byte b; byte kernel) {
  byte now = 0, neighbour;
  neighbour = NEIGHBOUR(me, s);
  end:
  do
  :: d_step { kernel <= KERNELS(me) && MAY_START(kernel) && failed[me] -> end_block() }
  :: d_step { kernel <= KERNELS(me) && MAY_START(kernel) && !failed[me] ->
       now = epochs[AT(me, s, b)] + 1;
       assert(now == kernel);
       write(0);
       write(1)
     };
     d_step { IS_VISIBLE(0) && IS_VISIBLE(1) -> /* fence_before_flags */
       signal(0);
       signal(1)
     };
     if
     :: d_step { HAS_ARRIVED(now) ->
          epochs[AT(me, s, b)] = now;
          if
          :: READS -> read(s, 0, now, b); read(s, 1, now, b)
          :: else
          fi;
          end_block()
        }
     :: d_step { IMPATIENT && LOOKS_OUT -> failed[me] = true; end_block() }
     :: d_step { failed[me] -> end_block() }
     fi
  od
}

/* Without READS: the kernel that follows the exchange, and takes the epoch from the first thread block's word. After a
 * failure, nobody needs what it reads. */
proctype unpack(byte me) {
  byte k;
  end:
  do
  :: d_step { unpacked[me] < KERNELS(me) && HAS_ENDED(me, unpacked[me] + 1) ->
       if
       :: !failed[me] ->
          k = epochs[AT(me, (HAS_NEIGHBOUR(me, 0) -> 0 : 1), 0)];
          assert(k == unpacked[me] + 1);
          if
          :: HAS_NEIGHBOUR(me, 0) -> read(0, 0, k, 0); read(0, 1, k, 0)
          :: else
          fi;
          if
          :: HAS_NEIGHBOUR(me, 1) -> read(1, 0, k, 0); read(1, 1, k, 0)
          :: else
          fi;
          k = 0
       :: else
       fi;
       unpacked[me]++;
       left--
     }
  od
}

inline make_visible(i) {
  memory[i] = buffered[i];
  buffered[i] = 0
}

/* Makes what is buffered for a half visible, in any order. */
proctype arrival(byte first) {
  end:
  do
  :: d_step { buffered[first] != 0 -> make_visible(first) }
  :: d_step { WINDOWS > 1 && buffered[first + WINDOWS - 1] != 0 -> make_visible(first + WINDOWS - 1) }
  od
}

init {
  byte p, s, b;
  atomic {
    for (p : 0 .. RANKS - 1) {
      for (s : 0 .. 1) {
        if
        :: HAS_NEIGHBOUR(p, s) ->
           run arrival(AT(p, s, 0) * WINDOWS);
           run arrival(AT(p, s, 1) * WINDOWS);
           left = left + GRID(p) * KERNELS(p);
           for (b : 0 .. GRID(p) - 1) {
             run block(p, s, b, 1);
             run block(p, s, b, 2)
           }
        :: else
        fi
      }
      if
      :: READS
      :: else -> left = left + KERNELS(p); run unpack(p)
      fi
    }
  };
  left == 0
}
