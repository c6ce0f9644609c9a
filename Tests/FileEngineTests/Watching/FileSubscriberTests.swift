import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Observers of a path whose links move.
@Suite(.waits) final class FileSubscriberTests: FolderSuite {
    /// The file has one entry, a list with the number.
    private func make(_ name: String, _ number: Int) throws {
        try writePropertyList(["own": [number]], to: folder.file(name + ".new"))
        #expect(rename(folder.file(name + ".new").path, folder.file(name).path) == 0)
    }

    private func point(_ name: String, to target: String) {
        let path = folder.file(name).path
        #expect(symlink(target, path + ".new") == 0 && rename(path + ".new", path) == 0)
    }

    private func location(_ name: String, _ system: SystemCalls = .real) -> FileLocation {
        FileLocation(path: folder.file(name).path, system: system)
    }

    private func observed(_ name: String) throws -> (ChangeSubscriber, EntrySubscription) {
        let subscriber = ChangeSubscriber()
        return (subscriber, try location(name).subscribe(to: .root("own"), subscriber.observer()))
    }

    /// Programs that manage dotfiles move a file into their folder, and put a link in its place.
    @Test func aFileThatBecomesALinkIsFollowed() throws {
        try make("it", 1)
        try make("other", 2)
        let (subscriber, subscription) = try observed("it")
        point("it", to: "other")
        #expect(subscriber.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        // Both the new file and the link are watched.
        try make("other", 3)
        #expect(subscriber.changes.wait(for: 2).last == "[2] → [3] elsewhere")
        try make("last", 4)
        point("it", to: "last")
        #expect(subscriber.changes.wait(for: 3).last == "[3] → [4] elsewhere")
        subscription.end()
    }

    /// An observer that has ended hears nothing of a link that moves, while another one does.
    @Test func anObserverThatHasEndedFollowsNoLink() throws {
        for number in 1...3 { try make("\(number)", number) }
        point("link", to: "1")
        let ((first, firstSubscription), (second, secondSubscription)) = try (observed("link"), observed("link"))
        point("link", to: "2")
        #expect(first.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        #expect(second.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        firstSubscription.end()
        point("link", to: "3")
        #expect(second.changes.wait(for: 2).last == "[2] → [3] elsewhere")
        try make("3", 4)
        #expect(second.changes.wait(for: 3).last == "[3] → [4] elsewhere")
        #expect(first.changes.all.count == 1)
        secondSubscription.end()
    }

    /// The link moves while the observer begins, between its first look and the watch of the link. The observer may have been at
    /// another place before.
    @Test(arguments: [false, true]) func anObserverThatBeginsDuringAMoveHearsOfAll(_ hasMoved: Bool) throws {
        final class Moves: SystemCalls, @unchecked Sendable {
            nonisolated(unsafe) var onWatch: (String) -> Void = { _ in }
            override func watch(
                _ names: FileNames, _ handler: @escaping FolderWatcher.Handler
            ) throws(StorageFailure) -> AnyObject {
                onWatch(names.file)
                return try super.watch(names, handler)
            }
        }
        for number in 1...2 { try make("\(number)", number) }
        try make("former", 9)
        point("link", to: "1")
        let system = Moves()
        let watched = Heard<String>()
        system.onWatch = { [self] name in
            if name == "link", !watched.all.contains(name) { point("link", to: "2") }
            watched.append(name)
        }
        let subscriber = ChangeSubscriber()
        let observer = subscriber.observer()
        if hasMoved { try location("former").subscribe(to: .root("own"), observer).end() }
        let subscription = try location("link", system).subscribe(to: .root("own"), observer)
        subscription.catchUp?()
        let moves = hasMoved ? ["[9] → [1] elsewhere", "[1] → [2] elsewhere"] : ["[1] → [2] elsewhere"]
        #expect(subscriber.changes.wait(for: moves.count) == moves)
        watched.wait { $0.contains("2") }
        try make("2", 3)
        #expect(subscriber.changes.wait(for: moves.count + 1).last == "[2] → [3] elsewhere")
        subscription.end()
    }
}
