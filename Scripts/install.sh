#!/usr/bin/env bash
# Builds the tool `prefs` for release and installs it: the program, completions for bash, zsh and fish, and the manual page. Needs no
# root for a folder of your own. A second run replaces the files of the first.
# usage: Scripts/install.sh [--prefix DIR] [--static] [--program FILE] [--uninstall]
#   --prefix DIR    where to install: DIR/bin, DIR/share (~/.local)
#   --static        link the Swift libraries into the program, so that it needs no toolchain: 88 MB in place of 20 (after strip, 61 and 5);
#                   `prefs get` takes 2.4 ms in place of 6.4 (Swift 6.3.1, x86_64)
#   --program FILE  install this program instead of building one; it may be one of your own with PrefsTool, named in one word
#   --uninstall     remove the files that this script installs, and nothing else
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p; s/^#   /  /p' "Scripts/${0##*/}" >&2
    exit 64
}

prefix="${HOME:-}/.local" static=() program="" removes=no
while [ $# -gt 0 ]; do
    case $1 in
        --prefix | --program)
            [ -n "${2:-}" ] || usage
            if [ "$1" = --prefix ]; then prefix="$2"; else program="$2"; fi
            shift
            ;;
        # Without position-independent code, the loader has fewer addresses to correct at each start.
        --static) static=(--static-swift-stdlib -Xswiftc -Xclang-linker -Xswiftc -no-pie) ;;
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
    swift build -c release --product prefs "${static[@]+"${static[@]}"}" >&2
    program="$(swift build -c release --show-bin-path)/prefs"
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
