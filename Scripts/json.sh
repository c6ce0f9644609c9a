#!/usr/bin/env bash
# Lets libraries and tools read JSON that prefs wrote, and lets prefs change JSON that they wrote. Fails if a library reads anything otherwise than
# Scripts/json/compare.py names, or if a change of one key changes more than the text of its value. The article OtherReadersAndWriters has the result.
# Each library reads a file for each kind of value and one with random documents. Each writes documents in its styles; prefs changes a value at the
# top of each file, then one in a dictionary or list. The number of changes differs by a few, because some writers order keys at random.
# Prints a line for each library. Installs nothing on the machine: packages of Debian 12 and PyPI go into a temporary folder. A library that cannot
# be had is skipped. PREFS is the tool, .build/debug/prefs by default.
# Takes five minutes.
# usage: Scripts/json.sh [LIBRARY …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

pypi=(orjson==3.13.0 ujson==6.1.0 simplejson==4.3.0 python-rapidjson==1.25 msgspec==0.23.0 pysimdjson==7.0.2 json5==0.17.3 pyjson5==2.0.1
    commentjson==0.9.0 hjson==3.1.0 demjson3==3.0.6 pyyaml==6.0.4 ruamel.yaml==0.19.1 jsonc-parser==1.1.5 yapic.json==1.9.5 pydantic-core==2.50.5
    jsonyx==2.4.0 quickjs==1.19.4 dukpy==0.6.0)
known=(tool/{jq,gojq,yq,jshon,json_pp} Python/{json,sqlite3} "${pypi[@]/#/Python/}" Node.js/{JSON,json5,js-yaml} Ruby/{json,psych,oj,yajl}
    Perl/{JSON::PP,JSON::XS,Cpanel::JSON::XS,Mojo::JSON} Java/{Jackson,Gson,json-simple,json-smart,Android} PHP/json Lua/{cjson,dkjson} R/jsonlite
    C/{jansson,json-c,cJSON,yajl,json-glib} C++/{nlohmann,RapidJSON,JsonCpp,simdjson} Rust/serde_json
    Swift/{JSONSerialization,JSONDecoder})
