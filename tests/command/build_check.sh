#!/usr/bin/env bash
# bouncer build, check and add, with real files and real pipes. Usage: build_check.sh BOUNCER
source "$(dirname "$0")/lib.sh" "$1"

seq 1 20000 >keys
seq 10001 40000 >asked

# ---- the plain case: no false negative, few false positives, order kept
run 0 bouncer build -o a.bnc keys
holds "blocked_bloom of 20,000 keys"
run 0 bouncer check a.bnc asked
comm -23 <(seq 10001 20000 | sort) <(sort out) >missing
[[ ! -s missing ]] || fail "keys were not found"
lines=$(wc -l <out)
((lines >= 10000 && lines < 10000 + 400)) || fail "$lines lines, where 10000 and about 200 were expected"
sort -n out | cmp -s - out || fail "the order changed"
cp out found
run 0 bouncer check -c a.bnc asked
is "$lines"
run 0 bouncer check -v a.bnc asked
sort -n found out | cmp -s - asked || fail "present and absent lines are not all lines"
run 1 bouncer check a.bnc /dev/null
is ""
run 0 bouncer check -c --json a.bnc asked
holds '"keys": 30000' out
holds "\"present\": $lines" out
# From a pipe, in pieces; from several files; standard input among files.
(head -n 5000 asked && sleep 0.2 && tail -n +5001 asked) | bouncer check a.bnc >out
same out found
split -n l/7 asked part.
run 0 bouncer check a.bnc part.*
same out found
tail -n +20001 asked >in
head -n 20000 asked >first
run_in 0 bouncer check a.bnc first -
same out found
rm -f part.*

# ---- what a key is: \r counts, so does the empty line, and the last line needs no end
printf 'one\r\n\ntwo' >in
run_in 0 bouncer build -q -o b.bnc -
printf 'one\r\n' >in && run_in 0 bouncer check b.bnc && same in out
printf 'one\n' >in && run_in 1 bouncer check b.bnc
printf '\n' >in && run_in 0 bouncer check b.bnc && same in out
printf 'two' >in && run_in 0 bouncer check b.bnc && is two
# Bytes that are no text, and a zero byte inside a line.
printf 'a\0b\n\xff\xfe\n' >in
run_in 0 bouncer build -q --force -o b.bnc -
run_in 0 bouncer check -c b.bnc && is 2
printf 'a\n' >in && run_in 1 bouncer check b.bnc

# ---- framings and fields
printf 'x y\0z\n\0' >in
run_in 0 bouncer build -q --force -0 -o b.bnc
run_in 0 bouncer check -0 b.bnc && same in out
printf 'u,v,red,w\n1,2,green\n' >in
run_in 0 bouncer build -q --force -o b.bnc --field 3 --delimiter ,
printf 'green\nred\nv\n' >in && run_in 0 bouncer check b.bnc && is $'green\nred'
printf 'a:red\na:v\n' >in && run_in 0 bouncer check --field 2 --delimiter : b.bnc && is a:red
printf 'only\n1,2\n' >rows
refuses "rows:1: there is no field 3: 1 field in \"only\"" bouncer check --field 3 --delimiter , b.bnc rows
refuses "fields are numbered from 1" bouncer check --field 0 b.bnc rows
printf '\x03\0\0\0abc\0\0\0\0\x02\0\0\0\n\0' >in
run_in 0 bouncer build -q --force --length-prefixed -o b.bnc
run_in 0 bouncer check -c --length-prefixed b.bnc && is 3
run_in 0 bouncer check --length-prefixed b.bnc && same in out
printf 'abc\n\n' >in && run_in 0 bouncer check -c b.bnc && is 2
printf '\x09\0\0\0abc' >cut
refuses "cut: ends inside record 1" bouncer check --length-prefixed b.bnc cut
printf '\xff\xff\xff\xffabc' >cut
refuses "cut: record 1 has a length of 4294967295 bytes" bouncer check --length-prefixed b.bnc cut

