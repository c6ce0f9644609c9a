import Foundation
import PrefsPropertyLists

/// Subscribes an observer to the feed of each file that the path leads to, one after another, because each file has its own
/// feed.
final class FileSubscriber: Sendable {
    private let location: FileLocation
    private let key: String
    private let observer: EntryObserver
    private let state = Locked(State())

    private struct State {
        var place: (file: PropertyListFile, subscription: EntrySubscription)?
        var links: [String] = []
        var linkWatches: [FileWatch] = []
        /// Looks at the links while one of them cannot be watched.
        var poll: AnyObject?
        var isOver = false
        /// Where the links are looked at. Other paths need no queue.
        lazy var queue = DispatchQueue(label: "PersistentPreferences.FileSubscriber")
        /// Whether the links are looked at again soon.
        var hasNextLook = false
    }

    init(_ location: FileLocation, _ key: String, _ observer: EntryObserver) {
        (self.location, self.key, self.observer) = (location, key, observer)
    }

    func start() throws -> EntrySubscription {
        let first = try state.withLock { state in
            let place = try location.withFile { ($0, try subscribe(to: $0)) }
            state.place = place
            return place.1
        }
        let next = location.hasLinks ? resubscribe() : nil
        var catchUp = first.catchUp ?? next
        // The caller may hold locks.
        if let own = first.catchUp, let next {
            catchUp = {
                own()
                next()
            }
        }
        return EntrySubscription(of: observer, start: first.start, catchUp: catchUp, failure: first.failure) {
            self.end()
        }
    }

    private func subscribe(to file: PropertyListFile) throws -> EntrySubscription {
        try file.feed.subscribe(to: key, observer) { [weak self] in self?.resubscribe()?() }
    }

    private func end() {
        let last = state.withLock { state in
            defer { state = State(isOver: true) }
            return state
        }
        last.place?.subscription.end()
    }

    /// Watches the links on the path and subscribes to the file that they lead to.
    ///
    /// - Returns: what must run once no lock is held.
    private func resubscribe() -> EntryObserver.Action? {
        var catchUp: EntryObserver.Action?
        let next: (wait: Duration, queue: DispatchQueue)? = state.withLock { state in
            guard !state.isOver else { return nil }
            var next: Duration?
            watchLinks(&state)
            // If the path leads nowhere, the subscription stays where it is.
            try? location.withFile { file in
                try file.requireNoLink()
                if let place = state.place {
                    guard file !== place.file else { return }
                    // A link may be removed a moment before it is made anew.
                    next = location.timeUntilLook(at: file)
                    if next != nil { return }
                    place.subscription.end()
                    state.place = nil
                }
                let new = try subscribe(to: file)
                state.place = (file, new)
                catchUp = new.catchUp
            }
            defer { state.hasNextLook = state.hasNextLook || next != nil }
            return state.hasNextLook ? nil : next.map { ($0, state.queue) }
        }
        guard let next else { return catchUp }
        DispatchReadiness.shared.after(.now() + next.wait / .seconds(1), on: next.queue) { [weak self] in
            self?.state.withLock { $0.hasNextLook = false }
            self?.resubscribe()?()
        }
        return catchUp
    }

    /// Watches the links on the path. A watch follows its link, so the links that are watched are not watched anew.
    private func watchLinks(_ state: inout State) {
        let queue = state.queue
        var (isNew, hasFailed) = (false, false)
        // A round repeats if a link was changed before it was watched.
        for _ in Attempts.all {
            guard let links = links(), isNew || links != state.links else { break }
            guard let new = try? links.map({ try watch($0, on: queue) }) else {
                hasFailed = true
                break
            }
            let former = state.linkWatches
            (state.links, state.linkWatches, isNew) = (links, new, true)
            withExtendedLifetime(former) {}
            if self.links() == links { break }
        }
        if !hasFailed {
            state.poll = nil
        } else if state.poll == nil {
            state.poll = FilePoller.shared.start { [weak self] in queue.async { [weak self] in self?.resubscribe()?() }
            }
        }
    }

    /// The links on the path; nil if the path cannot be resolved.
    private func links() -> [String]? {
        try? PathResolution(location.path, system: location.system).links
    }

    private func watch(_ link: String, on queue: DispatchQueue) throws -> FileWatch {
        try FileWatch(FileNames(path: link), system: location.system) { [weak self] in
            queue.async { [weak self] in self?.resubscribe()?() }
        }
    }
}
