"""Reads property lists with plistlib, says what they hold, and writes them again.

Standard input: blobs, each behind its length in 8 bytes. Standard output, of each: a form that tells values apart, then the list as
plistlib writes it in XML and in binary (empty if it cannot), each behind its length.
"""
import plistlib
import struct
import sys
from datetime import datetime

REFERENCE = datetime(2001, 1, 1)


def form(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "i%d" % value
    if isinstance(value, float):
        return "nan" if value != value else "f" + struct.pack(">d", value).hex()
    if isinstance(value, str):
        return "s" + value.encode("utf-8").hex()
    if isinstance(value, (bytes, bytearray)):
        return "d" + bytes(value).hex()
    if isinstance(value, datetime):
        span = value - REFERENCE
        return "t%d.%06d" % (span.days * 86400 + span.seconds, span.microseconds)
    if isinstance(value, plistlib.UID):
        return "u%d" % value.data
    if isinstance(value, list):
        return "[" + ",".join(form(element) for element in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(sorted(form(key) + ":" + form(entry) for key, entry in value.items())) + "}"
    raise TypeError(type(value))


def dumps(value, kind):
    try:
        return plistlib.dumps(value, fmt=kind, sort_keys=False)
    except (TypeError, ValueError, OverflowError):
        return b""


def write(data):
    sys.stdout.buffer.write(struct.pack(">q", len(data)) + data)


while True:
    head = sys.stdin.buffer.read(8)
    if not head:
        break
    data = sys.stdin.buffer.read(struct.unpack(">q", head)[0])
    try:
        value = plistlib.loads(data)
        write(form(value).encode())
        write(dumps(value, plistlib.FMT_XML))
        write(dumps(value, plistlib.FMT_BINARY))
    except Exception as error:  # Whatever it cannot read.
        write(("error: %s: %s" % (type(error).__name__, error)).encode())
        write(b"")
        write(b"")
