#if canImport(Darwin) || APART
    import Foundation
    import PrefsPropertyLists

    #if APART
        // Elsewhere than on Apple platforms, only tests compile this file.
        @testable import PrefsFileEngine
    #endif

    /// Watches a name in a folder by two event sources. The source of the folder reports names that come and go. The source
    /// of the file with that name reports writes in place. The watch ends when the object is released.
    ///
    /// The system registers a source some time after its activation. Until then the source reports nothing, so the watch
    /// checks the name again after the registration.
    ///
    /// A file that cannot be opened is not watched; only changes of its name are reported.
    ///
    /// Unchecked because `file` belongs to the queue.
    final class FolderWatch: @unchecked Sendable {
        private let names: FileNames
        private let vnodes: any VnodeSystem
        private let system: SystemCalls
        private let queue: DispatchQueue
        private let handler: FolderWatcher.Handler
        private let folder: any VnodeSource
        private let folderStatus: FileStatus
        /// The status at the path when the watch began.
        private let start: FileStatus?
        private var file: (source: any VnodeSource, status: FileStatus)?

        /// - Parameters:
        ///   - queue: serial.
        ///   - handler: called on the queue.
        /// - Throws: what `open` reports of the folder.
        init(
            _ names: FileNames, _ vnodes: any VnodeSystem, system: SystemCalls = .real, on queue: DispatchQueue,
            _ handler: @escaping FolderWatcher.Handler
        ) throws(StorageFailure) {
            // A forked child does not have its parent's kernel queue (kqueue(2)), and Dispatch does not run in it.
            guard !ProcessMark.isInForkedChild else {
                throw StorageFailure(path: names.folder, reason: "cannot be watched in a forked process")
            }
            self.names = names
            self.vnodes = vnodes
            self.system = system
            self.queue = queue
            self.handler = handler
            let (descriptor, status) = try Self.open(names.folder, O_DIRECTORY, vnodes, system)
            folderStatus = status
            start = Self.status(of: names.path, system)
            folder = vnodes.source(descriptor, [.write, .delete, .rename, .revoke], on: queue)
            folder.setCancelHandler { vnodes.close(descriptor) }
            folder.setRegistrationHandler { [weak self] in self?.folderIsRegistered() }
            folder.setEventHandler { [weak self] in self?.folderChanged() }
            folder.activate()
        }

        deinit {
            guard !ProcessMark.isInForkedChild else {
                // A forked child must not release objects of Dispatch.
                for source in [folder, file?.source] { source.map { _ = Unmanaged.passRetained($0 as AnyObject) } }
                return
            }
            folder.cancel()
            file?.source.cancel()
        }

        private func folderIsRegistered() {
            let found = watchFile()
            let isGone = isFolderGone
            if isGone || found != start { handler(isGone) }
        }

        /// Whether the folder was removed or moved before its source was registered.
        private var isFolderGone: Bool {
            do throws(StorageFailure) {
                let there = try system.status(ofPath: names.folder, followsLinks: true)
                return there?.isSameFile(as: folderStatus) != true
            } catch {
                // A folder that cannot be examined may still exist.
                return false
            }
        }

        private func folderChanged() {
            watchFile()
            handler(!folder.data.isDisjoint(with: [.delete, .rename, .revoke]))
        }

        /// - Parameter found: the status at the path before the source was made.
        private func fileIsRegistered(after found: FileStatus) {
            let now = watchFile()
            // A write soon after another one may not change the times.
            if now != found || !found.hasReliableTimes(before: system.nextStamp()) { handler(false) }
        }

        /// Watches the file that is at the path now.
        ///
        /// - Returns: its status.
        @discardableResult
        private func watchFile() -> FileStatus? {
            let found = Self.status(of: names.path, system)
            if let found, let file, file.status.isSameFile(as: found) {
                // Keeps the source with its pending events, because it may no longer be possible to open the file.
                return found
            }
            file?.source.cancel()
            file = nil
            // Opens only a regular file.
            guard let found, found.kind == .file else { return found }
            let flags = SystemCalls.followsNoLinks | O_NONBLOCK | O_NOCTTY
            guard let (descriptor, status) = try? Self.open(names.path, flags, vnodes, system) else { return found }
            // Another kind of file may have taken the name in the meantime.
            guard status.kind == .file else {
                vnodes.close(descriptor)
                return found
            }
            let source = vnodes.source(descriptor, [.write, .extend, .attrib, .delete, .rename], on: queue)
            source.setCancelHandler { [vnodes] in vnodes.close(descriptor) }
            source.setRegistrationHandler { [weak self] in self?.fileIsRegistered(after: found) }
            source.setEventHandler { [handler] in handler(false) }
            source.activate()
            file = (source, status)
            return found
        }

        private static func open(
            _ path: String, _ flags: Int32, _ vnodes: any VnodeSystem, _ system: SystemCalls
        ) throws(StorageFailure) -> (descriptor: Int32, status: FileStatus) {
            let descriptor = vnodes.open(path, flags)
            guard descriptor >= 0 else { throw StorageFailure("open", path, code: errno) }
            do throws(StorageFailure) {
                return (descriptor, try system.status(of: descriptor))
            } catch {
                vnodes.close(descriptor)
                throw error.at(path)
            }
        }

        /// The status at the path; nil if the file is missing or cannot be examined.
        private static func status(of path: String, _ system: SystemCalls) -> FileStatus? {
            (try? system.status(ofPath: path, followsLinks: false)) ?? nil
        }
    }
#endif
