#!/usr/bin/env bash
# Man pages and completions, as they were made for this command. Usage: man.sh BOUNCER [FOLDER]
share=$(realpath "${2:-$(dirname "$1")/../tools/bouncer/share}" 2>/dev/null)
source "$(dirname "$0")/lib.sh" "$1"
if [[ ! -e $share/man.stamp ]]; then
    echo "skipped: no man pages at $share; build the target bouncer_share"
    exit 77
fi
skipped=

# ---- every subcommand has its page, and every flag of its help is on it
bouncer --help >help
commands=$(sed -n '/^Subcommands:/,$p' help | awk '/^  [a-z]/ { print $1 }')
[[ $(wc -w <<<"$commands") -ge 10 ]] || fail "subcommands: $commands"
for command in $commands; do
    page=$share/man1/bouncer-$command.1
    [[ -s $page ]] || fail "no page of $command"
    holds "bouncer\\-$command" "$share/man1/bouncer.1"
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' 'SEE ALSO'; do holds ".SH $section" "$page"; done
    bouncer "$command" --help >help
    for flag in $(grep -oE '^  (-[a-zA-Z0-9],)?--[a-z0-9-]+' help | tr , '\n' | tr -d ' '); do
        holds "\\fB${flag//-/\\-}\\fR" "$page"
    done
done

# ---- they format without a warning
pages=("$share"/man1/*.1)
if command -v groff >/dev/null; then
    for page in "${pages[@]}"; do
        groff -man -ww -Tascii "$page" >out 2>err || fail "groff: $page"
        [[ ! -s err ]] || fail "groff warns of $page"
        checks=$((checks + 1))
    done
    groff -man -Tascii -P-cbou "$share/man1/bouncer-merge.1" >out 2>/dev/null
    holds "bouncer merge [options] FILTERS ..." out
else
    skipped+=" groff"
fi
if command -v mandoc >/dev/null; then
    for page in "${pages[@]}"; do mandoc -Tlint -Wwarning "$page" >out 2>&1 || fail "mandoc: $page"; done
else
    skipped+=" mandoc"
fi

# ---- bash: what the shell would offer
: >'a file.bnc' && : >other.txt
# shellcheck disable=SC1091
source "$share/completions/bouncer.bash"
offers() { # WORDS...: the last one is completed
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _bouncer
    printf '%s\n' "${COMPREPLY[@]}" >out
    checks=$((checks + 1))
}
offers bouncer bu && [[ ${COMPREPLY[*]} == build ]] || fail "bu"
offers bouncer '' && for command in $commands --version; do holds "$command" out; done
offers bouncer build --kin && [[ ${COMPREPLY[*]} == --kind ]] || fail "--kin"
offers bouncer build --kind blo && [[ " ${COMPREPLY[*]} " == *' bloom '* && " ${COMPREPLY[*]} " == *' blocked_bloom '* ]] || fail "--kind blo"
offers bouncer build --kind = rib && [[ ${COMPREPLY[*]} == ribbon ]] || fail "--kind=rib"
offers bouncer build --kind = && [[ ${#COMPREPLY[@]} -ge 10 ]] || fail "--kind="
offers bouncer build --hash sip && [[ ${COMPREPLY[*]} == 'siphash13 siphash24' ]] || fail "--hash sip"
offers bouncer build -o a && [[ ${COMPREPLY[0]} == 'a file.bnc' ]] || fail "-o a"
offers bouncer build --fpr '' && [[ ${#COMPREPLY[@]} == 0 ]] || fail "--fpr has no completions"
offers bouncer info a && [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == 'a file.bnc' ]] || fail "info a"
offers bouncer info --js && [[ ${COMPREPLY[*]} == --json ]] || fail "info --js"
offers bouncer nothing --x && [[ ${#COMPREPLY[@]} == 0 ]] || fail "an unknown subcommand"
for command in $commands; do
    offers bouncer "$command" -
    bouncer "$command" --help >help
    for flag in $(grep -oE '^  (-[a-zA-Z0-9],)?--[a-z0-9-]+' help | tr , '\n' | tr -d ' '); do holds "$flag" out; done
done

# ---- zsh and fish: their own opinion
if command -v zsh >/dev/null; then zsh -n "$share/completions/_bouncer" || fail "zsh"; else skipped+=" zsh"; fi
if command -v fish >/dev/null; then fish -n "$share/completions/bouncer.fish" || fail "fish"; else skipped+=" fish"; fi
[[ -z $skipped ]] || echo "not looked at, because not installed:$skipped"
passed
