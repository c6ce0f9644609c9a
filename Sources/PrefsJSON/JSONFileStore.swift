public import Foundation
public import PersistentPreferences

/// A store that keeps its roots in one JSON file, for files that people edit and keep in version control.
///
/// ```swift
/// import PrefsJSON
///
/// static let file = JSONFileStore(url: URL(filePath: "/etc/server/config.json"))
/// override class var store: any PrefsStore { file }
/// ```
///
/// ## Behavior
/// The file is read and written as by ``PropertyListFileStore``: locked, atomic, durable, with a last good copy. But a
/// file that a person has left malformed stays where it is, until it is corrected; see ``MalformedRule``.
/// `FileFormat.json` has the form. An existing file may also be a property list, and keeps its format. In JSON, a Date
/// may be ISO 8601 text or seconds since 2001, and Data base64 text or an array of bytes. A write changes the text of the
/// values that it changes, and nothing else. See <doc:FilesThatPeopleEdit>.
///
/// ## Performance
/// As ``PropertyListFileStore``; text takes more time than a binary property list.
///
/// ## Errors
/// As ``PropertyListFileStore``. The error of a malformed file has the line and the column.
///
/// ## Threads
/// Any thread. All stores on one file in a process share one cache and commit together.
public final class JSONFileStore: RootsStore {
    /// What a write does with a file that a person has left malformed. Reads return the last known state, with the error,
    /// in both cases.
    public enum MalformedRule: Sendable, Hashable {
        /// The write is rejected with ``PrefsError/damaged(_:)``, which has line and column. The default. What only a
        /// machine does, such as bytes with NUL or the first half of what the program has written, is quarantined.
        case reject
        /// The write quarantines the file and starts from the last known state, as in a ``PropertyListFileStore``.
        case quarantine
    }

    /// The file, as passed to the initializer.
    public let url: URL
    package let ownRoots: Roots

    /// Creates a store on a file, which need not exist. Reads and writes nothing.
    ///
    /// - Parameters:
    ///   - url: a file URL. Any other URL makes every access fail with ``PrefsError/invalidName(name:reason:)``.
    ///   - durability: the durability of this store's writes.
    ///   - layout: whether the file has the values as entries (the default), or a dictionary under each root key.
    ///   - protection: as for ``PropertyListFileStore``.
    ///   - malformed: what a write does with a file that a person has left malformed. If the stores on the file
    ///     differ, `reject` holds.
    public convenience init(
        url: URL, durability: PropertyListFileStore.Durability = .powerCut, layout: DomainLayout = .flat,
        protection: FileProtection? = nil, malformed: MalformedRule = .reject
    ) {
        self.init(
            PropertyListFileStore(
                .success(url), format: .json, durability: durability, layout: layout, protection: protection,
                quarantinesMistakes: malformed == .quarantine))
    }

    /// Creates a store on `config.json` in the configuration folder of a program, which
    /// ``PropertyListFileStore/init(program:format:durability:layout:protection:)`` describes. The other parameters are
    /// those of a store on a URL. Reads and writes nothing.
    ///
    /// ```swift
    /// import PrefsJSON
    ///
    /// static let file = JSONFileStore(program: "mytool")  // ~/.config/mytool/config.json
    /// override class var store: any PrefsStore { file }
    /// ```
    public convenience init(
        program: String, durability: PropertyListFileStore.Durability = .powerCut, layout: DomainLayout = .flat,
        protection: FileProtection? = nil, malformed: MalformedRule = .reject
    ) {
        self.init(
            PropertyListFileStore(
                Result { () throws(PrefsError) in try NameVetting.url(ofFile: "config.json", ofProgram: program) },
                format: .json, durability: durability, layout: layout, protection: protection,
                quarantinesMistakes: malformed == .quarantine))
    }

    private init(_ store: PropertyListFileStore) {
        (url, ownRoots) = (store.url, store.ownRoots)
    }
}
