import Foundation

/// A frame of HTTP/2.
struct Frame {
    var kind: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var content: [UInt8] = []

    static let (data, headers, reset, settings, ping, goAway, window):
        (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) =
            (0, 1, 3, 4, 6, 7, 8)
    static let (endsStream, endsHeaders): (UInt8, UInt8) = (1, 4)

    var bytes: [UInt8] { Self.bytes(content.count).dropFirst() + [kind, flags] + Self.bytes(Int(stream)) + content }

    static func bytes(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
    static func number(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    /// Header fields as they are, without tables.
    static func headers(_ fields: KeyValuePairs<String, String>, of stream: UInt32, flags: UInt8 = 4) -> Frame {
        func text(_ text: String) -> [UInt8] {
            text.utf8.count < 127
                ? [UInt8(text.utf8.count)] + text.utf8 : [127] + varint(text.utf8.count - 127) + text.utf8
        }
        return Frame(
            kind: headers, flags: flags, stream: stream, content: fields.flatMap { [0] + text($0.key) + text($0.value) }
        )
    }

    static func varint(_ number: Int) -> [UInt8] {
        number < 128 ? [UInt8(number)] : [UInt8(number & 127) | 128] + varint(number >> 7)
    }

    /// A message of gRPC.
    static func message(_ bytes: [UInt8]) -> [UInt8] { [0] + Self.bytes(bytes.count) + bytes }

    /// The frames of a text of any length.
    static func data(_ bytes: [UInt8], of stream: UInt32, endsStream: Bool = false) -> [Frame] {
        stride(from: 0, to: max(1, bytes.count), by: 16 << 10).map { start in
            let end = min(start + (16 << 10), bytes.count)
            return Frame(
                kind: data, flags: endsStream && end == bytes.count ? Self.endsStream : 0, stream: stream,
                content: Array(bytes[start..<end]))
        }
    }
}

/// A connection of HTTP/2 over a socket. Answers what keeps it alive, and tells of the other frames.
final class FramedSocket {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    let descriptor: Int32
    private var input: [UInt8] = []
    private var isSilent = false
    /// Called with the content of each answer to a ping.
    var onPong: (([UInt8]) -> Void)?
    /// Called for each answer to settings, and with the call, or 0, for which the other end takes more.
    var onAcknowledgement: (() -> Void)?
    var onWindow: ((UInt32) -> Void)?
    /// Frames that were taken too early.
    var pending: [Frame] = []
    /// How many bytes the other end takes.
    private var window = 65_535
    private var (firstWindow, streamWindow) = (65_535, 65_535)

    /// - Parameter isClient: whether this end begins.
    convenience init?(_ descriptor: Int32, isClient: Bool) {
        self.init(descriptor)
        // No table of header fields, and as much room as there may be.
        let room = Frame.bytes(1 << 30)
        let begin =
            Frame(kind: Frame.settings, content: [0, 1, 0, 0, 0, 0, 0, 4] + room).bytes
            + Frame(kind: Frame.window, content: room).bytes
        if isClient {
            SocketBytes.write(Self.preface + begin, to: descriptor)
        } else {
            guard takePreface() else { return nil }
            SocketBytes.write(begin, to: descriptor)
        }
    }

    /// The end of a server that answers nothing.
    convenience init?(_ descriptor: Int32, isSilent: Bool) {
        self.init(descriptor)
        self.isSilent = isSilent
        guard takePreface() else { return nil }
    }

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    private func takePreface() -> Bool {
        while input.count < Self.preface.count { guard fill() else { return false } }
        guard input.starts(with: Self.preface) else { return false }
        input.removeFirst(Self.preface.count)
        return true
    }

    private func fill() -> Bool {
        guard let more = SocketBytes.read(from: descriptor) else { return false }
        input += more
        return true
    }

    private var hasFrame: Bool { input.count >= 9 && input.count >= 9 + Frame.number(input[0..<3]) }

    /// The next frame that concerns a call; nil at the end of the connection.
    func next() -> Frame? {
        if !pending.isEmpty { return pending.removeFirst() }
        while true {
            while !hasFrame { guard fill() else { return nil } }
            if let frame = take() { return frame }
        }
    }

    /// The received frames of calls, without those of the connection.
    func available() -> [Frame]? {
        guard fill() else { return nil }
        var frames: [Frame] = []
        while hasFrame { if let frame = take() { frames.append(frame) } }
        return frames
    }

    /// Takes a frame; nil if it concerns the connection only.
    private func take() -> Frame? {
        let length = Frame.number(input[0..<3])
        let frame = Frame(
            kind: input[3], flags: input[4], stream: UInt32(Frame.number(input[5..<9])),
            content: Array(input[9..<(9 + length)]))
        input.removeFirst(9 + length)
        switch frame.kind {
        case Frame.settings:
            if frame.flags & 1 != 0 {
                onAcknowledgement?()
                return nil
            }
            for start in stride(from: 0, to: length, by: 6) where frame.content[start + 1] == 4 {
                let value = Frame.number(frame.content[(start + 2)..<(start + 6)])
                (firstWindow, streamWindow) = (value, streamWindow + value - firstWindow)
            }
            write(Frame(kind: Frame.settings, flags: 1))
        case Frame.ping:
            if frame.flags & 1 == 0 {
                write(Frame(kind: Frame.ping, flags: 1, content: frame.content))
            } else {
                onPong?(frame.content)
            }
        case Frame.window:
            let growth = Frame.number(frame.content)
            onWindow?(frame.stream)
            if frame.stream == 0 { window += growth } else { streamWindow += growth }
        default: return frame
        }
        return nil
    }

    @discardableResult private func write(_ frame: Frame) -> Bool {
        isSilent || SocketBytes.write(frame.bytes, to: descriptor)
    }

    /// Sends a request. Waits for room.
    func send(_ frames: [Frame]) -> Bool {
        streamWindow = firstWindow
        for frame in frames {
            if frame.kind == Frame.data {
                while frame.content.count > min(window, streamWindow) {
                    while !hasFrame { guard fill() else { return false } }
                    // No answer comes before the end of a request.
                    if take() != nil { return false }
                }
                (window, streamWindow) = (window - frame.content.count, streamWindow - frame.content.count)
            }
            guard write(frame) else { return false }
        }
        return true
    }
}
