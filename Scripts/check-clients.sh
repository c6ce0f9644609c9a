#!/usr/bin/env bash
# Builds and runs a client package that depends on the last commit of this one by git URL: in the Swift 5 and the Swift 6 language mode,
# with and without the settings of a new app in Xcode, as two copies in one process, against a static archive, then with library evolution.
# Warnings in the client are errors. --build-system NAME selects another build system than the default, without the last three: the
# compiler judges library evolution, whichever system calls it. Writes only into a temporary folder.
# usage: Scripts/check-clients.sh [--build-system NAME]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

system=()
case "$#-${1-}" in
    0-) ;;
    2---build-system) system=("$@") ;;
    *) usage ;;
esac

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
git clone --quiet --bare "file://$PWD" "$folder/PersistentPreferences.git"
PREFS_URL="file://$folder/PersistentPreferences.git"
PREFS_REVISION="$(git rev-parse HEAD)"
export PREFS_URL PREFS_REVISION
git diff --quiet HEAD || echo "note: changes that are not committed are not checked" >&2

cp -R Tests/Clients "$folder/package"
modes=(Swift5 Swift6 MainActorSwift5 MainActorSwift6)
for mode in "${modes[@]}"; do
    mkdir -p "$folder/package/Sources"
    cp -R Tests/Clients/Shared "$folder/package/Sources/$mode"
done

build_once() { # arguments
    swift build --package-path "$folder/package" --cache-path "$folder/cache" --disable-index-store \
        ${flags[@]+"${flags[@]}"} ${system[@]+"${system[@]}"} "$@"
}

# The swiftbuild system of Swift 6.3.1 sometimes crashes in libdispatch (once in 60 builds). That says nothing about the clients.
build() { # arguments
    local status=0
    build_once "$@" || status=$?
    if ((status <= 128)); then return "$status"; fi
    echo "note: swift build itself ended by signal $((status - 128)); it is tried once more" >&2
    build_once "$@"
}

run() { # programs
    local programs program
    programs="$(build --show-bin-path)"
    for program in "$@"; do
        mkdir "$folder/files"
        printf '%s: ' "$program"
        HOME="$folder/files" XDG_CONFIG_HOME='' "$programs/$program" "$folder/files"
        rm -r "$folder/files"
    done
}

echo "== clients in each language mode"
flags=(--scratch-path "$folder/modes")
build
run "${modes[@]}" InternalImport Tool

if [ ${#system[@]} -eq 0 ]; then
    echo "== a program and a plugin, each with a copy of the package"
    run TwoCopies

    # As CMake and others link: an object file that nothing names is left out, with the conformances in it.
    echo "== a program that is linked against a static archive"
    programs="$(build --show-bin-path)"
    for module in PrefsPropertyLists PrefsFileEngine PersistentPreferences PrefsDocuments PrefsJSON PrefsLayers \
        PrefsStoreKit; do
        # Adds files without a look at their names, because two modules may have files of one name.
        ar qcs "$folder/libprefs.a" "$programs/$module.build/"*.o
    done
    for condition in CORE JSON; do
        swiftc -D "$condition" -I "$programs/Modules" "$folder/package/Archive/main.swift" "$folder/libprefs.a" \
            -o "$folder/archive"
        "$folder/archive"
    done

    # As with BUILD_LIBRARY_FOR_DISTRIBUTION=YES, which reaches the packages that a framework depends on.
    echo "== a framework with the package's types in its interface: library evolution for all"
    export PREFS_EVOLUTION=1
    flags=(--scratch-path "$folder/evolution" -Xswiftc -enable-library-evolution)
    build
    run FrameworkUser
fi

echo "== all clients build and run"
