#!/usr/bin/env bash
# A changed header reaches the precompiled header and what is compiled with it, through the compiler cache: what one gets
# from the cache is what the compiler would have made. Two trees at different paths share the cache.
# Usage: compile_cached.sh LAUNCHER
set -euo pipefail
command -v ccache >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset "${!CCACHE_@}" # whatever holds for the build around this test
export CCACHE_DIR=$work/cache

for tree in one two; do # the launcher takes the folder above its own for the tree
    mkdir -p "$work/$tree/scripts" "$work/$tree/include" "$work/$tree/build"
    cp "$1" "$work/$tree/scripts/compile-cached"
done

# The commands are as CMake gives them: -include of the header from the build folder, the precompiled one beside it.
answer() { # tree, number: what a program says whose header has that number
    cd "$work/$1/build"
    local cached=(../scripts/compile-cached g++ -std=c++20 -I"$work/$1/include" -fpch-preprocess -Winvalid-pch -Werror)
    echo "#pragma once
inline int number() { return $2; }" >../include/number.h
    echo '#include <number.h>' >all.hxx
    : >all.hxx.cxx
    printf '#include <number.h>\n#include <cstdio>\nint main() { std::printf("%%d\\n", number()); }\n' >../main.cc
    rm -f main main.o
    "${cached[@]}" -x c++-header -include "$PWD/all.hxx" -MD -MF all.d -o "$PWD/all.hxx.gch" -c all.hxx.cxx &&
        "${cached[@]}" -include "$PWD/all.hxx" -MD -MF main.d -o main.o -c "$work/$1/main.cc" &&
        g++ main.o -o main &&
        ./main
}
checks=0
check() { # tree, numbers in turn
    local tree=$1 number said
    shift
    for number in "$@"; do
        checks=$((checks + 1))
        said=$(answer "$tree" "$number") || said="nothing"
        [[ $said == "$number" ]] || { echo "tree $tree: the header says $number, the program $said"; exit 1; }
    done
}
check one 1 2 3
check two 1 3 2 1 # after the same beginning another change
check one 1 3

# And it is a cache: only the three headers and the program with each of them were compiled.
hits=$(ccache --print-stats | awk '/^(direct|preprocessed)_cache_hit/ { sum += $2 } END { print sum }')
[[ $hits == $((2 * checks - 6)) ]] || { ccache --show-stats; echo "$hits hits in $((2 * checks)) compilations"; exit 1; }
echo "$((2 * checks)) compilations, $hits hits"
