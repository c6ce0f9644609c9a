#if os(Linux)
    import AppleFolderWatch
    import AppleVnodes
    import Foundation
    import TestSupport
    import Testing

    @testable import EngineSupport
    @testable import PrefsFileEngine

    /// The model of Apple's event sources behaves as it lists, and detects forbidden calls.
    @Suite final class ModelVnodesTests: FolderSuite {
        private let violations = Heard<String>()
        private lazy var model = ModelVnodes(violated: violations.append)
        private let queue = DispatchQueue(label: "ModelVnodesTests")

        override init() throws {
            try super.init()
            try Data("12".utf8).write(to: folder.file())
            #expect(mkdir(folder.file("sub").path, 0o700) == 0)
        }

        private static let all: VnodeEvents = [.delete, .write, .extend, .attrib, .rename, .revoke]

        /// A registered source that records its reports.
        private final class Watched {
            let heard = Heard<VnodeEvents>()
            let source: any VnodeSource
            private let model: ModelVnodes
            private let queue: DispatchQueue
            private var taken = 0

            init(_ path: String, _ model: ModelVnodes, _ queue: DispatchQueue, _ events: VnodeEvents = all) {
                self.model = model
                self.queue = queue
                let descriptor = model.open(path, 0)
                let source = model.source(descriptor, events, on: queue)
                self.source = source
                source.setEventHandler { [heard, unowned source] in heard.append(source.data) }
                source.setCancelHandler { model.close(descriptor) }
                source.activate()
            }

            /// Returns the reports since the last call, one for each call of the handler.
            func take() -> [VnodeEvents] {
                model.hold(.event)
                model.release()
                model.resume()
                queue.sync {}
                defer { taken = heard.all.count }
                return Array(heard.all.dropFirst(taken))
            }

            deinit {
                source.cancel()
                queue.sync {}
            }
        }

        private func watch(_ name: String) -> Watched {
            model.hold(.event)
            return Watched(folder.file(name).path, model, queue)
        }

        private func write(_ text: String, flags: Int32 = O_WRONLY) {
            let descriptor = open(folder.file().path, flags)
            #expect(Foundation.write(descriptor, text, text.utf8.count) == text.utf8.count)
            Foundation.close(descriptor)
        }

        // MARK: - Events

        @Test func aFileReportsWhatHappensToIt() throws {
            let (path, aside) = (folder.file().path, folder.file("aside").path)
            func events(of name: String = "test.plist", _ action: () throws -> Void) rethrows -> [VnodeEvents] {
                let watched = watch(name)
                try action()
                return watched.take()
            }
            #expect(events { write("ab") } == [.write])
            #expect(events { write("c", flags: O_WRONLY | O_APPEND) } == [[.write, .extend]])
            #expect(events { truncate(path, 1) } == [.attrib])
            #expect(events { chmod(path, 0o640) } == [.attrib])
            #expect(events { link(path, folder.file("second").path) } == [])
            #expect(events { unlink(folder.file("second").path) } == [.delete])
            #expect(events { rename(path, aside) } == [.rename])
            try Data().write(to: folder.file())
            // Of a file that is replaced, and of one that has no other name.
            #expect(events(of: "aside") { rename(path, aside) } == [.delete])
            #expect(events(of: "aside") { unlink(aside) } == [.delete])
        }

        @Test func aStoreToMappedMemoryIsNotReported() throws {
            let watched = watch("test.plist")
            let descriptor = open(folder.file().path, O_RDWR)
            let memory = try #require(mmap(nil, 2, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0))
            memory.storeBytes(of: UInt8(ascii: "x"), as: UInt8.self)
            msync(memory, 2, MS_SYNC)
            munmap(memory, 2)
            Foundation.close(descriptor)
            #expect(try String(contentsOf: folder.file(), encoding: .utf8) == "x2")
            #expect(watched.take() == [])
        }

        @Test func aFolderReportsNamesAndNothingElse() throws {
            let watched = watch("sub")
            func events(_ action: () throws -> Void) rethrows -> [VnodeEvents] {
                model.hold(.event)
                try action()
                return watched.take()
            }
            let (one, two) = (folder.file("sub/one").path, folder.file("sub/two").path)
            #expect(events { Foundation.close(creat(one, 0o600)) } == [.write])
            #expect(
                try events {
                    let handle = try FileHandle(forWritingTo: folder.file("sub/one"))
                    try handle.write(contentsOf: Data("text".utf8))
                    try handle.close()
                } == [])
            #expect(events { chmod(one, 0o640) } == [])
            #expect(events { rename(one, two) } == [.write])
            #expect(events { symlink("x", one) } == [.write])
            #expect(events { rename(two, one) } == [.write])
            #expect(events { link(one, two) } == [.write])
            #expect(events { mkdir(folder.file("sub/three").path, 0o700) } == [.write])
            #expect(events { rmdir(folder.file("sub/three").path) } == [.write])
            #expect(events { unlink(one) } == [.write])
            #expect(events { chmod(folder.file("sub").path, 0o750) } == [.attrib])
            // The removal of the folder itself.
            #expect(events { unlink(two) } == [.write])
            #expect(mkdir(folder.file("other").path, 0o700) == 0)
            #expect(events { rename(folder.file("sub").path, folder.file("other/sub").path) } == [.rename])
            #expect(events { rename(folder.file("other").path, folder.file("moved").path) } == [])
            #expect(events { rmdir(folder.file("moved/sub").path) } == [.delete])
        }

        // MARK: - Sources

        @Test func eventsThatWaitAreOneCall() {
            let watched = watch("test.plist")
            write("ab")
            write("abc")
            chmod(folder.file().path, 0o640)
            rename(folder.file().path, folder.file("aside").path)
            #expect(watched.take() == [[.write, .extend, .attrib, .rename]])
            #expect(watched.take() == [])
        }

        @Test func onlyWhatIsAskedForIsReported() {
            model.hold(.event)
            let watched = Watched(folder.file().path, model, queue, [.rename])
            write("ab")
            #expect(watched.take() == [])
        }

        @Test func eventsBeforeTheRegistrationAreLost() {
            model.hold(.registration, .event)
            let watched = Watched(folder.file().path, model, queue)
            write("ab")
            model.release()
            model.release()
            #expect(watched.heard.all == [])
            chmod(folder.file().path, 0o640)
            model.release()
            #expect(watched.heard.all == [.attrib])
        }

        // MARK: - Violations

        private lazy var descriptor = model.open(folder.file().path, 0)

        private func source(_ descriptor: Int32) -> any VnodeSource {
            model.source(descriptor, Self.all, on: queue)
        }

        @Test func aDescriptorThatIsClosedTooEarlyOrTwiceOrNever() {
            let source = source(descriptor)
            source.activate()
            model.close(descriptor)
            model.close(descriptor)
            source.cancel()
            queue.sync {}
            let second = model.open(folder.file().path, 0)
            let other = self.source(second)
            other.activate()
            other.cancel()
            queue.sync {}
            #expect(
                violations.all == [
                    "descriptor \(descriptor) is closed before the cancel handler of its source is called",
                    "descriptor \(descriptor) is closed, but is not open",
                    "descriptor \(second) is open after the cancel handler of its source",
                ])
            model.close(second)
        }

        @Test func aSourceThatIsReleasedWhileItIsInUse() {
            _ = source(descriptor)
            #expect(violations.all == ["the source of descriptor \(descriptor) is released while it is inactive"])
            source(descriptor).activate()
            queue.sync {}
            queue.sync {}
            #expect(
                violations.all.dropFirst()
                    == ["the source of descriptor \(descriptor) is released without being cancelled"])
        }

        @Test func aSourceThatIsUsedInTheWrongOrder() {
            let source = source(descriptor)
            source.setCancelHandler { [model, descriptor] in model.close(descriptor) }
            _ = source.data
            source.activate()
            source.setEventHandler {}
            source.activate()
            source.cancel()
            source.cancel()
            source.activate()
            queue.sync {}
            let second = model.open(folder.file().path, 0)
            let other = self.source(second)
            other.setCancelHandler { [model] in model.close(second) }
            other.cancel()
            queue.sync {}
            #expect(
                violations.all == [
                    "data is read outside of the event handler", "a handler is set after the activation",
                    "a source is activated twice, or after it was cancelled",
                    "a source is activated twice, or after it was cancelled",
                    "a source is cancelled before it is activated",
                ])
        }
    }
#endif
