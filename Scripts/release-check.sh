#!/usr/bin/env bash
# Lists everything that is missing for a release, and fails if anything is. Makes no tag. It looks for: one version, which the changelog
# names with its day; documents that do not say "not released"; the public symbols, which Scripts/public-symbols.txt lists, compared also
# with the list of the last tag; the license; paths of a machine; documents and clients that build. With --symbols, writes the list
# instead, as after a wanted change of a public declaration. Symbols that only Apple platforms have, as in PrefsUI, are not in the list of
# Linux. No script sees whether the tests have run on Apple hardware, and whether the repository is public.
# usage: Scripts/release-check.sh [--symbols]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || [ "$*" = --symbols ] || usage

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
list=Scripts/public-symbols.txt
found=0
missing() { # what
    echo "missing: $1"
    found=$((found + 1))
}

# Runs a command, whose last lines say why it fails.
must() { # what is missing if it fails, command
    "${@:2}" >"$folder/log" 2>&1 && return
    missing "$1:"
    grep -E 'error: |FAIL|no comment|skipped' "$folder/log" | head -10 | sed 's/^/    /' || true
    tail -n 3 "$folder/log" | sed 's/^/    /'
}

# Prints a line for each public symbol: its module, its path, its declaration, and the constraints of its generic types, also of the
# extension that it is in, which the declaration does not always have. Overloads that have all of this in common have a line each.
# A requirement of a protocol says whether it has a default. Members that a type gets from protocols are left out.
symbols() {
    local info tools module
    info="$(swiftc -print-target-info)"
    field() { sed -nE "s|.*\"$1\": \"(.*)\".*|\1|p" <<<"$info" | head -n 1; }
    tools="$(field runtimeResourcePath)/../../bin"
    for module in PrefsPropertyLists PrefsFileEngine "${products[@]}"; do
        swift build --target "$module" -Xswiftc -warnings-as-errors >"$folder/log" 2>&1 || { tail -n 20 "$folder/log" >&2; return 1; }
    done
    mkdir "$folder/graphs"
    for module in PrefsPropertyLists PrefsFileEngine "${products[@]}"; do
        "$tools/swift-symbolgraph-extract" -module-name "$module" -target "$(field triple)" \
            -I "$(swift build --show-bin-path)/Modules" -output-dir "$folder/graphs" -minimum-access-level public \
            -skip-synthesized-members >&2
    done
    python3 - "$folder/graphs" <<'PYTHON'
import json, pathlib, sys

relations = {"conformance": ":", "superclass": ":", "sameType": "=="}
lines = {}
for path in pathlib.Path(sys.argv[1]).glob("*.symbols.json"):
    module = path.name.split("@")[0].removesuffix(".symbols.json")
    graph = json.loads(path.read_text())
    defaults = {r["source"]: r["target"] for r in graph["relationships"] if r["kind"] == "defaultImplementationOf"}
    requirements = {s["identifier"]["precise"] for s in graph["symbols"]} & set(defaults.values())
    for symbol in graph["symbols"]:
        name = symbol["identifier"]["precise"]
        if defaults.get(name) in requirements:
            continue
        declaration = "".join(part["spelling"] for part in symbol["declarationFragments"])
        constraints = [
            f"{constraint['lhs']} {relations.get(constraint['kind'], constraint['kind'])} {constraint['rhs']}"
            for part in ("swiftExtension", "swiftGenerics")
            for constraint in symbol.get(part, {}).get("constraints", [])
        ]
        line = f"{module} {'.'.join(symbol['pathComponents'])}: {' '.join(declaration.split())}"
        if constraints:
            line += f" [{', '.join(sorted(set(constraints)))}]"
        lines[module, name] = line + (" {default}" if name in requirements else "")
print("\n".join(sorted(lines.values())))
PYTHON
}

