/* The sharing of a filter's file: open_shared, seal, save, and changes under a change_lock (the command's add, remove, rotate,
 * dedup --state; merge_files and fold_file over an input), with a crash of any process at any step.
 * Code: src/format/file_lock.h (the rules), file.cc, change_lock.cc, mapped_snapshot.cc.
 *
 * One name leads to one inode; a rename gives it to another. Each inode has the locks `users`, `entrance` and `change`. Keys are
 * bits, and `content` is what a filter in the inode holds. `told` are the keys whose adds, or saves, were acknowledged.
 *
 * Property: whatever was acknowledged is in the file of that name, at every moment. (A save replaces the whole filter: what was
 * acknowledged before its rename is forgotten with it, legally; what is acknowledged afterwards is not.) A file that says
 * sealed has the content it was sealed with. No process waits for ever.
 *
 * Left out: power cuts and what fsync promises; file systems without locks, and processes that ignore them (mv, cp); a file
 * that does not exist yet; forks, whose locks are their parent's. System calls are single steps, as the kernel makes them. */

// bounds: -DSHARERS=2 -DCHANGERS=1 -DSAVERS=1 -DCRASHES=1
// bounds full: -DSHARERS=2 -DCHANGERS=2 -DSAVERS=1 -DCRASHES=1

// mutant two_namespaces: a change_lock is a flock, which open_shared does not see
// mutant decided_at_begin: a save looks whether the file is shared when it begins, not when it renames
// mutant name_not_checked: open_shared does not look whether its inode still has the name
// mutant name_checked_before_the_lock: open_shared looks, and then locks
// mutant stale_change_lock: a change_lock that was waited for is of an inode that has lost the name, and the save does not look
// mutant loaded_before_the_lock: a change loads the file, and then locks it
// mutant unlocked_before_the_rename: a change gives its lock back, and then renames
// mutant lock_stays_behind: the second save of a change is under the lock of the first file
// mutant no_entrance: a save looks whether the file is shared, and then renames, with nothing held meanwhile
// mutant shared_entrance: two saves are in the entrance at once (a process that may only read a file has no exclusive lock)
// mutant only_shared_users: a save looks whether the file is shared, not whether somebody changes or seals it
// mutant seal_unlocks_first: to become exclusive, a lock is given up and taken anew (as flock does)
// mutant seal_while_shared: seal() does not look whether others have the file open
// mutant live_too_late: open_shared marks the file live after the first add

#ifdef MUTANT_shared_entrance /* needs two saves, and no change */
#undef SAVERS
#define SAVERS 2
#undef CHANGERS
#define CHANGERS 0
#endif

#define PROCESSES (SHARERS + CHANGERS + SAVERS)
#define INODES (1 + 2 * CHANGERS + SAVERS)
#define bit(n) (1 << (n))
#define first_key(me) bit(2 * (me))
#define second_key(me) bit(2 * (me) + 1)

byte name;             /* the inode */
byte made = 1;         /* inodes so far */
short content[INODES]; /* bits of keys */
bool sealed[INODES];
byte users_shared[INODES]; /* bits of processes */
byte users_alone[INODES];
byte entrance[INODES];
byte change[INODES];
short told;
byte crashes;

#define nobody_in(ino) (users_shared[ino] == 0 && users_alone[ino] == 0)
#define nobody_else_shares(ino) ((users_shared[ino] & ~bit(me)) == 0)
#define holds_all_told() assert((told & ~content[name]) == 0)
/* Only behind steps that others see: a crash between two others is one of these. */
#define may_crash() if :: crashes < CRASHES -> crashes++; goto dead :: true fi

/* The end of a process, by itself or not, closes its files. */
inline let_go(ino) {
    d_step {
        users_shared[ino] = users_shared[ino] & ~bit(me);
        users_alone[ino] = users_alone[ino] & ~bit(me);
        entrance[ino] = entrance[ino] & ~bit(me);
        change[ino] = change[ino] & ~bit(me)
    }
}
inline let_all_go() {
    d_step {
        i = 0;
        do
        :: i < INODES ->
            users_shared[i] = users_shared[i] & ~bit(me);
            users_alone[i] = users_alone[i] & ~bit(me);
            entrance[i] = entrance[i] & ~bit(me);
            change[i] = change[i] & ~bit(me);
            i++
        :: else -> break
        od;
        i = 0
    }
}
inline enter(ino) { atomic { entrance[ino] == 0 -> entrance[ino] = bit(me) } }
inline leave(ino) { entrance[ino] = entrance[ino] & ~bit(me) }

/* A new inode with this content, that takes the name. */
inline rename_new(keys, locked) {
    d_step {
        assert(((users_shared[name] | users_alone[name]) & ~bit(me)) == 0); /* whoever has it open keeps its name */
        content[made] = keys;
        sealed[made] = true;
        if
        :: locked -> change[made] = bit(me); users_alone[made] = bit(me)
        :: else
        fi;
        name = made;
        made++
    }
}

