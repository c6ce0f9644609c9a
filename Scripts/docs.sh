#!/usr/bin/env bash
# Builds the documentation into .build/docs with the toolchain's own docc: the articles of PersistentPreferences.docc and the comments
# of every public symbol. Errors are: a warning, such as a broken link; a public symbol without a comment; a public symbol that the
# landing page does not list. Downloads nothing and serves nothing.
# To read it: python3 -m http.server --directory .build/docs 8000, then http://localhost:8000/documentation/persistentpreferences/
# usage: Scripts/docs.sh
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || usage

# The tools are beside the compiler's libraries. The compiler on the PATH may be a link or a shim.
info="$(swiftc -print-target-info)"
field() { sed -nE "s|.*\"$1\": \"(.*)\".*|\1|p" <<<"$info" | head -n 1; }
tools="$(field runtimeResourcePath)/../../bin"
for tool in docc swift-symbolgraph-extract; do
    if [ ! -x "$tools/$tool" ]; then
        echo "docs: skipped, this toolchain has no $tool"
        exit 0
    fi
done

catalog=Sources/PersistentPreferences/PersistentPreferences.docc
symbols=.build/docs-symbols
output=.build/docs
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
rm -rf "$symbols" "$output"
mkdir -p "$symbols"

# The modules of the other products, which these pages describe together. PrefsUI is missing: without SwiftUI it has no symbols.
others="PrefsDocuments PrefsJSON PrefsLayers PrefsKeys PrefsSettingsFiles PrefsEtcd PrefsStoreKit PrefsTool PrefsTesting RVS_PersistentPrefs"

echo "== the library, and its public symbols"
for module in PersistentPreferences $others; do
    swift build --target "$module" -Xswiftc -warnings-as-errors >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
done
sdk=()
if [ "$(uname)" = Darwin ]; then sdk=(-sdk "$(xcrun --show-sdk-path)"); fi
"$tools/swift-symbolgraph-extract" -module-name PersistentPreferences -target "$(field triple)" ${sdk[@]+"${sdk[@]}"} \
    -I "$(swift build --show-bin-path)/Modules" -output-dir "$symbols" -minimum-access-level public \
    -skip-synthesized-members -emit-extension-block-symbols \
    -experimental-allowed-reexported-modules=PrefsFileEngine,PrefsPropertyLists
for module in $others; do
    # Extensions of Foundation and of Swift Testing have pages of their own. Those of this package are parts of the pages of its types.
    extensions=()
    case $module in
    PrefsKeys | PrefsTesting) extensions=(-emit-extension-block-symbols) ;;
    esac
    "$tools/swift-symbolgraph-extract" -module-name "$module" -target "$(field triple)" ${sdk[@]+"${sdk[@]}"} \
        -I "$(swift build --show-bin-path)/Modules" -output-dir "$symbols" -minimum-access-level public \
        -skip-synthesized-members ${extensions[@]+"${extensions[@]}"}
done
# For clients, the public types of the lower targets belong to this module. The pages of the other modules are beside its own. Only names
# of modules are replaced, because PrefsTool and RVS_PersistentPrefs have a type of their name.
modules="PrefsFileEngine|PrefsPropertyLists|${others// /|}"
sed -i.bak -E "s/\"(module\":\{\"name|module|extendedModule)\":\"($modules)\"/\"\1\":\"PersistentPreferences\"/g" "$symbols"/*.json
rm -f "$symbols"/*.bak

echo "== docc, warnings are errors"
# Pretty JSON has its keys sorted, so that it can be searched below.
if ! DOCC_JSON_PRETTYPRINT=YES "$tools/docc" convert "$catalog" --additional-symbol-graph-dir "$symbols" --output-dir "$output" \
    --fallback-display-name PersistentPreferences --fallback-bundle-identifier PersistentPreferences \
    --warnings-as-errors --experimental-documentation-coverage --coverage-summary-level detailed >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi

# docc's table has the columns: name | kind | has a comment | … | path. Symbols that the compiler synthesizes, and those of other
# modules, can have no comment.
echo "== every public symbol has a comment"
awk -F ' *[|] *' '
    NF > 6 && ($3 == "true" || $3 == "false") && $2 !~ /^(Extended |CollectionGroup|Module|Article)/ && $1 !~ /^init\(rawValue/ {
        count++
        if ($3 == "false") { print "no comment: " $NF; missing = 1 }
    }
    END { print "docs: " count + 0 " symbols"; exit missing || count < 100 }' "$log"

# docc puts symbols that no topic names into groups that it generates.
echo "== the landing page lists them all"
strays="$(awk '
    /"generated" : true/ { isStray = 1 }
    isStray && /"doc:/ { gsub(/[ ,"\\]/, ""); found = found $0 "\n" }
    isStray && /"title" : / {
        if (!/"Extended Modules"/) printf "%s", found
        isStray = 0
        found = ""
    }' "$output/data/documentation/persistentpreferences.json")"
if [ -n "$strays" ]; then
    echo "in no topic of $catalog/PersistentPreferences.md:" >&2
    echo "$strays" >&2
    exit 1
fi
echo "== the documentation is in $output"
