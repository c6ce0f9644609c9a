#!/usr/bin/env bash
# Fails if a target of the library depends on a later one, or imports it, or if anything but tests needs Swift Testing. The order is
# PrefsPropertyLists, PrefsFileEngine, PersistentPreferences, all others; only tests depend on PrefsTesting. EtcdStore is written as a store
# outside of the package: it imports no lower target, except for the queue of its updates.
# usage: Scripts/order.sh
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || usage

# Of each target, its name and its dependencies, from the manifest as SwiftPM prints it: keys are sorted, and those of a target are
# indented by six spaces.
swift package describe --type json | awk -F '"' '
    BEGIN {
        split("PrefsPropertyLists PrefsFileEngine PersistentPreferences", order, " ")
        for (i in order) rank[order[i]] = i
    }
    function place(target) { return target in rank ? rank[target] : 4 }
    /^  "targets" : \[/ { inTargets = 1 }
    inTargets && /^      "name" : / { target = $4; count++; found += target in rank }
    inTargets && /^      "target_dependencies" : \[/ { inDependencies = 1; next }
    inDependencies && /^      \]/ { inDependencies = 0 }
    inDependencies && target in rank && place($2) >= place(target) {
        print target " must not depend on " $2
        wrong = 1
    }
    inDependencies && $2 == "PrefsTesting" { testing = target }
    inTargets && /^      "type" : / && target == testing && $4 != "test" {
        print target " must not depend on PrefsTesting"
        wrong = 1
    }
    END {
        if (found != 3) print "order: found " found + 0 " of the three targets"
        else if (!wrong) print "order: " count " targets"
        exit wrong || found != 3
    }'

# A build that is not clean may find the module of a later target.
if grep -rnE '^ *(@[a-z_]+ )?((public|package|internal) )?import (PrefsFileEngine|PersistentPreferences)' Sources/PropertyLists ||
    grep -rnE '^ *(@[a-z_]+ )?((public|package|internal) )?import PersistentPreferences' Sources/FileEngine; then
    echo "order: these files import a later target" >&2
    exit 1
fi
if grep -rlE --include='*.swift' '^ *((public|package|internal) )?import Testing$' Sources HarnessCLI | grep -v '^Sources/PrefsTesting/Traits/'; then
    echo "order: these files import Swift Testing" >&2
    exit 1
fi
if grep -rnE '^ *(@[a-z_]+ )?((public|package|internal) )?import Prefs(FileEngine|PropertyLists)' Sources/PrefsEtcd |
    grep -v '/UpdateQueue.swift:'; then
    echo "order: these files of EtcdStore import a lower target" >&2
    exit 1
fi
