# Shared by the scripts; sourced, not run. Leaves the caller in the project's root.
# shellcheck shell=bash
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# How many jobs at once: JOBS, else one per core, at least 2.
jobs=${JOBS:-$(nproc)}
if [[ $jobs -lt 2 && -z ${JOBS:-} ]]; then jobs=2; fi

# ccache is used when it is there, never required.
use_ccache() {
    if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null; then
        export CMAKE_CXX_COMPILER_LAUNCHER=$PWD/scripts/compile-cached
    fi
}
use_ccache

# Prints the comment at the top of the calling script, which is its help.
print_help() {
    sed -n '2,/^[^#]/{/^#/{s/^# \{0,1\}//;p}}' "$0"
}

# Runs a command. If that takes longer than 5 s, a line says what is going on: on a terminal one that is rewritten every
# second, elsewhere one more now and then. The command may tell how far it is, by writing to the file $progress.
with_progress() { # name, command...
    if [[ -n ${progress:-} ]]; then # inside another one
        "${@:2}"
        return
    fi
    local name=$1 status ticker progress
    shift
    progress=$(mktemp)
    tell_progress "$name" "$progress" &
    ticker=$!
    export progress
    set +e
    (
        set -e
        "$@"
    )
    status=$?
    set -e
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    if [[ -t 1 ]]; then printf '\r\e[K'; fi
    rm -f "$progress"
    return "$status"
}
tell_progress() { # name, file
    local start=$SECONDS seconds due=5
    while sleep 1 && kill -0 $$ 2>/dev/null; do
        seconds=$((SECONDS - start))
        if ((seconds < due)); then continue; fi
        if [[ -t 1 ]]; then
            printf '\r\e[K%s: %d s%s' "$1" "$seconds" "$(cat "$2" 2>/dev/null)"
        else
            echo "$1: $seconds s$(cat "$2" 2>/dev/null)"
            due=$((seconds < 60 ? seconds + 20 : seconds + 60))
        fi
    done
}
# Passes on what a program prints, except its lines of progress, "[12/345] ..." or "12/345 ...": they go to $progress.
hide_progress() {
    local line
    while IFS= read -r line; do
        if [[ $line =~ ^\ *\[?\ *([0-9]+)/([0-9]+)(\]|\ Test) ]]; then
            if [[ -n ${progress:-} ]]; then echo ", ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}" >"$progress"; fi
        elif [[ $line != "ninja: no work to do." ]]; then
            printf '%s\n' "$line"
        fi
    done
}

# Builds; prints warnings and errors only.
quiet_build() { # arguments of cmake --build
    cmake --build "$@" -j "$jobs" | hide_progress
}

# Configures and builds a preset. Further arguments go to the configuration.
build_preset() { # preset, -D...
    local preset=$1
    shift
    cmake --preset "$preset" --log-level=WARNING "$@" >/dev/null && quiet_build --preset "$preset"
}
