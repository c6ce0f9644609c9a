"""Prints what the package bplist reads under the key k of each file."""
import sys
from bplist.bplist import BPListReader

for path in sys.argv[1:]:
    try:
        with open(path, "rb") as file:
            values = BPListReader(file.read()).parse()
        print(repr(values.get("k", values.get(b"k"))))
    except Exception:
        print("refused")
