#!/usr/bin/env bash
# bouncer merge, fold, rotate and remove, with real files. Usage: files.sh BOUNCER
source "$(dirname "$0")/lib.sh" "$1"

seq 1 20000 >one
seq 10001 30000 >two
seq 1 30000 >both
finds_all() { # FILTER KEYS: no false negative
    run 0 bouncer check -c "$1" "$2" && is "$(wc -l <"$2")"
}
# The parts of damage: a byte of the payload changed; the end cut off; nothing; something else.
damage() { # FROM TO
    cp "$1" "$2"
    printf '\x5a\xa5\x5a' | dd of="$2" bs=1 seek=5000 conv=notrunc status=none
}

# ---- merge: as if all keys had been added to one filter
run 0 bouncer build -q --label first --expect 40000 -o a.bnc one
run 0 bouncer build -q --label second --expect 40000 -o b.bnc two
run 0 bouncer merge -o all.bnc a.bnc b.bnc
holds "all.bnc: blocked_bloom of 2 files"
[[ $(wc -l <err) == 1 && ! -s out ]] || fail "one line on stderr"
finds_all all.bnc both
run 0 bouncer build -q --expect 40000 -o same.bnc both
cmp -s <(tail -c +4097 all.bnc | head -c 49152) <(tail -c +4097 same.bnc | head -c 49152) || fail "other bits"
run 0 bouncer info --json all.bnc
[[ $(value label) == '"first"' && $(value keys_design) == 40000 ]] || fail "label and design are the first's"
sum=$(value keys_added)
run 0 bouncer info --json a.bnc && n=$(value keys_added)
run 0 bouncer info --json b.bnc && ((n + $(value keys_added) == sum)) || fail "keys_added is no sum"
run 0 bouncer merge -q -o one.bnc a.bnc && is ""
[[ ! -s err ]] || fail "-q says something"
finds_all one.bnc one
run 0 bouncer merge --json -o json.bnc a.bnc b.bnc && [[ $(value files) == 2 && $(value fpr_promised) == 0.01 ]] || fail json
# The same file twice is taken once.
run 0 bouncer merge -o twice.bnc a.bnc ./a.bnc && holds "warning: ./a.bnc is given twice, and was taken once"
run 0 bouncer info --json twice.bnc && [[ $(value keys_added) == "$n" ]] || fail "counted twice"
# Never over a file, unless forced; over an input only in place.
refuses "all.bnc: exists already; --force replaces it" bouncer merge -o all.bnc a.bnc b.bnc
cp a.bnc into.bnc && ln -s into.bnc link.bnc
refuses "into.bnc: the output is also an input" bouncer merge --force -o into.bnc into.bnc b.bnc
refuses "link.bnc: the output is also an input, as into.bnc" bouncer merge --force -o link.bnc b.bnc into.bnc
same into.bnc a.bnc
run 0 bouncer merge --in-place into.bnc b.bnc
finds_all into.bnc both
# In place behind a link: what it leads to is replaced.
cp a.bnc into.bnc && run 0 bouncer merge -q --in-place link.bnc b.bnc && [[ -L link.bnc ]] && finds_all into.bnc both
rm link.bnc
refuses "give either -o,--output FILE or --in-place" bouncer merge a.bnc b.bnc
refuses "--output excludes --in-place" bouncer merge --in-place -o no.bnc a.bnc b.bnc
# More keys than the design: a warning with the rate of now.
run 0 bouncer build -q --expect 20000 -o small1.bnc one && run 0 bouncer build -q --expect 20000 -o small2.bnc two
run 0 bouncer merge -o over.bnc small1.bnc small2.bnc
holds "warning: over.bnc holds about 3" && holds "was made for 20.0K"
rm -f one.bnc json.bnc twice.bnc into.bnc over.bnc small?.bnc same.bnc
# What differs is said.
run 0 bouncer build -q --expect 50000 -o size.bnc one
run 0 bouncer build -q --expect 40000 --kind bloom -o kind.bnc one
run 0 bouncer build -q --expect 40000 --hash xxh64 -o hash.bnc one
run 0 bouncer build -q --expect 40000 --fold-case -o form.bnc one
run 0 bouncer build -q --kind ribbon -o static.bnc one
refuses "a.bnc and size.bnc were made for 40,000 and 50,000 keys: build both with the same --expect, or one of them with --like size.bnc" \
    bouncer merge -o no.bnc a.bnc size.bnc
