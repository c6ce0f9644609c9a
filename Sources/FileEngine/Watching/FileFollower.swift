import Foundation
import PrefsPropertyLists

/// A listener at the feed of the file that a path leads to, whichever that is: links on the path may be changed.
package final class FileFollower: Following, @unchecked Sendable {
    package let subscriptionStart: ChangeFeed.SubscriptionStart
    private let location: FileLocation
    private let key: String
    private let relay: Relay

    private let lock = Lock()
    // Under the lock.
    private var place: (file: PropertyListFile, follower: FeedFollower)?
    private var linkWatches: [FileWatch] = []
    private var isOver = false
    /// What the listener knows, while it is nowhere.
    private var known: LastKnownEntry?

    package init(_ location: FileLocation, _ key: String, _ listener: any EntryListener, from known: LastKnownEntry?)
        throws
    {
        self.location = location
        self.key = key
        let relay = Relay(listener)
        self.relay = relay
        let place = try location.withFile { ($0, try FeedFollower($0, key, relay, from: known)) }
        subscriptionStart = place.1.subscriptionStart
        self.place = place
        relay.start(self)
        if location.followsLinks { settle() }
    }

    deinit {
        end()
    }

    @discardableResult
    package func end() -> LastKnownEntry? {
        let (place, known, watches) = lock.withLock {
            isOver = true
            defer { (self.place, self.known, linkWatches) = (nil, nil, []) }
            return (self.place, self.known, linkWatches)
        }
        withExtendedLifetime(watches) {}
        return place?.follower.end() ?? known
    }

    /// Watches the links on the path and goes where they lead.
    private func settle() {
        lock.withLock {
            guard !isOver else { return }
            let formerWatches = linkWatches
            // What leads nowhere, or cannot be watched, leaves the listener where it is.
            try? watchLinks()
            withExtendedLifetime(formerWatches) {}
            try? location.withFile { file in
                try file.checkPath()
                if let place {
                    guard file !== place.file else { return }
                    known = place.follower.end()
                    self.place = nil
                }
                let follower = try FeedFollower(file, key, relay, from: known)
                (place, known) = ((file, follower), nil)
                if let catchUp = follower.subscriptionStart.catchUp { DispatchQueue.main.async(execute: catchUp) }
            }
        }
    }

    /// Under the lock.
    private func watchLinks() throws(StorageFailure) {
        // Each round finds that a link was changed while it was not yet watched.
        for _ in 0..<100 {
            let links = try PathResolution(location.path, system: location.system).links
            var watches: [FileWatch] = []
            for link in links {
                watches.append(
                    try FileWatch(FileNames(path: link), system: location.system) { [weak self] in
                        DispatchQueue.global().async { [weak self] in self?.settle() }
                    })
            }
            linkWatches = watches
            if try PathResolution(location.path, system: location.system).links == links { return }
        }
    }

    /// What the feed knows, so that it does not keep the follower.
    private final class Relay: EntryListener, @unchecked Sendable {
        private let listener: any EntryListener
        private let lock = Lock()
        /// Under the lock.
        private weak var follower: FileFollower?

        init(_ listener: any EntryListener) {
            self.listener = listener
        }

        func start(_ follower: FileFollower) {
            lock.withLock { self.follower = follower }
        }

        func note(_ change: EntryChange) -> (@Sendable () -> Void)? {
            listener.note(change)
        }

        func placeChanged() {
            lock.withLock { follower }?.settle()
        }
    }
}
