#!/usr/bin/env bash
# Builds the documentation with the toolchain's own docc into .build/docs: the articles of PersistentPreferences.docc, and the
# comments of every public symbol. Warnings are errors, broken links among them; so is a public symbol without a comment, or one
# that the landing page does not list. Nothing comes from the network, and nothing is served.
# usage: Scripts/docs.sh
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || usage

# Beside the compiler's own libraries, wherever the compiler on the PATH is only a link or a shim.
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

echo "== the library, and its public symbols"
swift build --target PersistentPreferences -Xswiftc -warnings-as-errors >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
sdk=()
if [ "$(uname)" = Darwin ]; then sdk=(-sdk "$(xcrun --show-sdk-path)"); fi
"$tools/swift-symbolgraph-extract" -module-name PersistentPreferences -target "$(field triple)" ${sdk[@]+"${sdk[@]}"} \
    -I "$(swift build --show-bin-path)/Modules" -output-dir "$symbols" -minimum-access-level public \
    -skip-synthesized-members -emit-extension-block-symbols \
    -experimental-allowed-reexported-modules=PrefsFileEngine,PrefsPropertyLists
# The public types of the lower targets belong to this module for everybody who imports it.
sed -i.bak -E 's/"(PrefsFileEngine|PrefsPropertyLists)"/"PersistentPreferences"/g' "$symbols"/*.json
rm -f "$symbols"/*.bak

echo "== docc, warnings are errors"
if ! "$tools/docc" convert "$catalog" --additional-symbol-graph-dir "$symbols" --output-dir "$output" \
    --fallback-display-name PersistentPreferences --fallback-bundle-identifier PersistentPreferences \
    --warnings-as-errors --experimental-documentation-coverage --coverage-summary-level detailed >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi

# The table of what has a comment: name | kind | whether it has one | … | path. What is made by the compiler, or of other
# modules, can have none.
echo "== every public symbol has a comment"
awk -F ' *[|] *' '
    NF > 6 && ($3 == "true" || $3 == "false") && $2 !~ /^(Extended |CollectionGroup|Module|Article)/ && $1 !~ /^init\(rawValue/ {
        count++
        if ($3 == "false") { print "no comment: " $NF; missing = 1 }
    }
    END { print "docs: " count + 0 " symbols"; exit missing || count < 100 }' "$log"

# What no topic names, docc puts into groups of its own making.
echo "== the landing page lists them all"
strays="$(grep -oE '"title":"[^"]*","anchor":"[^"]*","identifiers":\[[^]]*\],"generated":true' \
    "$output/data/documentation/persistentpreferences.json" | grep -v '^"title":"Extended Modules"' || true)"
if [ -n "$strays" ]; then
    echo "in no topic of $catalog/PersistentPreferences.md:" >&2
    sed -E 's|.*"identifiers":\[([^]]*)\].*|\1|; s|\\/|/|g; s|,|\n|g' <<<"$strays" >&2
    exit 1
fi
echo "== the documentation is in $output"
