#!/usr/bin/env bash
# bouncer bench, which asks a real file by several threads. Usage: bench.sh BOUNCER
source "$(dirname "$0")/lib.sh" "$1"

seq 1 20000 >one
run 0 bouncer build -q -o a.bnc one
cp a.bnc bad.bnc && printf '\x5a\xa5\x5a' | dd of=bad.bnc bs=1 seek=5000 conv=notrunc status=none
head -c 9000 a.bnc >cut.bnc && : >empty.bnc && cp one text.bnc

run 0 bouncer bench --seconds 0.1 --keys 10K a.bnc
holds "absent, batch" out && holds "absent, single" out && holds "false-positive rate" out
run 0 bouncer bench --seconds 0.2 --threads 3 --json a.bnc
holds '"threads": 3,' out
# Five sigma of as many as there was time for, and 1 %: blocks differ.
read -r low high < <(awk -v p="$(value fpr_expected)" -v n="$(value absent_asked)" \
    'BEGIN { d = 5 * sqrt(p * (1 - p) / n) + 0.01 * p; print p - d, p + d }')
within "$(value fpr_measured)" "$low" "$high"
if command -v python3 >/dev/null; then
    cp a.bnc $'with "quote"\nline.bnc'
    bouncer bench --json --seconds 0.05 --keys 1000 $'with "quote"\nline.bnc' | python3 -m json.tool >/dev/null || fail "no JSON"
fi
# Every kind, by several threads; a filter with a secret key without that key.
for kind in bloom split_block_bloom register_bloom partitioned_bloom counting_bloom stable_bloom windowed_bloom scalable_bloom \
    xor_filter binary_fuse ribbon fingerprint_set; do
    run 0 bouncer build -q --kind $kind --expect 20000 -o kind.bnc --force one
    run 0 bouncer bench --seconds 0.05 --threads 2 --keys 1000 kind.bnc
done
echo 000102030405060708090a0b0c0d0e0f >key
run 0 bouncer build -q --key-file key -o keyed.bnc one && run 0 bouncer bench --seconds 0.05 --keys 1000 keyed.bnc
for wrong in "--keys 0" "--keys 2G" "--keys x" "--seconds 0" "--seconds x" "--threads 0" "--threads 9999"; do
    # shellcheck disable=SC2086
    refuses "${wrong% *}" bouncer bench $wrong a.bnc
done
for bad in bad cut empty text missing; do refuses "$bad.bnc" bouncer bench $bad.bnc; done
passed
