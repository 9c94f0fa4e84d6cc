#!/usr/bin/env bash
# What keys are read from: compressed files, whole, cut and damaged; archives and filters, which are refused.
# Usage: inputs.sh BOUNCER
source "$(dirname "$0")/lib.sh" "$1"

formats=(gzip zstd xz bzip2 lz4)
for format in "${formats[@]}"; do
    if ! command -v "$format" >/dev/null; then echo "skipped: no $format; scripts/setup installs it" && exit 77; fi
done
# Small blocks, so that half a file gives some lines.
pack() { # FORMAT: standard input to standard output
    case $1 in
    gzip) gzip -c ;;
    zstd) zstd -q -c ;;
    xz) xz -0 -c ;;
    bzip2) bzip2 -1 -c ;;
    lz4) lz4 -q -B4 -c ;;
    esac
}
seq 1 60000 >keys
bouncer build -q -o k.bnc keys
cp k.bnc k.before

for format in "${formats[@]}"; do
    pack "$format" <keys >"keys.$format"
    : | pack "$format" >"none.$format"
    size=$(stat -c %s "keys.$format")

    # ---- whole: by a file, by a pipe, in pieces; several streams, empty ones among them
    run 0 bouncer check -c k.bnc "keys.$format" && is 60000
    run 0 bash -c "cat keys.$format | bouncer check k.bnc" && same out keys
    (head -c 1 "keys.$format" && sleep 0.1 && head -c 6 "keys.$format" | tail -c 5 && sleep 0.1 && tail -c +7 "keys.$format") |
        bouncer check k.bnc >out
    same out keys
    cat "none.$format" "keys.$format" "none.$format" "keys.$format" "none.$format" >in
    run_in 0 bouncer check -c k.bnc - && is 120000
    run 1 bouncer check -c k.bnc "none.$format" && is 0
    # Compressed files are not counted beforehand as if they were lines.
    run 0 bouncer build --json --force -o c.bnc "keys.$format"
    [[ $(value keys) == 60000 && $(value keys_design) == 60000 ]] || fail "$format: built for $(value keys_design)"

    # ---- cut: the lines that are whole, then the error. Nothing but the last checksum is missing of the last one.
    for bytes in 12 $((size / 3)) $((size * 2 / 3)) $((size - 1)); do
        head -c "$bytes" "keys.$format" >"cut.$format"
        theirs=$( ("$format" -dc <"cut.$format" 2>/dev/null || true) | wc -l)
        for command in "check k.bnc" dedup; do
            # shellcheck disable=SC2086
            run 2 bouncer $command "cut.$format" && holds "cut.$format: the compressed data ends too early"
            head -n "$(wc -l <out)" keys | cmp -s - out || fail "$format, $bytes bytes: not a beginning of the lines"
            (($(wc -l <out) >= theirs)) || fail "$format, $bytes bytes: $(wc -l <out) lines, where $format gives $theirs"
        done
    done
    same out keys
    head -c $((size * 2 / 3)) "keys.$format" >"cut.$format"
    [[ $(bouncer dedup "cut.$format" 2>err | wc -l) -gt 10000 ]] || fail "$format: few lines of a file that was cut"
    refuses "cut.$format: the compressed data ends too early" bouncer check -c k.bnc "cut.$format"
    refuses "cut.$format: the compressed data ends too early" bouncer build -o new.bnc "cut.$format"
    refuses "cut.$format: the compressed data ends too early" bouncer add k.bnc "cut.$format"

    # ---- damaged in the middle: the same
    cp "keys.$format" "broken.$format" && printf xxxxxxxxxxxx | dd of="broken.$format" bs=1 seek=$((size * 2 / 3)) conv=notrunc status=none
    run 2 bouncer dedup "broken.$format" && holds "broken.$format: damaged $format data"
    head -n 10000 out | cmp -s - <(head -n 10000 keys) || fail "$format: lines before the damage are missing"
    refuses "broken.$format: damaged $format data" bouncer check -c k.bnc "broken.$format"

    # ---- something else behind the last stream
    for more in "something else" "" P; do
        (cat "keys.$format" && echo "$more") >"more.$format"
        run 2 bouncer check k.bnc "more.$format" && same out keys
        [[ $more == P ]] || holds "more.$format: something else stands behind its $format data"
    done
