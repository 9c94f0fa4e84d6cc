// The growth of a chain of layers, and unions that copy layers into it, beside adds, queries and saves.
// The code: include/bouncer/detail/scalable_chain.h, and around it include/bouncer/scalable.h.
//
// What it models. Adders put their key into the newest grown layer of the counts they saw, and where that is full make the
// next one under `preparing` or `helping` (which they only try), park it and publish it. Mergers wait for both locks, take
// the rate of their copy from what remains, and publish it. Readers ask for every key
// that was acknowledged before they began, and look at the budget as a save would store it. A layer is a set of keys, a rate and
// a remaining rate; rates are small integers that must not add up to more than TOTAL.
//
// Properties, as assertions:
//   - no key is lost: an add or a union that returned is found by every query and save that begins later;
//   - no reader meets an empty slot or a freed layer, and counts never fall;
//   - what the layers of any one moment may spend, with what remains, is within the promise, so every save opens;
//   - grown, parked and copied layers together never exceed the limit;
//   - adders never wait (they have no blocking step; the search finds no deadlock).
//
// What it leaves out. Spin's memory is sequentially consistent: acquire and release are argued in the headers. Bits of a
// layer are one atomic step, as F promises for them; the look for a key before it is added; ORs into layers there are
// (fetch_or, which changes no structure), and so `merging`, which lets one union at a time plan them; the plan of a successor; refusals by memory; when exactly a layer is late;
// capacities and counts: a layer is full with its first key here; exclusive calls.
//
// bounds: -DADDERS=2 -DMERGERS=1 -DREADERS=1
// bounds full: -DADDERS=2 -DMERGERS=2 -DREADERS=1 -DMOST=4
//
// mutant take_back: the old way, a union takes the newest layer out and appends it again behind its copy
// mutant count_first: the count of copies goes up before the slot is filled
// mutant pay_later: the budget pays for a copy after it was published
// mutant growth_goes_on: a union does not wait for threads that make a layer
// mutant helper_forgotten: a union waits for the thread that prepares a layer, not for one that helps
// mutant parked_pays_nothing: only the newest layer pays, not the parked one
// mutant newest_pays_nothing: only the parked layer pays, though the newest one is what a save stores
// mutant parked_not_counted: the limit of layers forgets the parked one
// mutant counts_apart: a reader loads the two counts one after the other
// mutant room_not_seen_again: whether there is room is asked before the locks alone
// mutant park_stores: a layer is parked by a store instead of a compare-exchange
// mutant publish_adds: the grown count goes up by an addition, whoever was faster
// mutant publish_unseen: the grown count goes up without a look whether a layer is parked

#ifndef ADDERS
#define ADDERS 2
#endif
#ifndef MERGERS
#define MERGERS 1
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef MOST
#define MOST 3 // layers: 64 in the code
#endif
#if defined(MUTANT_park_stores) // shown by adds alone: two that make the same layer, and one that uses the first
#undef ADDERS
#define ADDERS 3
#undef MERGERS
#define MERGERS 0
#endif
#define TOTAL 32
#define COPY_RATE 2
#define LAYERS (1 + ADDERS + MERGERS)

byte grown = 1;  // the two counts are one word in the code:
byte copies = 0; // read, and changed, in one step
byte grown_slot[MOST + 1]; // layer + 1; 0 is empty
byte copy_slot[MOST + 1];

byte keys[LAYERS]; // a bit for each adder and merger
byte rate[LAYERS];
byte remaining[LAYERS];
bool freed[LAYERS];

bool preparing, helping;
byte acknowledged; // keys whose add or union has returned

inline used(slot, layer) { // a slot that some count covers, or that was seen filled
    assert(slot != 0);
    layer = slot - 1;
    assert(!freed[layer])
}

inline within_limit() {
    assert(grown + copies + (grown < MOST && grown_slot[grown] != 0 -> 1 : 0) <= MOST)
}

// Makes layer `mine` the one after `seen` grown layers. Requires: `preparing` or `helping`.
inline make_and_park(seen, mine, budget) {
    if
    :: grown_slot[seen] != 0 || grown != seen -> skip
    :: else ->
        if
        :: seen + copies >= MOST -> skip // all layers are used
        :: else ->
            budget = remaining[grown_slot[seen - 1] - 1];
            d_step {
                rate[mine] = budget / 4;
                remaining[mine] = budget - budget / 4
            }
#if defined(MUTANT_park_stores)
            grown_slot[seen] = mine + 1
#else
            d_step {
                if
                :: grown_slot[seen] == 0 -> grown_slot[seen] = mine + 1; within_limit()
                :: else -> freed[mine] = true
                fi
            }
#endif
        fi
    fi
}

inline publish(seen) {
#if defined(MUTANT_publish_adds)
    grown++
#else
    d_step {
        if
        :: grown == seen -> grown++
        :: else -> skip
        fi
    }
#endif
}

proctype adder(byte me) {
    byte seen, newest, budget;
    bool holds_preparing, holds_helping;
    seen = grown;
    used(grown_slot[seen - 1], newest);
    keys[newest] = keys[newest] | (1 << me); // which makes it full
    if
    :: seen == MOST -> skip
    :: else ->
        if
        :: grown_slot[seen] != 0 -> skip
        :: else ->
            atomic {
                if
                :: !preparing -> preparing = true; holds_preparing = true
                :: preparing && !helping -> helping = true; holds_helping = true // it is late
                :: preparing -> skip // others are at it: nobody waits
                fi
            }
            if
            :: holds_preparing || holds_helping -> make_and_park(seen, me + 1, budget)
            :: else -> skip
            fi;
            d_step {
                if
                :: holds_preparing -> preparing = false
                :: holds_helping -> helping = false
                :: else -> skip
                fi
            }
        fi;
#if defined(MUTANT_publish_unseen)
        publish(seen)
#else
        if
        :: grown_slot[seen] != 0 -> publish(seen)
        :: else -> skip
        fi
#endif
    fi;
    d_step { // what it leaves behind would multiply the states
        acknowledged = acknowledged | (1 << me);
        seen = 0; newest = 0; budget = 0; holds_preparing = false; holds_helping = false
    }
}

