"""Writes a property list for each value, and compares what the libraries read under its key k. Called by readers.sh.

usage: readers.py FOLDER [LIBRARY=COMMAND …]
"""
import datetime, plistlib, shlex, subprocess, sys

folder, *named = sys.argv[1:]
LARGE, OLD = 2**63, datetime.datetime(1500, 1, 1)
# The library, the format, the value or its XML, and what is read; a "!" means everything but that. What is written is no file.
ROWS = [
    ("dd-plist", "binary", 2**63 - 1, "integer 9223372036854775807"),
    ("dd-plist", "binary", LARGE, "integer -9223372036854775808"),
    ("dd-plist", "XML", LARGE, "real 9.223372036854776E18"),
    ("dd-plist", "XML", "<real>nan</real>", "refused"),
    ("dd-plist", "XML", "<real>+infinity</real>", "refused"),
    ("dd-plist", "XML", datetime.datetime(1583, 1, 1), "date -12212553600"),
    ("dd-plist", "XML", OLD, "!date -14831769600"),
    ("dd-plist", "written", "a second before the year 1", "date of the year 0001"),
    ("crate", "binary", plistlib.UID(1), "Some(Uid(1))"),
    ("crate", "XML", "<dict><key>CF$UID</key><integer>1</integer></dict>", 'Some(Dictionary({"CF$UID": Integer(1)}))'),
    ("crate", "written", "half a second after 1970", "<date>1970-01-01T00:00:00.5Z</date>"),
    ("commons-configuration2", "XML", "<real>1.5</real>", "BigDecimal 1.5"),
    ("commons-configuration2", "XML", "<real>nan</real>", "refused"),
    ("commons-configuration2", "XML", "<real>+infinity</real>", "refused"),
    ("commons-configuration2", "XML", "<integer>0x10</integer>", "refused"),
    ("commons-configuration2", "XML", datetime.datetime(2026, 1, 1), "date 1767225600"),
    ("commons-configuration2", "XML", "<date>2026-01-01T00:00:00.5Z</date>", "!date 1767225600"),
    ("XML", "XML", "text", "character text"),
    ("XML", "XML", 1.5, "NULL"),
    ("XML", "XML", datetime.datetime(2026, 1, 1), "!date 1767225600"),
    ("XML", "XML", b"\1\2\3", "character AQID"),
    ("bplist", "binary", 5, "5"),
    ("bplist", "binary", -5, "18446744073709551611"),
    ("bplist", "binary", 1.5, "(8, 1.5)"),
    ("bplist", "binary", "text", "b'text'"),
    ("bplist-parser", "binary", 2**31, "number -2147483648"),
    ("plist", "XML", "<real>+infinity</real>", "number NaN"),
    ("plist", "XML", "<string>a\u2028b\u0085c</string>", 'string "a\\nb\\nc"'),
    ("libplist", "written", "-0.0", "<real>0.0</real>"),
    ("libplist", "written", "the last date", "<date>2069-01-19T03:14:07Z</date>"),
    ("biplist", "written", "0.0 and -0.0", "[0.0, 0.0]"),
    ("biplist", "written", "-0.0 after that", "[0.0]"),
    ("GNUstep", "written", "a number of 17 digits, in XML", "<real>0.1234567890123457</real>"),
    ("GNUstep", "written", "a character above U+FFFF, in XML", "<string>\\UD83D\\UDE00</string>"),
    ("GNUstep", "written", "0.0 and -0.0, in binary", "0 0"),
    ("GNUstep", "written", "NaN, in binary", "refused"),
]


def data(format, value):
    if format == "binary":
        return plistlib.dumps({"k": value}, fmt=plistlib.FMT_BINARY)
    if isinstance(value, str) and value.startswith("<"):
        return plistlib.dumps({"k": "VALUE"}).replace(b"<string>VALUE</string>", value.encode())
    return plistlib.dumps({"k": value})


failed = 0
for library, command in (each.split("=", 1) for each in named):
    rows = [row for row in ROWS if row[0] == library]
    paths = []
    for number, (_, format, value, _) in enumerate(rows):
        if format == "written":
            paths.append("--write")
            continue
        paths.append(f"{folder}/{number}.plist")
        with open(paths[-1], "wb") as file:
            file.write(data(format, value))
    done = subprocess.run([*shlex.split(command), *paths], capture_output=True, text=True, timeout=120)
    found = [line.strip() for line in done.stdout.splitlines() if line.strip()][-len(rows):]
    if len(found) != len(rows):
        sys.exit(f"readers: {library} has not run: {done.returncode} {(done.stdout + done.stderr)[-500:]}")
    for (_, format, value, expected), text in zip(rows, found):
        isExpected = text != expected[1:] if expected.startswith("!") else text == expected
        failed += not isExpected
        print(f"{library}, {format}, {value!r}: {text}" + ("" if isExpected else f"; EXPECTED {expected}"))
sys.exit(failed > 0)
