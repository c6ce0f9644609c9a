import Foundation
package import PrefsPropertyLists

/// A path that a user gave, and the file that it leads to now.
///
/// What the process knows belongs to the path, not to the file. Example: `current` is a link to `release-1`, and then
/// to `release-2`, whose file cannot be read. Reads of `current/config.plist` then return the last state of
/// `release-1`. Writes are rejected, because the state of one release must not be written into the next.
package final class FileLocation {
    package let path: String
    let system: SystemCalls
    private let topLevel: TopLevel
    private let configure: @Sendable (inout FileRules) -> Void
    private let place = Locked(Place())

    private struct Place {
        var file: PropertyListFile? {
            didSet { state = file?.cache.state }
        }
        /// The state of the file: an object that others refer to weakly, as to the file, costs more to retain.
        private(set) var state: Locked<FileCache.State>?
        /// Whether the path must be resolved again.
        var isStale = true
        /// Whether the path contains a link.
        var hasLinks = false
        /// The file that the path led to before, if the process knows its state. nil once the current file was read.
        var previousTarget: PropertyListFile?
        /// When a link on the path was last made anew, as its file system says; nil if there is none.
        var moved: FileStatus.Time?

        /// Whether the file is the one of the path until a read finds another: the path contains no link, need not be
        /// resolved, and has no former file.
        private var isPlain: Bool { !isStale && !hasLinks && previousTarget == nil }

        var plain: PropertyListFile? { isPlain ? file : nil }

        /// The last known state of the file or, if the file could not be read, of the one to which the path led before.
        var known: FileState? {
            let cache = file?.cache
            if let former = previousTarget?.cache.known, cache?.known == nil || cache?.newest?.fault != nil {
                return former
            }
            return cache?.known
        }

        /// The state that reads return, if the file has not changed since it was read and there is nothing to report.
        var cachedWithoutReport: FileState? {
            isPlain ? state?.withLock { $0.warning == nil && $0.newest?.fault == nil ? $0.newest : nil } : nil
        }
    }

    /// - Parameters:
    ///   - path: absolute.
    ///   - configure: called with the rules of the file after each resolution of the path.
    package init(
        path: String, holds topLevel: TopLevel = .domain, system: SystemCalls = .real,
        configure: @escaping @Sendable (inout FileRules) -> Void = { _ in }
    ) {
        self.path = path
        self.topLevel = topLevel
        self.system = system
        self.configure = configure
    }

    /// Whether the path contained a link when it was last resolved.
    var hasLinks: Bool { place.withLock { $0.hasLinks } }

    /// Runs the closure with the file at the path. If the closure finds that the path leads elsewhere, resolves the
    /// path and runs the closure again (`Attempts`).
    package func withFile<R>(_ body: (PropertyListFile) throws -> R) throws -> R {
        try withPlace { file, _ in try body(file) }
    }

    private func withPlace<R>(_ body: (PropertyListFile, _ previousTarget: PropertyListFile?) throws -> R) throws -> R {
        for _ in Attempts.all {
            do {
                let (file, previousTarget) = try current()
                return try body(file, previousTarget)
            } catch FileError.pathChanged {
                place.withLock { $0.isStale = true }
            }
        }
        throw FileError.unreadable(StorageFailure("open", path, code: ELOOP))
    }

    /// Runs the body. Writes in it may replace a malformed file: see `PropertyListFile.replacingMalformedFile`.
    package func replacingMalformedFile<R>(isForeign: Bool = false, _ body: () throws -> R) throws -> R {
        try current().file.replacingMalformedFile(isForeign: isForeign, body)
    }

    /// The revision of the current state, found without a resolution of the path. nil if that is impossible: in an
    /// update, after a change of the file, and if the path contains a link.
    package var revision: Revision? {
        if Transaction.isInProgress, transaction != nil { return nil }
        guard let known = place.withLock({ $0.cachedWithoutReport }) else { return nil }
        let asksFile = known.volume.openFilesShowReplacement
        let current = asksFile ? known.validated(atPath: path) : place.withLock({ $0.plain })?.validated(known)
        // A read keeps the copy that needs no comparison of bytes any more.
        return current === known ? known.revision : nil
    }

    /// The file that the path leads to, and the former file. In an update, the file that the update changes.
    ///
    /// Costs no system call if the path has no link and was resolved before; one `stat` if it has a link.
    private func current() throws -> (file: PropertyListFile, previousTarget: PropertyListFile?) {
        let (known, isStale, hasLinks, previousTarget) = place.withLock {
            ($0.file, $0.isStale, $0.hasLinks, $0.previousTarget)
        }
        if let known, !isStale {
            if !hasLinks || known.queue.transaction != nil { return (known, previousTarget) }
            if let committed = known.cache.newest?.status,
                let status = try? system.status(ofPath: path, followsLinks: true), status.isSameFile(as: committed)
            {
                return (known, previousTarget)
            }
        }
        do {
            let resolution = try PathResolution(path, system: system)
            let file = FileRegistry.shared.file(at: resolution.target, holds: topLevel, system: system)
            file.setRules(configure)
            let stamps = resolution.links.compactMap { link in
                try? system.status(ofPath: link, followsLinks: false).flatMap { system.stamp($0.changed, of: link) }
            }
            return place.withLock { place in
                place.moved = stamps.max()
                if let last = place.file, last !== file, last.cache.known != nil { place.previousTarget = last }
                if place.previousTarget === file { place.previousTarget = nil }
                (place.file, place.isStale, place.hasLinks) = (file, false, !resolution.links.isEmpty)
                return (file, place.previousTarget)
            }
        } catch {
            throw FileError.unreadable(error)
        }
    }

    // MARK: - Between two files

    /// The state of the file. If the file cannot be read, a read returns the last known state of the path, with a
    /// warning.
    package func read(_ patience: PropertyListFile.Patience = .ofRead) throws -> DomainState {
        do {
            if let file = place.withLock({ $0.plain }) { return try file.read(patience) }
        } catch FileError.pathChanged {
            place.withLock { $0.isStale = true }
        }
        do {
            return try state(patience)
        } catch FileError.unreadable(let failure) where patience != .ofWrite {
            // The path could not be resolved.
            guard let known = place.withLock({ $0.known }) else { throw FileError.unreadable(failure) }
            return DomainState(known, warning: .unreadable(failure))
        }
    }

    private func state(_ patience: PropertyListFile.Patience) throws -> DomainState {
        try withPlace { file, previousTarget in
            guard let previousTarget, file.queue.transaction == nil else { return try file.read(patience) }
            let known = known(of: previousTarget)
            let found = Result { try file.read(patience, known) }
            if let known = known?.known {
                switch found {
                case .success(let state) where state.isDuringSave: return state
                case .success(let state) where file.cache.newest?.fault != nil:
                    return DomainState(known, warning: state.warning)
                case .failure(FileError.unreadable(let failure)) where patience != .ofWrite:
                    return DomainState(known, warning: .unreadable(failure))
                case .failure(let error): throw error
                default: break
                }
            }
            // The file was read, or it is missing: what is known of the former file no longer counts.
            place.withLock { if $0.file === file { $0.previousTarget = nil } }
            return try found.get()
        }
    }

    /// What is known of the path, if it has led to another file before.
    private func known(of previousTarget: PropertyListFile?) -> FileLook.FormerTarget? {
        previousTarget?.cache.known.map { known in
            FileLook.FormerTarget(known: known, moved: place.withLock { $0.moved })
        }
    }

    /// When another look is due, because the path leads to a file that is missing, and a program may be making a link or a
    /// folder anew. nil if the file exists, or is not coming.
    func timeUntilLook(at file: PropertyListFile) -> Duration? {
        guard let formerTarget = known(of: place.withLock { $0.previousTarget }),
            case .saving(let time, _)? = try? file.look(formerTarget)
        else { return nil }
        return time
    }

    private func begin(_ file: PropertyListFile, after previousTarget: PropertyListFile?) throws -> LockedFile {
        let session = try file.begin()
        if previousTarget != nil, let fault = session.base.fault, !file.cache.rules.replaces(.mistake) {
            session.end()
            throw fault
        }
        return session
    }

    /// Rejects an update if the path now leads to another file or folder than at the start of the update.
    private func checkPathUnchanged(of file: PropertyListFile, _ transaction: Transaction) throws {
        guard let session = transaction.session as? LockedFile else { return }
        do throws(StorageFailure) {
            let target = hasLinks ? try PathResolution(path, system: system).target : file.names.path
            let folder = try system.status(ofPath: file.names.folder, followsLinks: true)
            let held = session.lock.heldFolder
            if target == file.names.path, let folder {
                if held.wasOpened(as: folder) { return }
                // `wasOpened` is also false if the status was unknown when the folder was opened. Ask for it now.
                if try system.status(of: held.descriptor).isSameFile(as: folder) { return }
            }
        } catch {
            throw FileError.notStored(error.at(path))
        }
        // An `fstat` of the open file would not show that its folder was moved.
        file.cache.forget()
        throw FileError.notStored(
            StorageFailure(path: path, reason: "leads to another place than when the update began"))
    }
}

