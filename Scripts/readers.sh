#!/usr/bin/env bash
# Lets libraries read and write property lists, and fails if one of them does it otherwise than the tables of the article
# OtherReadersAndWriters say. dd-plist and commons-configuration2 (Java), the crate plist (Rust), XML (R), bplist (Python), bplist-parser and plist
# (Node.js) read property lists; dd-plist, the crate, libplist, biplist and GNUstep write them. The tests of the package do the same for Foundation,
# plistlib, biplist, libplist, GNUstep and CFPropertyList of Ruby. Scripts/json.sh does it for JSON.
# Prints a line for each library and value. Installs nothing on the machine: the packages of Debian 12, PyPI and npm go into a temporary folder. A
# library that cannot be had is skipped.
# Takes four minutes, most of them for downloads.
# usage: Scripts/readers.sh [LIBRARY …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

known=" dd-plist commons-configuration2 crate XML bplist bplist-parser plist libplist biplist GNUstep "
for library in "$@"; do [[ "$known" == *" $library "* ]] || usage; done
wanted=("$@")
[ $# -gt 0 ] || read -ra wanted <<<"$known"
sources="$PWD/Scripts/readers"
folder="$(mktemp -d)"
mkdir "$folder/root"
trap 'rm -rf "$folder"' EXIT
command -v python3 >/dev/null || { echo "readers: skipped, python3 is missing"; exit 0; }

# A package of Debian, with the packages that it needs and that are not installed.
unpack() {
    local names
    mapfile -t names < <(apt-get install -s --no-install-recommends "$1" 2>/dev/null | sed -nE 's/^Inst ([^ ]+).*/\1/p')
    mkdir -p "$folder/$1"
    [ ${#names[@]} -eq 0 ] || (cd "$folder/$1" && apt-get download "${names[@]}" >/dev/null 2>&1) || return 1
    for package in "$folder/$1"/*.deb; do [ ! -e "$package" ] || dpkg-deb -x "$package" "$folder/root"; done
}
# A package of PyPI, with what it needs, in a folder of its name.
get() { python3 -m pip install -q --target "$folder/${1%%=*}" "$1" >/dev/null 2>&1; }
skip() { echo "readers: $1 skipped, $2 cannot be had" >&2; }
readers=()
for library in "${wanted[@]}"; do
    case $library in
        dd-plist | commons-configuration2)
            if command -v javac >/dev/null && unpack "lib$library-java"; then
                jars="$folder/root/usr/share/java/*:/usr/share/java/*"
                main=DD
                [ "$library" = dd-plist ] || main=Commons
                javac -d "$folder" -cp "$jars" "$sources/$main.java"
                readers+=("$library=java -cp $folder:$jars $main")
            else
                skip "$library" "javac or Debian's lib$library-java"
            fi ;;
        crate)
            if command -v cargo >/dev/null && unpack librust-plist-dev && [ -e "$folder/root/usr/share/cargo/registry/plist-1.3.1" ]; then
                mkdir -p "$folder/crate/src" "$folder/crate/.cargo"
                cp "$sources/read.rs" "$folder/crate/src/main.rs"
                printf '[package]\nname = "read"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nplist = "=1.3.1"\n' >"$folder/crate/Cargo.toml"
                printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "%s"\n' "$folder/root/usr/share/cargo/registry" \
                    >"$folder/crate/.cargo/config.toml"
                (cd "$folder/crate" && nice cargo build --quiet --offline)
                readers+=("crate=$folder/crate/target/debug/read")
            else
                skip crate "cargo or Debian's librust-plist-dev"
            fi ;;
        XML)
            if unpack r-cran-xml && [ -x "$folder/root/usr/lib/R/bin/exec/R" ]; then
                lib="$folder/root/usr/lib"
                machine="$lib/$(uname -m)-linux-gnu"
                readers+=("XML=env R_HOME=$lib/R R_LIBS=$lib/R/site-library:$lib/R/library TZ=Asia/Tokyo EDITOR=vi PAGER=cat R_DEFAULT_PACKAGES=methods,utils
                    LD_LIBRARY_PATH=$lib/R/lib:$machine:$machine/blas:$machine/lapack
                    $lib/R/bin/exec/R --vanilla --no-echo --file=$sources/read.R --args")
            else
                skip XML "Debian's r-cran-xml"
            fi ;;
        bplist)
            if get bplist==1.1; then
                readers+=("bplist=env PYTHONPATH=$folder/bplist python3 $sources/read.py")
            else
                skip bplist "bplist 1.1 of PyPI"
            fi ;;
        bplist-parser | plist)
            version=0.3.2
            [ "$library" = bplist-parser ] || version=3.1.0
            if command -v npm >/dev/null && npm install --silent --prefix "$folder/node" "$library@$version" >/dev/null 2>&1; then
                readers+=("$library=node $sources/read.cjs $folder/node/node_modules/$library")
            else
                skip "$library" "$library $version of npm"
            fi ;;
        libplist)
            if unpack libplist3; then
                file="$(find "$folder/root" /usr/lib -name 'libplist-2.0.so.3' | head -n 1)"
                readers+=("libplist=python3 $sources/write.py libplist $file")
            else
                skip libplist "Debian's libplist3"
            fi ;;
        biplist)
            if get biplist==1.0.3; then
                readers+=("biplist=env PYTHONPATH=$folder/biplist python3 $sources/write.py biplist")
            else
                skip biplist "biplist 1.0.3 of PyPI"
            fi ;;
        GNUstep)
            if command -v gcc >/dev/null && unpack gobjc && unpack libgnustep-base-dev; then
                objc="$(dirname "$(find "$folder/root" /usr/lib/gcc -name cc1obj | head -n 1)")"
                include="$folder/root/usr/include"
                lib="/usr/lib/$(uname -m)-linux-gnu"
                gcc -std=gnu11 -B "$objc" -I "$objc/include" -I "$include/GNUstep" -I "$include/$(uname -m)-linux-gnu/GNUstep" -fexceptions \
                    -fobjc-exceptions -fconstant-string-class=NSConstantString "$sources/write.m" -L "$folder/root$lib" -L "$lib" -l:libgnustep-base.so.1.28 \
                    -l:libobjc.so.4 -o "$folder/write"
                readers+=("GNUstep=env HOME=$folder LD_LIBRARY_PATH=$folder/root$lib $folder/write")
            else
                skip GNUstep "gcc, or Debian's gobjc or libgnustep-base-dev"
            fi ;;
    esac
done
python3 "$sources/readers.py" "$folder" "${readers[@]}"
