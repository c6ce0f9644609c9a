import Foundation
import TestSupport

@testable import PersistentPreferences
@testable import PrefsFileEngine
import PrefsJSON

/// The base class of suites whose tests have a folder of their own.
class FolderSuite {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The settings file of a tool.
    var url: URL { folder.file("tool.json") }

    func put(_ text: String) throws { try Data(text.utf8).write(to: url) }

    /// The text of the settings file, with its byte-order mark.
    func text() throws -> String { try String(decoding: Data(contentsOf: url), as: UTF8.self) }
}

extension PersistentPrefs {
    /// The export in JSON, or the error.
    var exportedText: String {
        exported(as: .json).map { String(decoding: $0, as: UTF8.self) } ?? lastError?.description ?? "nil"
    }
}

extension PrefsError? {
    /// The name of the case.
    var kind: String? { map { Mirror(reflecting: $0).children.first?.label ?? "\($0)" } }

    /// The file that is damaged, quarantined or of another program.
    var file: MalformedFile? {
        switch self {
        case .damaged(let file), .quarantined(let file), .notOurs(let file): file
        default: nil
        }
    }
}
