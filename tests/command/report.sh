#!/usr/bin/env bash
# bouncer info, verify, overlap and doctor, with real files. Usage: report.sh BOUNCER
source "$(dirname "$0")/lib.sh" "$1"

seq 1 20000 >one
seq 10001 30000 >two
run 0 bouncer build -q --label 'two words' -o a.bnc one
run 0 bouncer build -q --expect 20000 -o b.bnc two
# The parts of damage: a byte of the payload changed; the end cut off; nothing; something else.
cp a.bnc bad.bnc && printf '\x5a\xa5\x5a' | dd of=bad.bnc bs=1 seek=5000 conv=notrunc status=none
head -c 9000 a.bnc >cut.bnc && : >empty.bnc && cp one text.bnc && mkdir folder
cp a.bnc header.bnc && printf '\x5a' | dd of=header.bnc bs=1 seek=100 conv=notrunc status=none
cp a.bnc 'with space.bnc' && cp a.bnc $'with "quote"\nline.bnc'

# ---- info
run 0 bouncer info a.bnc
[[ ! -s err ]] || fail "info says something on stderr"
for text in 'kind              blocked_bloom' 'keys designed     20,000' 'rate promised     1 %' 'hash              xxh3, seed 0' \
    'label             two words' 'state             sealed' 'keys are taken    as they are' 'every byte is as it was written'; do
    holds "$text" out
done
run 0 bouncer info --json a.bnc
for name in kind size_bytes bits_per_key keys_design keys_estimated fill_ratio fpr_promised fpr_expected hash format_version checksum; do
    [[ -n $(value $name) && $(value $name) != null ]] || fail "$name is missing"
done
within "$(value keys_estimated)" 19800 20200
within "$(value fpr_expected)" 0.009 0.011
within "$(value fill_ratio)" 0.4 0.6
within "$(value bits_per_key)" 9 12
[[ $(value kind) == '"blocked_bloom"' && $(value hash) == '"xxh3"' && $(value format_version) == 1 ]] || fail "kind, hash, version"
if command -v python3 >/dev/null; then
    for options in "info --json" "verify --json" "doctor --json"; do
        # shellcheck disable=SC2086
        bouncer $options a.bnc | python3 -m json.tool >/dev/null || fail "no JSON: $options"
        # shellcheck disable=SC2086
        bouncer $options $'with "quote"\nline.bnc' | python3 -m json.tool >/dev/null || fail "no JSON: $options"
    done
    bouncer overlap --json a.bnc b.bnc | python3 -m json.tool >/dev/null || fail "no JSON: overlap"
fi
run 0 bouncer info --json a.bnc b.bnc && [[ $(head -c 1 out) == '[' ]] || fail "no list"
# Every kind; what one does not know is null.
for kind in bloom split_block_bloom register_bloom partitioned_bloom counting_bloom stable_bloom windowed_bloom scalable_bloom \
    xor_filter binary_fuse ribbon fingerprint_set; do
    expect=23000
    [[ $kind == windowed_bloom ]] && expect=138000 # all keys in one of its six steps
    run 0 bouncer build -q --kind $kind --expect $expect -o kind.bnc --force one
    run 0 bouncer info --json kind.bnc && [[ $(value kind) == "\"$kind\"" ]] || fail "$kind"
    run 0 bouncer info kind.bnc && run 0 bouncer info --prometheus kind.bnc && run 0 bouncer verify kind.bnc
    run 0 bouncer doctor kind.bnc && ! grep -q '^problem\|^warning' out || fail "doctor of $kind"
