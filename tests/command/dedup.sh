#!/usr/bin/env bash
# bouncer dedup, with real files and real pipes. Usage: dedup.sh BOUNCER [LINES]
source "$(dirname "$0")/lib.sh" "$1"
total=${2:-500000}

# Half a million lines (fewer under a checker), many of them repeated, in an order that is no order; what awk says is the truth.
awk -v n="$total" 'BEGIN { srand(7); for (i = 0; i < n; ++i) print "line " int(rand() * 300000) % 123457 * 7 }' >lines
awk '!seen[$0]++' lines >wanted
distinct=$(wc -l <wanted)

# By the clock: seen, then forgotten. It takes nine seconds and runs in the background; the last lines look at it.
(echo a && sleep 0.1 && echo a && sleep 9 && echo a) | bouncer dedup --window 6s -c >by_the_clock &
by_the_clock=$!

for way in "" --exact "--filter --fpr 1e-9" "--filter --fpr 1e-9 --expect 1K" "--window 10M" "--window 24h"; do
    # shellcheck disable=SC2086
    run 0 bouncer dedup $way lines && same out wanted
    # shellcheck disable=SC2086
    bouncer dedup $way <lines >out && same out wanted
    # shellcheck disable=SC2086
    run 0 bouncer dedup -c $way lines && is "$distinct"
done
# Standard input by its name, alone and before others: what guesses from the file must not move in it.
printf 'line 0\nanother\n' >other
(cat wanted && grep -vxFf wanted other) >wanted_more
for way in "" --exact "--filter --fpr 1e-9" "--state seen.bnc" "--window 10M"; do
    rm -f seen.bnc
    # shellcheck disable=SC2086
    bouncer dedup $way - <lines >out && same out wanted
    rm -f seen.bnc
    # shellcheck disable=SC2086
    bouncer dedup $way - other <lines >out && same out wanted_more
done
rm -f seen.bnc
(head -n 1000 lines && sleep 0.2 && tail -n +1001 lines) | bouncer dedup >out
same out wanted

# ---- a summary
run 0 bouncer dedup --stats lines
grouped() { sed ':a;s/\B[0-9]\{3\}\>/,&/;ta' <<<"$1"; }
holds "$(grouped "$total") lines, $(grouped "$distinct") distinct"
holds "remembered by 64-bit fingerprints"
holds "expected"
run 0 bouncer dedup --stats --exact lines && holds "distinct lines lost: none"
run 0 bouncer dedup --stats --json lines && holds '"duplicates": '$((total - distinct)) err
run 0 bouncer dedup --stats --filter --fpr 1e-5 lines && holds "in the mean by the promised rate"
run 0 bouncer dedup -c --json lines && holds "\"distinct\": $distinct" out

# Memory goes by distinct lines, however many there are: 43 bytes of each at most while it grows.
seq 5000 >few
for _ in $(seq 300); do cat few; done >many
run 0 bouncer dedup --stats --json many
used=$(sed -n 's/.*"memory_bytes": \([0-9]*\).*/\1/p' err)
((used < 500000)) || fail "$used bytes for 5,000 distinct lines"
run 0 bouncer dedup --filter --stats --json many
used=$(sed -n 's/.*"memory_bytes": \([0-9]*\).*/\1/p' err)
((used < 500000)) || fail "$used bytes for a filter of 5,000 distinct lines"
same out few
# A guess that asks for too much is none: here of a file that is mostly hole.
cp lines huge && truncate -s 1T huge
(bouncer dedup --filter huge 2>err || true) | head -n 10 >out
head -n 10 wanted | cmp -s - out || fail "a huge file was refused: $(cat err)"
rm -f huge