run 0 bouncer build -q --expect 40000 --fpr 0.1% -o rate.bnc one
refuses "were made for rates of 1 % and 0.1 %: build both with the same --fpr" bouncer merge -o no.bnc a.bnc rate.bnc
run 0 bouncer build -q -o rate.bnc --force --fpr 0.1% one
refuses "made for 40,000 and 20,000 keys, rates of 1 % and 0.1 %: build both with the same --expect and --fpr" bouncer merge -o no.bnc a.bnc rate.bnc
rm rate.bnc
# Two builds that nobody told a number, made alike.
for kind in blocked_bloom bloom counting_bloom windowed_bloom scalable_bloom register_bloom dcso_bloom; do
    run 0 bouncer build -q --kind $kind --fpr 0.1% --fold-case -o m.bnc --force one
    run 0 bouncer build -q --like m.bnc -o t.bnc --force two && run 0 bouncer merge -q --force -o all2.bnc m.bnc t.bnc && finds_all all2.bnc both
    run 0 bouncer info --json m.bnc && cp out m.json && run 0 bouncer info --json t.bnc
    for name in kind parameters keys_design fpr_promised hash fold_case; do
        [[ $kind == scalable_bloom && $name == parameters ]] && continue # of the layers that it has
        [[ $(value $name) == "$(value $name m.json)" ]] || fail "--like: $kind, $name: $(value $name), not $(value $name m.json)"
    done
done
run 0 bouncer build -q --kind windowed_bloom --window 24h -o m.bnc --force one && run 0 bouncer build -q --like m.bnc -o t.bnc --force two
run 0 bouncer merge --force -o all2.bnc m.bnc t.bnc && finds_all all2.bnc both && run 0 bouncer info --json all2.bnc && [[ $(value window_seconds) == 86400.0 ]] || fail "--like: window"
echo 000102030405060708090a0b0c0d0e0f >k1 && echo 100102030405060708090a0b0c0d0e0f >k2
run 0 bouncer build -q --key-file k1 -o m.bnc --force one
refuses "--like: m.bnc: " bouncer build --like m.bnc -o no.bnc two
refuses "--like: m.bnc: " bouncer build --like m.bnc --key-file k2 -o no.bnc two
run 0 bouncer build -q --like m.bnc --key-file k1 -o t.bnc --force two && run 0 bouncer merge -q --force -o all2.bnc m.bnc t.bnc
refuses "--like: static.bnc is a ribbon, whose parameters follow from its keys" bouncer build --like static.bnc -o no.bnc two
refuses "--expect excludes --like" bouncer build --like a.bnc --expect 5 -o no.bnc two
refuses "a.bnc: the output is also an input" bouncer build --force --like a.bnc -o a.bnc two
refuses "one: this is text, not a Bouncer filter" bouncer build --like one -o no.bnc two
run 0 bouncer build -q --like a.bnc -o t.bnc --force /dev/null && run 0 bouncer merge -q --force -o all2.bnc a.bnc t.bnc
rm -f m.bnc t.bnc all2.bnc m.json k1 k2
refuses "a.bnc and kind.bnc differ in kind: blocked_bloom and bloom" bouncer merge -o no.bnc a.bnc kind.bnc
refuses "a.bnc and hash.bnc differ in hash" bouncer merge -o no.bnc a.bnc hash.bnc
refuses "a.bnc and form.bnc differ in their keys" bouncer merge -o no.bnc a.bnc form.bnc
refuses "static.bnc: files of a ribbon cannot be merged" bouncer merge -o no.bnc static.bnc static.bnc
# What cannot be read is named, and nothing is written.
damage a.bnc bad.bnc && head -c 9000 a.bnc >cut.bnc && : >empty.bnc && cp one text.bnc && mkdir folder
for bad in bad cut empty text; do
    refuses "$bad.bnc" bouncer merge -o no.bnc a.bnc $bad.bnc
    refuses "$bad.bnc" bouncer merge -o no.bnc $bad.bnc a.bnc
    cp a.bnc kept.bnc
    refuses "$bad.bnc" bouncer merge --force -o kept.bnc a.bnc $bad.bnc
    same kept.bnc a.bnc