done
rm kind.bnc
run 0 bouncer build -q --compress --expect 1M -o small.bnc one && run 0 bouncer info --json small.bnc
[[ $(value compressed) == true ]] || fail "compressed"
# No key is needed.
echo 000102030405060708090a0b0c0d0e0f >key
run 0 bouncer build -q --key-file key -o keyed.bnc one && run 0 bouncer info --json keyed.bnc && [[ $(value keyed) == true ]] || fail "keyed"
run 0 bouncer doctor keyed.bnc
grep -q 000102030405 out && fail "shows the key"
# Too many keys are said, by everything that looks; and once, not "ok fill" as well.
run 0 bouncer build --expect 5000 -o over.bnc one
holds "warning: over.bnc holds about 20.0K keys and was made for 5.00K: its false-positive rate is "
holds "over.bnc: blocked_bloom of 20,000 keys, ≈20,000 distinct, 6.19 KiB, 2.53 bits per distinct key"
run 0 bouncer info over.bnc && holds "warning           overfull" out && holds "2.5" out && holds "keys added        ≈20,000" out
run 0 bouncer info --json over.bnc && [[ $(value overfull) == true && $(value keys_added) == 20000 ]] || fail "overfull"
within "$(value bits_per_key)" 2.5 2.56
run 0 bouncer info --prometheus over.bnc && holds 'bouncer_filter_overfull{file="over.bnc"} 1' out
run 3 bouncer doctor over.bnc
for subject in fill keys rate; do
    [[ $(grep -c "^warning  $subject: " out) == 1 && $(grep -cE "^[a-z]+ +$subject: " out) == 1 ]] || fail "doctor on $subject of an overfull filter"
done
run 3 bouncer doctor --json over.bnc && [[ $(value worst) == '"warning"' ]] || fail "json of a warning"
# Nearly as many as it was made for: who made room for more may add more. Just those that were counted are no news.
run 0 bouncer build -q --expect 22000 -o near.bnc one
run 3 bouncer doctor near.bnc && grep -q '^warning  keys: .*nearly full' out && grep -q '^ok       fill: ' out || fail "nearly full"
run 0 bouncer build -q --expect 23000 -o near.bnc --force one && run 0 bouncer doctor near.bnc
run 0 bouncer doctor a.bnc && grep -q '^ok       keys: .*just those that it was built from' out || fail "exact"
cp a.bnc near.bnc && seq 30001 30010 >in && run_in 0 bouncer add -q near.bnc && run 3 bouncer doctor near.bnc
head -c 3000000 /dev/urandom | od -An -v -tx8 -w8 >in && run_in 0 bouncer build -q --force --expect 100 -o near.bnc
run 3 bouncer doctor near.bnc && [[ $(grep -cE '^[a-z]+ +fill: ' out) == 1 ]] && grep -q '^warning  fill: every bit is set' out || fail "full"
rm near.bnc
# Where nothing was promised, a filter is judged by what such filters are good for.
run 0 bouncer build -q --kind split_block --hash xxh64 --expect 5000 -o near.bnc one && run 0 bouncer export --format parquet-sbbf near.bnc -o near.sbbf
run 0 bouncer import --force --format parquet-sbbf near.sbbf -o near.bnc && run 3 bouncer doctor near.bnc
grep -q '^warning  fill: ' out && grep -q '^warning  rate: .*does not say what was promised' out || fail "no promise"
rm near.bnc near.sbbf
# Of a window a step is judged, and all of it may be there: as many keys in each step as --expect says.
run 0 bouncer build -q --kind windowed --expect 20000 -o steps.bnc one
for epoch in 1 2 3 4 5 6; do
    seq $((epoch * 100000)) $((epoch * 100000 + 19999)) >in
    run 0 bouncer rotate -q steps.bnc --epoch $epoch && run_in 0 bouncer add steps.bnc && ! grep -q warning err || fail "a warning in step $epoch"
done
run 0 bouncer doctor steps.bnc && grep -q '^ok       keys: ' out || fail "a window as it should be"
seq 900001 920000 >in && run_in 0 bouncer add steps.bnc && holds "warning: steps.bnc: a step holds more than its share of the window, 20.0K keys: its false-positive rate is "
run 3 bouncer doctor steps.bnc && grep -q '^warning  fill: .*a step has more than its share of keys' out && grep -q '^ok       keys: ' out || fail "a step too full"
run 0 bouncer info steps.bnc && holds "times the promised one; a step has more than its share of keys" out
rm steps.bnc
# A chain that grew: bits per key of the keys, not of the first layer.
run_in 0 bouncer build -q --kind scalable --expect 1000 -o grown.bnc && run 0 bouncer info --json grown.bnc
within "$(value bits_per_key)" 9 40
rm grown.bnc
# Chance alone: of 20 filters with just their keys none is overfull, at any rate.
for rate in 1e-2 1e-4 1e-6; do
    for trial in {1..20}; do
        seq $((trial * 1000000)) $((trial * 1000000 + 39999)) >in
        run_in 0 bouncer build -q --force --fpr $rate -o fresh.bnc && [[ ! -s err ]] || fail "a warning for a fresh filter: $rate, $trial"
        run 0 bouncer info --json fresh.bnc && [[ $(value overfull) == false ]] || fail "a fresh filter is overfull: $rate, $trial"
    done
