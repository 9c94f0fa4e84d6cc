#!/usr/bin/env bash
# Two commands and one file: who replaces it waits for who changes it, and nobody replaces it unasked. Usage: outputs.sh BOUNCER
source "$(dirname "$0")/lib.sh" "$1"

seq 1 1000 >one
seq 2001 3000 >two
mkfifo hold
# An add that has loaded a.bnc and waits for its keys. To open the pipe waits until it reads, behind its lock.
begin_add() {
    bouncer add -q a.bnc hold 2>adder &
    adder=$!
    exec 3>hold
}
# The command is started beside it. It must wait for the add, or has ended already: which of the two is what is tested.
beside_add() { # COMMAND...
    local inode
    inode=$(stat -c %i a.bnc)
    "$@" >out 2>err </dev/null 3>&- &
    other=$!
    for _ in $(seq 300); do
        grep -qE -- "-> OFDLCK .*:$inode " /proc/locks && break
        [[ -d /proc/$other && $(cut -d' ' -f3 "/proc/$other/stat") != Z ]] || break
        sleep 0.1
    done
    echo late >&3
    exec 3>&-
    wait "$adder" || fail "add: $(cat adder)"
    wait "$other" || fail "$*"
    checks=$((checks + 1))
}
fresh() { # a.bnc of `one`, in which there is room
    run 0 bouncer build -q --force --kind bloom --expect 8000 -o a.bnc one
}
echo late >late
run 0 bouncer build -q --kind bloom --expect 8000 -o b.bnc two

# ---- into a file that is being changed
fresh && begin_add && beside_add bouncer merge -q --force -o a.bnc a.bnc b.bnc
for keys in one two late; do run 0 bouncer check -c a.bnc $keys && is "$(wc -l <$keys)"; done
fresh && run 0 bouncer info --json a.bnc && whole=$(value size_bytes)
begin_add && beside_add bouncer fold -q --force a.bnc -o a.bnc --factor 2
for keys in one late; do run 0 bouncer check -c a.bnc $keys && is "$(wc -l <$keys)"; done
run 0 bouncer info --json a.bnc && (($(value size_bytes) * 2 <= whole + 64)) || fail "not folded: $(value size_bytes) of $whole"
fresh && begin_add && beside_add bouncer build -q --force -o a.bnc two
run 0 bouncer check -c a.bnc two && is 1000
run 0 bouncer build -q --kind dcso_bloom -o d.bnc two && run 0 bouncer export --format dcso d.bnc -o d.bloom
fresh && begin_add && beside_add bouncer import --force --format dcso d.bloom -o a.bnc
run 0 bouncer check -c a.bnc two && is 1000
fresh && begin_add && beside_add bouncer export --force --format dcso d.bnc -o a.bnc
same a.bnc d.bloom

# ---- what may not be written is refused before a key is read: nobody writes to this pipe
chmod 755 . && echo old >ro.bnc && chmod 444 ro.bnc
nobody=()
if [[ $(id -u) == 0 ]]; then nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups); fi
if "${nobody[@]}" "$bouncer" --version >/dev/null 2>&1; then # the folder of the build may be root's alone
    refuses "cannot replace ro.bnc: Permission denied" timeout 20 "${nobody[@]}" "$bouncer" build --force -o ro.bnc hold
fi
rm -f ro.bnc

# ---- a file that came while the keys were read stays
bouncer build -q -o n.bnc hold >out 2>err &
other=$!
exec 3>hold
echo mine >n.bnc && cp n.bnc before
echo key >&3
exec 3>&-
status=0
wait "$other" || status=$?
[[ $status == 2 ]] && holds "n.bnc: it exists already" && same n.bnc before || fail "status $status"
rm n.bnc before
# A file that may not be written can be read, and is neither changed nor replaced, for it cannot be locked.
fresh && chmod 444 a.bnc && cp a.bnc before
if [[ ! -w a.bnc ]]; then
    refuses "Permission denied" bouncer add -q a.bnc late
    refuses "Permission denied" bouncer build -q --force -o a.bnc late
    same a.bnc before
fi
run 0 bouncer check -c a.bnc one && is 1000
rm before
nothing_left a.bnc adder b.bnc d.bloom d.bnc hold late one two
passed
