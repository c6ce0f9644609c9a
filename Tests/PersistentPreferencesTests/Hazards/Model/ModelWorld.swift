@testable import PrefsSupport

/// The place of values.
enum ModelPlace: String, CaseIterable {
    case binary, xml, process, memory, foreign

    static let files: [ModelPlace] = [.binary, .xml, .process]

    var isFile: Bool { Self.files.contains(self) }
    var fileName: String { "\(rawValue).plist" }
}

/// The stores of a sequence. Three of them use one file: one through a symbolic link, and one with a lower durability.
enum ModelStore: String, CaseIterable {
    case binary, link, hasty, xml, process, memory, foreign

    /// The place of the store at the beginning of a sequence.
    var place: ModelPlace { ModelPlace(rawValue: rawValue) ?? .binary }
}

/// The instances at the beginning of a sequence.
struct ModelWorld {
    struct Prefs {
        let store: ModelStore
        let key: String
        let allowed: [String]
    }

    let prefs: [Prefs]
    /// Whether the clock is far ahead, so that no read compares bytes again.
    let isClockAhead: Bool

    static let roots = ["R", "S", "a/../b \u{E9}"]
    static let badRoots = ["", "a\0b", "\u{FEFF}R", String(repeating: "x", count: 1_025)]
    static let keys = ["a", "b", "c", "", "\u{E9}", "n\0l", "\u{FEFF}m", "<&>\"' ]]>"]
}
