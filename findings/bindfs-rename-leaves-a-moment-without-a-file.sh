#!/usr/bin/env bash
# bindfs 1.14.7 (Debian 12, libfuse 3.14): rename(2) over a file is not atomic for readers of the same mount. If a reader has the old file open,
# the library first moves that to a name of its own, and for a moment open(2) of the name says ENOENT: one of ten opens beside a program
# that saves by renaming. A program that takes a missing file for "no settings yet" reads its defaults, and writes them. On the folder
# behind the mount, no open fails. Needs /dev/fuse, fusermount3 and python3; Debian only.
# usage: findings/bindfs-rename-leaves-a-moment-without-a-file.sh
set -euo pipefail
version=1.14.7
folder="$(mktemp -d)"
end() {
    fusermount3 -u "$folder/mount" 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT
for tool in fusermount3 python3 dpkg-deb apt-get; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 0; }
done
[ -w /dev/fuse ] || { echo "skipped: /dev/fuse is not there"; exit 0; }

mkdir "$folder/package" "$folder/behind" "$folder/mount"
(cd "$folder" && apt-get download "bindfs=$version*" libfuse3-3 >/dev/null 2>&1) || { echo "skipped: bindfs $version cannot be installed"; exit 0; }
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$folder/package"; done
LD_LIBRARY_PATH="$(dirname "$(find "$folder/package" -name 'libfuse3.so.3' | head -1)")" "$folder/package/usr/bin/bindfs" "$folder/behind" "$folder/mount"

python3 - "$folder/mount" "$folder/behind" <<'PYTHON'
import multiprocessing, os, sys, time

def save(path, stop):
    while not stop.is_set():
        with open(path + ".new", "w") as file:
            file.write('{"size": 14}')
        os.rename(path + ".new", path)

def read(path, stop, counts):
    while not stop.is_set():
        try:
            file = os.open(path, os.O_RDONLY)
            os.read(file, 100)
            os.close(file)
        except FileNotFoundError:
            counts[1] += 1
        counts[0] += 1

def missing(folder):
    path = folder + "/settings.json"
    with open(path, "w") as file:
        file.write('{"size": 14}')
    stop, counts = multiprocessing.Event(), multiprocessing.Array("i", 2)
    processes = [multiprocessing.Process(target=save, args=(path, stop)), multiprocessing.Process(target=read, args=(path, stop, counts))]
    for process in processes:
        process.start()
    time.sleep(3)
    stop.set()
    for process in processes:
        process.join()
    print(f"{os.path.basename(folder)}: the file was missing in {counts[1]} of {counts[0]} opens")
    return counts[1]

sys.exit(not (missing(sys.argv[1]) > 0 and missing(sys.argv[2]) == 0))
PYTHON