done
# DCSO's formula promises a little too much, and its bits hang together; a few keys fill what little there is.
for design in "50% 200" "50% 5000" "20% 40000" "10% 40000" "3% 40000" "1% 1" "1% 200000" "1e-9 1" "1e-9 5"; do
    read -r rate count <<<"$design"
    for trial in {1..5}; do
        seq $((trial * 1000000)) $((trial * 1000000 + count - 1)) >in
        run_in 0 bouncer build -q --force --kind dcso_bloom --fpr "$rate" -o fresh.bnc && [[ ! -s err ]] || fail "a warning for a fresh DCSO filter: $design, $trial"
    done
done
seq 30000 >in && run_in 0 bouncer build -q --force --kind dcso_bloom --expect 20000 -o fresh.bnc && holds "warning: fresh.bnc holds about "
echo one key >in && run_in 0 bouncer build -q --force --kind partitioned --fpr 1e-9 -o fresh.bnc && [[ ! -s err ]] || fail "a warning for one key"
rm fresh.bnc
# ---- how many keys
# What is overfull can tell its keys no more; the build has counted them.
{ seq 300000 && seq 300000; } >in && run_in 0 bouncer build --expect 20K -o some.bnc
grep -qE '^warning: some.bnc holds about (29[7-9]|30[0-3])K keys and was made for 20.0K' err || fail "$(cat err)"
# And one percent of repeated keys is seen: of these the sketch says 298,453, which is not all of them.
{ seq 4000001 4296700 && seq 4000001 4003300; } >in && run_in 0 bouncer build --json --force --expect 300K -o some.bnc && within "$(value distinct)" 293733 299667
seq 1000 >in && run_in 0 bouncer build -q --force -o some.bnc && seq 1001 301000 >in && run_in 0 bouncer add -q some.bnc
run 0 bouncer info --json some.bnc && within "$(value keys_added)" 297000 305000
seq 200000 >in && run_in 0 bouncer build -q --force --expect 1M -o some.bnc && seq 100001 900000 >in && run_in 0 bouncer add -q some.bnc
run 0 bouncer info --json some.bnc && within "$(value keys_added)" 885000 915000
rm some.bnc
# Adds that find their bits set already are keys too.
seq 1000000 >in && run_in 0 bouncer build --json --expect 200K -o some.bnc && [[ $(value keys) == 1000000 ]] || fail "keys"
within "$(value distinct)" 990000 1000000
seq 2000001 2001800 >in && run_in 0 bouncer add --json some.bnc && [[ $(value keys) == 1800 && $(value distinct) == 1800 ]] || fail "added"
within "$(value surely_new)" 150 400
run 0 bouncer info --json some.bnc && within "$(value keys_added)" 990500 1002000
# Repeated ones are counted once, also of a pipe and where all threads add.
{ seq 300000 && seq 150000 && seq 150000; } >in && run_in 0 bouncer build --json --force -o some.bnc && [[ $(value keys) == 600000 ]] || fail "keys"
within "$(value distinct)" 297000 303000
bouncer build --json --force -o some.bnc < <(cat in) >out && within "$(value distinct)" 297000 303000
run 0 bouncer build -q --force --expect 400K -o some.bnc one && run_in 0 bouncer add some.bnc
grep -qE '^some.bnc: 600,000 keys, ≈(29[789]|30[0-3]),000 distinct; 2[78][0-9],[0-9]{3} were surely not there before$' err || fail "$(cat err)"
run 0 bouncer info --json some.bnc && within "$(value keys_added)" 296000 304000
rm some.bnc
# Metrics: HELP and TYPE once for each, labels escaped.
run 0 bouncer info --prometheus a.bnc $'with "quote"\nline.bnc'
holds '{file="with \"quote\"\nline.bnc"}' out
[[ $(grep -c '^# TYPE bouncer_filter_fill_ratio gauge$' out) == 1 && $(grep -c '^# HELP bouncer_filter_fill_ratio ' out) == 1 ]] || fail "HELP and TYPE"
[[ $(grep -c '^bouncer_filter_fill_ratio{' out) == 2 ]] || fail "a sample for each file"
grep -vqE '^(# (HELP|TYPE) bouncer_filter_[a-z_]+ .+|bouncer_filter_[a-z_]+\{.*\} [0-9.e+-]+)$' out && fail "a line that is no metric"
refuses "--prometheus" bouncer info --json --prometheus a.bnc
# What the format does not take, or would upset a reader, is replaced: control bytes, bytes that are not valid UTF-8.
run 0 bouncer build -q --label $'tab\there, \x1b[31mred, \xff, \xe2\x82\xac' -o $'odd\x7f\r\xfe.bnc' one
run 0 bouncer info --prometheus $'odd\x7f\r\xfe.bnc'
holds 'label="tab\\x09here, \\x1b[31mred, \\xff, \\xe2\\x82\\xac"' out
holds 'file="odd\\x7f\\x0d\\xfe.bnc"' out
tr -d '\n' <out | grep -qP '[\x00-\x1f\x7f]' && fail "a control byte in the metrics"
cp $'odd\x7f\r\xfe.bnc' $'odd\x7f\r\xff.bnc' && run 0 bouncer info --prometheus odd*.bnc odd*.bnc && [[ -z $(sort out | uniq -d) ]] || fail "a series twice"
iconv -f UTF-8 -t UTF-8 out >/dev/null || fail "the metrics are not UTF-8"
rm odd*
for bad in bad cut empty text header missing; do refuses "$bad.bnc" bouncer info $bad.bnc; done
# Of several the good ones are told, and the others named.
run 2 bouncer info a.bnc missing.bnc bad.bnc 'with space.bnc' && [[ $(grep -c '^kind ' out) == 2 && $(wc -l <err) == 2 ]] || fail "good ones among bad"
holds "missing.bnc: No such file" && holds "bad.bnc"
run 2 bouncer info --json a.bnc missing.bnc && [[ $(head -c 1 out) == '[' && $(grep -c '"kind"' out) == 1 ]] || fail "a list of one"
run 2 bouncer info --prometheus missing.bnc a.bnc && [[ $(grep -c '^bouncer_filter_fill_ratio{' out) == 1 ]] || fail "metrics of the good one"
refuses "folder" bouncer info folder
refuses "FILTER" bouncer info
refuses "no?such.bnc" bouncer info $'no\nsuch.bnc'

