#!/usr/bin/env bash
# Runs the tests under ThreadSanitizer and under AddressSanitizer, which must stay silent; with nothing of ours
# suppressed. Folders of their own for the builds, so that ordinary ones stay warm.
set -euo pipefail
cd "$(dirname "$0")/.."

which="both"
case "${1:-}" in
    thread | address)
        which="$1"
        shift
        ;;
    "" | -*) ;;
    *)
        echo "usage: Scripts/sanitize.sh [thread|address] [arguments of swift test]" >&2
        exit 64
        ;;
esac

# Much of what a sequence does is the same from seed to seed, and slow here; threads are what this is for.
export PREFS_MODEL_SEEDS="${PREFS_MODEL_SEEDS:-8}" PREFS_STRESS="${PREFS_STRESS:-40}" PREFS_STACK=4096

# Children are given the options too: what one of them does wrong fails its test by the exit code.
if [ "$which" != address ]; then
    echo "== tests under ThreadSanitizer"
    TSAN_OPTIONS="halt_on_error=1 exitcode=66" \
        swift test --sanitize=thread --scratch-path .build/sanitize-thread "$@"
    echo "== ThreadSanitizer was silent"
fi
if [ "$which" != thread ]; then
    echo "== tests under AddressSanitizer"
    # XCTest itself leaks.
    ASAN_OPTIONS="detect_leaks=0 halt_on_error=1 exitcode=66" \
        swift test --sanitize=address --scratch-path .build/sanitize-address "$@"
    echo "== AddressSanitizer was silent"
fi
