#!/usr/bin/env bash
# Fuzzes the bytes of a file and values that a program may store, each for half of the seconds. Adds what it finds to the corpus of the
# tests, which replay it. An input that crashes or hangs other software does not belong there. With PREFS_FUZZ_SEED=N, a run makes as many
# inputs as a usual machine makes in the seconds, however long that takes, and on unchanged code those of the last run: in CI, a change
# passes or fails by what it is, not by luck.
# usage: Scripts/fuzz.sh SECONDS [bytes|values]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -ge 1 && $# -le 2 && "$1" =~ ^[0-9]+$ && "${2-bytes}" =~ ^(bytes|values)$ ]] || usage
seconds=$1
targets=(${2:-bytes values})
workers=${PREFS_FUZZ_WORKERS:-2}
folder=.build/fuzz
support=Tests/PropertyListSupport
checks() { # target: the file with its checks
    if [[ $1 == bytes ]]; then
        echo Tests/FileEngineTests/Fuzz/BytesCheck.swift
    else
        echo Tests/PersistentPreferencesTests/Hazards/Fuzz/ValueCheck.swift
    fi
}
kept() { # target: the folder of its corpus
    if [[ $1 == bytes ]]; then echo Tests/FileEngineTests/Corpus/bytes; else echo Tests/PersistentPreferencesTests/Hazards/Corpus/values; fi
}
flags=(
    -O -sanitize=fuzzer,address -parse-as-library -swift-version 6 -package-name persistentpreferences -warnings-as-errors
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility
)
mkdir -p "$folder"

# Compiles, and says what the compiler says but for what the linker has to say of AddressSanitizer's own symbols.
compile() {
    if ! swiftc "${flags[@]}" "$@" >"$folder/compile.log" 2>&1; then
        grep -v "Cannot export local symbol" "$folder/compile.log" >&2
        return 1
    fi
}

if ! grep -qs fuzzer "$folder/toolchain"; then
    printf '@_cdecl("LLVMFuzzerTestOneInput") func test(_: UnsafePointer<UInt8>?, _: Int) -> CInt { 0 }\n' \
        >"$folder/probe.swift"
    if ! compile "$folder/probe.swift" -o "$folder/probe" 2>/dev/null; then
        echo "hazard: fuzz: skipped, this toolchain has no libFuzzer"
        exit 0
    fi
    echo fuzzer >"$folder/toolchain"
fi