done
refuses "folder" bouncer merge -o no.bnc a.bnc folder
refuses "missing.bnc" bouncer merge -o no.bnc a.bnc missing.bnc
refuses "folder: is a folder" bouncer merge --force -o folder a.bnc b.bnc
refuses "nowhere: No such file or directory" bouncer merge -o nowhere/no.bnc a.bnc b.bnc
refuses "FILTERS" bouncer merge -o no.bnc
nothing_left a.bnc all.bnc b.bnc bad.bnc both cut.bnc empty.bnc folder form.bnc hash.bnc kept.bnc kind.bnc one size.bnc \
    static.bnc text.bnc two
rm -f form.bnc hash.bnc kept.bnc kind.bnc size.bnc static.bnc
# Kinds whose union is not an OR: counters are summed, chains joined.
for kind in counting_bloom scalable_bloom; do
    run 0 bouncer build -q --kind $kind --expect 40000 -o c1.bnc one && run 0 bouncer build -q --kind $kind --expect 40000 -o c2.bnc two
    run 0 bouncer merge -o c.bnc c1.bnc c2.bnc && finds_all c.bnc both
    run 2 bouncer merge -o no.bnc c1.bnc a.bnc && holds "c1.bnc and a.bnc" && holds "differ in kind"
    damage c2.bnc c3.bnc && refuses "c3.bnc" bouncer merge -o no.bnc c1.bnc c3.bnc
    rm -f c.bnc c1.bnc c2.bnc c3.bnc
done
# Secret keys are not needed, other keys refused.
echo 000102030405060708090a0b0c0d0e0f >k1 && echo 100102030405060708090a0b0c0d0e0f >k2
run 0 bouncer build -q --key-file k1 --expect 40000 -o s1.bnc one && run 0 bouncer build -q --key-file k1 --expect 40000 -o s2.bnc two
run 0 bouncer build -q --key-file k2 --expect 40000 -o s3.bnc two
run 0 bouncer merge -q -o s.bnc s1.bnc s2.bnc && run 0 bouncer check -c --key-file k1 s.bnc both && is 30000
refuses "s1.bnc and s3.bnc differ in hash" bouncer merge -o no.bnc s1.bnc s3.bnc
rm -f k1 k2 s.bnc s?.bnc
# Names with spaces and line ends: one line of error all the same.
cp a.bnc 'with space.bnc' && cp a.bnc $'with\nline.bnc'
run 0 bouncer merge -q -o $'out put\n.bnc' 'with space.bnc' $'with\nline.bnc' && finds_all $'out put\n.bnc' one
refuses "out put?.bnc: exists already" bouncer merge -o $'out put\n.bnc' a.bnc b.bnc
refuses "no?such.bnc" bouncer merge -o no.bnc $'no\nsuch.bnc'
rm -f with*.bnc out\ put*

