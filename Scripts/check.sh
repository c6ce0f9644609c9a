#!/usr/bin/env bash
# What a change has to pass: format lint, a build in which warnings are errors, the types of the code for Apple platforms,
# the tests.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== format lint"
Scripts/format.sh --lint

echo "== build, debug and release, warnings are errors"
swift build --build-tests
swift build -c release
Scripts/check-apple.sh

echo "== tests"
swift test

echo "== all checks passed"