// Step of a merger: finds the newest layer and the last one that is filled, and whether a copy is refused.
inline look_for_room() {
    d_step {
        seen = grown;
        at = copies
    }
    newest = grown_slot[seen - 1] - 1;
    last = newest;
    if
    :: grown_slot[seen] != 0 -> last = grown_slot[seen] - 1
    :: else -> skip
    fi;
#if defined(MUTANT_parked_not_counted)
    refused = seen + at + 1 > MOST;
#else
    refused = seen + at + (last != newest -> 1 : 0) + 1 > MOST;
#endif
    refused = refused || 2 * COPY_RATE > remaining[last]
}

proctype merger(byte me) {
    byte seen, at, newest, last, mine = me + 1;
    bool refused;
    d_step { // its copy of a layer of the other chain
        keys[mine] = 1 << me;
        rate[mine] = COPY_RATE
    }
#if defined(MUTANT_room_not_seen_again)
    look_for_room();
#endif
#if !defined(MUTANT_growth_goes_on)
    atomic { !preparing -> preparing = true }
#if !defined(MUTANT_helper_forgotten)
    atomic { !helping -> helping = true }
#endif
#endif
#if !defined(MUTANT_room_not_seen_again)
    look_for_room();
#endif
    if
    :: refused -> skip
    :: else ->
#if defined(MUTANT_take_back)
        remaining[newest] = remaining[newest] - COPY_RATE;
        grown_slot[seen - 1] = 0;
        grown--;
        grown_slot[seen - 1] = mine + 1;
        grown++;
        grown_slot[seen] = newest + 1;
        grown++;
#else
#if !defined(MUTANT_pay_later)
#if !defined(MUTANT_newest_pays_nothing)
        remaining[newest] = remaining[newest] - COPY_RATE;
#endif
#if !defined(MUTANT_parked_pays_nothing)
        if
        :: last != newest -> remaining[last] = remaining[last] - COPY_RATE
        :: else -> skip
        fi;
#endif
#if defined(MUTANT_newest_pays_nothing)
        if
        :: last == newest -> remaining[last] = remaining[last] - COPY_RATE
        :: else -> skip
        fi;
#endif
#endif
#if defined(MUTANT_count_first)
        copies++;
        copy_slot[at] = mine + 1;
#else
        copy_slot[at] = mine + 1;
        d_step { // no other counts copies: `at + 1` is the code's addition
            copies = at + 1;
            within_limit()
        }
#endif
#if defined(MUTANT_pay_later)
        remaining[newest] = remaining[newest] - COPY_RATE;
        if
        :: last != newest -> remaining[last] = remaining[last] - COPY_RATE
        :: else -> skip
        fi;
#endif
#endif
    fi;
    d_step {
#if !defined(MUTANT_growth_goes_on)
        preparing = false;
#if !defined(MUTANT_helper_forgotten)
        helping = false;
#endif
#endif
        skip
    }
    d_step {
        if
        :: refused -> skip
        :: else -> acknowledged = acknowledged | (1 << me)
        fi;
        seen = 0; at = 0; newest = 0; last = 0; refused = false
    }
}

// A query of one key, which counts the copies behind the grown layers; or what a save stores, and a batch asks: both counts of
// one moment.
proctype reader() {
    byte expected, found, layer, i, seen_grown, seen_copies, spent, left;
    bool query;
    if
    :: query = true
    :: skip
    fi;
    expected = acknowledged;
#if defined(MUTANT_counts_apart)
    seen_grown = grown;
    seen_copies = copies;
#else
    d_step {
        seen_grown = grown;
        seen_copies = copies
    }
#endif
    assert(seen_grown >= 1);
    used(grown_slot[seen_grown - 1], layer);
    left = remaining[layer];
    i = seen_grown;
    do
    :: i == 0 -> break
    :: else ->
        i--;
        used(grown_slot[i], layer);
        d_step { // a rate never changes once others can see it
            found = found | keys[layer];
            spent = spent + rate[layer]
        }
    od;
    if
    :: query -> seen_copies = copies
    :: else -> skip
    fi;
    do
    :: i == seen_copies -> break
    :: else ->
        used(copy_slot[i], layer);
        d_step {
            found = found | keys[layer];
            spent = spent + rate[layer];
            i++
        }
    od;
    skip; // a loop cannot end in a d_step
    d_step {
        assert((expected & ~found) == 0);
        assert(query || spent + left <= TOTAL);
        assert(grown >= seen_grown && copies >= seen_copies);
        expected = 0; found = 0; layer = 0; i = 0; seen_grown = 0; seen_copies = 0; spent = 0; left = 0;
        query = false
    }
}

init {
    byte p;
    atomic {
        grown_slot[0] = 1;
        rate[0] = TOTAL / 4;
        remaining[0] = TOTAL - TOTAL / 4;
        for (p : 0 .. ADDERS - 1) { run adder(p) }
        for (p : ADDERS .. ADDERS + MERGERS - 1) { run merger(p) }
        for (p : 1 .. READERS) { run reader() }
    }
    _nr_pr == 1;
    run reader() // when all is over
}
