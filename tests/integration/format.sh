#!/usr/bin/env bash
# Checks that every C++ file of the tree is as clang-format would write it. Usage: format.sh SOURCE_FOLDER
# Skipped (77) where clang-format is not installed.
set -euo pipefail
command -v clang-format >/dev/null || { echo "no clang-format here"; exit 77; }
cd "$1"
# Tracked files and new ones that are not ignored; without git (a tarball), every file outside build/.
mapfile -t files < <(
    git ls-files --cached --others --exclude-standard -- '*.h' '*.cc' '*.inl' 2>/dev/null ||
        find . -path ./build -prune -o \( -name '*.h' -o -name '*.cc' -o -name '*.inl' \) -print
)
existing=()
for file in "${files[@]}"; do
    if [[ -f $file ]]; then existing+=("$file"); fi
done
[[ ${#existing[@]} -gt 0 ]] || { echo "no C++ files found"; exit 1; }
clang-format --dry-run -Werror "${existing[@]}"
echo "${#existing[@]} files are formatted"
