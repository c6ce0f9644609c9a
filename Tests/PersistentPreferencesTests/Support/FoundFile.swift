import Foundation
import PropertyListSupport
import TestSupport

@testable import PrefsJSON
@testable import PrefsPropertyLists

/// A file that a read may find, whole or damaged, with the files beside it.
enum FoundFile {
    /// The contents of the file.
    enum Content: String, CaseIterable {
        case missing, empty, text, json, cutJSON, typoInJSON, openStep, html, arrayOnTop, cutXML, typo, cutBinary,
            zeros, unsupported,
            tooDeep, whole, twins

        var bytes: Data? {
            switch self {
            case .missing: nil
            case .empty: Data()
            case .text: Data("my notes\n".utf8)
            case .json: Data("{\"AnyPrefs\": {\"a\": 1}}".utf8)
            case .cutJSON: Data("{\"AnyPrefs\": {\"a\": 1".utf8)
            case .typoInJSON: Data("{\n  \"AnyPrefs\": {\"a\": 1,}\n}\n".utf8)
            case .openStep: Data("{ AnyPrefs = { a = 1; }; }".utf8)
            case .html: Data("<html><body/></html>".utf8)
            case .arrayOnTop: Data("<plist><array><string>x</string></array></plist>".utf8)
            case .cutXML: Data("<?xml version=\"1.0\"?><plist><dict><key>AnyPrefs</key>".utf8)
            case .typo: Data("<plist><dict>\n<key>AnyPrefs</key><dic/>\n</dict></plist>".utf8)
            case .cutBinary: Data("bplist00".utf8)
            case .zeros: Data(count: 4_096)
            case .unsupported: Data([0xFF, 0xFE, 0, 0, 0x3C, 0, 0, 0])
            case .tooDeep: Data(("<plist>" + String(repeating: "<array>", count: 200)).utf8)
            case .whole:
                Data(
                    "<plist><dict><key>AnyPrefs</key><dict><key>a</key><integer>1</integer></dict></dict></plist>".utf8)
            case .twins: Data("<plist><dict><key>\u{E9}</key><true/><key>e\u{301}</key><true/></dict></plist>".utf8)
            }
        }
    }

    /// The files beside it.
    enum Neighbors: CaseIterable {
        case none, goodCopy, damagedCopy, goodCopyAndLeftovers
    }

    /// Makes the file, or a link to it, and the files beside it. Unless they are young, they are so old that a read
    /// does not wait for the rest of a file that seems to be cut off.
    static func put(
        _ content: Content, _ neighbors: Neighbors, _ isLinked: Bool, isYoung: Bool = false, in folder: TemporaryFolder
    ) throws -> URL {
        let name = isLinked ? "target" : "test.plist"
        try content.bytes?.write(to: folder.file(name))
        if isLinked {
            try FileManager.default.createSymbolicLink(atPath: folder.file().path, withDestinationPath: "target")
        }
        let good = try PropertyListCoder.encode(plain: ["AnyPrefs": ["a": 7]], as: .binary)
        switch neighbors {
        case .none: break
        case .goodCopy: try good.write(to: folder.file(".\(name).lastgood"))
        case .damagedCopy: try good.dropLast().write(to: folder.file(".\(name).lastgood"))
        case .goodCopyAndLeftovers:
            try good.write(to: folder.file(".\(name).lastgood"))
            try Data("half".utf8).write(to: folder.file(".\(name).tmp"))
            try Data().write(to: folder.file(".\(name).lock"))
        }
        for name in try isYoung ? [] : folder.names() where name != "test.plist" || !isLinked {
            try folder.file(name).setModified(secondsFromNow: -60)
        }
        return folder.file()
    }
}
