#!/usr/bin/env bash
# Foundation of Swift 6.3.1 on Linux: Data(contentsOf:) of a file whose size is given as 0, as the kernel does for all of /proc, ends at the first
# read(2) that returns less than 4,096 bytes. The kernel returns whole lines there, so that is mostly the first one: the caller gets the first
# lines of a list, cut at the end of a line, and no error. A program that looks in /proc/locks for who holds its settings file, or in
# /proc/self/mountinfo for where the file is, does not find it on a machine with many of them. String(contentsOf:) and FileManager.contents(atPath:)
# do the same; FileHandle.readToEnd() has it all. Needs swiftc 6.3.1, on Linux.
# usage: findings/foundation-reads-the-first-part-of-a-file-without-a-size.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
command -v swiftc >/dev/null || { echo "skipped: swiftc is missing"; exit 0; }
swiftc --version 2>&1 | grep -q 'Swift version 6\.3\.1 ' || { echo "skipped: swiftc is not 6.3.1"; exit 0; }
[ -r /proc/self/maps ] || { echo "skipped: /proc is not there"; exit 0; }

cat >"$folder/main.swift" <<'SWIFT'
import Foundation

let url = URL(fileURLWithPath: "/proc/self/maps")
let data = try Data(contentsOf: url)
let text = try String(contentsOf: url, encoding: .utf8)
let contents = FileManager.default.contents(atPath: url.path) ?? Data()
let whole = try FileHandle(forReadingFrom: url).readToEnd() ?? Data()
print("/proc/self/maps: Data \(data.count) bytes, String \(text.utf8.count), FileManager \(contents.count), FileHandle \(whole.count)")
print("Data ends with a line: \(data.last == UInt8(ascii: "\n"))")
let firstParts = [data.count, text.utf8.count, contents.count]
exit(firstParts.allSatisfy { 0 < $0 && $0 < 4096 } && data.last == UInt8(ascii: "\n") && whole.count > 8192 ? 0 : 1)
SWIFT
nice swiftc "$folder/main.swift" -o "$folder/main"
"$folder/main"
