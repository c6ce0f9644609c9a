#!/usr/bin/env bash
# What a change has to pass: format lint, mutants that still apply, builds in which warnings are errors, the types of the
# code for Apple platforms, the documentation, the tests. With --no-tests all but those, for who has just run them.
# usage: Scripts/check.sh [--no-tests]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || [ "$*" = --no-tests ] || usage

echo "== format lint"
Scripts/format.sh --lint

echo "== every mutant applies"
for mutant in Tests/Mutants/*.patch; do git apply --check "$mutant"; done

echo "== build, debug and release, warnings are errors"
swift build --build-tests -Xswiftc -warnings-as-errors
swift build -c release -Xswiftc -warnings-as-errors
Scripts/check-apple.sh
Scripts/docs.sh

if [ $# -eq 0 ]; then
    echo "== tests"
    swift test -Xswiftc -warnings-as-errors
fi

echo "== all checks passed"
