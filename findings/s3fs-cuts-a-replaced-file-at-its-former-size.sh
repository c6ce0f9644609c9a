#!/usr/bin/env bash
# s3fs 1.90 (Debian 12, FUSE), a bucket that is mounted twice: a program that has looked at its settings file less than a second ago, and opens it
# after another client has replaced it by a longer one, reads the new text, cut at the size of the old one. The kernel keeps the size for a
# second, and s3fs gives the new bytes. One would expect the old text or the new one, as an object of S3 is replaced as a whole. The
# program finds "a typing error" that nobody has made, or, in a format of lines, settings that are missing. A second later the file is right.
# Needs /dev/fuse, fusermount and python3 with pip (moto 5.1.5 is the server); Debian 12 only; takes a minute.
# usage: findings/s3fs-cuts-a-replaced-file-at-its-former-size.sh
set -euo pipefail
folder="$(mktemp -d)"
server=
end() {
    for mount in one two; do fusermount -u "$folder/$mount" 2>/dev/null || true; done
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT
for tool in fusermount python3 dpkg-deb apt-get; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 0; }
done
[ -w /dev/fuse ] || { echo "skipped: /dev/fuse is not there"; exit 0; }
(cd "$folder" && apt-get download s3fs=1.90* libfuse2 libcurl3-gnutls libxml2 libicu72 libnghttp2-14 librtmp1 libssh2-1 libpsl5 libldap-2.5-0 libsasl2-2 \
    >/dev/null 2>&1) || { echo "skipped: s3fs 1.90 cannot be installed"; exit 0; }
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$folder/package"; done
python3 -m pip install -q --target "$folder/packages" 'moto[server]==5.1.5' >/dev/null 2>&1 || { echo "skipped: moto 5.1.5 cannot be installed"; exit 0; }
export PYTHONPATH="$folder/packages" AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any AWS_DEFAULT_REGION=us-east-1
machine="$(uname -m)-linux-gnu"
libraries="$folder/package/usr/lib/$machine:$folder/package/lib/$machine"
port="$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')"
python3 -c 'import sys; from moto.server import main; main(sys.argv[1:])' -H 127.0.0.1 -p "$port" >"$folder/log" 2>&1 &
server=$!
python3 - "$port" <<'PYTHON'
import boto3, sys, time

for _ in range(60):
    try:
        boto3.client("s3", endpoint_url="http://127.0.0.1:" + sys.argv[1]).create_bucket(Bucket="settings")
        break
    except Exception:
        time.sleep(0.5)
PYTHON
for mount in one two; do
    mkdir "$folder/$mount"
    LD_LIBRARY_PATH="$libraries" AWSACCESSKEYID=any AWSSECRETACCESSKEY=any "$folder/package/usr/bin/s3fs" settings "$folder/$mount" \
        -o "url=http://127.0.0.1:$port,use_path_request_style"
done
python3 - "$folder/one/settings.json" "$folder/two/settings.json" <<'PYTHON'
import os, sys, time

one, two = sys.argv[1:]

def save(text):
    with open(one + ".new", "w") as file:
        file.write(text)
    os.rename(one + ".new", one)

def read():
    with open(two) as file:
        return file.read()

old, new = '{"size": 14}', '{"size": 14, "theme": "dark"}'
save(old)
time.sleep(2)
before, size = read(), os.stat(two).st_size
save(new)
at_once = read()
time.sleep(2)
later = read()
print(f"before: {before}\nat once: {at_once}\n2 s later: {later}")
sys.exit(not (before == old and size == len(old) and at_once == new[:len(old)] and later == new))
PYTHON