# ---- fold
run 0 bouncer build -q --kind bloom --expect 400000 -o wide.bnc one
run 0 bouncer fold wide.bnc -o half.bnc --factor 2
holds "half.bnc: folded by 2" && holds "false-positive rate"
finds_all half.bnc one
run 0 bouncer fold --json wide.bnc -o fit.bnc --fit 1%
factor=$(value factor)
((factor >= 2 && factor <= 20)) || fail "factor $factor"
awk -v r="$(value fpr_expected)" 'BEGIN { exit !(r > 0 && r <= 0.01) }' || fail "rate $(value fpr_expected)"
finds_all fit.bnc one
run 0 bouncer info --json fit.bnc && [[ $(value fpr_promised) == 0.01 && $(value overfull) == false ]] || fail "design"
refuses "must divide" bouncer fold wide.bnc -o no.bnc --factor 1000003
refuses "wide.bnc" bouncer fold wide.bnc -o no.bnc --fit 1e-30
refuses "half.bnc: exists already" bouncer fold wide.bnc -o half.bnc --factor 2
refuses "either --factor N or --fit RATE" bouncer fold wide.bnc -o no.bnc
refuses "--fit" bouncer fold wide.bnc -o no.bnc --factor 2 --fit 1%
refuses "--factor" bouncer fold wide.bnc -o no.bnc --factor 0.5
run 2 bouncer fold wide.bnc -o no.bnc --factor 0 && holds "wide.bnc"
cp wide.bnc self.bnc && refuses "self.bnc: the output is also an input" bouncer fold --force -q self.bnc -o ./self.bnc --factor 2
refuses "give either -o,--output FILE or --in-place" bouncer fold self.bnc --factor 2
same self.bnc wide.bnc
run 0 bouncer fold -q --in-place self.bnc --factor 2
cmp -s <(tail -c +4097 self.bnc | head -c 100000) <(tail -c +4097 half.bnc | head -c 100000) || fail "folded in place"
run 0 bouncer build -q --kind counting_bloom -o c.bnc one
refuses "c.bnc: a counting_bloom cannot be folded" bouncer fold c.bnc -o no.bnc --factor 2
for bad in bad cut empty text missing; do
    refuses "$bad.bnc" bouncer fold $bad.bnc -o no.bnc --factor 2
    refuses "$bad.bnc" bouncer fold $bad.bnc -o no.bnc --fit 1%
done
refuses "folder" bouncer fold folder -o no.bnc --factor 2
rm -f wide.bnc half.bnc fit.bnc self.bnc

