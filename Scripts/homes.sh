#!/usr/bin/env bash
# Uses the program on file systems of homes: on sshfs, bindfs, mergerfs, gocryptfs, rclone, encfs and overlayfs, and on SMB 3.1.1 and NFS 3
# and 4.2 with two clients each, in a user-mode Linux. Of each, or of the named ones, counts the increments of two processes, edits the
# file behind the program, kills writers, allows 64 descriptors, and fills the server. Fails if something acknowledged is lost where the lock
# reaches both sides. As the superuser on Debian, installs what is missing; otherwise says what is skipped.
# usage: Scripts/homes.sh [SYSTEM …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

local_systems=(sshfs sshfs-uncached bindfs bindfs-locks mergerfs gocryptfs encfs rclone overlay)
remote_systems=(smb nfs3 nfs4)
count="${PREFS_HOMES_COUNT:-200}"

# MARK: - The checks of one file system

failures=0
say() { echo "homes: $system: $*"; }
fail() {
    failures=$((failures + 1))
    say "FAILED: $*"
}
prefs() { timeout -k 5 120 "$program" "$@"; }
value() { prefs get -f "$1" "$2" 2>/dev/null | tail -1; }

# Increments a number; prints how many were acknowledged, and the errors of the others.
increments() { # file, log
    local good=0
    for _ in $(seq "$count"); do
        if prefs set -f "$1" A.n +1 >/dev/null 2>>"$2"; then good=$((good + 1)); fi
    done
    echo "$good" >"$2.good"
}

check_count() { # first side, second side, where both see the lock
    local good stored
    prefs set -f "$1/count.plist" A.n 0 >/dev/null
    # A third process reads, and writes what is there already.
    (while [ ! -e "$logs/2.good" ] || [ ! -e "$logs/1.good" ]; do
        prefs set -f "$1/count.plist" A.same 1 >/dev/null 2>&1 || true
        value "$1/count.plist" A.n >/dev/null
        sleep 0.2
    done) &
    increments "$1/count.plist" "$logs/1" &
    increments "$2/count.plist" "$logs/2" &
    wait
    good=$(($(cat "$logs/1.good") + $(cat "$logs/2.good")))
    sleep "$seen"
    stored="$(value "$1/count.plist" A.n)"
    say "$stored counted of $good acknowledged of $((2 * count))"
    [ "$stored" = "$good" ] || fail "an acknowledged increment is lost"
    # A file system in user space may refuse a call beside the replacement of a file; the error says so.
    [ $good -ge $((2 * count * 98 / 100)) ] || fail "writes are refused"
    if [ $good != $((2 * count)) ]; then
        grep -hv '^prefs: waiting' "$logs"/[12] | sed "s|[^ ]*/||" | sort | uniq -c | sort -rn | head -5 |
            while read -r line; do say "refused: $line"; done
        ! grep -hv '^prefs: waiting' "$logs"/[12] | grep -qv 'the stored state is unchanged$' || fail "a refusal is not true"
    fi
}

# A person edits the file behind the program, in place and by renaming, and the program writes at once.
check_edits() { # side of the program, side of the person
    local wrong=0 number slowest=0 begin took
    printf '{"own": 0, "person": 0}\n' >"$2/edits.json"
    sleep "$seen"
    for number in $(seq 20); do
        if [ $((number % 2)) = 0 ]; then
            sed "s/\"person\": [0-9]*/\"person\": $number/" "$2/edits.json" >"$2/edits.new" && mv "$2/edits.new" "$2/edits.json"
        else
            sed "s/\"person\": [0-9]*/\"person\": $number/" "$2/edits.json" >"$logs/edits" && cat "$logs/edits" >"$2/edits.json"
        fi
        begin=$EPOCHREALTIME
        if [ "$seen" != 0 ]; then
            until [ "$(value "$1/edits.json" person)" = "$number" ] || [ $((${EPOCHREALTIME%.*} - ${begin%.*})) -gt 60 ]; do sleep 0.1; done
        fi
        took=$(((${EPOCHREALTIME/./} - ${begin/./}) / 1000))
        [ "$took" -le "$slowest" ] || slowest=$took
        prefs set -f "$1/edits.json" own +1 >/dev/null 2>>"$logs/edits.log" || say "refused: $(tail -1 "$logs/edits.log")"
        grep -q "\"person\": $number\b" "$1/edits.json" || wrong=$((wrong + 1))
    done
    sleep "$seen"
    say "20 edits, $wrong lost, seen by reads after at most $slowest ms, own writes: $(value "$1/edits.json" own)"
    [ $wrong = 0 ] || fail "edits of a person are lost"
    [ $slowest -le $((seen * 1000 + 2000)) ] || fail "an edit is seen late"
}

