#if os(Linux) || os(Android)
    import Foundation

    /// The inotify queue of all sources of `ModelVnodes` in this process.
    final class ModelVnodeKernel: @unchecked Sendable {
        static let shared = ModelVnodeKernel()

        private struct Attached {
            weak var source: ModelVnodeSource?
            let id: ObjectIdentifier
            let isParent: Bool
        }

        private static let events = UInt32(
            IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)

        private let queue: Int32
        private let signal: any DispatchSourceRead
        private let lock = NSLock()
        /// Under the lock: by the numbers that the kernel gives to what is watched.
        private var attached: [Int32: [Attached]] = [:]

        private init() {
            queue = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            precondition(queue >= 0, "no inotify queue")
            signal = DispatchSource.makeReadSource(
                fileDescriptor: queue, queue: DispatchQueue(label: "ModelVnodeKernel"))
            signal.setEventHandler { [unowned self] in drain() }
            signal.activate()
        }

        /// Attaches a source. Only later events reach it.
        func attach(_ source: ModelVnodeSource) {
            let kept = lock.withLock {
                let kept = takeEvents()
                add(source, isParent: false)
                if isFolder(source.descriptor) { add(source, isParent: true) }
                return kept
            }
            withExtendedLifetime(kept) {}
        }

        func detach(_ source: ModelVnodeSource) {
            lock.withLock {
                for watch in Array(attached.keys) { remove(ObjectIdentifier(source), from: watch) }
            }
        }

        /// Delivers all events so far to the sources.
        func drain() {
            let kept = lock.withLock { takeEvents() }
            withExtendedLifetime(kept) {}
        }

        private func isFolder(_ descriptor: Int32) -> Bool {
            var status = stat()
            return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }

        /// Under the lock.
        private func add(_ source: ModelVnodeSource, isParent: Bool) {
            let path = "/proc/self/fd/\(source.descriptor)" + (isParent ? "/.." : "")
            let watch = inotify_add_watch(queue, path, Self.events)
            // The watch of the folder above fails if that folder was removed.
            guard watch >= 0 else { return precondition(isParent, "\(path) cannot be watched: \(errno)") }
            attached[watch, default: []].append(
                Attached(source: source, id: ObjectIdentifier(source), isParent: isParent))
        }

        /// Under the lock.
        private func remove(_ id: ObjectIdentifier, from watch: Int32, parentsOnly: Bool = false) {
            attached[watch]?.removeAll { $0.id == id && ($0.isParent || !parentsOnly) }
            if attached[watch]?.isEmpty == true {
                attached[watch] = nil
                inotify_rm_watch(queue, watch)
            }
        }

        /// Under the lock.
        ///
        /// - Returns: the sources, which must not be released under the lock.
        private func takeEvents() -> [ModelVnodeSource] {
            var kept: [ModelVnodeSource] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = buffer.withUnsafeMutableBytes { read(queue, $0.baseAddress, $0.count) }
                guard count > 0 else { return kept }
                buffer.withUnsafeBytes { bytes in
                    var offset = 0
                    while offset < count {
                        let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                        offset += MemoryLayout<inotify_event>.size + Int(event.len)
                        precondition(event.mask & UInt32(IN_Q_OVERFLOW) == 0, "the model has lost events")
                        kept += hand(event)
                    }
                }
            }
        }

        /// Under the lock.
        private func hand(_ event: inotify_event) -> [ModelVnodeSource] {
            var kept: [ModelVnodeSource] = []
            for entry in attached[event.wd] ?? [] {
                guard let source = entry.source else { continue }
                kept.append(source)
                source.note(event.mask, hasName: event.len > 0, isOfParent: entry.isParent)
                guard !entry.isParent, event.mask & UInt32(IN_MOVE_SELF) != 0, isFolder(source.descriptor) else {
                    continue
                }
                // The folder may have a different parent now.
                for watch in Array(attached.keys) { remove(entry.id, from: watch, parentsOnly: true) }
                add(source, isParent: true)
            }
            return kept
        }
    }
#endif
