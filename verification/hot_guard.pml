// hot<F> and rebuilder<F>: how readers hold a version without a lock, how a writer finds out who does, and how a rebuild
// loses no add. The code: detail/hot_guard.h (readers), detail/hot_publisher.h (writers), detail/hot_sink.h,
// rebuilder.h, hot.h; src/lifecycle/hot_record.cc and hot_publisher.cc.
//
// What it models. Threads ask or add. Each has a record with one entry, in which it marks the version it uses, and a
// store buffer: what it stores becomes visible later, in order. An atomic OR of a filter's bits becomes visible at once,
// before older stores, or in their order: both are allowed. A swapper replaces the filter, or cancels the rebuild. A
// rebuilder publishes the shadow, waits for adds that do not know it, asks the source of truth, writes what it gives by a
// record of its own, and promotes the shadow. membarrier empties each thread's buffer at some moment before it returns;
// the system may refuse it. Runs without membarrier, where a mark is an exchange, are in the same search. Addresses of
// freed versions are used again.
//
// Property.
//   1. Nobody reads a version, or writes a filter, that is freed; and a write that is still in a store buffer when its
//      filter is freed counts too.
//   2. Every key whose add returned is in the filter that serves, at every moment, whatever is swapped, rebuilt or
//      cancelled; and a query finds every key whose add returned before it began. By the contract in rebuilder.h: a key is in
//      the source of truth before its add begins (its store may still be in the buffer), or its add begins after
//      rebuilding() was seen true or the source was called.
//   3. The source is asked when no add runs any more that does not know the shadow. (2 needs only the barrier before.)
//
// What it leaves out. Loads are in program order, and a store reaches all threads at once (true on x86, and on ARM for
// the acquire loads that the code has; not on POWER). What the compiler may reorder. Nested handles and the ends of
// threads: one entry per record, and records are not passed on. Two hot<F> in one process. Epochs of filters that forget
// (a rotation writes the shadow first). A filter that was swapped in has every key, so what a swap loses by its contract
// does not show. Memory that cannot be had. Liveness: that a wait ends.
//
// bounds: -DSIZE=1 -DBUFFER=2
// bounds full: -DSIZE=2 -DBUFFER=3
//
// mutant no_membarrier: a writer scans without a barrier
// mutant plain_mark: without membarrier, a mark is a store like any other
// mutant no_recheck: a reader does not look at the current version again after its mark
// mutant mark_after_recheck: a reader marks after its second look
// mutant scan_before_publish: a writer looks at the entries first and publishes then
// mutant registry_before_publish: a writer takes the list of records first and publishes then
// mutant free_without_scan: a replaced version is freed after the barrier, whoever holds it
// mutant barrier_of_the_oldest: the barrier is left out when an older retired version has had one
// mutant refusal_ignored: a refused membarrier counts as one
// mutant end_not_release: the end of a use may be seen before what was written in it
// mutant sink_without_guard: the sink writes the shadow without holding a version
// mutant no_wait: the source is asked while adds run that do not know the shadow
// mutant adds_marked_as_asks: an add marks its version like a query, so the rebuild does not wait for it
// mutant source_before_shadow: the source is asked before the shadow is published
// mutant add_misses_shadow: an add writes the serving filter only
// mutant swap_drops_shadow: a swap publishes its version without the shadow
// mutant promote_after_cancel: a cancelled rebuild is promoted all the same

// SIZE says which runs there are (see init); BUFFER is how many stores a thread's buffer holds: a thread waits while it is full.

// Threads with a record, by number.
#define ASKER 0
#define ADDER 1
#define REBUILDER 2
#define THREADS 3

#define REBUILDS 1
#define SLOTS 6 // addresses; more than are ever in use at once

// Filters: the first, one per rebuild (by its number), and the one that is swapped in.
#define SWAPPED (REBUILDS + 1)
#define FILTERS (REBUILDS + 2)
#define NO_SHADOW 255