extension FileLocation: Domain {
    package var transaction: Transaction? {
        // Only a path that was resolved can have a transaction.
        place.withLock { $0.file }?.queue.transaction
    }

    package var source: AnyObject { place.withLock { $0.state?.object } ?? self }

    package func state(of part: DomainPart, isForWriting: Bool) throws -> DomainState {
        try read(isForWriting ? .ofWrite : .ofRead)
    }

    package func transact(
        on root: String = "", durability: CommitDurability, _ body: (Transaction) throws -> Void
    ) throws {
        try withPlace { file, previousTarget in
            if Transaction.current == nil, let known = known(of: previousTarget) {
                _ = try file.look.untilSaved(known)
            }
            try file.queue.transact(
                durability: durability, lock: file.names.path(of: file.names.lock),
                begin: { try begin(file, after: previousTarget) }, body, check: { try checkPathUnchanged(of: file, $0) }
            )
        }
    }

    package func takeWarning() -> FileError? {
        try? withFile { $0.takeWarning() }
    }

    package var format: FileFormat? { (try? current().file.cache.format) ?? nil }

    package var isBeingSaved: Bool {
        // Unlike a read, this look leaves a warning for the next access.
        (try? withFile { try $0.committedState(waits: false) })?.isDuringSave ?? false
    }