# ---- what changes the key is kept in the file, and done by check and add
printf '00ff\nABCD\n' >in
run_in 0 bouncer build -q --force --hex -o hex.bnc
printf 'abcd\nAbCd\n00FF\n00fe\n' >in && run_in 0 bouncer check hex.bnc && is $'abcd\nAbCd\n00FF'
run_in 0 bouncer check --hex -c hex.bnc && is 3
printf 'abcd\nxyz0\nabcd\n' >bad
run 2 bouncer check hex.bnc bad && is abcd && holds 'bad:2: not hexadecimal: "xyz0"'
printf 'abc\n' >bad
refuses "bad:1: not hexadecimal: 3 digits" bouncer add hex.bnc bad
refuses "its keys are taken decoded from hexadecimal, and --fold-case" bouncer check --fold-case hex.bnc keys
refuses "its keys are taken as they are, and --hex" bouncer check --hex a.bnc keys
printf 'Mail@X.org\n' >in
run_in 0 bouncer build -q --force --fold-case -o fold.bnc
printf 'mAIL@x.ORG\nother\n' >in && run_in 0 bouncer check fold.bnc && is mAIL@x.ORG
printf 'NEW\n' >in && run_in 0 bouncer add -q fold.bnc && printf 'new\n' >in && run_in 0 bouncer check -c fold.bnc && is 1

# ---- several filters
printf 'red\ngreen\n' >in && run_in 0 bouncer build -q -o p.bnc
printf 'green\nblue\n' >in && run_in 0 bouncer build -q --hash xxh64 -o q.bnc
printf 'red\ngreen\nblue\nblack\n' >in
run_in 0 bouncer check -f q.bnc p.bnc && is $'red\ngreen\nblue'
run_in 0 bouncer check --all -f q.bnc p.bnc && is green
run_in 0 bouncer check -v -f q.bnc p.bnc && is black
run_in 0 bouncer check -v --all -f q.bnc p.bnc && is $'red\nblue\nblack'
run_in 0 bouncer check --tag -f q.bnc p.bnc && is $'p.bnc\tred\np.bnc\tgreen\nq.bnc\tblue'

# ---- every kind, by a file and by a pipe; the same keys are found
for kind in bloom blocked_bloom split_block_bloom register_bloom partitioned_bloom counting_bloom scalable ribbon binary_fuse \
    xor_filter fingerprint_set windowed_bloom; do
    run 0 bouncer build -q --force --kind "$kind" --fpr 0.001 -o k.bnc keys
    run 0 bouncer check -c k.bnc keys && is 20000
    bouncer build -q --force --kind "$kind" --fpr 0.001 -o k2.bnc <keys
    run 0 bouncer check -c k2.bnc keys && is 20000
done
refuses "no kind is called \"blom\"" bouncer build --kind blom -o new.bnc keys
refuses "two lists" bouncer build --kind cascade -o new.bnc keys

# ---- hashes and secret keys
for hash in xxh3 xxh64 murmur3 fnv1a fnv1; do
    run 0 bouncer build -q --force --hash $hash -o h.bnc keys
    run 0 bouncer check -c h.bnc keys && is 20000
done
echo 000102030405060708090a0b0c0d0e0f >secret
echo 000102030405060708090a0b0c0d0e00 >other
run 0 bouncer build -q --force --key-file secret -o h.bnc keys
run 0 bouncer check -c --key-file secret h.bnc keys && is 20000
refuses "h.bnc: " bouncer check -c h.bnc keys
refuses "h.bnc: " bouncer check -c --key-file other h.bnc keys
# A key that no filter takes is a mistake; among several filters one is enough.
refuses "--key-file: a.bnc has no secret key: its hash is xxh3, seed 0" bouncer check --key-file secret a.bnc keys
refuses "--key-file: a.bnc has no secret key" bouncer add --key-file secret a.bnc keys
run 0 bouncer check -c --key-file secret -f h.bnc a.bnc keys && is 20000
echo 00zz >short
refuses "short: a key file holds 32 hexadecimal digits" bouncer build --key-file short -o new.bnc keys
refuses "needs a secret key" bouncer build --hash siphash24 -o new.bnc keys
refuses "no hash is called \"md5\"" bouncer build --hash md5 -o new.bnc keys
refuses "Parquet" bouncer build --kind split_block_bloom --hash xxh3 -o new.bnc keys

