"""Prints what a library stores, one line for each value: of biplist, or of libplist from C, whose file is the second argument."""
import ctypes, plistlib, sys


def biplist():
    import biplist

    for values in ([0.0, -0.0], [-0.0]):
        print(plistlib.loads(biplist.writePlistToString(values)))


def libplist(path):
    library = ctypes.CDLL(path)
    node, text = ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p)
    library.plist_new_real.restype, library.plist_new_real.argtypes = node, [ctypes.c_double]
    library.plist_new_date.restype, library.plist_new_date.argtypes = node, [ctypes.c_int32, ctypes.c_int32]
    library.plist_to_xml.argtypes = [node, text, ctypes.POINTER(ctypes.c_uint32)]
    # The seconds of a date have 32 bits: this is the last one.
    for value in library.plist_new_real(-0.0), library.plist_new_date(2**31 - 1, 0):
        xml, size = ctypes.c_char_p(), ctypes.c_uint32()
        library.plist_to_xml(value, ctypes.byref(xml), ctypes.byref(size))
        print(next(line for line in xml.value.decode().split("\n") if "<real>" in line or "<date>" in line))


if sys.argv[1] == "biplist":
    biplist()
else:
    libplist(sys.argv[2])
