#!/usr/bin/env bash
# Checks that a layer includes only itself and layers to its left, and that the core knows no host.
# Usage: layers.sh SOURCE_FOLDER | layers.sh --self-check
set -euo pipefail

# The one map of files to layers: the first pattern that matches a path wins. The number is the column: a layer sees
# itself and lower numbers, so math and hash do not see each other. Kernels see memory, for its load_block. A new layer
# is a new line here.
layer_of() {
    local h=include/bouncer
    case $1 in
    $h/result.h | $h/goal.h | $h/detail/bits.h | $h/detail/format.h | $h/detail/isa.h | $h/detail/parallel.h | $h/detail/type_list.h | \
        $h/instruction_set.h | src/base/*) echo "0 base" ;;
    $h/math.h | $h/*_math.h | src/math/*) echo "1 math" ;;
    $h/hash.h | $h/all_hashers.h | $h/any_hasher.h | $h/detail/hash_*.h | src/hash/*) echo "1 hash" ;;
    $h/region.h | $h/words.h | $h/detail/load_block.inl | $h/detail/striped_counter.h | src/memory/*) echo "2 memory" ;;
    $h/detail/forms.h | $h/detail/*_ops.h | $h/detail/pipeline.* | $h/detail/probe.h | $h/detail/probes.inl | \
        $h/detail/lines_*.inl | src/kernels/*) echo "3 kernels" ;;
    $h/bouncer.h | src/c_api/*) echo "7 c_api" ;;
    $h/snapshot.h | $h/change_lock.h | $h/any_filter.h | $h/interchange.h | src/format/*) echo "5 format" ;;
    $h/planner.h | src/planner/*) echo "6 planner" ;;
    $h/hot.h | $h/rebuilder.h | $h/rebuild_trigger.h | $h/detail/hot_*.h | src/lifecycle/*) echo "6 lifecycle" ;;
    $h/* | src/filters/*) echo "4 filters" ;;
    *) echo "unknown" ;;
    esac
}

# The file an include means, relative to the tree; nothing for a header from outside.
resolve() { # tree, including file, included name
    local place
    for place in "${2%/*}" include src; do
        if [[ -f $1/$place/$3 ]]; then
            realpath --relative-to="$1" "$1/$place/$3"
            return
        fi
    done
}

check() { # tree
    local tree bad=0 files=0 edges=0 file name target from to from_column from_layer to_column to_layer
    tree=$(realpath "$1")
    while read -r file; do
        files=$((files + 1))
        from=$(layer_of "$file")
        if [[ $from == unknown ]]; then
            echo "$file: belongs to no layer; add it to the map in layers.sh"
            bad=1
            continue
        fi
        read -r from_column from_layer <<<"$from"
        while read -r name; do
            if [[ $name =~ ^(redismodule\.h|rocksdb/|Python\.h|pybind11/) ]]; then
                echo "$file: the core includes a host's header, $name"
                bad=1
            fi
            target=$(resolve "$tree" "$file" "$name")
            if [[ -z $target ]]; then
                if [[ $name == bouncer/* ]]; then
                    echo "$file: includes $name, which does not exist"
                    bad=1
                fi
                continue
            fi
            edges=$((edges + 1))
            to=$(layer_of "$target")
            if [[ $to == unknown ]]; then continue; fi # told when its own turn comes
            read -r to_column to_layer <<<"$to"
            if [[ $from_layer != "$to_layer" && ! $to_column -lt $from_column ]]; then
                echo "$file ($from_layer) includes $target ($to_layer), which is not to its left"
                bad=1
            fi
        done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]+)[>"].*/\1/p' "$tree/$file")
    done < <(cd "$tree" && find include/bouncer src -type f \( -name '*.h' -o -name '*.cc' -o -name '*.inl' \) | sort)
    echo "$files files, $edges includes between them"
    [[ $bad == 0 && $files -gt 0 ]]
}

# A check that cannot fail checks nothing: plant each kind of violation in a small tree and expect to be told.
self_check() {
    local work
    work=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$work'" EXIT
    mkdir -p "$work/include/bouncer/detail" "$work/src/math" "$work/src/hash" "$work/src/filters"
    echo '#include <cstdint>' >"$work/include/bouncer/result.h"
    echo '#include "bouncer/result.h"' >"$work/include/bouncer/math.h"
    echo '#include <bouncer/math.h>' >"$work/src/math/fpr.cc"
    echo '#include "bouncer/result.h"' >"$work/include/bouncer/hash.h"
    printf '#include "../math.h"\n#include "../hash.h"\n' >"$work/include/bouncer/detail/some_filter.h"
    check "$work" || { echo "self-check: a good tree was refused"; return 1; }

    expect_refused() { # file, line, what
        cp "$work/$1" "$work/kept" 2>/dev/null || : >"$work/kept"
        echo "$2" >>"$work/$1"
        if check "$work"; then
            echo "self-check: not noticed: $3"
            return 1
        fi
        cp "$work/kept" "$work/$1"
    }
    expect_refused include/bouncer/result.h '#include "math.h"' "base includes math" || return 1
    expect_refused src/math/fpr.cc '# include <bouncer/hash.h>' "a neighbour in the same column" || return 1
    expect_refused src/math/fpr.cc '#include "bouncer/detail/some_filter.h"' "math includes filters" || return 1
    expect_refused src/math/fpr.cc '#include <bouncer/gone.h>' "a header that does not exist" || return 1
    expect_refused src/filters/x.cc '#include <Python.h>' "a host's header" || return 1
    mkdir "$work/src/stray"
    expect_refused src/stray/x.cc '' "a folder without a layer" || return 1
    echo "self-check: every violation was noticed"
}

case ${1:-} in
--self-check) self_check ;;
"" | --help) sed -n '2,3p' "$0" ;;
*) check "$1" ;;
esac