# ---- sizes, and what does not fit
run 0 bouncer build -q --force --expect 1K -o o.bnc keys
holds "warning: o.bnc holds"
holds "and was made for 1.00K: its false-positive rate is"
run 0 bouncer build -q --force --kind scalable --expect 1K -o o.bnc keys
[[ ! -s err ]] || fail "a filter that grows warned"
run 0 bouncer check -c o.bnc keys && is 20000
refuses "--memory allows 1.00 KiB" bouncer build --memory 1KiB -o new.bnc keys
refuses "are free" bouncer build --expect 1000G -o new.bnc keys
refuses "--expect must be at least 1" bouncer build --expect 0 -o new.bnc keys
refuses "is not a rate between 0 and 1" bouncer build --fpr 2 -o new.bnc keys
refuses "is not a whole number" bouncer build --expect 10Q -o new.bnc keys
refuses "--output is required" bouncer build keys
# Hashes of a pipe that memory does not hold go to a file without a name; the filter is the same.
seq 1 3000000 >many
cat many | bouncer build -q --memory 16MiB -o spooled.bnc
run 0 bouncer build -q -o direct.bnc many
run 0 bouncer check -c spooled.bnc many && is 3000000
cmp -s <(tail -c +4097 spooled.bnc | head -c 3000000) <(tail -c +4097 direct.bnc | head -c 3000000) || fail "the words differ"
rm -f many spooled.bnc direct.bnc

# ---- files that are there, that are not, that cannot be read
refuses "a.bnc: exists already; --force replaces it" bouncer build -o a.bnc keys
refuses "none: No such file or directory" bouncer build -o new.bnc none
status=0
bouncer check a.bnc asked none >out 2>err || status=$?
[[ $status == 2 ]] && holds "none: No such file or directory" && same out found
mkdir folder
refuses "folder: Is a directory" bouncer check a.bnc folder
refuses "folder: is a folder" bouncer build --force -o folder keys
refuses "none.bnc" bouncer check none.bnc keys
refuses "keys" bouncer check keys asked
head -c 5000 a.bnc >damaged.bnc
refuses "damaged.bnc" bouncer check damaged.bnc keys
refuses "no/such/place" bouncer build -q -o no/such/place/x.bnc keys
[[ ! -e new.bnc ]] || fail "a build that failed left a file"

# ---- pipes that have a name: no byte is lost
run 0 bash -c 'bouncer build --json --force -o fifo.bnc <(seq 100)' && holds '"keys": 100' out
run 0 bash -c 'bouncer check -c fifo.bnc <(seq 100)' && is 100

# ---- two at once: each waits for the other, and no key is lost
run 0 bouncer build -q --expect 700K -o both.bnc keys
seq 100000 300000 | bouncer add -q both.bnc &
other=$!
seq 300001 500000 | bouncer add -q both.bnc
wait "$other"
seq 100000 500000 >in && run_in 0 bouncer check -c both.bnc && is 400001

# ---- a filter that is what it was made for is no news; names that are no text
for i in $(seq 30); do
    seq $((i * 1000)) $((i * 1000 + 999)) >in
    run_in 0 bouncer build -q --force --kind bloom -o n.bnc
    [[ ! -s err ]] || fail "a filter of as many keys as it was made for warned"
done
run 0 bouncer build --json --force -o $'x\xff.bnc' keys && holds '"kind"' out
refuses "by now, and --memory allows" bouncer build --kind scalable --fpr 0.1% --expect 1K --memory 20KiB -o new.bnc keys
refuses 'there is no subcommand "frobnicate"' bouncer frobnicate
refuses "is not a whole number" bouncer check --field -1 a.bnc keys
run 2 bash -c "bouncer check a.bnc <&-" && holds "standard input: Bad file descriptor"
(ulimit -f 100 && bouncer check a.bnc keys keys keys keys keys >limited 2>err) && fail "a file grew beyond its limit" || true
holds "standard output: File too large"
tail -c 1 limited | cmp -s - <(echo) || fail "half a line was left"

# ---- add
cp a.bnc more.bnc
printf 'apple\npear\n' >in
run_in 0 bouncer add more.bnc && holds "more.bnc: 2 keys, ≈2 distinct; 2 were surely not there before"
run_in 0 bouncer check -c more.bnc && is 2
run 0 bouncer check -c more.bnc keys && is 20000
run_in 0 bouncer add --json more.bnc && holds '"surely_new": 0' out
run 0 bouncer build -q --force --kind ribbon -o r.bnc keys
cp r.bnc before
refuses "r.bnc: a ribbon cannot add" bouncer add r.bnc keys
same r.bnc before