// How much is done: of a run, chosen in init.
byte asks, adds, swaps, rebuilds;
mtype = { with_membarrier, refused_membarrier, with_exchange };
mtype mode;
#define marks_are_stores (mode != with_exchange)

// ---- memory

// A version, by its address: fixed from its publication until it is freed.
byte serving[SLOTS];
byte shadow[SLOTS];
byte live = 1;         // sets of addresses: given out,
byte retired;          // replaced and not yet freed,
byte barrier_done;     // of these: a barrier has passed since
byte owners[FILTERS];  // how many versions own a filter, as shared_ptr counts
bool content[FILTERS]; // whether the filter has the key; there is one key

byte current;          // address of the current version
bool truth;            // whether the key is in the source of truth
bool acked;            // not in the code: an add of the key returned, as others may know
bool locked;           // the publisher's mutex, in sections of more than one step
byte begun, ended;     // the last rebuild that was claimed; that was cancelled or promoted
bool source_called;    // by the last rebuild

// A thread's record has one entry.
#define ASK 0
#define ADD 1
#define mark_of(address, use) (1 + 2 * (address) + (use)) // 0: the entry is free
#define address_of(mark) (((mark) - 1) / 2)
#define use_of(mark) (((mark) - 1) % 2)
byte entry[THREADS];
byte registered;    // threads whose record is in the registry
byte held[THREADS]; // not in the code: 1 + the address of the version that the thread uses; 0: none

#define current_has_key content[serving[current]]

// ---- store buffers: what a byte in them says
#define END 0         // the entry is free again
                      // 1 to 63: the mark that the entry has
#define END_OF_ADD 64 // the entry is free again; from then on others may know that the add returned
#define TRUTH 65      // the key is in the source of truth
#define ACK 66        // mutants only: others may know that the add returned
#define OR 128        // + filter: the key is in the filter
chan buffer[THREADS] = [BUFFER] of { byte };

// The oldest store of a thread becomes visible.
inline commit(t) {
    buffer[t] ? item;
    if
    :: item >= OR ->
        assert(owners[item - OR] > 0); // a write to a filter that is freed
        content[item - OR] = true
    :: item == TRUTH -> truth = true
    :: item == END_OF_ADD || item == ACK ->
        if
        :: item == END_OF_ADD -> entry[t] = END
        :: else
        fi;
        acked = true;
        assert(current_has_key) // an add returned, and its key is not in the filter that serves
    :: else -> entry[t] = item
    fi;
    item = 0
}

active proctype caches() {
    byte item;
end:
    do
    :: d_step { nempty(buffer[ASKER]) -> commit(ASKER) }
    :: d_step { nempty(buffer[ADDER]) -> commit(ADDER) }
    :: d_step { nempty(buffer[REBUILDER]) -> commit(REBUILDER) }
    od
}

// ---- readers: hot_guard.h

// E: with membarrier a store, otherwise an exchange, before which the buffer empties.
inline store_mark(t, use) {
    if
    :: atomic { marks_are_stores && nfull(buffer[t]) -> buffer[t] ! mark_of(seen, use) }
#ifdef MUTANT_plain_mark
    :: atomic { !marks_are_stores && nfull(buffer[t]) -> buffer[t] ! mark_of(seen, use) }
#else
    :: atomic { !marks_are_stores && empty(buffer[t]) -> entry[t] = mark_of(seen, use) }
#endif
    fi
}

// Holds the current version, whose address is in `seen` then. The record is pushed before its first mark.
inline hold(t, use) {
    atomic { registered = registered | 1 << t; seen = current };
#ifndef MUTANT_mark_after_recheck
    store_mark(t, use);
#endif
#ifdef MUTANT_no_recheck
    held[t] = 1 + seen;
#else
    do
    :: atomic { seen == current -> // C
           held[t] = 1 + seen;
           assert(!acked || current_has_key); // a query misses a key whose add returned
           break }
    :: atomic { seen != current -> seen = current }
#ifndef MUTANT_mark_after_recheck
       store_mark(t, use)
#endif
    od;
#endif
#ifdef MUTANT_mark_after_recheck
    store_mark(t, use);
#endif
}

