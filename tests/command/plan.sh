#!/usr/bin/env bash
# bouncer plan: what it says to paste, and its page. Usage: plan.sh BOUNCER
source "$(dirname "$0")/lib.sh" "$1"

seq 1 3000 >keys.txt

# ---- the command that is pasted makes the filter that was planned
pastes() { # PLAN...: its line runs, and the file is of that kind and size
    run 0 bouncer plan --no-measure "$@" && cp out text
    grep -E '^  bouncer build ' text >build.sh || fail "nothing to paste: $*"
    run 0 bouncer plan --json --no-measure "$@" && cp out planned.json
    rm -f keys.bnc
    run 0 bash build.sh && run 0 bouncer check -c keys.bnc keys.txt && is 3000
    run 0 bouncer info --json keys.bnc
    [[ $(value kind) == "$(value recommended planned.json)" ]] || fail "not the kind that was planned: $*"
    checks=$((checks + 1))
    # A rate that is rounded up for the line makes it a little smaller. What grows has one layer more in memory.
    [[ $(value kind) == '"scalable_bloom"' ]] ||
        awk -v a="$(value size_bytes planned.json)" -v b="$(value size_bytes)" 'BEGIN { exit !(b > a * 0.97 - 256 && b < a * 1.03 + 256) }' ||
        fail "$(value size_bytes) bytes, not the planned $(value size_bytes planned.json): $*"
}
pastes --keys 3000 --fpr 1%
pastes --keys 3000 --fpr 1in1000 --prefer space
pastes --keys 3000 --fpr 0.1% --prefer adds
pastes --keys 3000 --bits 10
pastes --keys 3000 --bits 2
pastes --keys 3000 --memory 4KiB --prefer space
pastes --keys 3000 --fpr 1% --growth 30%/year --years 2
pastes --keys 3000 --fpr 1% --need delete
pastes --keys 3000 --fpr 1% --need grow --growth 30%/year
pastes --keys 3000 --fpr 60%
for kind in bloom partitioned_bloom register_bloom split_block dcso counting scalable ribbon binary_fuse xor fingerprint_set; do
    pastes --keys 3000 --fpr 1% --kind $kind
done
for kind in ribbon binary_fuse xor; do pastes --keys 3000 --bits 12 --kind $kind; done

# ---- no line where none would do
run 0 bouncer plan --keys 1M --bits 10 --k 3 --no-measure
grep -q 'bouncer build --' out && fail "build does not take k"
holds 'parameters{' out && holds "only the library makes this filter" out
run 0 bouncer plan --keys 1M --bits 10 --k 3 --no-measure --json && [[ -z $(value command) && -n $(value cpp) ]] || fail "json with k"
refuses "1.00 KiB are too few for 1,000,000 keys" bouncer plan --keys 1M --memory 1KiB
holds "would let 100 % of the absent keys pass; at 1 % it takes 1.14 MiB"
refuses "are too few" bouncer plan --keys 1M --bits 0.5 --json
run 0 bouncer plan --keys 1M --bits 0.5 --lsm-levels 5 --ratio 10 --kind bloom --no-measure && holds "LSM tree" out
grep -q 'To paste' out && fail "a filter of no use to paste"

# ---- kinds by the names that build takes
run 0 bouncer plan --keys 1M --fpr 1% --kind scalable --no-measure && holds "Take:  scalable_bloom" out
refuses 'no kind is called "nothing"' bouncer plan --keys 1M --fpr 1% --kind nothing
refuses 'no kind is called "b"' bouncer plan --keys 1M --fpr 1% --kind b

# ---- the page: the old one stays until the new one is whole (few pages: one takes a minute under the sanitizers)
page() { bouncer plan --keys 1M --fpr 1% --no-measure --html "$@"; }
echo old >p.html && cp p.html before
refuses "p.html: exists; --force overwrites it" page p.html
status=0
(ulimit -f 4 && page p.html --force >out 2>err </dev/null) || status=$?
[[ $status == 2 ]] && holds p.html && same p.html before || fail "status $status, or the old page is gone"
[[ $(find . -name '.p.html*') == "" ]] || fail "half a page was left"
ln -s p.html link.html && run 0 page link.html --force && [[ -L link.html ]] && grep -q '</html>' p.html || fail "not replaced, or the link was"
mkfifo pipe.html && refuses "pipe.html: is no regular file" page pipe.html --force && [[ -p pipe.html ]] || fail "the pipe is gone"
mkdir folder && refuses "folder" page folder --force
passed