# ---- keys: the first line of each, whole
printf 'a,1\nb,1\nc,2\n' >in && run_in 0 bouncer dedup --field 2 --delimiter , && is $'a,1\nc,2'
printf 'Ab\nAB\nb\n' >in && run_in 0 bouncer dedup --fold-case && is $'Ab\nb'
printf 'AB\nab\n0a\n' >in && run_in 0 bouncer dedup --hex && is $'AB\n0a'
printf 'x\0y\0x\0' >in && run_in 0 bouncer dedup -0 && printf 'x\0y\0' >in && same in out
printf '\n\nlast' >in && run_in 0 bouncer dedup && printf '\nlast\n' >in && same in out

# ---- state: remembered between runs
head -n $((total * 2 / 5)) lines >one && tail -n +$((total * 2 / 5 + 1)) lines >two
for way in "" "--filter --fpr 1e-9" "--window 10M" "--window 24h"; do
    rm -f seen.bnc
    # shellcheck disable=SC2086
    bouncer dedup $way --state seen.bnc one >got
    # shellcheck disable=SC2086
    bouncer dedup $way --state seen.bnc two >>got
    same got wanted
    # shellcheck disable=SC2086
    run 0 bouncer dedup $way --state seen.bnc lines && is ""
    if [[ $way == --window* ]]; then
        refuses "seen.bnc: the filter is prehashed" bouncer check -c seen.bnc lines
    else
        run 0 bouncer check -c seen.bnc lines && is "$total"
    fi
done
rm -f seen.bnc && bouncer dedup --state seen.bnc one >got
cp seen.bnc before
refuses "seen.bnc" bouncer dedup --filter --state seen.bnc two
refuses "its keys are taken as they are, and these decoded from hexadecimal" bouncer dedup --hex --state seen.bnc two
rm -f w.bnc f.bnc && bouncer dedup --window 24h --state w.bnc one >out
refuses "and --window asks for the last 43200 s by xxh3" bouncer dedup --window 12h --state w.bnc two
refuses "and --window asks for the last 1000000 lines by xxh3" bouncer dedup --window 1M --state w.bnc two
refuses "seen.bnc" bouncer dedup --window 1M --state seen.bnc two
refuses "w.bnc" bouncer dedup --state w.bnc two
run 0 bouncer dedup --window 24h --state w.bnc one && is ""
bouncer dedup --filter --fpr 1e-7 --state f.bnc one >out
refuses "f.bnc: it has a rate of 1e-05 %, and --fpr says 0.001 %" bouncer dedup --filter --fpr 1e-5 --state f.bnc two
run 0 bouncer dedup --filter --state f.bnc one && is ""
refuses "seen.bnc" bouncer dedup --hash xxh64 --state seen.bnc two
head -c 9000 seen.bnc >cut.bnc
refuses "cut.bnc" bouncer dedup --state cut.bnc two
same seen.bnc before
# Output that fails commits nothing: the lines come again.
if [[ -w /dev/full ]]; then
    status=0
    bouncer dedup --state seen.bnc two >/dev/full 2>err || status=$?
    [[ $status == 2 ]] || fail "a full disk: exit status $status"
    same seen.bnc before
    bouncer dedup --state seen.bnc two >>got
    same got wanted
fi
# A disk that is full: whole lines, each once, nothing behind them; and what was not written comes in the next run.
seq 100000 | awk '{ print $0, substr("........................................", 1, NR % 41) }' >uneven
sed 'p' uneven >doubled
for kib in $(seq 700 715); do
    rm -f full.bnc
    echo before >limited
    status=0
    (ulimit -f "$kib" && exec bouncer dedup --state full.bnc doubled) >>limited 2>err || status=$?
    [[ $status == 2 ]] || fail "a full disk: exit status $status"
    holds "standard output: File too large"
    (($(stat -c %s limited) > kib * 1024 - 50)) || fail "more than the half line was cut off"
    cmp -s limited <((echo before && cat uneven) | head -c "$(stat -c %s limited)") || fail "not a beginning of the lines"
    tail -c 1 limited | cmp -s - <(echo) || fail "half a line was left"
