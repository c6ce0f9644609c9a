#if os(Linux) || os(Android)
    import Foundation

    /// The handlers of an inotify queue. An event is told to the handlers of its name alone, however many files of the folder are
    /// watched.
    struct FolderHandlers {
        /// - Parameter isGone: whether another folder may be at the folder's path, or events were lost.
        typealias Handler = @Sendable (_ isGone: Bool) -> Void

        /// Events that a handler is called for.
        enum Scope: Hashable {
            case name([UInt8])
            case allNames
            /// Only the end of the folder, because the watched folder is below it.
            case end
        }

        struct Registration: Sendable {
            fileprivate let number: Int
            /// The numbers of the folders in the queue.
            let places: [(folder: Int32, scope: Scope)]
        }

        private var folders: [Int32: [Scope: [Int: Handler]]] = [:]
        private var registrations = 0

        var all: [Handler] { folders.values.flatMap { $0.values.flatMap(\.values) } }

        mutating func add(_ handler: @escaping Handler, at places: [(folder: Int32, scope: Scope)]) -> Registration {
            registrations += 1
            for (folder, scope) in places {
                folders[folder, default: [:]][scope, default: [:]][registrations] = handler
            }
            return Registration(number: registrations, places: places)
        }

        /// - Returns: the handler, and the folders that have none any more.
        mutating func remove(_ registration: Registration) -> (handler: Handler?, unwatched: [Int32]) {
            var handler: Handler?
            var unwatched: [Int32] = []
            for (folder, scope) in registration.places {
                handler = folders[folder]?[scope]?.removeValue(forKey: registration.number) ?? handler
                if folders[folder]?[scope]?.isEmpty == true { folders[folder]?[scope] = nil }
                guard folders[folder]?.isEmpty == true else { continue }
                folders[folder] = nil
                unwatched.append(folder)
            }
            return (handler, unwatched)
        }

        /// The handlers of the events in the bytes, each once.
        func handlers(for bytes: UnsafeRawBufferPointer) -> [(Handler, isGone: Bool)] {
            var found: [Int: (Handler, isGone: Bool)] = [:]
            let header = MemoryLayout<inotify_event>.size
            var rest = bytes
            while rest.count >= header {
                let event = rest.loadUnaligned(as: inotify_event.self)
                let name = rest[header..<(header + Int(event.len))].prefix { $0 != 0 }
                rest = UnsafeRawBufferPointer(rebasing: rest[(header + Int(event.len))...])
                let isLost = event.mask & UInt32(IN_Q_OVERFLOW) != 0
                let isGone =
                    isLost || event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED) != 0
                func tell(_ handlers: [Int: Handler]?) {
                    for (number, handler) in handlers ?? [:] {
                        found[number] = (handler, isGone || found[number]?.isGone ?? false)
                    }
                }
                if isLost {
                    for folder in folders.values { folder.values.forEach(tell) }
                } else if isGone {
                    folders[event.wd]?.values.forEach(tell)
                } else if let folder = folders[event.wd] {
                    tell(folder[.name(Array(name))])
                    tell(folder[.allNames])
                }
            }
            return Array(found.values)
        }
    }
#endif