done
same k.bnc k.before
[[ ! -e new.bnc ]] || fail "a build that failed left a file"

# ---- cut inside the signature. That of bzip2 is text, and what is one byte more or less is text, too.
for cut in gzip:1 zstd:2 zstd:3 xz:1 xz:2 xz:5 lz4:1 lz4:3; do
    format=${cut%:*}
    head -c "${cut#*:}" "keys.$format" >in
    run_in 2 bouncer dedup && holds "standard input: the compressed data ends too early" && is ""
    cat in | bouncer dedup >out 2>err && fail "$cut bytes: were read"
    holds "standard input: the compressed data ends too early" && is ""
    refuses "in: the compressed data ends too early" bouncer build -o new.bnc in
    # shellcheck disable=SC2015
    echo >>in && run_in 0 bouncer dedup && same out in
done
for text in '(' B BZ BZh9 BZh91AY '\xc3\xbd' '\x28\xc2\xb5' '\xe9' '\x05'; do
    # shellcheck disable=SC2059
    printf "$text" >in && run_in 0 bouncer dedup && holds "$(cat in)" out
done

# ---- zeros behind the last stream: as many as one likes, of xz four at a time
printf '\0\0\0\0' >zeros
for format in gzip bzip2 xz; do
    cat "keys.$format" zeros "keys.$format" zeros zeros >in
    run_in 0 bouncer check -c k.bnc && is 120000
done
(cat keys.xz && printf '\0\0\0') >in
run_in 2 bouncer check k.bnc && holds "standard input: the compressed data ends too early" && same out keys
(cat keys.xz && printf '\0\0\0' && cat keys.xz) >in
run_in 2 bouncer check k.bnc && holds "standard input: damaged xz data" && same out keys
# A sound stream that is not read: of the legacy format, or one that needs a dictionary.
(cat keys.lz4 && lz4 -q -l -c keys) >in
run_in 2 bouncer check k.bnc && holds "standard input: something else stands behind its lz4 data" && same out keys
lz4 -q -D keys -c keys >in
run_in 2 bouncer check k.bnc && holds "standard input: damaged lz4 data, or it needs a dictionary"

# ---- frames to skip, in files of zstd and of lz4
printf '\x5a\x2a\x4d\x18\x03\0\0\0abc' >skipped
for format in zstd lz4; do
    cat skipped skipped "keys.$format" skipped "keys.$format" skipped >in
    run_in 0 bouncer check -c k.bnc && is 120000
    (head -c 9 in && sleep 0.1 && head -c 25 in | tail -c 16 && sleep 0.1 && tail -c +26 in) | bouncer check -c k.bnc >out
    is 120000
done
run 1 bouncer check -c k.bnc skipped && is 0
head -c 9 skipped >in && run_in 2 bouncer check -c k.bnc && holds "standard input: the compressed data ends too early"
cat skipped keys >in && run_in 2 bouncer check -c k.bnc && holds "neither zstd nor lz4 follows a frame to skip"

# ---- a header of xz that asks for 1.5 GiB
printf '\xfd7zXZ\0\0\4\xe6\xd6\xb4\x46\2\0\x21\1\x25\0\0\0\x3b\x78\x7b\x41' >large.xz
cat keys.xz large.xz >in
refuses "large.xz: its xz data needs 1.50 GiB of memory, and the limit is 256 MiB: unpack it first" bouncer check k.bnc large.xz
run_in 2 bouncer check k.bnc && holds "needs 1.50 GiB of memory" && same out keys

# ---- a line that begins like a compressed file is answered at once
mkfifo pipe
for line in B BZh9 P PK 7z LZIP; do
    exec 7<>pipe
    : >out
    bouncer dedup pipe >out 2>err 7>&- & # or it would be a writer itself
    runner=$!
    printf '%s\n' "$line" >&7
    for _ in $(seq 600); do [[ -s out ]] && break || sleep 0.05; done
    exec 7<&-
    ends "$runner" 0
    is "$line"
done

# ---- so is a key that ends with a zero byte, though a tar archive begins with one
exec 7<>pipe
: >out
bouncer dedup -0 pipe >out 2>err 7>&- &
runner=$!
for key in one two three; do
    printf '%s\0' "$key" >&7
    for _ in $(seq 600); do [[ $(tr '\0' ' ' <out) == *"$key "* ]] && break || sleep 0.05; done
