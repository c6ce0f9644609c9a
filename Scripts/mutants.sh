#!/usr/bin/env bash
# Proves that the tests see: breaks the package on purpose, by one patch of Tests/Mutants at a time, in a copy, and asks
# that a hazard test fails each time. With names, tries only those.
set -euo pipefail
cd "$(dirname "$0")/.."

names=("$@")
if [ $# -eq 0 ]; then
    for patch in Tests/Mutants/*.patch; do names+=("$(basename "$patch" .patch)"); done
fi
patches=$PWD/Tests/Mutants
filter="Crash|Interleaving|Fault"
copy=.build/mutants/copy
mkdir -p "$copy"
find "$copy" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard | xargs -0 tar -cf - | tar -xf - -C "$copy"
# The copy is no part of the repository, or git would look for the files there.
export GIT_CEILING_DIRECTORIES=$PWD/.build/mutants
cd "$copy"

echo "== without a mutant the tests pass"
swift build --build-tests 2>&1 | tail -n 1
swift test --skip-build --filter "$filter" >../log 2>&1 || { tail -n 40 ../log && exit 1; }

survivors=()
for name in "${names[@]}"; do
    if ! git apply "$patches/$name.patch"; then
        echo "$name: is no longer a patch of the sources"
        survivors+=("$name")
        continue
    fi
    if ! swift build --build-tests >../log 2>&1; then
        grep -m 5 "error:" ../log
        echo "$name: does not compile"
        survivors+=("$name")
    elif swift test --skip-build --filter "$filter" >../log 2>&1; then
        echo "$name: SURVIVED"
        survivors+=("$name")
    else
        echo "$name: seen by $(grep -o "Test [a-zA-Z]*(.*).* failed after" ../log | sed "s/^Test \([a-zA-Z]*\).*/\1/" | sort -u | tr "\n" " ")"
    fi
    git apply --reverse "$patches/$name.patch"
done
echo "hazard: mutants: ${#names[@]}, ${#survivors[@]} survived ${survivors[*]-}"
[ ${#survivors[@]} -eq 0 ]
