#!/usr/bin/env bash
# Builds the tool `prefs` for release and installs it: the program, completions for bash, zsh and fish, and the manual page. Needs no
# root for a folder of your own. A second run replaces the files of the first.
# usage: Scripts/install.sh [--prefix DIR] [--dynamic] [--program FILE] [--uninstall]
#   --prefix DIR    where to install: DIR/bin, DIR/share (~/.local)
#   --dynamic       do not link the Swift libraries into the program: it needs the toolchain, and starts more slowly. The file has 20 MB in
#                   place of 88 (after strip, 5 and 61), and `prefs get` takes 30 million instructions in place of 6 (Swift 6.3.1, x86_64)
#   --program FILE  install this program instead of building one; it may be one of your own with PrefsTool, named in one word
#   --uninstall     remove the files that this script installs, and nothing else
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p; s/^#   /  /p' "Scripts/${0##*/}" >&2
    exit 64
}

prefix="${HOME:-}/.local" isDynamic=no program="" removes=no
while [ $# -gt 0 ]; do
    case $1 in
        --prefix | --program)
            [ -n "${2:-}" ] || usage
            if [ "$1" = --prefix ]; then prefix="$2"; else program="$2"; fi
            shift
            ;;
        --dynamic) isDynamic=yes ;;
        --uninstall) removes=yes ;;
        *) usage ;;
    esac
    shift
done
# Paths that the user gives start where the script was called.
case $prefix in /*) ;; *) prefix="$OLDPWD/$prefix" ;; esac
case $program in "" | /*) ;; *) program="$OLDPWD/$program" ;; esac

name=prefs
[ -z "$program" ] || name="$(basename "$program")"
files=(
    "bin/$name"
    "share/bash-completion/completions/$name"
    "share/zsh/site-functions/_$name"
    "share/fish/vendor_completions.d/$name.fish"
    "share/man/man1/$name.1"
)

if [ $removes = yes ]; then
    for file in "${files[@]}"; do
        if [ ! -e "$prefix/$file" ] && [ ! -L "$prefix/$file" ]; then continue; fi
        rm -- "$prefix/$file"
        echo "removed $prefix/$file"
    done
    exit 0
fi

if [ -z "$program" ]; then
    options=(-c release --product prefs)
    # Toolchains of Apple, and some packages of Linux distributions, have no static libraries.
    libraries="$(swiftc -print-target-info -static-stdlib | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')"
    if [ $isDynamic = no ] && [ -d "$libraries/linux" ]; then
        # Without position-independent code, the loader has fewer addresses to correct at each start. The other flags would make
        # each build of the package begin anew.
        options+=(--static-swift-stdlib -Xswiftc -Xclang-linker -Xswiftc -no-pie --scratch-path .build/static)
    fi
    swift build "${options[@]}" >&2
    program="$(swift build "${options[@]}" --show-bin-path)/prefs"
fi

# Everything is made before anything is installed.
new="$(mktemp -d)"
trap 'rm -rf "$new"' EXIT
for file in "${files[@]}"; do mkdir -p "$new/$(dirname "$file")"; done
cp -- "$program" "$new/${files[0]}"
chmod 755 "$new/${files[0]}"
index=1
for what in "completions bash" "completions zsh" "completions fish" "help --man"; do
    # shellcheck disable=SC2086
    "$new/${files[0]}" $what >"$new/${files[$index]}"
    chmod 644 "$new/${files[$index]}"
    index=$((index + 1))
done

for file in "${files[@]}"; do
    mkdir -p "$prefix/$(dirname "$file")"
    # Renaming replaces a program that is running.
    cp -p -- "$new/$file" "$prefix/$file.new.$$"
    mv -f -- "$prefix/$file.new.$$" "$prefix/$file"
    echo "installed $prefix/$file"
done
case ":${PATH:-}:" in
    *":$prefix/bin:"*) ;;
    *) echo "add $prefix/bin to PATH to call $name by its name" ;;
esac