done
bouncer dedup --state full.bnc doubled >rest
tail -n +2 limited | sort -u - rest | cmp -s - <(sort uneven) || fail "lines are missing after a full disk"
(ulimit -f 701 && (bouncer dedup doubled 2>err || true) && echo after) >limited
[[ $(tail -n 1 limited) == after ]] || fail "who wrote next left a hole"

# Killed at any moment, between two commits or in one: a run after it may repeat lines, and omits none.
split -n l/200 lines part.
mkfifo feed
for round in 1 2 3 4 5; do
    rm -f state.bnc
    : >first
    (exec 3<>feed && for part in part.*; do cat "$part" >&3 && sleep 0.01; done && exec sleep 60) &
    feeder=$!
    bouncer dedup --state state.bnc --commit-every 20ms feed >first 2>/dev/null &
    runner=$!
    for _ in $(seq 600); do [[ -s state.bnc ]] && break || sleep 0.05; done
    sleep "0.0$((round * 17))"
    kill -KILL "$runner"
    ends "$runner" 137
    kill "$feeder" 2>/dev/null || true
    wait "$feeder" 2>/dev/null || true
    [[ -s state.bnc ]] || fail "nothing was committed"
    tail -c 1 first | cmp -s - <(echo) || sed -i '$d' first # killed inside a write
    bouncer dedup --state state.bnc lines >second
    (($(wc -l <second) < distinct)) || fail "the state holds nothing"
    sort -u first second | cmp -s - <(sort wanted) || fail "lines are missing after a kill"
done
rm -f part.*

# What such a run leaves may end with half a line: it stands alone, and comes again as a whole.
half_then() { # OPTION INPUT: appends to ./half, which is made before
    rm -f half.bnc
    # shellcheck disable=SC2086,SC2059
    printf "$2" | bouncer dedup $1 --state half.bnc >>half
}
printf 'first\nsec' >half && half_then "" 'second\nfirst\n'
cmp -s half <(printf 'first\nsec\nsecond\nfirst\n') || fail "half a line is glued to the next: $(cat half)"
printf 'third\n' | bouncer dedup --state half.bnc >>half # it ends where a line ends
printf 'first\nthird\n' | bouncer dedup --state half.bnc >>half
cmp -s half <(printf 'first\nsec\nsecond\nfirst\nthird\n') || fail "a line too many: $(cat half)"
printf 'first\0sec' >half && half_then -0 'second\0'
cmp -s half <(printf 'first\0sec\0second\0') || fail "half a record is glued to the next"
# Nothing is printed, nothing is changed. Of records of a given length half a one is not known.
printf 'first\nsec' >half && bouncer dedup --state half.bnc -0 /dev/null >>half && half_then "" ''
cmp -s half <(printf 'first\nsec') || fail "a run without a line changed its output"
printf 'x' >half && half_then --length-prefixed '\001\0\0\0a'
cmp -s half <(printf 'x\001\0\0\0a') || fail "records of a given length got a line end"
# Behind half a line in the middle of a file that is not appended to; and where it is the whole file that is replaced.
rm -f half.bnc && (printf 'sec' && echo second | bouncer dedup --state half.bnc) >half
cmp -s half <(printf 'sec\nsecond\n') || fail "half a line is glued to the next: $(cat half)"
rm -f half.bnc && echo second | bouncer dedup --state half.bnc >half
cmp -s half <(echo second) || fail "a new file does not begin with its first line"

# Nobody reads: SIGINT ends it all the same.
mkfifo stuck
exec 7<>stuck
"${interruptible[@]}" bouncer dedup lines >stuck 2>err &
runner=$!
started "$runner"
sleep 0.5
kill -INT "$runner"
ends "$runner" 130
exec 7<&-
# An input that is the output would never end.
cp wanted both
(ulimit -f 8000 && exec bouncer dedup both) >>both 2>err && fail "read what it wrote" || true
holds "both: the input is also the output"
(ulimit -f 8000 && exec bouncer dedup few -) <both >>both 2>err && fail "read what it wrote" || true
holds "standard input: the input is also the output"
(cat wanted && head -n 5000 few) | cmp -s - both || fail "it is not what it was"