# The libraries among the products.
mapfile -t products < <(swift package describe --type json | python3 -c '
import json, sys
print("\n".join(p["name"] for p in json.load(sys.stdin)["products"] if "library" in p["type"]))')

if [ "$*" = --symbols ]; then
    symbols >"$folder/symbols"
    cp "$folder/symbols" $list
    echo "release-check: $list has $(wc -l <$list) symbols"
    exit
fi

echo "== version"
mapfile -t versions < <(git grep -nE '^[^/]*"[0-9]+\.[0-9]+\.[0-9]+"' -- 'Sources/*.swift' 'HarnessCLI/*.swift')
version="$(sed -nE 's/.*static let version = "([0-9.]+)".*/\1/p' <<<"${versions[*]-}")"
if [ ${#versions[@]} -ne 1 ] || [ -z "$version" ]; then
    missing "one place with the version, \`static let version\`; these lines have one: ${versions[*]-none}"
fi
heading="$(grep -m 1 '^## ' CHANGELOG.md || true)"
[[ "$heading " == "## $version"[,\ ]* ]] || missing "the version ${version:-of the sources} in CHANGELOG.md, whose first heading is \"$heading\""
[[ "$heading" =~ [0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || missing "the day of the release at the end of \"$heading\" in CHANGELOG.md"
! git rev-parse --quiet --verify "refs/tags/${version:-none}" >/dev/null || missing "a new version: there is a tag $version"
while IFS= read -r line; do missing "a document that says it is released: $line"; done < <(
    git grep -niE 'not(hing is)? released' -- '*.md' | cut -c -160)
[ -z "$(git status --porcelain)" ] || missing "a commit of what has changed"

echo "== public symbols"
if [ ! -f $list ]; then
    missing "$list: call Scripts/release-check.sh --symbols"
elif symbols >"$folder/symbols"; then
    if ! diff $list "$folder/symbols" >"$folder/difference"; then
        missing "$(grep -c '^[<>]' "$folder/difference") lines of $list, which Scripts/release-check.sh --symbols writes:"
        # Two lines may differ at their ends.
        grep '^[<>]' "$folder/difference" | sed 's/^/    /' | head -40
    fi
    # A version with the same first number as the last one keeps its symbols; before 1.0, with the same second number.
    last="$(git describe --tags --abbrev=0 2>/dev/null || true)"
    if [ -n "$last" ] && git show "$last:$list" >"$folder/last" 2>/dev/null; then
        series() { cut -d . -f "$([[ $1 == 0.* ]] && echo 1-2 || echo 1)" <<<"$1"; }
        if [ "$(series "$version")" = "$(series "$last")" ] &&
            comm -23 <(LC_ALL=C sort "$folder/last") <(LC_ALL=C sort "$folder/symbols") | grep . >"$folder/removed"; then
            missing "$(wc -l <"$folder/removed") public symbols of $last, which $version must keep:"
            sed 's/^/    /' "$folder/removed" | cut -c -200 | head -40
        fi
    fi
else
    missing "a build of every product"
fi

echo "== licenses"
grep -q '^MIT License$' LICENSE 2>/dev/null || missing "the MIT license in LICENSE"
grep -q 'MIT license' README.md || missing "the license in README.md"
while IFS= read -r line; do missing "a license of what others have written: $line"; done < <(
    git grep -nE 'Copyright|SPDX' -- . ':!LICENSE' ':!Scripts/release-check.sh' | cut -c -160)
! grep -nE '^ *\.package\(' Package.swift || missing "a package that depends on no other"

echo "== paths of a machine"
while IFS= read -r line; do missing "a text without a path of a machine: $line"; done < <(
    git grep -nE "(^|[^A-Za-z0-9_.*)/-])/(work|root|Users|home/[a-z]+|tmp/[a-z]+[0-9]+[a-z]*)/|$PWD" -- . \
        ':!Scripts/release-check.sh' ':!Tests/*/Corpus' | cut -c -160)

echo "== documents"
must "documents that build" Scripts/docs.sh
! grep -q skipped "$folder/log" || missing "documents that are built: $(cat "$folder/log")"

echo "== clients in all language modes"
must "clients that build" Scripts/check-clients.sh

if [ $found -gt 0 ]; then
    echo "release-check: $found missing"
    exit 1
fi
echo "release-check: nothing is missing for $version"
