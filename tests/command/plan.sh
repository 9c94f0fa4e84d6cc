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

# ---- an LSM tree: the rate, and what a latency budget leaves, is for the filters of all levels together
tree=(--lsm-levels 5 --ratio 10)
budget=(--slo-ms 5 --hit-ms 0.1 --absent 0.7 --tolerate 1% --miss-ms)
sum_of_rates() { sed -n '/"levels"/,/]/p' "$1" | grep -oE '"fpr": [^,]*' | awk '{ sum += $2 } END { printf "%.12g\n", sum }'; }
near() { # VALUE EXPRESSION
    checks=$((checks + 1))
    awk -v a="$1" "BEGIN { b = $2; exit !(a >= b - 1e-6 * b && a <= b + 1e-6 * b) }" || fail "$1 is not $2"
}
agrees() { # PLAN...: the JSON of a tree. Its numbers follow from its levels
    run 0 bouncer plan --json "$@"
    sum=$(sum_of_rates out)
    near "$(value reads_in_vain <(sed '1,/"recommended"/d' out))" "$sum"
    [[ $(grep -c '"command": ' out) == $(($(value filters))) ]] || fail "not a line per filter"
    grep -q '"candidates"\|blocked_bloom' out && fail "says one filter over all keys"
    return 0
}
agrees --keys 2G "${budget[@]}" 8 "${tree[@]}" --qps 133K
within "$sum" 0.0142 0.0142857143 # 1 % of all requests, 70 % of which are for absent keys
within "$(value late_with)" 0.0099 0.01 && near "$(value late_with)" "0.7 * $sum"
near "$(value mean_ms_with)" "0.3 * 0.1 + 0.7 * $sum * 8"
near "$(value wasted_per_s)" "133000 * 0.7 * $sum"
near "$(value remaining_per_s)" "133000 * (0.3 + 0.7 * $sum)"
run 0 bouncer plan --keys 2G "${budget[@]}" 8 "${tree[@]}" --qps 133K
holds "0.0143 reads in vain per absent key, of all levels together, keep the budget:" out
holds "at most 1 % are late, and the mean is 0.11 ms." out
holds "An absent key costs 0.0143 reads in vain" out
holds "1.33K/s are looked up in vain, and 41.2K/s reach what is behind." out
holds "Take:  5 flat Bloom filters, one per level: 2.24 GiB" out
grep -q 'blocked_bloom\|keys.bnc' out && fail "suggests one filter over all keys"
agrees --keys 100M --fpr 1% "${tree[@]}" && within "$sum" 0.0099 0.01
agrees --fpr 1% --memory 256MiB "${tree[@]}" && within "$sum" 0.0099 0.01
agrees --keys 100M --fpr 1% --memory 256MiB "${tree[@]}" && within "$sum" 0.0099 0.01
# Given memory is split. 0.5 bits per key: the largest level goes without a filter, and one over all keys would be of no use.
agrees --keys 100M --bits 0.5 "${tree[@]}" --qps 1K --absent 0.7 && within "$sum" 1.1 1.2
near "$(value wasted_per_s)" "1000 * 0.7 * $sum"
within "$(value avoided_per_s)" 0 0 # every request reads the last level
[[ $(value filters) == 4 ]] && ! grep -q level5 out || fail "a filter for the last level"
# Each search in vain takes 2 ms: only the third is late.
agrees --keys 100M "${budget[@]}" 2 "${tree[@]}" && within "$sum" 0.0427 0.0428571429
run 0 bouncer plan --keys 100M "${budget[@]}" 1 "${tree[@]}" && holds "kept without a filter" out
refuses "do not fit into 2147483648 bytes: their filters need 24001" bouncer plan --keys 2G "${budget[@]}" 8 "${tree[@]}" --memory 2GiB
refuses "do not fit into 62500000 bytes: their filters need 1292" bouncer plan --keys 100M --fpr 1% --bits 5 "${tree[@]}"
refuses "an LSM tree is --lsm-levels and --ratio, both" bouncer plan --keys 100M --fpr 1% --ratio 10
refuses "levels must be 1 to 32" bouncer plan --keys 100M --fpr 1% --lsm-levels 0 --ratio 10
refuses "levels must be 1 to 32, and is 99" bouncer plan --keys 1M "${budget[@]}" 0 --lsm-levels 99 --ratio -5
refuses "the ratio between levels must be above 1" bouncer plan --keys 1M "${budget[@]}" 0 --lsm-levels 9 --ratio -5
refuses "too small for a filter on any of the levels" bouncer plan --keys 100G --bits 1e-11 "${tree[@]}"
refuses "too small for a filter on any of the levels" bouncer plan --keys 10K --bits 0.001 --lsm-levels 2 --ratio 2
refuses "more than filters can have: 128 TiB each" bouncer plan --keys 140T --fpr 1% --lsm-levels 3 --ratio 10
refuses "--kind ribbon does not go with --lsm-levels" bouncer plan --keys 100M --fpr 1% "${tree[@]}" --kind ribbon
refuses "--k does not go" bouncer plan --keys 100M --fpr 1% "${tree[@]}" --k 3
refuses "--prefer space does not go" bouncer plan --keys 100M --fpr 1% "${tree[@]}" --prefer space
refuses "--need delete does not go" bouncer plan --keys 100M --fpr 1% "${tree[@]}" --need merge,delete
run 0 bouncer plan --keys 100M --fpr 1% "${tree[@]}" --kind bloom --inserted 200M
holds "With 200,000,000 keys (2 times its design) an absent key costs 0.231 reads in vain" out

