# Shared by the scripts; sourced, not run. Leaves the caller in the project's root.
# shellcheck shell=bash
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# How many jobs at once: JOBS, else one per core, at least 2.
jobs=${JOBS:-$(nproc)}
if [[ $jobs -lt 2 && -z ${JOBS:-} ]]; then jobs=2; fi

# ccache is used when it is there, never required.
if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

# Prints the comment at the top of the calling script, which is its help.
print_help() {
    sed -n '2,/^[^#]/{/^#/{s/^# \{0,1\}//;p}}' "$0"
}

# Builds; prints warnings and errors only.
quiet_build() { # arguments of cmake --build
    cmake --build "$@" -j "$jobs" -- --quiet | { grep -vxF 'ninja: no work to do.' || true; }
}

# Configures and builds a preset. Further arguments go to the configuration.
build_preset() { # preset, -D...
    local preset=$1
    shift
    cmake --preset "$preset" --log-level=WARNING "$@" >/dev/null
    quiet_build --preset "$preset"
}

# Runs a named stage in a subshell, times it, and remembers it in stage_lines and failed_stages. A failed stage does
# not end the script, so that one run reports all failures; stage_ok tells those that depend on it. (Not `if stage ...`:
# the shell ignores set -e inside a condition.)
stage_lines=()
failed_stages=()
stage_ok=true
stage() { # name, command...
    local name=$1 start=$SECONDS status verdict=ok
    shift
    echo "== $name"
    set +e
    (
        set -e
        "$@"
    )
    status=$?
    set -e
    stage_ok=true
    if [[ $status != 0 ]]; then
        stage_ok=false
        verdict=FAILED
        failed_stages+=("$name")
    fi
    stage_lines+=("$(printf '%-28s %5d s  %s' "$name" $((SECONDS - start)) "$verdict")")
    echo "== ${stage_lines[-1]}"
}