check_observer() { # side of the program, side of the person
    local watcher begin took slowest=0 number
    printf '{"person": 0}\n' >"$2/watched.json"
    sleep "$seen"
    "$program" watch -f "$1/watched.json" >"$logs/watch" 2>&1 &
    watcher=$!
    sleep 2
    for number in 1001 1002 1003; do
        printf '{"person": %s}\n' $number >"$2/watched.new" && mv "$2/watched.new" "$2/watched.json"
        begin=$EPOCHREALTIME
        until grep -q $number "$logs/watch" || [ $((${EPOCHREALTIME%.*} - ${begin%.*})) -gt 60 ]; do sleep 0.05; done
        took=$(((${EPOCHREALTIME/./} - ${begin/./}) / 1000))
        [ "$took" -le "$slowest" ] || slowest=$took
    done
    kill $watcher && wait $watcher || true
    say "three edits are told after at most $slowest ms"
    [ $slowest -le $((told * 1000 + 1000)) ] || fail "an edit is told late; expected at most $told s"
}

check_stress() { # folder
    local text
    if text="$(prefs stress --processes 2 --threads 2 --seconds 4 --kill --dir "$1" 2>&1)"; then
        say "kills: $(tr '\r' '\n' <<<"$text" | grep -a counted)"
    else
        fail "a killed writer has lost a write: $text"
    fi
    # Foundation starts no child with so few descriptors, so the limit is set afterwards.
    timeout 120 "$program" stress --processes 1 --threads 2 --writes 100 --dir "$1" >"$logs/few" 2>&1 &
    for _ in $(seq 50); do
        for parent in $(pgrep -P $! || true); do
            for child in $(pgrep -P "$parent" || true); do prlimit --pid "$child" --nofile=64:64 2>/dev/null || true; done
        done
        sleep 0.01
    done
    if wait $!; then
        say "200 replacements with 64 descriptors"
    else
        fail "200 replacements with 64 descriptors: $(cat "$logs/few")"
    fi
}

# The room of the server is used up by another program.
check_full() { # folder, folder on the server
    local before
    printf '{"a": 1, "text": "%0100d"}\n' 7 >"$1/full.json"
    prefs set -f "$1/full.json" a 2 >/dev/null || return 0
    before="$(cat "$1/full.json")"
    dd if=/dev/zero of="$2/filler" bs=1M >/dev/null 2>&1 || true
    dd if=/dev/zero of="$2/filler.2" bs=512 >/dev/null 2>&1 || true
    if prefs set -f "$1/full.json" long "$(printf '%09000d' 1)" >/dev/null 2>"$logs/full"; then
        fail "a write to a full server has succeeded"
    else
        say "full server: $(grep -v waiting "$logs/full" | tail -1 | sed "s|$1/||")"
    fi
    [ "$(cat "$1/full.json")" = "$before" ] || fail "a full server has changed the file"
    rm -f "$2/filler" "$2/filler.2"
    if ! prefs set -f "$1/full.json" a 3 >/dev/null 2>&1; then
        sleep "$seen"
        prefs set -f "$1/full.json" a 3 >/dev/null || fail "no write succeeds after the server has room again"
    fi
}

