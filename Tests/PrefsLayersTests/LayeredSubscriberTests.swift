@testable import PrefsSupport
import Foundation
import PrefsStoreKit
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine
@testable import PrefsLayers

/// What changes between the subscriptions of a layered subscriber and its start is not missed.
@Suite struct LayeredSubscriberTests {
    /// Collects the merged values of `x` in the changes that it gets.
    private final class Receiver: Sendable {
        let heard = Heard<StoredValue?>()

        var observer: EntryObserver {
            EntryObserver(.each { [heard] in heard.append(LayeredSubscriberTests.x($0.after)) })
        }
    }

    private let folder = TemporaryFolder.fresh
    private let base = PrefsStore.memory()

    private static func x(_ entry: EntryState) -> StoredValue? {
        entry.layers?.layers.merged(entry.value?.dictionary, root: "R")?["x"]
    }

    private func subscriber(
        _ stack: LayerStack, _ receiver: Receiver, willStart: @escaping @Sendable (LayeredSubscriber) -> Void
    ) -> LayeredSubscriber {
        LayeredSubscriber(base.roots, stack, "R", .root("R"), receiver.observer, willStart: willStart)
    }

    @Test func aChangeOfTheBaseDuringTheStartIsReported() throws {
        let (base, receiver) = (base, Receiver())
        let stack = LayerStack(above: [], below: [.values(["x": 1])], layout: .roots, baseFile: nil)
        let subscription = try subscriber(stack, receiver) { _ in
            try? base.update(root: "R") { $0 = ["x": 2] }
        }.start()
        #expect(Self.x(subscription.start) == .integer(1))
        try base.update(root: "R") { $0 = ["x": 3] }
        #expect(receiver.heard.wait(for: 2) == [.integer(2), .integer(3)])
    }

    private final class Unwatched: SystemCalls, @unchecked Sendable {
        override func watch(
            _ names: FileNames, _ handler: @escaping FolderWatcher.Handler
        ) throws(StorageFailure) -> AnyObject { throw StorageFailure("inotify_add_watch", names.folder, code: ENOSPC) }
    }

    @Test func aLayerThatCannotBeWatchedIsNamed() throws {
        let file = FileLocation(path: folder.file("layer.plist").path, system: Unwatched())
        let layers = [PrefsLayer.file(folder.file("other.plist")), PrefsLayer("file", .file(LayerFile([file])))]
        let stack = LayerStack(above: layers, below: [], layout: .roots, baseFile: nil)
        let subscription = try subscriber(stack, Receiver()) { _ in }.start()
        #expect(subscription.failure?.code == ENOSPC)
    }

    /// A link to itself leads to no file, neither now nor later. What cannot be watched is told, and the rest is watched.
    @Test(arguments: [0, 1, 2]) func aLayerThatCannotBeWatchedEndsNoOther(_ place: Int) throws {
        let loop = folder.file("loop.plist")
        try FileManager.default.createSymbolicLink(atPath: loop.path, withDestinationPath: loop.path)
        let files = ["a.plist", "b.plist"].map { folder.file($0) }
        var layers = files.map { PrefsLayer.file($0) }
        layers.insert(.file(loop), at: place)
        let (receiver, stack) = (Receiver(), LayerStack(above: layers, below: [], layout: .roots, baseFile: nil))
        let subscription = try subscriber(stack, receiver) { _ in }.start()
        #expect(subscription.failure?.code == ELOOP)
        for (number, file) in files.reversed().enumerated() {
            try writePropertyList(["R": ["x": number]], to: file)
            receiver.heard.wait { $0.last == .integer(Int64(number)) }
        }
        subscription.end()
    }

    /// Its event arrives before there is a state to compare with.
    @Test func aChangeOfALayerIsReportedAfterTheStart() throws {
        let (receiver, layer) = (Receiver(), folder.file("layer.plist"))
        try writePropertyList(["R": ["x": 1]], to: layer)
        let stack = LayerStack(above: [.file(layer)], below: [], layout: .roots, baseFile: nil)
        let subscription = try subscriber(stack, receiver) { subscriber in
            // It is told after the subscriber, which has subscribed first.
            let witness = Receiver()
            let others = try? FileLocation(path: layer.path).subscribe(to: .everything, witness.observer)
            try? writePropertyList(["R": ["x": 2]], to: layer)
            witness.heard.wait(for: 1)
            subscriber.queue.sync {}
            others?.end()
        }.start()
        #expect(Self.x(subscription.start) == .integer(1))
        #expect(receiver.heard.wait(for: 1) == [.integer(2)])
    }

    /// The layers as they are now are around both of its states. Layers that were read again may be a change without a
    /// difference.
    @Test func aChangeOfTheBaseFollowsOneOfALayer() throws {
        let (heard, layer) = (Heard<[StoredValue?]>(), folder.file("layer.plist"))
        try writePropertyList(["R": ["x": 1]], to: layer)
        let stack = LayerStack(above: [], below: [.file(layer)], layout: .roots, baseFile: nil)
        let observer = EntryObserver(.each { heard.append([Self.x($0.before), Self.x($0.after)]) })
        let subscription = try LayeredSubscriber(base.roots, stack, "R", .root("R"), observer).start()
        try writePropertyList(["R": ["x": 2]], to: layer)
        let first = heard.wait { $0.last?.last == .integer(2) }
        #expect(first.filter { $0[0] != $0[1] } == [[.integer(1), .integer(2)]])
        for stored in [["y": 0], ["x": 3]] { try base.update(root: "R") { $0 = stored } }
        let next = heard.wait { $0.last?.last == .integer(3) }.dropFirst(first.count)
        #expect(Set(next) == [[.integer(2), .integer(2)], [.integer(2), .integer(3)]])
        subscription.end()
    }
}