proctype sharer(byte me) {
    byte ino;
    byte i;
again:
    ino = name;
    enter(ino);
    may_crash();
#ifdef MUTANT_name_checked_before_the_lock
    if :: name != ino -> let_go(ino); goto again :: else fi;
#endif
    atomic {
        if
        :: users_alone[ino] == 0 -> users_shared[ino] = users_shared[ino] | bit(me)
        :: else -> let_go(ino); goto dead /* refused, unless another has the name, which the next line would tell */
        fi
    }
    may_crash();
#if !defined(MUTANT_name_not_checked) && !defined(MUTANT_name_checked_before_the_lock)
    if :: name != ino -> let_go(ino); goto again :: else fi;
#endif
    leave(ino);
#ifndef MUTANT_live_too_late
    sealed[ino] = false;
#endif
    may_crash();
    d_step { assert(!sealed[ino]); content[ino] = content[ino] | first_key(me) }
    sealed[ino] = false;
    may_crash();
    d_step { told = told | first_key(me); holds_all_told() }
    may_crash();
    /* seal() */
#ifdef MUTANT_seal_unlocks_first
    users_shared[ino] = users_shared[ino] & ~bit(me);
#endif
    atomic {
        if
#ifdef MUTANT_seal_while_shared
        :: true -> users_alone[ino] = bit(me)
#else
        :: nobody_else_shares(ino) && users_alone[ino] == 0 -> users_alone[ino] = bit(me)
#endif
        :: else -> goto refused
        fi
    }
    may_crash();
    {
        short sum = content[ino];
        d_step { sealed[ino] = true; assert(sum == content[ino]); sum = 0 }
    }
    if
    :: users_alone[ino] = 0; goto dead /* and is shared again: it adds no more */
    :: sealed[ino] = false; users_alone[ino] = 0 /* that did not reach the disk: it goes on adding */
    fi;
refused:
    skip; /* and goes on adding */
    d_step { assert(!sealed[ino]); content[ino] = content[ino] | second_key(me) }
    may_crash();
    d_step { told = told | second_key(me); holds_all_told() }
dead:
    skip;
    let_all_go()
}

proctype changer(byte me) {
    byte ino;
    byte i;
    short keys;
again:
    ino = name;
#ifdef MUTANT_loaded_before_the_lock
    keys = content[ino];
#endif
    atomic { change[ino] == 0 -> change[ino] = bit(me) }
    may_crash();
    enter(ino);
    may_crash();
#ifndef MUTANT_two_namespaces
    atomic {
        if
        :: nobody_in(ino) -> users_alone[ino] = bit(me)
        :: else -> if :: name != ino -> let_go(ino); goto again :: else -> goto dead fi
        fi
    }
#endif
    may_crash();
#ifndef MUTANT_stale_change_lock
    if :: name != ino -> let_go(ino); goto again :: else fi;
#endif
    leave(ino);
    may_crash();
#ifndef MUTANT_loaded_before_the_lock
    keys = content[ino];
#endif
    /* the first save */
#ifdef MUTANT_unlocked_before_the_rename
    let_go(ino);
#endif
#if !defined(MUTANT_unlocked_before_the_rename) && !defined(MUTANT_two_namespaces) && !defined(MUTANT_stale_change_lock)
    assert(name == ino); /* the code looks: a process that ignores the locks may have moved it */
#endif
    keys = keys | first_key(me);
#ifdef MUTANT_lock_stays_behind
    rename_new(keys, false);
#else
    rename_new(keys, true);
#endif
    may_crash();
    d_step { told = told | first_key(me); holds_all_told() }
#ifndef MUTANT_lock_stays_behind
    let_go(ino);
#endif
    may_crash();
    /* the second one, of the same lock */
    d_step { keys = keys | second_key(me); rename_new(keys, true); holds_all_told() }
    may_crash();
    d_step { told = told | second_key(me); holds_all_told() }
dead:
    skip;
    let_all_go()
}

proctype saver(byte me) {
    byte ino;
    byte i;
#ifdef MUTANT_decided_at_begin
    if :: users_shared[name] != 0 -> goto dead :: else fi;
#endif
again:
    ino = name;
#ifdef MUTANT_shared_entrance
    entrance[ino] = entrance[ino] | bit(me);
#elif !defined(MUTANT_no_entrance)
    enter(ino);
#endif
    may_crash();
#ifndef MUTANT_decided_at_begin
    if
#ifdef MUTANT_only_shared_users
    :: users_shared[ino] == 0
#else
    :: nobody_in(ino)
#endif
    :: else -> if :: name != ino -> let_go(ino); goto again :: else -> goto dead fi
    fi;
#endif
    if :: name != ino -> let_go(ino); goto again :: else fi;
    /* the new filter has none of the keys that were acknowledged until now */
    d_step { rename_new(first_key(me), false); told = first_key(me); holds_all_told() }
dead:
    skip;
    let_all_go()
}

init {
    byte p;
    sealed[0] = true;
    atomic {
        p = 0;
        do
        :: p < SHARERS -> run sharer(p); p++
        :: p >= SHARERS && p < SHARERS + CHANGERS -> run changer(p); p++
        :: p >= SHARERS + CHANGERS && p < PROCESSES -> run saver(p); p++
        :: p == PROCESSES -> break
        od
    }
}
