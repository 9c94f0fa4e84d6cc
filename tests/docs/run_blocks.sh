#!/usr/bin/env bash
# Tests the code in a Markdown file. Every ```cpp block is a complete program: it must compile under the project's
# warnings and exit 0. Every ```sh block must name only scripts, presets and programs that exist. The sh blocks are
# not run: scripts/test inside scripts/test would not end.
# BOUNCER_LINK: what LIBRARY itself must be linked with, where it has zstd.
# Usage: run_blocks.sh FILE.md SOURCE_FOLDER LIBRARY COMPILER [FLAG...] | run_blocks.sh --self-check (same but FILE.md)
#        run_blocks.sh --extract FILE.md FOLDER (only writes the blocks)
set -euo pipefail

# Writes each block to <folder>/line_<line of its fence>.<language>.
extract() { # markdown file, folder
    awk -v folder="$2" '
        /^```/ && inside { inside = 0; close(out); next }
        /^```(cpp|sh)[[:space:]]*$/ { inside = 1; language = $1; sub(/^```/, "", language)
                                      out = folder "/line_" NR "." language; printf "" > out; next }
        /^```/ { inside = 1; out = "/dev/null"; next }
        inside { print > out }
        END { if (inside) { print "a code block is not closed" > "/dev/stderr"; exit 1 } }' "$1"
}

check_sh() { # block, source folder
    local name bad=0
    while read -r name; do
        if [[ ! -x $2/$name ]]; then
            echo "$name is not an executable file of the tree"
            bad=1
        fi
    done < <(grep -oE '(^|[^[:alnum:]_/-])(\./)?scripts/[[:alnum:]_.-]+' "$1" | grep -oE 'scripts/.*' || true)
    while read -r name; do
        if ! grep -q "\"name\": \"$name\"" "$2/CMakePresets.json"; then
            echo "$name is not a preset"
            bad=1
        fi
    done < <(grep -oE -- '--preset[ =][[:alnum:]_-]+' "$1" | sed -E 's/--preset[ =]//' || true)
    return $bad
}

run_file() { # markdown file, source folder, library, compiler, flags...
    local file=$1 source_dir=$2 library=$3 work block line program blocks=0 bad=0
    local link=(-pthread -ldl ${BOUNCER_LINK:+"$BOUNCER_LINK"})
    shift 3
    work=$(mktemp -d)
    extract "$file" "$work" || bad=1
    for block in "$work"/*.cpp "$work"/*.sh; do
        [[ -f $block ]] || continue
        blocks=$((blocks + 1))
        line=${block##*/line_}
        line=${line%.*}
        if [[ $block == *.sh ]]; then
            check_sh "$block" "$source_dir" || { echo "$file:$line: this block is wrong"; bad=1; }
            continue
        fi
        program=$work/program_$line/program # in a folder of its own, where it may write files
        mkdir "${program%/*}"
        if ! "$@" "$block" "$library" "${link[@]}" -o "$program"; then
            echo "$file:$line: this program does not compile"
            bad=1
        elif ! (cd "${program%/*}" && timeout 120 ./program >output 2>&1); then
            echo "$file:$line: this program failed:"
            cat "${program%/*}/output"
            bad=1
        fi
    done
    rm -rf "$work"
    echo "$file: $blocks blocks"
    [[ $bad == 0 && $blocks -gt 0 ]]
}

self_check() { # source folder, library, compiler, flags...
    local work
    work=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$work'" EXIT
    expect() { # status, language, body, what
        printf 'Text.\n\n```%s\n%s\n```\n' "$2" "$3" >"$work/page.md"
        local status=0
        run_file "$work/page.md" "${arguments[@]}" >"$work/log" 2>&1 || status=$?
        if [[ $status != "$1" ]]; then
            echo "self-check: $4: expected $1, got $status"
            cat "$work/log"
            return 1
        fi
    }
    local arguments=("$@")
    expect 0 cpp '#include <bouncer/result.h>
int main() { return bouncer::result<int>(7).has_value() ? 0 : 1; }' "a good program" || return 1
    expect 1 cpp 'int main() { return 3; }' "a program that fails" || return 1
    expect 1 cpp 'int main() { return missing(); }' "a program that does not compile" || return 1
    expect 1 cpp 'int main() { int unused = 3; }' "a warning" || return 1
    expect 0 sh 'scripts/setup && cmake --preset dev' "a good script" || return 1
    expect 1 sh './scripts/no-such-thing' "a script that does not exist" || return 1
    expect 1 sh 'cmake --preset no-such-thing' "a preset that does not exist" || return 1
    expect 1 text 'nothing' "a page without blocks" || return 1
    echo "self-check: good blocks pass and bad ones are noticed"
}

case ${1:-} in
--self-check) shift && self_check "$@" ;;
--extract) extract "$2" "$3" ;;
"" | --help) sed -n '2,7p' "$0" ;;
*) run_file "$@" ;;
esac
