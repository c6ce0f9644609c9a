import Foundation
import TestSupport

/// Reads files with Python's plistlib.
enum Plistlib {
    static let isThere = Hazard.canRun(
        "comparison with plistlib", if: (try? text("")) == "no file", else: "no python3 with plistlib")

    private static let script = """
        import os, plistlib, sys
        def text(v):
            if isinstance(v, dict): return "{" + ",".join(k + "=" + text(v[k]) for k in sorted(v)) + "}"
            if isinstance(v, list): return "[" + ",".join(map(text, v)) + "]"
            if isinstance(v, bytes): return "<" + v.hex() + ">"
            if isinstance(v, str): return "'" + v + "'"
            return str(v)
        path = sys.argv[1]
        print(text(plistlib.load(open(path, "rb"))) if os.path.exists(path) else "no file")
        """

    /// Strings in single quotes, numbers, Booleans and dates as Python prints them, data in hexadecimal digits.
    static func text(_ file: String) throws -> String {
        let child = try Child(URL(filePath: "/usr/bin/env"), ["python3", "-c", script, file], environment: [:])
        return try child.wait().output.trimmingCharacters(in: .newlines)
    }
}
