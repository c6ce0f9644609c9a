public import Foundation
import PrefsFileEngine
import PrefsPropertyLists

extension PrefsStore {
    /// What a completed write survives.
    public enum Durability: Sendable, Hashable {
        /// A power cut: the file and its folder are flushed to the medium. The default.
        case powerCut
        /// A crash or a kill of the program at any moment, but not a power cut, which may undo the write or damage the
        /// file.
        case crash
    }

    /// Creates a store on one property-list file, which need not exist. Reads and writes nothing.
    ///
    /// Use it when you want to choose the file yourself, for example in a command-line tool:
    ///
    /// ```swift
    /// // ToolPrefs is a subclass of PersistentPrefs.
    /// let prefs = ToolPrefs(store: .propertyList(url: folder.appending(path: "settings.plist")))
    /// ```
    ///
    /// ## Behavior
    /// Writes are atomic and durable: when a write returns, the new state survives a crash and a power cut (see
    /// ``Durability``). Several processes may use the same file. Entries of other programs are preserved. A read creates,
    /// renames, changes and removes nothing.
    ///
    /// The first write creates the file with mode 0600, and its folder with mode 0700. A write keeps the format, mode,
    /// owner, group, access control list and extended attributes of an existing file, or is rejected. A symbolic link is
    /// followed if root or the caller owns it, or if its owner also owns the target.
    ///
    /// Two more files are beside it. `.NAME.lock` is the lock file of writers. `.NAME.lastgood` is the last good copy. If
    /// another program damages the file, reads return the last known state, and the next write quarantines the file as
    /// `NAME.corrupt-…`. The store never replaces a malformed file without a last good copy. See <doc:Behavior> for
    /// missing, damaged and foreign files, and <doc:FilesThatPeopleEdit> for formats.
    ///
    /// ## Performance
    /// A read costs one `fstat` if the file has not changed. A write replaces the file and, with the default
    /// ``Durability``, flushes it and its folder. It also writes the last good copy, without a flush. The store keeps the
    /// file open, and after a write its folder. A read does not notice that a folder above the file was replaced by another
    /// one; the next write does.
    ///
    /// ## Errors
    /// ``PrefsError/unreadable(_:)`` if the file cannot be read, ``PrefsError/damaged(_:)`` if it is damaged,
    /// ``PrefsError/notOurs(_:)`` if it is a malformed file of another program, ``PrefsError/notStored(_:)`` if a write
    /// fails. If there is no room for the last good copy, the write succeeds without one.
    ///
    /// ## Threads
    /// Any thread. All stores on one file in a process share one cache and commit together.
    ///
    /// A process that is suspended inside an update blocks other writers; readers continue. On Linux, a child that was
    /// forked in a process with threads can read and write if its parent has done so before; it cannot observe, and with
    /// several threads it may hang in the runtime of Swift. On Apple platforms, a forked child must call `exec` first. A
    /// process that forks inside an update shares its lock with the child, and the child's own commit of that update is
    /// rejected. If the parent is killed inside the update, the child holds the lock until it ends or calls `exec`.
    ///
    /// - Parameters:
    ///   - url: a file URL. Any other URL makes every access fail with ``PrefsError/invalidName(name:reason:)``.
    ///   - format: the format of the file if a write creates it. An existing file keeps its format.
    ///   - durability: the durability of this store's writes.
    ///   - layout: whether the file has a dictionary under each root key (the default, as in a domain of
    ///     `UserDefaults`), or the values as entries.
    ///   - protection: the protection class that the next write gives to the file and to the files that it creates
    ///     beside it. nil keeps the class of an existing file, and leaves the class of a new file to the system. If two
    ///     stores on one file have different classes, the store that was first used later decides.
    public static func propertyList(
        url: URL, format: FileFormat = .binary, durability: Durability = .powerCut, layout: DomainLayout = .roots,
        protection: FileProtection? = nil
    ) -> PrefsStore {
        file(.success(url), format: format, durability: durability, layout: layout, protection: protection)
    }

    /// Creates a store on `config.plist` in the configuration folder of a program. Reads and writes nothing.
    ///
    /// The folder is `$XDG_CONFIG_HOME/PROGRAM` if the variable is an absolute path, otherwise `$HOME/.config/PROGRAM`; on
    /// Apple platforms `PROGRAM` in Application Support. The variables count as they were when the process started, as
    /// for `UserDefaults`. The first write creates the folder.
    ///
    /// The program is a file name, such as `mytool`. Any other name, or a missing home folder, makes every access fail
    /// with ``PrefsError/invalidName(name:reason:)`` or ``PrefsError/unreadable(_:)``, and ``url`` is nil. The other
    /// parameters are those of a store on a URL.
    public static func propertyList(
        program: String, format: FileFormat = .binary, durability: Durability = .powerCut,
        layout: DomainLayout = .roots, protection: FileProtection? = nil
    ) -> PrefsStore {
        file(
            named: "config.plist", ofProgram: program, format: format, durability: durability, layout: layout,
            protection: protection)
    }

    /// Creates a store over system calls, which a test may make fail.
    package static func propertyList(
        url: URL, format: FileFormat = .binary, durability: Durability = .powerCut, layout: DomainLayout = .roots,
        protection: FileProtection? = nil, quarantinesMistakes: Bool? = nil, system: SystemCalls
    ) -> PrefsStore {
        file(
            .success(url), format: format, durability: durability, layout: layout, protection: protection,
            quarantinesMistakes: quarantinesMistakes, system: system)
    }

    /// Creates a store on a file in the configuration folder of a program.
    package static func file(
        named name: String, ofProgram program: String, format: FileFormat, durability: Durability,
        layout: DomainLayout, protection: FileProtection?, quarantinesMistakes: Bool? = nil
    ) -> PrefsStore {
        file(
            Result { () throws(PrefsError) in try NameVetting.url(ofFile: name, ofProgram: program) }, format: format,
            durability: durability, layout: layout, protection: protection, quarantinesMistakes: quarantinesMistakes)
    }

    /// Creates a store on a file of any format.
    ///
    /// - Parameter url: the URL, or why the store cannot be reached.
    package static func file(
        _ url: Result<URL, PrefsError>, format: FileFormat, durability: Durability, layout: DomainLayout,
        protection: FileProtection?, quarantinesMistakes: Bool? = nil, system: SystemCalls = .real
    ) -> PrefsStore {
        do {
            let file = FileLocation(path: try NameVetting.path(of: url.get()), system: system) {
                $0.formatOfNewFile = format
                if let quarantinesMistakes { $0.quarantinesMistakes = quarantinesMistakes }
                if let protection { $0.protection = protection }
            }
            return PrefsStore(
                Roots(file, layout: layout, durability: durability == .powerCut ? .powerCut : .process))
        } catch {
            return PrefsStore(Roots(unreachable: error, layout: layout))
        }
    }
}
