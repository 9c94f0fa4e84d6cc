#!/usr/bin/env bash
# bouncer build without --expect: how many keys it makes room for, wherever they come from. Usage: counting.sh BOUNCER
source "$(dirname "$0")/lib.sh" "$1"

makes_room_for() { # COUNT INPUT...: keys of the input, and the design of the filter
    local count=$1
    shift
    run 0 bouncer build --json --force -o n.bnc "$@"
    [[ $(value keys) == "$count" && $(value keys_design) == $((count > 0 ? count : 1)) ]] ||
        fail "$(value keys) keys, room for $(value keys_design), not $count: $*"
}

# ---- files that are counted in pieces of 128 KiB, on all cores beyond 1 MiB
piece=$((128 << 10))
line=0123456789abcde # 16 bytes with its end
lines() { yes $line 2>/dev/null | head -c "$1" || true; }
for pieces in 1 3 8 9 24; do
    lines $((pieces * piece)) >f # ends with a line and a piece
    makes_room_for $((pieces * piece / 16)) f
    { cat f && printf x; } >g # a line without its end, alone in the last piece
    makes_room_for $((pieces * piece / 16 + 1)) g
    head -c -1 f >g # the last line is without its end, one byte before the border
    makes_room_for $((pieces * piece / 16)) g
    { head -c -1 f && printf x; } >g # without its end, at the border
    makes_room_for $((pieces * piece / 16)) g
done
tr '\n' '\0' <f >g && makes_room_for $((24 * piece / 16)) -0 g
{ head -c $((9 * piece)) /dev/zero | tr '\0' x && echo; } >g && makes_room_for 1 g # one line over all pieces
: >empty && makes_room_for 0 empty
makes_room_for $((24 * piece / 16)) empty f
printf x >g && makes_room_for 1 g
makes_room_for 2 g g

# ---- files of which the system says that they have no bytes, or more than they have
if [[ -s /proc/filesystems || $(wc -c </proc/filesystems 2>/dev/null) -gt 0 ]]; then
    makes_room_for "$(wc -l </proc/filesystems)" /proc/filesystems
    makes_room_for $(($(wc -l </proc/filesystems) + 24 * piece / 16)) f /proc/filesystems
fi
shorter=/sys/kernel/mm/transparent_hugepage/enabled
if [[ -r $shorter ]]; then makes_room_for 1 $shorter; fi

# ---- standard input that is a file is counted from where it stands, and read from there
from_input() { # COUNT FLAG...: with f open as standard input, behind its first line
    local count=$1
    shift
    { read -r _ && bouncer build --json --force -o n.bnc "$@"; } <in >out 2>err || fail "build < in"
    [[ $(value keys) == "$count" && $(value keys_design) == "$count" ]] ||
        fail "$(value keys) keys, room for $(value keys_design), not $count: $* <in"
}
seq 1 300000 >in
from_input 299999
from_input 299999 -
printf 'a\nb' >more && from_input 300001 more - && from_input 300001 - more
run_in 0 bouncer build -q --force -o n.bnc && run 0 bouncer check -c n.bnc in && is 300000
# That it was counted: the hashes of a pipe would go to a temporary file.
run_in 0 env TMPDIR="$work/none" bouncer build -q --force --memory 1MiB -o n.bnc
gzip -c in >packed && mv packed in
run_in 0 bouncer build --json --force -o n.bnc && [[ $(value keys) == 300000 && $(value keys_design) == 300000 ]] || fail gzip
printf '\3\0\0\0abc\0\0\0\0' >in
run_in 0 bouncer build --json --force --length-prefixed -o n.bnc && [[ $(value keys) == 2 && $(value keys_design) == 2 ]] || fail prefixed
# A pipe.
seq 1 1000 | bouncer build --json --force -o n.bnc >out && [[ $(value keys) == 1000 && $(value keys_design) == 1000 ]] || fail pipe

# ---- --memory holds for the filter and the hashes together. Checkers keep what is freed, and cannot tell.
if command -v python3 >/dev/null && ! grep -qE '__(asan|tsan)_init' "$bouncer"; then
    peak_of_build() { # FLAG...: KiB that it takes at most, reading 4 million keys from a pipe
        seq 4000000 | python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$bouncer" build -q --force -o n.bnc "$@"
    }
    known=$(peak_of_build --expect 4M) # the filter, 4932 KiB, and what reading takes
    spooled=$(peak_of_build --memory 6MiB)
    checks=$((checks + 1))
    ((spooled < known + 6144 - 4932 + 2048)) || fail "$spooled KiB at most, where a filter without hashes takes $known"
    run 0 bouncer check -c n.bnc <(seq 4000000) && is 4000000
    status=0
    seq 4000000 | bouncer build -q --memory 4940KiB -o none.bnc 2>err || status=$?
    [[ $status == 2 && ! -e none.bnc ]] && holds "to read its hashes, and --memory allows" || fail "no room for hashes: $status"
fi
# Hashes that leave the memory keep their order, by which a stable_bloom forgets.
seq 200000 >in
run 0 bouncer build -q --force --kind stable_bloom -o n.bnc in
cat in | bouncer build -q --force --memory 2MiB --kind stable_bloom -o spooled.bnc
cmp -s <(tail -c +4097 spooled.bnc | head -c 1500000) <(tail -c +4097 n.bnc | head -c 1500000) || fail "another order"
passed