# ---- usage
refuses "(see bouncer --help)" bouncer frobnicate
refuses "there is no flag --frobnicate (see bouncer check --help)" bouncer check --frobnicate a.bnc
run 0 bouncer --help && mv out help && run 0 bouncer && same out help # alone it shows its help
# What was probably meant is said, and an unknown flag before whatever is missing because of it.
refuses '--prefer: "raeds" is none of reads, adds, space; did you mean "reads"?' bouncer build --prefer raeds -o new.bnc keys
refuses '--need: "delte" is none of delete, grow, merge, fold, forget, concurrent, static; did you mean "delete"?' bouncer plan --keys 1M --fpr 1% --need delte
refuses 'no format is called "dsco"; there are dcso and parquet-sbbf; did you mean "dcso"?' bouncer import --format dsco keys -o new.bnc
refuses 'there is no subcommand "buld"; did you mean "build"? (see bouncer --help)' bouncer buld --help
refuses 'there is no subcommand "frob"' bouncer frob --version
refuses "--json stands before the subcommand: flags come after it" bouncer --json info a.bnc
run 2 bouncer info a.bnc -- extra --zzz
refuses "there is no flag -x (see bouncer check --help)" bouncer check -x a.bnc keys
refuses "FILTER is required" bouncer info --
refuses 'there is no subcommand "bild"; did you mean "build"? (see bouncer --help)' bouncer bild -o new.bnc keys
refuses 'there is no flag --ouput; did you mean "--output"? (see bouncer build --help)' bouncer build --ouput new.bnc keys
refuses 'there is no flag --fbr; did you mean "--fpr"?' bouncer plan --keys 1M --fbr 1%
refuses 'there is no flag --cuont; did you mean "--count"?' bouncer check a.bnc --cuont=3 keys
refuses 'there is no flag --verison; did you mean "--version"? (see bouncer --help)' bouncer --verison
refuses 'one word too many: "c.bnc" (see bouncer overlap --help)' bouncer overlap a.bnc a.bnc c.bnc
refuses 'no kind is called "blom"; did you mean "bloom"? There are bloom, ' bouncer build --kind blom -o new.bnc keys
refuses 'no hash is called "xxh46"; there are xxh3' bouncer build --hash xxh46 -o new.bnc keys
holds 'did you mean "xxh64"?'
# What is not a filter is called by its name, and with it what to do.
refuses 'keys: this is text, and a.bnc is a filter: the filter comes first' bouncer check keys a.bnc
refuses 'keys: this is text, and a.bnc is a filter: the filter comes first' bouncer add keys a.bnc
refuses 'keys: this is text, not a Bouncer filter: bouncer build -o FILE.bnc keys makes a filter of its lines' bouncer check keys asked
gzip -c keys >keys.gz && refuses 'keys.gz: this is a gzip file, not a Bouncer filter' bouncer check keys.gz keys
: >none.bnc && refuses 'none.bnc: this is an empty file, not a Bouncer filter' bouncer check none.bnc keys && rm none.bnc
printf '\x01\x02\x03 what is this' >strange && refuses 'strange: this is not a Bouncer filter: it does not begin like one' bouncer check strange keys
run 0 bouncer build -q --kind dcso_bloom --hash fnv1 -o dcso.bnc keys && run 0 bouncer export --format dcso dcso.bnc -o known.bloom
for command in 'check known.bloom keys' 'info known.bloom' 'add known.bloom keys' 'merge -o new.bnc known.bloom a.bnc'; do
    # shellcheck disable=SC2086
    refuses 'known.bloom: this is a DCSO filter, not a Bouncer filter: bouncer import --format dcso -o FILE.bnc known.bloom' bouncer $command
done
run 1 bouncer verify known.bloom && holds 'this is a DCSO filter'
refuses 'keys: this is text, not a DCSO filter' bouncer import --format dcso keys -o new.bnc
refuses 'a.bnc: this is a Bouncer filter, not a DCSO filter' bouncer import --format dcso a.bnc -o new.bnc
rm -f known.bloom dcso.bnc strange help
run 0 bouncer --version && holds "bouncer " out
run 0 bouncer build --help && holds "--fpr" out

# ---- signals and outputs that fail
status=0
seq 1 3000000 | bouncer check -v a.bnc 2>err | head -n 1 >out || status=${PIPESTATUS[1]}
((status == 141)) || fail "a closed pipe: exit status $status"
if [[ -w /dev/full ]]; then
    status=0
    bouncer check a.bnc keys >/dev/full 2>err || status=$?
    [[ $status == 2 ]] || fail "a full disk: exit status $status"
    holds "bouncer check: standard output: No space left on device"
