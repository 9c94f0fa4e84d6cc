#!/usr/bin/env bash
# Compiles and runs every ```c block of a Markdown file: each is a complete program that must exit 0.
# Usage: doc_programs.sh FILE.md LIBRARY COMPILER [FLAG...]
set -euo pipefail
page=$1 library=$2
shift 2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v folder="$work" '
    /^```/ && inside { inside = 0; next }
    /^```c[[:space:]]*$/ { inside = 1; out = folder "/line_" NR ".c"; next }
    /^```/ { inside = 1; out = "/dev/null"; next }
    inside { print > out }' "$page"
programs=0
for block in "$work"/*.c; do
    [[ -f $block ]] || { echo "$page has no C program"; exit 1; }
    programs=$((programs + 1))
    "$@" "$block" "$library" -Wl,-rpath,"${library%/*}" -o "$work/program"
    (cd "$work" && timeout 120 ./program) || { echo "$page: ${block##*/} failed"; exit 1; }
done
echo "$page: $programs programs"
