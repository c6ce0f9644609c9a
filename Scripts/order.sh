#!/usr/bin/env bash
# Fails if a target of the library depends on a later one, imports it, or names its concepts; or if anything but tests needs Swift
# Testing. In the table, each target has the targets that it may depend on.
# usage: Scripts/order.sh
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || usage

# target | folder in Sources | the targets that it may depend on and import
table="
PrefsPropertyLists    | PropertyLists            |
PrefsFileEngine       | FileEngine               | PrefsPropertyLists
PrefsDefaultsDomain   | DefaultsDomain           | PrefsPropertyLists PrefsFileEngine
PersistentPreferences | PersistentPreferences    | PrefsPropertyLists PrefsFileEngine PrefsDefaultsDomain
PrefsDocuments        | PrefsDocuments           | PrefsPropertyLists PrefsFileEngine PersistentPreferences
PrefsJSON             | PrefsJSON                | PrefsPropertyLists PrefsFileEngine PersistentPreferences PrefsDocuments
PrefsLayers           | PrefsLayers              | PrefsPropertyLists PrefsFileEngine PersistentPreferences PrefsJSON PrefsDefaultsDomain
PrefsKeys             | PrefsKeys                | PrefsPropertyLists PrefsFileEngine PersistentPreferences
PrefsSettingsFiles    | PrefsSettingsFiles       | PrefsPropertyLists PrefsFileEngine PersistentPreferences
PrefsUI               | PrefsUI                  | PersistentPreferences PrefsKeys
PrefsEtcd             | PrefsEtcd                | PrefsFileEngine PersistentPreferences PrefsJSON
PrefsTool             | PrefsTool                | PrefsPropertyLists PrefsFileEngine PersistentPreferences PrefsDocuments PrefsJSON PrefsLayers
PrefsStoreKit         | PrefsStoreKit            | PrefsPropertyLists PrefsFileEngine PersistentPreferences
PrefsTesting          | PrefsTesting             | PrefsPropertyLists PersistentPreferences
RVS_PersistentPrefs   | RVS_PersistentPrefs      | PrefsPropertyLists PrefsFileEngine PersistentPreferences PrefsKeys
"
rows="$(sed -E '/^$/d; s/ *\| */|/g' <<<"$table")"
failed=0
fail() {
    echo "order: $1" >&2
    failed=1
}

# Of each target, its name and its dependencies, from the manifest as SwiftPM prints it: keys are sorted, and those of a target are
# indented by six spaces.
swift package describe --type json | awk -F '"' -v rows="$rows" '
    BEGIN {
        expected = split(rows, lines, "\n")
        for (i in lines) { split(lines[i], parts, "|"); allowed[parts[1]] = " " parts[3] " " }
    }
    /^  "targets" : \[/ { inTargets = 1 }
    inTargets && /^      "name" : / { target = $4; count++; found += target in allowed }
    inTargets && /^      "target_dependencies" : \[/ { inDependencies = 1; next }
    inDependencies && /^      \]/ { inDependencies = 0 }
    inDependencies && target in allowed && !index(allowed[target], " " $2 " ") {
        print "order: " target " must not depend on " $2
        wrong = 1
    }
    inDependencies && $2 == "PrefsTesting" { testing = target }
    inTargets && /^      "type" : / && target == testing && $4 != "test" {
        print "order: " target " must not depend on PrefsTesting"
        wrong = 1
    }
    END {
        if (found != expected) print "order: found " found + 0 " of " expected " targets of the library"
        else if (!wrong) print "order: " count " targets"
        exit wrong || found != expected
    }' || failed=1

# A build that is not clean may find the module of a later target.
modules="$(cut -d '|' -f 1 <<<"$rows")"
while IFS='|' read -r target folder allowed; do
    for module in $modules; do
        case " $target $allowed " in *" $module "*) continue ;; esac
        ! grep -rnE --include='*.swift' "^ *(@[a-z_]+ )?((public|package|internal) )?import (class |struct |enum )?$module( |\.|$)" \
            "Sources/$folder" || fail "these files of $target import $module"
    done
done <<<"$rows"

# Words of rooms that a target must not know. The core says "layer" in the protocol of the layers around a root, in errors and sources,
# and where an access reads between the layers.
words() { # pattern, folder, files that may say it
    local found
    found="$(grep -rniE --include='*.swift' "$1" "Sources/$2" | grep -vE "/($3)\.swift:" || true)"
    [ -z "$found" ] || { echo "$found" >&2; fail "these lines of $2 name a concept of a later target"; }
}
layers='RootLayers|FaultLog|PrefsError(\+[A-Za-z]+)?|PrefSource|PrefDescription|Root|RootRules|RootView|RootWrite|Roots|ReadContext|SnapshotRead|PersistentPrefs\+Writing'
layers+='|ErrorHandlers|PrefsProblem|PersistentPrefs\+(Access|Read|Problems|OtherTargets|Typed)|PrefHandle|RootSubscriber'
for folder in PropertyLists FileEngine DefaultsDomain; do
    words 'json|etcd|\blayer(s|ed)?\b|hand.?written|settings ?file|appsetting|prefkey' "$folder" 'FileSystem\+Linux'
done
words 'json|etcd|hand.?written|settings ?file|appsetting|prefkey' PersistentPreferences none
words 'layer' PersistentPreferences "$layers"
words 'json|etcd|settings ?file|appsetting|prefkey' PrefsDocuments none
words 'etcd|settings ?file|appsetting|prefkey' PrefsJSON none
words 'json|etcd|settings ?file' PrefsKeys none
words 'etcd|appsetting|prefkey' PrefsSettingsFiles none

! grep -rlE --include='*.swift' '^ *((public|package|internal) )?import Testing$' Sources HarnessCLI |
    grep -v '^Sources/PrefsTesting/' || fail "these files import Swift Testing"
exit $failed
