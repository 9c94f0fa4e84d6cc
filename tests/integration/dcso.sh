#!/usr/bin/env bash
# Files exchanged with Debian's `bloom` (golang-github-dcso-bloom-cli), in both directions, byte by byte.
# Usage: dcso.sh BOUNCER
# Skipped (77) where there is no such program: its help tells it from others of that name.
set -euo pipefail

bouncer=$(realpath "${1:?usage: dcso.sh BOUNCER}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "dcso.sh: $*" >&2
    exit 1
}
# No `| grep -q` behind a program: it may leave before the program has written all, which pipefail calls a failure.
[[ $(bloom --help 2>/dev/null </dev/null) == *set-data* ]] || { echo "no DCSO bloom here"; exit 77; }

# The six numbers of a header, in hex, and the bytes behind it.
header() { od -An -v -tx8 -N48 -w8 --endian=little "$1" | tr -d ' ' | paste -sd' '; }
expect_equal() { cmp "$1" "$2" || fail "$1 and $2 differ: $(header "$1") | $(header "$2")"; }

round=0
for size in "1000 0.01" "5000 0.001" "777 0.3" "20000 1e-6" "64 0.0001"; do
    read -r keys rate <<<"$size"
    round=$((round + 1))
    # Lines of several lengths, an empty one and bytes beyond ASCII among them.
    { seq "$keys" | awk 'NR % 3 { print "key " $1 * $1 } NR % 3 == 0 { print $1 "/a/rather/longer/key/" $1 }'; } >lines
    sed -i '5s/.*//; 7s/.*/caf\xc3\xa9 \xff\xfe/' lines
    bloom create -n "$keys" -p "$rate" theirs.bloom </dev/null
    bloom insert theirs.bloom <lines
    printf 'made for round %s\nsecond line\n' "$round" | bloom set-data theirs.bloom

    # Theirs comes in and goes out again unchanged, plain and compressed.
    "$bouncer" import --format dcso theirs.bloom -o theirs.bnc >/dev/null
    "$bouncer" export --format dcso theirs.bnc -o back.bloom >/dev/null
    expect_equal theirs.bloom back.bloom
    gzip -kn theirs.bloom
    "$bouncer" import --force --format dcso theirs.bloom.gz -o theirs.bnc >/dev/null
    "$bouncer" export --force --format dcso theirs.bnc -o back.bloom >/dev/null
    expect_equal theirs.bloom back.bloom
    [[ $(bloom get-data back.bloom) == "made for round $round"* ]] || fail "its metadata was lost"

    # What theirs knows, ours answers alike: members and others, false positives too.
    { cat lines; seq 1000000 1030000; } >asked
    bloom check theirs.bloom <asked >their_answers
    "$bouncer" check theirs.bnc asked >our_answers
    expect_equal their_answers our_answers

    # Ours for the same keys and rate: the same words. The header's N counts the lines that changed a bit.
    "$bouncer" build --kind dcso_bloom --expect "$keys" --fpr "$rate" -o ours.bnc lines 2>/dev/null >/dev/null
    "$bouncer" export --format dcso ours.bnc -o ours.bloom >/dev/null
    words=$(($(stat -c %s ours.bloom) - 48))
    cmp <(tail -c +49 ours.bloom | head -c "$words") <(tail -c +49 theirs.bloom | head -c "$words") ||
        fail "the words of $keys keys at $rate differ"
    [[ $(header ours.bloom | cut -d' ' -f1-5) == "$(header theirs.bloom | cut -d' ' -f1-5)" ]] ||
        fail "the headers of $keys keys at $rate differ: $(header ours.bloom) | $(header theirs.bloom)"
    bloom check ours.bloom <lines | cmp - lines || fail "theirs does not find the keys of ours"
    bloom show ours.bloom >shown
    grep -q "^Capacity:[[:space:]]*$keys\$" shown || fail "theirs shows another capacity"
    rm -f theirs.* back.* ours.*
done

# Refusals: exit 2, one line, and nothing left behind.
refused() { # what the line must say, then arguments
    local says=$1 code=0
    shift
    "$bouncer" "$@" >out 2>err || code=$?
    [[ $code == 2 && ! -s out && $(wc -l <err) == 1 ]] || fail "$*: exit $code, $(cat out err)"
    grep -qF -- "$says" err || fail "$*: does not say \"$says\": $(cat err)"
}
bloom create -n 100 -p 0.01 small.bloom </dev/null
refused "no format is called" import --format redis small.bloom -o small.bnc
head -c 100 small.bloom >short.bloom
refused "bytes of bits, and 52 follow" import --format dcso short.bloom -o small.bnc
refused "this is a DCSO filter, not a Bloom filter out of a Parquet file" import --format parquet-sbbf small.bloom -o small.bnc
[[ ! -e small.bnc ]] || fail "a refused import left a file"
"$bouncer" import --format dcso small.bloom -o small.bnc >/dev/null
refused "--force" import --format dcso small.bloom -o small.bnc
refused "it holds a dcso_bloom" export --format parquet-sbbf small.bnc -o small.sbbf
head -c 2000 /dev/zero | tr '\0' x >>small.bloom
refused "2000 bytes of metadata" import --format dcso small.bloom -o large.bnc
"$bouncer" import --drop-metadata --json --format dcso small.bloom -o large.bnc >report
grep -q '"label_bytes": 0' report ||
    fail "--drop-metadata kept some"
echo "$round filters exchanged, byte by byte"
