#!/usr/bin/env bash
# The SMB client of Linux 6.1 (Debian 12: user-mode-linux 6.1, samba 4.17, cifs-utils 7.0), options as mount.cifs sets them, two clients of one
# share: the client keeps a file open for a second after close(2), and gives the same one to the next open(2) with the same flags, although
# another client has replaced it. Each such open begins the second anew. So a program that looks at its settings file twice a second never
# sees a replacement, and one that looks each 1.5 s sees it at its first look. An open with other flags in that second fails with EINVAL,
# for an ordinary file that is there. Takes half a minute; as the superuser on Debian, installs the three packages; elsewhere it is skipped.
# usage: findings/smb-a-file-that-is-looked-at-often-is-never-new.sh
set -euo pipefail
if [ "${1-}" != --inside ]; then
    folder="$(mktemp -d)"
    trap 'rm -rf "$folder"' EXIT
    [ "$(id -u)" = 0 ] || { echo "skipped: it needs the superuser"; exit 0; }
    for tool in linux.uml:user-mode-linux smbd:samba mount.cifs:cifs-utils modprobe:kmod python3:python3; do
        command -v "${tool%:*}" >/dev/null && continue
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${tool#*:}" >/dev/null 2>&1 </dev/null || true
        command -v "${tool%:*}" >/dev/null || { echo "skipped: ${tool#*:} cannot be installed"; exit 0; }
    done
    linux.uml --version | grep -q '^6\.1\.' || { echo "skipped: user-mode-linux is not 6.1"; exit 0; }
    mkdir -p "$folder"/{t,run,modules/lib/modules}
    ln -s /usr/lib/uml/modules/* "$folder/modules/lib/modules/"
    printf '#!/bin/sh\nexec /sbin/modprobe -d %q/modules "$@"\n' "$folder" >"$folder/modprobe"
    printf '#!/bin/sh\nexec bash %q --inside\n' "$(realpath "$0")" >"$folder/init"
    chmod 755 "$folder/modprobe" "$folder/init"
    timeout 200 linux.uml mem=512M uml_dir="$folder/run" root=/dev/root rootfstype=hostfs rootflags=/ rw init="$folder/init" con=null \
        con0=fd:0,fd:1 quiet "WORK=$folder" </dev/null >"$folder/log" 2>&1 || true
    grep -a '^seen\|^open' "$folder/log" || { tail "$folder/log"; exit 1; }
    [ -e "$folder/as-described" ]
    exit
fi

export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs "$WORK/t"
mkdir -p "$WORK"/t/{share,one,two,samba}
echo "$WORK/modprobe" >/proc/sys/kernel/modprobe
ip link set lo up
cat >"$WORK/t/smb.conf" <<END
[global]
server role = standalone server
interfaces = lo
bind interfaces only = yes
smb ports = 445
disable netbios = yes
private dir = $WORK/t/samba
state directory = $WORK/t/samba
cache directory = $WORK/t/samba
lock directory = $WORK/t/samba
pid directory = $WORK/t/samba
ncalrpc dir = $WORK/t/samba/ncalrpc
log file = $WORK/t/samba/log
passdb backend = tdbsam:$WORK/t/samba/passdb.tdb
load printers = no
disable spoolss = yes
[share]
path = $WORK/t/share
read only = no
END
printf 'pw\npw\n' | smbpasswd -c "$WORK/t/smb.conf" -a -s root >/dev/null
smbd -D -s "$WORK/t/smb.conf"
for _ in $(seq 50); do
    if (: </dev/tcp/127.0.0.1/445) 2>/dev/null; then break; fi
    sleep 0.1
done
for client in one two; do
    mount -t cifs //127.0.0.1/share "$WORK/t/$client" -o vers=3.1.1,username=root,password=pw,nosharesock
done
python3 - "$WORK" <<'PYTHON' || true
import os, sys, time

work = sys.argv[1]
one, two = work + "/t/one/settings", work + "/t/two/settings"
number = 0

def replace():
    global number
    number += 1
    with open(one + ".new", "w") as file:
        file.write(str(number))
        file.flush()
        os.fsync(file.fileno())
    os.rename(one + ".new", one)

def look(flags=0):
    file = os.open(two, os.O_RDONLY | flags)
    text = os.read(file, 100).decode()
    os.close(file)
    return int(text)

def seen_after(interval, most=6):
    replace()
    look()
    time.sleep(interval)
    look()
    replace()
    begin = time.monotonic()
    while look() != number:
        if time.monotonic() - begin > most:
            return None
        time.sleep(interval)
    return time.monotonic() - begin

often, seldom = seen_after(0.5), seen_after(1.5)
print(f"seen by a program that looks each 0.5 s: {often}; each 1.5 s: {seldom:.1f} s", flush=True)
time.sleep(1.5)
replace()
look()
replace()
try:
    look(os.O_NONBLOCK)
    error = None
except OSError as failure:
    error = failure.strerror
print(f"open with other flags: {error}", flush=True)
if often is None and seldom < 2 and error == "Invalid argument":
    open(work + "/as-described", "w").close()
PYTHON
poweroff -f
