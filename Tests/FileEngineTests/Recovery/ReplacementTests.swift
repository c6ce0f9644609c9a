import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Replacements of a file that is not ours, as a person has asked for, one inside of another.
@Suite final class ReplacementTests: FolderSuite {
    private static let text = Data("<plist><dict><key>a</dict></plist>".utf8)

    /// What a write to the file has stored; nil if the file is unchanged.
    private func stored(
        _ replacing: (FileLocation, _ write: () -> Void) throws -> Void
    ) throws -> [String: Int]? {
        let path = folder.file("\(UUID()).plist").path
        try Self.text.write(to: URL(filePath: path))
        let prefs = FileRoot(path, format: .plainXML)
        #expect(prefs.ints == [:] && prefs.outcome.hasPrefix("not ours: "), "\(prefs.outcome)")
        try replacing(prefs.location) { prefs["a"] = 1 }
        return try Data(contentsOf: URL(filePath: path)) == Self.text ? nil : FileRoot(path).ints
    }

    @Test func anInnerReplacementEndsNoOuterOne() throws {
        let inOuter = try stored { location, write in
            try location.replacingMalformedFile(isForeign: true) {
                for _ in 0..<2 { try location.replacingMalformedFile(isForeign: true) {} }
                write()
            }
        }
        #expect(inOuter == ["a": 1])
        let inInner = try stored { location, write in
            try location.replacingMalformedFile(isForeign: true) {
                try location.replacingMalformedFile(isForeign: true) { write() }
            }
        }
        #expect(inInner == ["a": 1])
        let after = try stored { location, write in
            try location.replacingMalformedFile(isForeign: true) {
                try location.replacingMalformedFile(isForeign: true) {}
            }
            write()
        }
        #expect(after == nil)
    }

    /// A replacement of a person's mistake does not become one of a foreign file.
    @Test func aReplacementOfMistakesReplacesNoForeignFile() throws {
        let stored = try stored { location, write in
            try location.replacingMalformedFile {
                try location.replacingMalformedFile(isForeign: true) {}
                write()
            }
        }
        #expect(stored == nil)
    }
}
