#!/usr/bin/env bash
# Runs bouncer_bench on tiny filters: its rows, its document, its verdict and its exit codes. Not its speed.
# Usage: bench.sh PROGRAM
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
small=(--keys 20K --repeat 2 --threads 2)

fail() {
    echo "FAIL: $*"
    cat "$work/out" "$work/err" 2>/dev/null || true
    exit 1
}

expect() { # exit code, arguments
    local wanted=$1 code=0
    shift
    "$program" "$@" >"$work/out" 2>"$work/err" || code=$?
    [[ $code == "$wanted" ]] || fail "exit code $code instead of $wanted: $*"
}

# What is wrong is told in one line.
refused() {
    expect 2 "$@"
    [[ $(wc -l <"$work/err") == 1 && $(<"$work/err") == "bouncer_bench: "* ]] || fail "not one clear line: $*"
}
refused --nonsense
refused --keys 1X
refused --keys ,
refused --fpr 2
refused --fpr no
refused --threads 0
refused --repeat 0
refused --rows '('
refused --rows no_row_has_this_name "${small[@]}"
refused --full
refused --json "$work/none/x.json" "${small[@]}"
refused --verdict --goals "$work/none.json"
echo '{"schema": 1, "goals": [{"id": "x"}]}' >"$work/bad.json"
refused --verdict --goals "$work/bad.json"
refused --verdict --rows no_goal_has_this_id
expect 0 --help

# The list knows every kind, and the peers whether they were built or not.
expect 0 --list --keys 20K
for name in atomic_blocked_bloom plain_bloom atomic_register_bloom locked_mutex tutorial dynamic_bloom boost_fmb64 libbloom; do
    grep -q "^$name\." "$work/out" || fail "--list has no $name"
done

# Rows of every sort, and the document.
rows='^(atomic_blocked_bloom\.|(locked_mutex|dynamic_bloom|boost_fmb64)\.(query|add)(\.t2)? |keyed_xxh3)'
expect 0 "${small[@]}" --rows "$rows" --json "$work/x.json" --markdown "$work/x.md"
cp "$work/out" "$work/table"
for op in query query_batch query_dependent add add_batch add_again add_again_batch add_all mix mix_batch \
    query_batch_hot latency_query latency_add query.hits0 query_batch.hits100 query_batch.t2 add.t2 mix.t2; do
    grep -q "^atomic_blocked_bloom\.$op " "$work/table" || fail "no row atomic_blocked_bloom.$op"
done
grep -q '^limit\.' "$work/table" || fail "no limit"
grep -q 'p99.99' "$work/table" || fail "no percentiles"
grep -qE '^atomic_blocked_bloom\.query +20K +1 .* baseline ' "$work/table" || fail "no baseline build"
for field in schema machine rows verdict name kind peer op keys threads page_size bits_per_key fpr_promised \
    fpr_measured hit_ratio ns_min ns_median mops limit_ratio build note cpu kernel date; do
    grep -q "\"$field\": " "$work/x.json" || fail "the document has no $field"
done
grep -q '"verdict": null' "$work/x.json" || fail "a verdict that nobody asked for"
grep -q '^| atomic_blocked_bloom.query_batch |' "$work/x.md" || fail "no Markdown"

# A peer without its header is unmeasured, never a number.
if grep -E '^boost_fmb64\.query ' "$work/table" | grep -qv unmeasured; then
    grep -E '^boost_fmb64\.query .* [0-9]+\.[0-9]+ ' "$work/table" >/dev/null || fail "a measured peer without a number"
fi

# Verdicts.
goal() { # id, subject, bound
    printf '{"id": "%s", "title": "t", "of": {"name": "%s", "keys": "20K"}, "measure": "mops", "at_least": %s}' "$@"
}
goals() { # file, goals...
    local IFS=,
    printf '{"schema": 1, "goals": [%s]}' "${*:2}" >"$1"
}
goals "$work/met.json" "$(goal easy atomic_blocked_bloom 0.001)"
goals "$work/absent.json" "$(goal easy atomic_blocked_bloom 0.001)" "$(goal absent no_such_peer 1)"
goals "$work/short.json" "$(goal hard atomic_blocked_bloom 1e9)" "$(goal absent no_such_peer 1)"
expect 0 --verdict --goals "$work/met.json" --repeat 2
grep -q '^1 ok, 0 short, 0 unmeasured$' "$work/out" || fail "wrong counts"
expect 4 --verdict --goals "$work/absent.json" --repeat 2 --json "$work/v.json"
grep -q '^unmeasured absent ' "$work/out" || fail "an absent peer is not unmeasured"
grep -q '^ok  *easy ' "$work/out" || fail "an easy goal is not ok"
grep -q '"unmeasured": 1' "$work/v.json" || fail "the document has no verdict"
expect 1 --verdict --goals "$work/short.json" --repeat 2
grep -q '^short  *hard ' "$work/out" || fail "an impossible goal is not short"
grep -q '^0 ok, 1 short, 1 unmeasured$' "$work/out" || fail "wrong counts"
# The project's own goals can be read; one of them, by its id.
expect 0 --verdict --rows '^bits_rate1$' --repeat 1
echo "bouncer_bench works"