# ---- remove
head -n 5000 one >gone && tail -n +5001 one >stay
run 0 bouncer remove c.bnc gone
holds "c.bnc: 5,000 keys removed, 0 were surely absent"
finds_all c.bnc stay
run 0 bouncer check -c -v c.bnc gone && (($(cat out) > 4800)) || fail "$(cat out) of 5000 are gone"
cp c.bnc before.bnc
seq 900001 900003 >strangers
refuses "c.bnc: 3 of 3 keys are surely not in it, or come more often than they were added, the first at strangers:1; nothing was removed" bouncer remove c.bnc strangers
same c.bnc before.bnc
# One that is there, before those that are not, stays too.
{ head -n 1 stay && cat strangers; } >mixed
refuses "c.bnc: 3 of 4 keys are surely not in it, or come more often than they were added, the first at mixed:2; nothing was removed" bouncer remove c.bnc mixed
same c.bnc before.bnc
run 0 bouncer remove --skip-absent --json c.bnc strangers && [[ $(value keys) == 3 && $(value removed) == 0 && $(value absent) == 3 ]] || fail "counts"
awk -v p="$(value absent_unnoticed)" 'BEGIN { exit !(p > 0 && p < 0.01) }' || fail "of absent keys, $(value absent_unnoticed)"
same c.bnc before.bnc
# One that comes twice was added once.
{ head -n 1 stay && cat strangers && head -n 1 stay; } >mixed
refuses "c.bnc: 4 of 5 keys are surely not in it, or come more often than they were added, the first at mixed:2" bouncer remove c.bnc mixed
same c.bnc before.bnc
{ head -n 1 stay && cat strangers; } >mixed
# A file of keys that is removed twice takes nothing else with it.
refuses "nothing was removed" bouncer remove c.bnc gone
same c.bnc before.bnc && finds_all c.bnc stay
run 0 bouncer remove --skip-absent c.bnc mixed && holds "c.bnc: 1 keys removed, 3 were surely absent; of keys that are not there, at most 0."
tail -n +2 stay >rest && finds_all c.bnc rest
# Trusted, they are not asked for; all threads remove.
head -n 1 stay >in && run_in 0 bouncer add -q c.bnc && finds_all c.bnc stay
cat stay stay stay >many && run 0 bouncer build -q --kind counting_bloom -o trust.bnc many
head -n 12000 many >most && run 0 bouncer remove --trust --json trust.bnc many && [[ $(grep -cE '"absent(_unnoticed)?": null' out) == 2 && $(value removed) == "$(wc -l <many)" ]] || fail "trusted"
run 1 bouncer check -c trust.bnc many && is 0
run 0 bouncer remove --trust trust.bnc strangers && holds "trust.bnc: 3 keys removed; none was asked for first"
refuses "--skip-absent" bouncer remove --trust --skip-absent c.bnc strangers
rm -f mixed rest many most trust.bnc
head -n 3 stay >in && run_in 0 bouncer remove -q c.bnc && [[ ! -s err ]] || fail "-q says something"
refuses "a.bnc: a blocked_bloom cannot remove: a counting_bloom can" bouncer remove a.bnc gone
refuses "no such file: nothing" bouncer remove c.bnc 'no such file: nothing'
refuses "--hex would look for others" bouncer remove --hex c.bnc gone
for bad in bad cut empty text missing; do refuses "$bad.bnc" bouncer remove $bad.bnc gone; done
refuses "folder" bouncer remove folder gone
rm -f before.bnc gone stay strangers c.bnc