// Sets the key's bits, unless they are set: by an OR that is visible at once, or after the stores before it.
inline write_key(t, filter) {
    if
    :: atomic { content[filter] -> assert(owners[filter] > 0) }
    :: atomic { !content[filter] -> assert(owners[filter] > 0); content[filter] = true }
    :: atomic { !content[filter] && nfull(buffer[t]) -> assert(owners[filter] > 0); buffer[t] ! OR + filter }
    fi
}

proctype asker() {
    byte seen;
    do
    :: asks == 0 -> break
    :: asks > 0 ->
        hold(ASKER, ASK);
        atomic { buffer[ASKER] ! END; held[ASKER] = 0; seen = 0; asks-- }
    od
}

proctype adder() {
    byte seen;
    do
    :: adds == 0 -> break
    :: adds > 0 ->
        if // the contract
        :: rebuilds == 0 // nobody asks for the truth
        :: rebuilds > 0 -> buffer[ADDER] ! TRUTH
        :: !locked && shadow[current] == rebuilds // rebuilding() was seen true
        :: source_called
        fi;
#ifdef MUTANT_adds_marked_as_asks
        hold(ADDER, ASK);
#else
        hold(ADDER, ADD);
#endif
        write_key(ADDER, serving[seen]);
#ifndef MUTANT_add_misses_shadow
        if
        :: shadow[seen] != NO_SHADOW -> write_key(ADDER, shadow[seen])
        :: shadow[seen] == NO_SHADOW
        fi;
#endif
#ifdef MUTANT_end_not_release
        atomic { entry[ADDER] = END; held[ADDER] = 0 };
        atomic { buffer[ADDER] ! ACK; seen = 0; adds-- }
#else
        atomic { buffer[ADDER] ! END_OF_ADD; held[ADDER] = 0; seen = 0; adds-- }
#endif
    od
}

// ---- writers: hot_publisher.cc

#define WRITER byte at, records, used, written, item; bool refused

#define takes_part(t) ((t == ASKER && asking) || (t == ADDER && adding) || (t == REBUILDER && rebuilds > 0))
bool asking, adding;

// Steps to the next thread that takes part.
inline next_thread() {
    at++;
    do
    :: at < THREADS && !takes_part(at) -> at++
    :: else -> break
    od
}
inline first_thread() {
    do
    :: at < THREADS && !takes_part(at) -> at++
    :: else -> break
    od
}

// P in every thread, one after the other.
inline pass_barriers() {
    do
    :: d_step {
            first_thread();
            do
            :: at < THREADS && len(buffer[at]) > 0 -> commit(at)
            :: else -> break
            od;
            next_thread()
        };
        if
        :: at >= THREADS -> at = 0; break
        :: else
        fi
    od
}

// Takes the lock, and lets every thread pass a barrier if a version was retired since the last one. (The code looks at
// the newest retired version only: if that one has had its barrier, all have.)
#ifdef MUTANT_barrier_of_the_oldest
#define barrier_due (retired != 0 && (retired & barrier_done) == 0)
#else
#define barrier_due ((retired & ~barrier_done) != 0)
#endif
inline lock_and_barrier() {
    if
    :: atomic { !locked && !barrier_due -> locked = true }
#ifdef MUTANT_no_membarrier
    :: atomic { !locked && barrier_due -> locked = true }
#else
    :: atomic { !locked && barrier_due && mode == with_exchange -> locked = true }
    :: atomic { !locked && barrier_due && mode == refused_membarrier -> locked = true; refused = true }
    :: atomic { !locked && barrier_due && mode == with_membarrier -> locked = true }
       pass_barriers()
#endif
    fi;
#ifdef MUTANT_refusal_ignored
    refused = false;
#endif
    if
    :: !refused -> barrier_done = retired
    :: refused
    fi
}

