import Foundation
import PrefsPropertyLists
import TestSupport

/// A server whose answers are bytes of a test, whatever they mean.
final class ScriptedServer: Reachable, Sendable {
    let port: Int
    private let descriptor: Int32
    private let isOpen = Locked(true)
    /// Bytes of the contents of calls that have come.
    let received = Locked(0)
    /// The blocks of header fields that have come, and the connections that were accepted.
    let headers = Locked<[[UInt8]]>([])
    let connections = Locked(0)
    /// The calls that the client has ended, and what its answers to pings have said.
    let resets = Locked<[UInt32]>([])
    let pongs = Locked<[[UInt8]]>([])
    /// How often the client has acknowledged settings, and for which calls, or 0, it takes more.
    let acknowledgements = Locked(0)
    let windows = Locked<Set<UInt32>>([])

    var urls: [URL] { [loopback(port)] }

    /// - Parameters:
    ///   - begin: what a connection begins with.
    ///   - answer: writes an answer to a call, and returns whether the connection goes on.
    init(
        begin: [UInt8] = Frame(kind: Frame.settings).bytes,
        _ answer: @escaping @Sendable (_ client: Int32, _ stream: UInt32) -> Bool
    ) throws {
        port = EtcdCluster.freePort()
        guard let descriptor = SocketBytes.listen(on: port) else { throw EtcdCluster.Failure(description: "no port") }
        self.descriptor = descriptor
        Thread.detachNewThread { [received, headers, connections, resets, pongs, acknowledgements, windows] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else {
                    if errno == EINTR { continue }
                    Foundation.close(descriptor)
                    return
                }
                connections.next()
                Thread.detachNewThread {
                    defer { Foundation.close(client) }
                    SocketBytes.write(begin, to: client)
                    guard let connection = FramedSocket(client, isSilent: true) else { return }
                    connection.onPong = { content in pongs.withLock { $0.append(content) } }
                    connection.onAcknowledgement = { acknowledgements.next() }
                    connection.onWindow = { stream in windows.withLock { _ = $0.insert(stream) } }
                    while let frame = connection.next() {
                        if frame.kind == Frame.data { received.withLock { $0 += frame.content.count } }
                        if frame.kind == Frame.reset { resets.withLock { $0.append(frame.stream) } }
                        if frame.kind == Frame.headers { headers.withLock { $0.append(frame.content) } }
                        if frame.kind == Frame.headers, !answer(client, frame.stream) { return }
                    }
                }
            }
        }
    }

    /// Bytes for each call, after which the connection goes on.
    convenience init(begin: [UInt8] = Frame(kind: Frame.settings).bytes, bytes: [UInt8]) throws {
        try self.init(begin: begin) { client, _ in SocketBytes.write(bytes, to: client) }
    }

    /// Bytes that come again and again, until the client ends the connection. After some time, far beyond its deadline, the answer comes,
    /// so that a client without a deadline has an answer instead of waiting for ever.
    convenience init(
        begin: [UInt8] = Frame(kind: Frame.settings).bytes, first: [UInt8] = [], endlessly bytes: [UInt8],
        for time: Duration, then last: [UInt8]
    ) throws {
        try self.init(begin: begin) { client, _ in
            SocketBytes.write(first, to: client)
            let end = ContinuousClock.now + time
            while .now < end { guard SocketBytes.write(bytes, to: client) else { return false } }
            return SocketBytes.write(last, to: client)
        }
    }

    func close() {
        if isOpen.take() { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
}