# SIGINT: whole lines, committed, 130; the next run goes on where it was.
mkfifo pipe
rm -f state.bnc
head -n 1000 lines | awk '!seen[$0]++' >wanted_first
: >first
(exec 3<>pipe && head -n 1000 lines >&3 && printf 'half a li' >&3 && exec sleep 60) & # the pipe stays open
holder=$!
"${interruptible[@]}" bouncer dedup --state state.bnc pipe >first 2>err &
runner=$!
started "$runner"
for _ in $(seq 400); do cmp -s first wanted_first && break || sleep 0.05; done
kill -INT "$runner"
ends "$runner" 130
kill "$holder" 2>/dev/null || true
same first wanted_first
bouncer dedup --state state.bnc lines >>first
same first wanted

# ---- windows
printf 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\na\n' >in
run_in 0 bouncer dedup --window 100 -c && is 10
run_in 0 bouncer dedup --window 3 -c && is 11
yes x | head -n 10000 >in && run_in 0 bouncer dedup --window 100 -c && is 1
# A window of N lines remembers at least N and at most a sixth more, whatever the pieces that they come in.
rm -f w.bnc
for i in $(seq 0 39); do
    seq $((i * 100)) $((i * 100 + 99)) >in
    run_in 0 bouncer dedup --window 600 --state w.bnc -c && is 100
done
seq 3400 3999 >in && run_in 0 bouncer dedup --window 600 --state w.bnc -c && is 0
seq 0 3199 >in && run_in 0 bouncer dedup --window 600 --state w.bnc -c && is 3200
for way in "--window 1000" "--window 24h"; do
    # A flood in one step: nothing is lost.
    # shellcheck disable=SC2086
    seq 300000 | bouncer dedup $way -c >out && is 300000
done
(seq 1000 && seq 3000 4000 && seq 1000) >in && run_in 0 bouncer dedup --window 500 -c && is 3001
(seq 1000 && seq 3000 3400 && seq 1000) >in && run_in 0 bouncer dedup --window 2000 -c && is 1401
refuses "10 ms to 95 years" bouncer dedup --window 300y lines
# A stream that pauses is committed meanwhile.
rm -f w.bnc
(seq 10 && for _ in $(seq 100); do [[ -e w.bnc ]] && break || sleep 0.1; done && [[ -e w.bnc ]] && echo there) |
    bouncer dedup --state w.bnc --commit-every 200ms >out
holds there out
refuses "neither a span of time such as 24h nor a number of lines" bouncer dedup --window soon lines

# ---- a long line among others, and one beyond the limit
(echo start && head -c 50000000 /dev/zero | tr '\0' x && echo && echo end && echo start) >long
run 0 bouncer dedup -c long && is 3
run 0 bouncer dedup long && [[ $(wc -c <out) == $((50000000 + 11)) ]] || fail "the long line is not whole"

# ---- what contradicts itself
# An error comes after the lines before it.
(seq 10 99 && echo zz && seq 10 12) >in
status=0
bouncer dedup --hex in >out 2>err || status=$?
[[ $status == 2 ]] || fail "exit status $status"
seq 10 99 | cmp -s - out || fail "lines before the bad one are missing"
holds 'in:91: not hexadecimal: "zz"'
status=0
bouncer dedup lines none >out 2>err || status=$?
[[ $status == 2 ]] && same out wanted
refuses "no/such: No such file or directory" bouncer dedup --state no/such/seen.bnc lines
refuses "three ways: one of them" bouncer dedup --exact --filter lines
refuses "--fpr belongs to --filter" bouncer dedup --fpr 0.1 lines
refuses "which no --state file holds" bouncer dedup --exact --state seen.bnc lines
refuses "none: No such file or directory" bouncer dedup none
run 2 bash -c "bouncer dedup <&-" && holds "standard input: Bad file descriptor"
ends "$by_the_clock" 0
mv by_the_clock out
is 2
passed