done
tr '\0' '\n' <out >in && printf 'one\ntwo\nthree\n' | cmp -s - in || fail "keys were held back"
exec 7<&-
ends "$runner" 0

# ---- archives and filters: by their name, before anything is done
bouncer build -q --kind counting_bloom -o counts.bnc keys
foreign() { # FILE WHAT
    for command in "build -o new.bnc" "build --expect 1K -o new.bnc" "check k.bnc" "check -c k.bnc" dedup "dedup --state new.bnc" \
        "add k.bnc" "remove counts.bnc"; do
        # shellcheck disable=SC2086
        refuses "$1: this is $2" bouncer $command "$1"
        [[ ! -e new.bnc ]] || fail "$command: left a file"
    done
    cp "$1" in
    run_in 2 bouncer check k.bnc && holds "standard input: this is $2" && is ""
    cat in | bouncer dedup >out 2>err && fail "$2: was read"
    holds "standard input: this is $2" && is ""
    gzip -c in >foreign.gz && refuses "foreign.gz: this holds $2" bouncer dedup foreign.gz
}
archive() { # FILE BYTES WHAT
    # shellcheck disable=SC2059
    (printf "$2" && cat keys) >"$1"
    foreign "$1" "$3: unpack it first"
}
digits() { printf "%0$1d" 5; }
archive keys.zip 'PK\003\004\x14\0' "a zip archive"
archive keys.7z '7z\xbc\xaf\x27\x1c' "a 7z archive"
archive keys.rar 'Rar!\x1a\x07\x01\0' "a rar archive"
archive keys.Z '\x1f\x9d\x90' "a compress (.Z) file"
archive keys.lz 'LZIP\x01\x0c' "an lzip file"
archive keys.lz4 '\x02\x21\x4c\x18' "an lz4 file of the legacy format"
archive keys.lzo '\x89LZO\0\r\n\x1a\n' "an lzop file"
archive keys.sz '\xff\x06\0\0sNaPpY' "a snappy file"
archive keys.cab 'MSCF\0\0\0\0\x70\0\0\0' "a cab archive"
archive keys.a "!<arch>\\n$(digits 58)\`\\n" "an ar archive"
archive thin.a "!<thin>\\n$(digits 58)\`\\n" "a thin ar archive"
archive new.cpio "070701$(digits 96)00000000name\\0" "a cpio archive"
archive crc.cpio "070702$(digits 96)00000000name\\0" "a cpio archive"
archive old.cpio "070707$(digits 59)00000000000name\\0" "a cpio archive"
xz --format=lzma -c keys >keys.lzma && foreign keys.lzma "an lzma file: unpack it first"
xz --format=lzma -0 -c keys >keys.lzma && foreign keys.lzma "an lzma file: unpack it first"
tar --format=v7 -cf old.tar keys && foreign old.tar "a tar archive: unpack it first"
printf 'PAR1\x15\x04\x15\x10' >keys.parquet && foreign keys.parquet "a Parquet file: write its keys as lines first"
bouncer build -q --kind dcso_bloom -o f.bnc keys && bouncer export --format dcso f.bnc -o keys.bloom >out
foreign keys.bloom "a DCSO filter: keys are wanted here"
bouncer build -q --force --kind split_block_bloom -o f.bnc keys && bouncer export --format parquet-sbbf f.bnc -o keys.sbbf >out
foreign keys.sbbf "a Bloom filter out of a Parquet file: keys are wanted here"
# Text that begins like these is text, also with a zero byte somewhere, and where zero bytes end the keys.
for text in '!<arch>\nkeys' '!<thin>\nkeys' "070701$(digits 104)" "070707$(digits 104)\nkeys" 'MSCF' 'MSCF\0cab' 'PAR1' 'PAR1 100 kg' ']' ']\0\0\1\0' \
    '\1' '\1\0\0\0\0\0\0\0' '\x15' 'LZIP' 'ustar' "$(digits 257)ustar"; do
    # shellcheck disable=SC2059
    printf "$text\n" >in
    run_in 0 bouncer dedup && same out in
    cat in | bouncer dedup >out && same out in
    # shellcheck disable=SC2059
    printf "$text\n\0" >in
    run_in 0 bash -c 'bouncer dedup -0 | head -c 3' && head -c 3 in | cmp -s - out || fail "$text, -0: is not text"