# ---- verify
run 0 bouncer verify a.bnc 'with space.bnc' small.bnc
holds "a.bnc: ok (blocked_bloom" out && holds "with space.bnc: ok" out && [[ $(wc -l <out) == 3 && ! -s err ]] || fail "verify"
run 0 bouncer verify $'with "quote"\nline.bnc' && [[ $(wc -l <out) == 1 ]] || fail "a name with a line end"
for bad in bad cut empty text header; do
    run 1 bouncer verify $bad.bnc
    [[ $(wc -l <err) == 1 && ! -s out ]] || fail "$bad: not one line"
    holds "$bad.bnc"
done
run 1 bouncer verify bad.bnc && holds "checksum of chunk 0"
run 1 bouncer verify cut.bnc && holds "9000 bytes"
run 2 bouncer verify missing.bnc && holds "missing.bnc" && [[ $(wc -l <err) == 1 ]] || fail "missing"
run 2 bouncer verify folder && holds "folder"
# All are looked at, the worst decides.
run 1 bouncer verify bad.bnc a.bnc && holds "a.bnc: ok" out && holds "bad.bnc"
run 2 bouncer verify bad.bnc missing.bnc a.bnc && holds "a.bnc: ok" out && [[ $(wc -l <err) == 2 ]] || fail "two lines"
run 0 bouncer verify -q a.bnc && is ""
run 1 bouncer verify --json a.bnc bad.bnc && [[ $(grep -c '"ok": true' out) == 1 && $(grep -c '"damaged": true' out) == 1 ]] || fail "json"

