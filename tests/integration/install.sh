#!/usr/bin/env bash
# Installs the library that is built and builds the three-line consumer outside the tree with find_package (static and shared)
# and with pkg-config, and a C program with pkg-config; runs each. With "full" also with add_subdirectory, which compiles
# the library again.
# Usage: install.sh SOURCE_FOLDER BUILD_FOLDER C++_COMPILER [full]
set -euo pipefail
source_dir=$1 build_dir=$2 cxx=$3 tier=${4:-}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source_dir/tests/integration/consumer" "$work/consumer"
generate=(cmake -S "$work/consumer" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" --log-level=WARNING)

echo "-- install"
cmake --install "$build_dir" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
mv "$work/first" "$work/prefix" # an installed tree may be moved
prefix=$work/prefix

# The command, with its pages and completions.
if [[ -x $build_dir/bin/bouncer ]]; then
    echo "-- the command"
    [[ $(printf 'one\ntwo\n' | "$prefix/bin/bouncer" dedup -c) == 2 ]]
    for file in share/man/man1/bouncer.1 share/man/man1/bouncer-dedup.1 share/bash-completion/completions/bouncer \
        share/zsh/site-functions/_bouncer share/fish/vendor_completions.d/bouncer.fish; do
        [[ -s $prefix/$file ]] || { echo "$file is not installed"; exit 1; }
    done
fi

echo "-- find_package"
"${generate[@]}" -B "$work/find" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$work/find" -- --quiet
"$work/find/consumer"
"$work/find/consumer_shared"

if [[ $tier == full ]]; then
    echo "-- add_subdirectory"
    "${generate[@]}" -B "$work/sub" -DBOUNCER_TREE="$source_dir"
    cmake --build "$work/sub" --target consumer -j 2 -- --quiet
    "$work/sub/consumer"
fi

echo "-- pkg-config"
pc=$(find "$prefix" -name bouncer.pc)
export PKG_CONFIG_PATH=${pc%/*}
libdir=$(pkg-config --variable=libdir bouncer)
# shellcheck disable=SC2162 # a space in a path has a backslash before it
read -a flags < <(pkg-config --cflags --libs bouncer)
"$cxx" -std=c++20 "$work/consumer/main.cc" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$work/plain"
"$work/plain"
# The shared library was meant, and found.
readelf -d "$work/plain" | grep 'NEEDED.*libbouncer\.so\.' >/dev/null # not -q: who writes would lose its reader

echo "-- pkg-config, C"
# shellcheck disable=SC2162
read -a flags < <(pkg-config --cflags --libs bouncer_c)
"${CC:-cc}" -std=c99 -pedantic -Wall -Wextra -Werror "$work/consumer/main.c" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$work/c"
"$work/c"
readelf -d "$work/c" | grep 'NEEDED.*libbouncer_c\.so\.0' >/dev/null

echo "-- all consumers ran"
