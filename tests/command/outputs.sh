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
fresh && begin_add && beside_add bouncer merge -q --in-place a.bnc b.bnc
for keys in one two late; do run 0 bouncer check -c a.bnc $keys && is "$(wc -l <$keys)"; done
fresh && run 0 bouncer info --json a.bnc && whole=$(value size_bytes)
begin_add && beside_add bouncer fold -q --in-place a.bnc --factor 2
for keys in one late; do run 0 bouncer check -c a.bnc $keys && is "$(wc -l <$keys)"; done
run 0 bouncer info --json a.bnc && (($(value size_bytes) * 2 <= whole + 64)) || fail "not folded: $(value size_bytes) of $whole"
fresh && begin_add && beside_add bouncer build -q --force -o a.bnc two
run 0 bouncer check -c a.bnc two && is 1000
run 0 bouncer build -q --kind dcso_bloom -o d.bnc two && run 0 bouncer export --format dcso d.bnc -o d.bloom
fresh && begin_add && beside_add bouncer import --force --format dcso d.bloom -o a.bnc
run 0 bouncer check -c a.bnc two && is 1000
fresh && begin_add && beside_add bouncer export --force --format dcso d.bnc -o a.bnc
same a.bnc d.bloom
rm a.bnc && fresh

# ---- what may not be written is refused before a key is read: nobody writes to this pipe
chmod 755 . && cp b.bnc ro.bnc && chmod 444 ro.bnc
nobody=()
if [[ $(id -u) == 0 ]]; then nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups); fi
if "${nobody[@]}" "$bouncer" --version >/dev/null 2>&1; then # the folder of the build may be root's alone
    refuses "cannot replace ro.bnc: Permission denied" timeout 20 "${nobody[@]}" "$bouncer" build --force -o ro.bnc hold
fi
rm -f ro.bnc

# ---- what is an input, or not a filter, is never replaced
mkdir kept && seq 5 >kept/keys && printf 'old' >kept/notes.txt && gzip -c kept/keys >kept/keys.gz
ln -s keys kept/soft && ln kept/keys kept/hard && cp a.bnc kept/a.bnc && ln -s a.bnc kept/soft.bnc && cp d.bloom kept/d.bloom
echo 000102030405060708090a0b0c0d0e0f >kept/secret
cp -a kept before
stays() { # TEXT COMMAND...: refused, and no file has changed
    refuses "$@"
    diff -r kept before >/dev/null || fail "a file changed: ${*:2}"
}
for name in keys soft hard; do
    stays "kept/$name: the output is also an input" bouncer build --force -o kept/$name kept/keys
    stays "kept/$name: the output is also an input" bouncer build --force -o kept/$name late kept/hard
done
for name in kept/keys kept/soft kept/../kept/hard "$PWD/kept/keys"; do
    status=0
    bouncer build --force -o "$name" <kept/keys >out 2>err || status=$?
    [[ $status == 2 ]] && holds "$name: the output is also an input, standard input" && diff -r kept before >/dev/null || fail "standard input: $status"
done
stays "kept/secret: the output is also an input" bouncer build --force --key-file kept/secret -o kept/secret kept/keys
for command in "build one" "build --kind ribbon one" "merge a.bnc b.bnc" "fold --factor 2 a.bnc" "import --format dcso d.bloom" "export --format dcso d.bnc"; do
    for name in notes.txt keys.gz keys soft; do
        # shellcheck disable=SC2086
        stays "kept/$name: exists, and is not a filter but" bouncer $command --force -o kept/$name
        # shellcheck disable=SC2086
        stays "kept/$name: exists, and is not a filter but" bouncer $command -o kept/$name
    done
    for name in /dev/null hold; do
        # shellcheck disable=SC2086
        stays "$name: is not a regular file, and is not replaced" bouncer $command --force -o $name
    done
