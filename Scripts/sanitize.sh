#!/usr/bin/env bash
# Runs the tests under ThreadSanitizer and AddressSanitizer, which must report nothing. Suppresses nothing. Builds in separate folders, so
# that the ordinary build stays warm. With --build, only builds them.
# usage: Scripts/sanitize.sh [thread|address] [--build | --filter NAME | --skip NAME]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

which="both"
case "${1:-}" in
    thread | address)
        which="$1"
        shift
        ;;
esac
[[ $# -eq 0 || $* == --build || ($# -eq 2 && $1 =~ ^--(filter|skip)$) ]] || usage

# Few seeds: sequences are slow here and differ little, and the sanitizers are mainly for threads.
export PREFS_MODEL_SEEDS="${PREFS_MODEL_SEEDS:-8}" PREFS_STRESS="${PREFS_STRESS:-40}" PREFS_FLEET=1
# A report names the line, and needs no more of the debug information: the build takes 8 % less without the rest. It takes 11 % less if
# each module is compiled as a whole instead of in batches, of which each reads all of its files.
# (With a number of threads, the compiler makes an object for each file, as the package manager expects.)
flags=(-Xswiftc -gline-tables-only -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 1)
# A wait may take longer here.
export PREFS_TEST_PATIENCE="${PREFS_TEST_PATIENCE:-300}"

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
counts=()
reports=0

# Runs the tests under a sanitizer, and counts them and its reports. If anything is wrong, prints all output except for builds and tests
# that pass.
run() { # sanitizer, its name, arguments of swift test
    local sanitizer="$1" name="$2" code=0 found tests
    shift 2
    if [ "$*" = --build ]; then
        swift build --build-tests --sanitize="$sanitizer" --scratch-path ".build/sanitize-$sanitizer" "${flags[@]}"
        return
    fi
    echo "== tests under $name"
    swift test --sanitize="$sanitizer" --scratch-path ".build/sanitize-$sanitizer" "${flags[@]}" "$@" >"$log" 2>&1 || code=$?
    found="$(grep -cE "(WARNING|ERROR): $name" "$log" || true)"
    tests="$(sed -nE 's/.*Test run with ([0-9]+) tests? .*/\1/p' "$log" | tail -n 1)"
    if [ "$code" -ne 0 ] || [ "$found" -ne 0 ] || [ "${tests:-0}" -eq 0 ]; then
        grep -vE '^\[[0-9]+/[0-9]+\]|^[^ ]+ (Test|Suite) .* (started|passed after .*)\.$' "$log" >&2 || true
        echo "$name: $found reports, ${tests:-no} tests, ended with $code" >&2
        exit 1
    fi
    grep '^hazard: threads: ' "$log" || true
    counts+=("$tests$([ ${#counts[@]} -gt 0 ] || echo " tests") under $name")
    reports=$((reports + found))
}

# Child processes inherit the options. The exit code of a child with a report fails its test.
if [ "$which" != address ]; then
    # Each child would sleep for a second at its end, for races after `exit`. With hundreds of tests under way at the same time, a
    # third of the time would go to the locks of the sanitizer.
    SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 \
        TSAN_OPTIONS="halt_on_error=1 exitcode=66 atexit_sleep_ms=0" run thread ThreadSanitizer "$@"
fi
if [ "$which" != thread ]; then
    # XCTest itself leaks.
    ASAN_OPTIONS="detect_leaks=0 halt_on_error=1 exitcode=66" run address AddressSanitizer "$@"
fi
[ ${#counts[@]} -eq 0 ] || echo "hazard: sanitizers: ${counts[0]}${counts[1]:+ and ${counts[1]}}, $reports reports"
