#!/usr/bin/env bash
# Breaks a copy of the package on purpose, with one fault at a time. A hazard test must fail each time. The patches of Tests/Mutants put
# all faults into one build, in which the variable PREFS_MUTANT chooses one. Tries as many at once as there are processors, and names the
# slowest. With names, tries only those patches. With --in-place, breaks the package itself and mends it again, which saves the build of a
# copy.
#
# With --area, tries the patches of one area: the folder below Sources of a file that they change, such as PrefsEtcd/Transactions, or a
# folder above it. All of them are in one build and are tried together, twice as many at once as there are processors, because most tests
# of one area wait. Then each that was not found is tried again, alone: it may have survived only because the machine was busy.
# usage: Scripts/mutants.sh [--in-place] [--area FOLDER | NAME …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

patches=$PWD/Tests/Mutants

# The files that a patch changes.
files() { # name
    sed -n 's|^+++ b/||p' "$patches/$1.patch"
}

# Whether a patch changes a file in the folder, or below it.
is_of_area() { # name, folder
    local file
    while read -r file; do [[ "$file" != "Sources/$2/"* ]] || return 0; done < <(files "$1")
    return 1
}

place=copy
if [ "${1:-}" = --in-place ]; then
    place=here
    shift
fi
area=""
if [ "${1:-}" = --area ]; then
    [ $# -eq 2 ] || usage
    area="${2%/}"
    area="${area#Sources/}"
    shift 2
fi
names=("$@")
if [ $# -eq 0 ]; then
    for patch in Tests/Mutants/*.patch; do
        name="$(basename "$patch" .patch)"
        if [ -z "$area" ] || is_of_area "$name" "$area"; then names+=("$name"); fi
    done
    if [ ${#names[@]} -eq 0 ]; then
        echo "mutants: no patch changes a file of Sources/$area" >&2
        exit 64
    fi
fi
for name in "${names[@]}"; do [ -f "$patches/$name.patch" ] || usage; done
# Mutants whose names begin with fleet- concern EtcdStore.
if ! command -v etcd >/dev/null; then
    echo "mutants: etcd is missing; those of a fleet are skipped"
    for i in "${!names[@]}"; do [[ "${names[i]}" != fleet-* ]] || unset "names[i]"; done
fi
log=$PWD/.build/mutants/log
# A file for each mutant: what was seen of it, and the output of its tests.
results=$PWD/.build/mutants/results
outputs=$PWD/.build/mutants/outputs
workers=$(getconf _NPROCESSORS_ONLN)
[ -z "$area" ] || workers=$((2 * workers))
# The names of the applied patches, the last one first.
applied=""
# Takes the applied patches back, also at an interrupt.
mend() {
    local name
    for name in $applied; do git apply --reverse "$patches/$name.patch"; done
    applied=""
    rm -f Sources/*/Mutant.swift
}
trap mend EXIT
# Otherwise the script would go on if the tests end in order.
trap 'exit 130' INT
# Those of `.ci/run`: other flags would build everything again.
flags="-Xswiftc -warnings-as-errors"
rm -rf "$results" "$outputs"
mkdir -p "$results" "$outputs"
if [ $place = copy ]; then
    copy=.build/mutants/copy
    mkdir -p "$copy"
    find "$copy" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
    # Git lists a file that is deleted and not committed, too.
    git ls-files -z --cached --others --exclude-standard |
        while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
        tar -cf - --null -T - | tar -xf - -C "$copy"
    # Without this, git would look for the files in the repository around the copy.
    export GIT_CEILING_DIRECTORIES=$PWD/.build/mutants
    cd "$copy"
fi

# The filter for the tests that find the mutants.
filter() { # names
    for name; do sed -n '2s/^Found by: //p' "$patches/$name.patch"; done | sort -u | paste -sd '|' -
}

# The test targets of the tests that find the mutants, one a line.
targets() { # names
    filter "$@" | grep -oE '[A-Za-z]+Tests' | sort -u | while read -r suite; do find Tests -name "$suite.swift"; done |
        sed -E 's|^Tests/PersistentPreferencesTests/([^/]+)/.*|\1Tests|; s|^Tests/([^/]+)/.*|\1|' | sort -u
}

# Runs tests for a limited time, because a mutant may make them wait forever. The program of the tests is run itself where it is one:
# `swift test` takes two seconds before it begins. In the foreground, an interrupt of the script is one of the tests, too.
run_tests() { # mutant, seconds, filter, file for the output
    local limit="" tests=(swift test --skip-build $flags)
    if command -v timeout >/dev/null; then limit="timeout --foreground --signal=INT --kill-after=10 $2"; fi
    if [ -x "$program" ]; then tests=("$program" --testing-library swift-testing); fi
    PREFS_LONG=1 PREFS_MUTANT=$1 $limit "${tests[@]}" --filter "$3" >"$4" 2>&1
}

# The tests that failed in a run, in one line.
failed_tests() { # its output
    # An expectation in a thread belongs to no test.
    grep -oE "Test ([A-Za-z0-9_]+\(.*|«unknown») (failed after|recorded an issue)" "$1" | sed -E "s/^Test ([^( ]+).*/\1/" |
        sort -u | tr "\n" " "
}

# Prints the tests that found the mutant, given the exit code of the run. Prints nothing if the run ended for another reason: a timeout,
# a full disk, no matching tests.
witness() { # exit code, output
    failed_tests "$2" | grep . && return
    if [ "$1" -ne 124 ] && [ "$1" -ne 137 ] && ! grep -q "No matching" "$2" &&
        grep -qE "Test [A-Za-z0-9_]+\(.*\) started" "$2"; then
        if [ "$1" -gt 128 ]; then echo "signal $(($1 - 128))"; else grep -oE "signal code [0-9]+" "$2" | tail -n 1; fi
    fi
}

survivors=()
# Notes that no test has found a mutant.
survived() { # name, reason
    echo "$1: $2"
    survivors+=("$1")
}

# Runs the tests that find a mutant. Prints its name, the seconds, and what has found it, and notes the same in a file.
try() { # name
    local code=0 seen began=$SECONDS output=$outputs/$1
    # Longer than a wait that fails: its limit grows with the load.
    run_tests "$1" 300 "$(filter "$1")" "$output" || code=$?
    seen="$(witness $code "$output")" || true
    if [ $code -eq 0 ]; then
        seen=SURVIVED
    elif [ -z "$seen" ]; then
        tail -n 20 "$output"
        seen="SURVIVED: no test failed, though the run ended with $code"
    else
        seen="seen by $seen"
    fi
    echo "$1: $((SECONDS - began)) s, $seen" | tee "$results/$1"
}

# Tries every second mutant, if there are two workers.
work() { # number of the worker, names
    local number=0 worker=$1 name
    shift
    for name; do
        if [ $((number % workers)) -eq "$worker" ]; then try "$name"; fi
        number=$((number + 1))
    done
}

# Tries mutants with one build. Patches that change the same lines as others get another build. If the build fails, so does each patch
# of a file with an error.
round() { # names
    local name others="" suspects=""
    for name; do
        if git apply "$patches/$name.patch" 2>"$log"; then
            applied="$name $applied"
        elif [ -n "$applied" ]; then
            others="$others $name"
        else
            cat "$log"
            survived "$name" "is no longer a patch of the sources"
        fi
    done
    [ -n "$applied" ] || return 0
    set -- $applied
    # Nothing is built but the tests that find them.
    PREFS_ONLY="$(targets "$@" | paste -sd ' ' -)"
    export PREFS_ONLY
    for name; do files "$name"; done | cut -d / -f 1-2 | sort -u | xargs -n 1 cp "$patches/Mutant.swift"
    if swift build --build-tests $flags >"$log" 2>&1; then
        echo "== without a mutant the tests pass"
        program="$(swift build --show-bin-path)/PersistentPreferencesPackageTests.xctest"
        if ! run_tests "" 900 "$(filter "$@")" "$log" || ! grep -qE "Test run with [1-9][0-9]* tests? .*passed" "$log"; then
            tail -n 40 "$log"
            exit 1
        fi
        echo "== $# mutants"
        for ((worker = 0; worker < workers; worker++)); do work $worker "$@" & done
        wait
        if [ -n "$area" ]; then
            for name; do
                if grep -qs SURVIVED "$results/$name"; then
                    echo "== alone"
                    try "$name"
                fi
            done
        fi
        mend
    else
        mend
        grep -m 5 "error:" "$log" || tail -n 5 "$log"
        for name; do
            if files "$name" | sed 's/$/:[0-9:]* error:/' | grep -q -f - "$log"; then suspects="$suspects $name"; fi
        done
        if [ $# -eq 1 ] || [ -z "$suspects" ]; then
            for name; do survived "$name" "does not compile"; done
        else
            for name; do [[ "$suspects " == *" $name "* ]] || others="$others $name"; done
            for name in $suspects; do round "$name"; done
        fi
    fi
    [ -z "$others" ] || round $others
}

round "${names[@]}"
for name in "${names[@]}"; do
    if grep -qs SURVIVED "$results/$name"; then
        survivors+=("$name")
    elif [ ! -e "$results/$name" ] && [[ " ${survivors[*]-} " != *" $name "* ]]; then
        survived "$name" "was not tried"
    fi
done
echo "slowest:"
cat "$results"/* 2>/dev/null | sort -t ' ' -k 2nr | head -n 10
echo "hazard: mutants: ${#names[@]}, ${#survivors[@]} survived ${survivors[*]-}"
[ ${#survivors[@]} -eq 0 ]