done
for command in "build one" "merge a.bnc b.bnc" "fold --factor 2 a.bnc" "import --format dcso d.bloom"; do
    # shellcheck disable=SC2086
    stays "kept/d.bloom: exists, and is not a filter but a DCSO filter" bouncer $command --force -o kept/d.bloom
    # shellcheck disable=SC2086
    stays "kept/soft.bnc: exists already; --force replaces it" bouncer $command -o kept/soft.bnc
done
stays "kept/soft.bnc: the output is also an input" bouncer merge --force -o kept/soft.bnc kept/a.bnc b.bnc
stays "kept/soft.bnc: the output is also an input" bouncer fold --force -o kept/soft.bnc kept/a.bnc --factor 2
stays "d.bloom: the output is also an input" bouncer import --force --format dcso d.bloom -o d.bloom
stays "d.bnc: the output is also an input" bouncer export --force --format dcso d.bnc -o d.bnc
stays "kept/notes.txt: this is text, not a Bouncer filter" bouncer merge --in-place kept/notes.txt a.bnc
stays "kept/notes.txt: this is text, not a Bouncer filter" bouncer fold --in-place kept/notes.txt --factor 2
stays "kept/notes.txt: this is text, not a Bouncer filter" bouncer dedup --state kept/notes.txt one
stays "standard output takes no filter" bouncer build -o - one
# Lines printed into the filter itself would damage it.
for command in "check kept/a.bnc one" "check b.bnc -f kept/soft.bnc one" "info kept/a.bnc" "verify kept/a.bnc" "doctor kept/a.bnc" "overlap b.bnc kept/a.bnc" \
    "merge --json -o no.bnc kept/a.bnc" "dedup --state kept/a.bnc one" "bench kept/a.bnc"; do
    status=0
    # shellcheck disable=SC2086
    bouncer $command >>kept/a.bnc 2>err </dev/null || status=$?
    [[ $status == 2 ]] && holds "standard output goes into this very file" && diff -r kept before >/dev/null || fail "$status: $command >>kept/a.bnc"
done
# So would a report among the keys that are read, or in the file that is replaced.
for command in "build --json --force -o no.bnc kept/keys" "add --json b.bnc kept/keys" "remove --trust --json c.bnc kept/keys"; do
    [[ $command != remove* ]] || run 0 bouncer build -q --kind counting_bloom -o c.bnc one
    status=0
    # shellcheck disable=SC2086
    bouncer $command >>kept/keys 2>err </dev/null || status=$?
    [[ $status == 2 ]] && holds "the input is also the output" && diff -r kept before >/dev/null || fail "$status: $command >>kept/keys"
done
status=0
bouncer build --json --force -o kept/a.bnc one >>kept/a.bnc 2>err || status=$?
[[ $status == 2 ]] && holds "standard output goes into this very file" && diff -r kept before >/dev/null || fail "$status: the report into the filter"
rm c.bnc
# An empty file holds nothing to lose, a damaged filter is one; each takes --force.
: >kept/notes.txt && refuses "exists already; --force replaces it" bouncer build -o kept/notes.txt one
run 0 bouncer build -q --force -o kept/notes.txt one && run 0 bouncer check -c kept/notes.txt one && is 1000
printf '\x5a' | dd of=kept/a.bnc bs=1 seek=100 conv=notrunc status=none && run 0 bouncer build -q --force -o kept/soft.bnc two && run 0 bouncer check -c kept/a.bnc two && is 1000
run 0 bouncer export --force --format dcso d.bnc -o kept/d.bloom && same kept/d.bloom d.bloom
rm -r kept before
# What came while the keys were read is no filter: it stays, and the filter is not written.
bouncer build -q --force -o n.bnc hold >out 2>err &
other=$!
exec 3>hold
echo mine >n.bnc
echo key >&3
exec 3>&-
status=0
wait "$other" || status=$?
[[ $status == 2 && $(cat n.bnc) == mine ]] && holds "n.bnc: exists, and is not a filter but text" || fail "status $status"
rm n.bnc

# ---- a file that came while the keys were read stays
bouncer build -q -o n.bnc hold >out 2>err &
other=$!
exec 3>hold
cp b.bnc n.bnc && cp n.bnc before
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
