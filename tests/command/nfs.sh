#!/usr/bin/env bash
# Commands that change a file where flock locks a range of bytes, as on NFS and CIFS: one that took such a lock would then find
# its own, and refuse itself. A preloaded flock does what those file systems do. Usage: nfs.sh BOUNCER
source "$(dirname "$0")/lib.sh" "$1"
command -v cc >/dev/null || exit 77

cat >flock.c <<'EOF'
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
int flock(int file, int how) {
    struct flock whole;
    memset(&whole, 0, sizeof whole);
    whole.l_type = (how & LOCK_UN) ? F_UNLCK : (how & LOCK_EX) ? F_WRLCK : F_RDLCK;
    return fcntl(file, (how & LOCK_NB) ? F_OFD_SETLK : F_OFD_SETLKW, &whole);
}
EOF
cc -shared -fPIC -o flock.so flock.c
on_nfs() { LD_PRELOAD=$work/flock.so "$@"; }

seq 1000 >in
run_in 0 on_nfs bouncer build -o set.bnc
seq 1001 2000 >in
run_in 0 on_nfs bouncer add set.bnc
run_in 0 bouncer check -c set.bnc && is 1000
run_in 0 on_nfs bouncer build --force -o set.bnc
run 0 on_nfs bouncer fold --factor 1 --in-place set.bnc
run 0 on_nfs bouncer merge --in-place set.bnc
run_in 0 on_nfs bouncer build --kind counting -o users.bnc
run_in 0 on_nfs bouncer remove users.bnc
run_in 0 on_nfs bouncer build --kind windowed -o window.bnc
run 0 on_nfs bouncer rotate window.bnc --epoch 1
run_in 0 bouncer build --kind dcso_bloom -o d.bnc && run 0 bouncer export --format dcso d.bnc -o d.bloom && gzip -k d.bloom
run 0 on_nfs bouncer import --force --format dcso d.bloom.gz -o d.bnc
run 0 on_nfs bouncer import --force --format dcso d.bloom -o d.bnc
run 0 on_nfs bouncer export --force --format dcso d.bnc -o d.bloom
run_in 0 on_nfs bouncer dedup --state state.bnc
run_in 0 on_nfs bouncer dedup --state state.bnc && is ""
passed