if [[ ! -e $folder/built || -n $(find Sources Tests/Fuzz "$support" "$(checks bytes)" "$(checks values)" Scripts/fuzz.sh -newer "$folder/built") ]]; then
    echo "== building the fuzzers"
    objects=()
    module() { # name, sources
        compile -wmo -enable-testing -module-name "$1" -I "$folder" -emit-module \
            -emit-module-path "$folder/$1.swiftmodule" -c "${@:2}" -o "$folder/$1.o"
        objects+=("$folder/$1.o")
    }
    # The optimizer takes four times as long as all else, so of the library only this module gets it. Without it, inputs would be tried at
    # less than half the speed; for the other modules, it would make them a fifth faster.
    module PrefsPropertyLists $(find Sources/PropertyLists -name '*.swift')
    module PrefsFileEngine -Onone $(find Sources/FileEngine -name '*.swift')
    module PersistentPreferences -Onone $(find Sources/PersistentPreferences -name '*.swift')
    module PrefsDocuments -Onone $(find Sources/PrefsDocuments -name '*.swift')
    module PrefsJSON -Onone $(find Sources/PrefsJSON -name '*.swift')
    module PropertyListSupport "$support"/Fuzz/*.swift "$support"/{ExactForm,PlainEncoding}.swift
    for target in bytes values; do
        entry=Tests/Fuzz/$([[ $target == bytes ]] && echo Bytes || echo Values)Fuzz.swift
        compile -wmo -module-name Fuzz -I "$folder" "$(checks "$target")" Tests/Fuzz/FuzzTarget.swift "$entry" \
            "${objects[@]}" -o "$folder/$target"
    done
    touch "$folder/built"
fi

# Four times the stack of a second thread on Apple platforms, since AddressSanitizer makes the frames larger (the replay
# has 512 KB). Foundation is not instrumented: what it leaks is not looked for.
ulimit -s 2048
export ASAN_OPTIONS=detect_leaks=0:malloc_context_size=1:quarantine_size_mb=16:thread_local_quarantine_size_kb=64
export SWIFT_BACKTRACE=enable=no

# What libFuzzer makes next depends on its seed, on times, on other workers, and on the addresses of code and the order of dictionaries.
fixed=()
if [[ -n ${PREFS_FUZZ_SEED-} ]]; then
    fixed=(env SWIFT_DETERMINISTIC_HASHING=1)
    [[ $(uname) != Linux ]] || fixed+=(setarch -R)
fi

# The inputs of a worker in a second.
speed() { # target
    if [[ $1 == bytes ]]; then echo 4000; else echo 500; fi
}

# Foundation, which judges the XML, leaks memory, so no process runs for longer than two minutes, or for the inputs of two minutes.
work() { # target, number of the worker, seconds
    local left end part length corpus=$folder/corpus-$1 options=(-entropic_scale_per_exec_time=1 -reload=10)
    if [[ -n ${PREFS_FUZZ_SEED-} ]]; then
        corpus=$folder/corpus-$1-$2
        rm -rf "$corpus" && cp -r "$folder/corpus-$1" "$corpus"
        options=(-entropic_scale_per_exec_time=0 -reload=0 -seed=$((PREFS_FUZZ_SEED + $2)))
    fi
    end=$(($(date +%s) + $3)) left=$3
    while ((left > 0)) && [[ ! -e $folder/found-$1/stop ]]; do
        part=$((left < 120 ? left : 120))
        length=-max_total_time=$part
        [[ -z ${PREFS_FUZZ_SEED-} ]] || length=-runs=$((part * $(speed "$1")))
        PREFS_FUZZ_COUNTS=$folder/counts-$1 ${fixed[@]+"${fixed[@]}"} "$folder/$1" "$corpus" "${options[@]}" "$length" \
            -max_len=8192 -timeout=60 -rss_limit_mb=3072 -malloc_limit_mb=1024 -dict=Tests/Fuzz/property-list.dict \
            -artifact_prefix="$folder/found-$1/" >"$folder/$1-$2.log" 2>&1 ||
            { cp "$folder/$1-$2.log" "$folder/found-$1/stop"; }
        if [[ -n ${PREFS_FUZZ_SEED-} ]]; then left=$((left - part)); else left=$((end - $(date +%s))); fi
    done
}

crashes=0 hangs=0 reproduction=
for target in "${targets[@]}"; do
    corpus=$folder/corpus-$target
    rm -rf "$folder/found-$target"
    # What earlier runs on this machine have made is no input of a repeatable one.
    [[ -z ${PREFS_FUZZ_SEED-} ]] || rm -rf "$corpus"
    mkdir -p "$corpus" "$folder/found-$target"
    : >"$folder/counts-$target"
    PREFS_FUZZ_SEEDS=$corpus "$folder/$target"
    cp "$(kept "$target")"/* "$corpus/" 2>/dev/null || true
    echo "== fuzzing $target for $((seconds / ${#targets[@]})) s"
    for ((worker = 0; worker < workers; worker++)); do work "$target" "$worker" $((seconds / ${#targets[@]})) & done
    wait
    for found in "$folder/found-$target"/{crash,timeout,oom,leak}-*; do
        [[ -e $found ]] || continue
        [[ $found == */timeout-* ]] && hangs=$((hangs + 1)) || crashes=$((crashes + 1))
        name=$(basename "$found")
        cp "$found" "$(kept "$target")/${name#*-}"
        echo "found, and kept: $(kept "$target")/${name#*-}"
    done
    if [[ -e $folder/found-$target/stop ]]; then
        grep -E "promise|ERROR|SUMMARY|^ +#[0-9]+ " "$folder/found-$target/stop" | head -30 || true
        ((crashes + hangs > 0)) || crashes=1
        # Last, since a log of CI is all that is left of its machine.
        for found in "$folder/found-$target"/{crash,timeout,oom,leak}-*; do
            [[ ! -e $found ]] || reproduction+="input of $target, in base64: $(base64 <"$found" | tr -d "\n" | head -c 12000)"$'\n'
        done
        reproduction+=$(grep -E "promise" "$folder/found-$target/stop" | head -3 || true)$'\n'
    fi
done

count() { awk -v field="$2" '{ sum += $field } END { printf "%.0f\n", sum }' "$folder/counts-$1" 2>/dev/null || echo 0; }
for target in bytes values; do [[ " ${targets[*]} " == *" $target "* ]] || : >"$folder/counts-$target"; done
bytes=$(count bytes 1) values=$(count values 1)
megabytes=$((($(count bytes 2) + $(count values 2)) / 1000000))
echo "hazard: fuzz: $seconds s, $((bytes + values)) inputs (bytes: $bytes, values: $values)," \
    "$megabytes MB fuzzed, $crashes crashes, $hangs hangs"
printf '%s' "$reproduction"
((crashes + hangs == 0))
