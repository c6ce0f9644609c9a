#!/usr/bin/env bash
# Breaks a copy of the package on purpose, with one patch of Tests/Mutants at a time. A hazard test must fail each time. With names,
# tries only those patches. With --in-place, breaks the package itself and mends it again, which saves the build of a copy; there, a
# mutant must compile without warnings.
# usage: Scripts/mutants.sh [--in-place] [NAME …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

place=copy
if [ "${1:-}" = --in-place ]; then
    place=here
    shift
fi
names=("$@")
if [ $# -eq 0 ]; then
    for patch in Tests/Mutants/*.patch; do names+=("$(basename "$patch" .patch)"); done
fi
patches=$PWD/Tests/Mutants
for name in "${names[@]}"; do [ -f "$patches/$name.patch" ] || usage; done
filter="\\.(Crash|Interleaving|FaultTests|RecoveryFault|DamageTests|NotOurs|LastGoodCopy|CheckedCopy|ForeignEntry|OtherUsers|AccessControlList|ForkTests|AttributeTests|Interference|ReadInterference|SurroundingsTests|Batch|NotificationQueue|FolderWatch|PathTests|FlatLayout|SimulatedStore|FirstUnlock|FileProtection|JSONFile|DomainFormat|Layer)"
# Mutants whose names begin with fleet- concern EtcdStore.
fleet="\\.Etcd"
if ! command -v etcd >/dev/null; then
    echo "mutants: etcd is missing; those of a fleet are skipped"
    for i in "${!names[@]}"; do [[ "${names[i]}" != fleet-* ]] || unset "names[i]"; done
fi
log=$PWD/.build/mutants/log
applied=""
# Takes the applied patch back, also at an interrupt.
mend() {
    [ -z "$applied" ] || git apply --reverse "$applied"
    applied=""
}
trap mend EXIT
flags=""
mkdir -p .build/mutants
if [ $place = here ]; then
    # Those of `.ci/run`: other flags would build everything again.
    flags="-Xswiftc -warnings-as-errors"
else
    copy=.build/mutants/copy
    mkdir -p "$copy"
    find "$copy" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
    git ls-files -z --cached --others --exclude-standard | xargs -0 tar -cf - | tar -xf - -C "$copy"
    # Without this, git would look for the files in the repository around the copy.
    export GIT_CEILING_DIRECTORIES=$PWD/.build/mutants
    cd "$copy"
fi

# Runs the tests for at most five minutes, because a mutant may make them wait forever. If `swift test` is interrupted, it stops the
# tests.
run_tests() { # filter
    local limit=""
    if command -v timeout >/dev/null; then limit="timeout --signal=INT --kill-after=10 300"; fi
    $limit swift test --skip-build $flags --filter "$1" >"$log" 2>&1
}

# The tests that failed in the last run, in one line.
failed_tests() {
    grep -oE "Test [A-Za-z0-9_]+\(.* (failed after|recorded an issue)" "$log" | sed -E "s/^Test ([A-Za-z0-9_]+).*/\1/" |
        sort -u | tr "\n" " "
}

# Prints the tests that found the mutant, given the exit code of the run. Prints nothing if the run ended for another reason: a timeout,
# a full disk, no matching tests.
witness() {
    failed_tests | grep . && return
    if [ "$1" -ne 124 ] && [ "$1" -ne 137 ] && ! grep -q "No matching" "$log" &&
        grep -qE "Test [A-Za-z0-9_]+\(.*\) started" "$log"; then
        grep -oE "signal code [0-9]+" "$log" | tail -n 1
    fi
}

echo "== without a mutant the tests pass"
swift build --build-tests $flags 2>&1 | tail -n 1
for tests in "$filter" "$fleet"; do
    if [ "$tests" = "$fleet" ] && [[ " ${names[*]} " != *" fleet-"* ]]; then continue; fi
    if ! run_tests "$tests" || ! grep -qE "Test run with [1-9][0-9]* tests? .*passed" "$log"; then
        tail -n 40 "$log"
        exit 1
    fi
done

survivors=()
echo "== ${#names[@]} mutants"
for name in "${names[@]}"; do
    if ! git apply "$patches/$name.patch"; then
        echo "$name: is no longer a patch of the sources"
        survivors+=("$name")
        continue
    fi
    applied="$patches/$name.patch"
    if ! swift build --build-tests $flags >"$log" 2>&1; then
        grep -m 5 "error:" "$log" || tail -n 5 "$log"
        echo "$name: does not compile"
        survivors+=("$name")
    else
        code=0
        tests="$filter"
        [[ "$name" != fleet-* ]] || tests="$fleet"
        run_tests "$tests" || code=$?
        seen="$(witness $code)" || true
        if [ $code -eq 0 ]; then
            echo "$name: SURVIVED"
            survivors+=("$name")
        elif [ -z "$seen" ]; then
            tail -n 20 "$log"
            echo "$name: no test failed, though the run ended with $code"
            survivors+=("$name")
        else
            echo "$name: seen by $seen"
        fi
    fi
    mend
done
echo "hazard: mutants: ${#names[@]}, ${#survivors[@]} survived ${survivors[*]-}"
[ ${#survivors[@]} -eq 0 ]
