#!/usr/bin/env bash
# Compiles what users compile, for processors that this machine need not be: README's programs and every_kind.cc, for
# x86-64, x86-64-v3 (AVX2) and x86-64-v4 (AVX-512), with more warnings than our own build has, as errors. A warning about
# inlined code may appear for one of them only, so no machine's own build shows them all.
# Usage: portable.sh SOURCE_FOLDER WORK_FOLDER LEVELS COMPILER... (LEVELS is one word such as "-O2 -O3"; COMPILER may have a
# launcher). The work folder is made anew, so one run at a time. Inside the tree, as a build folder is, what it compiles is in
# the compiler cache for other clones too.
set -euo pipefail

source_dir=$1 work=$2
read -ra levels <<<"$3"
shift 3
compiler=("$@" -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I "$source_dir/include")

rm -rf "$work"
mkdir -p "$work"
cd "$work"
bash "$source_dir/tests/docs/run_blocks.sh" --extract "$source_dir/README.md" .
compgen -G '*.cpp' >/dev/null || { echo "README.md has no program"; exit 1; }

compile() { # program, processor, level
    local object=${1##*/}_$2_$3
    "${compiler[@]}" "-march=$2" "$3" -c "$1" -o "$object.o" >"$object.log" 2>&1 && return
    echo "${1##*/} -march=$2 $3: $(grep -c 'error:' "$object.log") errors. The log begins:
$(head -20 "$object.log")"
    return 1
}

running=0 failed=0
finish_one() {
    wait -n || failed=$((failed + 1))
    running=$((running - 1))
}
for level in "${levels[@]}"; do
    for processor in x86-64 x86-64-v3 x86-64-v4; do
        for program in "$PWD"/*.cpp "$source_dir/tests/integration/portable/every_kind.cc"; do
            [[ $running -lt 2 ]] || finish_one
            compile "$program" "$processor" "$level" &
            running=$((running + 1))
        done
    done
done
while [[ $running -gt 0 ]]; do finish_one; done
echo "$failed compilations failed"
[[ $failed == 0 ]]
