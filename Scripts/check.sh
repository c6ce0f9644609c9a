#!/usr/bin/env bash
# Checks everything that a change must pass: format lint, the order of the targets, mutants that still apply, builds in which warnings
# are errors, the types of the code for Apple platforms, the documentation, the tests. Prints one line per step, and the output of a
# step that fails. With --no-tests, leaves out the tests.
# usage: Scripts/check.sh [--no-tests]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || [ "$*" = --no-tests ] || usage

# The completions are tested in the shells that are installed.
for tool in zsh fish shellcheck mandoc; do
    command -v $tool >/dev/null && continue
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get install -y -q $tool >/dev/null 2>&1 || true; fi
    command -v $tool >/dev/null || echo "check: $tool is not installed: what it tests is skipped" >&2
done

step=Scripts/step.sh
$step "format lint" Scripts/format.sh --lint
$step "order of the targets" Scripts/order.sh
printf '%s\n' Tests/Mutants/*.patch | $step "every mutant applies" xargs -n 1 git apply --check
$step "debug build, warnings are errors" swift build --build-tests -Xswiftc -warnings-as-errors
$step "release build, warnings are errors" swift build -c release -Xswiftc -warnings-as-errors
$step "types for Apple platforms" Scripts/check-apple.sh
$step "documentation" Scripts/docs.sh
[ $# -gt 0 ] || $step "tests" swift test -Xswiftc -warnings-as-errors
