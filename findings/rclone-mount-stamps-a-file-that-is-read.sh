#!/usr/bin/env bash
# rclone 1.60.1 (Debian 12), `rclone mount --vfs-cache-mode full`: until a written file has been passed on to the remote (5 seconds by
# default), each read of it gives it a new modification time, although nobody writes. A program that compares the time before and after it
# has read takes the file for one that is being written; an editor says that the file has changed on disk. Afterwards reads change nothing.
# Needs /dev/fuse, fusermount3 and python3; Debian only.
# usage: findings/rclone-mount-stamps-a-file-that-is-read.sh
set -euo pipefail
version=1.60.1
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

mkdir "$folder/package" "$folder/remote" "$folder/mount"
(cd "$folder" && apt-get download "rclone=$version*" >/dev/null 2>&1) || { echo "skipped: rclone $version cannot be installed"; exit 0; }
dpkg-deb -x "$folder"/rclone_*.deb "$folder/package"
export XDG_CACHE_HOME="$folder/cache" RCLONE_CONFIG="$folder/rclone.conf"
touch "$RCLONE_CONFIG"
"$folder/package/usr/bin/rclone" mount --vfs-cache-mode full --daemon "$folder/remote" "$folder/mount"

python3 - "$folder/mount/settings.json" <<'PYTHON'
import os, sys, time

def reads_that_stamp(path):
    count = 0
    for _ in range(10):
        file = os.open(path, os.O_RDONLY)
        before = os.fstat(file).st_mtime_ns
        os.pread(file, 100, 0)
        count += os.fstat(file).st_mtime_ns != before
        os.close(file)
        time.sleep(0.02)
    return count

path = sys.argv[1]
with open(path, "w") as file:
    file.write('{"size": 14}')
written = reads_that_stamp(path)
time.sleep(12)
rested = reads_that_stamp(path)
print(f"just written: {written} of 10 reads change the time; 12 s later: {rested}")
sys.exit((written, rested) != (10, 0))
PYTHON
