#!/usr/bin/env bash
# Checks everything that a change must pass: format lint, the order of the targets, mutants that still apply, builds in which warnings
# are errors, the types of the code for Apple platforms, the documentation, the tests that run the compiler, and all other tests. Prints
# one line per step, and the output of a step that fails. With --no-tests, leaves out those other tests.
# usage: Scripts/check.sh [--no-tests]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || [ "$*" = --no-tests ] || usage

step=Scripts/step.sh
$step "format lint" Scripts/format.sh --lint
$step "order of the targets" Scripts/order.sh
printf '%s\n' Tests/Mutants/*.patch | $step "every mutant applies" xargs -n 1 git apply --check
$step "debug build, warnings are errors" swift build --build-tests -Xswiftc -warnings-as-errors
$step "floors of the targets" Scripts/floors.sh
# What is released, the examples, and what Scripts/counts.sh runs. The programs of tests are run as debug builds only.
PREFS_ONLY="HarnessCLI PrefsUI PrefsStoreKit PrefsTesting RVS_PersistentPrefs Words Pulse Beacon Tracker Fleet Sketch Benchmarks" \
    $step "release build, warnings are errors" swift build -c release -Xswiftc -warnings-as-errors
# The tests run the debug build. An optimizer's fault that ends every command was seen in the release build only.
$step "the release build of prefs runs" bash -c 'set -e; export HOME=$(mktemp -d); unset XDG_CONFIG_HOME XDG_STATE_HOME
    prefs=$(swift build -c release --show-bin-path)/prefs; "$prefs" set int 41; "$prefs" set int +1
    [[ $("$prefs" get int) == 42 ]]; "$prefs" undo; rm -r "$HOME"'
$step "types for Apple platforms" Scripts/check-apple.sh
$step "documentation" Scripts/docs.sh
PREFS_COMPILER=yes $step "what compiles and what does not" swift test -Xswiftc -warnings-as-errors \
    --filter '^SourcesTests\.'
[ $# -gt 0 ] || PREFS_LONG=1 $step "tests" swift test -Xswiftc -warnings-as-errors
