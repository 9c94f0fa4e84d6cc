#!/usr/bin/env bash
# Checks that a library exports the functions of bouncer.h, all with the version BOUNCER_0, and nothing else.
# Usage: symbols.sh LIBRARY HEADER
set -euo pipefail
library=$1 header=$2

declared=$(tr '\n' ' ' <"$header" | grep -oE 'BOUNCER_API [^;(]*\(' | grep -oE 'bouncer_[a-z_]+\($' | tr -d '(' | sort)
exported=$(nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" { print $3 }' | sort)
expected=$(sed 's/$/@@BOUNCER_0/' <<<"$declared")
[[ $(wc -l <<<"$declared") -ge 30 ]] || { echo "only $(wc -l <<<"$declared") functions found in $header"; exit 1; }
if [[ $exported != "$expected" ]]; then
    echo "exported and not declared (<), declared and not exported (>):"
    diff <(echo "$exported") <(echo "$expected") || exit 1
fi
echo "$(wc -l <<<"$declared") functions"