fi
mkfifo pipe
# An error ends it at once, though another thread waits for a pipe that is silent.
(exec 3<>pipe && printf '00\nzz\n' >&3 && sleep 20) &
holder=$!
begin=$SECONDS
refuses 'pipe:2: not hexadecimal: "zz"' bouncer check -c hex.bnc pipe
((SECONDS - begin < 15)) || fail "an error waited for the input"
kill "$holder" 2>/dev/null || true
wait "$holder" 2>/dev/null || true
(exec 3<>pipe && printf 'first\nhalf' >&3 && exec sleep 60) &
holder=$!
printf 'first\nhalf\n' | bouncer build -q --force -o s.bnc
"${interruptible[@]}" bouncer check s.bnc pipe >out 2>err &
checker=$!
started "$checker"
for _ in $(seq 600); do [[ -s out ]] && break || sleep 0.1; done
kill -INT "$checker"
ends "$checker" 130
is first
kill "$holder" 2>/dev/null || true
wait "$holder" 2>/dev/null || true
# Of a command with threads only the main one takes SIGINT and SIGTERM: another might be waiting for a mutex, and who has it
# for the signal. (SigBlk is hexadecimal: bit 1 is SIGINT, bit 14 SIGTERM. Main blocks them too while it starts the others.)
signals_come_to_main() { # PID
    local task blocked others
    for _ in $(seq 600); do
        others=0 main=0
        for task in "/proc/$1/task"/*; do
            blocked=$((16#$(awk '$1 == "SigBlk:" { print $2 }' "$task/status") & 0x4002))
            if [[ ${task##*/} == "$1" ]]; then main=$blocked; elif ((blocked == 0x4002)); then others=$((others + 1)); else others=-99; fi
        done
        ((main == 0)) && ((others >= 2)) && break
        sleep 0.1
    done
    checks=$((checks + 1))
    (($(nproc) == 1 || (main == 0 && others >= 2))) || fail "signals: main blocks $main, $others others block them"
}
# A named pipe that nobody has opened for writing.
echo first >in
for subcommand in "check s.bnc in pipe" "add s.bnc pipe" "dedup in pipe"; do
    # shellcheck disable=SC2086
    "${interruptible[@]}" bouncer $subcommand >out 2>err &
    checker=$!
    started "$checker"
    if [[ $subcommand == add* ]]; then sleep 0.3; else
        for _ in $(seq 600); do [[ -s out ]] && break || sleep 0.1; done
        signals_come_to_main "$checker"
    fi
    kill -INT "$checker"
    ends "$checker" 130
done
# A secret key out of a pipe that stays silent, and out of one that gives it piece by piece.
"${interruptible[@]}" bouncer build --key-file pipe -o m.bnc keys >out 2>err &
checker=$!
started "$checker"
sleep 0.3
kill -INT "$checker"
ends "$checker" 130
[[ ! -s err ]] || fail "an interrupted wait for a key is no error"
(head -c 10 secret && sleep 0.2 && tail -c +11 secret) >pipe &
run 0 bouncer build -q --force --key-file pipe -o h.bnc keys
run 0 bouncer check -c --key-file secret h.bnc keys && is 20000
refuses "folder: Is a directory" bouncer build --key-file folder -o new.bnc keys
# A compressed file that gives nothing for a long time: zeros behind its end, which take no room on the disk.
gzip -c keys >padded.gz && truncate -s 1T padded.gz
"${interruptible[@]}" bouncer check -c a.bnc padded.gz >out 2>err &
checker=$!
started "$checker"
sleep 0.3
kill -INT "$checker"
ends "$checker" 130
rm padded.gz
# What prints no lines and commits nothing dies as other programs do.
for signal in INT TERM; do
    "${interruptible[@]}" bouncer import --format dcso -o m.bnc pipe >out 2>err &
    checker=$!
    started "$checker"
    sleep 0.3
    kill "-$signal" "$checker"
    ends "$checker" "$([[ $signal == INT ]] && echo 130 || echo 143)"
done
# An input that is the output would never end.
cp keys both
(ulimit -f 8000 && exec bouncer check a.bnc keys both) >>both 2>err && fail "read what it wrote" || true
holds "both: the input is also the output"
cat keys keys | cmp -s - both || fail "lines before that are missing"
# Nor does a count or a report come into what is read.
cp both before && run 2 bash -c 'bouncer check -c a.bnc both >>both' && same both before
passed
