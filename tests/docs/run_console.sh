#!/usr/bin/env bash
# Runs the ```console blocks of a Markdown file. A line "$ command" is run by bash; a command that ends in "\" goes on in the
# next line. The lines up to the next "$ " are what it must print, stdout and stderr together: "..." alone stands for any
# number of lines, "..." inside a line for any text. "[exit N]" as the last of them states an exit status other than 0.
# All commands of a page share one folder, which is empty at first and removed at the end; each has a shell of its own.
# SOURCE_FOLDER is $SOURCE there.
# --update writes into the page what is printed now. Lines that fit stay as they are, "..." too; read the difference before you
# commit it.
# Usage: run_console.sh [--update] PAGE.md BOUNCER_BINARY SOURCE_FOLDER | run_console.sh --self-check
set -euo pipefail

# Writes NNNN.command, .expected, .status, .line (of the command) and .first (the line after it) for each command.
extract() { # markdown file, folder
    awk -v folder="$2" '
        function flush_command() {
            if (name == "") return
            print status > (name ".status"); close(name ".status"); close(name ".expected")
            name = ""
        }
        function begin_command(text) {
            flush_command()
            name = sprintf("%s/%04d", folder, ++count)
            status = 0
            printf "" > (name ".expected")
            print NR > (name ".line"); close(name ".line")
            print text > (name ".command")
            more = text ~ /\\$/
            if (!more) close(name ".command")
            print NR + 1 > (name ".first"); close(name ".first")
        }
        /^```/ && inside { if (inside == 2) flush_command(); inside = 0; next }
        /^```console[[:space:]]*$/ { inside = 2; opened = NR; next }
        /^```/ { inside = 1; opened = NR; next }
        inside != 2 { next }
        more {
            print > (name ".command")
            more = $0 ~ /\\$/
            if (!more) close(name ".command")
            print NR + 1 > (name ".first"); close(name ".first")
            next
        }
        /^\$ / { begin_command(substr($0, 3)); next }
        name == "" { print FILENAME ":" NR ": output before the first command" > "/dev/stderr"; exit bad = 1 }
        status != 0 { print FILENAME ":" NR ": output after [exit " status "]" > "/dev/stderr"; exit bad = 1 }
        /^\[exit [0-9]+\]$/ { status = substr($0, 7) + 0; next }
        { print > (name ".expected") }
        END {
            if (bad) exit 1
            if (inside) { print FILENAME ":" opened ": this block is not closed" > "/dev/stderr"; exit 1 }
        }' "$1"
}

# awk: whether a line is what a pattern, a line of the page, expects.
fits_function='
    function fits(pattern, text,    parts, count, i, at) {
        count = split(pattern, parts, /\.\.\./)
        if (count <= 1) return pattern == text
        if (substr(text, 1, length(parts[1])) != parts[1]) return 0
        text = substr(text, length(parts[1]) + 1)
        for (i = 2; i < count; ++i) {
            if (parts[i] == "") continue
            at = index(text, parts[i])
            if (at == 0) return 0
            text = substr(text, at + length(parts[i]))
        }
        if (length(parts[count]) > length(text)) return 0
        return substr(text, length(text) - length(parts[count]) + 1) == parts[count]
    }'

# Whether the second file is what the first one expects.
matches() { # expected, printed
    awk "$fits_function"'
        BEGIN { wanted = printed = 0 }
        FILENAME == ARGV[1] { want[++wanted] = $0; next }
        { got[++printed] = $0 }
        END {
            # reach[j]: the lines so far can stand for the first j printed ones.
            reach[0] = 1
            for (i = 1; i <= wanted; ++i) {
                before = -1
                for (j = 0; j <= printed; ++j) {
                    if (want[i] == "...") {
                        if (reach[j] && before < 0) before = j
                        next_reach[j] = before >= 0
                    } else {
                        next_reach[j] = j > 0 && reach[j - 1] && fits(want[i], got[j])
                    }
                }
                for (j = 0; j <= printed; ++j) reach[j] = next_reach[j]
            }
            exit !reach[printed]
        }' "$1" "$2"
}

# What the page would have to say: the printed lines, without those that a "..." alone stands for. Lines between two of these
# are taken from where most of their words stand, in their order. An expected line that fits is kept.
renewed() { # expected, printed
    awk "$fits_function"'
        function alike(old, new,    words, count, i, sum) {
            if (fits(old, new)) return 1000
            count = split(old, words, " ")
            for (i = 1; i <= count; ++i) sum += index(" " new " ", " " words[i] " ") > 0
            return sum + 0
        }
        # The run of lines first..last of the page, as it is printed from line `at` on.
        function put_run(first, last, at,    i) {
            for (i = first; i <= last && at <= printed; ++i) {
                print fits(want[i], got[at]) ? want[i] : got[at]
                ++at
            }
            from = at
        }
        function best_place(first, last,    at, i, sum, best, place) {
            best = -1
            for (at = from; at + last - first <= printed; ++at) {
                sum = 0
                for (i = first; i <= last; ++i) sum += alike(want[i], got[at + i - first])
                if (sum > best) { best = sum; place = at }
            }
            return best < 0 ? from : place
        }
        BEGIN { wanted = printed = 0; from = 1 }
        FILENAME == ARGV[1] { want[++wanted] = $0; next }
        { got[++printed] = $0 }
        END {
            for (first = 1; first <= wanted; first = last + 1) {
                last = first
                if (want[first] == "...") { print "..."; continue }
                while (last < wanted && want[last + 1] != "...") ++last
                if (first == 1) place = 1
                else if (last == wanted) place = printed - (last - first)
                else place = best_place(first, last)
                put_run(first, last, place < from ? from : place)
            }
            if (want[wanted] != "...") while (from <= printed) print got[from++]
        }' "$1" "$2"
}

# The lines that differ, with their places on the page.
tell_difference() { # page, command name
    diff --unchanged-line-format='' --old-line-format='%dn %L' --new-line-format='+ %L' "$2.expected" "$2.renewed" |
        awk -v page="$1" -v first="$(<"$2.first")" '
            /^\+ / { print "    it prints:  " substr($0, 3); next }
            { line = $1; sub(/^[0-9]+ /, ""); print page ":" first + line - 1 ": it says: " $0 }'
}

# Replaces the expected lines of a command on the page.
put_renewed() { # page, command name
    local first count
    first=$(<"$2.first")
    count=$(wc -l <"$2.expected")
    { head -n "$((first - 1))" "$1"; cat "$2.renewed"; tail -n "+$((first + count))" "$1"; } >"$2.page"
    cat "$2.page" >"$1"
}

run_page() { # markdown file, binary, source folder, [update]
    local page=$1 binary source_dir work command name status commands=0 update=${4-} renew=() i
    binary=$(realpath "$2")
    source_dir=$(realpath "$3")
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf '$work'" RETURN
    mkdir "$work/commands" "$work/folder"
    extract "$page" "$work/commands" || return 1
    for command in "$work"/commands/*.command; do
        [[ -f $command ]] || continue
        commands=$((commands + 1))
        name=${command%.command}
        status=0
        (cd "$work/folder" && PATH=${binary%/*}:$PATH SOURCE=$source_dir LC_ALL=C.UTF-8 exec bash "$command") \
            >"$name.printed" 2>&1 </dev/null || status=$?
        if [[ $status != "$(<"$name.status")" ]]; then
            echo "$page:$(<"$name.line"): exit status $status, and $(<"$name.status") is stated; it printed:"
            cat "$name.printed"
            return 1
        fi
        if ! matches "$name.expected" "$name.printed"; then
            renewed "$name.expected" "$name.printed" >"$name.renewed"
            echo "$page:$(<"$name.line"): it printed something else:"
            tell_difference "$page" "$name" || true # diff says 1
            [[ -n $update ]] || return 1
            renew+=("$name")
        fi
    done
    for ((i = ${#renew[@]} - 1; i >= 0; --i)); do put_renewed "$page" "${renew[i]}"; done # the last first: lines move
    if ((commands == 0)); then
        echo "$page: no console block has a command"
        return 1
    fi
    echo "$page: $commands commands"
}

# Pages made here, with what must come out.
self_check() {
    local folder binary bad=0
    folder=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$folder'" RETURN
    mkdir "$folder/bin"
    binary=$folder/bin/bouncer
    printf '#!/bin/sh\necho "hello $*"\n' >"$binary"
    chmod +x "$binary"
    check() { # what, wanted status, text that must be printed; the page from stdin
        local status=0 said
        cat >"$folder/page.md"
        said=$(run_page "$folder/page.md" "$binary" "$folder" 2>&1) || status=$?
        if [[ $status != "$2" || $said != *"$3"* ]]; then
            printf 'self-check, %s: status %s, said:\n%s\n' "$1" "$status" "$said"
            bad=1
        fi
    }
    check "right output" 0 "6 commands" <<'PAGE'
```console
$ bouncer a b
hello a b
$ printf 'x\ny\nz\n'
x
...
z
$ echo one two three
one ... three
$ printf 'in a pipe\n' | tr a-z A-Z >file; false
[exit 1]
$ cat file \
  file
IN A PIPE
...
$ seq 5
...
3
...
5
```
PAGE
    check "wrong output" 1 "page.md:2: it printed something else" <<'PAGE'
```console
$ bouncer a
hello b
```
PAGE
    check "a line too few" 1 "page.md:2: it printed something else" <<'PAGE'
```console
$ seq 2
1
```
PAGE
    check "dots that stand for nothing that comes" 1 "page.md:2: it printed something else" <<'PAGE'
```console
$ seq 3
...
4
```
PAGE
    check "output where none is expected" 1 "page.md:2: it printed something else" <<'PAGE'
```console
$ echo x
```
PAGE
    check "a failure that is not stated" 1 "page.md:2: exit status 2, and 0 is stated" <<'PAGE'
```console
$ exit 2
```
PAGE
    check "a success where a failure is stated" 1 "page.md:2: exit status 0, and 2 is stated" <<'PAGE'
```console
$ bouncer
hello...
[exit 2]
```
PAGE
    check "an unclosed block" 1 "page.md:1: this block is not closed" <<'PAGE'
```console
$ true
PAGE
    check "no commands" 1 "no console block has a command" <<'PAGE'
```sh
$ false
```
PAGE
    check "output before a command" 1 "page.md:2: output before the first command" <<'PAGE'
```console
hello
```
PAGE
    check "the place of a number, and both" 1 "page.md:4: it says: 2
    it prints:  two" <<'PAGE'
```console
$ printf '1\ntwo\n3\n'
1
2
...
```
PAGE
    updates() { # what; the page from stdin, then a line "=====", then the page that must come out
        local said
        sed '/^=====$/,$d' >"$folder/page.md" <<<"$2"
        said=$(bash "${BASH_SOURCE[0]}" --update "$folder/page.md" "$binary" "$folder" 2>&1) || bad=1
        if ! diff <(sed '1,/^=====$/d' <<<"$2") "$folder/page.md" ||
            ! run_page "$folder/page.md" "$binary" "$folder" >/dev/null; then
            printf 'self-check, %s: said:\n%s\n' "$1" "$said"
            bad=1
        fi
    }
    updates "a page that is brought up to date" "$(cat <<'PAGE'
```console
$ seq 3
1
4
$ printf 'size 7\nname x\nrate 5\nkeys 9\nend 8\n'
size 6
...
rate 4
...
end ...
$ bouncer \
  now
hello now
```
Text.
=====
```console
$ seq 3
1
2
3
$ printf 'size 7\nname x\nrate 5\nkeys 9\nend 8\n'
size 7
...
rate 5
...
end ...
$ bouncer \
  now
hello now
```
Text.
PAGE
    )"
    ((bad == 0)) && echo "self-check: 12 pages"
    return $bad
}

if [[ ${1-} == --self-check ]]; then
    self_check
elif [[ ${1-} == --update ]] && (($# == 4)); then
    run_page "${@:2}" update
elif (($# == 3)); then
    run_page "$@"
else
    echo "usage: run_console.sh [--update] PAGE.md BOUNCER_BINARY SOURCE_FOLDER | run_console.sh --self-check" >&2
    exit 2
fi