// S: `used` and `written` are the versions in use, and in use for adding.
inline look_at_entries() {
#ifdef MUTANT_registry_before_publish
    if
    :: records == 0 -> records = registered
    :: else
    fi;
#else
    records = registered;
#endif
    do
    :: d_step {
            first_thread();
            if
            :: at < THREADS && records >> at & 1 && entry[at] != END ->
                used = used | 1 << address_of(entry[at]);
                written = written | use_of(entry[at]) << address_of(entry[at])
            :: else
            fi;
            next_thread()
        };
        if
        :: at >= THREADS -> at = 0; break
        :: else
        fi
    od;
    records = 0
}

inline let_go(filter) {
    owners[filter]--;
    if
    :: owners[filter] == 0 && filter != SWAPPED -> content[filter] = false
    :: else
    fi
}

// Frees the retired versions that nobody uses, and leaves the lock. The code deletes them a little later.
inline free_unused() {
    d_step {
#ifdef MUTANT_free_without_scan
        used = 0;
#endif
        do
        :: at < SLOTS ->
            if
            :: retired & barrier_done & ~used & 1 << at ->
                assert(held[ASKER] != 1 + at && held[ADDER] != 1 + at && held[REBUILDER] != 1 + at); // freed in use
                retired = retired & ~(1 << at);
                barrier_done = barrier_done & ~(1 << at);
                live = live & ~(1 << at);
                let_go(serving[at]);
                if
                :: shadow[at] != NO_SHADOW -> let_go(shadow[at])
                :: else
                fi;
                serving[at] = 0;
                shadow[at] = 0
            :: else
            fi;
            at++
        :: else -> break
        od;
        at = 0; used = 0; written = 0; refused = false;
        locked = false
    }
}

inline reclaim() {
#ifdef MUTANT_scan_before_publish
    d_step { barrier_done = retired; locked = true };
    free_unused()
#else
    if
    :: !locked && retired == 0
    :: !locked && retired != 0 ->
        lock_and_barrier();
        look_at_entries();
        free_unused()
    fi
#endif
}

// X, in one step with the decision to publish: what else happens under the lock is not seen from outside. Takes the
// lowest free address, so that addresses come back soon; the code allocates a little earlier.
inline exchange(asked, also) {
    do
    :: live >> at & 1 -> at++
    :: else -> break
    od;
    live = live | 1 << at;
    serving[at] = asked;
    shadow[at] = also;
    owners[asked]++;
    if
    :: also != NO_SHADOW -> owners[also]++
    :: else
    fi;
    retired = retired | 1 << current;
    current = at;
    at = 0;
    assert(!acked || current_has_key) // a query that begins now misses a key whose add returned
}

// Mutants only: what looks at readers before the exchange.
inline before_exchange() {
#ifdef MUTANT_registry_before_publish
    records = 1 << THREADS | registered; // the further bit: it was taken
#endif
#ifdef MUTANT_scan_before_publish
    atomic { !locked -> locked = true };
    pass_barriers();
    look_at_entries();
    locked = false;
#endif
    skip
}

// ---- hot.h and rebuilder.h

inline drop(rebuild) {
    before_exchange();
    if
    :: d_step { !locked && ended < rebuild && shadow[current] == rebuild ->
           ended = rebuild;
           exchange(serving[current], NO_SHADOW) }
       reclaim()
    :: d_step { !locked && ended < rebuild && shadow[current] != rebuild -> ended = rebuild }
    :: !locked && ended == rebuild
    fi
}

proctype swapper() {
    WRITER;
    byte rebuild;
    do
    :: swaps == 0 -> break
    :: swaps > 0 ->
        before_exchange();
#ifdef MUTANT_swap_drops_shadow
        d_step { !locked -> exchange(SWAPPED, NO_SHADOW) };
#else
        d_step { !locked -> exchange(SWAPPED, shadow[current]) };
#endif
        reclaim();
        swaps--
    :: atomic { swaps > 0 && begun > ended -> rebuild = begun } // cancel
        drop(rebuild);
        atomic { rebuild = 0; swaps-- }
    od
}

