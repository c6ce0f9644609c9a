"""Reads property lists with plistlib, or with the library that the argument names, says what they hold, and writes them again.

Standard input: blobs, each behind its length in 8 bytes. Standard output, of each: a form that tells values apart, then the list as
the library writes it in XML and in binary (empty if it cannot), each behind its length. The C interface of libplist writes nothing, and
reads one value under the key "k".
"""
import ctypes
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


def plistlib_reading(data):
    value = plistlib.loads(data)
    return form(value), dumps(value, plistlib.FMT_XML), dumps(value, plistlib.FMT_BINARY)


def biplist_reading(data):
    import biplist

    value = biplist.readPlistFromString(data)
    return form(value), b"", biplist.writePlistToString(value)


def libplist_reading(data):
    library = ctypes.CDLL("libplist-2.0.so.3")
    library.plist_dict_get_item.restype = ctypes.c_void_p
    root, text, number = ctypes.c_void_p(), ctypes.c_char_p(), ctypes.c_uint64()
    seconds, microseconds = ctypes.c_int32(), ctypes.c_int32()
    library.plist_from_memory(data, len(data), ctypes.byref(root))
    node = ctypes.c_void_p(library.plist_dict_get_item(root, b"k"))
    kind = library.plist_get_node_type(node)
    if kind == 1:
        library.plist_get_uint_val(node, ctypes.byref(number))
        return "i%d" % number.value, b"", b""
    if kind == 3:
        library.plist_get_string_val(node, ctypes.byref(text))
        return form(text.value.decode("utf-8")), b"", b""
    if kind == 6:
        library.plist_get_date_val(node, ctypes.byref(seconds), ctypes.byref(microseconds))
        return "t%d.%06d" % (seconds.value, microseconds.value), b"", b""
    raise TypeError(kind)


READINGS = {"plistlib": plistlib_reading, "biplist": biplist_reading, "libplist": libplist_reading}
reading = READINGS[(sys.argv + ["plistlib"])[1]]


def write(data):
    sys.stdout.buffer.write(struct.pack(">q", len(data)) + data)


while True:
    head = sys.stdin.buffer.read(8)
    if not head:
        break
    data = sys.stdin.buffer.read(struct.unpack(">q", head)[0])
    try:
        text, xml, binary = reading(data)
        write(text.encode())
        write(xml)
        write(binary)
    except Exception as error:  # Whatever it cannot read.
        write(("error: %s: %s" % (type(error).__name__, error)).encode())
        write(b"")
        write(b"")
