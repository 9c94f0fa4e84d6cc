# What the scripts of this folder share: source it with the command as $1. Works in a folder of its own.
set -euo pipefail
export LC_ALL=C
bouncer=$(realpath "$1")
PATH=$(dirname "$bouncer"):$PATH
work=$(mktemp -d)
# Only in this shell: one that was forked for a background job, and gets a signal before it becomes the job, would run it too.
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
cd "$work"
checks=0
# Before a command that is to be killed: a shell starts its background jobs with SIGINT ignored, and may itself have been.
# An array, because a function would be a process of its own.
# shellcheck disable=SC2034
interruptible=(env --default-signal=INT,TERM)

fail() {
    echo "FAILED (line ${BASH_LINENO[1]}): $*"
    [[ -s out ]] && { echo "-- stdout" && head -c 2000 out; }
    [[ -s err ]] && { echo "-- stderr" && head -c 2000 err; }
    exit 1
}
# run STATUS COMMAND...: the command must end with that status. Its output is in ./out, its errors in ./err.
run() {
    local expected=$1 status=0
    shift
    "$@" >out 2>err </dev/null || status=$?
    checks=$((checks + 1))
    [[ $status == "$expected" ]] || fail "exit status $status, not $expected: $*"
}
# The same with ./in as standard input.
run_in() {
    local expected=$1 status=0
    shift
    "$@" >out 2>err <in || status=$?
    checks=$((checks + 1))
    [[ $status == "$expected" ]] || fail "exit status $status, not $expected: $*"
}
# refuses TEXT COMMAND...: exit status 2, one line on stderr that has the text in it, nothing on stdout.
refuses() {
    local text=$1
    shift
    run 2 "$@"
    [[ $(wc -l <err) == 1 ]] || fail "not one line of error: $*"
    grep -qF -- "$text" err || fail "the error does not say \"$text\": $*"
    [[ ! -s out ]] || fail "printed something: $*"
}
is() { # TEXT: what stdout must be
    checks=$((checks + 1))
    [[ $(cat out && echo x) == "$1"$'\n'x || ($(cat out && echo x) == x && -z $1) ]] || fail "stdout is not \"$1\""
}
same() { # FILE FILE
    checks=$((checks + 1))
    cmp -s "$1" "$2" || fail "$1 and $2 differ: $(cmp "$1" "$2" 2>&1 || true)"
}
holds() { # TEXT [FILE]: is in the file (default: err)
    checks=$((checks + 1))
    grep -qF -- "$1" "${2:-err}" || fail "\"$1\" is not in ${2:-err}: $(head -c 500 "${2:-err}")"
}
value() { grep -oE "\"$1\": [^,]*" "${2:-out}" | head -n 1 | sed 's/.*: //'; } # NAME [FILE]: of a JSON report
within() { # VALUE LOW HIGH
    checks=$((checks + 1))
    awk -v x="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(x >= a && x <= b) }' || fail "$1 is not within $2 and $3"
}
# started PID: returns when the job in the background is the command itself. A signal before that would meet a shell, or a job
# whose ./out is still that of the last one.
started() {
    local tries=0
    until [[ $(cat "/proc/$1/comm" 2>/dev/null) == bouncer ]]; do
        ((++tries <= 600)) || fail "process $1 did not start"
        sleep 0.1
    done
}
# ends PID STATUS: the process that was started here ends within a minute, with that status.
ends() {
    local status=0 tries=0
    while kill -0 "$1" 2>/dev/null; do
        if ((++tries > 600)); then kill -KILL "$1"; fi
        sleep 0.1
    done
    wait "$1" 2>/dev/null || status=$?
    checks=$((checks + 1))
    [[ $status == "$2" ]] || fail "exit status $status, not $2"
}
nothing_left() { # NAME...: only these files are in the folder, besides in, out and err
    local left
    left=$(find . -mindepth 1 -maxdepth 1 ! -name in ! -name out ! -name err | sed 's|^\./||' | sort | tr '\n' ' ')
    checks=$((checks + 1))
    [[ $left == "$(printf '%s\n' "$@" | sort | tr '\n' ' ')" ]] || fail "in the folder are: $left"
}
passed() { echo "$checks checks passed"; }