# ---- rotate
run 0 bouncer build -q --kind windowed_bloom --expect 40000 -o w.bnc one
run 0 bouncer rotate w.bnc --epoch 3 && holds "w.bnc: epoch 0 to 3, about "
finds_all w.bnc one
cp w.bnc before.bnc
run 0 bouncer rotate w.bnc --epoch 3 && same w.bnc before.bnc
refuses "w.bnc: epochs go up: the filter is at 3, and was asked to go back to 2" bouncer rotate w.bnc --epoch 2
same w.bnc before.bnc
# To forget every key takes --force: the sixth step keeps those of the first, the seventh does not.
run 0 bouncer rotate w.bnc --epoch 6 && finds_all w.bnc one
cp w.bnc before.bnc
refuses "w.bnc: from epoch 6 to 13 is more than its whole window (6 steps): every key would be forgotten. Nothing was changed" bouncer rotate w.bnc --epoch 13
refuses "it was built without --window, so its steps are numbered by hand: give --epoch 7, or build it anew" bouncer rotate w.bnc --now --window 24h
same w.bnc before.bnc
run 0 bouncer rotate --json --force w.bnc --epoch 100 && [[ $(value epoch_before) == 6 && $(value epoch) == 100 ]] || fail "epochs"
run 1 bouncer check -c w.bnc one && is 0
# An empty one has nothing to forget, and takes the window that it is given.
refuses "the file does not say how long its window is: give --window" bouncer rotate w.bnc --now
run 0 bouncer info --json w.bnc && [[ $(value window_seconds) == null ]] || fail "a window"
run 0 bouncer rotate -q w.bnc --now --window 24h && [[ ! -s err ]] || fail "-q says something"
refuses "w.bnc: its window is 24 h, not 12 h" bouncer rotate w.bnc --now --window 12h
run 0 bouncer rotate --json w.bnc --now && [[ $(value window_seconds) == 86400.0 ]] || fail "window"
((($(date +%s) / 14400) - $(value epoch) <= 1)) || fail "four hours since 1970: $(value epoch)"
# A file that is built with a window begins at now.
run 0 bouncer build -q --kind windowed --window 7d -o seen.bnc one
run 0 bouncer info --json seen.bnc && [[ $(value window_seconds) == 604800.0 ]] || fail "window of seven days"
((($(date +%s) * 6 / 604800) - $(value epoch) <= 1)) || fail "sixths of a week since 1970: $(value epoch)"
run 0 bouncer rotate seen.bnc --now && holds ", window 7 days, about 20.0K keys in it" && finds_all seen.bnc one
cp seen.bnc before.bnc
refuses "seen.bnc: its window is 7 days, not 24 h" bouncer rotate seen.bnc --now --window 24h
same seen.bnc before.bnc
run 0 bouncer rotate seen.bnc --now --window 168h
head -n 10 two >in && run_in 0 bouncer add -q seen.bnc && run 0 bouncer info --json seen.bnc && [[ $(value window_seconds) == 604800.0 ]] || fail "an add loses the window"
run 0 bouncer doctor seen.bnc && grep -q '^ok       window: ' out || fail "doctor of a window"
refuses "seen.bnc: its steps are those of its window of 7 days by the clock: rotate --now, without --epoch" bouncer rotate --force seen.bnc --epoch 99999999
# Keys that are added belong to the step that the clock says, and are not the last to be forgotten.
run 0 bouncer build -q --kind windowed --window 12s -o clock.bnc one && run 0 bouncer info --json clock.bnc && epoch=$(value epoch) && sleep 2.1
head -n 10 two >in && run_in 0 bouncer add -q clock.bnc && run 0 bouncer info --json clock.bnc
(($(value epoch) > epoch)) || fail "added to a step that is over: $epoch, $(value epoch)"
finds_all clock.bnc one && rm clock.bnc
# One whose window went by: doctor sees it, and --now keeps the keys unless it is forced.
run 0 bouncer build -q --kind windowed --window 6ms -o short.bnc one && sleep 0.05
run 3 bouncer doctor short.bnc && grep -q '^warning  window: .* steps behind' out || fail "doctor of a window that went by"
refuses "every key would be forgotten" bouncer rotate short.bnc --now
cp short.bnc before.bnc && refuses "short.bnc: all of its keys are older than its window of 6 ms. Nothing was added" bouncer add short.bnc two && same short.bnc before.bnc
finds_all short.bnc one
run 0 bouncer rotate short.bnc --now --force && run 1 bouncer check -c short.bnc one && is 0
refuses "differ in their windows, which are 7 days and 6 ms" bouncer merge -o no.bnc seen.bnc short.bnc
refuses "--window: a bloom has no window" bouncer build --kind bloom --window 24h -o no.bnc one
refuses "cannot be cut into 6 equal steps: take a multiple of 6 seconds" bouncer build --kind windowed --window 0.1ms -o no.bnc one
refuses "285 years" bouncer build --kind windowed --window 300y -o no.bnc one
rm -f seen.bnc short.bnc
refuses "--window" bouncer rotate w.bnc --now --window 24
refuses "either --epoch N or --now" bouncer rotate w.bnc
refuses "--window" bouncer rotate w.bnc --epoch 5 --window 24h
refuses "--epoch" bouncer rotate w.bnc --epoch -1
refuses "a.bnc: a blocked_bloom cannot rotate: a windowed_bloom can" bouncer rotate a.bnc --epoch 1
for bad in bad cut empty text missing; do refuses "$bad.bnc" bouncer rotate $bad.bnc --epoch 1; done
refuses "folder" bouncer rotate folder --epoch 1

# ---- what failed has left nothing behind
nothing_left a.bnc all.bnc b.bnc bad.bnc before.bnc both cut.bnc empty.bnc folder one text.bnc two w.bnc
passed
