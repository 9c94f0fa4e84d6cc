#!/usr/bin/env bash
# Shows that verification/run notices what it is for: a sound model passes; a mutant that changes nothing or fails by another
# error than it says, a base that does not hold, a search that was cut short, code that no run reaches and a model that does
# not compile are failures.
#
# Usage: models.sh SOURCE_DIR
set -euo pipefail
source_dir=$1
if ! command -v spin >/dev/null; then
    echo "spin is not installed"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sound=$source_dir/tests/integration/models/sound.pml

# The models are so small that optimising takes longer than all else.
compiler=$(command -v cc)
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s "$@" -O0\n' "$compiler" >"$work/bin/cc"
chmod +x "$work/bin/cc"
export PATH=$work/bin:$PATH

failed=0
output=
run() { # exit code, arguments of verification/run...
    local code=0
    output=$("$source_dir/verification/run" "${@:2}" 2>&1) || code=$?
    if [[ $code != "$1" ]]; then
        printf 'FAILED: exit code %s, not %s:\n%s\n' "$code" "$1" "$output"
        failed=1
    fi
}
says() { # regular expression
    if ! grep -qE -- "$1" <<<"$output"; then
        printf 'FAILED: no line is /%s/:\n%s\n' "$1" "$output"
        failed=1
    fi
}
variant() { # name, sed script
    sed -E "$2" "$sound" >"$work/$1.pml"
    if cmp -s "$sound" "$work/$1.pml"; then echo "FAILED: $1 is the same model" && failed=1; fi
}
no_mutants='/^\/\/ mutant/d'
only_lost='/^\/\/ mutant stuck/d'

run 0 "$sound"
says '^1 models hold, 2 mutants refuted, 0 not'

# Lines that need not be reached say so.
variant excused "$no_mutants; s/^( *)done == 2;/\1if\n    :: done == 2\n    :: done == 3 -> skip \/\/ unreached: there are two\n    fi;/"
run 0 --full "$work/excused.pml"
says '^holds +excused +\(-DADDS=5\)'

# Mutants: one that changes nothing; one that deadlocks, and does not say so; one that says so, and fails an assertion; and
# one that fails by an index.
variant mutants '
    s/^(\/\/ mutant) lost_update: .*/\1 idle: nothing\n\1 asserted [deadlock]: lost\n\1 indexed: out of bounds/
    s/^(\/\/ mutant stuck) \[deadlock\]/\1/
    s/^#ifdef MUTANT_lost_update/#ifdef MUTANT_asserted/
    s/^byte number, done;/byte number, done, table[2];/
    s/^( *)number\+\+;/#ifdef MUTANT_indexed\n        table[count] = 1;\n#endif\n&/'
variant broken "$no_mutants; s/^#ifdef MUTANT_lost_update/#if 1/"
variant unreached "$no_mutants; s/^( *)done == 2;/\1if\n    :: done == 2\n    :: done == 3 -> number = 0\n    fi;/"
variant deep "$no_mutants; s/^active proctype judge.*/active proctype deep() { int n; do :: n < 2000000 -> n++ od }\n&/"
run 1 "$work"/{mutants,broken,unreached,deep}.pml
says '^LIVED +mutants +idle'
says '^LIVED +mutants +stuck'
says '^MISJUDGED +mutants +asserted \[deadlock\]'
says '^MISJUDGED +mutants +indexed'
says 'invalid array index'
says '^BROKEN +broken'
says 'assertion violated'
says '^UNREACHED +unreached'
says 'line [0-9]+: .*done == 3'
says '^TRUNCATED +deep'
says '^1 models hold, 0 mutants refuted, 7 not'

variant garbled "$only_lost; s/^#ifdef MUTANT_lost_update/&\n        garbled;/"
run 2 "$work/garbled.pml"
says '^ERROR +garbled +lost_update'
run 2 nothing
says 'there is no model'
exit "$failed"