    package var watchFailure: StorageFailure? { place.withLock { $0.file }?.feed.watchFailure }

    @discardableResult package func waitForSave() -> FileError? {
        (try? read(.untilSaved))?.warning
    }

    package func forget() {
        try? withFile { $0.cache.forget() }
    }

    /// Subscribes to a part of the file that the path leads to. Follows later changes of links on the path.
    package func subscribe(to part: DomainPart, _ observer: EntryObserver) throws -> EntrySubscription {
        try FileSubscriber(self, part.name, observer).start()
    }
}

// MARK: - The files of the process

/// The one object of each file in this process, for as long as a store uses it.
final class FileRegistry: Sendable {
    static let shared = FileRegistry()

    private struct Entry {
        weak var file: PropertyListFile?
    }

    private struct State {
        /// By path, in which two spellings of a letter are equal. A dictionary with keys of another type than String costs 330,000
        /// instructions or more at the start of a program.
        var entries: [String: [Entry]] = [:]
        /// The number of paths at which those of released files are removed.
        var countToTidy = 16
    }

    private let state = Locked(State())

    /// - Parameter path: absolute, without links.
    func file(
        at path: String, holds topLevel: TopLevel = .domain, system: SystemCalls
    ) -> PropertyListFile {
        return state.withLock { state in
            let same = state.entries[path] ?? []
            for case let file? in same.lazy.map(\.file) where file.isThat(of: path, topLevel, system) { return file }
            // Not at each call, because there may be thousands.
            if state.entries.count >= state.countToTidy {
                state.entries = state.entries.compactMapValues { entries in
                    let used = entries.filter { $0.file != nil }
                    return used.isEmpty ? nil : used
                }
                state.countToTidy = max(16, 2 * state.entries.count)
            }
            let file = PropertyListFile(path: path, holds: topLevel, system: system)
            state.entries[path] = same.filter { $0.file != nil } + [Entry(file: file)]
            return file
        }
    }

    /// The number of files, also of those that were released.
    var count: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.count } } }

    func entries(of path: String) -> Int { state.withLock { $0.entries[path]?.count ?? 0 } }
}

extension PropertyListFile {
    /// Compares the bytes of the path, because two spellings of a letter name two files. Includes the system, because
    /// tests have several systems, and the top level, because two views of one file treat each other like two
    /// processes.
    fileprivate func isThat(of path: String, _ topLevel: TopLevel, _ system: SystemCalls) -> Bool {
        self.system === system && self.topLevel == topLevel && names.path.hasSameBytes(as: path)
    }
}