done

for command in "build -o new.bnc" "check k.bnc" dedup "add k.bnc" "remove counts.bnc"; do
    # shellcheck disable=SC2086
    refuses "k.before: this is a Bouncer filter: keys are wanted here" bouncer $command k.before
done
gzip -c k.bnc >k.gz
refuses "k.gz: this holds a Bouncer filter: keys are wanted here" bouncer check k.bnc k.gz
gzip -c keys.gzip >twice.gz
refuses "twice.gz: this holds a gzip file: unpack it first" bouncer check k.bnc twice.gz
tar -cf keys.tar keys
for command in "build -o new.bnc" "check k.bnc" "check -0 k.bnc" dedup "add k.bnc"; do
    # shellcheck disable=SC2086
    refuses "keys.tar: this is a tar archive: unpack it first" bouncer $command keys.tar
    # shellcheck disable=SC2086
    (cat keys.tar | bouncer $command >out 2>err) && fail "$command: a tar archive was read"
    holds "standard input: this is a tar archive" && is ""
done
# Without a line end in its first GiB, and too large to be counted first.
head -c 512 keys.tar >long.tar && truncate -s 1T long.tar
refuses "long.tar: this is a tar archive" timeout 30 bouncer build -o new.bnc long.tar
rm long.tar
head -c 64M /dev/zero | gzip -1 -c >zeros.gz
(head -c 512 keys.tar | gzip -c && for _ in $(seq 17); do cat zeros.gz; done) >long.tgz
refuses "long.tgz: this holds a tar archive" bouncer dedup long.tgz
# Of a pipe that pauses before it is known, too.
for file in keys.tar old.tar; do
    (head -c 200 "$file" && sleep 1 && tail -c +201 "$file") | bouncer dedup -0 >out 2>err && fail "a tar archive that pauses was read"
    holds "standard input: this is a tar archive"
    (($(wc -c <out) <= 200)) || fail "read on behind the pause"
done
for format in "${formats[@]}"; do
    pack "$format" <keys.tar >"tar.$format"
    refuses "tar.$format: this holds a tar archive: unpack it first" bouncer dedup "tar.$format"
done
[[ ! -e new.bnc ]] || fail "something was made of an archive"
same k.bnc k.before
# One among several, in its turn.
run 2 bouncer check k.bnc keys keys.zip && holds "keys.zip: this is a zip archive" && same out keys
# Binary records may begin like anything.
refuses "keys.zip: ends inside record 1" bouncer check --length-prefixed k.bnc keys.zip

# ---- records of a given length: the whole ones, then the error
printf '\x01\0\0\0007\x02\0\0\00042' >records
run 0 bouncer check --length-prefixed k.bnc records && same out records
(cat records && printf '\x09\0\0\0abc') >cut
run 2 bouncer check --length-prefixed k.bnc cut && holds "cut: ends inside record 3" && same out records
(cat records && printf '\xff\xff\xff\xffabc') >cut
run 2 bouncer dedup --length-prefixed cut && holds "cut: record 3 has a length of 4294967295 bytes" && same out records
gzip -c records | head -c -1 >cut.gz
run 2 bouncer dedup --length-prefixed cut.gz && holds "cut.gz: the compressed data ends too early" && same out records

# ---- a cut input and --state: what was printed and not committed comes again, and nothing is lost
run 2 bouncer dedup --state seen.bnc cut.gzip && cp out got
[[ -s got ]] || fail "no line of an input that was cut"
run 0 bouncer dedup --state seen.bnc keys && sort -u got out | cmp -s - <(sort keys) || fail "lines are missing"

# ---- import
bouncer build -q --kind dcso_bloom -o d.bnc keys && bouncer export --format dcso d.bnc -o d.bloom >out
for format in "${formats[@]}"; do
    pack "$format" <d.bloom >"d.$format"
    run 0 bouncer import --format dcso --force "d.$format" -o import.bnc
    run 0 bouncer export --format dcso --force import.bnc -o back.bloom && same back.bloom d.bloom
    head -c -5 "d.$format" >"d.cut"
    run 2 bouncer import --format dcso --force d.cut -o import.bnc && holds "d.cut: the compressed data ends too early"
done
passed