// The rebuilder's thread publishes when its own writes are visible: the exchange is a release.
#define mine_visible empty(buffer[REBUILDER])

proctype rebuilder() {
    WRITER;
    byte seen, rebuild;
    bool given; // the source gave the key
    do
    :: rebuild == rebuilds -> break
    :: rebuild < rebuilds ->
        atomic { rebuild++; begun = rebuild };
#ifdef MUTANT_source_before_shadow
        atomic { given = truth; source_called = true };
#endif
        before_exchange();
        if // begin
        :: d_step { !locked && ended < rebuild && mine_visible -> exchange(serving[current], rebuild) }
        :: !locked && ended == rebuild -> goto end_of_rebuild
        fi;
        reclaim();
#ifndef MUTANT_no_wait
        do // wait_for_older_adds
        ::  lock_and_barrier();
            look_at_entries();
            d_step {
                // Of the retired versions, those by which somebody adds without the shadow.
                written = written & retired;
                do
                :: at < SLOTS ->
                    if
                    :: shadow[at] == rebuild -> written = written & ~(1 << at)
                    :: else
                    fi;
                    at++
                :: else -> break
                od;
                at = 0; used = 0;
                locked = false
            };
            if
            :: refused -> atomic { written = 0; refused = false; goto cancel }
            :: !refused && written == 0 -> break
            :: !refused && written != 0 && ended == rebuild -> written = 0; goto cancel
            :: !refused && written != 0 && ended < rebuild -> written = 0
            fi
        od;
#endif
#ifndef MUTANT_source_before_shadow
        atomic {
            assert(ended == rebuild || held[ADDER] == 0 || shadow[held[ADDER] - 1] == rebuild); // an older add runs
            given = truth;
            source_called = rebuild == rebuilds
        };
#endif
#ifdef MUTANT_sink_without_guard
        atomic { assert(owners[rebuild] > 0); content[rebuild] = content[rebuild] || given };
#else
        hold(REBUILDER, ADD); // the sink
        if
        :: shadow[seen] == rebuild && given -> write_key(REBUILDER, rebuild)
        :: shadow[seen] == rebuild && !given
        :: else -> atomic { buffer[REBUILDER] ! END; held[REBUILDER] = 0; seen = 0; goto cancel }
        fi;
        atomic { buffer[REBUILDER] ! END; held[REBUILDER] = 0; seen = 0 };
#endif
        before_exchange();
        if // promote
        :: d_step { !locked && ended < rebuild && mine_visible ->
               ended = rebuild;
               exchange(rebuild, NO_SHADOW) }
           reclaim()
#ifdef MUTANT_promote_after_cancel
        :: d_step { !locked && ended == rebuild && mine_visible -> exchange(rebuild, NO_SHADOW) }
           reclaim()
#else
        :: !locked && ended == rebuild
#endif
        fi;
        goto end_of_rebuild;
    cancel:
        drop(rebuild);
    end_of_rebuild:
        given = false
    od
}

init {
    atomic {
        if
#if SIZE == 1
        :: asks = 2; swaps = 2
        :: adds = 1; rebuilds = 1 // part of the next; small, so that mutants are refuted sooner
        :: adds = 1; swaps = 1; rebuilds = 1
#else
        :: asks = 2; adds = 1; swaps = 2
        :: adds = 1; swaps = 2; rebuilds = 1
        :: asks = 1; adds = 1; rebuilds = 1
#endif
        fi;
        if
        :: mode = with_membarrier
        :: mode = refused_membarrier
        :: mode = with_exchange
        fi;
        asking = asks > 0;
        adding = adds > 0;
        content[SWAPPED] = true;
        owners[0] = 1;
        shadow[0] = NO_SHADOW;
        run asker();
        run adder();
        run swapper();
        run rebuilder()
    }
}
