public import Foundation
public import PersistentPreferences

extension PrefsStore {
    /// What a write does with a file that a person has left malformed. Reads return the last known state, with the error,
    /// in both cases.
    public enum MalformedRule: Sendable, Hashable {
        /// The write is rejected with ``PrefsError/damaged(_:)``, which has line and column. The default. What only a
        /// machine does, such as bytes with NUL or the first half of what the program has written, is quarantined.
        case reject
        /// The write quarantines the file and starts from the last known state, as in a property-list file.
        case quarantine
    }

    /// Creates a store on one JSON file, for files that people edit and keep in version control. The file need not exist.
    /// Reads and writes nothing.
    ///
    /// ```swift
    /// import PrefsJSON
    ///
    /// override class var store: PrefsStore { .json(url: URL(filePath: "/etc/server/config.json")) }
    /// ```
    ///
    /// ## Behavior
    /// The file is read and written as by ``propertyList(url:format:durability:layout:protection:)``: locked, atomic,
    /// durable, with a last good copy. But a file that a person has left malformed stays where it is, until it is
    /// corrected; see ``MalformedRule``. `FileFormat.json` has the form. An existing file may also be a property list,
    /// and keeps its format. In JSON, a Date may be ISO 8601 text or seconds since 2001, and Data base64 text or an
    /// array of bytes. A write changes the text of the values that it changes, and nothing else. See
    /// <doc:FilesThatPeopleEdit>.
    ///
    /// ## Performance
    /// As for a property list; text takes more time than a binary file.
    ///
    /// ## Errors
    /// As for a property list. The error of a malformed file has the line and the column.
    ///
    /// ## Threads
    /// Any thread. All stores on one file in a process share one cache and commit together.
    ///
    /// - Parameters:
    ///   - url: a file URL. Any other URL makes every access fail with ``PrefsError/invalidName(name:reason:)``.
    ///   - durability: the durability of this store's writes.
    ///   - layout: whether the file has the values as entries (the default), or a dictionary under each root key.
    ///   - protection: as for a property list.
    ///   - malformed: what a write does with a file that a person has left malformed. If the stores on the file
    ///     differ, `reject` holds.
    public static func json(
        url: URL, durability: Durability = .powerCut, layout: DomainLayout = .flat, protection: FileProtection? = nil,
        malformed: MalformedRule = .reject
    ) -> PrefsStore {
        file(
            .success(url), format: .json, durability: durability, layout: layout, protection: protection,
            quarantinesMistakes: malformed == .quarantine)
    }

    /// Creates a store on `config.json` in the configuration folder of a program, which
    /// ``propertyList(program:format:durability:layout:protection:)`` describes. The other parameters are those of a store
    /// on a URL. Reads and writes nothing.
    ///
    /// ```swift
    /// import PrefsJSON
    ///
    /// override class var store: PrefsStore { .json(program: "mytool") }  // ~/.config/mytool/config.json
    /// ```
    public static func json(
        program: String, durability: Durability = .powerCut, layout: DomainLayout = .flat,
        protection: FileProtection? = nil, malformed: MalformedRule = .reject
    ) -> PrefsStore {
        file(
            named: "config.json", ofProgram: program, format: .json, durability: durability, layout: layout,
            protection: protection, quarantinesMistakes: malformed == .quarantine)
    }
}
