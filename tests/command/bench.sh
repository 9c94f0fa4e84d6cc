#!/usr/bin/env bash
# bouncer bench, which asks a real file by several threads. Usage: bench.sh BOUNCER
source "$(dirname "$0")/lib.sh" "$1"

seq 1 20000 >one
run 0 bouncer build -q -o a.bnc one
cp a.bnc bad.bnc && printf '\x5a\xa5\x5a' | dd of=bad.bnc bs=1 seek=5000 conv=notrunc status=none
head -c 9000 a.bnc >cut.bnc && : >empty.bnc && cp one text.bnc

run 0 bouncer bench --seconds 0.1 --keys 10K a.bnc
holds "absent, batch" out && holds "absent, single" out && holds "false-positive rate" out
run 0 bouncer bench --seconds 0.2 --threads 2 --json a.bnc
holds '"threads": 2' out
# Five sigma of as many as there was time for, and 1 %: blocks differ.
read -r low high < <(awk -v p="$(value fpr_expected)" -v n="$(value absent_asked)" \
    'BEGIN { d = 5 * sqrt(p * (1 - p) / n) + 0.01 * p; print p - d, p + d }')
within "$(value fpr_measured)" "$low" "$high"
for wrong in "--keys 0" "--keys 2G" "--keys x" "--seconds 0" "--seconds x" "--threads 0" "--threads 9999"; do
    # shellcheck disable=SC2086
    refuses "${wrong% *}" bouncer bench $wrong a.bnc
done
for bad in bad cut empty text missing; do refuses "$bad.bnc" bouncer bench $bad.bnc; done
passed