# Seconds: until a read sees a change of the other side, and until an observer is told.
check() { # system, side of the program, other side, seen, told; other side that shares the lock; folder on a small server
    system=$1 seen=$4 told=$5
    logs="$work/logs-$system"
    mkdir -p "$logs"
    say "$(stat -f -c %T "$2")"
    prefs doctor -f "$2/none.json" 2>/dev/null | grep -a 'is on' | sed "s/^/homes: $system: /" || true
    rm -f "$logs"/*.good
    check_count "$2" "$6"
    check_edits "$2" "$3"
    check_observer "$2" "$3"
    check_stress "$2"
    [ -z "${7-}" ] || check_full "$2" "$7"
}

# MARK: - In the user-mode Linux

if [ "${1-}" = --inside ]; then
    program=$PROGRAM
    work=$WORK/t
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
    mount -t proc proc /proc
    mount -t sysfs sysfs /sys
    mount -t devtmpfs dev /dev 2>/dev/null || true
    mkdir -p /dev/shm
    mount -t tmpfs none /dev/shm
    mount -t tmpfs tmpfs /run
    mount -t tmpfs tmpfs /var/lib/nfs
    mount -t tmpfs -o size=600m tmpfs "$work"
    mkdir -p "$work"/{home,server,smb1,smb2,nfs3a,nfs3b,nfs4a,nfs4b,samba}
    export HOME=$work/home TMPDIR=$work
    echo "$WORK/modprobe" >/proc/sys/kernel/modprobe
    ip link set lo up
    hostname homes
    mount -t ext4 /dev/ubda "$work/server"
    mkdir -p "$work/server"/{smb,nfs}
    chmod 777 "$work/server"/*
    if [[ " $SYSTEMS " == *smb* ]]; then
        cat >"$work/samba/smb.conf" <<END
[global]
server role = standalone server
interfaces = lo
bind interfaces only = yes
smb ports = 445
disable netbios = yes
server min protocol = SMB3_11
private dir = $work/samba
state directory = $work/samba
cache directory = $work/samba
lock directory = $work/samba
pid directory = $work/samba
ncalrpc dir = $work/samba/ncalrpc
log file = $work/samba/log
passdb backend = tdbsam:$work/samba/passdb.tdb
load printers = no
disable spoolss = yes
[share]
path = $work/server/smb
read only = no
END
        printf 'pw\npw\n' | smbpasswd -c "$work/samba/smb.conf" -a -s root >/dev/null
        smbd -D -s "$work/samba/smb.conf"
        for _ in $(seq 50); do (: </dev/tcp/127.0.0.1/445) 2>/dev/null && break || sleep 0.1; done
        for i in 1 2; do
            mount -t cifs //127.0.0.1/share "$work/smb$i" -o vers=3.1.1,username=root,password=pw,nosharesock
        done
        (check smb "$work/smb1" "$work/smb2" 2 4 "$work/smb2" "$work/server"; exit $((failures > 0))) || touch "$WORK/failed"
    fi
    if [[ " $SYSTEMS " == *nfs* ]]; then
        mkdir -p /var/lib/nfs/{sm,sm.bak,v4recovery,rpc_pipefs} /run/netns
        touch /var/lib/nfs/{etab,rmtab,state}
        "$WORK/modprobe" nfsd
        "$WORK/modprobe" veth
        mount -t nfsd nfsd /proc/fs/nfsd
        mount -t rpc_pipefs sunrpc /var/lib/nfs/rpc_pipefs
        rpcbind -w
        rpc.statd --no-notify
        echo 1 >/proc/sys/fs/nfs/nlm_grace_period
        echo 10 >/proc/fs/nfsd/nfsv4leasetime
        echo 10 >/proc/fs/nfsd/nfsv4gracetime
        # Two mounts of NFS 4 are one client, which loses the writes of plain programs, too. So the second one has a network and a host
        # name of its own.
        ip netns add second
        ip link add v0 type veth peer name v1 netns second
        ip addr add 10.9.0.1/24 dev v0
        ip link set v0 up
        nsenter --net=/run/netns/second sh -c 'ip addr add 10.9.0.2/24 dev v1; ip link set v1 up; ip link set lo up'
        for host in 127.0.0.1 10.9.0.2; do
            exportfs -o rw,no_root_squash,insecure,no_subtree_check,fsid=0,sync "$host:$work/server/nfs"
        done
        rpc.mountd
        rpc.nfsd 4
        echo Y >/proc/fs/nfsd/v4_end_grace
        if [[ " $SYSTEMS " == *nfs3* ]]; then
            for i in a b; do mount -t nfs "127.0.0.1:$work/server/nfs" "$work/nfs3$i" -o vers=3,nosharecache,tcp; done
            (check nfs3 "$work/nfs3a" "$work/nfs3b" 0 1 "$work/nfs3b" "$work/server"; exit $((failures > 0))) || touch "$WORK/failed"
        fi
        if [[ " $SYSTEMS " == *nfs4* ]]; then
            mount -t nfs 127.0.0.1:/ "$work/nfs4a" -o vers=4.2
            nsenter --net=/run/netns/second unshare -u \
                sh -c "hostname second; exec mount -t nfs 10.9.0.1:/ '$work/nfs4b' -o vers=4.2"
            rm -rf "$work/server/nfs"/*
            (check nfs4 "$work/nfs4a" "$work/nfs4b" 0 1 "$work/nfs4b" "$work/server"; exit $((failures > 0))) || touch "$WORK/failed"
        fi
    fi
    touch "$WORK/ended"
    poweroff -f
fi

# MARK: - On this machine

wanted=("$@")
[ $# -gt 0 ] || wanted=("${local_systems[@]}" "${remote_systems[@]}")
for name in "${wanted[@]}"; do
    [[ " ${local_systems[*]} ${remote_systems[*]} " == *" $name "* ]] || usage
done
is_wanted() { [[ " ${wanted[*]} " == *" $1 "* ]]; }

if [ "$(id -u)" != 0 ] || [ ! -e /dev/fuse ]; then
    echo "homes: skipped: mounting needs the superuser and /dev/fuse"
    exit 0
fi
# Installs packages; fails if a program is still missing.
has() { # program, package …
    command -v "$1" >/dev/null && return
    if command -v apt-get >/dev/null; then
        apt-get update >/dev/null 2>&1 || true
        # Servers that are installed must not start.
        [ -e /usr/sbin/policy-rc.d ] || { printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d; }
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${@:2}" >/dev/null 2>&1 </dev/null || true
        command -v "$1" >/dev/null && return
    fi
    echo "homes: $system: skipped: $1 is not installed and cannot be"
    return 1
}

swift build -c release --product prefs -Xswiftc -warnings-as-errors >&2
program="$(swift build -c release --show-bin-path)/prefs"
work="$(mktemp -d "${TMPDIR:-/tmp}/homes.XXXXXX")"
mounts=()
finish() {
    for place in "${mounts[@]}"; do umount -l "$place" 2>/dev/null || true; done
    rm -rf --one-file-system "$work"
}
trap finish EXIT
export HOME="$work/home" XDG_CONFIG_HOME="$work/home/.config"
mkdir -p "$HOME"

# Makes the folders `server`, on a small file system of its own, and `side` of a file system.
make_sides() {
    side="$work/$system/side"
    server="$work/$system/server"
    mkdir -p "$side" "$server"
    mount -t tmpfs -o size=24m tmpfs "$server"
    mounts=("$server" "${mounts[@]}")
    mkdir -p "$server"/{data,cipher}
}
mounted() {
    mounts=("$side" "${mounts[@]}")
    for _ in $(seq 100); do mountpoint -q "$side" && return || sleep 0.1; done
    echo "homes: $system: skipped: it could not be mounted"
    return 1
}
sshfs_of() { # option …
    printf '#!/bin/sh\nexec /usr/lib/openssh/sftp-server\n' >"$work/sftp" && chmod 755 "$work/sftp"
    sshfs "here:$server/data" "$side" -o "ssh_command=$work/sftp" "$@" </dev/null
}

for system in "${local_systems[@]}"; do
    is_wanted "$system" || continue
    case $system in
        sshfs | sshfs-uncached) has sshfs sshfs openssh-sftp-server || continue ;;
        bindfs*) has bindfs bindfs || continue ;;
        overlay) ;;
        *) has "$system" "$system" || continue ;;
    esac
    make_sides
    case $system in
        sshfs) sshfs_of && mounted && check $system "$side" "$server/data" 20 22 "$side" "$server" ;;
        sshfs-uncached) sshfs_of -o dir_cache=no,attr_timeout=0,entry_timeout=0 && mounted && check $system "$side" "$server/data" 0 1 "$side" "$server" ;;
        bindfs) bindfs "$server/data" "$side" && mounted && check $system "$side" "$server/data" 1 2 "$side" "$server" ;;
        bindfs-locks) bindfs --enable-lock-forwarding --multithreaded "$server/data" "$side" && mounted && check $system "$side" "$server/data" 1 2 "$server/data" "$server" ;;
        mergerfs) mergerfs -o minfreespace=0 "$server/data:$server/cipher" "$side" && mounted && check $system "$side" "$side" 1 2 "$side" "$server" ;;
        gocryptfs)
            gocryptfs -q -init -extpass echo -extpass secret "$server/cipher" >/dev/null
            gocryptfs -q -extpass echo -extpass secret "$server/cipher" "$side" && mounted && check $system "$side" "$side" 1 2 "$side" "$server"
            ;;
        encfs)
            encfs --standard --extpass='echo secret' "$server/cipher" "$side" >/dev/null </dev/null && mounted && check $system "$side" "$side" 1 2 "$side" "$server"
            ;;
        rclone)
            rclone --config "$work/rclone.conf" mount "$server/data" "$side" --vfs-cache-mode full --cache-dir "$work/rclone-cache" --daemon >/dev/null 2>&1 || true
            mounted && check $system "$side" "$side" 30 32 "$side"
            ;;
        overlay)
            mkdir "$server"/{lower,upper,worker}
            mount -t overlay overlay -o "lowerdir=$server/lower,upperdir=$server/upper,workdir=$server/worker" "$side" && mounted && check $system "$side" "$side" 0 1 "$side" "$server"
            ;;
    esac
done

systems="$(for name in "${remote_systems[@]}"; do is_wanted "$name" && printf '%s ' "$name"; done || true)"
if [ -n "$systems" ]; then
    system="$systems"
    if has linux.uml user-mode-linux && has mkfs.ext4 e2fsprogs && has modprobe kmod && has ip iproute2 &&
        has smbd samba && has smbpasswd samba-common-bin && has mount.cifs cifs-utils &&
        has exportfs nfs-kernel-server && has mount.nfs nfs-common && has rpcbind rpcbind; then
        mkdir -p "$work/uml"/{t,run,mods/lib/modules}
        version="$(find /usr/lib/uml/modules -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | tail -1)"
        ln -s "/usr/lib/uml/modules/$version" "$work/uml/mods/lib/modules/$version"
        # shellcheck disable=SC2016
        printf '#!/bin/sh\nexec /sbin/modprobe -d %q/uml/mods "$@"\n' "$work" >"$work/uml/modprobe"
        printf '#!/bin/sh\nexec bash %q --inside\n' "$PWD/Scripts/${0##*/}" >"$work/uml/init"
        chmod 755 "$work/uml/modprobe" "$work/uml/init"
        truncate -s 48M "$work/uml/disk"
        mkfs.ext4 -q "$work/uml/disk"
        # Words with an equals sign that the kernel does not know are the environment of its first process.
        timeout 3000 linux.uml mem=1500M uml_dir="$work/uml/run" ubd0="$work/uml/disk" root=/dev/root rootfstype=hostfs rootflags=/ rw \
            init="$work/uml/init" con=null con0=fd:0,fd:1 quiet "WORK=$work/uml" "PROGRAM=$program" "SYSTEMS=${systems// /,}" \
            "PREFS_HOMES_COUNT=$count" </dev/null >"$work/uml/log" 2>&1 || true
        grep -a '^homes: \|^ ' "$work/uml/log" || true
        if [ ! -e "$work/uml/ended" ] || [ -e "$work/uml/failed" ]; then
            failures=$((failures + 1))
            [ -e "$work/uml/ended" ] || tail -20 "$work/uml/log"
        fi
    fi
fi
[ $failures = 0 ] || {
    echo "homes: FAILED"
    exit 1
}
echo "homes: nothing was lost"