# ---- overlap: a third is shared
run 0 bouncer overlap a.bnc b.bnc && holds "in A and B" out && holds "standard error" out
run 0 bouncer overlap --json a.bnc b.bnc
grep -A1 '"keys_intersection"' out >part && within "$(value value part)" 9400 10600
grep -A2 '"keys_intersection"' out >part && within "$(value standard_error part)" 10 400
grep -A1 '"keys_union"' out >part && within "$(value value part)" 29500 30500
grep -A1 '"jaccard"' out >part && within "$(value value part)" 0.31 0.355
run 0 bouncer overlap --json a.bnc a.bnc
grep -A1 '"jaccard"' out >part && within "$(value value part)" 0.9999 1
seq 50001 70000 >three && run 0 bouncer build -q -o three.bnc three && run 0 bouncer overlap a.bnc three.bnc && holds "it may be empty" out
rm three three.bnc part
run 0 bouncer build -q --expect 30000 -o size.bnc one && run 0 bouncer build -q --hash xxh64 -o hash.bnc one
run 0 bouncer build -q --fold-case -o form.bnc one && run 0 bouncer build -q --kind scalable -o grows.bnc one
refuses "a.bnc and size.bnc" bouncer overlap a.bnc size.bnc
refuses "a.bnc and hash.bnc" bouncer overlap a.bnc hash.bnc
refuses "differ in their keys" bouncer overlap a.bnc form.bnc
refuses "differ in kind" bouncer overlap a.bnc grows.bnc
refuses "cannot be counted" bouncer overlap grows.bnc grows.bnc
for bad in bad cut empty text missing; do refuses "$bad.bnc" bouncer overlap a.bnc $bad.bnc; done
refuses "B is required" bouncer overlap a.bnc
rm size.bnc hash.bnc form.bnc grows.bnc

# ---- doctor
run 0 bouncer doctor a.bnc
for subject in checksums state fill keys rate 'hot bits' hash 'page faults' memory 'huge pages' age; do
    grep -qE "^(ok|note|warning) +$subject: " out || fail "no word on $subject"
done
grep -q '^problem\|^warning' out && fail "a good filter has a problem"
for bad in bad cut empty text header; do
    run 1 bouncer doctor $bad.bnc
    grep -q '^problem  checksums: ' out && holds "$bad.bnc" out && holds "-> do not use it" out || fail "doctor of $bad"
done
refuses "missing.bnc" bouncer doctor missing.bnc
refuses "folder" bouncer doctor folder
run 1 bouncer doctor --json bad.bnc && [[ $(value worst) == '"problem"' ]] || fail "json"
run 0 bouncer build -q --expect 1M -o roomy.bnc one && run 0 bouncer doctor roomy.bnc && holds "bouncer fold FILE" out
run 0 bouncer fold -q roomy.bnc -o less.bnc --fit 0.01 && rm less.bnc
# Its blocks have no small divisor: a fold cannot keep the promise, and is no advice.
head -n 100 one >in && run_in 0 bouncer build -q --force --expect 100K -o roomy.bnc && run 0 bouncer doctor roomy.bnc && ! grep -q "bouncer fold" out || fail "advice that fails"

# ---- a live file: its state is the last word of the header, and its payload has no checksums
cp a.bnc live.bnc && printf '\x5e\xa1\x12\x5e\xa1\x12\x5e\xa1' | dd of=live.bnc bs=1 seek=4088 conv=notrunc status=none
run 0 bouncer verify live.bnc && holds "live: header and size are right, the payload has no checksums" out
run 0 bouncer info --json live.bnc && [[ $(value state) == '"live"' && $(grep -c '"checksum": null' out) == 1 ]] || fail "state"
run 3 bouncer doctor live.bnc && grep -q '^warning  state: live' out && grep -q '^ok       hot bits' out || fail "doctor of a live file"
# Bits that chance did not set.
head -c 600 /dev/zero | tr '\0' '\377' | dd of=live.bnc bs=1 seek=4096 conv=notrunc status=none
run 3 bouncer doctor live.bnc && grep -q '^warning  hot bits: ' out || fail "doctor sees no hot bits"

# ---- output that cannot be written
if [[ -e /dev/full ]]; then
    for command in info verify doctor; do
        status=0
        bouncer $command a.bnc >/dev/full 2>err || status=$?
        [[ $status == 2 ]] && holds "standard output" || fail "$command to a full disk: $status"
    done
fi
passed
