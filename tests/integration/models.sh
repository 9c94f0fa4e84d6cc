#!/usr/bin/env bash
# Shows that verification/run notices what it is for: a sound model passes; a mutant that changes nothing, a base that does
# not hold, a search that was cut short, code that no run reaches and a model that does not compile are failures.
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

variant idle "$only_lost; s/^#ifdef MUTANT_lost_update/#if 0/"
variant accident '/^\/\/ mutant lost/d; s/^(\/\/ mutant stuck) \[deadlock\]/\1/'
variant broken "$no_mutants; s/^#ifdef MUTANT_lost_update/#if 1/"
variant unreached "$no_mutants; s/^( *)done == 2;/\1if\n    :: done == 2\n    :: done == 3 -> number = 0\n    fi;/"
variant deep "$no_mutants; s/^active proctype judge.*/active proctype deep() { int n; do :: n < 2000000 -> n++ od }\n&/"
run 1 "$work"/{idle,accident,broken,unreached,deep}.pml
says '^LIVED +idle +lost_update'
says '^LIVED +accident +stuck' # it deadlocks, and does not say so
says '^BROKEN +broken'
says 'assertion violated'
says '^UNREACHED +unreached'
says 'line [0-9]+: .*done == 3'
says '^TRUNCATED +deep'
says '^2 models hold, 0 mutants refuted, 5 not'

variant garbled "$only_lost; s/^#ifdef MUTANT_lost_update/&\n        garbled;/"
run 2 "$work/garbled.pml"
says '^ERROR +garbled +lost_update'
run 2 nothing
says 'there is no model'
exit "$failed"