known=("${known[@]%%==*}")
pypi+=(yq==4.4.5)
for library in "$@"; do [[ " ${known[*]} " == *" $library "* ]] || usage; done
wanted=("$@")
[ $# -gt 0 ] || wanted=("${known[@]}")
sources="$PWD/Scripts/json"
PREFS="$(realpath -m "${PREFS:-.build/debug/prefs}")"
[ -x "$PREFS" ] || { echo "json: $PREFS is missing: build it, or name the tool by PREFS" >&2; exit 1; }
command -v python3 >/dev/null || { echo "json: skipped, python3 is missing"; exit 0; }
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"/{home,root,packages,pypi,build}
root="$folder/root"
machine="$(uname -m)-linux-gnu"
# rustup looks for its toolchains under HOME.
export RUSTUP_HOME="${RUSTUP_HOME-$HOME/.rustup}"
export HOME="$folder/home" XDG_CONFIG_HOME="$folder/home/.config" XDG_STATE_HOME="$folder/home/.local/state" TMPDIR="$folder"
has() { command -v "$1" >/dev/null; }
skip() { echo "json: $1 skipped, $2" >&2; }

# The packages of Debian with what they need and this machine lacks. Of Perl and Rust only these: more would replace perl, or are optional.
packages=(gojq jshon libjansson-dev libjson-c-dev libcjson-dev libyajl-dev libjson-glib-dev nlohmann-json3-dev rapidjson-dev libjsoncpp-dev
    libsimdjson-dev php-cli lua5.1 lua-cjson lua-dkjson libjackson2-databind-java libgoogle-gson-java libjson-simple-java libjson-smart-java
    libandroid-json-java node-json5 node-js-yaml libmojolicious-perl ruby-oj ruby-yajl r-cran-jsonlite)
alone=(libjson-xs-perl libcommon-sense-perl libtypes-serialiser-perl libcpanel-json-xs-perl
    librust-serde-json-dev librust-serde-dev librust-itoa-dev librust-ryu-dev)
download() {
    local names
    mapfile -t names < <(apt-get install -s --no-install-recommends "$@" 2>/dev/null | sed -nE 's/^Inst ([^ ]+).*/\1/p')
    [ ${#names[@]} -eq 0 ] || (cd "$folder/packages" && apt-get download "${names[@]}" >/dev/null 2>&1)
}
if has apt-get && has dpkg-deb; then
    # If one cannot be had, the others can.
    download "${packages[@]}" || for package in "${packages[@]}"; do download "$package" || true; done
    (cd "$folder/packages" && for package in "${alone[@]}"; do apt-get download "$package" >/dev/null 2>&1 || true; done)
    for package in "$folder"/packages/*.deb; do [ ! -e "$package" ] || dpkg-deb -x "$package" "$root"; done
fi
fetch() { nice python3 -m pip install -q --target "$folder/pypi" "$@" >/dev/null 2>&1; }
fetch "${pypi[@]}" || for package in "${pypi[@]}"; do fetch "$package" || true; done

share="$root/usr/share"
lib="$root/usr/lib/$machine"
python="env PYTHONPATH=$folder/pypi $(python3 -c 'import sys; print(sys.executable)') $sources"
readers=()
add() { readers+=("$1=$2"); } # LIBRARY COMMAND
found() { find "$root/usr" /usr/lib /usr/share -path "$1" -print -quit 2>/dev/null || true; }
# A library that is installed here is not downloaded again: the link of its -dev package leads to it.
if [ -d "$lib" ]; then
    while read -r link; do ln -sf "/usr/lib/$machine/$(readlink "$link")" "$link"; done < <(find -L "$lib" -maxdepth 1 -name '*.so' -type l)
fi
native() { # LIBRARY MACRO, with flags of the linker
    local program="$folder/build/$2" include="$root/usr/include"
    if has g++ && nice g++ -std=c++17 -w -D"$2" -I "$include" -I "$include/json-glib-1.0" -I "$include/glib-2.0" -I "$lib/glib-2.0/include" \
        -I "$include/jsoncpp" "$sources/native.cpp" -L "$lib" -Wl,-rpath,"$lib" "${@:3}" -o "$program" 2>"$program.log"; then
        add "$1" "$program"
    else
        skip "$1" "g++ or its package of Debian cannot be had"
    fi
}
java() { # LIBRARY CLASS
    local jars="$folder/build:$share/java/*:/usr/share/java/*"
    if has javac && nice javac -d "$folder/build" -cp "$jars" "$sources/Each.java" "$sources/$2.java" 2>"$folder/build/$2.log"; then
        add "$1" "$(command -v java) -Dfile.encoding=UTF-8 -Xss16m -cp $jars Each $2"
    else
        skip "$1" "javac or its package of Debian cannot be had"
    fi
}
for library in "${wanted[@]}"; do
    name="${library#*/}"
    case $library in
        tool/yq)
            if has jq && [ -d "$folder/pypi/yq" ]; then
                add "$library" "${python% *} -m yq"
            else
                skip "$library" "jq, or yq of PyPI cannot be had"
            fi ;;
        tool/*)
            program="$(command -v "$name" || found "*/bin/$name")"
            if [ -n "$program" ]; then add "$library" "$program"; else skip "$library" "$name is missing"; fi ;;
        Python/*)
            if $python/each.py "$name" read >/dev/null 2>&1; then
                add "$library" "$python/each.py $name"
            else
                skip "$library" "it cannot be had of PyPI"
            fi ;;
        Node.js/*)
            modules="$share/nodejs:/usr/share/nodejs"
            if has node && { [ "$name" = JSON ] || [ -n "$(found "*/share/nodejs/$name")" ]; }; then
                add "$library" "env NODE_PATH=$modules node $sources/node.cjs $name"
            else
                skip "$library" "Node.js or its package of Debian cannot be had"
            fi ;;
        Ruby/*)
            paths="$(find "$root/usr" \( -path '*/oj-*/lib' -o -name '*-linux' -path '*/extensions/*' -o -path '*/vendor_ruby' -o \
                -path '*/extensions/*/oj-*' -o -path '*/vendor_ruby/3.1.0' \) -type d -printf '%p:' 2>/dev/null || true)"
            if has ruby && RUBYLIB="$paths" ruby "$sources/each.rb" "$name" read 2>/dev/null; then
                add "$library" "env RUBYLIB=$paths ruby $sources/each.rb $name"
            else
                skip "$library" "ruby or its package of Debian cannot be had"
            fi ;;
        Perl/*)
            paths="$(find "$root/usr/share/perl5" "$lib/perl5" -maxdepth 1 \( -name 'perl5' -o -name '5.*' \) -printf '%p:' 2>/dev/null || true)"
            if has perl && PERL5LIB="$paths" perl "$sources/each.pl" "$name" read 2>/dev/null; then
                add "$library" "env PERL5LIB=$paths perl $sources/each.pl $name"
            else
                skip "$library" "perl or its package of Debian cannot be had"
            fi ;;
        Java/Jackson | Java/Android) java "$library" "$name" ;;
        Java/Gson) java "$library" GsonLibrary ;;
        Java/json-simple) java "$library" Simple ;;
        Java/json-smart) java "$library" Smart ;;
        PHP/*)
            program="$(found '*/bin/php8.2')"
            if [ -n "$program" ]; then add "$library" "$program -n $sources/each.php"; else skip "$library" "php-cli of Debian cannot be had"; fi ;;
        Lua/*)
            program="$(found '*/bin/lua5.1')"
            paths="env LUA_PATH=$share/lua/5.1/?.lua LUA_CPATH=$lib/lua/5.1/?.so"
            if [ -n "$program" ] && $paths "$program" "$sources/each.lua" "$name" read 2>/dev/null; then
                add "$library" "$paths $program $sources/each.lua $name"
            else
                skip "$library" "lua5.1 or its package of Debian cannot be had"
            fi ;;
        R/*)
            homes="$root/usr/lib"
            if [ -x "$homes/R/bin/exec/R" ] && [ -d "$homes/R/site-library/$name" ]; then
                add "$library" "env R_HOME=$homes/R R_LIBS=$homes/R/site-library:$homes/R/library TZ=UTC LC_ALL=C.UTF-8 EDITOR=vi PAGER=cat
                    R_DEFAULT_PACKAGES=methods,utils LD_LIBRARY_PATH=$homes/R/lib:$lib:$lib/blas:$lib/lapack
                    $homes/R/bin/exec/R --vanilla --no-echo --file=$sources/each.R --args"
            else
                skip "$library" "r-cran-jsonlite of Debian cannot be had"
            fi ;;
        C/jansson) native "$library" JANSSON -ljansson ;;
        C/json-c) native "$library" JSON_C -ljson-c ;;
        C/cJSON) native "$library" CJSON -lcjson ;;
        C/yajl) native "$library" YAJL -lyajl ;;
        C/json-glib) native "$library" JSON_GLIB -ljson-glib-1.0 -lgobject-2.0 -lglib-2.0 ;;
        C++/nlohmann) native "$library" NLOHMANN ;;
        C++/RapidJSON) native "$library" RAPIDJSON ;;
        C++/JsonCpp) native "$library" JSONCPP -ljsoncpp ;;
        C++/simdjson) native "$library" SIMDJSON -lsimdjson ;;
        Rust/*)
            mkdir -p "$folder/crate/src" "$folder/crate/.cargo"
            cp "$sources/each.rs" "$folder/crate/src/main.rs"
            printf '[package]\nname = "each"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nserde_json = "1"\n' >"$folder/crate/Cargo.toml"
            printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "%s"\n' "$share/cargo/registry" \
                >"$folder/crate/.cargo/config.toml"
            if has cargo && (cd "$folder/crate" && nice cargo build --quiet --offline >"$folder/build/cargo.log" 2>&1); then
                add "$library" "$folder/crate/target/debug/each"
            else
                skip "$library" "cargo or its package of Debian cannot be had"
            fi ;;
        Swift/*)
            program="$folder/build/each-swift"
            if [ -x "$program" ] || { has swiftc && nice swiftc "$sources/each.swift" -o "$program" 2>"$program.log"; }; then
                add "$library" "$program $name"
            else
                skip "$library" "a Swift toolchain is missing"
            fi ;;
    esac
done
nice python3 "$sources/compare.py" "$folder" "$PREFS" "${readers[@]}"
