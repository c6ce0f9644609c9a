#!/usr/bin/env bash
# Counts the system calls (strace), instructions and allocations (callgrind) of one operation of each row of the benchmarks. Fails if a
# count is above its limit in Tests/Benchmarks/thresholds.txt. Measures no times. A count is the difference of two runs, which excludes
# the setup of the row. If a tool is missing or does not work, says what it skips.
# usage: Scripts/counts.sh [ROW …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

thresholds=Tests/Benchmarks/thresholds.txt
for row in "$@"; do grep -q "^$row " $thresholds || usage; done
shopt -s inherit_errexit
few=50
many=200

echo "== building the benchmarks" >&2
swift build -c release --product Benchmarks -Xswiftc -warnings-as-errors >&2
program="$(swift build -c release --show-bin-path)/Benchmarks"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

has() { # tool
    command -v "$1" >/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "counts: installing $1" >&2
        { apt-get update -q && apt-get install -y -q "$1"; } >/dev/null 2>&1 || true
        command -v "$1" >/dev/null && return
    fi
    echo "counts: $1 is not installed and cannot be: what it counts is skipped" >&2
    return 1
}

# A container may forbid tracing.
works() { # tool
    case $1 in
        strace) strace -c -o /dev/null true ;;
        valgrind) valgrind --tool=callgrind --callgrind-out-file=/dev/null true ;;
    esac >/dev/null 2>&1 && return
    echo "counts: $1 does not work here: what it counts is skipped" >&2
    return 1
}

# Runs the operation of a row a number of times under a tool, with its own home folder.
once() { # row, times, command of the tool
    local own
    own="$(mktemp -d "$folder/run.XXXXXX")"
    mkdir "$own/home"
    env PREFS_BENCHMARKS="$own" HOME="$own/home" XDG_CONFIG_HOME="$own/home/.config" LD_BIND_NOW=1 \
        SWIFT_DETERMINISTIC_HASHING=1 "${@:3}" "$program" --once "$1" "$2" >"$own/log" 2>&1 || {
        cat "$own/log" >&2
        return 1
    }
    rm -rf "$own"
}

# Prints name and count, for one run.
traced() { # file of strace
    awk '$1 ~ /^[0-9.]+$/ && $NF != "total" { print $NF, $4; all += $4 } END { print "calls", all + 0 }' "$1"
}

called() { # file of callgrind
    awk '
        # A name stands in full at its first use only.
        match($0, /^c?fn=\([0-9]+\)/) {
            id = substr($0, index($0, "("), RLENGTH - index($0, "(") + 1)
            if (length($0) > RLENGTH) names[id] = substr($0, RLENGTH + 2)
            if (/^cfn/) callee = names[id]
        }
        /^calls=/ && callee ~ /^(malloc|calloc|realloc|posix_memalign|aligned_alloc)$/ {
            split(substr($0, 7), part, " ")
            allocations += part[1]
        }
        /^(summary|totals): / { instructions = $2 }
        END { print "instructions", instructions + 0; print "allocations", allocations + 0 }
    ' "$1"
}

# Prints name and count of every kind, for one operation.
measure() { # row, tool
    local out="$folder/$1.$2" reader times
    for times in $few $many; do
        case $2 in
            strace) once "$1" $times strace -f -c -o "$out.$times" ;;
            valgrind) once "$1" $times valgrind --tool=callgrind --callgrind-out-file="$out.$times" ;;
        esac
    done
    case $2 in strace) reader=traced ;; valgrind) reader=called ;; esac
    $reader "$out.$few" >"$out.few"
    $reader "$out.$many" >"$out.many"
    awk -v operations=$((many - few)) '
        FNR == NR { few[$1] = $2; next }
        { printf "%s %.4f\n", $1, ($2 - few[$1]) / operations }
    ' "$out.few" "$out.many"
}

tool() { # measure
    case $1 in instructions | allocations) echo valgrind ;; *) echo strace ;; esac
}

declare -A present
for name in strace valgrind; do has $name && works $name && present[$name]=yes || present[$name]=no; done

# Prints the rows that are asked for and can be counted: row, measure, limit, tool.
rows() { # asked rows
    local row what limit with
    while read -r row what limit; do
        if [ $# -gt 0 ] && [[ " $* " != *" $row "* ]]; then continue; fi
        with=$(tool "$what")
        [ "${present[$with]}" != yes ] || echo "$row $what $limit $with"
    done < <(grep -v '^#' $thresholds | grep .)
}

# As many at once as there are processors: counts do not depend on time.
echo "== counting" >&2
idle=$(getconf _NPROCESSORS_ONLN)
counting=0
while read -r row with; do
    if [ "$idle" -eq 0 ]; then
        wait -n
        idle=$((idle + 1)) counting=$((counting - 1))
    fi
    measure "$row" "$with" >"$folder/counted.$row.$with" &
    idle=$((idle - 1)) counting=$((counting + 1))
done < <(rows "$@" | awk '{ print $1, $4 }' | sort -u)
for ((; counting > 0; counting--)); do wait -n; done

exceeded=0
while read -r row what limit with; do
    awk -v row="$row" -v what="$what" -v limit="$limit" '
        $1 == what { count = $2 }
        END {
            isAbove = count + 0 > limit + 0
            printf "counts: %-22s %-13s %12.2f   limit %12.2f%s\n", row, what, count, limit, isAbove ? "   ABOVE" : ""
            exit isAbove
        }' "$folder/counted.$row.$with" || exceeded=$((exceeded + 1))
done < <(rows "$@")

if [ $exceeded -gt 0 ]; then
    echo "counts: $exceeded above their limits" >&2
    exit 1
fi
echo "counts: none above its limit"
