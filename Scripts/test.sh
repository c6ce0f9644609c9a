#!/usr/bin/env bash
# Runs `swift test` with the flags of the checks. With --only, builds and runs the tests of one target: a change is tested without
# compiling the other tests. With --as-user, root runs the tests that root skips, as nobody, with the program that is built. If the tests
# take longer than PREFS_TEST_LIMIT seconds, 600 by default, prints those that are running and ends them.
# usage: Scripts/test.sh [--as-user | [--only TARGET] [--filter SUITE] [--skip SUITE]]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

# The suites with tests for which files must be closed to the user.
unprivileged='\.(FileStoreTests|HarnessErrorTests|SecretsFolderTests|UnreadableTests)/'

if [ "$*" = --as-user ]; then
    program="$PWD/.build/debug/PersistentPreferencesPackageTests.xctest"
    nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    if [ "$(id -u)" != 0 ] || ! "${nobody[@]}" test -x "$program" 2>/dev/null; then
        echo "test: --as-user is skipped: it needs root, setpriv, a build, and folders above it that are open to others" >&2
        exit 0
    fi
    home="$(mktemp -d)"
    trap 'rm -rf "$home"' EXIT
    chown 65534:65534 "$home"
    env -i PATH="$PATH" HOME="$home" TMPDIR="$home" "${nobody[@]}" \
        "$program" --testing-library swift-testing --filter "$unprivileged"
    exit
fi

words=()
while [ $# -gt 0 ]; do
    [[ $# -ge 2 && "$2" != -* ]] || usage
    case $1 in
        --only) export PREFS_ONLY=$2 ;;
        --filter | --skip) words+=("$1" "$2") ;;
        *) usage ;;
    esac
    shift 2
done

events="$(mktemp)"
trap 'rm -f "$events"' EXIT
swift test -Xswiftc -warnings-as-errors ${words[@]+"${words[@]}"} --event-stream-output-path "$events" &
run=$!
limit=${PREFS_TEST_LIMIT:-600}

# Prints the tests that have begun and not ended, each with its file and line.
running() {
    sed -nE 's|\\/|/|g; s/.*"kind":"testCase(Started|Ended)".*"testID":"([^"]*)".*/\1 \2/p' "$events" | awk '
        { id = substr($0, index($0, " ") + 1); count[id] += $1 == "Started" ? 1 : -1 }
        END { for (id in count) if (count[id] > 0) print "test: still running: " id }' | sort
}

# The build does not count: the first event is written when the tests begin.
elapsed=0
while kill -0 $run 2>/dev/null; do
    sleep 1
    if [ -s "$events" ]; then elapsed=$((elapsed + 1)); fi
    [ $elapsed -ge "$limit" ] || continue
    echo "test: error: the tests take longer than $limit s" >&2
    running >&2
    kill -INT $run
    break
done
wait $run