# The lines that are pasted make filters of the planned sizes: together they keep the memory and the rate.
same_sizes() { # BYTES PLAN...: at most BYTES in all
    run 0 bouncer plan --json "${@:2}" && cp out planned.json
    grep -oP '(?<="command": ").*(?=")' planned.json >build.sh || fail "nothing to paste: ${*:2}"
    sed -n '/"levels"/,/]/p' planned.json | grep -oP '(?<="size_bytes": )[1-9][0-9]*' >sizes
    for file in $(grep -o 'level[0-9]*.txt' build.sh); do echo a >"$file"; done
    rm -f level*.bnc
    run 0 bash -e build.sh
    for file in $(grep -o 'level[0-9]*.bnc' build.sh); do run 0 bouncer info --json "$file" && value size_bytes; done >built
    same built sizes
    within "$(awk '{ sum += $1 } END { print sum }' built)" 1 "$1"
}
same_sizes 102400 --fpr 1% --memory 100KiB "${tree[@]}"
same_sizes 15000 --keys 12K --bits 10 "${tree[@]}"
same_sizes 8 --keys 1 --fpr 1% --lsm-levels 1 --ratio 2
same_sizes 200000 --keys 100K --bits 16 --lsm-levels 8 --ratio 3
# More memory than the collisions of hashes leave a use for: the line asks for less.
run 0 bouncer plan --keys 1 --memory 64 --lsm-levels 1 --ratio 2 && grep -E '^  bouncer build ' out >build.sh && rm -f level1.bnc
run 0 bash build.sh

# The lines that are pasted make these filters. 200,000 absent keys cost as many reads in vain as planned.
run 0 bouncer plan --keys 30K --fpr 5% --lsm-levels 3 --ratio 5 && grep -E '^  bouncer build ' out >build.sh || fail "nothing to paste"
holds ".keys = 24'194, .false_positive_rate = " out
rm -f level*.bnc && seq 1 968 >level1.txt && seq 969 5807 >level2.txt && seq 5808 30001 >level3.txt && seq 1000001 1200000 >absent.txt
run 0 bash build.sh
wrong=0
for level in 1 2 3; do
    run 0 bouncer check -c level$level.bnc level$level.txt && is "$(wc -l <level$level.txt)"
    bouncer check -c level$level.bnc absent.txt >out || [[ $? == 1 ]]
    wrong=$((wrong + $(<out)))
done
within "$wrong" 9500 10500 # 10,000 are expected, sigma 100
run 0 bouncer plan --keys 30K --fpr 5% --lsm-levels 3 --ratio 5 --html tree.html
holds "costs 0.0499 reads in vain" tree.html && holds "-o level3.bnc level3.txt" tree.html
grep -q 'blocked_bloom\|Every kind' tree.html && fail "the page suggests one filter over all keys"

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
